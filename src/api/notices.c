#include "api/notices.h"

#include "codec/json_member.h"
#include "core/envelope/envelope.h"
#include "core/delivery/handoff_id.h"

enum problem_code notices_take(struct call *call, struct store_conn *c, struct notices *ret)
{
	struct handoff_filter filter = {.space = call->op->space, .from = call->op->agent, .untold = true};
	struct handoff_row rows[NOTICES_MAX];
	enum store_status status = STORE_OK;

	*ret = (struct notices){0};
	if (call->op->agent.p == NULL || call->op->space == 0)
		return P_OK;
	status = store_handoffs(c, &filter, 0, NOTICES_MAX, call->op->arena, rows, &ret->count);
	for (size_t i = 0; status == STORE_OK && i < ret->count; i++) {
		rows[i].is_told = true;
		status = store_handoff_put(c, &rows[i]);
	}
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	if (ret->count) {
		ret->rows = arena_calloc(call->op->arena, ret->count, sizeof(*ret->rows));
		memcpy(ret->rows, rows, ret->count * sizeof(*rows));
	}
	return P_OK;
}

void notices_put(const struct notices *n, struct json_writer *w)
{
	char id[HANDOFF_ID_SIZE], envelope[ENVELOPE_ID_SIZE];

	if (n->count == 0)
		return;
	json_key(w, "notices");
	json_begin_array(w);
	for (size_t i = 0; i < n->count; i++) {
		const struct handoff_row *h = &n->rows[i];

		json_begin_object(w);
		json_member_cstr(w, "event", "handoff.parked");
		handoff_id_format(h->num, id);
		json_member_cstr(w, "handoff", id);
		envelope_id_format(h->envelope, envelope);
		json_member_cstr(w, "envelope_id", envelope);
		json_member_str(w, "to", h->target_name);
		json_member_optional(w, "reason", h->reason);
		json_end_object(w);
	}
	json_end_array(w);
}
