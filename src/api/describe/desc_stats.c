/* Figures of delivery, for people and for Prometheus. */
#include "api/describe/descriptions.h"
#include "api/describe/query.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "engine/watch/stats_get.h"

#include <math.h>

/* Six digits behind the point: more than the figures are good for. null where there is none. */
static void put_figure(const struct field *f, double value, bool is_known, struct json_writer *w)
{
	json_key_str(w, f->name);
	if (is_known)
		json_put_double(w, round(value * 1e6) / 1e6);
	else
		json_put_null(w);
}

static double figure_of(const struct field *f, const void *from)
{
	return *(const double *)(const void *)((const char *)from + f->offset);
}

static void put_of_acked(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	put_figure(f, figure_of(f, from), ((const struct stats_view *)from)->counts.acked > 0, w);
}

static void put_of_packed(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	put_figure(f, figure_of(f, from), ((const struct stats_view *)from)->counts.packed > 0, w);
}

static void put_failure_rate(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	double rate = figure_of(f, from);

	(void)with;
	put_figure(f, rate, rate >= 0, w);
}

static void put_hop_max(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct stats_view *v = from;

	(void)with;
	put_figure(f, (double)v->hop_max, v->counts.packed > 0, w);
}

static void put_histogram(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct stats_view *v = from;

	(void)with;
	json_key_str(w, f->name);
	json_begin_array(w);
	for (int hop = 0; hop <= STATS_HOPS_MAX; hop++)
		if (v->hops[hop]) {
			json_begin_array(w);
			json_put_int(w, hop);
			json_put_int(w, v->hops[hop]);
			json_end_array(w);
		}
	json_end_array(w);
}

/* null where there is nothing to compute it from. */
#define FIGURE_OF(s, name, m, of, says) \
	FIELD_NUMBER(name, s, m, 0, NO_MAX, says, .component = "StatsNumber", .write = of)
#define FIGURE(name, m, of, says) FIGURE_OF(struct stats_view, name, m, of, says)
#define SHARE_OR_NULL(name, m, of, says) FIELD_NUMBER(name, struct stats_view, m, 0, 1, says, NULLABLE, .write = of)
#define COUNTED(name, m, says) FIELD_INT(name, struct stats_view, counts.m, 0, NO_MAX, says)
#define IN_TARGET(name, m, says) FIELD_INT(name, struct stats_target, view.counts.m, 0, NO_MAX, says)

static const struct field figures_fields[] = {
	FIELD_TEXT("agent", struct stats_target, agent, 0, 0,
		   "Of a target; _other stands for those without a series of their own.", MAYBE),
	FIELD_TEXT("space", struct stats_target, space_name, 0, 0, "Of a target, where all spaces were asked for.",
		   MAYBE),
	IN_TARGET("handoffs", handoffs, "Initiated in the window."),
	IN_TARGET("acked", acked, "Acked in the window."),
	IN_TARGET("completed", completed, "Completed in the window."),
	IN_TARGET("failed", failed, "Used up their attempts with the agent: parked, expired, or on to a fallback."),
	FIELD_NUMBER("failure_rate", struct stats_target, view.failure_rate, 0, 1,
		     "Of the handoffs, or of those settled in the window where these are more.", NULLABLE,
		     .write = put_failure_rate),
	FIELD_SHAPE("latency_ms", struct stats_target, view, WITHIN_OF(struct stats_view,
		COUNTED("count", acked, "How many were acked."),
		FIGURE("p50", latency_p50_ms, put_of_acked, "Half of them took at most that."),
		FIGURE("p95", latency_p95_ms, put_of_acked, "95 of 100 took at most that."),
		FIGURE("p99", latency_p99_ms, put_of_acked, "99 of 100 took at most that."),
		FIGURE("max", latency_max_ms, put_of_acked, "The longest.")), "From initiating to the ack."),
	FIELD_SHAPE("completeness", struct stats_target, view, WITHIN_OF(struct stats_view,
		COUNTED("count", packed, "How many were packed."),
		FIGURE("mean", completeness_mean, put_of_packed, "Of all of them."),
		FIGURE("min", completeness_min, put_of_packed, "Of the worst.")), "Of the envelopes packed."),
	FIELD_SHAPE("utilization", struct stats_target, view, WITHIN_OF(struct stats_view,
		COUNTED("count", packed, "How many were packed."),
		FIGURE("mean", utilization_mean, put_of_packed, "Of all of them."),
		FIGURE("p50", utilization_p50, put_of_packed, "Half of them use at most that."),
		SHARE_OR_NULL("pinned", utilization_pinned, put_of_packed,
			      "Share of envelopes that use 99.5 % of their budget or more."),
		SHARE_OR_NULL("low", utilization_low, put_of_packed, "Share of envelopes that use less than 30 %.")),
		"What the envelopes packed use of their budgets."),
	FIELD_SHAPE("hops", struct stats_target, view, WITHIN_OF(struct stats_view,
		COUNTED("count", packed, "How many were packed."),
		FIGURE("mean", hop_mean, put_of_packed, "Of all of them."),
		DOC_NUMBER("max", 0, NO_MAX, "The last hop.", .component = "StatsNumber", .write = put_hop_max),
		DOC_ARRAY("histogram", 0, "Pairs of hop and count.", .write = put_histogram,
			  .items = "'type':'array','items':{'type':'integer'},'minItems':2,'maxItems':2")),
		"Which hops of their chains the envelopes packed are."),
	IN_TARGET("retries", retries, "Attempts after the first."),
	IN_TARGET("leases_lost", leases_lost, "Leases that ran out."),
	IN_TARGET("waivers", waivers, "Constraints that were waived."),
	FIELD_SHAPE("queue", struct stats_target, counts, &shape_queue, "Now."),
	FIELD_ENUM("breaker", struct stats_target, breaker, &words_breaker, 0, "Of a target.", MAYBE, .unset = -1),
	FIELDS_END,
};
static const struct shape figures = {
	.name = "StatsFigures", .fields = figures_fields, .size = sizeof(struct stats_target),
};

static void put_point_of_acked(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	put_figure(f, figure_of(f, from), ((const struct stats_point *)from)->acked > 0, w);
}

static void put_point_of_packed(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	put_figure(f, figure_of(f, from), ((const struct stats_point *)from)->packed > 0, w);
}

/* What counts in a step: null where it is not known. */
static void put_count(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	int64_t count = *(const int64_t *)(const void *)((const char *)from + f->offset);

	(void)with;
	json_key_str(w, f->name);
	if (count >= 0)
		json_put_int(w, count);
	else
		json_put_null(w);
}

#define POINT(name, m, of, says) FIGURE_OF(struct stats_point, name, m, of, says)
#define POINT_COUNT(name, m, says) \
	{FIELD_BASE_(TYPE_NUMBER, name, says), FIELD_AT_(struct stats_point, m, int64_t), .max = NO_MAX, \
	 .component = "StatsNumber", .write = put_count}

static const struct field point_fields[] = {
	FIELD_TIME("at", struct stats_point, at_ms, "When the step began."),
	POINT_COUNT("handoffs", handoffs, "Initiated."),
	POINT_COUNT("acked", acked, "Acked."),
	POINT_COUNT("failed", failed, "Failed."),
	POINT("p50", p50_ms, put_point_of_acked, "Half of the acks took at most that."),
	POINT("p99", p99_ms, put_point_of_acked, "99 of 100 acks took at most that."),
	POINT("completeness", completeness, put_point_of_packed, "The mean of the envelopes packed."),
	POINT("utilization", utilization, put_point_of_packed, "The same."),
	POINT("hop_mean", hop_mean, put_point_of_packed, "The same."),
	POINT_COUNT("queued", queued, "At the end of the step."),
	FIELDS_END,
};
static const struct shape point = {.fields = point_fields, .size = sizeof(struct stats_point)};

static void put_space(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct stats_get *s = from;
	struct str all = STR("all");

	(void)with;
	field_write(f, s->all_spaces ? &all : &s->op.space_name, w);
}

static const struct field stats_fields[] = {
	FIELD_ENUM("window", struct stats_get, window, &words_window, 0, "How far back the figures go."),
	DOC_TEXT("space", 0, 0, "Which space; all: all of them.", .write = put_space),
	FIELD_TIME("now", struct stats_get, op.now_ms, "When the window ends."),
	FIELD_SHAPE("overall", struct stats_get, overall, &figures, "Of the space."),
	FIELD_SHAPES("targets", struct stats_get, targets, target_count, 0, &figures, "Of each agent."),
	FIELD_SHAPE_SAME("series", struct stats_get, WITHIN_OF(struct stats_get,
		FIELD_INT("step_s", struct stats_get, step_s, 1, NO_MAX, "How far apart the points are."),
		FIELD_SHAPES("points", struct stats_get, points, point_count, 0, &point, "In order.")), "For plots."),
	FIELDS_END,
};
static const struct shape stats = {
	.name = "Stats", .fields = stats_fields, .size = sizeof(struct stats_get), .warns = true,
};

static void five_minutes(void *op)
{
	((struct stats_get *)op)->window = STATS_5M;
}

static enum problem_code read_all_spaces(const struct field *f, const struct json *value, void *into,
					 struct shape_reader *r)
{
	enum problem_code code = query_value(f, value->s, into, r);

	((struct stats_get *)into)->all_spaces = true;
	return code == P_OK ? access_check_all(r->access, f->name.p, r->problem) : code;
}

const struct description describe_stats = {
	.id = "stats", .tag = "watching", .scope = SCOPE_READ,
	.summary = "How delivery goes: of the space, and of each of its agents",
	.says = "A window ends with the step under way and begins at a whole number of steps. Percentiles are within "
		"1 % of the exact ones.",
	.query = INPUT(
		FIELD_ENUM("window", struct stats_get, window, &words_window, 0, "How far back the figures go.",
			   .otherwise = "'5m'", .expected = "expected 1m, 5m, 1h or 24h"),
		DOC_ENUM("space", &words_all_spaces, 0,
			 "All spaces together, instead of the one of Spine-Space; in a cluster those of its shard.",
			 .read = read_all_spaces,
			 .expected = "expected all, or nothing: the header Spine-Space names the space")),
	.query_into = INTO(struct stats_get, op), .defaults = five_minutes,
	ANSWERS(ANSWER(200, "The figures.", &stats)),
};

const struct description describe_metrics = {
	.id = "metrics", .tag = "watching", .scope = SCOPE_ADMIN, .is_of_all = true,
	.summary = "All of it for Prometheus",
	.says = "Text format 0.0.4. Counters count since the start; what has no series of its own is told as _other.",
	.takes = TAKES_NO_SPACE,
	ANSWERS(OTHER(200, "The metrics.", .media = "text/plain", .schema = "'type':'string'")),
};
