#include "engine/engine.h"

#include "base/mem.h"
#include "engine/access/keyring.h"
#include "engine/damage.h"
#include "engine/growth.h"
#include "engine/indexer.h"
#include "engine/key.h"
#include "engine/memory_numbers.h"
#include "engine/quota.h"
#include "engine/retention.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"
#include "engine/workers.h"
#include "token/token_cache.h"

#include <stdlib.h>

/* Two large requests at a time; on a machine with few cores more would only take turns. */
enum { WORKERS = 2 };

int64_t engine_now_ms(const struct engine *e)
{
	return e->config.now_ms(e->config.ctx);
}

int64_t engine_clock_offset_ms(const struct engine *e)
{
	return e->config.clock_offset_ms ? e->config.clock_offset_ms(e->config.ctx) : 0;
}

static int64_t clock_of_writer(void *ctx)
{
	return engine_now_ms(ctx);
}

static void on_failure(void *ctx, const char *why)
{
	struct engine *e = ctx;

	atomic_store(&e->failed, true);
	log_write(e->log, LOG_ERROR, "the store failed: no write is acknowledged any more; restart the server after "
		  "repairing the cause", LOG_STR("error", why));
}

static void on_refusal(void *ctx, enum store_status status, const char *why)
{
	struct engine *e = ctx;

	if (status == STORE_OK)
		log_write(e->log, LOG_INFO, "the store takes every write again");
	else if (status == STORE_BUSY && store_is_lost(e->store))
		log_write(e->log, LOG_INFO, "writes are refused: these spaces have another owner by now",
			  LOG_STR("error", why));
	else if (status == STORE_BUSY && store_is_served(e->store))
		log_write(e->log, LOG_WARN, "writes are refused: the database does not answer just now",
			  LOG_STR("error", why));
	else if (status == STORE_BUSY)
		log_write(e->log, LOG_WARN, "writes are refused: another process holds the store's lock for writing; "
			  "end it, or let it commit", LOG_STR("error", why));
	else
		log_write(e->log, LOG_WARN, "writes are refused: there is no room on the disk, in its quota, or "
			  "within the limit on the size of a file (ulimit -f); make some", LOG_STR("error", why));
}

/* --- The hooks of the writer, for all who have a part in a transaction --- */

static enum store_status hook_begin(void *ctx, struct store_conn *c, int64_t now_ms)
{
	struct engine *e = ctx;
	enum store_status status;

	status = waiting_begin(e->waiting, c, now_ms);
	if (status == STORE_OK)
		status = key_begin(e, c, now_ms);
	return status == STORE_OK ? retention_begin(e->retention, c, now_ms) : status;
}

static enum store_status hook_before_commit(void *ctx, struct store_conn *c, int64_t now_ms)
{
	struct engine *e = ctx;
	enum store_status status = retention_before_commit(e->retention, c);

	(void)now_ms;
	return status == STORE_OK ? waiting_serve(e->waiting, c) : status;
}

/* The figures first: whoever is answered finds itself in them. */
static void hook_after(void *ctx, bool committed)
{
	struct engine *e = ctx;

	e->is_removing = false;
	key_after(e, committed);
	retention_after(e->retention, committed);
	if (committed)
		growth_note(e->growth, e->store, engine_now_ms(e));
	watch_after(e->watch, committed);
	waiting_after(e->waiting, committed);
	retention_end(e->retention);
	keyring_pass(e->keyring, engine_now_ms(e));
}

/* 0: never. */
static int64_t sooner(int64_t a, int64_t b)
{
	return a && (b == 0 || a < b) ? a : b;
}

static int64_t hook_wake_at(void *ctx)
{
	struct engine *e = ctx;
	int64_t wake_ms = sooner(waiting_wake_at(e->waiting), retention_wake_at(e->retention));

	return sooner(sooner(wake_ms, e->keys_next_ms), keyring_wake_at(e->keyring));
}

/* --- Life --- */

static void make_parts(struct engine *e)
{
	struct writer_config writer = {
		.hooks = {e, hook_begin, hook_before_commit, hook_after, hook_wake_at},
		.conn = e->store, .max_queue = e->config.max_queue, .now_ms = clock_of_writer,
		.on_failure = on_failure, .on_refusal = on_refusal, .ctx = e,
	};

	store_set_cache(e->store, e->config.cache_bytes);
	e->spaces = spaces_new();
	e->numbers = envelope_numbers_new();
	e->memory_numbers = memory_numbers_new();
	e->quota = quota_new(&e->config.quota, e->spaces);
	e->recall = recall_new(e->config.seed);
	e->tokens = token_cache_new(e->config.token_entries, e->config.seed + 1);
	e->waiting = waiting_new(e, e->store, e->config.seed + 2);
	e->retention = retention_new(e, e->store);
	e->growth = growth_new();
	e->damage = damage_new(e->log);
	e->writer = writer_new(&writer);
	key_start(e, e->store);
}

/* Every write leaves an event, and time does not go back: the newest has the latest time of all that was committed. */
static bool begin_clock(struct engine *e, struct buf *error)
{
	struct event_row newest = {0};
	struct arena arena;
	int64_t last = 0;
	size_t count = 0;
	enum store_status status;

	if (e->config.begin_clock == NULL)
		return true;
	arena_init(&arena);
	status = store_event_last(e->store, 0, &last);
	if (status == STORE_OK && last)
		status = store_events(e->store, 0, 0, last - 1, 1, &arena, &newest, &count);
	if (status == STORE_OK)
		e->config.begin_clock(e->config.ctx, count ? newest.at_ms : 0);
	else
		buf_printf(error, "the store cannot be read: %s", store_error(e->store));
	arena_release(&arena);
	return status == STORE_OK;
}

struct engine *engine_open(const struct engine_config *config, struct buf *error)
{
	struct engine *e = mem_zalloc(sizeof(*e));

	e->config = *config;
	e->log = config->log;
	e->data_dir = config->data_dir;
	e->store = store_open(config->data_dir, STORE_WRITE, error);
	if (e->store && begin_clock(e, error))
		e->keyring = config->keyring ? config->keyring : keyring_open(e->store, engine_now_ms(e), error);
	if (e->keyring) {
		make_parts(e);
		e->watch = watch_new(e, e->store, &config->rules, error);
	}
	if (e->watch == NULL) {
		engine_free(e);
		return NULL;
	}
	return e;
}

void engine_listen(struct engine *e, struct listener *l)
{
	l->next = e->listeners;
	e->listeners = l;
}

/* Without them everything is done where it was asked for. */
static void start_workers(struct engine *e)
{
	struct buf error;

	buf_init(&error, 4096);
	e->workers = workers_start(e, WORKERS, &error);
	if (e->workers == NULL)
		log_write(e->log, LOG_ERROR, "large requests will hold up others", LOG_SLICE("error", buf_str(&error)));
	buf_release(&error);
}

void engine_start(struct engine *e)
{
	if (e->config.is_stepped)
		return;
	e->indexer = indexer_start(e->recall, e->spaces, e->data_dir, e->log);
	start_workers(e);
	writer_start(e->writer);
	watch_start(e->watch);
}

void engine_drain(struct engine *e)
{
	atomic_store(&e->draining, true);
}

void engine_stop(struct engine *e)
{
	if (e == NULL)
		return;
	indexer_stop(e->indexer);
	e->indexer = NULL;
	workers_stop(e->workers);
	e->workers = NULL;
	watch_stop(e->watch);
	writer_stop(e->writer);
}

void engine_free(struct engine *e)
{
	if (e == NULL)
		return;
	writer_free(e->writer);
	watch_free(e->watch);
	waiting_free(e->waiting);
	retention_free(e->retention);
	growth_free(e->growth);
	damage_free(e->damage);
	token_cache_free(e->tokens);
	recall_free(e->recall);
	memory_numbers_free(e->memory_numbers);
	quota_free(e->quota);
	envelope_numbers_free(e->numbers);
	spaces_free(e->spaces);
	if (e->config.keyring == NULL)
		keyring_free(e->keyring);
	store_close(e->store);
	free(e);
}

void engine_step(struct engine *e)
{
	writer_step(e->writer);
}

int64_t engine_wake_at(struct engine *e)
{
	return atomic_load(&e->failed) ? 0 : hook_wake_at(e);
}

/* --- Readers --- */

struct engine_reader *engine_reader_open(struct engine *e, struct buf *error)
{
	struct engine_reader *r;
	struct store_conn *c = store_open(e->data_dir, STORE_READ, error);

	if (c == NULL)
		return NULL;
	r = mem_zalloc(sizeof(*r));
	r->conn = c;
	r->scratch = recall_scratch_new(e->recall);
	store_share(c, e->store);
	return r;
}

void engine_reader_close(struct engine_reader *r)
{
	if (r == NULL)
		return;
	store_close(r->conn);
	recall_scratch_free(r->scratch);
	free(r);
}
