/* Packing envelopes, and reading them in every form. */
#include "api/considered_json.h"
#include "api/envelope_decode.h"
#include "api/routes.h"
#include "api/since_json.h"
#include "api/traceparent.h"
#include "core/envelope/render.h"
#include "core/envelope/unpack.h"

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

enum format { FORMAT_JSON, FORMAT_PROMPT, FORMAT_V1, FORMAT_BOTH };

struct reading {
	uint64_t num;
	enum format format;
	struct envelope envelope;
	struct since_result *results;	/* that have come since */
	size_t result_count;
};

static enum problem_code decode_reading(struct call *call)
{
	static const char *const names[] = {"json", "prompt", "v1", "both"};
	struct reading *r = arena_zalloc(call->op->arena, sizeof(*r));
	struct str format = call_query(call, "format");
	int i = 0;

	call->input = r;
	for (; format.p && i < 4 && !str_is(format, names[i]); i++)
		;
	if (i == 4)
		return problem_set(&call->op->problem, P_INVALID_FIELD, "format",
				   "format is \"%.*s\"; expected json, prompt, v1 or both",
				   (int)(format.n < 64 ? format.n : 64), format.p);
	r->format = (enum format)i;
	return envelope_path_id(call, &r->num);
}

static enum problem_code read_reading(struct call *call, struct store_conn *c)
{
	struct reading *r = call->input;

	enum problem_code code = unpack(c, call->op->space, r->num, "id", call->op->arena, &r->envelope, &call->op->problem);

	if (code == P_OK && r->format == FORMAT_JSON)
		code = since_results(c, call->op->space, &r->envelope, call->op->now_ms, call->op->arena, &r->results,
				     &r->result_count, &call->op->problem);
	return code;
}

/* It is told beside the envelope, not in it: the digest does not cover it. */
static void put_since(const struct reading *r, int64_t now_ms, struct buf *out)
{
	struct json_writer w;
	struct buf news;

	buf_init(&news, RENDER_MAX_BYTES);
	json_writer_init(&w, &news);
	since_json_put(&w, &r->envelope, r->results, r->result_count, now_ms);
	if (news.len > 2) {
		out->len--;	/* the closing brace */
		buf_printf(out, ",\"since\":%s}", news.data);
	}
	buf_release(&news);
}

static void encode_reading(struct call *call)
{
	struct reading *r = call->input;

	switch (r->format) {
	case FORMAT_JSON:
		envelope_write(&r->envelope, ENVELOPE_WHOLE, &call->reply);
		put_since(r, call->op->now_ms, &call->reply);
		break;
	case FORMAT_PROMPT:
		call->content_type = "text/markdown; charset=utf-8";
		render_prompt(&r->envelope, &call->reply);
		break;
	case FORMAT_V1:
		render_v1(&r->envelope, &call->reply);
		break;
	case FORMAT_BOTH:
		buf_puts(&call->reply, "{\"v1\":");
		render_v1(&r->envelope, &call->reply);
		buf_puts(&call->reply, ",\"v2\":");
		envelope_write(&r->envelope, ENVELOPE_WHOLE, &call->reply);
		buf_puts(&call->reply, "}");
		break;
	}
}

/* --- GET /v1/envelopes/{id}/verify --- */

struct verifying {
	uint64_t num;
	enum unpack_verdict verdict;
	uint64_t at;
	size_t checked;
};

static enum problem_code decode_verify(struct call *call)
{
	struct verifying *v = arena_zalloc(call->op->arena, sizeof(*v));

	call->input = v;
	return envelope_path_id(call, &v->num);
}

static enum problem_code read_verify(struct call *call, struct store_conn *c)
{
	struct verifying *v = call->input;

	return unpack_verify(c, call->op->space, v->num, call->op->arena, &v->verdict, &v->at, &v->checked, &call->op->problem);
}

static void encode_verify(struct call *call)
{
	static const char *const verdicts[] = {"intact", "forgotten", "damaged", "unchained"};
	struct verifying *v = call->input;
	char id[ENVELOPE_ID_SIZE];
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	envelope_id_format(v->num, id);
	json_member_cstr(&w, "id", id);
	json_member_bool(&w, "ok", v->verdict == UNPACK_INTACT || v->verdict == UNPACK_FORGOTTEN);
	json_member_cstr(&w, "verdict", verdicts[v->verdict]);
	json_member_int(&w, "checked", (int64_t)v->checked);
	json_key(&w, "first_bad");
	if (v->verdict == UNPACK_DAMAGED || v->verdict == UNPACK_UNCHAINED) {
		envelope_id_format(v->at, id);
		json_put_cstr(&w, id);
	} else {
		json_put_null(&w);
	}
	call_end_reply(call, &w);
}

const struct route envelope_routes[] = {
	{HTTP_POST, "/v1/envelopes", ROUTE_BODY, &pack_kind, decode_handoff, encode_handoff},
	{HTTP_GET, "/v1/envelopes/{}", 0, .decode = decode_reading, .read = read_reading, .encode = encode_reading},
	{HTTP_GET, "/v1/envelopes/{}/verify", 0, .decode = decode_verify, .read = read_verify, .encode = encode_verify},
	{0},
};
