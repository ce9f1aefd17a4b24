/* Packing envelopes, and reading them in every form. */
#include "api/envelope_decode.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/since_json.h"
#include "api/traceparent.h"
#include "api/translate.h"
#include "core/envelope/render.h"
#include "engine/envelope/envelope_get.h"

/* --- POST /v1/envelopes --- */

static enum problem_code decode_pack(struct call *call)
{
	struct pack *p = call_op(call);

	return envelope_decode(call, &call->body, &p->packing);
}

/* The envelope is answered as it is sealed; warnings about the request stand beside it, and the digest does not cover
 * them. */
static void put_warnings(struct call *call)
{
	struct json_writer w;

	if (call->op->warning_count == 0)
		return;
	call->reply.len--;	/* the closing brace */
	json_writer_init(&w, &call->reply);
	w.comma = true;
	call_end_reply(call, &w);
}

static void encode_pack(struct call *call)
{
	const struct packing *h = &((struct pack *)call_op(call))->packing;

	if (h->dry_run) {
		translate_write(call);
		return;
	}
	call->status = 201;
	call->location = arena_printf(call->op->arena, "/v1/envelopes/env-%llu", (unsigned long long)h->envelope.num);
	call->traceparent = traceparent_of(call->api, &h->envelope, 0, 0, call->op->arena);
	buf_put(&call->reply, h->envelope.sealed);
	put_warnings(call);
}

/* --- GET /v1/envelopes/{id} --- */

/* It is told beside the envelope, not in it: the digest does not cover it. */
static void put_since(const struct envelope_get *g, struct buf *out)
{
	struct json_writer w;
	struct buf news;

	buf_init(&news, RENDER_MAX_BYTES);
	json_writer_init(&w, &news);
	since_json_put(&w, &g->envelope, g->results, g->result_count, g->op.now_ms);
	if (news.len > 2) {
		out->len--;	/* the closing brace */
		buf_printf(out, ",\"since\":%s}", news.data);
	}
	buf_release(&news);
}

static void encode_get(struct call *call)
{
	const struct envelope_get *g = call_op(call);

	switch (g->format) {
	case ENVELOPE_AS_PROMPT:
		call->content_type = "text/markdown; charset=utf-8";
		render_prompt(&g->envelope, &call->reply);
		break;
	case ENVELOPE_AS_V1:
		render_v1(&g->envelope, &call->reply);
		break;
	case ENVELOPE_AS_BOTH:
		buf_puts(&call->reply, "{\"v1\":");
		render_v1(&g->envelope, &call->reply);
		buf_puts(&call->reply, ",\"v2\":");
		envelope_write(&g->envelope, ENVELOPE_WHOLE, &call->reply);
		buf_puts(&call->reply, "}");
		break;
	case ENVELOPE_AS_JSON:
		envelope_write(&g->envelope, ENVELOPE_WHOLE, &call->reply);
		put_since(g, &call->reply);
		put_warnings(call);
	}
}

const struct route envelope_routes[] = {
	{HTTP_POST, "/v1/envelopes", &pack_kind, &describe_pack, decode_pack, encode_pack},
	{HTTP_GET, "/v1/envelopes/{}", &envelope_get_kind, &describe_read_envelope, NULL, encode_get},
	{HTTP_GET, "/v1/envelopes/{}/verify", &envelope_verify_kind, &describe_verify_envelope, NULL, NULL},
	{0},
};
