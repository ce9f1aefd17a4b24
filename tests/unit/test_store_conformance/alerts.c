/* Alerts, and what is to be watched of delivery. */
#include "conformance.h"

static struct alert_row alert(int64_t space, const char *name, const char *agent, int64_t since_ms)
{
	return (struct alert_row){.space = space, .name = str_of(name), .agent = str_of(agent), .severity = 1,
				  .value = 0.25, .threshold = 0.5, .summary = STR("süm"), .since_ms = since_ms};
}

static enum store_status put(struct temp_store *t, struct alert_row *row)
{
	enum store_status status;

	must(store_begin(t->c));
	status = store_alert_put(t->c, row);
	must(store_commit(t->c));
	return status;
}

static int64_t add(struct temp_store *t, int64_t space, const char *name, int64_t resolved_at_ms, bool is_untold)
{
	struct alert_row row = alert(space, name, NULL, T0);

	row.resolved_at_ms = resolved_at_ms;
	row.is_untold = is_untold;
	must(put(t, &row));
	return row.id;
}

/* The ids of a list, as text. */
static const char *list(struct temp_store *t, int64_t space, enum alerts_wanted wanted, int64_t before, size_t max)
{
	struct alert_row rows[8];
	struct buf text;
	const char *result;
	size_t n = 99;

	buf_init(&text, 4096);
	must(store_alerts(t->c, space, wanted, before, max, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%lld", i ? " " : "", (long long)rows[i].id);
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

static void an_alert_is_made_and_changed_but_not_what_it_is_about(void **state)
{
	struct temp_store *t = *state;
	struct alert_row row = alert(t->space, "late", "ann", T0), r = {.id = 77};

	assert_int_equal(store_alert_get(t->c, 1, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(r.id, 77);
	must(put(t, &row));
	assert_int_equal(row.id, 1);
	conformance_reopen(t);
	must(store_alert_get(t->c, 1, &t->arena, &r));
	assert_true(r.space == t->space && r.severity == 1 && r.value == 0.25 && r.threshold == 0.5);
	assert_true(r.since_ms == T0 && r.resolved_at_ms == 0 && r.silenced_until_ms == 0 && !r.is_untold);
	assert_str(r.name, "late");
	assert_str(r.agent, "ann");
	assert_str(r.summary, "süm");
	assert_null(r.acknowledged_by.p);
	row = (struct alert_row){
		.id = 1, .space = 9, .name = STR("x"), .agent = STR_NULL, .severity = 2, .value = 3, .threshold = 4,
		.summary = STR("worse"), .since_ms = 5, .resolved_at_ms = T0 + 6, .acknowledged_by = STR("bob"),
		.acknowledged_at_ms = T0 + 7, .silenced_until_ms = T0 + 8, .silenced_by = STR("cid"),
		.silenced_why = STR("noise"), .is_untold = true,
	};
	must(put(t, &row));
	must(store_alert_get(t->c, 1, &t->arena, &r));
	assert_true(r.space == t->space && r.since_ms == T0 && r.severity == 2 && r.value == 3 && r.threshold == 4);
	assert_true(r.resolved_at_ms == T0 + 6 && r.acknowledged_at_ms == T0 + 7 && r.silenced_until_ms == T0 + 8);
	assert_str(r.name, "late");
	assert_str(r.agent, "ann");
	assert_str(r.summary, "worse");
	assert_str(r.acknowledged_by, "bob");
	assert_str(r.silenced_by, "cid");
	assert_str(r.silenced_why, "noise");
	assert_true(r.is_untold);
}

static void alerts_are_listed_the_newest_first_by_what_is_wanted_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");

	assert_string_equal(list(t, 0, ALERTS_ALL, 0, 8), "");
	add(t, t->space, "a", 0, false);
	add(t, t->space, "b", T0, true);
	add(t, other, "c", 0, true);
	add(t, t->space, "d", T0, false);
	assert_string_equal(list(t, 0, ALERTS_ALL, 0, 8), "4 3 2 1");
	assert_string_equal(list(t, 0, ALERTS_ALL, 0, 3), "4 3 2");
	assert_string_equal(list(t, 0, ALERTS_ALL, 2, 3), "1");
	assert_string_equal(list(t, 0, ALERTS_ALL, 1, 3), "");
	assert_string_equal(list(t, t->space, ALERTS_ALL, 0, 8), "4 2 1");
	assert_string_equal(list(t, 0, ALERTS_FIRING, 0, 8), "3 1");
	assert_string_equal(list(t, 0, ALERTS_RESOLVED, 4, 8), "2");
	assert_string_equal(list(t, 0, ALERTS_UNTOLD, 0, 8), "3 2");
	assert_string_equal(list(t, other, ALERTS_UNTOLD, 0, 8), "3");
}

static void the_last_alert_is_that_of_the_name_and_the_subject(void **state)
{
	struct temp_store *t = *state;
	struct alert_row whole = alert(t->space, "late", NULL, T0), again = whole, ann = whole, r;

	ann.agent = STR("ann");
	must(put(t, &whole));
	must(put(t, &again));
	must(put(t, &ann));
	must(store_alert_last(t->c, t->space, STR("late"), STR_NULL, &t->arena, &r));
	assert_int_equal(r.id, again.id);
	must(store_alert_last(t->c, t->space, STR("late"), STR("ann"), &t->arena, &r));
	assert_int_equal(r.id, ann.id);
	assert_int_equal(store_alert_last(t->c, t->space, STR("late"), STR("bob"), &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_alert_last(t->c, t->space, STR("lat"), STR_NULL, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_alert_last(t->c, t->space + 1, STR("late"), STR_NULL, &t->arena, &r), STORE_NOT_FOUND);
}

static void of_old_alerts_those_are_kept_that_fire_or_are_untold(void **state)
{
	struct temp_store *t = *state;
	struct alert_row r;

	must(store_begin(t->c));
	for (int i = 1; i <= 10004; i++) {
		struct alert_row row = alert(t->space, "a", NULL, T0);

		row.resolved_at_ms = i == 2 ? 0 : T0;
		row.is_untold = i == 3;
		must(store_alert_put(t->c, &row));
		assert_int_equal(row.id, i);
	}
	must(store_commit(t->c));
	for (int i = 1; i <= 6; i++)
		assert_int_equal(store_alert_get(t->c, i, &t->arena, &r),
				 i == 1 || i == 4 ? STORE_NOT_FOUND : STORE_OK);
}

/* --- Queues --------------------------------------------------------------------------------------- */

static void note_queue(void *ctx, const struct queue_row *row)
{
	buf_printf(ctx, "%.*s %lld: %lld %lld %lld %lld, %lld %lld; ", STR_ARG(row->name), (long long)row->space,
		   (long long)row->counts.queued, (long long)row->counts.leased, (long long)row->counts.working,
		   (long long)row->counts.parked, (long long)row->target.failures,
		   (long long)row->target.open_until_ms);
}

static void add_handoff(struct temp_store *t, uint64_t envelope, int64_t agent, enum handoff_state handoff_state)
{
	struct handoff_row h = {.space = t->space, .envelope = envelope, .target = agent, .agent = agent,
				.state = handoff_state, .due_ms = handoff_state < HANDOFF_ACKED ? T0 : 0};

	must(store_handoff_insert(t->c, &h));
}

static void agents_that_there_is_something_to_say_of_are_told_in_the_order_of_their_ids(void **state)
{
	static const char *const names[] = {"zoe", "idle", "done", "bad", "open", "seen"};
	struct temp_store *t = *state;
	int64_t ids[6];
	struct buf text;

	buf_init(&text, 4096);
	must(store_begin(t->c));
	for (int i = 0; i < 6; i++)
		must(store_agent_id(t->c, t->space, str_of(names[i]), true, T0, &ids[i]));
	for (int i = 0; i < HANDOFF_STATES; i++)
		add_handoff(t, 1 + (uint64_t)i, ids[0], (enum handoff_state)i);
	add_handoff(t, 20, ids[2], HANDOFF_COMPLETED);
	must(store_target_put(t->c, ids[3], &(struct target_row){.failures = 2}));
	must(store_target_put(t->c, ids[4], &(struct target_row){.open_until_ms = 7}));
	must(store_target_put(t->c, ids[5], &(struct target_row){.seen_at_ms = 7}));
	must(store_commit(t->c));
	must(store_queues(t->c, note_queue, &text));
	assert_string_equal(buf_str(&text).p, "zoe 1: 2 1 1 1, 0 0; bad 1: 0 0 0 0, 2 0; open 1: 0 0 0 0, 0 7; ");
	buf_release(&text);
}

static const struct CMUnitTest alerts[] = {
	with_engine(an_alert_is_made_and_changed_but_not_what_it_is_about),
	with_engine(alerts_are_listed_the_newest_first_by_what_is_wanted_and_in_pieces),
	with_engine(the_last_alert_is_that_of_the_name_and_the_subject),
	with_engine(of_old_alerts_those_are_kept_that_fire_or_are_untold),
	with_engine(agents_that_there_is_something_to_say_of_are_told_in_the_order_of_their_ids),
};

CONFORMANCE_PART(alerts);
