/* What people read of an alert: one sentence. */
#include "core/watch/alerts_internal.h"

/* "1 handoff", "7 handoffs". */
static struct str handoffs(int64_t count, struct arena *arena)
{
	return arena_printf(arena, "%lld handoff%s", (long long)count, count == 1 ? "" : "s");
}

static struct str breaker_summary(const struct alert_subject *s, const struct alert_judgement *j, struct arena *arena)
{
	if (s->breaker_is_half_open)
		return arena_printf(arena, "the circuit breaker of %.*s is half-open: %.0f handoffs in a row failed, "
				    "and the next one shows whether it is back", STR_ARG(s->agent), j->value);
	return arena_printf(arena, "the circuit breaker of %.*s is open: %.0f handoffs in a row failed. Work for it is "
			    "held, and goes on by itself when it is back", STR_ARG(s->agent), j->value);
}

static struct str stuck_summary(const struct alert_subject *s, struct arena *arena)
{
	return arena_printf(arena, "%.*s wait%s for %.*s, and nobody has taken one for %lld minutes%s",
			    STR_ARG(handoffs(s->queued, arena)), s->queued == 1 ? "s" : "", STR_ARG(s->agent),
			    (long long)(s->untaken_ms / 60000),
			    s->breaker_is_open ? ": its circuit breaker is open" : "");
}

struct str alert_summary(const struct alert_rules *r, enum alert_kind kind, const struct alert_subject *s,
			 const struct alert_judgement *j, struct arena *arena)
{
	struct str agent = s->agent;
	const char *window = stats_window_name(r->window);
	double percent = j->value * 100, limit = j->threshold * 100;

	switch (kind) {
	case ALERT_HANDOFF_FAILED:
		return arena_printf(arena, "%.0f handoff%s to %.*s used up the attempts in the last %s", j->value,
				    j->value == 1 ? "" : "s", STR_ARG(agent), window);
	case ALERT_CONSECUTIVE_FAILURES:
		return arena_printf(arena, "%.0f handoffs in a row to %.*s used up their attempts", j->value,
				    STR_ARG(agent));
	case ALERT_COMPLETENESS_LOW:
		return arena_printf(
			arena, "envelopes to %.*s hold %.1f %% of what was asked for in the last %s, less than %.4g %%",
			STR_ARG(agent), percent, window, limit);
	case ALERT_FAILURE_RATE_HIGH:
		return arena_printf(arena, "%.2f %% of the handoffs of the last %s failed, more than %.4g %%", percent,
				    window, limit);
	case ALERT_BREAKER_OPEN:
		return breaker_summary(s, j, arena);
	case ALERT_COMPLETENESS_CRITICAL:
		return arena_printf(arena,
				    "envelopes of the last %s hold %.1f %% of what was asked for, less than %.4g %% "
				    "over all handoffs", window, percent, limit);
	case ALERT_LATENCY_HIGH:
		return arena_printf(arena,
				    "one in a hundred handoffs to %.*s of the last %s took %.1f s or more to be acked, "
				    "more than %.4g s",
				    STR_ARG(agent), window, j->value / 1000, j->threshold / 1000);
	case ALERT_UTILIZATION_PINNED:
		return arena_printf(arena,
				    "%.0f %% of the envelopes to %.*s of the last %s use all of their budget: "
				    "context is being trimmed", percent, STR_ARG(agent), window);
	case ALERT_UTILIZATION_LOW:
		return arena_printf(arena,
				    "%.0f %% of the envelopes to %.*s of the last %s use less than 30 %% of the "
				    "budget that was chosen for them",
				    percent, STR_ARG(agent), window);
	case ALERT_HOP_DEPTH_HIGH:
		return arena_printf(
			arena, "envelopes of the last %s are at hop %.1f in the mean, above the usual: more than %.1f",
			window, j->value, j->threshold);
	case ALERT_HANDOFFS_PARKED:
		return arena_printf(arena, "%.*s of %.*s %s parked: a person must decide",
				    STR_ARG(handoffs(s->parked, arena)), STR_ARG(agent), s->parked == 1 ? "is" : "are");
	case ALERT_QUEUE_STUCK:
		return stuck_summary(s, arena);
	case ALERT_ENVELOPE_REFUSED:
		return arena_printf(arena, "%.0f envelope%s to %.*s %s refused in the last %s (loop, hop limit or "
				    "credentials): the sender still holds the work", j->value,
				    j->value == 1 ? "" : "s", STR_ARG(agent), j->value == 1 ? "was" : "were", window);
	case ALERT_CONSTRAINT_WAIVED:
		return arena_printf(arena, "%.0f constraint%s waived in the last %s", j->value,
				    j->value == 1 ? " was" : "s were", window);
	case ALERT_STORE_DAMAGED:
		return arena_printf(arena, "the store is damaged in %.0f place%s, and what is there is not shown: "
				    "run spine check", j->value, j->value == 1 ? "" : "s");
	case ALERT_QUOTA_NEAR:
		return arena_printf(arena, "the space uses %.0f %% of its quota of %s: beyond it, requests are refused",
				    percent, s->quota ? s->quota : "something");
	case ALERT_KIND_COUNT:
		break;
	}
	return STR("");
}
