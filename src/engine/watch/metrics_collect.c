#include "engine/watch/metrics_collect.h"

#include "core/delivery/delivery.h"
#include "engine/engine.h"
#include "engine/watch/queues.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"

#include <stdlib.h>
#include <string.h>

static struct metrics_series *add(struct metrics_collect *m, int64_t space, struct str agent)
{
	if (m->count == m->cap) {
		struct metrics_series *more;

		m->cap = m->cap ? m->cap * 2 : 32;
		more = arena_calloc(m->op.arena, m->cap, sizeof(*more));
		if (m->count)
			memcpy(more, m->list, m->count * sizeof(*more));
		m->list = more;
	}
	m->list[m->count] = (struct metrics_series){.space = space, .agent = agent};
	return &m->list[m->count++];
}

static void copy_totals(struct metrics_collect *m)
{
	struct watch *watch = m->op.engine->watch;
	struct stats *s = watch_lock(watch);
	struct stats_series *series;
	size_t iterator = 0;

	while ((series = stats_next(s, &iterator)) != NULL) {
		struct str agent = stats_series_agent(series);

		add(m, stats_series_space(series), agent.p ? arena_str(m->op.arena, agent) : STR_NULL)
			->totals = *stats_series_totals(series);
	}
	watch_unlock(watch);
}

static struct metrics_series *find(struct metrics_collect *m, int64_t space, struct str agent)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].space == space && m->list[i].agent.p && str_eq(m->list[i].agent, agent))
			return &m->list[i];
	return NULL;
}

/* An agent without a series of its own: one that nothing happened to since the start, or one of the rest. As many of
 * them as there is room for are told by name. */
static struct metrics_series *find_or_add(struct metrics_collect *m, int64_t space, struct str agent)
{
	struct metrics_series *series = find(m, space, agent);

	if (series)
		return series;
	if (m->count < STATS_TARGETS_MAX)
		return add(m, space, agent);
	series = find(m, -1, STR(STATS_OTHER));
	return series ? series : add(m, -1, STR(STATS_OTHER));
}

static enum store_status add_queues(struct metrics_collect *m, struct store_conn *c)
{
	struct queue_row *rows;
	size_t count;
	enum store_status status = queues_read(watch_queues(m->op.engine->watch), c, m->writer.commits, 0, m->op.arena,
					       &rows, &count, NULL, NULL);

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		struct metrics_series *to = find_or_add(m, rows[i].space, rows[i].name);
		enum breaker_state state = breaker_state(&rows[i].target, m->op.now_ms);

		queues_add(&to->queue, &rows[i].counts);
		to->breaker_is_open |= state == BREAKER_OPEN;
		to->breaker_is_half_open |= state == BREAKER_HALF_OPEN;
	}
	return status;
}

static int compare(const void *a, const void *b)
{
	const struct metrics_series *x = a, *y = b;
	int order = str_cmp(x->space_name, y->space_name);

	return order ? order : str_cmp(x->agent, y->agent);
}

static void name_and_sort(struct metrics_collect *m, struct store_conn *c)
{
	for (size_t i = 0; i < m->count; i++) {
		struct metrics_series *series = &m->list[i];

		if (series->space < 0 ||
		    store_space_name(c, series->space, m->op.arena, &series->space_name) != STORE_OK)
			series->space_name = STR(STATS_OTHER);
	}
	if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), compare);
}

static enum store_status add_quotas(struct metrics_collect *m, struct store_conn *c)
{
	struct quota *quota = m->op.engine->quota;
	enum store_status status = STORE_OK;
	int64_t *spaces;
	size_t count = quota_limited(quota, m->op.arena, &spaces);

	m->quotas = arena_calloc(m->op.arena, count, sizeof(*m->quotas));
	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		struct metrics_quota *one = &m->quotas[m->quota_count];

		if (store_space_name(c, spaces[i], m->op.arena, &one->space_name) != STORE_OK)
			continue;
		quota_refusals(quota, spaces[i], one->refusals);
		status = quota_read(quota, c, spaces[i], m->op.now_ms, m->op.arena, &one->state);
		m->quota_count++;
	}
	return status;
}

static enum problem_code collect(struct op *op, struct store_conn *c)
{
	struct metrics_collect *m = (struct metrics_collect *)op;
	struct engine *e = op->engine;
	enum store_status status = store_info(c, &m->store);

	m->store_cache_bytes = store_cache_bytes(e->store);
	m->waiting = waiting_count(e->waiting);
	for (int severity = 0; severity <= ALERT_CRITICAL; severity++)
		m->firing[severity] = watch_firing(e->watch, (enum alert_severity)severity);
	writer_stats(e->writer, &m->writer);
	copy_totals(m);
	if (status == STORE_OK)
		status = add_queues(m, c);
	if (status == STORE_OK)
		name_and_sort(m, c);
	if (status == STORE_OK)
		status = add_quotas(m, c);
	return op_stored(op, status);
}

const struct op_kind metrics_collect_kind = {
	.name = "metrics_collect", .size = sizeof(struct metrics_collect), .flags = OP_NO_SPACE | OP_ASIDE,
	.read = collect,
};
