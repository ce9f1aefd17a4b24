/* core/watch/alerts.h on top of core/watch/stats.h, with a clock of the test's own: every row of the table is
 * provoked, fires once, and is over by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/watch/alert_url.h"
#include "core/watch/alerts.h"

#include <stdlib.h>

#define T0 INT64_C(1700000000000)
#define MINUTE INT64_C(60000)

/* A server's worth of it: figures, alerts, a clock, and a store that holds what was written. */
struct world {
	struct stats *stats;
	struct alerts *alerts;
	int64_t now_ms;
	int64_t failures_in_row;	/* of "coder" */
	bool breaker_is_open;
	bool breaker_is_half_open;
	int64_t parked, queued, untaken_ms;
	bool is_forgotten;		/* nothing happened for a day: there is no subject */
	struct alert_row rows[64];
	size_t row_count;
	size_t fired, risen, resolved;	/* by the last look */
};

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));

	w->stats = stats_new(1);
	w->alerts = alerts_new(&alert_rules_default);
	w->now_ms = T0;
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;

	stats_free(w->stats);
	alerts_free(w->alerts);
	free(w);
	return 0;
}

/* Writes a change down as the server does, and reports it back. */
static void write_down(struct world *w, const struct alert_change *change)
{
	struct alert_row *row = change->id ? &w->rows[change->id - 1] : &w->rows[w->row_count++];

	if (change->what == ALERT_FIRES)
		*row = (struct alert_row){.id = (int64_t)w->row_count,
					  .space = change->space,
					  .name = str_of(alert_kind_name(change->kind)),
					  .agent = change->agent.p ? STR("coder") : STR_NULL,
					  .since_ms = w->now_ms};
	assert_true(change->agent.p == NULL || str_is(change->agent, "coder"));
	assert_true(change->summary.n > 0);
	if (change->what == ALERT_FIRES && change->kind == ALERT_BREAKER_OPEN)
		assert_true(str_has_suffix(change->summary, STR(" in a row failed. Work for it is held, and goes on "
								"by itself when it is back")));
	if (change->what == ALERT_RESOLVES) {
		row->resolved_at_ms = w->now_ms;
		w->resolved++;
	} else {
		row->severity = (int)change->severity;
		row->value = change->value;
		row->threshold = change->threshold;
		w->fired += change->what == ALERT_FIRES;
		w->risen += change->what == ALERT_RISES;
	}
	alerts_apply(w->alerts, change, row->id);
}

/* One evaluation of the space and of its agent. */
static void look(struct world *w)
{
	struct stats_view view[3];
	struct alert_subject subjects[2] = {
		{.space = 1, .view = &view[0], .day = &view[1]},
		{.space = 1, .agent = STR("coder"), .view = &view[2], .failures_in_row = w->failures_in_row,
		 .breaker_is_open = w->breaker_is_open,
		 .breaker_is_half_open = w->breaker_is_half_open, .parked = w->parked, .queued = w->queued,
		 .untaken_ms = w->untaken_ms},
	};
	struct alert_change *changes;
	struct arena arena;
	size_t count;

	w->fired = w->risen = w->resolved = 0;
	stats_view(stats_of_space(w->stats, 1), STATS_5M, w->now_ms, &view[0]);
	stats_view(stats_of_space(w->stats, 1), STATS_24H, w->now_ms, &view[1]);
	stats_view(stats_of_target(w->stats, 1, STR("coder")), STATS_5M, w->now_ms, &view[2]);
	arena_init(&arena);
	count = alerts_evaluate(w->alerts, subjects, w->is_forgotten ? 0 : 2, &arena, &changes);
	for (size_t i = 0; i < count; i++)
		write_down(w, &changes[i]);
	arena_release(&arena);
}

static void happen(struct world *w, int kind, int64_t attempt, double first, double second)
{
	struct event_row e = {.space = 1,
			      .at_ms = w->now_ms,
			      .kind = kind,
			      .attempt = attempt,
			      .agent = STR("coder"),
			      .value = {first, second}};

	stats_add(w->stats, &e, false);
}

static void pack(struct world *w, int count, double completeness, double utilization, int64_t hop)
{
	for (int i = 0; i < count; i++)
		happen(w, EVENT_ENVELOPE_PACKED, hop, completeness, utilization);
}

static void hand_over(struct world *w, int count, double latency_ms)
{
	for (int i = 0; i < count; i++) {
		happen(w, EVENT_QUEUED, 1, 0, 0);
		happen(w, EVENT_ACKED, 1, latency_ms, 0);
	}
}

static void exhaust(struct world *w, int count)
{
	for (int i = 0; i < count; i++) {
		happen(w, EVENT_QUEUED, 1, 0, 0);
		happen(w, EVENT_NACKED, 3, 0, 1);
	}
}

/* The newest row of that name; NULL where it never fired. */
static const struct alert_row *newest(struct world *w, const char *name)
{
	for (size_t i = w->row_count; i > 0; i--)
		if (str_is(w->rows[i - 1].name, name))
			return &w->rows[i - 1];
	return NULL;
}

static void assert_fires(struct world *w, const char *name, enum alert_severity severity)
{
	const struct alert_row *row;

	look(w);
	row = newest(w, name);
	assert_non_null(row);
	assert_int_equal(row->resolved_at_ms, 0);
	assert_int_equal(row->since_ms, w->now_ms);
	assert_int_equal(row->severity, severity);
	/* Once. */
	w->now_ms += 1000;
	look(w);
	assert_int_equal(w->fired + w->risen + w->resolved, 0);
}

static void assert_resolves(struct world *w, const char *name)
{
	assert_int_equal(newest(w, name)->resolved_at_ms, 0);
	look(w);
	assert_int_equal(newest(w, name)->resolved_at_ms, w->now_ms);
	look(w);
	assert_int_equal(w->fired + w->risen + w->resolved, 0);
}

static void assert_quiet(struct world *w)
{
	look(w);
	assert_int_equal(w->fired + w->risen + w->resolved, 0);
	assert_int_equal(alerts_firing(w->alerts), 0);
}

/* --- The rows of the table --- */

static void one_failed_handoff_is_told(void **state)
{
	struct world *w = *state;

	exhaust(w, 1);
	assert_fires(w, "handoff_failed", ALERT_INFO);
	assert_int_equal(w->row_count, 1);
	w->now_ms += 4 * MINUTE;
	look(w);
	assert_int_equal(newest(w, "handoff_failed")->resolved_at_ms, 0);
	w->now_ms += 2 * MINUTE;
	assert_resolves(w, "handoff_failed");
}

static void a_failed_handoff_is_told_until_the_agent_has_accepted_one(void **state)
{
	struct world *w = *state;

	exhaust(w, 1);
	w->failures_in_row = 1;
	assert_fires(w, "handoff_failed", ALERT_INFO);
	w->now_ms += 60 * MINUTE;
	look(w);
	assert_int_equal(w->resolved, 0);
	w->failures_in_row = 0;
	assert_resolves(w, "handoff_failed");
}

static void parked_work_warns_until_there_is_none(void **state)
{
	struct world *w = *state;

	w->parked = 58;
	assert_fires(w, "handoffs_parked", ALERT_WARNING);
	w->now_ms += STATS_DAY_MS;
	w->parked = 1;
	look(w);
	assert_int_equal(w->fired + w->risen + w->resolved, 0);
	w->parked = 0;
	assert_resolves(w, "handoffs_parked");
}

static void a_queue_that_nobody_takes_from_for_five_minutes_warns(void **state)
{
	struct world *w = *state;

	w->queued = 7;
	w->untaken_ms = 5 * MINUTE - 1;
	assert_quiet(w);
	w->untaken_ms = 5 * MINUTE;
	assert_fires(w, "queue_stuck", ALERT_WARNING);
	w->untaken_ms = 0;
	assert_resolves(w, "queue_stuck");
}

static void what_is_firing_tells_the_figures_of_now(void **state)
{
	struct alert_subject s = {.space = 1, .agent = STR("coder"), .parked = 3, .queued = 1,
				  .untaken_ms = 12 * MINUTE};
	struct stats_view view = {.counts = {.packed = 30}, .completeness_mean = 0.5};
	struct arena arena;
	struct str summary = STR_NULL;
	double value = 0;

	(void)state;
	arena_init(&arena);
	assert_true(alert_now(&alert_rules_default, ALERT_HANDOFFS_PARKED, &s, &arena, &value, &summary));
	assert_true(value == 3 && str_is(summary, "3 handoffs of coder are parked: a person must decide"));
	s.parked = 1;
	assert_true(alert_now(&alert_rules_default, ALERT_HANDOFFS_PARKED, &s, &arena, &value, &summary));
	assert_true(value == 1 && str_is(summary, "1 handoff of coder is parked: a person must decide"));
	s.parked = 0;
	assert_false(alert_now(&alert_rules_default, ALERT_HANDOFFS_PARKED, &s, &arena, &value, &summary));
	assert_true(alert_now(&alert_rules_default, ALERT_QUEUE_STUCK, &s, &arena, &value, &summary));
	assert_true(str_is(summary, "1 handoff waits for coder, and nobody has taken one for 12 minutes"));
	/* Nothing has happened: there are no figures of now. */
	assert_false(alert_now(&alert_rules_default, ALERT_COMPLETENESS_LOW, &s, &arena, &value, &summary));
	s.view = &view;
	assert_true(alert_now(&alert_rules_default, ALERT_COMPLETENESS_LOW, &s, &arena, &value, &summary));
	assert_true(value == 0.5);
	arena_release(&arena);
}

static void an_alert_links_to_the_page_where_it_is_mended(void **state)
{
	struct alert_row row = {.name = STR("handoffs_parked"), .agent = STR("the coder/1")};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_true(str_is(alert_url(&row, STR("default"), &arena), "/#/default/parked?agent=the%20coder%2F1"));
	row = (struct alert_row){.name = STR("queue_stuck"), .agent = STR("coder")};
	assert_true(str_is(alert_url(&row, STR("a b"), &arena), "/#/a%20b/queues?agent=coder"));
	row = (struct alert_row){.name = STR("hop_depth_high")};
	assert_true(str_is(alert_url(&row, STR("default"), &arena), "/#/default/tasks"));
	for (int kind = 0; kind < ALERT_KIND_COUNT; kind++) {
		row.name = str_of(alert_kind_name((enum alert_kind)kind));
		assert_true(str_has_prefix(alert_url(&row, STR("default"), &arena), STR("/#/default/")));
		assert_false(str_has_prefix(alert_url(&row, STR("default"), &arena), STR("/#/default/(null)")));
	}
	arena_release(&arena);
}

static void three_failures_in_a_row_warn_until_one_is_acked(void **state)
{
	struct world *w = *state;

	w->failures_in_row = 2;
	assert_quiet(w);
	w->failures_in_row = 3;
	assert_fires(w, "consecutive_failures", ALERT_WARNING);
	assert_true(newest(w, "consecutive_failures")->value == 3 && newest(w, "consecutive_failures")->threshold == 3);
	w->now_ms += STATS_DAY_MS;
	look(w);
	assert_int_equal(newest(w, "consecutive_failures")->resolved_at_ms, 0);
	w->failures_in_row = 0;
	assert_resolves(w, "consecutive_failures");
}

static void low_completeness_warns(void **state)
{
	struct world *w = *state;

	pack(w, 40, 0.94, 0.5, 1);
	assert_fires(w, "completeness_low", ALERT_WARNING);
	assert_null(newest(w, "completeness_critical"));
	pack(w, 1000, 1, 0.5, 1);
	assert_resolves(w, "completeness_low");
}

static void very_low_completeness_over_all_handoffs_is_critical(void **state)
{
	struct world *w = *state;

	pack(w, 40, 0.79, 0.5, 1);
	assert_fires(w, "completeness_critical", ALERT_CRITICAL);
	assert_null(newest(w, "completeness_critical")->agent.p);
	/* Quiet is not good. */
	w->now_ms += 60 * MINUTE;
	look(w);
	assert_int_equal(w->resolved, 0);
	pack(w, 1, 1, 0.5, 1);
	assert_resolves(w, "completeness_critical");
}

static void what_nothing_is_known_of_for_a_day_is_over(void **state)
{
	struct world *w = *state;

	pack(w, 40, 0.79, 0.5, 1);
	assert_fires(w, "completeness_critical", ALERT_CRITICAL);
	w->is_forgotten = true;
	look(w);
	assert_int_equal(alerts_firing(w->alerts), 0);
}

static void the_failure_rate_is_one_alert_whose_severity_rises(void **state)
{
	struct world *w = *state;

	hand_over(w, 990, 5);
	exhaust(w, 10);
	look(w);
	assert_int_equal(newest(w, "failure_rate_high")->severity, ALERT_WARNING);
	assert_true(newest(w, "failure_rate_high")->threshold == 0.005);
	exhaust(w, 20);
	w->now_ms += 1000;
	look(w);
	assert_int_equal(w->risen, 1);
	assert_int_equal(w->fired, 0);
	assert_int_equal(newest(w, "failure_rate_high")->severity, ALERT_CRITICAL);
	assert_true(newest(w, "failure_rate_high")->threshold == 0.02);
	look(w);
	assert_int_equal(w->risen, 0);
	hand_over(w, 20000, 5);
	assert_resolves(w, "failure_rate_high");
}

static void an_open_breaker_is_critical_until_it_is_closed(void **state)
{
	struct world *w = *state;
	enum alert_kind kind;

	w->failures_in_row = 3;
	w->breaker_is_open = true;
	assert_fires(w, "breaker_open", ALERT_CRITICAL);
	assert_true(alert_kind_find(STR("breaker_open"), &kind) && alert_kind_pages(kind));
	w->failures_in_row = 0;
	w->breaker_is_open = false;
	assert_resolves(w, "breaker_open");
}

static void a_half_open_breaker_goes_on_until_it_is_closed(void **state)
{
	struct world *w = *state;

	w->breaker_is_open = true;
	assert_fires(w, "breaker_open", ALERT_CRITICAL);
	w->breaker_is_open = false;
	w->breaker_is_half_open = true;
	look(w);
	assert_int_equal(w->resolved, 0);
	/* What it let through failed: the same trouble, told once. */
	w->breaker_is_half_open = false;
	w->breaker_is_open = true;
	look(w);
	assert_int_equal(w->fired + w->risen + w->resolved, 0);
	w->breaker_is_open = false;
	w->breaker_is_half_open = true;
	/* That nobody sends anything does not end it. */
	w->now_ms += STATS_DAY_MS;
	look(w);
	assert_int_equal(w->resolved, 0);
	w->breaker_is_half_open = false;
	assert_resolves(w, "breaker_open");
	/* Who tries it again does not raise it; only its opening does. */
	w->breaker_is_half_open = true;
	assert_quiet(w);
	w->breaker_is_half_open = false;
	w->breaker_is_open = true;
	assert_fires(w, "breaker_open", ALERT_CRITICAL);
}

static void a_probe_that_takes_long_keeps_the_alert(void **state)
{
	struct world *w = *state;

	w->breaker_is_open = true;
	assert_fires(w, "breaker_open", ALERT_CRITICAL);
	w->breaker_is_open = false;
	w->breaker_is_half_open = true;
	w->now_ms += STATS_DAY_MS;
	look(w);
	assert_int_equal(w->resolved, 0);
}

static void slow_acks_warn(void **state)
{
	struct world *w = *state;

	hand_over(w, 90, 20);
	hand_over(w, 10, 16000);
	assert_fires(w, "latency_high", ALERT_WARNING);
	assert_true(newest(w, "latency_high")->threshold == 15000);
	hand_over(w, 2000, 20);
	assert_resolves(w, "latency_high");
}

static void a_budget_that_is_always_used_up_warns(void **state)
{
	struct world *w = *state;

	pack(w, 30, 1, 1, 1);
	assert_fires(w, "utilization_pinned", ALERT_WARNING);
	pack(w, 100, 1, 0.6, 1);
	assert_resolves(w, "utilization_pinned");
}

static void a_budget_that_somebody_chose_and_that_is_hardly_used_is_told(void **state)
{
	struct world *w = *state;

	/* The default is nobody's choice. */
	pack(w, 300, 1, -0.05, 1);
	assert_quiet(w);
	pack(w, 30, 1, 0.29, 1);
	assert_fires(w, "utilization_low", ALERT_INFO);
	pack(w, 30, 1, 0.5, 1);
	assert_resolves(w, "utilization_low");
}

static void hops_above_the_usual_warn(void **state)
{
	struct world *w = *state;

	pack(w, 200, 1, 0.5, 2);
	assert_quiet(w);
	w->now_ms += 20 * MINUTE;
	pack(w, 30, 1, 0.5, 3);
	assert_quiet(w);		/* one more is not above it yet */
	pack(w, 100, 1, 0.5, 5);
	assert_fires(w, "hop_depth_high", ALERT_WARNING);
	w->now_ms += 6 * MINUTE;
	look(w);
	assert_int_equal(w->resolved, 0);
	pack(w, 30, 1, 0.5, 2);
	assert_resolves(w, "hop_depth_high");
}

/* --- Quiet --- */

static void a_quiet_system_raises_none(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 3 * 24 * 60; i++) {
		/* One every two minutes: far too few to judge by, whatever they are like. */
		if (i % 2 == 0) {
			pack(w, 1, 0.5, i % 4 ? 0.01 : 1, 1 + i % 9);
			hand_over(w, 1, 60000);
		}
		assert_quiet(w);
		w->now_ms += MINUTE;
	}
}

static void a_busy_and_healthy_system_raises_none(void **state)
{
	struct world *w = *state;

	for (int i = 1; i < 600; i++) {
		pack(w, 20, i % 50 ? 1 : 0.9, 0.4 + (i % 5) * 0.1, 1 + i % 4);
		hand_over(w, 20, 10 + i % 100);
		assert_quiet(w);
		w->now_ms += 10000;
	}
}

static void a_figure_at_its_threshold_does_not_flutter(void **state)
{
	struct world *w = *state;
	size_t changes = 0;
	double sum = 0.949 * 100;
	int count = 100;

	pack(w, count, 0.949, 0.5, 1);
	look(w);
	assert_int_equal(w->fired, 1);
	for (int i = 0; i < 40; i++) {
		/* As many again, so that the mean is just above the threshold, or just below. */
		double completeness = ((i % 2 ? 0.949 : 0.951) * (count + 100) - sum) / 100;

		pack(w, 100, completeness, 0.5, 1);
		sum += completeness * 100;
		count += 100;
		look(w);
		changes += w->fired + w->resolved;
		w->now_ms += 1000;
	}
	assert_int_equal(changes, 0);
}

/* --- The rules --- */

static const struct alert_rule *rule_of(const struct alert_rule *rules, enum alert_kind kind,
					enum alert_severity severity)
{
	for (size_t i = 0; i < ALERT_RULES_MAX; i++)
		if (rules[i].kind == kind && rules[i].severity == severity)
			return &rules[i];
	fail();
	return NULL;
}

static void every_kind_has_a_rule_that_can_be_told(void **state)
{
	struct alert_rule rules[ALERT_RULES_MAX];
	struct alert_rules set = alert_rules_default;

	(void)state;
	set.latency_p99_ms = 1234;
	set.failure_rate_critical = 0.25;
	assert_int_equal(alert_rules_list(&set, NULL, NULL, rules), ALERT_RULES_MAX);
	for (int kind = 0; kind < ALERT_KIND_COUNT; kind++) {
		size_t count = 0;

		for (size_t i = 0; i < ALERT_RULES_MAX; i++)
			if (rules[i].kind == (enum alert_kind)kind) {
				count++;
				assert_non_null(rules[i].measures);
				assert_non_null(rules[i].unit);
				assert_true(rules[i].has_threshold == (kind != ALERT_HOP_DEPTH_HIGH));
			}
		assert_int_equal(count, kind == ALERT_FAILURE_RATE_HIGH ? 2 : 1);
	}
	assert_true(rule_of(rules, ALERT_LATENCY_HIGH, ALERT_WARNING)->threshold == 1234);
	assert_true(rule_of(rules, ALERT_FAILURE_RATE_HIGH, ALERT_WARNING)->threshold == 0.005);
	assert_true(rule_of(rules, ALERT_FAILURE_RATE_HIGH, ALERT_CRITICAL)->threshold == 0.25);
}

static void the_rule_of_the_hops_has_the_threshold_at_which_the_alert_fires(void **state)
{
	struct world *w = *state;
	struct alert_rule rules[ALERT_RULES_MAX];
	struct stats_view view, day;
	const struct alert_rule *rule;

	pack(w, 200, 1, 0.5, 2);
	w->now_ms += 20 * MINUTE;
	pack(w, 100, 1, 0.5, 5);
	stats_view(stats_of_space(w->stats, 1), STATS_5M, w->now_ms, &view);
	stats_view(stats_of_space(w->stats, 1), STATS_24H, w->now_ms, &day);
	alert_rules_list(&alert_rules_default, &view, &day, rules);
	rule = rule_of(rules, ALERT_HOP_DEPTH_HIGH, ALERT_WARNING);
	assert_true(rule->has_threshold);
	assert_fires(w, "hop_depth_high", ALERT_WARNING);
	assert_true(newest(w, "hop_depth_high")->threshold == rule->threshold);
}

/* --- Restart --- */

static void what_fired_before_a_restart_does_not_fire_again_and_is_over_when_it_is(void **state)
{
	struct world *w = *state;
	size_t before;

	w->failures_in_row = 4;
	w->breaker_is_open = true;
	exhaust(w, 4);
	look(w);
	before = w->row_count;
	assert_int_equal(before, 3);
	alerts_free(w->alerts);
	w->alerts = alerts_new(&alert_rules_default);
	for (size_t i = 0; i < w->row_count; i++)
		alerts_restore(w->alerts, &w->rows[i]);
	alerts_restore(w->alerts, &(struct alert_row){.id = 9, .space = 1, .name = STR("of_a_later_version")});
	assert_int_equal(alerts_firing(w->alerts), 3);
	assert_int_equal(alerts_firing_of(w->alerts, ALERT_CRITICAL), 1);
	look(w);
	assert_int_equal(w->fired + w->risen + w->resolved, 0);
	w->failures_in_row = 0;
	w->breaker_is_open = false;
	w->now_ms += 6 * MINUTE;
	look(w);
	assert_int_equal(w->resolved, 3);
	assert_int_equal(alerts_firing(w->alerts), 0);
	assert_int_equal(w->row_count, before);
}

static void what_could_not_be_written_is_said_again(void **state)
{
	struct world *w = *state;
	struct alert_subject subject = {.space = 1, .agent = STR("coder"), .breaker_is_open = true};
	struct alert_change *changes;
	struct arena arena;

	arena_init(&arena);
	assert_int_equal(alerts_evaluate(w->alerts, &subject, 1, &arena, &changes), 1);
	assert_int_equal(alerts_evaluate(w->alerts, &subject, 1, &arena, &changes), 1);
	assert_int_equal(changes[0].what, ALERT_FIRES);
	alerts_apply(w->alerts, &changes[0], 1);
	assert_int_equal(alerts_evaluate(w->alerts, &subject, 1, &arena, &changes), 0);
	/* Of a subject that nothing is known of any more, nothing is wrong. */
	assert_int_equal(alerts_evaluate(w->alerts, NULL, 0, &arena, &changes), 1);
	assert_int_equal(changes[0].what, ALERT_RESOLVES);
	alerts_apply(w->alerts, &changes[0], 1);
	arena_release(&arena);
}

static void there_is_a_bound_on_what_fires_at_a_time(void **state)
{
	struct world *w = *state;
	struct alert_subject *subjects = mem_calloc(3000, sizeof(*subjects));
	struct alert_change *changes;
	struct arena arena;
	size_t count;

	arena_init(&arena);
	for (int i = 0; i < 3000; i++)
		subjects[i] = (struct alert_subject){
			.space = 1, .agent = arena_printf(&arena, "agent-%d", i), .breaker_is_open = true};
	count = alerts_evaluate(w->alerts, subjects, 3000, &arena, &changes);
	assert_int_equal(count, ALERTS_FIRING_MAX);
	for (size_t i = 0; i < count; i++)
		alerts_apply(w->alerts, &changes[i], (int64_t)i + 1);
	assert_int_equal(alerts_evaluate(w->alerts, subjects, 3000, &arena, &changes), 0);
	arena_release(&arena);
	free(subjects);
}

#define with_world(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(one_failed_handoff_is_told),
		with_world(a_failed_handoff_is_told_until_the_agent_has_accepted_one),
		with_world(parked_work_warns_until_there_is_none),
		with_world(a_queue_that_nobody_takes_from_for_five_minutes_warns),
		with_world(what_is_firing_tells_the_figures_of_now),
		with_world(an_alert_links_to_the_page_where_it_is_mended),
		with_world(what_nothing_is_known_of_for_a_day_is_over),
		with_world(three_failures_in_a_row_warn_until_one_is_acked),
		with_world(low_completeness_warns),
		with_world(very_low_completeness_over_all_handoffs_is_critical),
		with_world(the_failure_rate_is_one_alert_whose_severity_rises),
		with_world(an_open_breaker_is_critical_until_it_is_closed),
		with_world(a_half_open_breaker_goes_on_until_it_is_closed),
		with_world(a_probe_that_takes_long_keeps_the_alert),
		with_world(every_kind_has_a_rule_that_can_be_told),
		with_world(the_rule_of_the_hops_has_the_threshold_at_which_the_alert_fires),
		with_world(slow_acks_warn),
		with_world(a_budget_that_is_always_used_up_warns),
		with_world(a_budget_that_somebody_chose_and_that_is_hardly_used_is_told),
		with_world(hops_above_the_usual_warn),
		with_world(a_quiet_system_raises_none),
		with_world(a_busy_and_healthy_system_raises_none),
		with_world(a_figure_at_its_threshold_does_not_flutter),
		with_world(what_fired_before_a_restart_does_not_fire_again_and_is_over_when_it_is),
		with_world(what_could_not_be_written_is_said_again),
		with_world(there_is_a_bound_on_what_fires_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
