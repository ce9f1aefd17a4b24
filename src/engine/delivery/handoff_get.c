#include "engine/delivery/handoff_get.h"

#include "core/delivery/delivery.h"
#include "core/delivery/keeping.h"
#include "core/envelope/result.h"
#include "engine/access/party.h"

enum { EVENTS_MAX = 1000 };

/* Somebody who looks at a long history looks for what happened last. */
static enum store_status read_events(struct op *op, struct store_conn *c, struct handoff_get *l)
{
	struct event_filter filter = {.space = op->space, .handoff = l->num, .newest_first = true};
	enum store_status status;

	l->events = arena_calloc(op->arena, EVENTS_MAX, sizeof(*l->events));
	status = store_event_page(c, &filter, 0, INT64_MAX, EVENTS_MAX, op->arena, l->events, &l->shown);
	for (size_t i = 0, k = l->shown; i + 1 < k; i++) {
		struct event_row newer = l->events[i];

		l->events[i] = l->events[--k];
		l->events[k] = newer;
	}
	l->event_count = (int64_t)l->shown;
	if (status == STORE_OK && l->shown == EVENTS_MAX)
		status = store_event_count(c, op->space, l->num, &l->event_count);
	return status;
}

/* To the key of an agent that is no party to it, it is not there. */
static enum store_status find(struct op *op, struct store_conn *c, struct handoff_get *l)
{
	struct party party;
	bool sees = false;
	enum store_status status = op->space ? store_handoff_get(c, op->space, l->num, op->arena, &l->row)
					       : STORE_NOT_FOUND;

	if (status == STORE_OK)
		status = party_init(&party, op->access, op->space, c);
	if (status == STORE_OK)
		status = party_sees_handoff(&party, &l->row, true, &sees);
	return status == STORE_OK && !sees ? STORE_NOT_FOUND : status;
}

static enum problem_code read_handoff(struct op *op, struct store_conn *c)
{
	struct handoff_get *l = (struct handoff_get *)op;
	enum store_status status = find(op, c, l);

	if (status == STORE_NOT_FOUND)
		return handoff_missing(c, op->space, l->num, &op->problem);
	if (status == STORE_OK && delivery_look(c, op->now_ms, op->arena, &l->row, &op->problem) != P_OK)
		return op->problem.code;
	if (status == STORE_OK)
		status = read_events(op, c, l);
	if (status == STORE_OK) {
		status = result_read(c, op->space, l->num, op->arena, &l->result);
		l->has_result = status == STORE_OK;
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	if (status == STORE_OK)
		status = about_read(op, c, l->row.envelope, &l->about);
	if (status == STORE_OK)
		l->attempt_count = attempts_of(l->events, l->shown, op->arena, &l->attempts);
	l->is_held = l->row.state == HANDOFF_LEASED || l->row.state == HANDOFF_WORKING;
	return op_stored(op, status);
}

const struct op_kind handoff_get_kind = {.name = "handoff", .size = sizeof(struct handoff_get), .read = read_handoff};
