/* Alerts: what is wrong, by the figures of core/watch/stats.h and the breakers, and since when.
 *
 * Everything is decided here and nothing is done: alerts_evaluate() compares the figures of all subjects (an agent of a
 * space, or a space as a whole) with the rules and says what fires, what has become worse and what is over. Whoever
 * calls it writes that down, tells of it, and reports back with alerts_apply(); what was not reported is said again the
 * next time. So a restart loses nothing: the alerts that are firing are in the store, and alerts_restore() brings them
 * back.
 *
 * ONCE. An alert that is firing does not fire again; one whose severity can rise says so when it does. It is over when
 * its cause is gone: what it tells of is not there any more, or its figure is back behind its threshold by a margin, so
 * that one that hovers around it does not flutter. That nothing happens is no sign of that: it goes on while there is
 * nothing to judge by, for a day, which is as long as the figures go back.
 *
 * NOW. Its figure and its sentence are those of when it fired, or rose; alert_now() has those of the moment.
 *
 * QUIET. Figures of a window say something from min_samples on; before that nothing fires by them. One failure in a row
 * of a handful is told by handoff_failed and not as a rate.
 */
#ifndef SPINE_CORE_ALERTS_H
#define SPINE_CORE_ALERTS_H

#include "base/arena.h"
#include "core/watch/stats.h"

enum alert_severity { ALERT_INFO, ALERT_WARNING, ALERT_CRITICAL };

/* kind, name on the wire, severity when it begins, does it page, is it about an agent (1) or a space as a whole (0) */
#define ALERT_KINDS(X) \
	X(HANDOFF_FAILED, "handoff_failed", ALERT_INFO, 0, 1) \
	X(CONSECUTIVE_FAILURES, "consecutive_failures", ALERT_WARNING, 0, 1) \
	X(COMPLETENESS_LOW, "completeness_low", ALERT_WARNING, 0, 1) \
	X(FAILURE_RATE_HIGH, "failure_rate_high", ALERT_WARNING, 0, 0) \
	X(BREAKER_OPEN, "breaker_open", ALERT_CRITICAL, 1, 1) \
	X(COMPLETENESS_CRITICAL, "completeness_critical", ALERT_CRITICAL, 1, 0) \
	X(LATENCY_HIGH, "latency_high", ALERT_WARNING, 0, 1) \
	X(UTILIZATION_PINNED, "utilization_pinned", ALERT_WARNING, 0, 1) \
	X(UTILIZATION_LOW, "utilization_low", ALERT_INFO, 0, 1) \
	X(HOP_DEPTH_HIGH, "hop_depth_high", ALERT_WARNING, 0, 0) \
	X(HANDOFFS_PARKED, "handoffs_parked", ALERT_WARNING, 0, 1) \
	X(QUEUE_STUCK, "queue_stuck", ALERT_WARNING, 0, 1) \
	X(ENVELOPE_REFUSED, "envelope_refused", ALERT_WARNING, 0, 1) \
	X(CONSTRAINT_WAIVED, "constraint_waived", ALERT_INFO, 0, 0) \
	X(STORE_DAMAGED, "store_damaged", ALERT_CRITICAL, 1, 0) \
	X(QUOTA_NEAR, "quota_near", ALERT_WARNING, 0, 0)

enum alert_kind {
#define ALERT_KIND(kind, name, severity, pages, is_of_agent) ALERT_##kind,
	ALERT_KINDS(ALERT_KIND)
#undef ALERT_KIND
	ALERT_KIND_COUNT
};

enum {
	ALERTS_FIRING_MAX = 1000,	/* at a time; beyond it nothing new fires */
};

/* Shares are 0 to 1. */
struct alert_rules {
	enum stats_window window;	/* that the figures are of */
	int64_t min_samples;
	int64_t failures_in_row;
	double completeness_low;
	double completeness_critical;
	double failure_rate_warning;
	double failure_rate_critical;
	double latency_p99_ms;
	double pinned_share;		/* of envelopes that use all of their budget */
	double low_share;		/* of envelopes that use less than 30 % of one that somebody chose */
	int64_t stuck_ms;		/* so long nobody may take what is queued */
	double hop_factor;		/* of the usual mean; and at least one more */
};

/* What is known of one agent, or of one space. The views may be NULL: nothing happened. */
struct alert_subject {
	int64_t space;
	struct str agent;		/* p == NULL: the space as a whole */
	const struct stats_view *view;	/* of the rules' window */
	const struct stats_view *day;	/* of 24 hours; only spaces need it */
	int64_t failures_in_row;
	bool breaker_is_open;		/* nothing goes through */
	bool breaker_is_half_open;	/* one goes through */
	int64_t parked;			/* handoffs that wait for a person */
	int64_t queued;
	int64_t damaged;		/* places of the store that are not what was written there */
	double quota_share;		/* of the quota that is used most: how much of it; 0: there is none */
	const char *quota;		/* its name */
	int64_t untaken_ms;		/* how long nobody has taken what is queued; 0: somebody does */
};

/* From here on a quota is nearly used up. */
#define ALERT_QUOTA_SHARE 0.9

enum alert_change_kind { ALERT_FIRES, ALERT_RISES, ALERT_RESOLVES };

struct alert_change {
	enum alert_change_kind what;
	enum alert_kind kind;
	int64_t id;			/* in the store; 0 where it fires */
	int64_t space;
	struct str agent;
	enum alert_severity severity;
	double value;
	double threshold;
	struct str summary;		/* a sentence without a full stop */
};

/* One row of the table as it is in force: an alert fires where what it measures is above, below, or at least the
 * threshold. */
enum alert_comparison { ALERT_ABOVE, ALERT_BELOW, ALERT_AT_LEAST };

struct alert_rule {
	enum alert_kind kind;
	enum alert_severity severity;
	const char *measures;		/* in words */
	const char *unit;		/* "handoffs", "share" (0 to 1), "ms", "hops", "envelopes", "constraints",
					 * "places" */
	enum alert_comparison comparison;
	bool has_threshold;		/* false where it depends on what is usual, and nothing is yet */
	double threshold;
	int64_t window_s;		/* judged by the figures of so long; 0: it is a fact of now */
	int64_t min_samples;		/* by so many of them at least */
	int64_t hold_s;			/* 0: what is judged by a window is old enough, the rest is a fact */
};

/* One more than kinds: the failure rate has a threshold for each of its severities. */
enum { ALERT_RULES_MAX = ALERT_KIND_COUNT + 1 };

struct alerts;

/* The rules that the protocol names. */
extern const struct alert_rules alert_rules_default;

/* Returns owned. Copies the rules. */
struct alerts *alerts_new(const struct alert_rules *rules);
/* NULL-safe. */
void alerts_free(struct alerts *a);
/* One that was firing when the server ended. A name that this version does not know is ignored. */
void alerts_restore(struct alerts *a, const struct alert_row *row);
/* Those of spaces that were removed are not firing any more. */
void alerts_forget(struct alerts *a, bool (*is_gone)(void *ctx, int64_t space), void *ctx);
/* Judges all subjects; of each (space, agent) at most one. *ret is in the arena; returns how many there are. Texts of
 * agents are borrowed from the subjects, or from the alerts until the next call. */
size_t alerts_evaluate(struct alerts *a, const struct alert_subject *subjects, size_t count, struct arena *arena,
		       struct alert_change **ret);
/* The change has been written down; id is the alert's in the store. */
void alerts_apply(struct alerts *a, const struct alert_change *change, int64_t id);
/* The figure and the sentence of a moment, for one that is firing: by the same facts. False where these do not tell it,
 * because nothing has happened lately or because it is about to be over. */
bool alert_now(const struct alert_rules *rules, enum alert_kind kind, const struct alert_subject *subject,
	       struct arena *arena, double *ret_value, struct str *ret_summary);
/* How many are firing, of all, of those of a severity. */
size_t alerts_firing(const struct alerts *a);
size_t alerts_firing_of(const struct alerts *a, enum alert_severity severity);

const char *alert_kind_name(enum alert_kind kind);
/* False where there is none of that name. */
bool alert_kind_find(struct str name, enum alert_kind *ret);
bool alert_kind_pages(enum alert_kind kind);
/* Is it about an agent, or about a space as a whole? */
bool alert_kind_is_of_agent(enum alert_kind kind);
/* The table as it is in force for a space, whose figures the views are (NULL: nothing happened). Returns how many rows
 * there are. */
size_t alert_rules_list(const struct alert_rules *rules, const struct stats_view *view, const struct stats_view *day,
			struct alert_rule ret[ALERT_RULES_MAX]);
/* "info", "warning", "critical". */
const char *alert_severity_name(int severity);

#endif
