#include "host_internal.h"

#include "base/mem.h"
#include "store/ram/ram.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEY_TTL_MS = 600000, EVENTS_AT_ONCE = 500, SPACES = 2 };

/* --- Requests --- */

struct request *host_request(struct host *h, enum step_kind kind, int64_t space)
{
	struct request *q = h->free_requests;

	if (q) {
		h->free_requests = q->next_free;
	} else {
		q = mem_zalloc(sizeof(*q));
		q->room = mem_alloc(REQUEST_ROOM);
		q->host = h;
	}
	q->step = (struct step){.kind = kind, .space = space, .max_take = 1};
	q->serial = ++h->serials;
	q->is_with_engine = q->is_gone = false;
	arena_init_room(&q->arena, q->room, REQUEST_ROOM);
	return q;
}

void host_release(struct host *h, struct request *q)
{
	arena_release(&q->arena);
	q->serial = 0;
	q->next_free = h->free_requests;
	h->free_requests = q;
}

struct step *request_step(struct request *q)
{
	return &q->step;
}

void request_set_ctx(struct request *q, void *ctx)
{
	q->ctx = ctx;
}

void *request_ctx(const struct request *q)
{
	return q->ctx;
}

uint64_t request_serial(const struct request *q)
{
	return q->serial;
}

/* --- The owner of the operations --- */

static void post(struct op *op, void (*fn)(void *op))
{
	struct host *h = ((struct request *)op->ctx)->host;

	if (h->post_count == h->post_cap) {
		h->post_cap = h->post_cap ? 2 * h->post_cap : 256;
		h->posts = mem_reallocarray(h->posts, h->post_cap, sizeof(*h->posts));
	}
	h->posts[h->post_count++] = (struct post){op, fn};
}

/* An answer that was kept is about the same envelope. */
static void check_replay(struct host *h, const struct request *q)
{
	uint64_t num = q->step.row.num, envelope = q->step.envelope ? q->step.envelope : q->step.order.envelope;

	if (num && (num > ram_handoff_count(h->store, q->step.space) ||
		    ram_handoff(h->store, q->step.space, num)->envelope != envelope))
		trace_fail(h->trace, "the answer that was kept for env-%llu tells of ho-%llu",
			   (unsigned long long)envelope, (unsigned long long)num);
	h->tally->replays++;
}

static void finish(struct op *op)
{
	struct request *q = op->ctx;
	struct host *h = q->host;

	request_read(q);
	if (q->step.code == P_STORE_FULL && h->planned != STORE_FULL)
		trace_fail(h->trace, "the store was called full, and is not");
	if (q->step.is_replayed)
		check_replay(h, q);
	else if (!q->is_gone)
		check_promise(h->check, &q->step);
	list_remove(&q->link);
	q->is_with_engine = false;
	h->world.done(h->world.ctx, q, !q->is_gone);
}

static bool is_gone(const struct op *op)
{
	return ((const struct request *)op->ctx)->is_gone;
}

static void keep(struct op *op, struct kept_reply *ret)
{
	ret->status = 200;
	ret->body = request_write(op->ctx);
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	struct request *q = op->ctx;

	q->host->world.wait(q->host->world.ctx, q, wait_ms);
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for};

void host_submit(struct host *h, struct request *q, int64_t now_ms)
{
	h->now_ms = now_ms;
	if (h->engine == NULL) {
		h->world.done(h->world.ctx, q, false);
		return;
	}
	request_fill(q);
	q->u.op.owner = &owner;
	q->is_with_engine = true;
	list_init(&q->link);
	list_add(&h->requests, &q->link);
	if (q->step.kind == STEP_TAKE || q->step.kind == STEP_JOIN)
		op_may_wait(&q->u.op, q->step.wait_ms);
	engine_run(&q->u.op);
}

void host_wait_is_over(struct host *h, struct request *q, uint64_t serial, bool is_gone)
{
	(void)h;
	if (q->serial != serial || !q->is_with_engine)
		return;
	q->is_gone |= is_gone;
	engine_nudge(&q->u.op);
}

/* --- Following --- */

static void on_ended(void *ctx, bool committed)
{
	struct host *h = ctx;

	h->follower_is_woken |= committed;
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
}

void host_check_follower(struct host *h)
{
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
		.data_dir = h->address, .log = &h->log, .key_ttl_ms = KEY_TTL_MS, .max_queue = 100000,
		.seed = h->seed++, .rules = alert_rules_default, .is_stepped = true, .now_ms = clock_of, .ctx = h,
	};
	struct buf error;

	buf_init(&error, 4096);
	h->engine = engine_open(&config, &error);
	h->reader = h->engine ? engine_reader_open(h->engine, &error) : NULL;
	if (h->reader == NULL)
		trace_fail(h->trace, "the engine cannot be opened: %.*s", STR_ARG(buf_str(&error)));
	buf_release(&error);
	record_begin(h, h->engine->store);
	h->follower.ended = on_ended;
	h->follower.ctx = h;
	engine_follow(h->engine, &h->follower);
	engine_start(h->engine);
	h->is_behind = true;
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
	h->trace = trace;
	h->tally = tally;
	h->follower_page = mem_calloc(EVENTS_AT_ONCE, sizeof(*h->follower_page));
	log_init(&h->log, STDERR_FILENO, LOG_OFF, LOG_TEXT);
	list_init(&h->requests);
	record_init(h);
	return h;
}

void host_free(struct host *h)
{
	close_engine(h);
	store_close(h->store);
	while (h->free_requests) {
		struct request *q = h->free_requests;

		h->free_requests = q->next_free;
		free(q->room);
		free(q);
	}
	for (size_t i = 0; i <= SPACES; i++)
		free((void *)(uintptr_t)h->templates[i].p);
	record_release(h);
	free(h->follower_page);
	free(h->posts);
	free(h);
}

/* After a run that failed nothing is in order: what it had is left behind. */
struct store_conn *host_clear(struct host *h, uint64_t seed, const struct host_faults *faults)
{
	static unsigned stores;
	struct buf error;

	if (h->has_failed) {
		h->engine = NULL;
		h->free_requests = NULL;
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
	h->planned = STORE_OK;
	h->is_killed = h->commit_is_kept = false;
	list_init(&h->requests);
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
static void make_templates(struct host *h)
{
	for (int64_t space = 1; space <= SPACES; space++) {
		struct request *q = host_request(h, STEP_PACK, space);
		struct envelope_row row;

		h->templates_are_made = false;
		host_submit(h, q, h->now_ms);
		engine_step(h->engine);
		while (h->post_count) {
			struct post p = h->posts[--h->post_count];

			p.fn(p.op);
		}
		if (store_envelope_get(h->reader->conn, space, 1, &q->arena, &row) != STORE_OK)
			trace_fail(h->trace, "no envelope can be packed");
		free((void *)(uintptr_t)h->templates[space].p);
		h->templates[space] = (struct str){mem_strndup(row.body.p, row.body.n), row.body.n};
		h->template_rows[space] = row;
	}
}

void host_start(struct host *h, struct check *check, int64_t now_ms)
{
	h->check = check;
	h->now_ms = now_ms;
	look_only(h);
	open_engine(h);
	make_templates(h);
	h->templates_are_made = true;
}
