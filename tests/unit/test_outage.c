/* A bad day, played with the real engine on a store in memory, in simulated time and with default settings: three
 * agents in a row, a task a second, and one of them is away for a while, or a model that answers 529 for two minutes.
 * Every task must be finished in the end, by itself. */
#include "temp_store.h"

#include "engine/delivery/receive.h"
#include "engine/delivery/send.h"
#include "engine/delivery/settle.h"
#include "engine/engine.h"

enum { TASKS = 150, AGENTS = 3, TICK_MS = 50, WORK_MS = 100, SECOND_MS = 1000, DAY_MS = 86400000 };

static const char *const names[AGENTS] = {"planner", "coder", "reviewer"};

struct worker {
	struct handoff_row held;	/* num 0: none */
	int64_t busy_until_ms;
	int64_t away_from_ms, away_to_ms;
	size_t finished, failed;
};

struct day {
	struct engine *e;
	struct engine_reader *reader;
	int64_t now_ms;
	int64_t outage_from_ms, outage_to_ms;	/* every handler raises */
	struct worker workers[AGENTS];
	struct arena arena;
	size_t refused;				/* of what was sent */
};

/* --- Operations, each run to its end --- */

static void post(struct op *op, void (*fn)(void *op))
{
	fn(op);
}

static void finish(struct op *op)
{
	*(bool *)op->ctx = true;
}

static bool is_gone(const struct op *op)
{
	(void)op;
	return false;
}

static void keep(struct op *op, struct kept_reply *ret)
{
	(void)op;
	(void)ret;
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	(void)op;
	(void)wait_ms;
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for, NULL};

static enum problem_code run(struct day *day, struct op *op, const struct op_kind *kind)
{
	bool is_done = false;

	op->kind = kind;
	op->owner = &owner;
	op->ctx = &is_done;
	op->engine = day->e;
	op->reader = day->reader;
	op->arena = &day->arena;
	op->now_ms = day->now_ms;
	op->space_name = STR("default");
	op->wait.is_over = true;
	engine_run(op);
	for (int i = 0; !is_done && i < 10; i++)
		engine_step(day->e);
	assert_true(is_done);
	return op->problem.code;
}

static void send(struct day *day, const char *from, const char *to)
{
	struct packing packing = {.draft = {.from = str_of(from), .to = str_of(to), .summary = STR("the next step")}};
	struct send send = {.pack = &packing, .order = {.priority = -1}};

	if (run(day, &send.op, &send_kind) != P_OK)
		day->refused++;
}

static void settle(struct day *day, struct worker *w, enum handoff_verb verb, struct str text)
{
	struct settle settle = {.one = {
		.num = w->held.num,
		.answer = {.verb = verb, .lease = w->held.leases, .delay_ms = -1, .text = text},
	}};

	assert_int_equal(run(day, &settle.op, &settle_kind), P_OK);
	w->held.num = 0;
}

static void receive(struct day *day, struct worker *w, const char *name)
{
	struct receive receive = {.agent = str_of(name), .max = 1};

	assert_int_equal(run(day, &receive.op, &receive_kind), P_OK);
	if (receive.count == 0)
		return;
	w->held = receive.rows[0];
	w->busy_until_ms = day->now_ms + WORK_MS;
}

/* --- The day --- */

static void work(struct day *day, int i)
{
	struct worker *w = &day->workers[i];
	bool is_away = day->now_ms >= w->away_from_ms && day->now_ms < w->away_to_ms;

	/* Whoever is restarted has lost what it had. */
	if (is_away) {
		w->held.num = 0;
	} else if (w->held.num && day->now_ms >= w->busy_until_ms) {
		if (day->now_ms >= day->outage_from_ms && day->now_ms < day->outage_to_ms) {
			settle(day, w, VERB_NACK, STR("APIStatusError: 529 overloaded"));
			w->failed++;
		} else {
			settle(day, w, VERB_COMPLETE, STR_NULL);
			w->finished++;
			if (i + 1 < AGENTS)
				send(day, names[i], names[i + 1]);
		}
	}
	if (!is_away && w->held.num == 0)
		receive(day, w, names[i]);
}

static int64_t clock_of(void *ctx)
{
	return ((const struct day *)ctx)->now_ms;
}

static void begin(struct day *day, const char *address)
{
	static struct log log;
	struct engine_config config = {
		.data_dir = address, .log = &log, .key_ttl_ms = 60000, .max_queue = 100, .seed = 7,
		.token_entries = 1 << 10, .rules = alert_rules_default, .is_stepped = true, .now_ms = clock_of,
		.ctx = day,
	};
	struct buf error;

	log_init(&log, STDERR_FILENO, LOG_ERROR, LOG_TEXT);
	buf_init(&error, 4096);
	day->now_ms = T0;
	arena_init(&day->arena);
	day->e = engine_open(&config, &error);
	assert_non_null(day->e);
	engine_start(day->e);
	day->reader = engine_reader_open(day->e, &error);
	assert_non_null(day->reader);
	buf_release(&error);
}

static void play(struct day *day, int64_t ms)
{
	int64_t sent_ms = 0;

	for (int64_t at_ms = 0; at_ms < ms; at_ms += TICK_MS) {
		int64_t wake_ms;

		day->now_ms = T0 + at_ms;
		wake_ms = engine_wake_at(day->e);
		if (wake_ms && wake_ms <= day->now_ms)
			engine_step(day->e);
		if (at_ms >= sent_ms && sent_ms < TASKS * SECOND_MS) {
			send(day, "intake", names[0]);
			sent_ms += SECOND_MS;
		}
		for (int i = 0; i < AGENTS; i++)
			work(day, i);
		arena_release(&day->arena);
	}
}

/* All is finished, nothing is left anywhere, and no breaker is open. */
static void check_and_end(struct day *day)
{
	assert_int_equal(day->refused, 0);
	for (int i = 0; i < AGENTS; i++) {
		struct target_counts counts;
		struct target_row target;
		int64_t id;

		must(store_agent_id(day->reader->conn, 1, str_of(names[i]), false, 0, &id));
		must(store_target_counts(day->reader->conn, id, &counts));
		must(store_target_get(day->reader->conn, id, &target));
		assert_int_equal(counts.parked, 0);
		assert_int_equal(counts.queued + counts.leased + counts.working, 0);
		assert_int_equal(target.open_until_ms, 0);
		assert_int_equal(day->workers[i].finished, TASKS);
	}
	engine_reader_close(day->reader);
	engine_stop(day->e);
	engine_free(day->e);
	arena_release(&day->arena);
}

static size_t count_events(struct day *day, enum event_kind kind)
{
	struct event_filter filter = {.kinds = UINT64_C(1) << kind};
	struct event_row *rows = mem_calloc(1000, sizeof(*rows));
	struct arena arena;
	size_t count;

	arena_init(&arena);
	must(store_event_page(day->reader->conn, &filter, 0, INT64_MAX, 1000, &arena, rows, &count));
	arena_release(&arena);
	free(rows);
	return count;
}

static void a_restart_of_the_last_agent_costs_time_and_no_work(void **state)
{
	static const int64_t away_ms[] = {5000, 60000, 300000};

	(void)state;
	for (size_t i = 0; i < sizeof(away_ms) / sizeof(away_ms[0]); i++) {
		char address[64];
		struct day day = {.workers[2] = {.away_from_ms = T0 + 90050, .away_to_ms = T0 + 90050 + away_ms[i]}};

		snprintf(address, sizeof(address), "ram:test-outage-%zu", i);
		begin(&day, address);
		play(&day, (TASKS + 120) * SECOND_MS + away_ms[i]);
		assert_int_equal(count_events(&day, EVENT_PARKED), 0);
		assert_int_equal(count_events(&day, EVENT_BREAKER_OPENED), 0);
		check_and_end(&day);
	}
}

/* Whatever is under way when it begins. */
static void a_model_that_answers_529_for_two_minutes_costs_time_and_no_work(void **state)
{
	(void)state;
	for (int64_t offset_ms = 0; offset_ms < SECOND_MS; offset_ms += TICK_MS) {
		int64_t from_ms = T0 + 30 * SECOND_MS + offset_ms;
		struct day day = {.outage_from_ms = from_ms, .outage_to_ms = from_ms + 120 * SECOND_MS};
		char address[64];

		snprintf(address, sizeof(address), "ram:test-outage-529-%lld", (long long)offset_ms);
		begin(&day, address);
		play(&day, (TASKS + 180) * SECOND_MS);
		/* What used up its attempts was parked, and came back. */
		assert_int_equal(count_events(&day, EVENT_PARKED), count_events(&day, EVENT_REDRIVEN));
		assert_in_range(count_events(&day, EVENT_PARKED), BREAKER_FAILURES, 12);
		assert_int_equal(count_events(&day, EVENT_BREAKER_CLOSED), 1);
		/* The breaker has kept the others from it: of the tasks of two minutes a few were tried in vain. */
		assert_in_range(day.workers[0].failed, 3 * BREAKER_FAILURES, 40);
		check_and_end(&day);
	}
}

/* Nobody reads it, for a day: it is parked with the reason, and nothing before. */
static void what_nobody_ever_takes_is_parked_after_a_day(void **state)
{
	struct day day = {0};

	(void)state;
	begin(&day, "ram:test-outage-nobody");
	send(&day, "intake", "nobody");
	day.now_ms += DAY_MS - 1;
	engine_step(day.e);
	assert_int_equal(count_events(&day, EVENT_PARKED), 0);
	assert_true(engine_wake_at(day.e) <= T0 + DAY_MS);
	day.now_ms++;
	engine_step(day.e);
	assert_int_equal(count_events(&day, EVENT_PARKED), 1);
	engine_reader_close(day.reader);
	engine_stop(day.e);
	engine_free(day.e);
	arena_release(&day.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_of_the_last_agent_costs_time_and_no_work),
		cmocka_unit_test(a_model_that_answers_529_for_two_minutes_costs_time_and_no_work),
		cmocka_unit_test(what_nobody_ever_takes_is_parked_after_a_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
