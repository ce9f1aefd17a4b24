/* engine/retention.h: what is old goes by the engine's clock, step by step, and nothing else does. */
#include "temp_store.h"

#include "engine/engine.h"
#include "engine/retention.h"
#include "engine/watch/event_list.h"

enum { DELETED = 61, MINUTE_MS = 60 * 1000, HOUR_MS = 3600 * 1000, STEPS_MAX = 2000 };

static int64_t now_ms;

static int64_t clock_now(void *ctx)
{
	(void)ctx;
	return now_ms;
}

static struct engine *open_keeping(struct temp_store *t, struct space_keep keep)
{
	static struct log log;
	struct engine_config config = {
		.data_dir = t->dir, .log = &log, .key_ttl_ms = 60000, .max_queue = 100, .seed = 7, .token_entries = 16,
		.rules = alert_rules_default, .is_stepped = true, .now_ms = clock_now,
		.keep = keep,
	};
	struct engine *e;

	log_init(&log, STDERR_FILENO, LOG_ERROR, LOG_TEXT);
	store_close(t->c);
	t->c = NULL;
	e = engine_open(&config, &t->error);
	assert_non_null(e);
	engine_start(e);
	return e;
}

static struct engine *open_engine(struct temp_store *t, int64_t handoffs_ms, int64_t events_ms)
{
	return open_keeping(t, (struct space_keep){.handoffs_ms = handoffs_ms, .events_ms = events_ms});
}

static void close_engine(struct temp_store *t, struct engine *e)
{
	engine_stop(e);
	engine_free(e);
	t->c = temp_store_open(t, STORE_WRITE);
}

/* Steps while the engine wants to be stepped within the next second. */
static size_t run(struct engine *e)
{
	size_t steps = 0;

	for (int64_t wake = engine_wake_at(e); wake && wake <= now_ms + 900; wake = engine_wake_at(e), steps++) {
		now_ms = wake > now_ms ? wake : now_ms;
		engine_step(e);
		assert_true(steps < STEPS_MAX);
	}
	return steps;
}

/* So many handoffs, each with an envelope and an event, that changed at that time. */
static void add(struct temp_store *t, uint64_t from, uint64_t count, enum handoff_state state, int64_t at_ms)
{
	int64_t agent = 0;

	must(store_begin(t->c));
	must(store_agent_id(t->c, t->space, STR("a"), true, T0, &agent));
	for (uint64_t num = from; num < from + count; num++) {
		struct envelope_row e = {.space = t->space, .num = num, .task = STR("task"), .hop = 1,
					 .parent = num - 1, .created_at_ms = at_ms, .body = STR("{}")};
		struct handoff_row h = {.space = t->space, .envelope = num, .created_at_ms = at_ms, .target = agent,
					.agent = agent, .state = state, .attempt = 1, .max_attempts = 3,
					.changed_at_ms = at_ms};
		struct event_row event = {.space = t->space, .at_ms = at_ms, .kind = 1, .envelope = num};

		must(store_envelope_insert(t->c, &e));
		must(store_handoff_insert(t->c, &h));
		event.handoff = h.num;
		must(store_event_add(t->c, &event));
	}
	must(store_commit(t->c));
}

static size_t handoffs(struct temp_store *t)
{
	struct handoff_filter filter = {.space = t->space};
	struct handoff_row *rows = arena_calloc(&t->arena, 1000, sizeof(*rows));
	size_t n;

	must(store_handoffs(t->c, &filter, 0, 1000, &t->arena, rows, &n));
	return n;
}

static size_t events(struct temp_store *t, int kind)
{
	struct event_row *rows = arena_calloc(&t->arena, 2000, sizeof(*rows));
	size_t n, count = 0;

	must(store_events(t->c, t->space, 0, 0, 2000, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		count += rows[i].kind == kind;
	return count;
}

static void without_a_time_nothing_is_stepped(void **state)
{
	struct temp_store *t = *state;
	struct engine *e;

	add(t, 1, 10, HANDOFF_COMPLETED, T0);
	now_ms = T0 + 1000 * (int64_t)HOUR_MS;
	e = open_engine(t, 0, 0);
	assert_int_equal(engine_wake_at(e), 0);
	close_engine(t, e);
	assert_int_equal(handoffs(t), 10);
}

static void what_has_ended_goes_when_its_time_is_over_and_in_steps(void **state)
{
	struct temp_store *t = *state;
	struct pruned_handoff left;
	struct engine *e;

	add(t, 1, 200, HANDOFF_COMPLETED, T0);
	add(t, 201, 5, HANDOFF_PARKED, T0);
	add(t, 206, 7, HANDOFF_ACKED, T0 + HOUR_MS);
	now_ms = T0 + HOUR_MS - 1000;
	e = open_engine(t, HOUR_MS, HOUR_MS);
	run(e);
	close_engine(t, e);
	assert_int_equal(handoffs(t), 212);
	now_ms = T0 + HOUR_MS + 1;
	e = open_engine(t, HOUR_MS, HOUR_MS);
	assert_true(run(e) > 6);
	close_engine(t, e);
	assert_int_equal(handoffs(t), 12);
	assert_int_equal(events(t, 1), 12);		/* of what is parked, and of what is not old */
	assert_int_equal(events(t, 60), 1);		/* what the sweep tells */
	must(store_pruned_handoff(t->c, t->space, 200, &left));
	assert_int_equal(left.state, HANDOFF_COMPLETED);
}

static void an_event_that_somebody_is_not_done_with_stays(void **state)
{
	struct temp_store *t = *state;
	struct retention_hold hold = {.done_with = 3};
	struct engine *e;

	add(t, 1, 10, HANDOFF_COMPLETED, T0);
	now_ms = T0 + 2 * (int64_t)HOUR_MS;
	e = open_engine(t, 0, HOUR_MS);
	retention_hold(e->retention, &hold);
	run(e);
	close_engine(t, e);
	assert_int_equal(events(t, 1), 7);
	assert_int_equal(handoffs(t), 10);
}

static void who_follows_can_tell_what_it_has_missed(void **state)
{
	struct temp_store *t = *state;
	struct event_reading reading;
	struct problem problem = {0};
	struct engine_reader *reader;
	int64_t last = 0, pruned = -1, first = 0;
	struct engine *e;

	must(store_event_last(t->c, t->space, &first));
	add(t, 1, 10, HANDOFF_COMPLETED, T0);
	add(t, 11, 1, HANDOFF_PARKED, T0);
	now_ms = T0 + 2 * (int64_t)HOUR_MS;
	e = open_engine(t, 0, HOUR_MS);
	reader = engine_reader_open(e, &t->error);
	must(event_list_begin(reader, &reading, &last));
	must(event_list_end_of(&reading, t->space, &pruned, &last));
	assert_int_equal(pruned, 0);
	event_list_end(&reading);
	run(e);
	must(event_list_begin(reader, &reading, &last));
	must(event_list_end_of(&reading, t->space, &pruned, &last));
	assert_int_equal(pruned, first + 10);	/* what is parked keeps its history */
	must(event_list_end_of(&reading, t->space + 100, &pruned, &last));
	assert_int_equal(pruned, 0);
	event_list_end(&reading);
	assert_int_equal(event_list_refuse_pruned(&problem, 3, 10), P_EVENTS_PRUNED);
	assert_string_equal(problem.extra_key, "pruned_to");
	assert_int_equal(problem.extra, 10);
	engine_reader_close(reader);
	close_engine(t, e);
}

static void a_sweep_that_was_broken_off_is_taken_up_again(void **state)
{
	struct temp_store *t = *state;
	struct engine *e;

	add(t, 1, 100, HANDOFF_COMPLETED, T0);
	now_ms = T0 + 2 * (int64_t)HOUR_MS;
	e = open_engine(t, HOUR_MS, HOUR_MS);
	engine_step(e);
	engine_step(e);
	close_engine(t, e);
	assert_true(handoffs(t) > 0 && handoffs(t) < 100);
	e = open_engine(t, HOUR_MS, HOUR_MS);
	run(e);
	close_engine(t, e);
	assert_int_equal(handoffs(t), 0);
	assert_int_equal(events(t, 1), 0);
}

/* --- Spaces --- */

/* With spaces that are kept for an hour without a write: some minutes after the start it is that time. */
static struct engine *open_idle_at(struct temp_store *t, int64_t at_ms, int64_t events_ms)
{
	struct engine *e;

	now_ms = at_ms - 3 * MINUTE_MS;
	e = open_keeping(t, (struct space_keep){.events_ms = events_ms, .idle_ms = HOUR_MS});
	run(e);
	now_ms = at_ms;
	return e;
}

/* Runs what is due at that time. */
static void run_idle_at(struct temp_store *t, int64_t at_ms, int64_t events_ms)
{
	struct engine *e = open_idle_at(t, at_ms, events_ms);

	run(e);
	close_engine(t, e);
}

static bool is_there(struct temp_store *t, const char *name)
{
	int64_t id;
	enum store_status status = store_space_find(t->c, str_of(name), &id);

	assert_true(status == STORE_OK || status == STORE_NOT_FOUND);
	return status == STORE_OK;
}

static int64_t make_space(struct temp_store *t, const char *name, int64_t at_ms)
{
	int64_t id = 0;

	must(store_begin(t->c));
	must(store_space_create(t->c, str_of(name), at_ms, &id));
	must(store_commit(t->c));
	return id;
}

static void write_event(struct temp_store *t, int64_t space, int kind, int64_t at_ms)
{
	struct event_row event = {.space = space, .at_ms = at_ms, .kind = kind};

	must(store_begin(t->c));
	must(store_event_add(t->c, &event));
	must(store_commit(t->c));
}

static void a_space_without_writes_goes_and_default_stays(void **state)
{
	struct temp_store *t = *state;
	int64_t idle = make_space(t, "idle", T0), left;

	make_space(t, "empty", T0);
	make_space(t, "newer", T0 + 2);
	if (!is_there(t, "default"))
		make_space(t, "default", T0);
	t->space = idle;
	add(t, 1, 300, HANDOFF_COMPLETED, T0);
	run_idle_at(t, T0 + HOUR_MS - 1000, 0);
	assert_true(is_there(t, "idle") && is_there(t, "empty") && is_there(t, "newer"));
	run_idle_at(t, T0 + HOUR_MS, 0);
	assert_false(is_there(t, "idle"));
	assert_false(is_there(t, "empty"));
	assert_true(is_there(t, "default"));
	assert_int_equal(handoffs(t), 0);		/* its rows are purged, too */
	assert_int_equal(store_space_removed(t->c, &left), STORE_NOT_FOUND);
}

static void a_space_with_something_open_or_parked_stays(void **state)
{
	static const enum handoff_state live[] = {HANDOFF_QUEUED, HANDOFF_DELAYED, HANDOFF_LEASED, HANDOFF_WORKING,
						  HANDOFF_PARKED};
	static const char *const names[] = {"queued", "delayed", "leased", "working", "parked"};
	struct temp_store *t = *state;

	for (size_t i = 0; i < 5; i++) {
		t->space = make_space(t, names[i], T0);
		add(t, 1, 1, live[i], T0);
	}
	t->space = make_space(t, "ended", T0);
	add(t, 1, 1, HANDOFF_ACKED, T0);
	run_idle_at(t, T0 + 100 * (int64_t)HOUR_MS, 0);
	for (size_t i = 0; i < 5; i++)
		assert_true(is_there(t, names[i]));
	assert_false(is_there(t, "ended"));
}

static void the_newest_event_counts_though_events_are_kept_for_less(void **state)
{
	struct temp_store *t = *state;
	int64_t space = make_space(t, "used", T0);

	t->space = space;
	write_event(t, space, 1, T0);
	write_event(t, space, 1, T0 + 30 * MINUTE_MS);
	write_event(t, space, 60, T0 + 31 * MINUTE_MS);	/* what a sweep tells is no write */
	run_idle_at(t, T0 + 60 * MINUTE_MS, MINUTE_MS);
	assert_int_equal(events(t, 1), 1);		/* the newest says since when it is idle */
	run_idle_at(t, T0 + 89 * MINUTE_MS, MINUTE_MS);	/* after a restart, too */
	assert_true(is_there(t, "used"));
	run_idle_at(t, T0 + 91 * MINUTE_MS, MINUTE_MS);
	assert_false(is_there(t, "used"));
}

static void after_a_start_those_who_wait_have_time_to_come_back(void **state)
{
	struct temp_store *t = *state;
	struct engine *e;

	make_space(t, "idle", T0);
	now_ms = T0 + 10 * (int64_t)HOUR_MS;
	e = open_keeping(t, (struct space_keep){.idle_ms = HOUR_MS});
	run(e);
	assert_false(spaces_is_gone(e->spaces, t->space + 1));
	now_ms += 2 * MINUTE_MS;
	run(e);
	close_engine(t, e);
	assert_false(is_there(t, "idle"));
}

static void events_that_went_before_count_as_of_now(void **state)
{
	struct temp_store *t = *state;
	int64_t space = make_space(t, "used", T0);
	struct engine *e;

	t->space = space;
	write_event(t, space, 1, T0 + HOUR_MS);
	now_ms = T0 + 2 * (int64_t)HOUR_MS;
	e = open_engine(t, 0, HOUR_MS / 2);
	run(e);
	close_engine(t, e);
	assert_int_equal(events(t, 1), 0);
	run_idle_at(t, T0 + 2 * (int64_t)HOUR_MS, HOUR_MS / 2);
	assert_true(is_there(t, "used"));
}

/* --- A write in the last moment --- */

struct late_write {
	struct writer_job job;
	int64_t space;
};

static enum store_status run_late(struct writer_job *job, struct store_conn *c, int64_t at_ms)
{
	struct event_row event = {.space = ((struct late_write *)job)->space, .at_ms = at_ms, .kind = 1};

	return store_event_add(c, &event);
}

static void done_late(struct writer_job *job, enum store_status status)
{
	(void)job;
	assert_int_equal(status, STORE_OK);
}

static void a_write_in_the_last_moment_saves_it(void **state)
{
	struct temp_store *t = *state;
	struct late_write late = {.job = {.run = run_late, .done = done_late}};
	struct engine *e;

	late.space = t->space = make_space(t, "used", T0);
	make_space(t, "idle", T0);
	write_event(t, t->space, 1, T0);
	e = open_idle_at(t, T0 + HOUR_MS, 0);
	/* The very transaction that would take it away. */
	writer_submit_always(e->writer, &late.job);
	run(e);
	close_engine(t, e);
	assert_true(is_there(t, "used"));
	assert_false(is_there(t, "idle"));
	assert_int_equal(events(t, 1), 2);
}

static void what_was_the_newest_event_goes_when_another_is(void **state)
{
	struct temp_store *t = *state;
	struct late_write late = {.job = {.run = run_late, .done = done_late}};
	struct engine *e;

	late.space = t->space = make_space(t, "used", T0);
	write_event(t, t->space, 1, T0);
	e = open_idle_at(t, T0 + 30 * MINUTE_MS, MINUTE_MS);
	run(e);
	writer_submit_always(e->writer, &late.job);
	engine_step(e);
	now_ms += 2 * MINUTE_MS;
	run(e);
	close_engine(t, e);
	assert_int_equal(events(t, 1), 1);
	assert_true(is_there(t, "used"));
}

static void who_follows_is_told_why(void **state)
{
	struct temp_store *t = *state;
	struct event_row rows[8];
	struct engine *e;
	size_t n;

	t->space = make_space(t, "idle", T0);
	write_event(t, t->space, 1, T0);
	e = open_idle_at(t, T0 + HOUR_MS, 0);
	for (int i = 0; i < STEPS_MAX && !spaces_is_gone(e->spaces, t->space); i++)
		engine_step(e);
	close_engine(t, e);
	must(store_events(t->c, t->space, 0, 0, 8, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	assert_int_equal(rows[1].kind, DELETED);
	assert_null(rows[1].actor.p);
	assert_true(str_has_prefix(rows[1].note, STR("nothing was written in it since ")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_store_setup, temp_store_teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_a_time_nothing_is_stepped),
		TEST(what_has_ended_goes_when_its_time_is_over_and_in_steps),
		TEST(an_event_that_somebody_is_not_done_with_stays),
		TEST(who_follows_can_tell_what_it_has_missed),
		TEST(a_sweep_that_was_broken_off_is_taken_up_again),
		TEST(a_space_without_writes_goes_and_default_stays),
		TEST(a_space_with_something_open_or_parked_stays),
		TEST(the_newest_event_counts_though_events_are_kept_for_less),
		TEST(events_that_went_before_count_as_of_now),
		TEST(a_write_in_the_last_moment_saves_it),
		TEST(what_was_the_newest_event_goes_when_another_is),
		TEST(after_a_start_those_who_wait_have_time_to_come_back),
		TEST(who_follows_is_told_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
