/* What a receiver answers: ack, nack, need, progress, complete, reject. */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/lookup.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"
#include "engine/delivery/need.h"

enum { TEXT_MAX = 4096, GAPS_BYTES_MAX = 256 * 1024, GAPS_MAX = 1000, NEED_MAX = 1000 };

/* --- Decoding --- */

static enum problem_code read_lease(struct call *call, struct settle *s)
{
	struct str lease = STR_NULL;
	uint64_t num = 0;
	enum problem_code code = decode_str(&call->body, "lease", 1, HANDOFF_ID_SIZE, &lease, &call->op->problem);

	if (code == P_OK && lease.p == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "lease", "lease is missing; it came with the "
				   "handoff, as in ho-12.1");
	if (code == P_OK && (!handoff_lease_parse(lease, &num, &s->answer.lease) || num != s->num))
		code = call_refuse(call, P_INVALID_FIELD, "lease", "lease is not one of this handoff; "
				   "expected what receive gave, as in ho-%llu.1", (unsigned long long)s->num);
	return code;
}

static enum problem_code read_result(struct call *call, struct settle *s)
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
		return call_refuse(call, P_TOO_LARGE, "result", "the result is larger than %d bytes; keep it "
				   "elsewhere, or store it as memories, and say where it is", RESULT_MAX_BYTES);
	if (gaps && r->gaps.p == NULL)
		return call_refuse(call, P_TOO_LARGE, "gaps", "the gaps are larger than %d bytes",
				   GAPS_BYTES_MAX);
	s->answer.has_result = r->result.p || r->gaps.p || r->input_tokens >= 0;
	return P_OK;
}

static enum problem_code decode_settle(struct call *call, enum handoff_verb verb, const char *const *known,
				       const char *text_name)
{
	struct settle *s = call_op(call);
	enum problem_code code = handoff_path_id(call, &s->num);

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
	struct settle *s = call_op(call);

	if (code == P_OK)
		code = decode_seconds(&call->body, "work_lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, &s->answer.work_lease_ms,
				      &call->op->problem);
	return code == P_OK ? read_result(call, s) : code;
}

static enum problem_code decode_complete(struct call *call)
{
	static const char *const known[] = {"lease", "result", "gaps", "input_tokens", "remember", NULL};
	enum problem_code code = decode_settle(call, VERB_COMPLETE, known, NULL);
	struct settle *s = call_op(call);
	bool remember = true;

	if (code == P_OK)
		code = read_result(call, s);
	if (code == P_OK)
		code = decode_bool(&call->body, "remember", &remember, &call->op->problem);
	s->result = remember ? decode_member(&call->body, "result") : NULL;
	return code;
}

/* --- Encoding --- */

static void encode_settle(struct call *call)
{
	struct settle *s = call_op(call);
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
	struct need *n = call_op(call);
	const struct json *refs = NULL;
	struct memory_id *ids = NULL;

	if (code == P_OK)
		code = decode_array(&call->body, "refs", NEED_MAX, &refs, &call->op->problem);
	if (code == P_OK && refs == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "refs", "refs is missing; it is a list of ids of "
				   "memories, as in [\"ms-4821\"]");
	if (code == P_OK)
		code = lookup_ids(call, refs, "refs", &ids);
	n->ids = ids;
	n->count = refs ? refs->count : 0;
	return code;
}

static void encode_need(struct call *call)
{
	struct need *n = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &n->lookup);
	json_key(&w, "handoff");
	handoff_json_put(&w, &n->settle.row);
	call_end_reply(call, &w);
}

const struct route settle_routes[] = {
	{HTTP_POST, "/v1/handoffs/{}/ack", &settle_kind, &describe_ack, decode_ack, encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/nack", &settle_kind, &describe_nack, NULL, encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/reject", &settle_kind, &describe_reject, NULL, encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/progress", &settle_kind, &describe_progress, NULL, encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/complete", &settle_complete_kind, &describe_complete, decode_complete, encode_settle},
	{HTTP_POST, "/v1/handoffs/{}/need", &need_kind, &describe_need, decode_need, encode_need},
	{0},
};
