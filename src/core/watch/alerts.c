#include "core/watch/alerts.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* How far behind its threshold a figure must be for the alert to be over: so much of the threshold, or of what is left
 * up to 1. */
#define MARGIN 0.1

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
	const char *name;
	enum alert_severity severity;
	bool pages;
	bool is_of_agent;
} kinds[ALERT_KIND_COUNT] = {
#define ALERT_KIND_ROW(kind, name, severity, pages, is_of_agent) [ALERT_##kind] = {name, severity, pages, is_of_agent},
	ALERT_KINDS(ALERT_KIND_ROW)
#undef ALERT_KIND_ROW
};

struct firing {
	enum alert_kind kind;
	int64_t id;
	int64_t space;
	struct str agent;		/* own bytes; p == NULL: none */
	enum alert_severity severity;
	double value, threshold;
	bool is_judged;			/* in the evaluation under way */
};

struct alerts {
	struct alert_rules rules;
	struct firing *firing;
	size_t count;
	size_t cap;
};

/* --- Judging --- */

enum verdict { GOOD, UNDECIDED, BAD };

struct judgement {
	enum verdict verdict;
	enum alert_severity severity;
	double value;
	double threshold;
};

static const struct stats_view nothing = {.failure_rate = -1};

/* Bad above the threshold. With a few samples, or without any, it stays as it is: that it is quiet says nothing. */
static void judge_above(struct judgement *j, double value, double threshold, int64_t samples, int64_t min_samples)
{
	j->value = value;
	j->threshold = threshold;
	if (samples && value <= threshold * (1 - MARGIN))
		j->verdict = GOOD;
	else
		j->verdict = value > threshold && samples >= min_samples ? BAD : UNDECIDED;
}

/* The same for shares that should be 1. */
static void judge_below(struct judgement *j, double value, double threshold, int64_t samples, int64_t min_samples)
{
	j->value = value;
	j->threshold = threshold;
	if (samples && value >= threshold + (1 - threshold) * MARGIN)
		j->verdict = GOOD;
	else
		j->verdict = value < threshold && samples >= min_samples ? BAD : UNDECIDED;
}

static void judge_failure_rate(struct judgement *j, const struct alert_rules *r, const struct stats_view *v)
{
	const struct stats_counts *c = &v->counts;
	int64_t settled = c->acked + c->failed, samples = c->handoffs > settled ? c->handoffs : settled;

	judge_above(j, v->failure_rate, r->failure_rate_warning, samples, r->min_samples);
	if (j->verdict == BAD && v->failure_rate > r->failure_rate_critical) {
		j->severity = ALERT_CRITICAL;
		j->threshold = r->failure_rate_critical;
	}
}

/* What is usual is the mean of the day without what is judged. False where there is too little of it. */
static bool hop_threshold(const struct alert_rules *r, const struct stats_view *v, const struct stats_view *day,
			  double *ret)
{
	int64_t before = day->counts.packed - v->counts.packed;
	double usual;

	if (before < r->min_samples)
		return false;
	usual = day->hop_mean * (double)day->counts.packed - v->hop_mean * (double)v->counts.packed;
	usual /= (double)before;
	*ret = usual * r->hop_factor > usual + 1 ? usual * r->hop_factor : usual + 1;
	return true;
}

/* It begins with the opening. Half-open, it goes on: each handoff that is let through and fails opens the breaker
 * again, and that is the same trouble. It is over when an ack, or a person, has closed it. */
static enum verdict judge_breaker(const struct alert_subject *s)
{
	return s->breaker_is_open ? BAD : s->breaker_is_half_open ? UNDECIDED : GOOD;
}

/* A failure within the window, until the agent has accepted something since. */
static enum verdict judge_failed(const struct alert_subject *s, const struct stats_view *v)
{
	return v->counts.failed ? BAD : s->failures_in_row ? UNDECIDED : GOOD;
}

/* Something that is counted, and whose verdict needs no samples. */
static void judge_count(struct judgement *j, int64_t count, int64_t threshold, enum verdict verdict)
{
	j->value = (double)count;
	j->threshold = (double)threshold;
	j->verdict = verdict;
}

/* One is too many. */
static void judge_any(struct judgement *j, int64_t count)
{
	judge_count(j, count, 1, count ? BAD : GOOD);
}

static void judge_quota(struct judgement *j, double share)
{
	j->value = share;
	j->threshold = ALERT_QUOTA_SHARE;
	j->verdict = share >= ALERT_QUOTA_SHARE ? BAD : share > ALERT_QUOTA_SHARE * (1 - MARGIN) ? UNDECIDED : GOOD;
}

static enum verdict judge_row(const struct alert_rules *r, const struct alert_subject *s)
{
	return s->failures_in_row >= r->failures_in_row ? BAD : s->failures_in_row ? UNDECIDED : GOOD;
}

static void judge_hops(struct judgement *j, const struct alert_rules *r, const struct stats_view *v,
		       const struct stats_view *day)
{
	double threshold;

	if (hop_threshold(r, v, day, &threshold))
		judge_above(j, v->hop_mean, threshold, v->counts.packed, r->min_samples);
	else
		j->verdict = v->counts.packed ? GOOD : UNDECIDED;
}

static struct judgement judge(const struct alert_rules *r, enum alert_kind kind, const struct alert_subject *s)
{
	const struct stats_view *v = s->view ? s->view : &nothing, *day = s->day ? s->day : &nothing;
	struct judgement j = {.verdict = GOOD, .severity = kinds[kind].severity};
	int64_t packed = v->counts.packed;

	switch (kind) {
	case ALERT_HANDOFF_FAILED:
		judge_count(&j, v->counts.failed, 1, judge_failed(s, v));
		break;
	case ALERT_CONSECUTIVE_FAILURES:
		judge_count(&j, s->failures_in_row, r->failures_in_row, judge_row(r, s));
		break;
	case ALERT_COMPLETENESS_LOW:
		judge_below(&j, v->completeness_mean, r->completeness_low, packed, r->min_samples);
		break;
	case ALERT_FAILURE_RATE_HIGH:
		judge_failure_rate(&j, r, v);
		break;
	case ALERT_BREAKER_OPEN:
		judge_count(&j, s->failures_in_row, r->failures_in_row, judge_breaker(s));
		break;
	case ALERT_COMPLETENESS_CRITICAL:
		judge_below(&j, v->completeness_mean, r->completeness_critical, packed, r->min_samples);
		break;
	case ALERT_LATENCY_HIGH:
		judge_above(&j, v->latency_p99_ms, r->latency_p99_ms, v->counts.acked, r->min_samples);
		break;
	case ALERT_UTILIZATION_PINNED:
		judge_above(&j, v->utilization_pinned, r->pinned_share, packed, r->min_samples);
		break;
	case ALERT_UTILIZATION_LOW:
		judge_above(&j, v->chosen_low, r->low_share, v->chosen, r->min_samples);
		break;
	case ALERT_HOP_DEPTH_HIGH:
		judge_hops(&j, r, v, day);
		break;
	case ALERT_HANDOFFS_PARKED:
		judge_any(&j, (int64_t)s->parked);
		break;
	case ALERT_QUEUE_STUCK:
		judge_count(&j, s->untaken_ms, r->stuck_ms, s->untaken_ms >= r->stuck_ms ? BAD : GOOD);
		break;
	case ALERT_ENVELOPE_REFUSED:
		judge_any(&j, v->counts.refused);
		break;
	case ALERT_CONSTRAINT_WAIVED:
		judge_any(&j, v->counts.waivers);
		break;
	case ALERT_STORE_DAMAGED:
		judge_any(&j, s->damaged);
		break;
	case ALERT_QUOTA_NEAR:
		judge_quota(&j, s->quota_share);
		break;
	case ALERT_KIND_COUNT:
		assert(!"not a kind");
	}
	return j;
}

/* --- The rules, for people --- */

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
			.kind = (enum alert_kind)kind, .severity = kinds[kind].severity,
			.measures = measured[kind].measures, .unit = measured[kind].unit,
			.comparison = measured[kind].comparison, .has_threshold = true,
			.threshold = thresholds[kind],
			.window_s = measured[kind].is_of_window ? stats_window_ms(r->window) / 1000 : 0,
			.min_samples = measured[kind].needs_samples ? r->min_samples : 1,
		};
		if (kind == ALERT_HOP_DEPTH_HIGH)
			rule->has_threshold = hop_threshold(r, view ? view : &nothing, day ? day : &nothing,
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

/* --- Saying it --- */

/* "1 handoff", "7 handoffs". */
static struct str handoffs(int64_t count, struct arena *arena)
{
	return arena_printf(arena, "%lld handoff%s", (long long)count, count == 1 ? "" : "s");
}

static struct str breaker_summary(const struct alert_subject *s, const struct judgement *j, struct arena *arena)
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

static struct str summary_of(const struct alert_rules *r, enum alert_kind kind, const struct alert_subject *s,
			     const struct judgement *j, struct arena *arena)
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

/* --- Evaluating --- */

static bool is_about(const struct firing *f, int64_t space, struct str agent)
{
	return f->space == space && (f->agent.p == NULL) == (agent.p == NULL) && str_eq(f->agent, agent);
}

static struct firing *find(const struct alerts *a, enum alert_kind kind, int64_t space, struct str agent)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->firing[i].kind == kind && is_about(&a->firing[i], space, agent))
			return &a->firing[i];
	return NULL;
}

struct changes {
	struct arena *arena;
	struct alert_change *list;
	size_t count;
	size_t cap;
};

static void add_change(struct changes *c, const struct alert_change *change)
{
	if (c->count == c->cap) {
		struct alert_change *more;

		c->cap = c->cap ? c->cap * 2 : 8;
		more = arena_calloc(c->arena, c->cap, sizeof(*more));
		if (c->count)
			memcpy(more, c->list, c->count * sizeof(*more));
		c->list = more;
	}
	c->list[c->count++] = *change;
}

static void consider(struct alerts *a, enum alert_kind kind, const struct alert_subject *s, struct changes *changes,
		     size_t *fresh)
{
	struct firing *f = find(a, kind, s->space, s->agent);
	struct judgement j = judge(&a->rules, kind, s);
	struct alert_change change = {
		.kind = kind,
		.id = f ? f->id : 0,
		.space = s->space,
		.agent = s->agent,
		.severity = j.severity,
		.value = j.value,
		.threshold = j.threshold,
	};

	if (f)
		f->is_judged = true;
	if (f == NULL && j.verdict == BAD && a->count + *fresh < ALERTS_FIRING_MAX) {
		change.what = ALERT_FIRES;
		(*fresh)++;
	} else if (f && j.verdict == BAD && j.severity > f->severity) {
		change.what = ALERT_RISES;
	} else if (f && j.verdict == GOOD) {
		change.what = ALERT_RESOLVES;
		change.severity = f->severity;
		change.threshold = f->threshold;
	} else {
		return;
	}
	change.summary = summary_of(&a->rules, kind, s, &j, changes->arena);
	add_change(changes, &change);
}

size_t alerts_evaluate(struct alerts *a, const struct alert_subject *subjects, size_t count, struct arena *arena,
		       struct alert_change **ret)
{
	struct changes changes = {.arena = arena};
	size_t fresh = 0;

	for (size_t i = 0; i < a->count; i++)
		a->firing[i].is_judged = false;
	for (size_t i = 0; i < count; i++)
		for (int kind = 0; kind < ALERT_KIND_COUNT; kind++)
			if (kinds[kind].is_of_agent == (subjects[i].agent.p != NULL))
				consider(a, (enum alert_kind)kind, &subjects[i], &changes, &fresh);
	/* Nothing is known of its subject any more. */
	for (size_t i = 0; i < a->count; i++) {
		const struct firing *f = &a->firing[i];

		if (!f->is_judged)
			add_change(&changes, &(struct alert_change){
						     .what = ALERT_RESOLVES,
						     .kind = f->kind,
						     .id = f->id,
						     .space = f->space,
						     .agent = f->agent,
						     .severity = f->severity,
						     .threshold = f->threshold,
						     .summary = STR("nothing is known of it any more"),
					     });
	}
	*ret = changes.list;
	return changes.count;
}

bool alert_now(const struct alert_rules *rules, enum alert_kind kind, const struct alert_subject *subject,
	       struct arena *arena, double *ret_value, struct str *ret_summary)
{
	struct judgement j = judge(rules, kind, subject);
	const struct stats_counts *n = subject->view ? &subject->view->counts : &nothing.counts;

	if (j.verdict == GOOD || (measured[kind].is_of_window && n->packed + n->handoffs + n->acked + n->failed == 0))
		return false;
	*ret_value = j.value;
	*ret_summary = summary_of(rules, kind, subject, &j, arena);
	return true;
}

/* --- What is firing --- */

static void begin(struct alerts *a, const struct firing *f)
{
	if (a->count == a->cap) {
		a->cap = a->cap ? a->cap * 2 : 8;
		a->firing = mem_reallocarray(a->firing, a->cap, sizeof(*a->firing));
	}
	a->firing[a->count] = *f;
	if (f->agent.p)
		a->firing[a->count].agent = (struct str){mem_strndup(f->agent.p, f->agent.n), f->agent.n};
	a->count++;
}

void alerts_apply(struct alerts *a, const struct alert_change *change, int64_t id)
{
	struct firing *f = find(a, change->kind, change->space, change->agent);

	if (change->what == ALERT_FIRES && f == NULL) {
		begin(a, &(struct firing){
				 .kind = change->kind,
				 .id = id,
				 .space = change->space,
				 .agent = change->agent,
				 .severity = change->severity,
				 .value = change->value,
				 .threshold = change->threshold,
			 });
	} else if (change->what == ALERT_RISES && f) {
		f->severity = change->severity;
		f->threshold = change->threshold;
	} else if (change->what == ALERT_RESOLVES && f) {
		free((char *)f->agent.p);
		*f = a->firing[--a->count];
	}
}

void alerts_forget(struct alerts *a, bool (*is_gone)(void *ctx, int64_t space), void *ctx)
{
	for (size_t i = a->count; i-- > 0;)
		if (is_gone(ctx, a->firing[i].space)) {
			free((char *)a->firing[i].agent.p);
			a->firing[i] = a->firing[--a->count];
		}
}

void alerts_restore(struct alerts *a, const struct alert_row *row)
{
	enum alert_kind kind;

	if (row->resolved_at_ms || !alert_kind_find(row->name, &kind) || find(a, kind, row->space, row->agent))
		return;
	begin(a, &(struct firing){
			 .kind = kind,
			 .id = row->id,
			 .space = row->space,
			 .agent = row->agent,
			 .severity = (enum alert_severity)row->severity,
			 .value = row->value,
			 .threshold = row->threshold,
		 });
}

struct alerts *alerts_new(const struct alert_rules *rules)
{
	struct alerts *a = mem_zalloc(sizeof(*a));

	a->rules = *rules;
	return a;
}

void alerts_free(struct alerts *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->count; i++)
		free((char *)a->firing[i].agent.p);
	free(a->firing);
	free(a);
}

size_t alerts_firing(const struct alerts *a)
{
	return a->count;
}

size_t alerts_firing_of(const struct alerts *a, enum alert_severity severity)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		count += a->firing[i].severity == severity;
	return count;
}

/* --- Names --- */

const char *alert_kind_name(enum alert_kind kind)
{
	return kinds[kind].name;
}

bool alert_kind_find(struct str name, enum alert_kind *ret)
{
	for (int kind = 0; kind < ALERT_KIND_COUNT; kind++)
		if (str_is(name, kinds[kind].name)) {
			*ret = (enum alert_kind)kind;
			return true;
		}
	return false;
}

bool alert_kind_pages(enum alert_kind kind)
{
	return kinds[kind].pages;
}

bool alert_kind_is_of_agent(enum alert_kind kind)
{
	return kinds[kind].is_of_agent;
}

const char *alert_severity_name(int severity)
{
	return severity <= ALERT_INFO ? "info" : severity == ALERT_WARNING ? "warning" : "critical";
}
