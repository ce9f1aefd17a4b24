#include "engine/watch/event_list.h"

#include "engine/access/party.h"
#include "engine/engine.h"

/* How many events of the space, of all kinds, one read goes through: of somebody who asks, and of one who follows. */
enum { SCAN_MAX = 20000, WINDOW = 2048, SCAN_HERE = 1000 };

/* --- Asking --- */

/* A page goes on where the one before ended. */
static void turn_to_page(struct event_list *l)
{
	l->limit = l->page.size;
	if (l->page.position && l->filter.newest_first)
		l->before = (int64_t)l->page.position;
	else if (l->page.position)
		l->after = (int64_t)l->page.position;
}

/* Where to begin and to stop; sets l->after. A space that is not there yet has no events. */
static enum store_status find_bounds(struct store_conn *c, struct event_list *l, int64_t *ret_until)
{
	int64_t space = l->op.space, last = 0, before = 0;
	enum store_status status = space ? store_event_last(c, space, &last) : STORE_OK;

	if (status == STORE_OK && space && l->since_ms)
		status = store_event_before(c, space, l->since_ms, &before);
	if (l->after < before)
		l->after = before;
	if (status == STORE_OK && space && l->until_ms)
		status = store_event_before(c, space, l->until_ms, &last);
	if (l->after > last)
		l->after = last;
	*ret_until = last;
	return status;
}

/* The numbers of a space begin far above 0. Where more is behind `after` than one read goes through, *ret_after is
 * right before the first event there. */
static enum store_status skip_to_first(struct store_conn *c, int64_t space, int64_t after, struct arena *arena,
				       int64_t *ret_after)
{
	struct event_row first;
	size_t count = 0;
	enum store_status status = store_events(c, space, 0, after, 1, arena, &first, &count);

	*ret_after = count ? first.number - 1 : after;
	return status;
}

/* Where a filter fits few of those that are looked at here, a worker looks at more. */
static enum store_status read_between(struct store_conn *c, struct event_list *l, int64_t after, int64_t until)
{
	bool is_backwards = l->filter.newest_first, is_cut;
	int64_t most = op_is_here(&l->op) ? SCAN_HERE : SCAN_MAX;
	enum store_status status = STORE_OK;

	if (l->op.space && until - after > most)
		status = skip_to_first(c, l->op.space, after, l->op.arena, &after);
	if (after > until)
		after = until;
	is_cut = l->has_more = l->filter.handoff == 0 && until - after > most;
	if (l->has_more && is_backwards)
		after = until - most;
	else if (l->has_more)
		until = after + most;
	l->next = is_backwards ? after + 1 : until;
	l->rows = arena_calloc(l->op.arena, l->limit + 1, sizeof(*l->rows));
	if (l->op.space == 0 || status != STORE_OK)
		return status;
	status = store_event_page(c, &l->filter, after, until, l->limit + 1, l->op.arena, l->rows, &l->count);
	if (status == STORE_OK && is_cut && l->count <= l->limit)
		op_is_too_long(&l->op, SCAN_MAX);
	return status;
}

enum problem_code event_list_refuse_pruned(struct problem *problem, int64_t after, int64_t pruned)
{
	problem_set(problem, P_EVENTS_PRUNED, "after", "events behind %lld are not kept any more, up to "
		    "%lld; what happened in between is lost to who goes on here. Read the present state, and go on "
		    "behind %lld, or with 0 from the first that is kept", (long long)after,
		    (long long)pruned, (long long)pruned);
	problem->extra_key = "pruned_to";
	problem->extra = pruned;
	return P_EVENTS_PRUNED;
}

/* Who goes on behind an event must miss none: where one was pruned since, it is told so. */
static enum problem_code check_cursor(struct event_list *l, struct store_conn *c)
{
	struct op *op = &l->op;
	struct space_row space;
	enum store_status status = STORE_NOT_FOUND;

	if (op->space && !l->filter.newest_first)
		status = store_space_get(c, op->space, op->arena, &space);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
	l->pruned = space.events_pruned;
	if (l->after == 0 || l->after >= space.events_pruned)
		return P_OK;
	return event_list_refuse_pruned(&op->problem, l->after, space.events_pruned);
}

static enum problem_code list(struct op *op, struct store_conn *c)
{
	struct event_list *l = (struct event_list *)op;
	struct party party;
	bool has_snapshot;
	int64_t last = 0;
	enum problem_code code;
	enum store_status status;

	if (l->page.size)
		turn_to_page(l);
	if (op_is_too_long(op, l->limit))
		return P_OK;
	has_snapshot = store_snapshot_begin(c);
	code = check_cursor(l, c);
	if (code != P_OK) {
		if (has_snapshot)
			store_snapshot_end(c);
		return code;
	}
	status = find_bounds(c, l, &last);
	if (status == STORE_OK)
		status = party_init(&party, op->access, op->space, c);
	l->filter.space = op->space;
	if (l->before && l->before <= last)
		last = l->before - 1;
	if (status == STORE_OK && l->limit)
		status = read_between(c, l, l->after < last ? l->after : last, last);
	if (l->count > l->limit) {
		l->has_more = true;
		l->count = l->limit;
		l->next = l->rows[l->count - 1].number;
	}
	if (status == STORE_OK)
		status = party_keep_events(&party, l->rows, &l->count);
	if (has_snapshot)
		store_snapshot_end(c);
	l->page.has_more = l->has_more;
	l->page.next = (uint64_t)l->next;
	return op_stored(op, status);
}

const struct op_kind event_list_kind = {.name = "event_list", .size = sizeof(struct event_list), .read = list};

/* --- Following --- */

enum store_status event_list_begin(struct engine_reader *r, struct event_reading *ret, int64_t *ret_last)
{
	*ret = (struct event_reading){r->conn, store_snapshot_begin(r->conn)};
	return store_event_last(r->conn, 0, ret_last);
}

void event_list_end(const struct event_reading *reading)
{
	if (reading->has_snapshot)
		store_snapshot_end(reading->conn);
}

enum store_status event_list_end_of(const struct event_reading *reading, int64_t space, int64_t *ret_pruned,
				    int64_t *ret_last)
{
	struct space_row row;
	struct arena arena;
	enum store_status status;

	arena_init(&arena);
	status = store_space_get(reading->conn, space, &arena, &row);
	arena_release(&arena);
	if (status == STORE_OK || status == STORE_NOT_FOUND)
		*ret_pruned = status == STORE_OK ? row.events_pruned : 0;
	return status == STORE_OK || status == STORE_NOT_FOUND ? store_event_last(reading->conn, space, ret_last) :
								 status;
}

enum store_status event_list_behind(const struct event_reading *reading, const struct event_filter *filter,
				    const struct access *access, int64_t cursor, int64_t last, size_t max,
				    struct arena *arena, struct event_row *ret, size_t *ret_count, int64_t *ret_until)
{
	struct party party;
	enum store_status status = STORE_OK;
	int64_t until;

	if (last - cursor > WINDOW)
		status = skip_to_first(reading->conn, filter->space, cursor, arena, &cursor);
	until = last - cursor > WINDOW ? cursor + WINDOW : last;
	if (status == STORE_OK)
		status = store_event_page(reading->conn, filter, cursor, until, max, arena, ret, ret_count);
	*ret_until = status == STORE_OK && *ret_count == max ? ret[max - 1].number : until;
	if (status == STORE_OK)
		status = party_init(&party, access, filter->space, reading->conn);
	if (status == STORE_OK)
		status = party_keep_events(&party, ret, ret_count);
	return status;
}
