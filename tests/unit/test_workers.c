/* engine/workers.h: large work is shared out among clients. */
#include "temp_store.h"

#include "engine/engine.h"
#include "engine/op.h"
#include "engine/workers.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { WORKERS = 2, MANY = 256, FIRST = 1, SECOND = 2 };

/* Operations that do nothing until they are let go. */
struct scene {
	struct engine *engine;
	struct workers *workers;
	sem_t begun;
	sem_t gate;
	atomic_int running[3];	/* of each client */
	atomic_int most;	/* of the first at a time */
	atomic_int order_len;
	uint64_t order[2 * MANY + 8];	/* of the clients, as they began */
};

static int64_t clock_now(void *ctx)
{
	(void)ctx;
	return T0;
}

static void work(struct op *op, struct engine_reader *reader)
{
	struct scene *s = op->ctx;
	int now = atomic_fetch_add(&s->running[op->client], 1) + 1;

	assert_non_null(reader);
	if (op->client == FIRST && now > atomic_load(&s->most))
		atomic_store(&s->most, now);
	s->order[atomic_fetch_add(&s->order_len, 1)] = op->client;
	sem_post(&s->begun);
	sem_wait(&s->gate);
	atomic_fetch_sub(&s->running[op->client], 1);
}

static void begin(struct scene *s)
{
	static struct log log;
	struct engine_config config = {
		.data_dir = "ram:test-workers", .log = &log, .key_ttl_ms = 60000, .max_queue = 10000, .seed = 7,
		.token_entries = 1 << 10,
		.rules = alert_rules_default, .is_stepped = true, .now_ms = clock_now,
	};
	struct buf error;

	*s = (struct scene){0};
	log_init(&log, STDERR_FILENO, LOG_ERROR, LOG_TEXT);
	buf_init(&error, 4096);
	s->engine = engine_open(&config, &error);
	assert_non_null(s->engine);
	sem_init(&s->begun, 0, 0);
	sem_init(&s->gate, 0, 0);
	s->workers = workers_start(s->engine, WORKERS, &error);
	assert_non_null(s->workers);
	buf_release(&error);
}

/* Lets all go, and waits for them. */
static void end(struct scene *s, int count)
{
	for (int i = 0; i < count; i++)
		sem_post(&s->gate);
	workers_stop(s->workers);
	assert_int_equal(atomic_load(&s->order_len), count);
	engine_start(s->engine);
	engine_stop(s->engine);
	engine_free(s->engine);
	sem_destroy(&s->begun);
	sem_destroy(&s->gate);
}

static void set(struct op *ops, size_t count, uint64_t client, struct scene *s)
{
	for (size_t i = 0; i < count; i++)
		ops[i] = (struct op){.ctx = s, .client = client};
}

static void one_client_never_has_all_the_threads(void **state)
{
	static struct op many[20], other;
	struct scene s;

	(void)state;
	begin(&s);
	set(many, 20, FIRST, &s);
	set(&other, 1, SECOND, &s);
	for (int i = 0; i < 20; i++)
		assert_true(workers_submit(s.workers, &many[i], work));
	sem_wait(&s.begun);
	/* One of the first runs, 19 wait, and the other is begun all the same. */
	assert_true(workers_submit(s.workers, &other, work));
	sem_wait(&s.begun);
	assert_int_equal(atomic_load(&s.running[FIRST]), 1);
	assert_int_equal(atomic_load(&s.running[SECOND]), 1);
	end(&s, 21);
	assert_int_equal(atomic_load(&s.most), 1);
}

static void clients_take_turns(void **state)
{
	static struct op first[10], second[10];
	struct scene s;

	(void)state;
	begin(&s);
	set(first, 10, FIRST, &s);
	set(second, 10, SECOND, &s);
	for (int i = 0; i < 10; i++)
		assert_true(workers_submit(s.workers, &first[i], work));
	for (int i = 0; i < 10; i++)
		assert_true(workers_submit(s.workers, &second[i], work));
	end(&s, 20);
	/* Though all of the first came before: half way through, the second has had as many. */
	for (int i = 0, count = 0; i < 10; i++) {
		count += s.order[i] == SECOND;
		if (i == 9)
			assert_in_range(count, 3, 7);
	}
}

static void too_many_of_one_client_are_refused_and_no_others(void **state)
{
	static struct op first[MANY + 2], other;
	struct scene s;

	(void)state;
	begin(&s);
	set(first, MANY + 2, FIRST, &s);
	set(&other, 1, SECOND, &s);
	assert_true(workers_submit(s.workers, &first[0], work));
	sem_wait(&s.begun);
	for (int i = 1; i <= MANY; i++)
		assert_true(workers_submit(s.workers, &first[i], work));
	assert_false(workers_submit(s.workers, &first[MANY + 1], work));
	assert_true(workers_submit(s.workers, &other, work));
	end(&s, MANY + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_client_never_has_all_the_threads),
		cmocka_unit_test(clients_take_turns),
		cmocka_unit_test(too_many_of_one_client_are_refused_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
