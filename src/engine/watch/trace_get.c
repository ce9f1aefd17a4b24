#include "engine/watch/trace_get.h"

#include "core/envelope/unpack.h"
#include "engine/access/party.h"
#include "engine/envelope/task.h"

#include <stdlib.h>
#include <string.h>

enum { AT_A_TIME = 100 };

/* Makes room for a read more; what the arena held before is left to it. */
static void *grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size)
{
	void *larger;

	if (count + AT_A_TIME <= *room)
		return items;
	*room = 2 * *room + AT_A_TIME;
	larger = arena_calloc(arena, *room, size);
	if (count)
		memcpy(larger, items, count * size);
	return larger;
}

static enum problem_code add_events(struct trace_get *t, struct store_conn *c, uint64_t handoff)
{
	enum store_status status = STORE_OK;
	size_t count = AT_A_TIME;
	int64_t after = 0;

	while (status == STORE_OK && count == AT_A_TIME) {
		t->events = grow(t->op.arena, t->events, t->event_count, &t->event_room, sizeof(*t->events));
		count = 0;
		status = store_events(c, t->op.space, handoff, after, AT_A_TIME, t->op.arena,
				      t->events + t->event_count, &count);
		t->event_count += count;
		after = count ? t->events[t->event_count - 1].number : after;
	}
	return op_stored(&t->op, status);
}

/* Those behind the ones that there are: keeps what the caller sees, with its events. */
static enum problem_code keep_handoffs(struct trace_get *t, struct party *party, size_t count)
{
	const struct handoff_row *rows = t->handoffs + t->handoff_count;
	enum problem_code code = P_OK;
	bool sees;

	for (size_t i = 0; code == P_OK && i < count; i++) {
		struct handoff_row row = rows[i];

		code = op_stored(&t->op, party_sees_handoff(party, &row, true, &sees));
		if (code != P_OK || !sees)
			continue;
		t->handoffs[t->handoff_count++] = row;
		code = add_events(t, party->conn, row.num);
	}
	return code;
}

static enum problem_code add_handoffs(struct trace_get *t, struct party *party, uint64_t envelope)
{
	struct handoff_filter filter = {.space = t->op.space, .envelope = envelope};
	enum problem_code code = P_OK;
	size_t count = AT_A_TIME;
	uint64_t after = 0;

	while (code == P_OK && count == AT_A_TIME) {
		t->handoffs = grow(t->op.arena, t->handoffs, t->handoff_count, &t->handoff_room, sizeof(*t->handoffs));
		count = 0;
		code = op_stored(&t->op, store_handoffs(party->conn, &filter, after, AT_A_TIME, t->op.arena,
							t->handoffs + t->handoff_count, &count));
		after = count ? t->handoffs[t->handoff_count + count - 1].num : after;
		if (code == P_OK)
			code = keep_handoffs(t, party, count);
	}
	return code;
}

static int compare_events(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static enum problem_code get(struct op *op, struct store_conn *c)
{
	struct trace_get *t = (struct trace_get *)op;
	struct envelope_row *rows = arena_calloc(op->arena, TRACE_ENVELOPES_MAX + 1, sizeof(*rows));
	struct party party;
	size_t count = 0;
	enum problem_code code = party_check_task(op, c, t->task);

	if (code == P_OK)
		code = op_stored(op, party_init(&party, op->access, op->space, c));
	if (t->page.size > TRACE_ENVELOPES_MAX)
		t->page.size = TRACE_ENVELOPES_MAX;
	if (code == P_OK)
		code = task_page(op, c, t->task, &t->page, rows, &count, &t->page.has_more);
	t->page.next = count ? rows[count - 1].num : 0;
	if (code == P_OK && count == 0 && t->page.position == 0)
		code = task_unknown(op, t->task);
	if (code != P_OK)
		return code;
	t->envelopes = arena_calloc(op->arena, count, sizeof(*t->envelopes));
	for (; code == P_OK && t->envelope_count < count; t->envelope_count++) {
		const struct envelope_row *row = &rows[t->envelope_count];

		code = unpack_skeleton(row, op->arena, &t->envelopes[t->envelope_count], &op->problem);
		if (code == P_OK)
			code = add_handoffs(t, &party, row->num);
	}
	if (code == P_OK)
		code = task_pruned(op, c, t->envelopes, t->envelope_count, &t->is_pruned);
	if (t->event_count)
		qsort(t->events, t->event_count, sizeof(*t->events), compare_events);
	return code;
}

const struct op_kind trace_get_kind = {
	.name = "trace_get", .size = sizeof(struct trace_get), .flags = OP_ASIDE, .read = get,
};
