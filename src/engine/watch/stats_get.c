#include "engine/watch/stats_get.h"

#include "core/delivery/delivery.h"
#include "engine/engine.h"
#include "engine/watch/queues.h"
#include "engine/watch/watch.h"

#include <stdlib.h>

enum { TARGETS_MAX = 1000 };

static struct stats_target *add_target(struct stats_get *g, int64_t space, struct str agent)
{
	struct stats_target *t;

	for (size_t i = 0; i < g->target_count; i++)
		if (g->targets[i].space == space && str_eq(g->targets[i].agent, agent))
			return &g->targets[i];
	if (g->target_count == TARGETS_MAX)
		return NULL;
	t = &g->targets[g->target_count++];
	*t = (struct stats_target){.space = space, .agent = agent, .view.failure_rate = -1};
	return t;
}

/* What the figures say of the space, or of all. */
static void read_figures(struct stats_get *g)
{
	struct watch *watch = g->op.engine->watch;
	struct stats *s = watch_lock(watch);
	struct stats_series *whole = g->all_spaces ? stats_of_space(s, 0)
				     : g->op.space ? stats_of_space(s, g->op.space)
						   : NULL;
	struct stats_series *series;
	size_t iterator = 0;

	stats_view(whole, g->window, g->op.now_ms, &g->overall.view);
	g->point_count = stats_points(whole, g->window, g->op.now_ms, g->points);
	while ((series = stats_next(s, &iterator)) != NULL) {
		int64_t space = stats_series_space(series);
		struct str agent = stats_series_agent(series);
		struct stats_target *t;

		if (agent.p == NULL || (!g->all_spaces && space != g->op.space) ||
		    stats_series_last_ms(series) <= g->op.now_ms - stats_window_ms(g->window))
			continue;
		t = add_target(g, space, arena_str(g->op.arena, agent));
		if (t)
			stats_view(series, g->window, g->op.now_ms, &t->view);
	}
	watch_unlock(watch);
}

/* What is queued now, and the breakers. */
static enum problem_code read_queues(struct stats_get *g, struct store_conn *c)
{
	int64_t space = g->all_spaces ? 0 : g->op.space;
	struct writer_stats writer;
	struct queue_row *rows;
	struct queues_sum *sums;
	size_t count, sum_count;
	enum store_status status;

	if (!g->all_spaces && g->op.space == 0)
		return P_OK;
	writer_stats(g->op.engine->writer, &writer);
	status = queues_read(watch_queues(g->op.engine->watch), c, writer.commits, space, g->op.arena, &rows, &count,
			     &sums, &sum_count);
	if (status != STORE_OK)
		return problem_of_store(&g->op.problem, status);
	g->overall.counts = queues_sum_of(sums, sum_count, space).counts;
	g->points[g->point_count - 1].queued = g->overall.counts.queued;
	for (size_t i = 0; i < count; i++) {
		struct stats_target *t = add_target(g, rows[i].space, rows[i].name);

		if (t) {
			t->counts = rows[i].counts;
			t->breaker = (int)breaker_state(&rows[i].target, g->op.now_ms);
		}
	}
	return P_OK;
}

static int compare_targets(const void *a, const void *b)
{
	const struct stats_target *x = a, *y = b;
	int order = str_cmp(x->space_name, y->space_name);

	return order ? order : str_cmp(x->agent, y->agent);
}

static enum problem_code read_stats(struct op *op, struct store_conn *c)
{
	struct stats_get *g = (struct stats_get *)op;
	enum problem_code code;

	g->targets = arena_calloc(g->op.arena, TARGETS_MAX, sizeof(*g->targets));
	g->points = arena_calloc(g->op.arena, STATS_POINTS_MAX, sizeof(*g->points));
	g->step_s = stats_step_ms(g->window) / 1000;
	g->overall.breaker = -1;
	read_figures(g);
	code = read_queues(g, c);
	if (code != P_OK)
		return code;
	for (size_t i = 0; g->all_spaces && i < g->target_count; i++) {
		struct stats_target *t = &g->targets[i];

		if (i && t->space == t[-1].space)
			t->space_name = t[-1].space_name;
		else if (t->space < 0 || store_space_name(c, t->space, g->op.arena, &t->space_name) != STORE_OK)
			t->space_name = STR(STATS_OTHER);
	}
	qsort(g->targets, g->target_count, sizeof(*g->targets), compare_targets);
	return P_OK;
}

const struct op_kind stats_get_kind = {
	.name = "stats_get", .size = sizeof(struct stats_get), .flags = OP_ASIDE, .read = read_stats,
};
