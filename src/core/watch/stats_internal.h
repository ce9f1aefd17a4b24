/* What the files of stats share. Nobody else includes this. */
#ifndef SPINE_CORE_STATS_INTERNAL_H
#define SPINE_CORE_STATS_INTERNAL_H

#include "base/sketch.h"
#include "core/watch/stats.h"

/* What one event adds. */
struct stats_sample {
	int64_t at_ms;
	struct stats_counts counts;
	double latency_ms;		/* where counts.acked */
	uint16_t latency_key;		/* in the sketches */
	uint16_t utilization_key;
	double completeness;		/* where counts.packed, as those below */
	double utilization;
	bool is_chosen;			/* somebody chose the budget */
	int64_t hop;
};

/* One step of a window. Its number tells which step it holds. */
struct stats_cell {
	int64_t number;
	uint32_t handoffs, acked, completed, failed, retries, leases_lost, waivers, packed;
	uint32_t pinned, low, chosen, chosen_low;
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

/* A step that is over; see stats_cell.c. */
struct stats_packed {
	int64_t number;
	int64_t queued;
	uint8_t bytes[];
};

struct stats_sums {
	struct sketch_sum latency, utilization;
};

/* A window: the step that is being counted in, and a ring of those before it. What the ring has from a round before is
 * forgotten. */
struct stats_ring {
	struct stats_cell now;		/* number -1: nothing has happened yet */
	struct stats_packed **over;	/* made with the first step that is over; NULL where nothing happened */
};

struct stats_series {
	struct stats_series *next;	/* of its bucket */
	int64_t space;
	struct str agent;		/* own bytes; p == NULL: none */
	int64_t last_ms;
	struct stats_totals totals;
	struct stats_ring rings[STATS_WINDOWS];
	/* The second under way: what happens is counted here, and goes into the rings when the second is over or
	 * somebody asks. So an event costs one cell, not one for each window. */
	struct stats_cell open;
	bool is_open;
};

/* stats_cell.c */

/* Empties it for a step; keeps the memory. */
void stats_cell_clear(struct stats_cell *cell, int64_t number);
void stats_cell_release(struct stats_cell *cell);
void stats_cell_add(struct stats_cell *cell, const struct stats_sample *sample);
/* Adds all that was counted in the other one. */
void stats_cell_merge(struct stats_cell *to, const struct stats_cell *from);
/* Returns owned, for free(). */
struct stats_packed *stats_cell_pack(const struct stats_cell *cell);
/* What it was before. cell may hold anything, or be all zeros; its memory is used again. Where there are sums, these
 * two distributions are added to them, and are not in the cell: that is quicker. */
void stats_cell_unpack(const struct stats_packed *packed, struct stats_cell *cell, struct stats_sums *sums);

/* stats_series.c */

/* Returns owned. */
struct stats_series *stats_series_new(int64_t space, struct str agent);
void stats_series_free(struct stats_series *series);
void stats_series_add(struct stats_series *series, const struct stats_sample *sample, bool is_history);
void stats_series_set_queued(struct stats_series *series, int64_t queued, int64_t now_ms);

#endif
