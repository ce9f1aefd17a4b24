#include "engine/memory/quarantine.h"

#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/envelope/beginning.h"
#include "engine/memory/origin.h"
#include "engine/said.h"

#include <stdlib.h>

enum { SCAN_PAGE = 64 };

/* --- The actions --- */

struct action {
	const char *name;
	const struct op_kind *kind;
	int event;
};

static const struct action actions[] = {
	{"quarantine", &quarantine_kind, EVENT_MEMORY_QUARANTINED},
	{"release", &quarantine_release_kind, EVENT_MEMORY_UNQUARANTINED},
	{"purge", &quarantine_purge_kind, EVENT_MEMORY_PURGED},
};

static const struct action *action_of(const struct op *op)
{
	const struct action *a = actions;

	while (a->kind != op->kind)
		a++;
	return a;
}

/* Is there anything to do? */
static bool is_due(const struct op *op, const struct memory *m)
{
	if (m->forgotten_at_ms)
		return false;
	if (op->kind == &quarantine_kind)
		return m->quarantined_at_ms == 0;
	return op->kind == &quarantine_purge_kind || m->quarantined_at_ms != 0;
}

/* --- Which ones --- */

static bool fits(const struct quarantine_filter *f, const struct memory *m, struct arena *arena)
{
	if (f->agent.p && !(m->agent.p && str_eq(m->agent, f->agent)))
		return false;
	if (f->task.p && !(m->task.p && str_eq(m->task, f->task)))
		return false;
	if (f->trust != QUARANTINE_ANY_TRUST && (int)m->trust != f->trust)
		return false;
	if ((f->since_ms && m->updated_at_ms < f->since_ms) || (f->before_ms && m->updated_at_ms >= f->before_ms))
		return false;
	if (f->key.p && !str_eq(f->key, arena_printf(arena, "key-%llu",
						     (unsigned long long)origin_key(m->origin, arena))))
		return false;
	return !f->is_quarantined || m->quarantined_at_ms;
}

static void add(struct quarantine *q, const struct memory *m)
{
	struct arena *arena = q->op.arena;

	q->matched++;
	if (m->num <= q->after)
		return;
	if (q->count == (size_t)q->limit) {
		q->next_after = q->memories[q->count - 1].num;
		return;
	}
	q->memories[q->count++] = (struct quarantine_memory){
		.num = m->num, .version = m->version, .agent = m->agent.p ? arena_str(arena, m->agent) : STR_NULL,
		.origin = m->origin.p ? arena_str(arena, m->origin) : STR_NULL, .trust = m->trust,
		.written_at_ms = m->updated_at_ms, .beginning = beginning_of(arena, m->content),
		.is_quarantined = m->quarantined_at_ms != 0,
	};
}

/* One of its versions fits: the newest that does is told. */
static enum store_status look_at(struct quarantine *q, struct store_conn *c, const struct memory *newest,
				 struct arena *arena)
{
	struct memory versions[SCAN_PAGE];
	uint32_t below = newest->version;
	size_t count = 1;
	enum store_status status = STORE_OK;

	if (!is_due(&q->op, newest))
		return STORE_OK;
	if (q->nums || fits(&q->filter, newest, arena)) {
		add(q, newest);
		return STORE_OK;
	}
	while (status == STORE_OK && below > 1 && count) {
		status = store_memory_versions(c, q->op.space, newest->num, below, SCAN_PAGE, arena, versions, &count);
		for (size_t i = 0; status == STORE_OK && i < count; i++)
			if (fits(&q->filter, &versions[i], arena)) {
				add(q, &versions[i]);
				return STORE_OK;
			}
		if (count)
			below = versions[count - 1].version;
	}
	return status;
}

static int compare_nums(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static enum store_status find_named(struct quarantine *q, struct store_conn *c, struct arena *arena)
{
	enum store_status status = STORE_OK;
	struct memory m;

	qsort(q->nums, q->num_count, sizeof(*q->nums), compare_nums);
	for (size_t i = 0; status == STORE_OK && i < q->num_count; i++) {
		if (i && q->nums[i] == q->nums[i - 1])
			continue;
		status = store_memory_get(c, q->op.space, q->nums[i], 0, arena, &m);
		if (status == STORE_OK)
			status = look_at(q, c, &m, arena);
		else if (status == STORE_NOT_FOUND)
			status = STORE_OK;
		arena_release(arena);
	}
	return status;
}

static enum store_status find_all(struct quarantine *q, struct store_conn *c, struct arena *arena)
{
	bool quarantined = q->filter.is_quarantined || q->op.kind == &quarantine_release_kind;
	struct memory page[SCAN_PAGE];
	enum store_status status = STORE_OK;
	uint64_t after = 0;
	size_t count = 1;

	while (status == STORE_OK && count) {
		status = quarantined ? store_memories_quarantined(c, q->op.space, after, SCAN_PAGE, arena, page, &count)
				     : store_memory_scan(c, q->op.space, after, SCAN_PAGE, arena, page, &count);
		for (size_t i = 0; status == STORE_OK && i < count; i++)
			status = look_at(q, c, &page[i], arena);
		after = count ? page[count - 1].num : after;
		arena_release(arena);
	}
	return status;
}

static enum problem_code find(struct op *op, struct store_conn *c)
{
	struct quarantine *q = (struct quarantine *)op;
	enum store_status status = STORE_OK;
	struct arena arena;
	uint64_t *nums;

	q->action = action_of(op)->name;
	q->matched = 0;
	q->count = 0;
	q->next_after = 0;
	q->memories = arena_calloc(op->arena, (size_t)q->limit, sizeof(*q->memories));
	q->reach = (struct reach){0};
	op->is_answered = q->dry_run || op->space == 0;
	if (op->space == 0)
		return P_OK;
	if (said_guard(op, c, SAID_OF_SPACE, 0, "why", &q->why) != P_OK ||
	    said_guard(op, c, SAID_OF_SPACE, 0, "by", &q->by) != P_OK)
		return op->problem.code;
	arena_init(&arena);
	status = q->nums ? find_named(q, c, &arena) : find_all(q, c, &arena);
	arena_release(&arena);
	if (status != STORE_OK)
		return op_stored(op, status);
	nums = arena_calloc(op->arena, q->count + 1, sizeof(*nums));
	for (size_t i = 0; i < q->count; i++)
		nums[i] = q->memories[i].num;
	return reach_find(op, c, nums, q->count, &q->reach);
}

/* --- Doing it --- */

static enum store_status change(struct quarantine *q, struct store_conn *c, uint64_t num)
{
	if (q->op.kind == &quarantine_purge_kind)
		return store_memory_forget(c, q->op.space, num, q->op.now_ms);
	return store_memory_set_quarantined(c, q->op.space, num, q->op.kind == &quarantine_kind ? q->op.now_ms : 0);
}

static enum store_status tell(struct quarantine *q, struct store_conn *c, uint64_t num)
{
	struct event_row event = {
		.space = q->op.space, .at_ms = q->op.now_ms, .kind = action_of(&q->op)->event, .memory = num,
		.actor = q->by.p ? q->by : q->op.agent, .access_key = op_access_key(&q->op), .note = q->why,
	};

	return store_event_add(c, &event);
}

/* What has changed since it was found, so that there is nothing to do any more, is left out. */
static enum problem_code carry_out(struct op *op, struct store_conn *c)
{
	struct quarantine *q = (struct quarantine *)op;
	enum store_status status = STORE_OK;
	size_t done = 0;

	q->changed = arena_calloc(op->arena, q->count + 1, sizeof(*q->changed));
	q->changed_count = 0;
	for (size_t i = 0; status == STORE_OK && i < q->count; i++) {
		struct memory *m = &q->changed[q->changed_count];

		status = store_memory_get(c, op->space, q->memories[i].num, 0, op->arena, m);
		if (status == STORE_OK && is_due(op, m)) {
			status = change(q, c, m->num);
			if (status == STORE_OK)
				status = tell(q, c, m->num);
			m->quarantined_at_ms = op->kind == &quarantine_kind ? op->now_ms : 0;
			q->changed_count++;
			q->memories[done++] = q->memories[i];
		} else if (status == STORE_NOT_FOUND) {
			status = STORE_OK;
		}
	}
	q->count = done;
	return op_stored(op, status);
}

static void index_changed(struct op *op)
{
	const struct quarantine *q = (const struct quarantine *)op;

	for (size_t i = 0; i < q->changed_count; i++) {
		if (op->kind == &quarantine_release_kind)
			recall_put(op->engine->recall, &q->changed[i]);
		else
			recall_remove(op->engine->recall, op->space, q->changed[i].num);
	}
}

/* --- What is in quarantine --- */

static enum problem_code list(struct op *op, struct store_conn *c)
{
	struct quarantine_list *l = (struct quarantine_list *)op;
	size_t max = l->page.size + 1, bytes = 0;
	enum store_status status = STORE_OK;

	l->memories = arena_calloc(op->arena, max, sizeof(*l->memories));
	if (op->space)
		status = store_memories_quarantined(c, op->space, l->page.position, max, op->arena, l->memories,
						    &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	for (size_t i = 0; i < l->count; i++) {
		bytes += l->memories[i].content.n;
		if (bytes > PAGE_BYTES_MAX && i) {
			l->count = i;
			l->page.has_more = true;
		}
	}
	if (op_is_too_large(op, bytes))
		return P_OK;
	l->page.next = l->count ? l->memories[l->count - 1].num : 0;
	return op_stored(op, status);
}

#define QUARANTINE_KIND(variable, text) \
	const struct op_kind variable = { \
		.name = text, .size = sizeof(struct quarantine), .flags = OP_ASIDE, .prepare = find, .run = carry_out, \
		.done = index_changed, \
	}

QUARANTINE_KIND(quarantine_kind, "quarantine");
QUARANTINE_KIND(quarantine_release_kind, "quarantine_release");
QUARANTINE_KIND(quarantine_purge_kind, "quarantine_purge");
const struct op_kind quarantine_list_kind = {
	.name = "quarantine_list", .size = sizeof(struct quarantine_list), .read = list,
};
