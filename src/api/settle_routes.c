/* What a receiver answers: ack, nack, need, progress, complete, reject. */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/lookup.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "core/delivery/handoff_id.h"
#include "engine/delivery/need.h"

enum { NEED_MAX = 1000 };

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

/* --- need --- */

static enum problem_code decode_need(struct call *call)
{
	static const char *const known[] = {"lease", "refs", NULL};
	struct need *n = call_op(call);
	enum problem_code code = handoff_path_id(call, &n->settle.num);
	const struct json *refs = NULL;
	struct memory_id *ids = NULL;

	n->settle.answer = (struct delivery_answer){.verb = VERB_PROGRESS, .delay_ms = -1};
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_lease(call, &n->settle);
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
	{HTTP_POST, "/v1/handoffs/{}/ack", &settle_kind, &describe_ack, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/nack", &settle_kind, &describe_nack, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/reject", &settle_kind, &describe_reject, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/progress", &settle_kind, &describe_progress, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/complete", &settle_complete_kind, &describe_complete, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/need", &need_kind, &describe_need, decode_need, encode_need},
	{0},
};
