/* engine/writer.h: many jobs, few commits, and a job is acknowledged after its commit or not at all. */
#include "fault_vfs.h"
#include "temp_store.h"
#include "temp_database.h"

#include "base/clock.h"
#include "core/problem.h"
#include "engine/writer.h"

#include <pthread.h>
#include <semaphore.h>

enum { JOBS = 600, PATIENCE_S = 30 };

struct bench;

/* A job of the tests: stores one memory, or returns what it was told to. */
struct job {
	struct writer_job job;
	struct bench *bench;
	enum store_status answer;	/* what run returns; STORE_OK: after storing */
	bool is_twice;			/* its second handoff of the same envelope finds the key taken */
	bool forgets;			/* what it stored, in the same transaction */
	sem_t *wait;			/* run waits for it, the first time; NULL: it does not */
	sem_t *started;			/* posted when run begins; NULL: nobody asks */
	int runs;
	int dones;
	enum store_status status;
	uint64_t num;
	int64_t now_ms;
	size_t order;			/* the position of its done among all */
	int policy;			/* how the thread that ran it is scheduled */
};

struct bench {
	struct temp_store store;
	struct writer *writer;
	sem_t done;
	size_t done_count;		/* the writer's thread only, until writer_stop */
	int failures;			/* calls of on_failure */
	char why[128];
	enum store_status told[8];	/* by on_refusal */
	size_t told_count;
	struct store_conn *reader;	/* of the writer's thread, to see what is durable at the time of done */
	bool look;			/* done looks whether readers see the memory */
	int begin_refusals;		/* so many times the hook refuses */
	int commit_refusals;
	int undone;			/* calls of the hook behind a transaction that did not happen */
	size_t unseen;			/* acknowledged, but not seen */
};

static atomic_llong clock_ms = T0;

static int64_t fixed_now(void *ctx)
{
	(void)ctx;
	return atomic_load(&clock_ms);
}

static void on_failure(void *ctx, const char *why)
{
	struct bench *b = ctx;

	b->failures++;
	snprintf(b->why, sizeof(b->why), "%s", why);
}

static void on_refusal(void *ctx, enum store_status status, const char *why)
{
	struct bench *b = ctx;

	(void)why;
	if (b->told_count < sizeof(b->told) / sizeof(b->told[0]))
		b->told[b->told_count++] = status;
}

static enum store_status on_begin(void *ctx, struct store_conn *c, int64_t now_ms)
{
	struct bench *b = ctx;

	(void)c;
	(void)now_ms;
	return b->begin_refusals > 0 && b->begin_refusals-- ? STORE_REFUSED : STORE_OK;
}

static enum store_status on_before_commit(void *ctx, struct store_conn *c, int64_t now_ms)
{
	struct bench *b = ctx;

	(void)c;
	(void)now_ms;
	return b->commit_refusals > 0 && b->commit_refusals-- ? STORE_REFUSED : STORE_OK;
}

static void on_after(void *ctx, bool committed)
{
	struct bench *b = ctx;

	b->undone += !committed;
}

static void start_writer(struct bench *b, size_t max_queue)
{
	b->writer = writer_new(&(struct writer_config){
		.conn = b->store.c, .max_queue = max_queue, .now_ms = fixed_now, .on_failure = on_failure,
		.on_refusal = on_refusal, .ctx = b,
		.hooks = {.ctx = b, .begin = on_begin, .before_commit = on_before_commit, .after = on_after},
	});
	writer_start(b->writer);
}

static int setup(void **state)
{
	struct bench *b = mem_zalloc(sizeof(*b));

	fault_clear();
	atomic_store(&clock_ms, T0);
	temp_store_init(&b->store);
	sem_init(&b->done, 0, 0);
	b->reader = temp_store_open(&b->store, STORE_READ);
	start_writer(b, 100000);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	fault_clear();
	writer_stop(b->writer);
	writer_free(b->writer);
	store_close(b->reader);
	sem_destroy(&b->done);
	temp_store_release(&b->store);
	free(b);
	return 0;
}

/* As core does it: whatever the store says becomes a problem, and that what the writer is told. */
static enum store_status hand_over_twice(struct bench *b, struct store_conn *c)
{
	enum store_status status = STORE_OK;
	struct problem problem;
	int64_t agent = 0;

	status = store_agent_id(c, b->store.space, STR("worker"), true, T0, &agent);
	for (int i = 0; status == STORE_OK && i < 2; i++) {
		struct handoff_row h = {.space = b->store.space, .envelope = 1, .target = agent, .agent = agent};

		status = store_handoff_insert(c, &h);
	}
	assert_int_equal(status, STORE_EXISTS);
	return problem_store_status(problem_of_store(&problem, status));
}

static enum store_status job_run(struct writer_job *base, struct store_conn *c, int64_t now_ms)
{
	struct job *job = (struct job *)(void *)base;
	struct memory m = temp_memory(job->bench->store.space, "written by a job");
	enum store_status status;

	job->runs++;
	job->now_ms = now_ms;
	job->policy = sched_getscheduler(0);
	if (job->started)
		sem_post(job->started);
	if (job->wait && job->runs == 1)
		sem_wait(job->wait);
	status = store_memory_insert(c, &m);
	job->num = m.num;
	if (status == STORE_OK && job->is_twice)
		return hand_over_twice(job->bench, c);
	if (status == STORE_OK && job->forgets)
		status = store_memory_forget(c, m.space, m.num, now_ms);
	return status == STORE_OK ? job->answer : status;
}

static void job_done(struct writer_job *base, enum store_status status)
{
	struct job *job = (struct job *)(void *)base;
	struct bench *b = job->bench;
	struct arena arena;
	struct memory m;

	job->dones++;
	job->status = status;
	job->order = b->done_count++;
	if (b->look && status == STORE_OK) {
		arena_init(&arena);
		b->unseen += store_memory_get(b->reader, b->store.space, job->num, 0, &arena, &m) != STORE_OK;
		arena_release(&arena);
	}
	sem_post(&b->done);
}

static struct job *make_jobs(struct bench *b, size_t count)
{
	struct job *jobs = mem_calloc(count, sizeof(*jobs));

	for (size_t i = 0; i < count; i++)
		jobs[i] = (struct job){.job = {.run = job_run, .done = job_done}, .bench = b};
	return jobs;
}

static void submit(struct bench *b, struct job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_true(writer_submit(b->writer, &jobs[i].job));
}

static void wait_for(sem_t *sem, size_t count)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	for (size_t i = 0; i < count; i++)
		if (sem_timedwait(sem, &until) != 0)
			fail_msg("after %d s only %zu of %zu were done", PATIENCE_S, i, count);
}

static struct writer_stats stats(struct bench *b)
{
	struct writer_stats s;

	writer_stats(b->writer, &s);
	return s;
}

/* Holds the writer within a job, so that what is submitted meanwhile gathers. */
struct gate {
	struct job *job;
	sem_t open;
	sem_t started;
};

static void gate_close(struct bench *b, struct gate *g)
{
	sem_init(&g->open, 0, 0);
	sem_init(&g->started, 0, 0);
	g->job = make_jobs(b, 1);
	g->job->wait = &g->open;
	g->job->started = &g->started;
	submit(b, g->job, 1);
	wait_for(&g->started, 1);
}

static void gate_open(struct gate *g)
{
	sem_post(&g->open);
}

static void gate_release(struct gate *g)
{
	free(g->job);
	sem_destroy(&g->open);
	sem_destroy(&g->started);
}

/* --- Tests ---------------------------------------------------------------------------------------- */

static void jobs_are_done_in_their_order_once_each_and_are_durable_then(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, JOBS);

	b->look = true;
	submit(b, jobs, JOBS);
	wait_for(&b->done, JOBS);
	for (size_t i = 0; i < JOBS; i++) {
		assert_int_equal(jobs[i].status, STORE_OK);
		assert_int_equal(jobs[i].dones, 1);
		assert_int_equal(jobs[i].runs, 1);
		assert_int_equal(jobs[i].order, i);
		assert_int_equal(jobs[i].num, i + 1);
		assert_int_equal(jobs[i].now_ms, T0);
	}
	assert_int_equal(b->unseen, 0);
	free(jobs);
}

static void what_gathers_during_a_commit_is_committed_together(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, JOBS);
	struct gate gate;

	gate_close(b, &gate);
	submit(b, jobs, JOBS);
	assert_int_equal(stats(b).queued, JOBS);
	gate_open(&gate);
	wait_for(&b->done, JOBS + 1);
	assert_int_equal(stats(b).jobs, JOBS + 1);
	assert_true(stats(b).commits >= 2);
	assert_true(stats(b).commits <= 1 + (JOBS + 255) / 256);
	assert_int_equal(stats(b).queued, 0);
	gate_release(&gate);
	free(jobs);
}

/* The batch has to be rolled back; everybody but the one to blame runs again and survives. */
static void a_job_that_finds_the_disk_full_fails_alone(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 20);
	struct gate gate;

	b->look = true;
	jobs[7].answer = STORE_FULL;
	gate_close(b, &gate);
	submit(b, jobs, 20);
	gate_open(&gate);
	wait_for(&b->done, 21);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(jobs[i].status, i == 7 ? STORE_FULL : STORE_OK);
		assert_int_equal(jobs[i].dones, 1);
		assert_int_equal(jobs[i].order, i + 1);
		/* Numbers go on without a gap: what the refused job stored was undone. */
		if (i != 7)
			assert_int_equal(jobs[i].num, i < 7 ? i + 2 : i + 1);
	}
	assert_int_equal(jobs[0].runs, 2);
	assert_int_equal(b->unseen, 0);
	assert_false(stats(b).failed);
	assert_int_equal(b->failures, 0);
	gate_release(&gate);
	free(jobs);
}

/* A key that is taken, a row that is gone: the store is sound, and the others go on. */
static void a_job_that_finds_a_key_taken_fails_alone_and_the_writer_goes_on(void **state)
{
	static const enum store_status answers[] = {STORE_NOT_FOUND, STORE_EXISTS, STORE_REFUSED};
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 20), *later = make_jobs(b, 5);
	struct gate gate;

	b->look = true;
	jobs[3].is_twice = true;
	for (size_t i = 0; i < 3; i++)
		jobs[7 + 4 * i].answer = answers[i];
	gate_close(b, &gate);
	submit(b, jobs, 20);
	gate_open(&gate);
	wait_for(&b->done, 21);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(jobs[i].status, jobs[i].is_twice ? STORE_REFUSED : jobs[i].answer);
		assert_int_equal(jobs[i].dones, 1);
		assert_int_equal(jobs[i].order, i + 1);
	}
	submit(b, later, 5);
	wait_for(&b->done, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(later[i].status, STORE_OK);
		assert_int_equal(later[i].num, 1 + 16 + i + 1);	/* what was refused left no gap */
	}
	assert_int_equal(b->unseen, 0);
	assert_false(stats(b).failed);
	assert_int_equal(b->failures, 0);
	assert_int_equal(b->told_count, 0);
	gate_release(&gate);
	free(jobs);
	free(later);
}

/* Jobs are not to blame for what a hook was answered. */
static void a_transaction_whose_hook_is_refused_is_tried_again(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 20);
	struct gate gate;

	b->look = true;
	gate_close(b, &gate);
	submit(b, jobs, 20);
	b->commit_refusals = 7;
	gate_open(&gate);
	wait_for(&b->done, 21);
	b->begin_refusals = 5;
	submit(b, &jobs[0], 1);
	wait_for(&b->done, 1);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(jobs[i].status, STORE_OK);
		assert_int_equal(jobs[i].dones, i == 0 ? 2 : 1);
	}
	assert_int_equal(gate.job->status, STORE_OK);
	assert_int_equal(b->undone, 12);
	assert_int_equal(b->unseen, 0);
	assert_int_equal(b->failures, 0);
	gate_release(&gate);
	free(jobs);
}

static void assert_nothing_is_acknowledged(struct bench *b)
{
	struct job *jobs = make_jobs(b, 10);

	submit(b, jobs, 10);
	wait_for(&b->done, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(jobs[i].status, STORE_FAILED);
		assert_int_equal(jobs[i].runs, 0);
		assert_int_equal(jobs[i].dones, 1);
	}
	assert_true(stats(b).failed);
	assert_int_equal(b->failures, 1);
	free(jobs);
}

static void after_a_job_found_the_store_failed_nothing_is_acknowledged(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 6);
	struct gate gate;

	b->look = true;
	jobs[2].answer = STORE_FAILED;
	gate_close(b, &gate);
	submit(b, jobs, 6);
	gate_open(&gate);
	wait_for(&b->done, 7);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(jobs[i].status, i < 2 ? STORE_OK : STORE_FAILED);
		assert_int_equal(jobs[i].dones, 1);
	}
	assert_int_equal(b->unseen, 0);
	assert_nothing_is_acknowledged(b);
	gate_release(&gate);
	free(jobs);
}

/* The sync of one commit fails, and would succeed the next time: nobody may try. */
static void a_commit_that_could_not_be_synced_is_not_tried_again(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 6);
	struct gate gate;

	gate_close(b, &gate);
	submit(b, jobs, 6);
	fault_set(&fault_sync, 1, false);	/* the gate's own commit succeeds */
	gate_open(&gate);
	wait_for(&b->done, 7);
	assert_int_equal(gate.job->status, STORE_OK);
	for (size_t i = 0; i < 6; i++) {
		/* They may be there after a restart; what comes later may not, and is told apart. */
		assert_int_equal(jobs[i].status, STORE_UNKNOWN);
		assert_int_equal(jobs[i].runs, 1);
		assert_int_equal(jobs[i].dones, 1);
	}
	assert_non_null(strstr(b->why, "I/O error"));
	assert_nothing_is_acknowledged(b);
	gate_release(&gate);
	free(jobs);
}

/* The commit is synced; moving it to its final place is not. The job is safe, and the failure is known without waiting
 * for another. */
static void a_store_that_fails_behind_a_commit_is_reported_at_once(void **state)
{
	struct bench *b = *state;
	struct job *job = make_jobs(b, 1);

	job->forgets = true;	/* which is followed by a checkpoint */
	fault_set(&fault_sync, 1, false);
	submit(b, job, 1);
	wait_for(&b->done, 1);
	assert_int_equal(job->status, STORE_OK);
	assert_true(stats(b).failed);
	assert_int_equal(b->failures, 1);
	assert_nothing_is_acknowledged(b);
	free(job);
}

static void a_full_disk_at_the_commit_refuses_and_later_jobs_succeed(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 6);
	struct gate gate;

	gate_close(b, &gate);
	submit(b, jobs, 3);
	fault_set(&fault_write, 0, true);
	gate_open(&gate);
	wait_for(&b->done, 4);
	fault_clear();
	submit(b, jobs + 3, 3);
	wait_for(&b->done, 3);
	assert_int_equal(gate.job->status, STORE_FULL);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(jobs[i].status, i < 3 ? STORE_FULL : STORE_OK);
	assert_int_equal(jobs[3].num, 1);
	assert_false(stats(b).failed);
	gate_release(&gate);
	free(jobs);
}

/* Somebody who writes to the store beside the server, and takes his time. */
static sqlite3 *take_the_lock(struct bench *b)
{
	sqlite3 *db;

	assert_int_equal(temp_database(temp_path(&b->store, "data/spine.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static void while_another_process_writes_jobs_are_refused_and_later_ones_succeed(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 12);
	sqlite3 *db = take_the_lock(b);
	int sleeps;

	submit(b, jobs, 1);
	wait_for(&b->done, 1);
	sleeps = atomic_exchange(&fault_sleeps, 0);
	/* Those that gather behind one that waits are refused together, after waiting once. */
	atomic_store(&fault_sleep_is_held, true);
	submit(b, jobs + 1, 1);
	while (atomic_load(&fault_sleeps) == 0)
		sched_yield();
	submit(b, jobs + 2, 8);
	atomic_store(&fault_sleep_is_held, false);
	wait_for(&b->done, 9);
	assert_int_equal(atomic_load(&fault_sleeps), 2 * sleeps);
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	submit(b, jobs + 10, 2);
	wait_for(&b->done, 2);
	for (size_t i = 0; i < 12; i++) {
		assert_int_equal(jobs[i].status, i < 10 ? STORE_BUSY : STORE_OK);
		assert_int_equal(jobs[i].runs, i < 10 ? 0 : 1);
		assert_int_equal(jobs[i].dones, 1);
	}
	assert_int_equal(jobs[10].num, 1);
	assert_false(stats(b).failed);
	assert_int_equal(b->failures, 0);
	sqlite3_close(db);
	free(jobs);
}

/* On a full disk small writes still find room: that is not the end of it. */
static void refusals_are_told_when_they_begin_and_when_they_are_over(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 9);
	sqlite3 *db;

	jobs[1].answer = jobs[2].answer = jobs[4].answer = STORE_FULL;
	for (size_t i = 0; i < 5; i++) {
		submit(b, &jobs[i], 1);
		wait_for(&b->done, 1);
	}
	atomic_fetch_add(&clock_ms, WRITER_CALM_MS - 1);
	submit(b, &jobs[5], 1);
	wait_for(&b->done, 1);
	assert_int_equal(b->told_count, 1);
	assert_int_equal(b->told[0], STORE_FULL);
	atomic_fetch_add(&clock_ms, 1);
	submit(b, &jobs[6], 2);
	wait_for(&b->done, 2);
	assert_int_equal(b->told_count, 2);
	assert_int_equal(b->told[1], STORE_OK);
	db = take_the_lock(b);
	submit(b, &jobs[8], 1);
	wait_for(&b->done, 1);
	sqlite3_close(db);
	assert_int_equal(b->told_count, 3);
	assert_int_equal(b->told[2], STORE_BUSY);
	free(jobs);
}

static void beyond_the_queues_limit_nothing_is_taken(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, 4);
	struct gate gate;

	writer_stop(b->writer);
	writer_free(b->writer);
	start_writer(b, 3);
	gate_close(b, &gate);
	submit(b, jobs, 3);
	assert_false(writer_submit(b->writer, &jobs[3].job));
	gate_open(&gate);
	wait_for(&b->done, 4);
	assert_int_equal(jobs[3].runs, 0);
	assert_int_equal(jobs[3].dones, 0);
	submit(b, jobs + 3, 1);
	wait_for(&b->done, 1);
	assert_int_equal(jobs[3].status, STORE_OK);
	gate_release(&gate);
	free(jobs);
}

static void stopping_does_what_was_submitted(void **state)
{
	struct bench *b = *state;
	struct job *jobs = make_jobs(b, JOBS);
	struct gate gate;

	b->look = true;
	gate_close(b, &gate);
	submit(b, jobs, JOBS);
	gate_open(&gate);
	writer_stop(b->writer);
	writer_free(b->writer);
	b->writer = NULL;
	for (size_t i = 0; i < JOBS; i++) {
		assert_int_equal(jobs[i].dones, 1);
		assert_int_equal(jobs[i].status, STORE_OK);
	}
	assert_int_equal(b->unseen, 0);
	gate_release(&gate);
	free(jobs);
}

struct crowd {
	struct bench *bench;
	struct job *jobs;
	size_t count;
};

static void *submit_all(void *arg)
{
	struct crowd *crowd = arg;

	for (size_t i = 0; i < crowd->count; i++)
		while (!writer_submit(crowd->bench->writer, &crowd->jobs[i].job))
			sched_yield();
	return NULL;
}

static void many_threads_may_submit_at_once(void **state)
{
	enum { THREADS = 8, EACH = 200 };
	struct bench *b = *state;
	struct crowd crowds[THREADS];
	pthread_t threads[THREADS];
	bool seen[THREADS * EACH + 1] = {false};

	for (int i = 0; i < THREADS; i++) {
		crowds[i] = (struct crowd){b, make_jobs(b, EACH), EACH};
		assert_int_equal(pthread_create(&threads[i], NULL, submit_all, &crowds[i]), 0);
	}
	wait_for(&b->done, (size_t)THREADS * EACH);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		for (size_t k = 0; k < EACH; k++) {
			struct job *job = &crowds[i].jobs[k];

			assert_int_equal(job->status, STORE_OK);
			assert_int_equal(job->dones, 1);
			assert_true(job->num >= 1 && job->num <= (uint64_t)THREADS * EACH);
			assert_false(seen[job->num]);
			seen[job->num] = true;
			/* Those of one thread keep their order. */
			if (k > 0)
				assert_true(job->order > crowds[i].jobs[k - 1].order);
		}
		free(crowds[i].jobs);
	}
}

/* It waits its turn where all cores are busy, unless the server's threads were given another policy. */
static void the_writer_is_a_batch_thread(void **state)
{
	struct bench *b = *state;
	struct job *job = make_jobs(b, 1);
	int mine = sched_getscheduler(0);

	submit(b, job, 1);
	wait_for(&b->done, 1);
	assert_int_equal(job->policy, mine == SCHED_OTHER ? SCHED_BATCH : mine);
	free(job);
}

int main(void)
{
#define with_writer(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest writer[] = {
		with_writer(jobs_are_done_in_their_order_once_each_and_are_durable_then),
		with_writer(what_gathers_during_a_commit_is_committed_together),
		with_writer(a_job_that_finds_the_disk_full_fails_alone),
		with_writer(a_job_that_finds_a_key_taken_fails_alone_and_the_writer_goes_on),
		with_writer(a_transaction_whose_hook_is_refused_is_tried_again),
		with_writer(after_a_job_found_the_store_failed_nothing_is_acknowledged),
		with_writer(a_commit_that_could_not_be_synced_is_not_tried_again),
		with_writer(a_store_that_fails_behind_a_commit_is_reported_at_once),
		with_writer(a_full_disk_at_the_commit_refuses_and_later_jobs_succeed),
		with_writer(while_another_process_writes_jobs_are_refused_and_later_ones_succeed),
		with_writer(refusals_are_told_when_they_begin_and_when_they_are_over),
		with_writer(beyond_the_queues_limit_nothing_is_taken),
		with_writer(stopping_does_what_was_submitted),
		with_writer(many_threads_may_submit_at_once),
		with_writer(the_writer_is_a_batch_thread),
	};

	fault_vfs_install();
	return cmocka_run_group_tests(writer, NULL, NULL);
}
