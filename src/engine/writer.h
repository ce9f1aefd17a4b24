/* Group commit: one thread, one connection, many requests in one transaction.
 *
 * DESIGN. Jobs come from any thread into one queue. The writer takes all that is there (up to WRITER_BATCH_MAX), runs
 * them in their order in one transaction, commits, and only then calls their `done`. Nobody waits for a timer: while
 * one fsync is under way the next batch gathers. A job is acknowledged by its `done` with STORE_OK, which is called
 * after the commit has returned from fsync; that order is the promise "durable before reply", and this file is where it
 * is kept.
 *
 * A job that decides to refuse its request writes nothing and returns STORE_OK. A job that returns another status makes
 * the whole transaction roll back; then each job of the batch runs again, alone, so that only the one to blame fails.
 * For that reason `run` may be called more than once and must set its results anew each time; it must not touch what
 * lives outside the transaction (that is for `done`). STORE_NOT_FOUND, STORE_EXISTS and STORE_REFUSED are such
 * statuses: the job was answered what it did not expect, and is undone. They never stop the writer.
 *
 * Hooks let somebody act within each transaction: on what time has brought, before its jobs; on what the jobs have
 * changed, before its commit; and afterwards, when it is known whether it happened. They are called for every
 * transaction that is tried. A hook that gets such an answer returns it, and in `after` sees to it that the same does
 * not happen again at once: the transaction is tried again as it was, since its jobs are not to blame.
 *
 * When another process holds the store's lock for writing (STORE_BUSY), nothing has happened, and running each job
 * alone would wait for it once more: the whole batch is refused.
 *
 * When the store fails (at commit, or in a job that ran alone), the writer acknowledges nothing any more. After a
 * failed fsync nobody knows what is on disk, and trying again would turn a lost write into a reported one: the jobs of
 * that transaction, which are not run again, get STORE_UNKNOWN. Every later one gets STORE_FAILED: it has not happened.
 */
#ifndef SPINE_ENGINE_WRITER_H
#define SPINE_ENGINE_WRITER_H

#include "store/store.h"

struct writer;

enum { WRITER_CALM_MS = 10 * 1000 };

struct writer_job {
	struct writer_job *next;	/* the writer's */
	enum store_status status;	/* the writer's */
	/* On the writer's thread, in a transaction. */
	enum store_status (*run)(struct writer_job *job, struct store_conn *c, int64_t now_ms);
	/* On the writer's thread, once, after the commit (STORE_OK) or the failure. The job may be freed by it. */
	void (*done)(struct writer_job *job, enum store_status status);
};

/* All optional, all on the writer's thread. */
struct writer_hooks {
	void *ctx;
	/* In the transaction, before its jobs. Another status than STORE_OK rolls it back; after an answer
	 * (store_is_answer) it is tried again. */
	enum store_status (*begin)(void *ctx, struct store_conn *c, int64_t now_ms);
	/* In the transaction, after its jobs. */
	enum store_status (*before_commit)(void *ctx, struct store_conn *c, int64_t now_ms);
	/* After the commit, or the failure. Before the jobs' `done`. */
	void (*after)(void *ctx, bool committed);
	/* When a transaction is to run even without jobs; 0: never. */
	int64_t (*wake_at_ms)(void *ctx);
};

struct writer_config {
	struct writer_hooks hooks;
	struct store_conn *conn;	/* borrowed; the writer's thread's alone until writer_stop */
	size_t max_queue;
	int64_t (*now_ms)(void *ctx);
	/* Called once, on the writer's thread, when the store has failed. Optional. */
	void (*on_failure)(void *ctx, const char *why);
	/* Called on the writer's thread when the store begins to refuse what may work later (STORE_FULL, STORE_BUSY),
	 * and with STORE_OK at the first commit when it has refused nothing for WRITER_CALM_MS: on a disk that is full
	 * small writes still find room between the refused ones. Optional. */
	void (*on_refusal)(void *ctx, enum store_status status, const char *why);
	void *ctx;
};

/* Returns owned. Jobs may be submitted; none is run before writer_start or writer_step. */
struct writer *writer_new(const struct writer_config *config);
/* Starts its thread. */
void writer_start(struct writer *w);
/* Without a thread: runs what was submitted, and what the hooks have to do, in one transaction. */
void writer_step(struct writer *w);
/* False where the queue is full (nothing happens to the job then). From any thread. */
bool writer_submit(struct writer *w, struct writer_job *job);
/* The same for what must not be refused, such as the end of something that was accepted. */
void writer_submit_always(struct writer *w, struct writer_job *job);
/* Does what was submitted, then ends the thread. No submit may come after it. NULL-safe. */
void writer_stop(struct writer *w);
/* After writer_stop, or without a thread. NULL-safe. */
void writer_free(struct writer *w);

struct writer_stats {
	size_t queued;
	uint64_t jobs;
	uint64_t commits;
	bool failed;
};

void writer_stats(struct writer *w, struct writer_stats *ret);

#endif
