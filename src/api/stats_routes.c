/* GET /v1/stats: how delivery goes, over the last minute, five minutes, hour or day; of a space and of each of its
 * agents. */
#include "engine/queues.h"
#include "api/routes.h"
#include "api/stats_json.h"
#include "engine/watch.h"
#include "codec/json_member.h"
#include "core/delivery/delivery.h"

#include <stdlib.h>

enum { TARGETS_MAX = 1000 };

struct target {
	int64_t space;
	struct str space_name;
	struct str agent;
	struct stats_view view;
	struct target_counts counts;
	struct target_row state;
};

struct answer {
	enum stats_window window;
	bool all_spaces;
	struct stats_view overall;
	struct target_counts counts;
	struct target *targets;
	size_t target_count;
	struct stats_point points[STATS_POINTS_MAX];
	size_t point_count;
};

static enum problem_code decode_stats(struct call *call)
{
	struct answer *a = arena_zalloc(call->op->arena, sizeof(*a));
	struct str window = call_query(call, "window"), space = call_query(call, "space");

	call->input = a;
	a->window = STATS_5M;
	if (window.p) {
		int i = 0;

		while (i < STATS_WINDOWS && !str_is(window, stats_window_name((enum stats_window)i)))
			i++;
		if (i == STATS_WINDOWS)
			return problem_set(&call->op->problem, P_INVALID_FIELD, "window",
					   "window is \"%.*s\"; expected 1m, 5m, 1h or 24h",
					   (int)(window.n < 32 ? window.n : 32), window.p);
		a->window = (enum stats_window)i;
	}
	if (space.p && !str_is(space, "all"))
		return problem_set(
			&call->op->problem, P_INVALID_FIELD, "space",
			"space is \"%.*s\"; expected all, or nothing: the header Spine-Space names the space",
			(int)(space.n < 64 ? space.n : 64), space.p);
	a->all_spaces = space.p != NULL;
	return P_OK;
}

static struct target *add_target(struct answer *a, int64_t space, struct str agent)
{
	struct target *t;

	for (size_t i = 0; i < a->target_count; i++)
		if (a->targets[i].space == space && str_eq(a->targets[i].agent, agent))
			return &a->targets[i];
	if (a->target_count == TARGETS_MAX)
		return NULL;
	t = &a->targets[a->target_count++];
	*t = (struct target){.space = space, .agent = agent, .view.failure_rate = -1};
	return t;
}

/* What the figures say of the space, or of all. */
static void read_figures(struct call *call, struct answer *a)
{
	struct stats *s = watch_lock(call->api->engine->watch);
	struct stats_series *whole = a->all_spaces ? stats_of_space(s, 0)
				     : call->op->space ? stats_of_space(s, call->op->space)
						   : NULL;
	struct stats_series *series;
	size_t iterator = 0;

	stats_view(whole, a->window, call->op->now_ms, &a->overall);
	a->point_count = stats_points(whole, a->window, call->op->now_ms, a->points);
	while ((series = stats_next(s, &iterator)) != NULL) {
		int64_t space = stats_series_space(series);
		struct str agent = stats_series_agent(series);
		struct target *t;

		if (agent.p == NULL || (!a->all_spaces && space != call->op->space) ||
		    stats_series_last_ms(series) <= call->op->now_ms - stats_window_ms(a->window))
			continue;
		t = add_target(a, space, arena_str(call->op->arena, agent));
		if (t)
			stats_view(series, a->window, call->op->now_ms, &t->view);
	}
	watch_unlock(call->api->engine->watch);
}

/* What is queued now, and the breakers. */
static enum problem_code read_queues(struct call *call, struct store_conn *c, struct answer *a)
{
	int64_t space = a->all_spaces ? 0 : call->op->space;
	struct writer_stats writer;
	struct queue_row *rows;
	struct queues_sum *sums;
	size_t count, sum_count;
	enum store_status status;

	if (!a->all_spaces && call->op->space == 0)
		return P_OK;
	writer_stats(call->api->engine->writer, &writer);
	status = queues_read(watch_queues(call->api->engine->watch), c, writer.commits, space, call->op->arena, &rows, &count,
			     &sums, &sum_count);
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	a->counts = queues_sum_of(sums, sum_count, space).counts;
	a->points[a->point_count - 1].queued = a->counts.queued;
	for (size_t i = 0; i < count; i++) {
		struct target *t = add_target(a, rows[i].space, rows[i].name);

		if (t) {
			t->counts = rows[i].counts;
			t->state = rows[i].target;
		}
	}
	return P_OK;
}

static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;
	int order = str_cmp(x->space_name, y->space_name);

	return order ? order : str_cmp(x->agent, y->agent);
}

static enum problem_code read_stats(struct call *call, struct store_conn *c)
{
	struct answer *a = call->input;
	enum problem_code code;

	a->targets = arena_calloc(call->op->arena, TARGETS_MAX, sizeof(*a->targets));
	read_figures(call, a);
	code = read_queues(call, c, a);
	if (code != P_OK)
		return code;
	for (size_t i = 0; i < a->target_count; i++) {
		struct target *t = &a->targets[i];

		if (!a->all_spaces)
			t->space_name = call->op->space_name;
		else if (i && t->space == t[-1].space)
			t->space_name = t[-1].space_name;
		else if (t->space < 0 || store_space_name(c, t->space, call->op->arena, &t->space_name) != STORE_OK)
			t->space_name = STR(STATS_OTHER);
	}
	qsort(a->targets, a->target_count, sizeof(*a->targets), compare_targets);
	return P_OK;
}

static void encode_stats(struct call *call)
{
	struct answer *a = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "window", stats_window_name(a->window));
	json_member_str(&w, "space", a->all_spaces ? STR("all") : call->op->space_name);
	json_member_time(&w, "now", call->op->now_ms);
	json_key(&w, "overall");
	json_begin_object(&w);
	stats_json_members(&w, &a->overall, &a->counts);
	json_end_object(&w);
	json_key(&w, "targets");
	json_begin_array(&w);
	for (size_t i = 0; i < a->target_count; i++) {
		const struct target *t = &a->targets[i];

		json_begin_object(&w);
		json_member_str(&w, "agent", t->agent);
		if (a->all_spaces)
			json_member_str(&w, "space", t->space_name);
		stats_json_members(&w, &t->view, &t->counts);
		json_member_cstr(&w, "breaker", breaker_name(breaker_state(&t->state, call->op->now_ms)));
		json_end_object(&w);
	}
	json_end_array(&w);
	json_key(&w, "series");
	stats_json_points(&w, a->window, a->points, a->point_count);
	call_end_reply(call, &w);
}

const struct route stats_routes[] = {
	{HTTP_GET, "/v1/stats", 0, .decode = decode_stats, .read = read_stats, .encode = encode_stats},
	{0},
};
