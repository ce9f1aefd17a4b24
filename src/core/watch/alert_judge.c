/* What the figures say, by the rules. */
#include "core/watch/alerts_internal.h"

#include <assert.h>

/* How far behind its threshold a figure must be for the alert to be over: so much of the threshold, or of what is left
 * up to 1. */
#define MARGIN 0.1

const struct stats_view *alert_judge_view(const struct stats_view *view)
{
	static const struct stats_view nothing = {.failure_rate = -1};

	return view ? view : &nothing;
}

/* Bad above the threshold. With a few samples, or without any, it stays as it is: that it is quiet says nothing. */
static void judge_above(struct alert_judgement *j, double value, double threshold, int64_t samples, int64_t min_samples)
{
	j->value = value;
	j->threshold = threshold;
	if (samples && value <= threshold * (1 - MARGIN))
		j->verdict = ALERT_GOOD;
	else
		j->verdict = value > threshold && samples >= min_samples ? ALERT_BAD : ALERT_UNDECIDED;
}

/* The same for shares that should be 1. */
static void judge_below(struct alert_judgement *j, double value, double threshold, int64_t samples, int64_t min_samples)
{
	j->value = value;
	j->threshold = threshold;
	if (samples && value >= threshold + (1 - threshold) * MARGIN)
		j->verdict = ALERT_GOOD;
	else
		j->verdict = value < threshold && samples >= min_samples ? ALERT_BAD : ALERT_UNDECIDED;
}

static void judge_failure_rate(struct alert_judgement *j, const struct alert_rules *r, const struct stats_view *v)
{
	const struct stats_counts *c = &v->counts;
	int64_t settled = c->acked + c->failed, samples = c->handoffs > settled ? c->handoffs : settled;

	judge_above(j, v->failure_rate, r->failure_rate_warning, samples, r->min_samples);
	if (j->verdict == ALERT_BAD && v->failure_rate > r->failure_rate_critical) {
		j->severity = ALERT_CRITICAL;
		j->threshold = r->failure_rate_critical;
	}
}

bool alert_judge_hop_threshold(const struct alert_rules *r, const struct stats_view *v, const struct stats_view *day,
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
static enum alert_verdict judge_breaker(const struct alert_subject *s)
{
	return s->breaker_is_open ? ALERT_BAD : s->breaker_is_half_open ? ALERT_UNDECIDED : ALERT_GOOD;
}

/* A failure within the window, until the agent has accepted something since. */
static enum alert_verdict judge_failed(const struct alert_subject *s, const struct stats_view *v)
{
	return v->counts.failed ? ALERT_BAD : s->failures_in_row ? ALERT_UNDECIDED : ALERT_GOOD;
}

/* Something that is counted, and whose verdict needs no samples. */
static void judge_count(struct alert_judgement *j, int64_t count, int64_t threshold, enum alert_verdict verdict)
{
	j->value = (double)count;
	j->threshold = (double)threshold;
	j->verdict = verdict;
}

/* One is too many. */
static void judge_any(struct alert_judgement *j, int64_t count)
{
	judge_count(j, count, 1, count ? ALERT_BAD : ALERT_GOOD);
}

static void judge_quota(struct alert_judgement *j, double share)
{
	j->value = share;
	j->threshold = ALERT_QUOTA_SHARE;
	if (share >= ALERT_QUOTA_SHARE)
		j->verdict = ALERT_BAD;
	else
		j->verdict = share > ALERT_QUOTA_SHARE * (1 - MARGIN) ? ALERT_UNDECIDED : ALERT_GOOD;
}

static enum alert_verdict judge_row(const struct alert_rules *r, const struct alert_subject *s)
{
	return s->failures_in_row >= r->failures_in_row ? ALERT_BAD : s->failures_in_row ? ALERT_UNDECIDED : ALERT_GOOD;
}

static void judge_hops(struct alert_judgement *j, const struct alert_rules *r, const struct stats_view *v,
		       const struct stats_view *day)
{
	double threshold;

	if (alert_judge_hop_threshold(r, v, day, &threshold))
		judge_above(j, v->hop_mean, threshold, v->counts.packed, r->min_samples);
	else
		j->verdict = v->counts.packed ? ALERT_GOOD : ALERT_UNDECIDED;
}

struct alert_judgement alert_judge(const struct alert_rules *r, enum alert_kind kind, const struct alert_subject *s)
{
	const struct stats_view *v = alert_judge_view(s->view);
	struct alert_judgement j = {.verdict = ALERT_GOOD, .severity = alert_kind_severity(kind)};
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
		judge_hops(&j, r, v, alert_judge_view(s->day));
		break;
	case ALERT_HANDOFFS_PARKED:
		judge_any(&j, (int64_t)s->parked);
		break;
	case ALERT_QUEUE_STUCK:
		judge_count(&j, s->untaken_ms, r->stuck_ms, s->untaken_ms >= r->stuck_ms ? ALERT_BAD : ALERT_GOOD);
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
