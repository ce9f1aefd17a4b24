/* engine/retention.h: what is old goes by the engine's clock, step by step, and nothing else does. */
#include "temp_store.h"

#include "engine/engine.h"
#include "engine/retention.h"

enum { HOUR_MS = 3600 * 1000, STEPS_MAX = 2000 };

static int64_t now_ms;

static int64_t clock_now(void *ctx)
{
	(void)ctx;
	return now_ms;
}

static struct engine *open_engine(struct temp_store *t, int64_t handoffs_ms, int64_t events_ms)
{
	static struct log log;
	struct engine_config config = {
		.data_dir = t->dir, .log = &log, .key_ttl_ms = 60000, .max_queue = 100, .seed = 7, .token_entries = 16,
		.rules = alert_rules_default, .is_stepped = true, .now_ms = clock_now,
		.keep = {.handoffs_ms = handoffs_ms, .events_ms = events_ms},
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_store_setup, temp_store_teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_a_time_nothing_is_stepped),
		TEST(what_has_ended_goes_when_its_time_is_over_and_in_steps),
		TEST(an_event_that_somebody_is_not_done_with_stays),
		TEST(a_sweep_that_was_broken_off_is_taken_up_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
