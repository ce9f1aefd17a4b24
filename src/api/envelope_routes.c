/* Packing envelopes, and reading them in every form. */
#include "api/envelope_decode.h"
#include "api/routes.h"
#include "core/agent.h"
#include "core/render.h"
#include "core/unpack.h"

/* --- POST /v1/envelopes --- */

static const int64_t dry_run_budgets[] = {2000, 4000, 8000};
enum { DRY_RUNS = sizeof(dry_run_budgets) / sizeof(dry_run_budgets[0]) };

struct dry_run {
	struct envelope envelope;
	struct problem problem;
};

struct handoff {
	struct handoff_input in;
	struct envelope envelope;
	struct buf body;
	struct dry_run dry[DRY_RUNS];
};

static enum problem_code decode_handoff(struct call *call)
{
	struct handoff *h = arena_zalloc(call->arena, sizeof(*h));

	call->input = h;
	return envelope_decode(call, &h->in);
}

static enum problem_code find_tokenizer(struct call *call, const struct handoff *h, const struct agent *agent, const struct tokenizer **ret)
{
	struct str name = h->in.tokenizer.p ? h->in.tokenizer : agent->tokenizer.p ? agent->tokenizer : STR(TOKENIZER_DEFAULT);

	*ret = tokenizer_find(name);
	if (*ret)
		return P_OK;
	return problem_set(&call->problem, P_UNKNOWN_TOKENIZER, "tokenizer", "there is no tokenizer \"%.*s\"; expected one of o200k_base, cl100k_base, estimate",
			   STR_ARG(name));
}

/* What the usual budgets would lose. A budget that is too small is an answer, too. */
static void run_dry(const struct assemble_tools *tools, const struct assemble_input *base, struct handoff *h)
{
	struct handoff_draft draft = *base->draft;
	struct assemble_input in = *base;
	struct json_member *members = arena_calloc(tools->arena, draft.constraints.count + 1, sizeof(*members));
	uint32_t count = 0;

	for (uint32_t i = 0; i < draft.constraints.count; i++)
		if (!str_is(draft.constraints.members[i].key, "max_tokens"))
			members[count++] = draft.constraints.members[i];
	draft.constraints = (struct json){.type = JSON_OBJECT, .count = count, .members = members};
	in.draft = &draft;
	for (size_t i = 0; i < DRY_RUNS; i++) {
		in.max_tokens = dry_run_budgets[i];
		assemble(tools, &in, &h->dry[i].envelope, &h->dry[i].problem);
	}
}

static enum problem_code prepare_handoff(struct call *call, struct store_conn *c)
{
	struct handoff *h = call->input;
	struct assemble_tools tools = {call->api->recall, call->api->scratch[http_req_thread(call->req)], c, call->arena};
	struct assemble_input in = {.draft = &h->in.draft, .space = call->space, .space_name = call->space_name, .now_ms = call->now_ms};
	struct envelope parent;
	struct agent agent;
	int64_t guard = 0;
	enum store_status status = call->space ? store_space_guard(c, call->space, &guard) : STORE_OK;
	enum problem_code code = status != STORE_OK ? problem_of_store(&call->problem, status) : agent_read(c, call->space, h->in.draft.to, call->arena, &agent, &call->problem);

	if (code == P_OK)
		code = find_tokenizer(call, h, &agent, &in.tokenizer);
	if (code == P_OK && h->in.parent)
		code = unpack(c, call->space, h->in.parent, "parent", call->arena, &parent, &call->problem);
	if (code != P_OK)
		return code;
	in.parent = h->in.parent ? &parent : NULL;
	in.max_tokens = agent.max_tokens;
	in.policy = (enum redact_policy)guard;
	/* A dry run counts with the number that it would get, so that its figures are those of the handoff itself. */
	status = h->in.dry_run ? numbers_peek(call->api->numbers, c, call->space_name, call->space, &in.num)
			       : numbers_next(call->api->numbers, c, call->space_name, call->space, &in.num);
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	in.new_task = arena_printf(call->arena, "task-%llu", (unsigned long long)in.num);
	code = assemble(&tools, &in, &h->envelope, &call->problem);
	if (code == P_OK && h->in.dry_run) {
		run_dry(&tools, &in, h);
		h->envelope.num = 0;
		h->envelope.root = in.parent ? h->envelope.root : 0;
	}
	call->is_answered = h->in.dry_run;
	return code;
}

static enum problem_code write_handoff(struct call *call, struct store_conn *c)
{
	struct handoff *h = call->input;
	const struct envelope *e = &h->envelope;
	struct envelope_row row = {
		.space = call->space, .num = e->num, .task = e->task, .parent = e->parent, .hop = e->hop, .created_at_ms = e->created_at_ms,
	};
	uint64_t *nums = arena_calloc(call->arena, e->ref_count, sizeof(*nums));
	enum store_status status;
	struct buf body;

	call->shown = nums;
	call->shown_count = 0;
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].text.p)
			nums[call->shown_count++] = e->refs[i].id.num;
	buf_init(&body, RENDER_MAX_BYTES);
	envelope_write(e, ENVELOPE_SKELETON, &body);
	memcpy(row.digest, e->digest, sizeof(row.digest));
	row.body = buf_str(&body);
	status = store_envelope_insert(c, &row);
	buf_release(&body);
	if (status == STORE_EXISTS)
		return problem_set(&call->problem, P_INTERNAL, NULL, "env-%llu is taken; this should not happen", (unsigned long long)e->num);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static void put_dry_run(struct json_writer *w, const struct dry_run *d, int64_t max_tokens)
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

static void encode_dry_run(struct call *call, const struct handoff *h)
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
	for (size_t i = 0; i < DRY_RUNS; i++)
		put_dry_run(&w, &h->dry[i], dry_run_budgets[i]);
	json_end_array(&w);
	call_end_reply(call, &w);
	buf_release(&text);
}

/* The envelope is answered as it is sealed; warnings about the request stand beside it, and the digest does not cover them. */
static void encode_handoff(struct call *call)
{
	struct handoff *h = call->input;
	struct json_writer w;

	if (h->in.dry_run) {
		encode_dry_run(call, h);
		return;
	}
	call->status = 201;
	call->location = arena_printf(call->arena, "/v1/envelopes/env-%llu", (unsigned long long)h->envelope.num);
	envelope_write(&h->envelope, ENVELOPE_WHOLE, &call->reply);
	if (call->warning_count) {
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
};

static enum problem_code decode_reading(struct call *call)
{
	static const char *const names[] = {"json", "prompt", "v1", "both"};
	struct reading *r = arena_zalloc(call->arena, sizeof(*r));
	struct str format = call_query(call, "format");
	int i = 0;

	call->input = r;
	for (; format.p && i < 4 && !str_is(format, names[i]); i++)
		;
	if (i == 4)
		return problem_set(&call->problem, P_INVALID_FIELD, "format", "format is \"%.*s\"; expected json, prompt, v1 or both",
				   (int)(format.n < 64 ? format.n : 64), format.p);
	r->format = (enum format)i;
	return envelope_path_id(call, &r->num);
}

static enum problem_code read_reading(struct call *call, struct store_conn *c)
{
	struct reading *r = call->input;

	return unpack(c, call->space, r->num, "id", call->arena, &r->envelope, &call->problem);
}

/* What became of the memories since the envelope was packed. It is told beside the envelope, not in it: the digest does not cover it. */
static void put_since(const struct envelope *e, struct buf *out)
{
	char id[MEMORY_ID_SIZE];
	struct json_writer w;
	struct buf news;

	buf_init(&news, RENDER_MAX_BYTES);
	json_writer_init(&w, &news);
	json_begin_array(&w);
	for (size_t i = 0; i < e->ref_count; i++) {
		const struct envelope_ref *r = &e->refs[i];
		bool superseded = r->now.superseded_by && r->now.superseded_by != r->superseded_by;

		if (!superseded && !r->now.forgotten && r->now.version <= r->id.version)
			continue;
		json_begin_object(&w);
		memory_id_format(r->id.num, 0, id);
		json_member_cstr(&w, "id", id);
		json_member_cstr(&w, "event", r->now.forgotten ? "forgotten" : superseded ? "superseded" : "updated");
		if (superseded && !r->now.forgotten) {
			memory_id_format(r->now.superseded_by, 0, id);
			json_member_cstr(&w, "by", id);
		} else if (!r->now.forgotten) {
			json_member_int(&w, "version", r->now.version);
		}
		json_end_object(&w);
	}
	json_end_array(&w);
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
		put_since(&r->envelope, &call->reply);
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
	struct verifying *v = arena_zalloc(call->arena, sizeof(*v));

	call->input = v;
	return envelope_path_id(call, &v->num);
}

static enum problem_code read_verify(struct call *call, struct store_conn *c)
{
	struct verifying *v = call->input;

	return unpack_verify(c, call->space, v->num, call->arena, &v->verdict, &v->at, &v->checked, &call->problem);
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
	{HTTP_POST, "/v1/envelopes", ROUTE_BODY | ROUTE_CREATES | ROUTE_INDEX,
	 .decode = decode_handoff, .write = write_handoff, .encode = encode_handoff, .prepare = prepare_handoff},
	{HTTP_GET, "/v1/envelopes/{}", 0, .decode = decode_reading, .read = read_reading, .encode = encode_reading},
	{HTTP_GET, "/v1/envelopes/{}/verify", 0, .decode = decode_verify, .read = read_verify, .encode = encode_verify},
	{0},
};
