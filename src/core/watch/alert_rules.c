/* The rules that the protocol names, and their table for people. */
#include "core/watch/alerts_internal.h"

#include <assert.h>

const struct alert_rules alert_rules_default = {
	.window = STATS_5M,
	.min_samples = 20,
	.failures_in_row = 3,
	.completeness_low = 0.95,
	.completeness_critical = 0.80,
	.failure_rate_warning = 0.005,
	.failure_rate_critical = 0.02,
	.latency_p99_ms = 15000,
	.pinned_share = 0.5,
	.low_share = 0.9,
	.stuck_ms = 5 * 60 * 1000,
	.hop_factor = 1.5,
};

static const struct {
	const char *measures;
	const char *unit;
	enum alert_comparison comparison;
	bool is_of_window;
	bool needs_samples;
} measured[ALERT_KIND_COUNT] = {
	[ALERT_HANDOFF_FAILED] = {
		"handoffs to the agent that used up their attempts", "handoffs", ALERT_AT_LEAST, true, false,
	},
	[ALERT_CONSECUTIVE_FAILURES] = {
		"handoffs in a row to the agent that used up their attempts", "handoffs", ALERT_AT_LEAST, false, false,
	},
	[ALERT_COMPLETENESS_LOW] = {
		"mean completeness of the envelopes to the agent", "share", ALERT_BELOW, true, true,
	},
	[ALERT_FAILURE_RATE_HIGH] = {
		"share of all handoffs that used up their attempts", "share", ALERT_ABOVE, true, true,
	},
	[ALERT_BREAKER_OPEN] = {
		"handoffs in a row to the agent that used up their attempts, and opened its breaker", "handoffs",
		ALERT_AT_LEAST, false, false,
	},
	[ALERT_COMPLETENESS_CRITICAL] = {"mean completeness of all envelopes", "share", ALERT_BELOW, true, true},
	[ALERT_LATENCY_HIGH] = {
		"99th percentile of the time from initiating a handoff to the agent's ack", "ms", ALERT_ABOVE,
		true, true,
	},
	[ALERT_UTILIZATION_PINNED] = {
		"share of the envelopes to the agent that use all of their budget", "share", ALERT_ABOVE, true, true,
	},
	[ALERT_UTILIZATION_LOW] = {
		"share of the envelopes to the agent, with a budget that somebody chose, that use less than 30 % of "
		"it", "share", ALERT_ABOVE, true, true,
	},
	[ALERT_HOP_DEPTH_HIGH] = {"mean hop of all envelopes", "hops", ALERT_ABOVE, true, true},
	[ALERT_HANDOFFS_PARKED] = {
		"handoffs of the agent that are parked", "handoffs", ALERT_AT_LEAST, false, false,
	},
	[ALERT_QUEUE_STUCK] = {
		"how long nobody has taken what is queued for the agent", "ms", ALERT_AT_LEAST, false, false,
	},
	[ALERT_ENVELOPE_REFUSED] = {
		"envelopes to the agent that were refused: a loop, the hop limit, a credential", "envelopes",
		ALERT_AT_LEAST, true, false,
	},
	[ALERT_CONSTRAINT_WAIVED] = {"constraints that were waived", "constraints", ALERT_AT_LEAST, true, false},
	[ALERT_STORE_DAMAGED] = {
		"places of the store, whosever they are, that were found damaged since the start", "places",
		ALERT_AT_LEAST, false, false,
	},
	[ALERT_QUOTA_NEAR] = {"how much of a quota of the space is used", "share", ALERT_AT_LEAST, false, false},
};

size_t alert_rules_list(const struct alert_rules *r, const struct stats_view *view, const struct stats_view *day,
			struct alert_rule ret[ALERT_RULES_MAX])
{
	const double thresholds[ALERT_KIND_COUNT] = {
		[ALERT_HANDOFF_FAILED] = 1,
		[ALERT_CONSECUTIVE_FAILURES] = (double)r->failures_in_row,
		[ALERT_COMPLETENESS_LOW] = r->completeness_low,
		[ALERT_FAILURE_RATE_HIGH] = r->failure_rate_warning,
		[ALERT_BREAKER_OPEN] = (double)r->failures_in_row,
		[ALERT_COMPLETENESS_CRITICAL] = r->completeness_critical,
		[ALERT_LATENCY_HIGH] = r->latency_p99_ms,
		[ALERT_UTILIZATION_PINNED] = r->pinned_share,
		[ALERT_UTILIZATION_LOW] = r->low_share,
		[ALERT_HANDOFFS_PARKED] = 1,
		[ALERT_QUEUE_STUCK] = (double)r->stuck_ms,
		[ALERT_ENVELOPE_REFUSED] = 1,
		[ALERT_CONSTRAINT_WAIVED] = 1,
		[ALERT_STORE_DAMAGED] = 1,
		[ALERT_QUOTA_NEAR] = ALERT_QUOTA_SHARE,
	};
	size_t count = 0;

	for (int kind = 0; kind < ALERT_KIND_COUNT; kind++) {
		struct alert_rule *rule = &ret[count++];

		*rule = (struct alert_rule){
			.kind = (enum alert_kind)kind, .severity = alert_kind_severity((enum alert_kind)kind),
			.measures = measured[kind].measures, .unit = measured[kind].unit,
			.comparison = measured[kind].comparison, .has_threshold = true,
			.threshold = thresholds[kind],
			.window_s = measured[kind].is_of_window ? stats_window_ms(r->window) / 1000 : 0,
			.min_samples = measured[kind].needs_samples ? r->min_samples : 1,
		};
		if (kind == ALERT_HOP_DEPTH_HIGH)
			rule->has_threshold = alert_judge_hop_threshold(r, alert_judge_view(view),
									alert_judge_view(day),
									&rule->threshold);
		if (kind == ALERT_FAILURE_RATE_HIGH) {
			ret[count] = *rule;
			ret[count].severity = ALERT_CRITICAL;
			ret[count++].threshold = r->failure_rate_critical;
		}
	}
	assert(count == ALERT_RULES_MAX);
	return count;
}

bool alert_rules_is_of_window(enum alert_kind kind)
{
	return measured[kind].is_of_window;
}
