/* One series: its rings of cells, and the figures that they add up to. */
#include "core/watch/stats_internal.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* The step of the shortest window; the others are multiples of it. */
enum { SECOND_MS = 1000 };

static const struct {
	const char *name;
	int64_t step_ms;
	int64_t steps;
} windows[STATS_WINDOWS] = {
	[STATS_1M] = {"1m", SECOND_MS, 60},
	[STATS_5M] = {"5m", 5000, 60},
	[STATS_1H] = {"1h", 60 * 1000, 60},
	[STATS_24H] = {"24h", 15 * 60 * 1000, 96},
};

const double stats_latency_bounds_s[] = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 0};
const double stats_share_bounds[] = {0.1, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.995, 1, 0};
const double stats_hop_bounds[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 0};

const char *stats_window_name(enum stats_window window)
{
	return windows[window].name;
}

int64_t stats_window_ms(enum stats_window window)
{
	return windows[window].step_ms * windows[window].steps;
}

int64_t stats_step_ms(enum stats_window window)
{
	return windows[window].step_ms;
}

struct stats_series *stats_series_new(int64_t space, struct str agent)
{
	struct stats_series *series = mem_zalloc(sizeof(*series));

	series->space = space;
	for (int w = 0; w < STATS_WINDOWS; w++)
		stats_cell_clear(&series->rings[w].now, -1);
	if (agent.p)
		series->agent = (struct str){mem_strndup(agent.p, agent.n), agent.n};
	return series;
}

void stats_series_free(struct stats_series *series)
{
	if (series == NULL)
		return;
	for (int w = 0; w < STATS_WINDOWS; w++) {
		struct stats_ring *ring = &series->rings[w];

		for (int64_t i = 0; ring->over && i < windows[w].steps; i++)
			free(ring->over[i]);
		free(ring->over);
		stats_cell_release(&ring->now);
	}
	stats_cell_release(&series->open);
	free((char *)series->agent.p);
	free(series);
}

/* --- Adding --- */

/* Where the ring has a step that is over. */
static struct stats_packed **place_of(struct stats_ring *ring, int window, int64_t number)
{
	if (ring->over == NULL)
		ring->over = mem_calloc((size_t)windows[window].steps, sizeof(*ring->over));
	return &ring->over[number % windows[window].steps];
}

/* Makes the step the one that is counted in; false where there is a later one. */
static bool go_to(struct stats_ring *ring, int window, int64_t number)
{
	struct stats_packed **place;

	if (number <= ring->now.number)
		return number == ring->now.number;
	if (ring->now.number >= 0) {
		place = place_of(ring, window, ring->now.number);
		free(*place);
		*place = stats_cell_pack(&ring->now);
	}
	stats_cell_clear(&ring->now, number);
	return true;
}

/* Clocks are set back now and then: what comes late is added to its step, unless the ring has a later one there. */
static void add_late(struct stats_ring *ring, int window, int64_t number, const struct stats_cell *cell)
{
	struct stats_packed **place = place_of(ring, window, number);
	struct stats_cell whole = {0};

	if (*place && (*place)->number > number)
		return;
	if (*place && (*place)->number == number)
		stats_cell_unpack(*place, &whole, NULL);
	else
		stats_cell_clear(&whole, number);
	stats_cell_merge(&whole, cell);
	free(*place);
	*place = stats_cell_pack(&whole);
	stats_cell_release(&whole);
}

/* Puts the second under way into the rings. */
static void settle(struct stats_series *series)
{
	if (!series->is_open)
		return;
	for (int w = 0; w < STATS_WINDOWS; w++) {
		struct stats_ring *ring = &series->rings[w];
		int64_t number = series->open.number * SECOND_MS / windows[w].step_ms;

		if (go_to(ring, w, number))
			stats_cell_merge(&ring->now, &series->open);
		else
			add_late(ring, w, number, &series->open);
	}
	series->is_open = false;
}

static void add_to_distribution(struct stats_distribution *d, const double *bounds, double value)
{
	d->total++;
	d->sum += value;
	for (int i = 0; bounds[i] != 0; i++)
		if (value <= bounds[i]) {
			d->counts[i]++;
			return;
		}
}

static void add_to_totals(struct stats_totals *t, const struct stats_sample *sample)
{
	const struct stats_counts *counts = &sample->counts;

	t->counts.handoffs += counts->handoffs;
	t->counts.acked += counts->acked;
	t->counts.completed += counts->completed;
	t->counts.failed += counts->failed;
	t->counts.retries += counts->retries;
	t->counts.leases_lost += counts->leases_lost;
	t->counts.waivers += counts->waivers;
	t->counts.packed += counts->packed;
	if (counts->acked)
		add_to_distribution(&t->latency_s, stats_latency_bounds_s, sample->latency_ms / 1000);
	if (counts->packed) {
		add_to_distribution(&t->completeness, stats_share_bounds, sample->completeness);
		add_to_distribution(&t->utilization, stats_share_bounds, sample->utilization);
		add_to_distribution(&t->hops, stats_hop_bounds, (double)sample->hop);
	}
}

void stats_series_add(struct stats_series *series, const struct stats_sample *sample, bool is_history)
{
	int64_t second = sample->at_ms / SECOND_MS;

	if (sample->at_ms < 0)
		return;
	if (sample->at_ms > series->last_ms)
		series->last_ms = sample->at_ms;
	if (!is_history)
		add_to_totals(&series->totals, sample);
	if (series->is_open && series->open.number != second)
		settle(series);
	if (!series->is_open) {
		stats_cell_clear(&series->open, second);
		series->is_open = true;
	}
	stats_cell_add(&series->open, sample);
}

void stats_series_set_queued(struct stats_series *series, int64_t queued, int64_t now_ms)
{
	/* What has happened so far belongs to the steps before. */
	settle(series);
	for (int w = 0; w < STATS_WINDOWS; w++)
		if (now_ms >= 0 && go_to(&series->rings[w], w, now_ms / windows[w].step_ms))
			series->rings[w].now.queued = queued;
}

/* --- Asking --- */

int64_t stats_series_space(const struct stats_series *series)
{
	return series->space;
}

struct str stats_series_agent(const struct stats_series *series)
{
	return series->agent;
}

int64_t stats_series_last_ms(const struct stats_series *series)
{
	return series->last_ms;
}

const struct stats_totals *stats_series_totals(const struct stats_series *series)
{
	return &series->totals;
}

/* Whole milliseconds that are known exactly come out as such. The error goes both ways, but nothing took longer than
 * what took longest. */
static double latency_of(const struct sketch_sum *sum, double share, double max_ms)
{
	double value = sketch_sum_quantile(sum, share) - 1;

	return fmin(value * SKETCH_ERROR < 0.48 ? round(value) : value, max_ms);
}

/* The cell of a step, or NULL where nothing is known of it. room is for one that has to be unpacked; sums: see
 * stats_cell_unpack(). */
static const struct stats_cell *cell_of(const struct stats_series *series, int window, int64_t number,
					struct stats_cell *room, struct stats_sums *sums)
{
	const struct stats_ring *ring = series ? &series->rings[window] : NULL;
	const struct stats_packed *packed = NULL;

	if (ring && number >= 0 && ring->now.number == number)
		return &ring->now;
	if (ring && number >= 0 && ring->over)
		packed = ring->over[number % windows[window].steps];
	if (packed == NULL || packed->number != number)
		return NULL;
	stats_cell_unpack(packed, room, sums);
	return room;
}

/* What is added up beside the view itself. */
struct adding {
	struct stats_sums sums;
	double completeness_sum, utilization_sum, hop_sum;
	int64_t pinned, low, chosen, chosen_low;
};

static void add_cell(struct stats_view *v, struct adding *a, const struct stats_cell *cell)
{
	struct stats_counts *counts = &v->counts;

	counts->handoffs += cell->handoffs;
	counts->acked += cell->acked;
	counts->completed += cell->completed;
	counts->failed += cell->failed;
	counts->retries += cell->retries;
	counts->leases_lost += cell->leases_lost;
	counts->waivers += cell->waivers;
	if (cell->latency_max_ms > v->latency_max_ms)
		v->latency_max_ms = cell->latency_max_ms;
	sketch_sum_add(&a->sums.latency, &cell->latency);
	if (cell->packed == 0)
		return;
	if (counts->packed == 0 || cell->completeness_min < v->completeness_min)
		v->completeness_min = cell->completeness_min;
	counts->packed += cell->packed;
	a->completeness_sum += cell->completeness_sum;
	a->utilization_sum += cell->utilization_sum;
	a->hop_sum += cell->hop_sum;
	a->pinned += cell->pinned;
	a->low += cell->low;
	a->chosen += cell->chosen;
	a->chosen_low += cell->chosen_low;
	if (cell->hop_max > v->hop_max)
		v->hop_max = cell->hop_max;
	sketch_sum_add(&a->sums.utilization, &cell->utilization);
	for (size_t i = 0; i < cell->hops.count; i++)
		v->hops[cell->hops.buckets[i].key] += cell->hops.buckets[i].count;
}

/* Of the handoffs of the window, but never of fewer than were settled in it: what was sent before the window may fail
 * within. */
static double failure_rate(const struct stats_counts *counts)
{
	int64_t settled = counts->acked + counts->failed;
	int64_t of = counts->handoffs > settled ? counts->handoffs : settled;

	return of ? (double)counts->failed / (double)of : -1;
}

void stats_view(struct stats_series *series, enum stats_window window, int64_t now_ms, struct stats_view *ret)
{
	int64_t newest = now_ms / windows[window].step_ms;
	struct stats_cell room = {0};
	struct adding a = {0};

	*ret = (struct stats_view){0};
	if (series)
		settle(series);
	/* A series that rests for longer than the window has nothing to add up. */
	if (series && series->last_ms > now_ms - stats_window_ms(window))
		for (int64_t number = newest - windows[window].steps + 1; number <= newest; number++) {
			const struct stats_cell *cell = cell_of(series, window, number, &room, &a.sums);

			if (cell)
				add_cell(ret, &a, cell);
		}
	stats_cell_release(&room);
	ret->failure_rate = failure_rate(&ret->counts);
	if (ret->counts.acked) {
		ret->latency_p50_ms = latency_of(&a.sums.latency, 0.50, ret->latency_max_ms);
		ret->latency_p95_ms = latency_of(&a.sums.latency, 0.95, ret->latency_max_ms);
		ret->latency_p99_ms = latency_of(&a.sums.latency, 0.99, ret->latency_max_ms);
	}
	if (ret->counts.packed) {
		double packed = (double)ret->counts.packed;

		ret->completeness_mean = a.completeness_sum / packed;
		ret->utilization_mean = a.utilization_sum / packed;
		ret->utilization_p50 = sketch_sum_quantile(&a.sums.utilization, 0.50) / 10000;
		ret->utilization_pinned = (double)a.pinned / packed;
		ret->utilization_low = (double)a.low / packed;
		ret->chosen = a.chosen;
		ret->chosen_low = a.chosen ? (double)a.chosen_low / (double)a.chosen : 0;
		ret->hop_mean = a.hop_sum / packed;
	}
}

static void fill_point(const struct stats_cell *cell, struct stats_point *ret)
{
	struct sketch_sum latency = {0};

	ret->handoffs = cell->handoffs;
	ret->acked = cell->acked;
	ret->failed = cell->failed;
	ret->packed = cell->packed;
	if (cell->acked) {
		sketch_sum_add(&latency, &cell->latency);
		ret->p50_ms = latency_of(&latency, 0.50, cell->latency_max_ms);
		ret->p99_ms = latency_of(&latency, 0.99, cell->latency_max_ms);
	}
	if (cell->packed) {
		ret->completeness = cell->completeness_sum / cell->packed;
		ret->utilization = cell->utilization_sum / cell->packed;
		ret->hop_mean = cell->hop_sum / cell->packed;
	}
	if (cell->queued >= 0)
		ret->queued = cell->queued;
}

size_t stats_points(struct stats_series *series, enum stats_window window, int64_t now_ms,
		    struct stats_point ret[STATS_POINTS_MAX])
{
	int64_t newest = now_ms / windows[window].step_ms, steps = windows[window].steps;
	struct stats_cell room = {0};
	int64_t queued = -1;

	if (series)
		settle(series);
	for (int64_t i = 0; i < steps; i++) {
		int64_t number = newest - steps + 1 + i;
		const struct stats_cell *cell = cell_of(series, window, number, &room, NULL);

		/* Where nobody has looked since, nothing has happened since. */
		ret[i] = (struct stats_point){.at_ms = number * windows[window].step_ms, .queued = queued};
		if (cell)
			fill_point(cell, &ret[i]);
		queued = ret[i].queued;
	}
	stats_cell_release(&room);
	return (size_t)steps;
}
