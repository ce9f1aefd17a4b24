/* What the files of stats share. Nobody else includes this. */
#ifndef SPINE_CORE_STATS_INTERNAL_H
#define SPINE_CORE_STATS_INTERNAL_H

#include "base/sketch.h"
#include "core/stats.h"

/* What one event adds. */
struct stats_sample {
	int64_t at_ms;
	struct stats_counts counts;
	double latency_ms;		/* where counts.acked */
	uint16_t latency_key;		/* in the sketches */
	uint16_t utilization_key;
	double completeness;		/* where counts.packed, as those below */
	double utilization;
	int64_t hop;
};

/* One step of a window. Its number tells which step it holds; what the ring has there from a round before is forgotten. */
struct stats_cell {
	int64_t number;
	uint32_t handoffs, acked, completed, failed, retries, leases_lost, waivers, packed;
	uint32_t pinned, low;
	uint32_t hop_max;
	double latency_max_ms;
	double completeness_sum, completeness_min;
	double utilization_sum;
	double hop_sum;
	int64_t queued;			/* -1: not looked at */
	struct sketch latency;		/* of milliseconds + 1 */
	struct sketch utilization;	/* of hundredths of a per cent */
	struct sketch hops;		/* the keys are the hops themselves */
};

struct stats_series {
	struct stats_series *next;	/* of its bucket */
	int64_t space;
	struct str agent;		/* own bytes; p == NULL: none */
	int64_t last_ms;
	struct stats_totals totals;
	struct stats_cell **cells[STATS_WINDOWS];	/* rings, made with the first event; NULL where nothing happened */
	/* The second under way: what happens is counted here, and goes into the rings when the second is over or somebody asks. So an event
	 * costs one cell, not one for each window. */
	struct stats_cell open;
	bool is_open;
};

/* Returns owned. */
struct stats_series *stats_series_new(int64_t space, struct str agent);
void stats_series_free(struct stats_series *series);
void stats_series_add(struct stats_series *series, const struct stats_sample *sample, bool is_history);
void stats_series_set_queued(struct stats_series *series, int64_t queued, int64_t now_ms);

#endif
