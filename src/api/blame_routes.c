/* Where something came into a task and where it was lost; and what one envelope kept of another. */
#include "api/fidelity_json.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/envelope/blame.h"
#include "engine/envelope/envelope_get.h"

/* --- GET /v1/tasks/{id}/blame --- */

static enum problem_code decode_blame(struct call *call)
{
	struct blame *b = call_op(call);

	b->task = call->params[0];
	b->key = call_query(call, "key");
	if (b->key.n == 0)
		return call_refuse(call, P_MISSING_FIELD, "key", "key is missing; it names a "
				   "constraint, a memory (ms-4821), an open decision, or intent");
	return P_OK;
}

static void put_hop(struct json_writer *w, const char *key, const struct envelope *e, const struct fidelity_item *item)
{
	json_key(w, key);
	json_begin_object(w);
	fidelity_json_hop(w, e);
	if (item)
		json_member_cstr(w, "fate", fidelity_fate_name(item->fate));
	if (item && item->reason.p)
		json_member_str(w, "reason", item->reason);
	if (item && item->by.p)
		json_member_str(w, "by", item->by);
	json_end_object(w);
}

static void encode_blame(struct call *call)
{
	static const char *const verdicts[] = {"never there", "still there", "resolved", "lost"};
	static const char *const names[] = {NULL, "left_out", "resolved", "lost"};
	const struct blame *b = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", b->task);
	json_member_str(&w, "key", b->key);
	if (b->introduced.num)
		put_hop(&w, "introduced", &b->introduced, NULL);
	if (b->without.num)
		put_hop(&w, names[b->verdict], &b->without, b->verdict == BLAME_RESOLVED ? NULL : b->fate);
	json_member_cstr(&w, "verdict", verdicts[b->verdict]);
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/diff/{other} --- */

static enum problem_code decode_diff(struct call *call)
{
	struct envelope_diff *d = call_op(call);

	for (int i = 0; i < 2; i++) {
		struct str raw = call->params[i];

		if (!envelope_id_parse(raw, &d->nums[i]))
			return call_refuse(call, P_ENVELOPE_NOT_FOUND, "id", "\"%.*s\" is not an id of "
					   "an envelope; ids look like env-17", (int)(raw.n < 64 ? raw.n : 64), raw.p);
	}
	return P_OK;
}

static void encode_diff(struct call *call)
{
	const struct envelope_diff *d = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	fidelity_json_id(&w, "from", d->nums[0]);
	fidelity_json_id(&w, "to", d->nums[1]);
	fidelity_json_put(&w, &d->kept);
	call_end_reply(call, &w);
}

const struct route blame_routes[] = {
	{HTTP_GET, "/v1/tasks/{}/blame", &blame_kind, &describe_blame, decode_blame, encode_blame},
	{HTTP_GET, "/v1/envelopes/{}/diff/{}", &envelope_diff_kind, &describe_compare_envelopes, decode_diff, encode_diff},
	{0},
};
