/* Figures of delivery, for people and for Prometheus. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"

/* null where there is nothing to compute it from. */
#define FIGURE(name, says) DOC_NUMBER(name, 0, NO_MAX, says, .component = "StatsNumber")
#define SHARE_OR_NULL(name, says) DOC_NUMBER(name, 0, 1, says, NULLABLE)

static const struct field figures_fields[] = {
	COUNT("handoffs", "Initiated in the window."),
	COUNT("acked", "Acked in the window."),
	COUNT("completed", "Completed in the window."),
	COUNT("failed", "Used up their attempts with the agent: parked, expired, or on to a fallback."),
	SHARE_OR_NULL("failure_rate", "Of the handoffs, or of those settled in the window where these are more."),
	DOC_SHAPE("latency_ms", WITHIN(
		COUNT("count", "How many were acked."), FIGURE("p50", "Half of them took at most that."),
		FIGURE("p95", "95 of 100 took at most that."), FIGURE("p99", "99 of 100 took at most that."),
		FIGURE("max", "The longest.")), "From initiating to the ack."),
	DOC_SHAPE("completeness", WITHIN(
		COUNT("count", "How many were packed."), FIGURE("mean", "Of all of them."),
		FIGURE("min", "Of the worst.")), "Of the envelopes packed."),
	DOC_SHAPE("utilization", WITHIN(
		COUNT("count", "How many were packed."), FIGURE("mean", "Of all of them."),
		FIGURE("p50", "Half of them use at most that."),
		SHARE_OR_NULL("pinned", "Share of envelopes that use 99.5 % of their budget or more."),
		SHARE_OR_NULL("low", "Share of envelopes that use less than 30 %.")),
		"What the envelopes packed use of their budgets."),
	DOC_SHAPE("hops", WITHIN(
		COUNT("count", "How many were packed."), FIGURE("mean", "Of all of them."),
		FIGURE("max", "The last hop."),
		DOC_ARRAY("histogram", 0, "Pairs of hop and count.",
			  .items = "'type':'array','items':{'type':'integer'},'minItems':2,'maxItems':2")),
		"Which hops of their chains the envelopes packed are."),
	COUNT("retries", "Attempts after the first."),
	COUNT("leases_lost", "Leases that ran out."),
	COUNT("waivers", "Constraints that were waived."),
	DOC_SHAPE("queue", &shape_queue, "Now."),
	DOC_TEXT("agent", 0, 0, "Of a target; _other stands for those without a series of their own.", MAYBE),
	DOC_TEXT("space", 0, 0, "Of a target, where all spaces were asked for.", MAYBE),
	DOC_ENUM("breaker", &words_breaker, 0, "Of a target.", MAYBE),
	FIELDS_END,
};
static const struct shape figures = {.name = "StatsFigures", .fields = figures_fields};

static const struct field point_fields[] = {
	DOC_TIME("at", "When the step began."),
	FIGURE("handoffs", "Initiated."), FIGURE("acked", "Acked."), FIGURE("failed", "Failed."),
	FIGURE("p50", "Half of the acks took at most that."), FIGURE("p99", "99 of 100 acks took at most that."),
	FIGURE("completeness", "The mean of the envelopes packed."), FIGURE("utilization", "The same."),
	FIGURE("hop_mean", "The same."), FIGURE("queued", "At the end of the step."),
	FIELDS_END,
};
static const struct shape point = {.fields = point_fields};

static const struct field stats_fields[] = {
	DOC_ENUM("window", &words_window, 0, "How far back the figures go."),
	DOC_TEXT("space", 0, 0, "Which space; all: all of them."),
	DOC_TIME("now", "When the window ends."),
	DOC_SHAPE("overall", &figures, "Of the space."),
	DOC_SHAPES("targets", 0, &figures, "Of each agent."),
	DOC_SHAPE("series", WITHIN(
		DOC_INT("step_s", 1, NO_MAX, "How far apart the points are."),
		DOC_SHAPES("points", 0, &point, "In order.")), "For plots."),
	FIELDS_END,
};
static const struct shape stats = {.name = "Stats", .fields = stats_fields, .warns = true};

const struct description describe_stats = {
	.id = "stats", .tag = "watching", .scope = SCOPE_READ,
	.summary = "How delivery goes: of the space, and of each of its agents",
	.says = "A window ends with the step under way and begins at a whole number of steps. Percentiles are within "
		"1 % of the exact ones.",
	.query = INPUT(
		DOC_ENUM("window", &words_window, 0, "How far back the figures go.", .otherwise = "'5m'",
			 .expected = "expected 1m, 5m, 1h or 24h"),
		DOC_ENUM("space", &words_all_spaces, 0, "All spaces together, instead of the one of Spine-Space.",
			 .expected = "expected all, or nothing: the header Spine-Space names the space")),
	ANSWERS(ANSWER(200, "The figures.", &stats)),
};

const struct description describe_metrics = {
	.id = "metrics", .tag = "watching", .scope = SCOPE_ADMIN,
	.summary = "All of it for Prometheus",
	.says = "Text format 0.0.4. Counters count since the start; what has no series of its own is told as _other.",
	.takes = TAKES_NO_SPACE,
	ANSWERS(OTHER(200, "The metrics.", .media = "text/plain", .schema = "'type':'string'")),
};
