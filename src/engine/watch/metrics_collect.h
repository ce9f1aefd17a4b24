/* Everything that can be measured of an engine, for somebody who watches it from outside. Counters count since the
 * start; the series are those of core/watch/stats.h, and of the agents that something is queued for. */
#ifndef SPINE_ENGINE_METRICS_COLLECT_H
#define SPINE_ENGINE_METRICS_COLLECT_H

#include "engine/quota.h"
#include "core/watch/alerts.h"
#include "core/watch/stats.h"
#include "engine/op.h"

/* A series of counters. */
struct metrics_series {
	int64_t space;
	struct str space_name;		/* STATS_OTHER: those that there was no room for */
	struct str agent;		/* p == NULL: the space as a whole */
	struct stats_totals totals;
	/* Of an agent. */
	struct target_counts queue;
	bool breaker_is_open;
	bool breaker_is_half_open;
};

/* Of a space that has limits. */
struct metrics_quota {
	struct str space_name;
	struct quota_state state;
	int64_t refusals[QUOTA_KINDS];
};

struct metrics_collect {
	struct op op;
	/* Out. */
	struct metrics_series *list;	/* by space, then by agent */
	size_t count;
	struct metrics_quota *quotas;
	size_t quota_count;
	struct store_info store;
	size_t store_cache_bytes;
	struct writer_stats writer;
	size_t waiting;			/* operations that wait for something to happen */
	size_t firing[ALERT_CRITICAL + 1];	/* alerts, by severity */
	/* metrics_collect.c's own. */
	size_t cap;
};

extern const struct op_kind metrics_collect_kind;

#endif
