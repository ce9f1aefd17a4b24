/* What a receiver answers: ack, nack, need, progress, complete, reject. */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/lookup.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"

enum { TEXT_MAX = 4096, GAPS_BYTES_MAX = 256 * 1024, GAPS_MAX = 1000, NEED_MAX = 1000 };

struct settling {
	uint64_t num;
	struct delivery_answer answer;
	struct handoff_row row;
	/* complete */
	const struct json *result;	/* that is to be remembered; NULL: none */
	struct memory made;		/* for the index; num 0: nothing */
	uint64_t result_memory;
	/* need */
	const struct json *refs;
	struct lookup lookup;
};

/* --- Decoding --- */

static enum problem_code read_lease(struct call *call, struct settling *s)
{
	struct str lease = STR_NULL;
	uint64_t num = 0;
	enum problem_code code = decode_str(&call->body, "lease", 1, HANDOFF_ID_SIZE, &lease, &call->op->problem);

	if (code == P_OK && lease.p == NULL)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "lease", "lease is missing; it came with the "
				   "handoff, as in ho-12.1");
	if (code == P_OK && (!handoff_lease_parse(lease, &num, &s->answer.lease) || num != s->num))
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "lease", "lease is not one of this handoff; "
				   "expected what receive gave, as in ho-%llu.1", (unsigned long long)s->num);
	return code;
}

static enum problem_code read_result(struct call *call, struct settling *s)
{
	const struct json *result = decode_member(&call->body, "result"), *gaps = NULL;
	struct result_row *r = &s->answer.result;
	enum problem_code code = decode_array(&call->body, "gaps", GAPS_MAX, &gaps, &call->op->problem);

	r->input_tokens = -1;
	if (code == P_OK)
		code = decode_int(&call->body, "input_tokens", 0, INT32_MAX, &r->input_tokens, &call->op->problem);
	if (code != P_OK)
		return code;
	if (result && s->answer.verb == VERB_COMPLETE)
		r->result = json_canonical(result, RESULT_MAX_BYTES, call->op->arena);
	if (gaps)
		r->gaps = json_canonical(gaps, GAPS_BYTES_MAX, call->op->arena);
	if (result && s->answer.verb == VERB_COMPLETE && r->result.p == NULL)
		return problem_set(&call->op->problem, P_TOO_LARGE, "result", "the result is larger than %d bytes; keep it "
				   "elsewhere, or store it as memories, and say where it is", RESULT_MAX_BYTES);
	if (gaps && r->gaps.p == NULL)
		return problem_set(&call->op->problem, P_TOO_LARGE, "gaps", "the gaps are larger than %d bytes",
				   GAPS_BYTES_MAX);
	s->answer.has_result = r->result.p || r->gaps.p || r->input_tokens >= 0;
	return P_OK;
}

static enum problem_code decode_settle(struct call *call, enum handoff_verb verb, const char *const *known,
				       const char *text_name)
{
	struct settling *s = arena_zalloc(call->op->arena, sizeof(*s));
	enum problem_code code = handoff_path_id(call, &s->num);

	call->input = s;
	s->answer.verb = verb;
	s->answer.delay_ms = -1;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_lease(call, s);
	if (code == P_OK && text_name)
		code = decode_str(&call->body, text_name, 0, TEXT_MAX, &s->answer.text, &call->op->problem);
	return code;
}

static enum problem_code decode_ack(struct call *call)
{
	static const char *const known[] = {"lease", "gaps", "input_tokens", "work_lease_s", NULL};
	enum problem_code code = decode_settle(call, VERB_ACK, known, NULL);
	struct settling *s = call->input;

	if (code == P_OK)
		code = decode_seconds(&call->body, "work_lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, &s->answer.work_lease_ms,
				      &call->op->problem);
	return code == P_OK ? read_result(call, s) : code;
}

static enum problem_code decode_nack(struct call *call)
{
	static const char *const known[] = {"lease", "reason", "delay_s", NULL};
	enum problem_code code = decode_settle(call, VERB_NACK, known, "reason");
	struct settling *s = call->input;

	return code == P_OK ? decode_seconds(&call->body, "delay_s", 0, DELIVERY_TIMEOUT_MAX_MS, &s->answer.delay_ms,
					     &call->op->problem) : code;
}

static enum problem_code decode_reject(struct call *call)
{
	static const char *const known[] = {"lease", "reason", NULL};

	return decode_settle(call, VERB_REJECT, known, "reason");
}

static enum problem_code decode_progress(struct call *call)
{
	static const char *const known[] = {"lease", "note", "work_lease_s", NULL};
	enum problem_code code = decode_settle(call, VERB_PROGRESS, known, "note");
	struct settling *s = call->input;

	return code == P_OK ? decode_seconds(&call->body, "work_lease_s", 1, DELIVERY_TIMEOUT_MAX_MS,
					     &s->answer.work_lease_ms, &call->op->problem)
			    : code;
}

static enum problem_code decode_complete(struct call *call)
{
	static const char *const known[] = {"lease", "result", "gaps", "input_tokens", "remember", NULL};
	enum problem_code code = decode_settle(call, VERB_COMPLETE, known, NULL);
	struct settling *s = call->input;
	bool remember = true;

	if (code == P_OK)
		code = read_result(call, s);
	if (code == P_OK)
		code = decode_bool(&call->body, "remember", &remember, &call->op->problem);
	s->result = remember ? decode_member(&call->body, "result") : NULL;
	return code;
}

/* --- Writing --- */

/* What becomes of the result depends on the envelope, which does not change: it is read here, and not by the writer. */
static enum problem_code prepare_result(struct call *call, struct store_conn *c)
{
	struct settling *s = call->input;

	if (s->result == NULL)
		return P_OK;
	return result_prepare(c, call->op->space, s->num, s->result, call->op->arena, &s->answer, &call->op->problem);
}

static enum problem_code write_settle(struct call *call, struct store_conn *c)
{
	struct settling *s = call->input;
	struct delivery d = waiting_delivery(call->op, c);
	enum problem_code code = delivery_settle(&d, s->num, &s->answer, &s->row, &call->op->problem);

	s->made = d.made;
	s->result_memory = d.result_memory;
	if (code != P_OK && code != P_HANDOFF_NOT_FOUND)
		call->op->problem.handoff = s->num;
	return code;
}

static void index_result(struct call *call)
{
	struct settling *s = call->input;

	if (s->made.num)
		recall_put(call->api->engine->recall, &s->made);
}

static void encode_settle(struct call *call)
{
	struct settling *s = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &s->row);
	if (s->row.state == HANDOFF_COMPLETED)
		handoff_json_result_memory(&w, s->result_memory);
	call_end_reply(call, &w);
}

/* --- need --- */

static enum problem_code decode_need(struct call *call)
{
	static const char *const known[] = {"lease", "refs", NULL};
	enum problem_code code = decode_settle(call, VERB_PROGRESS, known, NULL);
	struct settling *s = call->input;

	if (code == P_OK)
		code = decode_array(&call->body, "refs", NEED_MAX, &s->refs, &call->op->problem);
	if (code == P_OK && s->refs == NULL)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "refs", "refs is missing; it is a list of ids of "
				   "memories, as in [\"ms-4821\"]");
	return code;
}

static enum problem_code find_needed(struct call *call, struct store_conn *c)
{
	struct settling *s = call->input;
	enum problem_code code = lookup_list(call, c, s->refs, "refs", &s->lookup);
	struct handoff_row row;
	enum store_status status;

	if (code != P_OK || s->lookup.found_count == 0)
		return code;
	status = store_handoff_get(c, call->op->space, s->num, call->op->arena, &row);
	/* That there is no such handoff is for the writer to say. */
	if (status == STORE_NOT_FOUND)
		return P_OK;
	return status == STORE_OK ? lookup_guard(call, c, row.envelope, &s->lookup)
				  : problem_of_store(&call->op->problem, status);
}

/* The lease is looked at first and lives on; then the memories that the receiver opens this way are noted. */
static enum problem_code write_need(struct call *call, struct store_conn *c)
{
	struct settling *s = call->input;
	enum problem_code code = write_settle(call, c);
	enum store_status status = STORE_OK;

	for (size_t i = 0; code == P_OK && status == STORE_OK && i < s->lookup.found_count; i++) {
		struct receipt_row receipt = {s->lookup.found[i].num, s->row.agent_name, call->op->now_ms};

		status = store_receipt_put(c, call->op->space, s->row.envelope, &receipt);
	}
	if (s->lookup.found_count)
		call->op->told = (struct event_row){
			.kind = EVENT_ENVELOPE_RESOLVED, .handoff = s->row.num, .envelope = s->row.envelope,
			.attempt = s->row.attempt,
			.agent = s->row.agent_name, .actor = s->row.agent_name,
			.note = arena_printf(call->op->arena, "%zu memor%s", s->lookup.found_count,
					     s->lookup.found_count == 1 ? "y" : "ies"),
		};
	return code == P_OK && status != STORE_OK ? problem_of_store(&call->op->problem, status) : code;
}

static void encode_need(struct call *call)
{
	struct settling *s = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &s->lookup);
	json_key(&w, "handoff");
	handoff_json_put(&w, &s->row);
	call_end_reply(call, &w);
}

const struct route settle_routes[] = {
	{HTTP_POST, "/v1/handoffs/{}/ack", ROUTE_BODY, .decode = decode_ack, .write = write_settle,
	 .encode = encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/nack", ROUTE_BODY, .decode = decode_nack, .write = write_settle,
	 .encode = encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/reject", ROUTE_BODY, .decode = decode_reject, .write = write_settle,
	 .encode = encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/progress", ROUTE_BODY, .decode = decode_progress, .write = write_settle,
	 .encode = encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/complete", ROUTE_BODY, .decode = decode_complete, .write = write_settle,
	 .committed = index_result, .encode = encode_settle, .prepare = prepare_result},
	{HTTP_POST, "/v1/handoffs/{}/need", ROUTE_BODY, .decode = decode_need, .write = write_need,
	 .encode = encode_need, .prepare = find_needed},
	{0},
};
