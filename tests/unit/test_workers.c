/* engine/workers.h: large work is shared out among clients. */
#include "temp_store.h"

#include "engine/engine.h"
#include "engine/op.h"
#include "engine/workers.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { WORKERS = 2, MANY = 256, FIRST = 1, SECOND = 2, THIRD = 3 };

/* Operations that do nothing until they are let go. */
struct scene {
	struct engine *engine;
	struct workers *workers;
	sem_t begun;
	sem_t gate[THIRD + 1];	/* of each client */
	atomic_int running[THIRD + 1];	/* of each client */
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
	sem_wait(&s->gate[op->client]);
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
	for (int i = FIRST; i <= THIRD; i++)
		sem_init(&s->gate[i], 0, 0);
	s->workers = workers_start(s->engine, WORKERS, &error);
	assert_non_null(s->workers);
	buf_release(&error);
}

/* Lets all go, and waits for them. */
static void end(struct scene *s, int count)
{
	for (int i = 0; i < count; i++)
		for (int client = FIRST; client <= THIRD; client++)
			sem_post(&s->gate[client]);
	workers_stop(s->workers);
	assert_int_equal(atomic_load(&s->order_len), count);
	engine_start(s->engine);
	engine_stop(s->engine);
	engine_free(s->engine);
	sem_destroy(&s->begun);
	for (int i = FIRST; i <= THIRD; i++)
		sem_destroy(&s->gate[i]);
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
	static struct op ops[THIRD][10];
	int had[THIRD + 1] = {0};
	struct scene s;

	(void)state;
	begin(&s);
	for (int client = FIRST; client <= THIRD; client++) {
		set(ops[client - 1], 10, (uint64_t)client, &s);
		for (int i = 0; i < 10; i++)
			assert_true(workers_submit(s.workers, &ops[client - 1][i], work));
	}
	/* Two run. Of them the one that began first ends, and so on: all of the first came before the others, and yet
	 * each has as many as the others. */
	sem_wait(&s.begun);
	for (int i = 0; i < 12; i++) {
		sem_wait(&s.begun);
		had[s.order[i]]++;
		sem_post(&s.gate[s.order[i]]);
	}
	end(&s, 30);
	for (int client = FIRST; client <= THIRD; client++)
		assert_in_range(had[client], 3, 5);
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
