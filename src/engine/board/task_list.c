#include "engine/board/task_list.h"

#include "core/delivery/delivery.h"
#include "engine/access/party.h"

#include <stdlib.h>

/* SCAN: events that one page goes through, some tens of milliseconds where a filter fits few of their tasks. FOUND:
 * tasks that a search sorts; READ: whose words it reads for that, 0.5 us each. LOOKED: tasks that a page of open ones
 * looks at, because a filter may fit few of them; QUIET: so many are read at a time. HERE: events that the first page
 * without a filter goes through before a worker does. */
enum { SCAN_MAX = 20000, FOUND_MAX = 2000, READ_MAX = 200000, LOOKED_MAX = 5000, QUIET = 64, SCAN_HERE = 500 };

/* --- One task --- */

/* Is what is queued held by the breaker of its agent? */
static enum store_status is_held(struct op *op, struct store_conn *c, uint64_t num, bool *ret)
{
	struct problem problem = {0};
	struct handoff_row h;
	enum store_status status = store_handoff_get(c, op->space, num, op->arena, &h);

	*ret = false;
	if (status == STORE_OK)
		status = problem_store_status(delivery_look(c, op->now_ms, op->arena, &h, &problem));
	if (status == STORE_OK)
		*ret = h.held_until_ms != 0;
	return status;
}

/* How the task stands, by the handoff that decides and the breaker of its agent. */
static enum store_status state_of(struct op *op, struct store_conn *c, const struct task_work *work,
				  enum task_state *ret)
{
	enum store_status status = STORE_OK;
	bool held;

	switch (work->handoff ? work->state : HANDOFF_COMPLETED) {
	case HANDOFF_PARKED:
		*ret = TASK_PARKED;
		break;
	case HANDOFF_LEASED:
	case HANDOFF_WORKING:
		*ret = TASK_WORKING;
		break;
	case HANDOFF_QUEUED:
		status = is_held(op, c, work->handoff, &held);
		*ret = held ? TASK_HELD : TASK_WAITING;
		break;
	case HANDOFF_DELAYED:
		*ret = TASK_WAITING;
		break;
	default:
		*ret = TASK_DONE;
	}
	return status;
}

static bool fits(const struct task_list *l, const struct task_listed *t, int64_t agent)
{
	return (l->states == 0 || (l->states >> t->state & 1)) && (agent == 0 || t->work.agent == agent) &&
	       (l->changed_since_ms == 0 || t->changed_at_ms >= l->changed_since_ms);
}

/* What the task's own row says, before its handoffs are read. */
static bool is_of_age(const struct task_list *l, const struct task_row *row)
{
	return l->older_than_ms == 0 || row->created_at_ms <= l->op.now_ms - l->older_than_ms;
}

/* What is being gathered. */
struct gathering {
	struct task_list *l;
	struct store_conn *c;
	struct party *party;		/* who asks */
	int64_t agent;			/* 0: any */
	size_t max;			/* room in l->tasks */
	/* Of the space. */
	int64_t pruned;			/* the highest number of an event that was pruned; 0: none */
	int64_t told_since_ms;		/* the time of the first event of the space behind that one */
};

/* Reads the task, and keeps it where it fits. */
static enum store_status consider(struct gathering *g, int64_t id, bool *ret_fits)
{
	struct task_list *l = g->l;
	struct task_listed *t = &l->tasks[l->count];
	const int64_t *n = t->work.counts;
	enum store_status status = store_task_get(g->c, id, l->op.arena, &t->row);

	*ret_fits = false;
	if (status == STORE_OK && !is_of_age(l, &t->row))
		return STORE_OK;
	if (status == STORE_OK)
		status = store_task_work(g->c, id, l->op.arena, &t->work);
	if (status == STORE_OK)
		status = state_of(&l->op, g->c, &t->work, &t->state);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	t->changed_at_ms = t->work.changed_at_ms ? t->work.changed_at_ms : t->row.created_at_ms;
	t->open = n[HANDOFF_QUEUED] + n[HANDOFF_DELAYED] + n[HANDOFF_LEASED] + n[HANDOFF_WORKING];
	t->last_event = NULL;
	if (fits(l, t, g->agent))
		status = party_takes_part(g->party, &l->op, t->row.name, ret_fits);
	l->count += status == STORE_OK && *ret_fits;
	return status;
}

static enum store_status newest_event(struct gathering *g, uint64_t handoff, struct event_row *ret, size_t *ret_count)
{
	struct event_filter filter = {.space = g->l->op.space, .handoff = handoff, .newest_first = true};

	return store_event_page(g->c, &filter, 0, INT64_MAX, 1, g->l->op.arena, ret, ret_count);
}

/* What happened to a handoff that is no business of the caller's is not told. */
static enum store_status keep_last_event(struct gathering *g, struct task_listed *t)
{
	size_t count = t->last_event != NULL;
	enum store_status status = count ? party_keep_events(g->party, t->last_event, &count) : STORE_OK;

	if (count == 0)
		t->last_event = NULL;
	return status;
}

/* Of the handoff that decides, or of the one that was changed last. */
static enum store_status read_last_event(struct gathering *g, struct task_listed *t)
{
	struct event_row *events = arena_calloc(g->l->op.arena, 2, sizeof(*events));
	size_t counts[2] = {0, 0};
	enum store_status status = STORE_OK;

	if (t->work.handoff)
		status = newest_event(g, t->work.handoff, &events[0], &counts[0]);
	if (status == STORE_OK && t->work.recent != t->work.handoff)
		status = newest_event(g, t->work.recent, &events[1], &counts[1]);
	if (counts[0])
		t->last_event = &events[0];
	if (counts[1] && (t->last_event == NULL || events[1].number > events[0].number))
		t->last_event = &events[1];
	return status == STORE_OK ? keep_last_event(g, t) : status;
}

/* --- By their newest change ---
 *
 * The events say what was changed last. Where they are kept for a time only, tasks may be older than that. These come
 * behind all others, the newest first: a task is one of them where nothing was told of it since the last event that was
 * pruned (store_task_is_quiet). */

static enum store_status read_pruned(struct gathering *g)
{
	struct space_row space;
	struct event_row first;
	size_t count = 0;
	enum store_status status = store_space_get(g->c, g->l->op.space, g->l->op.arena, &space);

	if (status != STORE_OK || space.events_pruned == 0)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	g->pruned = space.events_pruned;
	status = store_events(g->c, g->l->op.space, 0, g->pruned, 1, g->l->op.arena, &first, &count);
	g->told_since_ms = count ? first.at_ms : INT64_MAX;
	return status;
}

/* Keeps the task where it fits, and is quiet or not, as asked for. */
static enum store_status consider_quiet(struct gathering *g, int64_t id, bool wanted, bool *ret_fits)
{
	bool quiet = false;
	enum store_status status = STORE_OK;

	*ret_fits = false;
	if (g->pruned)
		status = store_task_is_quiet(g->c, g->l->op.space, id, g->pruned, g->told_since_ms, &quiet);
	if (status != STORE_OK || quiet != wanted)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	return consider(g, id, ret_fits);
}

/* An id such that the tasks from there on were begun since the first event that is kept: none of them is quiet. */
static enum store_status find_quiet(struct gathering *g, int64_t *ret_before)
{
	struct task_row task;
	size_t count = 0;
	enum store_status status = store_tasks(g->c, g->l->op.space, 0, 1, g->l->op.arena, &task, &count);
	int64_t below = 1, above = count ? task.id + 2 : below;

	while (status == STORE_OK && above - below > 1) {
		int64_t middle = below + (above - below) / 2;

		status = store_tasks(g->c, g->l->op.space, middle, 1, g->l->op.arena, &task, &count);
		if (count == 0 || task.created_at_ms <= g->told_since_ms)
			below = middle;
		else
			above = middle;
	}
	*ret_before = below;
	return status;
}

static enum store_status gather_quiet(struct gathering *g)
{
	struct task_list *l = g->l;
	struct task_row *rows = arena_calloc(l->op.arena, QUIET, sizeof(*rows));
	int64_t before = (int64_t)l->page.extra;
	size_t got = QUIET, looked = 0;
	enum store_status status = before ? STORE_OK : find_quiet(g, &before);

	l->page.next_extra = (uint64_t)before;
	while (status == STORE_OK && got == QUIET && l->count < g->max && looked < LOOKED_MAX &&
	       !op_is_too_long(&l->op, looked)) {
		status = store_tasks(g->c, l->op.space, before, QUIET, l->op.arena, rows, &got);
		for (size_t i = 0; status == STORE_OK && i < got && l->count < g->max; i++) {
			bool is_kept;

			before = rows[i].id;
			status = consider_quiet(g, before, true, &is_kept);
			if (l->count <= l->page.size)
				l->page.next_extra = (uint64_t)before;
		}
		looked += got;
	}
	l->page.has_more = page_cut(&l->page, &l->count) || (got == QUIET && looked >= LOOKED_MAX);
	return status;
}

/* The numbers of a space begin far above 0: no further down than there is something. */
static enum store_status raise_floor(struct gathering *g, int64_t *floor)
{
	struct event_row first;
	size_t count = 0;
	enum store_status status = store_events(g->c, g->l->op.space, 0, *floor, 1, g->l->op.arena, &first, &count);

	if (status == STORE_OK && count)
		*floor = first.number - 1;
	return status;
}

static enum store_status gather_told(struct gathering *g, int64_t floor)
{
	struct task_list *l = g->l;
	struct task_place *places = arena_calloc(l->op.arena, g->max, sizeof(*places));
	int64_t before = (int64_t)l->page.position, last = 0, bound;
	int64_t most = op_is_here(&l->op) ? SCAN_HERE : SCAN_MAX;
	size_t got = 1, want = 1;
	enum store_status status = store_event_last(g->c, l->op.space, &last);

	last = before ? before - 1 : last;
	if (status == STORE_OK && last - most > floor)
		status = raise_floor(g, &floor);
	bound = last - most > floor ? last - most : floor;
	while (status == STORE_OK && got == want && l->count < g->max) {
		want = g->max - l->count;
		status = store_tasks_changed(g->c, l->op.space, before, bound, want, places, &got);
		for (size_t i = 0; status == STORE_OK && i < got; i++) {
			bool is_kept;

			status = consider_quiet(g, places[i].id, false, &is_kept);
			before = places[i].at;
			if (is_kept && l->count <= l->page.size)
				l->page.next = (uint64_t)before;
		}
	}
	l->page.has_more = page_cut(&l->page, &l->count);
	/* A filter that fits few ends the page earlier; but first a worker has looked. */
	if (!l->page.has_more && bound > floor) {
		op_is_too_long(&l->op, SCAN_MAX);
		l->page.has_more = true;
		l->page.next = (uint64_t)bound + 1;
	}
	return status;
}

static enum store_status gather_changed(struct gathering *g)
{
	struct task_list *l = g->l;
	int64_t floor = 0;
	enum store_status status = read_pruned(g);

	if (status == STORE_OK && l->changed_since_ms)
		status = store_event_before(g->c, l->op.space, l->changed_since_ms, &floor);
	if (status == STORE_OK && l->page.extra == 0)
		status = gather_told(g, floor > g->pruned ? floor : g->pruned);
	if (status == STORE_OK && !l->page.has_more && floor < g->pruned)
		status = gather_quiet(g);
	return status;
}

/* --- By what is open --- */

static enum store_status gather_open(struct gathering *g)
{
	struct task_list *l = g->l;
	struct task_place *places = arena_calloc(l->op.arena, g->max + LOOKED_MAX, sizeof(*places));
	struct task_place behind = {(int64_t)l->page.extra, (int64_t)l->page.position};
	bool is_first = l->page.position == 0;
	size_t got = 1, want = 1, looked = 0;
	enum store_status status = STORE_OK;

	while (status == STORE_OK && got == want && l->count < g->max && looked < LOOKED_MAX) {
		/* The store sorts all of them each time: where a page is not enough, many are read at once. */
		want = looked ? LOOKED_MAX : g->max;
		status = store_tasks_open(g->c, l->op.space, l->states, g->agent,
					  is_first ? NULL : &behind, want, places, &got);
		for (size_t i = 0; status == STORE_OK && i < got && l->count < g->max; i++) {
			bool is_kept;

			status = consider(g, places[i].id, &is_kept);
			behind = places[i];
			if (l->count <= l->page.size) {
				l->page.next = (uint64_t)behind.at;
				l->page.next_extra = (uint64_t)behind.id;
			}
		}
		is_first = false;
		looked += got;
	}
	l->page.has_more = page_cut(&l->page, &l->count) || (got == want && looked >= LOOKED_MAX);
	return status;
}

/* --- By their words --- */

static int compare(const void *a, const void *b)
{
	const struct task_place *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? 1 : -1;
	return (x->id < y->id) - (x->id > y->id);
}

static void warn_limited(struct task_list *l, size_t found)
{
	struct str why = found == FOUND_MAX ?
		arena_printf(l->op.arena, "more than %d tasks hold this text; only the newest %d were looked at. "
			     "Search for more of it", FOUND_MAX, FOUND_MAX) :
		arena_printf(l->op.arena, "there are more than %d tasks; only the newest %d were looked at",
			     READ_MAX, READ_MAX);

	op_warn(&l->op, "search_limited", STR("query"), why);
}

static enum store_status gather_found(struct gathering *g)
{
	struct task_list *l = g->l;
	struct task_place *places = arena_calloc(l->op.arena, FOUND_MAX, sizeof(*places));
	size_t got = 0, skipped;
	bool is_more = false;
	enum store_status status =
		store_tasks_matching(g->c, l->op.space, l->text, READ_MAX, FOUND_MAX, places, &got, &is_more);

	if (is_more)
		warn_limited(l, got);
	if (got)
		qsort(places, got, sizeof(*places), compare);
	/* How each stands is read for those of this page, and of those before it. */
	for (size_t i = 0; status == STORE_OK && i < got && l->count < page_reach(&l->page); i++)
		status = consider(g, places[i].id, &(bool){false});
	skipped = page_skip(&l->page, &l->count);
	l->tasks += skipped;
	page_end(&l->page, &l->count);
	return status;
}

/* --- All of them --- */

/* Only the newest of all are found at once. */
static bool is_filtered(const struct task_list *l)
{
	return l->states || l->agent.p || l->text.n || l->older_than_ms || l->changed_since_ms;
}

/* A done task is in no queue. */
static bool asks_for_open(const struct task_list *l)
{
	return l->states && !(l->states >> TASK_DONE & 1);
}

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct task_list *l = (struct task_list *)op;
	bool is_search = l->text.p && l->text.n;
	struct party party;
	struct gathering g = {.l = l, .c = c, .party = &party, .max = is_search ? FOUND_MAX : l->page.size + 1};
	enum store_status status = party_init(&party, op->access, op->space, c);
	bool has_snapshot;

	/* It may be begun again elsewhere. */
	l->count = 0;
	l->page.has_more = false;
	l->page.next = l->page.next_extra = 0;
	if (is_filtered(l) && op_is_too_long(op, SCAN_MAX))
		return P_OK;
	if (op->space && l->agent.p && status == STORE_OK)
		status = store_agent_id(c, op->space, l->agent, false, 0, &g.agent);
	if (op->space == 0 || status == STORE_NOT_FOUND)
		return P_OK;
	has_snapshot = store_snapshot_begin(c);
	l->tasks = arena_calloc(op->arena, g.max + 1, sizeof(*l->tasks));
	if (status == STORE_OK)
		status = is_search ? gather_found(&g) : asks_for_open(l) ? gather_open(&g) : gather_changed(&g);
	for (size_t i = 0; status == STORE_OK && i < l->count && !op->aside.is_wanted; i++)
		status = read_last_event(&g, &l->tasks[i]);
	if (has_snapshot)
		store_snapshot_end(c);
	return op_stored(op, status);
}

const struct op_kind task_list_kind = {.name = "task_list", .size = sizeof(struct task_list), .read = read_list};
