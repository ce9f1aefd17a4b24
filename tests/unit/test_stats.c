/* core/watch/stats.h and base/sketch.h: figures of windows, against ones computed from the list of events itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/sketch.h"
#include "core/watch/stats.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define T0 INT64_C(1700000000000)

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static double unit_random(uint64_t *state)
{
	return (double)(next_random(state) >> 11) / 9007199254740992.0;
}

/* --- Percentiles --- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The smallest value that at least this share of the values does not exceed. */
static double exact_quantile(double *sorted, size_t count, double share)
{
	size_t rank = (size_t)ceil(share * (double)count);

	return sorted[rank ? rank - 1 : 0];
}

static void percentiles_of_a_sketch_are_within_one_per_cent(void **state)
{
	static const double shares[] = {0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
	uint64_t random = 42;

	(void)state;
	for (int round = 0; round < 50; round++) {
		size_t count = 1 + next_random(&random) % 5000;
		double spread = 1 + unit_random(&random) * 20;
		double *values = mem_calloc(count, sizeof(*values));
		struct sketch_sum *sum = mem_zalloc(sizeof(*sum));
		struct sketch parts[3] = {{0}};

		for (size_t i = 0; i < count; i++) {
			values[i] = 1 + exp(unit_random(&random) * spread);
			sketch_add(&parts[i % 3], sketch_key(values[i]), 1);
		}
		for (int i = 0; i < 3; i++) {
			sketch_sum_add(sum, &parts[i]);
			sketch_release(&parts[i]);
		}
		qsort(values, count, sizeof(*values), compare_doubles);
		assert_int_equal(sum->total, count);
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
			double exact = exact_quantile(values, count, shares[i]);

			assert_true(fabs(sketch_sum_quantile(sum, shares[i]) - exact) <= exact * 0.01);
		}
		free(values);
		free(sum);
	}
}

static void a_sketch_takes_any_value(void **state)
{
	static const double values[] = {-1, 0, 0.5, 1, 1e300, INFINITY, NAN};
	struct sketch_sum *sum = mem_zalloc(sizeof(*sum));
	struct sketch s = {0};

	(void)state;
	assert_true(sketch_sum_quantile(sum, 0.5) == 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		sketch_add(&s, sketch_key(values[i]), 1);
	sketch_sum_add(sum, &s);
	assert_int_equal(sum->total, sizeof(values) / sizeof(values[0]));
	assert_true(isfinite(sketch_sum_quantile(sum, 1)));
	sketch_release(&s);
	free(sum);
}

/* --- The history, and the figures that it has by itself --- */

struct history {
	struct event_row *events;
	size_t count;
	size_t cap;
};

static void add(struct history *h, struct event_row event)
{
	if (h->count == h->cap) {
		h->cap = h->cap ? h->cap * 2 : 256;
		h->events = mem_reallocarray(h->events, h->cap, sizeof(*h->events));
	}
	event.id = (int64_t)h->count + 1;
	h->events[h->count++] = event;
}

static bool is_mine(const struct event_row *e, int64_t space, const char *agent)
{
	return (space == 0 || e->space == space) && (agent == NULL || str_is(e->agent, agent));
}

/* Everything anew, one event after the other: slow and simple. */
static void expect(const struct history *h, int64_t space, const char *agent, enum stats_window window, int64_t now_ms,
		   const struct stats_view *view)
{
	int64_t step_ms = stats_step_ms(window);
	int64_t from_ms = (now_ms / step_ms + 1) * step_ms - stats_window_ms(window);
	double *latency = mem_calloc(h->count + 1, sizeof(*latency)), *used = mem_calloc(h->count + 1, sizeof(*used));
	double complete_sum = 0, complete_min = 2, used_sum = 0, hop_sum = 0;
	int64_t handoffs = 0, completed = 0, failed = 0, retries = 0, lost = 0, waivers = 0, refused = 0, pinned = 0,
		low = 0,
		hop_max = 0;
	size_t acked = 0, packed = 0;
	int64_t hops[STATS_HOPS_MAX + 1] = {0};

	for (size_t i = 0; i < h->count; i++) {
		const struct event_row *e = &h->events[i];
		bool is_attempt = e->kind == EVENT_NACKED || e->kind == EVENT_ACK_TIMEOUT ||
				  e->kind == EVENT_LEASE_LOST || e->kind == EVENT_WORK_LOST;

		if (!is_mine(e, space, agent) || e->at_ms < from_ms || e->at_ms > now_ms)
			continue;
		if (e->kind == EVENT_QUEUED && e->attempt == 1)
			handoffs++;
		if ((e->kind == EVENT_QUEUED && e->attempt > 1) || (is_attempt && e->value[0] == 1))
			retries++;
		if ((is_attempt || e->kind == EVENT_EXPIRED || e->kind == EVENT_PARKED) && e->value[1] == 1)
			failed++;
		if (e->kind == EVENT_LEASE_LOST || e->kind == EVENT_WORK_LOST)
			lost++;
		if (e->kind == EVENT_COMPLETED)
			completed++;
		if (e->kind == EVENT_ACKED)
			latency[acked++] = e->value[0];
		if (e->kind == EVENT_ENVELOPE_PACKED) {
			complete_sum += e->value[0];
			complete_min = fmin(complete_min, e->value[0]);
			used_sum += e->value[1];
			used[packed++] = e->value[1];
			pinned += e->value[1] >= 0.995;
			low += e->value[1] < 0.30;
			hop_sum += (double)e->attempt;
			hop_max = e->attempt > hop_max ? e->attempt : hop_max;
			hops[e->attempt]++;
		}
		waivers += e->kind == EVENT_CONSTRAINT_WAIVED;
		refused += e->kind == EVENT_ENVELOPE_REFUSED;
	}
	assert_int_equal(view->counts.handoffs, handoffs);
	assert_int_equal(view->counts.acked, acked);
	assert_int_equal(view->counts.completed, completed);
	assert_int_equal(view->counts.failed, failed);
	assert_int_equal(view->counts.retries, retries);
	assert_int_equal(view->counts.leases_lost, lost);
	assert_int_equal(view->counts.waivers, waivers);
	assert_int_equal(view->counts.refused, refused);
	assert_int_equal(view->counts.packed, packed);
	if (handoffs || acked || failed) {
		double of = fmax((double)handoffs, (double)acked + (double)failed);

		assert_true(fabs(view->failure_rate - (double)failed / of) < 1e-9);
	} else {
		assert_true(view->failure_rate < 0);
	}
	if (acked) {
		static const double shares[] = {0.5, 0.95, 0.99};
		double found[] = {view->latency_p50_ms, view->latency_p95_ms, view->latency_p99_ms};

		qsort(latency, acked, sizeof(*latency), compare_doubles);
		for (int i = 0; i < 3; i++) {
			double exact = exact_quantile(latency, acked, shares[i]);

			assert_true(fabs(found[i] - exact) <= exact * 0.01);
			assert_true(found[i] <= view->latency_max_ms);
		}
		assert_true(view->latency_max_ms == latency[acked - 1]);
	}
	if (packed) {
		double exact;

		qsort(used, packed, sizeof(*used), compare_doubles);
		exact = exact_quantile(used, packed, 0.5);
		assert_true(fabs(view->utilization_p50 - exact) <= exact * 0.01 + 0.0001);
		assert_true(fabs(view->completeness_mean - complete_sum / (double)packed) < 1e-9);
		assert_true(view->completeness_min == complete_min);
		assert_true(fabs(view->utilization_mean - used_sum / (double)packed) < 1e-9);
		assert_true(fabs(view->utilization_pinned - (double)pinned / (double)packed) < 1e-9);
		assert_true(fabs(view->utilization_low - (double)low / (double)packed) < 1e-9);
		assert_true(fabs(view->hop_mean - hop_sum / (double)packed) < 1e-9);
		assert_int_equal(view->hop_max, hop_max);
		assert_memory_equal(view->hops, hops, sizeof(hops));
	}
	free(latency);
	free(used);
}

static struct event_row random_event(uint64_t *random, int64_t at_ms)
{
	static const int kinds[] = {
		EVENT_QUEUED, EVENT_QUEUED,          EVENT_ACKED,           EVENT_ACKED,     EVENT_COMPLETED,
		EVENT_NACKED, EVENT_ACK_TIMEOUT,     EVENT_LEASE_LOST,      EVENT_WORK_LOST, EVENT_EXPIRED,
		EVENT_PARKED, EVENT_ENVELOPE_PACKED, EVENT_ENVELOPE_PACKED, EVENT_TAKEN,     EVENT_MEMORY_STORED,
		EVENT_CONSTRAINT_WAIVED, EVENT_ENVELOPE_REFUSED,
	};
	static const char *const agents[] = {"coder", "reviewer", "tester"};
	struct event_row e = {
		.space = 1 + (int64_t)(next_random(random) % 2),
		.at_ms = at_ms,
		.attempt = 1 + (int64_t)(next_random(random) % 3),
		.kind = kinds[next_random(random) % (sizeof(kinds) / sizeof(kinds[0]))],
		.agent = str_of(agents[next_random(random) % 3]),
	};

	if (e.kind == EVENT_ACKED) {
		e.value[0] = floor(exp(unit_random(random) * 14) - 1);
	} else if (e.kind == EVENT_ENVELOPE_PACKED) {
		e.value[0] = unit_random(random) < 0.5 ? 1 : unit_random(random);
		e.value[1] = unit_random(random) < 0.2 ? 1 : unit_random(random);
		e.attempt = 1 + (int64_t)(next_random(random) % STATS_HOPS_MAX);
		if (next_random(random) % 4 == 0)
			e.note = STR("3");
	} else if (e.kind != EVENT_QUEUED) {
		e.value[e.kind == EVENT_EXPIRED || e.kind == EVENT_PARKED ? 1 : next_random(random) % 2] =
			(double)(next_random(random) % 2);
	}
	return e;
}

static void check_all(struct stats *s, const struct history *h, int64_t now_ms)
{
	static const char *const agents[] = {"coder", "reviewer", "tester"};
	struct stats_view view;

	for (int w = 0; w < STATS_WINDOWS; w++) {
		stats_view(stats_of_space(s, 0), (enum stats_window)w, now_ms, &view);
		expect(h, 0, NULL, (enum stats_window)w, now_ms, &view);
		for (int64_t space = 1; space <= 2; space++) {
			stats_view(stats_of_space(s, space), (enum stats_window)w, now_ms, &view);
			expect(h, space, NULL, (enum stats_window)w, now_ms, &view);
			for (int i = 0; i < 3; i++) {
				stats_view(stats_of_target(s, space, str_of(agents[i])), (enum stats_window)w, now_ms,
					   &view);
				expect(h, space, agents[i], (enum stats_window)w, now_ms, &view);
			}
		}
	}
}

static void every_figure_of_every_window_is_that_of_the_history(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		uint64_t random = seed * 7919;
		struct stats *s = stats_new(seed);
		struct history h = {0};
		int64_t now_ms = T0 + (int64_t)(next_random(&random) % 1000000);

		for (int round = 0; round < 30; round++) {
			/* Bursts, and rests of seconds up to half a day. */
			int events = (int)(next_random(&random) % 200);

			for (int i = 0; i < events; i++) {
				now_ms += (int64_t)(next_random(&random) % 300);
				add(&h, random_event(&random, now_ms));
				stats_add(s, &h.events[h.count - 1], false);
			}
			check_all(s, &h, now_ms);
			now_ms += (int64_t)exp(unit_random(&random) * 17.5);
			check_all(s, &h, now_ms);
		}
		stats_free(s);
		free(h.events);
	}
}

/* Clocks are set back, by a little or by hours, and forward by a day and back again: each event is in its own step. */
static void what_comes_late_counts_in_its_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		uint64_t random = seed * 104729;
		struct stats *s = stats_new(seed);
		struct history h = {0};
		int64_t now_ms = T0;

		for (int i = 0; i < 2000; i++) {
			int64_t late_ms = next_random(&random) % 4 ? 0 : (int64_t)exp(unit_random(&random) * 9);

			now_ms += (int64_t)(next_random(&random) % 30);
			add(&h, random_event(&random, now_ms - late_ms));
			stats_add(s, &h.events[h.count - 1], false);
			if (i % 500 == 0)
				stats_set_queued(s, 1, i, now_ms);
		}
		check_all(s, &h, now_ms);
		stats_add(s, &(struct event_row){.space = 1, .at_ms = now_ms + STATS_DAY_MS, .kind = EVENT_QUEUED,
						 .attempt = 1, .agent = STR("coder")}, false);
		for (int i = 0; i < 200; i++) {
			now_ms += 1000;
			add(&h, random_event(&random, now_ms));
			stats_add(s, &h.events[h.count - 1], false);
		}
		check_all(s, &h, now_ms);
		stats_free(s);
		free(h.events);
	}
}

/* Buckets with few and with many values, next to each other and far apart: half of the values are the smaller one, so
 * that the median tells both counts. */
static void steps_that_are_over_keep_every_count(void **state)
{
	static const double pairs[][2] = {{0, 1}, {3, 4}, {50, 51}, {50, 90}, {3, 3000000}, {0, 1e9}};
	static const int times[] = {1, 2, 31, 32, 33, 255, 256, 257, 300, 5000, 70000};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		for (size_t j = 0; j < sizeof(times) / sizeof(times[0]); j++)
			for (int larger = 0; larger <= 1; larger++) {
				struct event_row e = {
					.space = 1, .at_ms = T0, .kind = EVENT_ACKED, .agent = STR("coder"),
				};
				struct stats *s = stats_new(1);
				struct stats_view view;

				for (int n = 0; n < 2 * times[j] + larger; n++) {
					e.value[0] = pairs[i][n >= times[j]];
					stats_add(s, &e, false);
				}
				/* The step is over when the next thing happens. */
				e.at_ms = T0 + 20 * 60000;
				e.kind = EVENT_COMPLETED;
				stats_add(s, &e, false);
				stats_view(stats_of_target(s, 1, STR("coder")), STATS_1H, e.at_ms, &view);
				assert_int_equal(view.counts.acked, 2 * times[j] + larger);
				assert_true(fabs(view.latency_p50_ms - pairs[i][larger]) <= pairs[i][larger] * 0.01);
				stats_free(s);
			}
}

/* Bytes after a day in which each agent had a handoff a second. */
static size_t bytes_of_a_day(int agents)
{
	size_t before = mallinfo2().uordblks, after;
	struct stats *s = stats_new(1);
	uint64_t random = 11;
	char name[32];

	for (int64_t second = 0; second < 86400; second++)
		for (int i = 0; i < agents; i++) {
			double spread = unit_random(&random) + unit_random(&random) + unit_random(&random) - 1.5;
			struct event_row e = {
				.space = 1, .at_ms = T0 + second * 1000, .kind = EVENT_ACKED, .attempt = 1,
			};

			snprintf(name, sizeof(name), "agent-%d", i);
			e.agent = str_of(name);
			e.value[0] = exp(5 + 2 * spread);
			stats_add(s, &e, false);
			e.kind = EVENT_ENVELOPE_PACKED;
			e.value[0] = 1;
			e.value[1] = 0.2 + 0.7 * unit_random(&random);
			stats_add(s, &e, false);
		}
	after = mallinfo2().uordblks;
	stats_free(s);
	return after - before;
}

/* So that 256 of them take less than 20 MB. The mean of eight: what the allocator does by chance is a kilobyte of one.
 * A sanitizer's allocator says 0. */
static void an_agent_that_is_busy_all_day_takes_less_than_80_kb(void **state)
{
	size_t one, nine;

	(void)state;
	one = bytes_of_a_day(1);
	nine = bytes_of_a_day(9);
	assert_in_range((nine - one) / 8, 0, 20 * 1024 * 1024 / STATS_TARGETS_MAX);
}

static void a_day_later_nothing_is_left(void **state)
{
	struct stats *s = stats_new(1);
	struct stats_view view;
	uint64_t random = 5;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct event_row e = random_event(&random, T0 + i * 1000);

		stats_add(s, &e, false);
	}
	stats_view(stats_of_space(s, 0), STATS_24H, T0 + 1000000 + STATS_DAY_MS, &view);
	assert_int_equal(view.counts.handoffs + view.counts.acked + view.counts.packed + view.counts.failed, 0);
	assert_true(view.failure_rate < 0);
	stats_view(NULL, STATS_1M, T0, &view);
	assert_int_equal(view.counts.handoffs, 0);
	stats_free(s);
}

/* --- Points --- */

static void points_add_up_to_their_window(void **state)
{
	struct stats *s = stats_new(1);
	uint64_t random = 77;
	int64_t now_ms = T0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct event_row e = random_event(&random, now_ms += (int64_t)(next_random(&random) % 20000));

		stats_add(s, &e, false);
	}
	for (int w = 0; w < STATS_WINDOWS; w++) {
		struct stats_point points[STATS_POINTS_MAX];
		size_t count = stats_points(stats_of_space(s, 0), (enum stats_window)w, now_ms, points);
		int64_t handoffs = 0, acked = 0, failed = 0, packed = 0;
		struct stats_view view;

		stats_view(stats_of_space(s, 0), (enum stats_window)w, now_ms, &view);
		assert_in_range(count, 60, 120);
		for (size_t i = 0; i < count; i++) {
			if (i)
				assert_int_equal(points[i].at_ms - points[i - 1].at_ms,
						 stats_step_ms((enum stats_window)w));
			handoffs += points[i].handoffs;
			acked += points[i].acked;
			failed += points[i].failed;
			packed += points[i].packed;
		}
		assert_true(points[count - 1].at_ms <= now_ms &&
			    now_ms < points[count - 1].at_ms + stats_step_ms((enum stats_window)w));
		assert_int_equal(handoffs, view.counts.handoffs);
		assert_int_equal(acked, view.counts.acked);
		assert_int_equal(failed, view.counts.failed);
		assert_int_equal(packed, view.counts.packed);
	}
	stats_free(s);
}

static void what_is_queued_stays_as_it_was_last_seen(void **state)
{
	struct stats *s = stats_new(1);
	struct stats_point points[STATS_POINTS_MAX];
	struct event_row e = {.space = 1, .at_ms = T0, .kind = EVENT_QUEUED, .attempt = 1, .agent = STR("coder")};
	size_t count;

	(void)state;
	stats_add(s, &e, false);
	stats_set_queued(s, 1, 7, T0);
	stats_set_queued(s, 99, 7, T0);	/* a space that nothing is known of */
	count = stats_points(stats_of_space(s, 1), STATS_1M, T0 + 10000, points);
	assert_int_equal(points[count - 12].queued, -1);
	assert_int_equal(points[count - 11].queued, 7);
	assert_int_equal(points[count - 1].queued, 7);
	stats_free(s);
}

/* --- Totals --- */

static void totals_count_since_the_start_and_never_fall(void **state)
{
	struct stats *s = stats_new(1);
	const struct stats_totals *t;
	uint64_t below = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct event_row acked = {.space = 1,
					  .at_ms = T0 + i * (int64_t)STATS_DAY_MS / 4,
					  .kind = EVENT_ACKED,
					  .agent = STR("coder"),
					  .value = {i * 100}};

		stats_add(s, &acked, i < 40);
	}
	t = stats_series_totals(stats_of_target(s, 1, STR("coder")));
	assert_int_equal(t->counts.acked, 60);
	assert_int_equal(t->latency_s.total, 60);
	assert_true(fabs(t->latency_s.sum - (40 + 99) * 60 / 2.0 * 0.1) < 1e-6);
	for (int i = 0; stats_latency_bounds_s[i] != 0; i++)
		below += t->latency_s.counts[i];
	assert_int_equal(below, 60);
	stats_free(s);
}

/* --- Bounds --- */

static size_t count_series(struct stats *s)
{
	size_t iterator = 0, count = 0;

	while (stats_next(s, &iterator))
		count++;
	return count;
}

static void who_invents_names_does_not_make_it_grow(void **state)
{
	struct stats *s = stats_new(1);
	struct stats_view all, rest;
	char name[32];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct event_row e = {.space = 1, .at_ms = T0 + i / 100, .kind = EVENT_QUEUED, .attempt = 1};

		snprintf(name, sizeof(name), "agent-%d", i);
		e.agent = str_of(name);
		stats_add(s, &e, false);
	}
	/* Its own series, that of the space, and that of the rest. */
	assert_int_equal(count_series(s), STATS_TARGETS_MAX + 2);
	stats_view(stats_of_space(s, 1), STATS_5M, T0 + 1000, &all);
	stats_view(stats_of_target(s, 1, STR(STATS_OTHER)), STATS_5M, T0 + 1000, &rest);
	assert_int_equal(all.counts.handoffs, 100000);
	assert_int_equal(rest.counts.handoffs, 100000 - STATS_TARGETS_MAX);
	assert_null(stats_of_target(s, 1, STR("agent-99999")));
	/* A day later the names are free again. */
	stats_add(s,
		  &(struct event_row){.space = 1,
				      .at_ms = T0 + 1000 + STATS_DAY_MS,
				      .kind = EVENT_QUEUED,
				      .attempt = 1,
				      .agent = STR("late")},
		  false);
	assert_non_null(stats_of_target(s, 1, STR("late")));
	assert_null(stats_of_target(s, 1, STR("agent-3")));
	stats_free(s);
}

static void spaces_are_bounded_as_well(void **state)
{
	struct stats *s = stats_new(1);

	(void)state;
	for (int i = 1; i <= 5000; i++)
		stats_add(
			s,
			&(struct event_row){
				.space = i, .at_ms = T0 + i, .kind = EVENT_QUEUED, .attempt = 1, .agent = STR("coder")},
			false);
	assert_true(count_series(s) <= STATS_TARGETS_MAX + 2 * STATS_SPACES_MAX + 2);
	assert_int_equal(stats_series_totals(stats_of_space(s, 0))->counts.handoffs, 5000);
	assert_null(stats_of_space(s, 4000));
	assert_int_equal(stats_series_totals(stats_of_space(s, -1))->counts.handoffs, 5000 - STATS_SPACES_MAX);
	stats_free(s);
}

static void an_agent_may_be_called_as_the_rest_is(void **state)
{
	struct stats *s = stats_new(1);

	(void)state;
	stats_add(s,
		  &(struct event_row){
			  .space = 1, .at_ms = T0, .kind = EVENT_QUEUED, .attempt = 1, .agent = STR(STATS_OTHER)},
		  false);
	assert_int_equal(stats_series_totals(stats_of_target(s, 1, STR(STATS_OTHER)))->counts.handoffs, 1);
	stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_of_a_sketch_are_within_one_per_cent),
		cmocka_unit_test(a_sketch_takes_any_value),
		cmocka_unit_test(every_figure_of_every_window_is_that_of_the_history),
		cmocka_unit_test(what_comes_late_counts_in_its_step),
		cmocka_unit_test(steps_that_are_over_keep_every_count),
		cmocka_unit_test(an_agent_that_is_busy_all_day_takes_less_than_80_kb),
		cmocka_unit_test(a_day_later_nothing_is_left),
		cmocka_unit_test(points_add_up_to_their_window),
		cmocka_unit_test(what_is_queued_stays_as_it_was_last_seen),
		cmocka_unit_test(totals_count_since_the_start_and_never_fall),
		cmocka_unit_test(who_invents_names_does_not_make_it_grow),
		cmocka_unit_test(spaces_are_bounded_as_well),
		cmocka_unit_test(an_agent_may_be_called_as_the_rest_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
