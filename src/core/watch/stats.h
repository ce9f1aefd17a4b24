/* How delivery goes: the figures of the last minute, five minutes, hour and day, in memory, made from the events.
 *
 * SERIES. An event counts in three series: of all spaces together, of its space, and of the agent that it concerns in
 * that space. A series has a ring of cells for each window; a cell holds the counts of one step of time (a second of
 * the minute, a quarter of an hour of the day), and its distributions as sketches. A window is the sum of its cells: it
 * ends with the step under way, and begins at a whole number of steps, so that it is shorter than its name by less than
 * one step. Cells come with what happens; those whose step is over are packed (stats_cell.c).
 *
 * BOUNDS. At most STATS_TARGETS_MAX agents and STATS_SPACES_MAX spaces have series of their own; what is beyond counts
 * in the series STATS_OTHER of its space, or of all spaces. Who invents names fills these places for a day at most: a
 * series that nothing happened to for that long makes room.
 *
 * Totals count since the start and never fall.
 *
 * Times are arguments. Events come in the order of their ids; ones that are too old for a window are not counted in it.
 * One thread at a time.
 */
#ifndef SPINE_CORE_STATS_H
#define SPINE_CORE_STATS_H

#include "core/watch/event.h"
#include "store/records.h"

enum stats_window { STATS_1M, STATS_5M, STATS_1H, STATS_24H, STATS_WINDOWS };

enum {
	STATS_TARGETS_MAX = 256,
	STATS_SPACES_MAX = 256,
	STATS_HOPS_MAX = 64,
	STATS_POINTS_MAX = 96,
	STATS_BOUNDS_MAX = 16,
	STATS_DAY_MS = 24 * 3600 * 1000,
};

/* The agent, or the space on /metrics, that stands for the rest. */
#define STATS_OTHER "_other"

/* Counts of a window, or since the start. */
struct stats_counts {
	int64_t handoffs;	/* initiated */
	int64_t acked;
	int64_t completed;
	int64_t failed;		/* attempts with an agent used up */
	int64_t retries;
	int64_t leases_lost;	/* of receivers and of workers */
	int64_t waivers;
	int64_t packed;		/* envelopes */
};

struct stats_view {
	struct stats_counts counts;
	double failure_rate;		/* -1: nothing was handed over */
	/* Milliseconds from initiating to the ack, of counts.acked; 0 where there are none. */
	double latency_p50_ms, latency_p95_ms, latency_p99_ms, latency_max_ms;
	/* Of counts.packed; 0 where there are none. */
	double completeness_mean, completeness_min;
	double utilization_mean, utilization_p50;
	double utilization_pinned;	/* share at 99.5 % and above */
	double utilization_low;		/* share under 30 % */
	int64_t chosen;			/* how many have a budget that somebody chose */
	double chosen_low;		/* share of these under 30 % */
	double hop_mean;
	int64_t hop_max;
	int64_t hops[STATS_HOPS_MAX + 1];	/* how many envelopes, by hop */
};

/* One step of a window, for plots. */
struct stats_point {
	int64_t at_ms;			/* its beginning */
	int64_t handoffs, acked, failed, packed;
	double p50_ms, p99_ms;		/* of acked */
	double completeness, utilization, hop_mean;	/* means, of packed */
	int64_t queued;			/* when last looked at; -1: not known */
};

/* A distribution since the start, by fixed bounds, as Prometheus wants it. */
struct stats_distribution {
	uint64_t counts[STATS_BOUNDS_MAX];	/* at most bounds[i], and more than the one before */
	uint64_t total;				/* with those above the last bound */
	double sum;
};

struct stats_totals {
	struct stats_counts counts;
	struct stats_distribution latency_s, completeness, utilization, hops;
};

/* Ascending, ended by 0. */
extern const double stats_latency_bounds_s[], stats_share_bounds[], stats_hop_bounds[];

struct stats;
struct stats_series;

/* Returns owned. */
struct stats *stats_new(uint64_t seed);
/* NULL-safe. */
void stats_free(struct stats *s);

/* "1m", "5m", "1h", "24h". */
const char *stats_window_name(enum stats_window window);
int64_t stats_window_ms(enum stats_window window);
int64_t stats_step_ms(enum stats_window window);

/* Does this kind of event count? */
bool stats_counts_kind(int kind);
/* Counts an event. is_history: it was before the start, and is not in the totals. */
void stats_add(struct stats *s, const struct event_row *event, bool is_history);
/* How much is queued in a space (0: in all) at this moment, for the points. */
void stats_set_queued(struct stats *s, int64_t space, int64_t queued, int64_t now_ms);

/* The series of a space, or of all (0); NULL where nothing is known of it, and where it is one of the rest. */
struct stats_series *stats_of_space(struct stats *s, int64_t space);
/* The series of an agent; NULL where it has none of its own. */
struct stats_series *stats_of_target(struct stats *s, int64_t space, struct str agent);
/* All series in no particular order: *iterator starts at 0; NULL at the end. */
struct stats_series *stats_next(struct stats *s, size_t *iterator);

/* 0: of all spaces; -1: of those beyond the bound. */
int64_t stats_series_space(const struct stats_series *series);
/* p == NULL: of the space as a whole. */
struct str stats_series_agent(const struct stats_series *series);
int64_t stats_series_last_ms(const struct stats_series *series);
const struct stats_totals *stats_series_totals(const struct stats_series *series);
/* series may be NULL: nothing has happened. */
void stats_view(struct stats_series *series, enum stats_window window, int64_t now_ms, struct stats_view *ret);
/* The steps of the window, the oldest first; returns how many there are. */
size_t stats_points(struct stats_series *series, enum stats_window window, int64_t now_ms,
		    struct stats_point ret[STATS_POINTS_MAX]);

#endif
