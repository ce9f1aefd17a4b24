/* Packing envelopes, and reading them in every form. */
#include "api/considered_json.h"
#include "api/envelope_decode.h"
#include "api/fidelity_json.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/since_json.h"
#include "api/traceparent.h"
#include "core/envelope/render.h"
#include "engine/envelope/envelope_get.h"

/* --- POST /v1/envelopes --- */

static enum problem_code decode_handoff(struct call *call)
{
	struct pack *p = call_op(call);

	return envelope_decode(call, &call->body, &p->packing);
}

static void put_dry_run(struct json_writer *w, const struct pack_dry *d, int64_t max_tokens)
{
	json_begin_object(w);
	json_member_int(w, "max_tokens", max_tokens);
	json_member_bool(w, "fits", d->problem.code == P_OK);
	if (d->problem.code != P_OK) {
		json_member_cstr(w, "code", problem_kind(d->problem.code)->name);
		json_member_int(w, "minimum", d->problem.extra);
		json_end_object(w);
		return;
	}
	json_member_int(w, "token_count", d->envelope.token_count);
	json_member_int(w, "kept", (int64_t)d->envelope.ref_count);
	json_key(w, "trimmed");
	json_begin_array(w);
	for (size_t i = 0; i < d->envelope.trim_count; i++) {
		const struct envelope_trim *t = &d->envelope.trimmed[i];

		json_begin_object(w);
		json_member_str(w, "form", t->form);
		json_member_str(w, "id", t->id);
		json_member_int(w, "tokens", t->tokens);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

static void encode_dry_run(struct call *call, const struct packing *h)
{
	struct json_writer w;
	struct buf text;

	call->status = 200;
	buf_init(&text, RENDER_MAX_BYTES);
	envelope_write(&h->envelope, ENVELOPE_DIGESTED, &text);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_bool(&w, "dry_run", true);
	json_key(&w, "envelope");
	json_put_raw(&w, buf_str(&text));
	json_key(&w, "budgets");
	json_begin_array(&w);
	for (size_t i = 0; i < PACK_DRY_RUNS; i++)
		put_dry_run(&w, &h->dry[i], pack_dry_budgets[i]);
	json_end_array(&w);
	json_key(&w, "considered");
	json_begin_object(&w);
	considered_json_put(&w, &h->dry_considered);
	json_end_object(&w);
	call_end_reply(call, &w);
	buf_release(&text);
}

/* The envelope is answered as it is sealed; warnings about the request stand beside it, and the digest does not cover
 * them. */
static void encode_handoff(struct call *call)
{
	const struct packing *h = &((struct pack *)call_op(call))->packing;
	struct json_writer w;

	if (h->dry_run) {
		encode_dry_run(call, h);
		return;
	}
	call->status = 201;
	call->location = arena_printf(call->op->arena, "/v1/envelopes/env-%llu", (unsigned long long)h->envelope.num);
	call->traceparent = traceparent_of(call->api, &h->envelope, 0, 0, call->op->arena);
	buf_put(&call->reply, h->envelope.sealed);
	if (call->op->warning_count) {
		call->reply.len--;	/* the closing brace */
		json_writer_init(&w, &call->reply);
		w.comma = true;
		call_end_reply(call, &w);
	}
}

/* --- GET /v1/envelopes/{id} --- */

enum format { FORMAT_JSON, FORMAT_PROMPT, FORMAT_V1, FORMAT_BOTH, FORMATS };

/* The one that is asked for; FORMATS where it is none of them. */
static enum format format_of(const struct call *call)
{
	static const char *const names[FORMATS] = {"json", "prompt", "v1", "both"};
	struct str format = call_query(call, "format");
	int i = 0;

	while (format.p && i < FORMATS && !str_is(format, names[i]))
		i++;
	return (enum format)i;
}

static enum problem_code decode_get(struct call *call)
{
	struct envelope_get *g = call_op(call);
	enum format format = format_of(call);
	struct str name = call_query(call, "format");

	if (format == FORMATS)
		return call_refuse(call, P_INVALID_FIELD, "format",
				   "format is \"%.*s\"; expected json, prompt, v1 or both",
				   (int)(name.n < 64 ? name.n : 64), name.p);
	g->with_results = format == FORMAT_JSON;
	return envelope_path_id(call, &g->num);
}

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

	switch (format_of(call)) {
	case FORMAT_PROMPT:
		call->content_type = "text/markdown; charset=utf-8";
		render_prompt(&g->envelope, &call->reply);
		break;
	case FORMAT_V1:
		render_v1(&g->envelope, &call->reply);
		break;
	case FORMAT_BOTH:
		buf_puts(&call->reply, "{\"v1\":");
		render_v1(&g->envelope, &call->reply);
		buf_puts(&call->reply, ",\"v2\":");
		envelope_write(&g->envelope, ENVELOPE_WHOLE, &call->reply);
		buf_puts(&call->reply, "}");
		break;
	default:
		envelope_write(&g->envelope, ENVELOPE_WHOLE, &call->reply);
		put_since(g, &call->reply);
	}
}

/* --- GET /v1/envelopes/{id}/verify --- */

static enum problem_code decode_verify(struct call *call)
{
	struct envelope_verify *v = call_op(call);

	return envelope_path_id(call, &v->num);
}

static void encode_verify(struct call *call)
{
	static const char *const verdicts[] = {"intact", "forgotten", "damaged", "unchained"};
	const struct envelope_verify *v = call_op(call);
	bool ok = v->verdict == UNPACK_INTACT || v->verdict == UNPACK_FORGOTTEN;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	fidelity_json_id(&w, "id", v->num);
	json_member_bool(&w, "ok", ok);
	json_member_cstr(&w, "verdict", verdicts[v->verdict]);
	json_member_int(&w, "checked", (int64_t)v->checked);
	fidelity_json_id(&w, "first_bad", ok ? 0 : v->at);
	call_end_reply(call, &w);
}

const struct route envelope_routes[] = {
	{HTTP_POST, "/v1/envelopes", &pack_kind, &describe_hand_off, decode_handoff, encode_handoff},
	{HTTP_GET, "/v1/envelopes/{}", &envelope_get_kind, &describe_read_envelope, decode_get, encode_get},
	{HTTP_GET, "/v1/envelopes/{}/verify", &envelope_verify_kind, &describe_verify_envelope, decode_verify, encode_verify},
	{0},
};
