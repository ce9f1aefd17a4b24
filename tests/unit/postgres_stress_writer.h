/* The writer of a shard that plays random transactions, and remembers what it wrote and what it was told of each. */
#ifndef SPINE_TESTS_POSTGRES_STRESS_WRITER_H
#define SPINE_TESTS_POSTGRES_STRESS_WRITER_H

#include "temp_postgres.h"

#include "base/cond.h"
#include "sim/random.h"
#include "store/embedded.h"

enum { AGENTS = 4, FIRST_AGENT = 1000, OPERATIONS = 4, DEPTH = 2, TRANSACTIONS_MAX = 100000, PAUSE_MS = 5 };

enum told { TOLD_NOTHING, TOLD_REFUSED, TOLD_COMMITTED, TOLD_UNKNOWN };

/* How many rows a transaction has. */
struct rows {
	uint8_t events, replies;
};

struct transaction {
	enum told told;
	struct rows rows;
};

/* What is in the shard as its writer knows it. */
struct state {
	int64_t targets[AGENTS];
	struct rows rows;		/* of the transaction under way */
};

/* All writers. */
struct crowd {
	const char *address;		/* of the database */
	uint64_t seed;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	int64_t commits;
	int64_t last_ns;		/* the faults are over, and it goes on until then at most; 0: they are not */
	int at_work;
	bool has_fault;
};

struct writer {
	struct crowd *crowd;
	int shard;
	pthread_t thread;
	struct store_conn *c;		/* NULL: it could not be opened */
	int64_t space;
	int64_t number;			/* of its transaction, from 1 on */
	uint64_t random;
	struct state committed, pending;
	struct transaction all[TRANSACTIONS_MAX];
	char fault[400];
};

/* --- Transactions --- */

/* The first one counts. cmocka is for the main thread. */
__attribute__((format(printf, 2, 3)))
static inline void found(struct writer *w, const char *format, ...)
{
	va_list args;

	if (*w->fault)
		return;
	va_start(args, format);
	vsnprintf(w->fault, sizeof(w->fault), format, args);
	va_end(args);
}

static inline enum store_status put_event(struct writer *w)
{
	char note[24];
	struct event_row event = {.space = w->space, .at_ms = T0, .kind = 1};

	event.note = (struct str){note, (size_t)snprintf(note, sizeof(note), "%lld", (long long)w->number)};
	w->pending.rows.events++;
	return store_event_add(w->c, &event);
}

static inline enum store_status put_reply(struct writer *w)
{
	char key[48];
	struct kept_reply reply = {.status = 200, .body = STR("{}"), .at_ms = T0};

	snprintf(key, sizeof(key), "%lld-%llx", (long long)w->number, (unsigned long long)random_next(&w->random));
	w->pending.rows.replies++;
	return store_reply_put(w->c, w->space, str_of(key), &reply, NULL, 0);
}

static inline enum store_status put_target(struct writer *w)
{
	size_t agent = random_below(&w->random, AGENTS);
	int64_t value = w->number * 1000 + random_between(&w->random, 1, 999);
	struct target_row target = {.seen_at_ms = value, .due_ms = value};

	w->pending.targets[agent] = value;
	return store_target_put(w->c, FIRST_AGENT + (int64_t)agent, &target);
}

/* A transaction sees what it has written itself, and what was committed before. */
static inline enum store_status look_at_target(struct writer *w)
{
	size_t agent = random_below(&w->random, AGENTS);
	struct target_row target = {0};
	enum store_status status = store_target_get(w->c, FIRST_AGENT + (int64_t)agent, &target);

	if (status == STORE_OK && target.seen_at_ms != w->pending.targets[agent])
		found(w, "reads %lld for agent %zu, where it is %lld", (long long)target.seen_at_ms, agent,
		      (long long)w->pending.targets[agent]);
	return status;
}

static inline enum store_status play_operations(struct writer *w, int depth);

static inline enum store_status play_part(struct writer *w, int depth)
{
	struct state before = w->pending;
	enum store_status status = store_savepoint(w->c);

	if (status == STORE_OK)
		status = play_operations(w, depth);
	if (status != STORE_OK)
		return status;
	if (random_chance(&w->random, 500))
		return store_release(w->c);
	w->pending = before;
	return store_rollback_to(w->c);
}

static inline enum store_status play_operation(struct writer *w, int depth)
{
	switch (random_below(&w->random, 12)) {
	case 0:
		return depth < DEPTH ? play_part(w, depth + 1) : put_event(w);
	case 1:
		return look_at_target(w);
	case 2:
		return put_event(w);
	case 3: case 4: case 5: case 6:
		return put_reply(w);
	default:
		return put_target(w);
	}
}

static inline enum store_status play_operations(struct writer *w, int depth)
{
	enum store_status status = STORE_OK;

	for (uint64_t left = random_below(&w->random, OPERATIONS); status == STORE_OK && left > 0; left--)
		status = play_operation(w, depth);
	return status;
}

/* --- What it is told --- */

static inline void begin_number(struct writer *w)
{
	w->number++;
	w->random = w->crowd->seed ^ (uint64_t)w->shard << 56 ^ (uint64_t)w->number << 32;
	w->pending = w->committed;
	w->pending.rows = (struct rows){0};
}

/* A few are taken back by the writer itself. */
static inline enum store_status play_transaction(struct writer *w)
{
	enum store_status status;

	begin_number(w);
	status = put_event(w);
	if (status == STORE_OK)
		status = play_operations(w, 0);
	if (status == STORE_OK && !random_chance(&w->random, 30))
		return store_commit(w->c);
	store_rollback(w->c);
	return status == STORE_OK ? STORE_REFUSED : status;
}

static inline void count_commit(struct crowd *crowd)
{
	pthread_mutex_lock(&crowd->lock);
	crowd->commits++;
	pthread_cond_broadcast(&crowd->changed);
	pthread_mutex_unlock(&crowd->lock);
}

static inline void keep(struct writer *w, enum store_status status)
{
	w->all[w->number] = (struct transaction){
		status == STORE_OK ? TOLD_COMMITTED : status == STORE_UNKNOWN ? TOLD_UNKNOWN : TOLD_REFUSED,
		w->pending.rows};
	if (status != STORE_OK)
		return;
	w->committed = w->pending;
	count_commit(w->crowd);
}

/* Faults may refuse a transaction, or leave it open. The writer of a shard is not to end by them. */
static inline bool is_expected(enum store_status status)
{
	return status == STORE_OK || status == STORE_BUSY || status == STORE_REFUSED || status == STORE_UNKNOWN;
}

/* A transaction that could not begin has no number: nothing was written. */
static inline enum store_status play_next(struct writer *w)
{
	enum store_status status = store_begin(w->c);

	if (status == STORE_OK) {
		status = play_transaction(w);
		keep(w, status);
	} else {
		store_rollback(w->c);
	}
	if (!is_expected(status))
		found(w, "status %d: %s", (int)status, store_error(w->c));
	else if (status != STORE_UNKNOWN && store_is_failed(w->c))
		found(w, "its writer has ended: %s", store_error(w->c));
	return status;
}

/* --- Its life --- */

/* There is no session, or no shard, to be had at the moment: until another one has committed, or for a moment. */
static inline void wait_a_moment(struct crowd *crowd)
{
	pthread_mutex_lock(&crowd->lock);
	cond_wait_until(&crowd->changed, &crowd->lock, clock_mono_ns() + PAUSE_MS * INT64_C(1000000));
	pthread_mutex_unlock(&crowd->lock);
}

/* Some keep no rows in memory: they ask the database, and begin with that. */
static inline void open_shard(struct writer *w)
{
	char address[600];
	struct buf error;

	if (w->c)
		store_close(w->c);
	buf_init(&error, 4096);
	snprintf(address, sizeof(address), "%s#%d@%s", w->crowd->address, w->shard, "node-a");
	w->c = store_open(address, STORE_WRITE, &error);
	if (w->c && w->shard % 2)
		store_set_cache(w->c, 0);
	buf_release(&error);
}

/* Once the faults are over a writer ends with its next commit. */
static inline bool goes_on(struct writer *w, enum store_status status)
{
	struct crowd *crowd = w->crowd;
	int64_t last_ns;
	bool has_fault;

	pthread_mutex_lock(&crowd->lock);
	last_ns = crowd->last_ns;
	has_fault = crowd->has_fault;
	pthread_mutex_unlock(&crowd->lock);
	if (last_ns && status != STORE_OK && clock_mono_ns() > last_ns)
		found(w, "cannot commit any more: %s", w->c ? store_error(w->c) : "it cannot be opened");
	return !has_fault && *w->fault == '\0' && status != STORE_UNKNOWN && w->number + 1 < TRANSACTIONS_MAX &&
	       !(last_ns && status == STORE_OK);
}

static inline void leave(struct writer *w)
{
	struct crowd *crowd = w->crowd;

	pthread_mutex_lock(&crowd->lock);
	crowd->at_work--;
	crowd->has_fault |= *w->fault != '\0';
	pthread_cond_broadcast(&crowd->changed);
	pthread_mutex_unlock(&crowd->lock);
}

static inline void *write_all(void *arg)
{
	struct writer *w = arg;
	enum store_status status = STORE_BUSY;

	while (goes_on(w, status)) {
		if (w->c == NULL || store_is_lost(w->c))
			open_shard(w);
		status = w->c ? play_next(w) : STORE_BUSY;
		if (status == STORE_BUSY)
			wait_a_moment(w->crowd);
	}
	leave(w);
	return NULL;
}

#endif
