/* The one place where a set of spaces changes. main or a test opens one on a store and gives it operations (op.h).
 *
 * Nothing here is global: several engines can live in one process, each with a store of its own.
 *
 *     writer's thread   runs operations in transactions, and the clock of delivery (writer.h, waiting.h)
 *     owners' threads   prepare and read, each with a reader of its own (engine_reader_open)
 *     others            build an index (indexer.h), judge the figures (watch.h), do what takes long (workers.h)
 *
 * A stepped engine has none of these threads: its owner calls engine_step, with a clock of its own. So a simulation
 * runs what the server runs.
 */
#ifndef SPINE_ENGINE_ENGINE_H
#define SPINE_ENGINE_ENGINE_H

#include "base/log.h"
#include "core/memory/recall.h"
#include "core/problem.h"
#include "core/watch/alerts.h"
#include "engine/envelope_numbers.h"
#include "engine/spaces.h"
#include "engine/writer.h"

#include <stdatomic.h>

struct listener;
struct growth;
struct indexer;
struct keyring;
struct memory_numbers;
struct quota;
struct retention;
struct token_cache;
struct waiting;
struct watch;
struct workers;

/* Other servers have the same keys. */
struct engine_spread {
	/* On the writer's thread, after a commit. When each of them goes by the keys as they were committed, or serves
	 * nothing any more, then(arg) is called, once, on any thread. NULL: there are none. */
	void (*wait)(void *ctx, void (*then)(void *arg), void *arg);
	void *ctx;
};

struct engine_config {
	const char *data_dir;		/* address of the store; borrowed */
	const struct log *log;		/* borrowed */
	int64_t key_ttl_ms;		/* so long an answer is kept for its key */
	int64_t queue_timeout_ms;	/* of handoffs whose sender and agent do not say; 0: the default */
	int64_t breaker_open_ms;	/* how long a circuit breaker stays open; 0: the default */
	size_t max_queue;		/* of operations that wait for the writer */
	size_t cache_bytes;		/* of rows that are kept in memory */
	size_t token_entries;		/* of counts of tokens that are remembered */
	uint64_t seed;			/* of everything that is left to chance */
	struct alert_rules rules;
	struct space_quota quota;	/* of spaces that do not say it themselves; 0: none */
	struct space_keep keep;		/* of spaces that do not say it themselves; 0: for ever */
	bool is_stepped;		/* no threads: engine_step runs it */
	struct keyring *keyring;	/* shared with other engines; borrowed. NULL: it has its own */
	struct engine_spread spread;
	/* The clock. It is not asked before begin_clock, which is called once, with the newest time in the store (0:
	 * none): it says nothing less. Without clock_offset_ms it does not differ from the machine's. Both are
	 * optional. */
	int64_t (*now_ms)(void *ctx);
	void (*begin_clock)(void *ctx, int64_t newest_ms);
	int64_t (*clock_offset_ms)(void *ctx);
	void *ctx;
};

/* Somebody who posts handoffs to the agents that have a webhook. */
struct engine_webhooks {
	/* From any thread: may this address be one? */
	enum problem_code (*check)(void *ctx, struct str url, struct problem *problem);
	/* On the writer's thread, after the commit of an agent's settings: it has one now, or none. */
	void (*set)(void *ctx, const struct agent_place *agent, bool has_webhook);
	void *ctx;
};

struct engine {
	struct engine_config config;
	const struct log *log;
	const char *data_dir;
	struct store_conn *store;	/* the writer's: others only share its rows, and ask what they take */
	struct writer *writer;
	struct spaces *spaces;
	struct envelope_numbers *numbers;
	struct memory_numbers *memory_numbers;
	struct quota *quota;
	struct recall *recall;
	struct token_cache *tokens;	/* of prompts */
	struct indexer *indexer;	/* NULL: stepped */
	struct workers *workers;	/* the same */
	struct waiting *waiting;
	struct retention *retention;
	struct growth *growth;
	struct keyring *keyring;	/* who is let in */
	struct watch *watch;
	struct damage *damage;		/* what of the store was found to be damaged */
	struct listener *listeners;
	struct engine_webhooks webhooks;	/* set before engine_start; without it nobody is asked or told */
	atomic_bool draining;
	atomic_bool failed;		/* the store has failed: nothing is acknowledged any more */
	/* The writer's thread's own. */
	int64_t keys_next_ms;		/* when answers that were kept for a key are to go; 0: there are none */
	bool is_removing;		/* the transaction under way removes a space */
};

/* Opens the store, which must not be open elsewhere for writing. On failure returns NULL, with a sentence in *error.
 * Returns owned. Nothing happens before engine_start. */
struct engine *engine_open(const struct engine_config *config, struct buf *error);
/* Before engine_start. Borrows l. */
void engine_listen(struct engine *e, struct listener *l);
void engine_start(struct engine *e);
/* No operation waits any more: those that do are answered. */
void engine_drain(struct engine *e);
/* Does what was accepted, then ends the threads. NULL-safe, as the next. */
void engine_stop(struct engine *e);
void engine_free(struct engine *e);

/* Of a stepped engine: runs what was submitted and what is due, in one transaction. */
void engine_step(struct engine *e);
/* Of a stepped engine: when it wants to be stepped though nothing was submitted; 0: not at all. */
int64_t engine_wake_at(struct engine *e);

int64_t engine_now_ms(const struct engine *e);
/* So much is that ahead of the machine's wall clock; below 0: behind. */
int64_t engine_clock_offset_ms(const struct engine *e);

/* Somebody who is told of every commit, on the writer's thread, and does no more than to wake whoever reads what was
 * committed. */
struct listener {
	/* With the ids of the agents that something was queued for. */
	void (*committed)(void *ctx, const int64_t *agents, size_t count);
	/* Optional, for tests: a handoff was changed, in a transaction that may be undone yet. */
	void (*changed)(void *ctx, const struct handoff_row *h);
	void *ctx;
	struct listener *next;		/* the engine's */
};

/* What a thread reads with. */
struct engine_reader {
	struct store_conn *conn;
	struct recall_scratch *scratch;
};

/* Returns owned, or NULL and a sentence in *error. For one thread. */
struct engine_reader *engine_reader_open(struct engine *e, struct buf *error);
/* NULL-safe. */
void engine_reader_close(struct engine_reader *r);

#endif
