#include "host_internal.h"

#include "base/mem.h"
#include "store/ram/ram.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 500, SPACES = 2, RETRY_MS = 1000, AGE_SWEEP_MS = 60 * 1000 };

/* --- Following --- */

static void on_committed(void *ctx, const int64_t *agents, size_t count)
{
	struct host *h = ctx;

	(void)agents;
	(void)count;
	h->follower_is_woken = true;
}

static void on_event(struct host *h, const struct event_row *event)
{
	if (event->id != h->follower_at + 1)
		trace_fail(h->trace, "the follower was given event %lld after %lld", (long long)event->id,
			   (long long)h->follower_at);
	h->follower_at = event->id;
}

/* Reads on from its cursor, which a crash does not move. */
static void follow(struct host *h)
{
	struct event_row *page = h->follower_page;
	struct arena arena;
	size_t count = EVENTS_AT_ONCE;

	h->follower_is_woken = false;
	arena_init(&arena);
	while (count == EVENTS_AT_ONCE) {
		if (store_events(h->reader->conn, 0, 0, h->follower_at, EVENTS_AT_ONCE, &arena, page, &count) !=
		    STORE_OK)
			trace_fail(h->trace, "the follower cannot read");
		for (size_t i = 0; i < count; i++)
			on_event(h, &page[i]);
		arena_release(&arena);
	}
	atomic_store(&h->follower_hold.done_with, h->follower_at);
}

void host_check_follower(struct host *h)
{
	if (h->shard_address)
		return;
	if (h->engine)
		follow(h);
	if (h->follower_at != (int64_t)ram_event_total(h->store))
		trace_fail(h->trace, "the follower is at event %lld of %zu", (long long)h->follower_at,
			   ram_event_total(h->store));
}

/* --- Life --- */

static int64_t clock_of(void *ctx)
{
	return ((const struct host *)ctx)->now_ms;
}

static void open_engine(struct host *h)
{
	struct engine_config config = {
		.data_dir = h->address, .log = &h->log, .key_ttl_ms = HOST_KEY_TTL_MS, .max_queue = 100000,
		.token_entries = 1 << 10,
		.seed = h->seed++, .rules = alert_rules_default, .is_stepped = true, .now_ms = clock_of, .ctx = h,
		.keep = h->keep,
	};
	struct buf error;

	buf_init(&error, 4096);
	h->engine = engine_open(&config, &error);
	h->reader = h->engine ? engine_reader_open(h->engine, &error) : NULL;
	if (h->reader == NULL)
		trace_fail(h->trace, "the engine cannot be opened: %.*s", STR_ARG(buf_str(&error)));
	buf_release(&error);
	record_begin(h, h->engine->store);
	h->listener.committed = on_committed;
	h->listener.ctx = h;
	engine_listen(h->engine, &h->listener);
	if (h->shard_address == NULL)
		retention_hold(h->engine->retention, &h->follower_hold);
	engine_start(h->engine);
	h->is_behind = true;
}

void host_set_shard(struct host *h, const char *address, const struct str spaces[2],
		    const struct host_cluster *cluster)
{
	h->shard_address = address;
	h->spaces[1] = spaces[0];
	h->spaces[2] = spaces[1];
	h->cluster = cluster;
}

struct str host_space(const struct host *h, int64_t space)
{
	return h->spaces[space];
}

static void close_engine(struct host *h)
{
	if (h->engine == NULL)
		return;
	engine_reader_close(h->reader);
	engine_free(h->engine);
	h->engine = NULL;
	h->reader = NULL;
}

struct host *host_new(struct trace *trace, struct tally *tally, struct host_world world)
{
	struct host *h = mem_zalloc(sizeof(*h));

	h->world = world;
	h->spaces[1] = STR("first");
	h->spaces[2] = STR("second");
	h->spaces[3] = STR("third");
	h->trace = trace;
	h->tally = tally;
	h->follower_page = mem_calloc(EVENTS_AT_ONCE, sizeof(*h->follower_page));
	log_init(&h->log, open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR, LOG_TEXT);
	list_init(&h->requests);
	record_init(h);
	return h;
}

void host_free(struct host *h)
{
	close_engine(h);
	store_close(h->store);
	while (h->all_requests) {
		struct request *q = h->all_requests;

		h->all_requests = q->next;
		arena_release(&q->arena);
		free(q->room);
		free(q);
	}
	for (size_t i = 0; i <= SPACES; i++)
		free((void *)(uintptr_t)h->templates[i].body.p);
	record_release(h);
	free(h->follower_page);
	free(h->posts);
	free(h);
}

/* Whoever waits at the end of a run is not answered any more. */
static void take_back_requests(struct host *h)
{
	h->free_requests = NULL;
	for (struct request *q = h->all_requests; q; q = q->next)
		host_release(h, q);
}

/* After a run that failed nothing is in order: what it had is left behind. */
struct store_conn *host_clear(struct host *h, uint64_t seed, const struct host_faults *faults,
			      const struct space_keep *keep)
{
	static unsigned stores;
	struct buf error;

	if (h->has_failed) {
		h->engine = NULL;
		h->all_requests = NULL;
	}
	close_engine(h);
	if (h->store && !h->has_failed)
		store_close(h->store);
	h->has_failed = true;	/* until host_end says otherwise */
	h->faults = *faults;
	h->random = seed;
	h->seed = seed;
	h->post_count = 0;
	h->follower_at = 0;
	h->follower_hold.done_with = 0;
	h->keep = *keep;
	h->planned = STORE_OK;
	h->is_killed = h->commit_is_kept = false;
	take_back_requests(h);
	memset(h->keys, 0, HOST_KEYS * sizeof(*h->keys));
	list_init(&h->requests);
	if (h->shard_address)
		snprintf(h->address, sizeof(h->address), "%s", h->shard_address);
	else
		snprintf(h->address, sizeof(h->address), "ram:sim-%u", ++stores);
	buf_init(&error, 4096);
	h->store = store_open(h->address, STORE_WRITE, &error);
	if (h->store == NULL)
		trace_fail(h->trace, "the store cannot be made: %.*s", STR_ARG(buf_str(&error)));
	buf_release(&error);
	return h->store;
}

void host_end(struct host *h)
{
	h->has_failed = false;
}

/* The engine is the one that writes from here on; who looks must not be in its way. */
static void look_only(struct host *h)
{
	struct buf error;
	struct store_conn *reader;

	buf_init(&error, 4096);
	reader = store_open(h->address, STORE_READ, &error);
	store_close(h->store);
	h->store = reader;
	buf_release(&error);
}

/* A real envelope in each space: others are made in its likeness. */
static void make_template(struct host *h, int64_t space)
{
	struct request *q = host_request(h, STEP_PACK, space);
	struct envelope_row row;
	struct arena arena;

	host_take_up(h, q);
	engine_step(h->engine);
	host_run_posts(h);
	arena_init(&arena);
	if (store_envelope_get(h->reader->conn, space, 1, &arena, &row) != STORE_OK)
		trace_fail(h->trace, "no envelope can be packed");
	free((void *)(uintptr_t)h->templates[space].body.p);
	row.body.p = mem_strndup(row.body.p, row.body.n);
	row.task = STR("a task");
	row.considered = STR_NULL;
	h->templates[space] = row;
	arena_release(&arena);
}

void host_start(struct host *h, struct check *check, int64_t now_ms)
{
	h->check = check;
	h->now_ms = now_ms;
	look_only(h);
	check_look(check, h->store);
	open_engine(h);
	for (int64_t space = 1; space <= SPACES; space++)
		make_template(h, space);
}

struct store_conn *host_store(const struct host *h)
{
	return h->store;
}

void host_calm(struct host *h)
{
	h->faults = (struct host_faults){0};
}

void host_leave(struct host *h)
{
	close_engine(h);
}

void host_come_back(struct host *h, int64_t now_ms)
{
	h->cluster = NULL;
	host_restart(h, now_ms);
}

void host_restart(struct host *h, int64_t now_ms)
{
	h->now_ms = now_ms;
	open_engine(h);
}

bool host_is_up(const struct host *h)
{
	return h->cluster || h->engine;
}

bool host_has_work(const struct host *h)
{
	struct writer_stats stats = {0};

	if (h->cluster)
		return false;
	if (h->engine)
		writer_stats(h->engine->writer, &stats);
	return stats.queued > 0 || h->post_count > 0;
}

int64_t host_wake_at(const struct host *h)
{
	return h->engine && h->cluster == NULL ? engine_wake_at(h->engine) : 0;
}

/* Not recorded: it is not what is being looked at. */
uint64_t host_envelope(struct host *h, int64_t space, int64_t now_ms)
{
	struct envelope_row row = h->templates[space];
	struct store_conn *c;

	if (h->cluster && !h->cluster->enter_owner(h->cluster->ctx))
		return 0;
	c = h->engine ? h->engine->store : NULL;
	if (c == NULL || atomic_load(&h->engine->failed) ||
	    envelope_numbers_next(h->engine->numbers, h->reader->conn, h->spaces[space], space, &row.num) !=
		    STORE_OK)
		return 0;
	row.created_at_ms = now_ms;
	h->record_count = h->pruned_count = 0;
	if (h->real_verbs->begin(c) != STORE_OK && h->cluster)
		return 0;
	if (!ram_is_own(c) || store_envelope_insert(c, &row) != STORE_OK ||
	    h->real_verbs->commit(c) != STORE_OK)
		trace_fail(h->trace, "env-%llu cannot be stored", (unsigned long long)row.num);
	return row.num;
}

/* --- Faults --- */

static void plan_faults(struct host *h)
{
	uint64_t dice = random_below(&h->random, 1000000), verb = 1 + random_below(&h->random, 40);
	bool is_kept = random_chance(&h->random, 500);

	h->is_killed = h->commit_is_kept = h->has_committed = false;
	h->rollbacks = h->refused = 0;
	h->planned = STORE_OK;
	if (dice < h->faults.killed_before + h->faults.verb_failed) {
		h->is_killed = dice < h->faults.killed_before;
		h->planned = STORE_FAILED;
		ram_fail(h->store, STORE_FAILED, verb, 1 << 20);
		return;
	}
	dice -= h->faults.killed_before + h->faults.verb_failed;
	if (dice < h->faults.full) {
		h->planned = STORE_FULL;
		ram_fail(h->store, STORE_FULL, 1 + verb / 3, random_below(&h->random, 12));
		return;
	}
	dice -= h->faults.full;
	if (dice < h->faults.commit_failed) {
		h->planned = STORE_UNKNOWN;
		h->commit_is_kept = is_kept;
		ram_fail_commit(h->store, is_kept);
	}
}

/* The process is gone. Whoever has no answer gets none. */
static bool die(struct host *h, enum tally_fault fault)
{
	static const char *const why[FAULT_KINDS] = {
		[FAULT_KILLED_BEFORE_COMMIT] = "killed in a transaction",
		[FAULT_KILLED_AFTER_COMMIT] = "killed before it answered",
		[FAULT_VERB_FAILED] = "the store failed", [FAULT_COMMIT_FAILED_LOST] = "a commit failed and is lost",
		[FAULT_COMMIT_FAILED_KEPT] = "a commit failed and is there",
	};

	trace_note(h->trace, h->now_ms, why[fault], 0);
	h->tally->faults[fault]++;
	h->post_count = 0;
	close_engine(h);
	ram_heal(h->store);
	while (!list_is_empty(&h->requests)) {
		struct request *q = LIST_ELEMENT(h->requests.next, struct request, link);

		list_remove(&q->link);
		q->is_with_engine = false;
		h->world.done(h->world.ctx, q, false);
	}
	check_whole(h->check);
	return false;
}

/* --- Ticks --- */

/* The store has failed: the engine says so to everybody, and is closed. */
static bool fail(struct host *h)
{
	bool is_commit = store_is_failed(h->engine->store);

	if (h->is_killed)
		return die(h, FAULT_KILLED_BEFORE_COMMIT);
	host_run_posts(h);
	return die(h, !is_commit ? FAULT_VERB_FAILED
		      : h->commit_is_kept ? FAULT_COMMIT_FAILED_KEPT : FAULT_COMMIT_FAILED_LOST);
}

/* It may look too early, never too late; where it could not do what was due, a while later. */
void host_check_clock(struct host *h)
{
	int64_t due_ms = ram_next_due(h->store), wake_ms = engine_wake_at(h->engine);

	if (due_ms && h->is_behind && due_ms < h->now_ms + RETRY_MS)
		due_ms = h->now_ms + RETRY_MS;
	if (due_ms && (wake_ms == 0 || wake_ms > due_ms))
		trace_fail(h->trace, "something is due at %lld, and the engine wakes at %lld", (long long)due_ms,
			   (long long)wake_ms);
}

void host_check_waiting(struct host *h, struct list *requests)
{
	for (struct list *l = requests->next; l != requests; l = l->next) {
		struct request *q = LIST_ELEMENT(l, struct request, link);

		if (!q->u.op.wait.is_waiting)
			trace_fail(h->trace, "a %s is neither answered nor waits", step_name(q->step.kind));
		check_waits(h->check, &q->step, q->step.kind == STEP_SEND ? q->u.send.row.num : 0, h->now_ms);
	}
}

/* Only the one to blame is refused. */
static void check_requests(struct host *h)
{
	if (h->refused > h->rollbacks)
		trace_fail(h->trace, "%zu were refused, and %zu transactions", h->refused, h->rollbacks);
	if (!host_has_work(h))
		host_check_waiting(h, &h->requests);
}

bool host_tick(struct host *h, int64_t now_ms)
{
	int64_t wake_ms = host_wake_at(h);

	assert(h->engine);
	h->now_ms = now_ms;
	if (!host_has_work(h) && (wake_ms == 0 || wake_ms > now_ms))
		return true;
	plan_faults(h);
	engine_step(h->engine);
	if (atomic_load(&h->engine->failed))
		return fail(h);
	ram_heal(h->store);
	if (h->planned == STORE_FULL && h->rollbacks)
		h->tally->faults[FAULT_FULL]++;
	if (h->has_committed && random_below(&h->random, 1000000) < h->faults.killed_after)
		return die(h, FAULT_KILLED_AFTER_COMMIT);
	host_run_posts(h);
	host_check_clock(h);
	check_requests(h);
	if (h->follower_is_woken && h->shard_address == NULL && random_chance(&h->random, 200))
		follow(h);
	return true;
}

/* A sweep begins at least once a minute, and takes a while: two of them, behind the longest time. */
int64_t host_grow_old(struct host *h, int64_t now_ms)
{
	int64_t longest_ms = h->keep.events_ms > h->keep.handoffs_ms ? h->keep.events_ms : h->keep.handoffs_ms;
	int64_t until_ms = now_ms + longest_ms + (int64_t)2 * AGE_SWEEP_MS;

	while (longest_ms && host_wake_at(h) && host_wake_at(h) < until_ms) {
		now_ms = host_wake_at(h) > now_ms ? host_wake_at(h) : now_ms + 1;
		if (!host_tick(h, now_ms))
			trace_fail(h->trace, "it has failed in the calm");
		if (h->shard_address == NULL)
			follow(h);
	}
	return now_ms;
}
