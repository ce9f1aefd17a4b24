/* What the engine lives in here: a clock, chance, a store in memory, callers whose connections break, and a hard life.
 *
 * It is the engine that the server runs (engine/engine.h), stepped instead of threaded, on a store in memory. The host
 * is the owner of its operations. A tick lets the engine run one batch: what was submitted, and what is due; then what
 * the engine has posted is carried out. The engine may be killed at any verb of the store, or between the commit and
 * the answers; what is opened again knows what was committed, and nothing else.
 *
 * Every run of an operation is recorded with what it changed; when its transaction is committed the checker sees it.
 * What retention takes away is recorded, too, and checked behind what was due: in this order a transaction does it.
 */
#ifndef SPINE_TESTS_SIM_HOST_H
#define SPINE_TESTS_SIM_HOST_H

#include "base/list.h"
#include "check.h"

enum { HOST_TICK_MAX_MS = 3 };

struct host;
struct request;

/* What the world is asked for. */
struct host_world {
	/* The answer is in the step; or is_known is false: nobody knows what became of it. Takes the request. */
	void (*done)(void *ctx, struct request *q, bool is_known);
	/* host_wait_is_over is to be called when so much time has passed. */
	void (*wait)(void *ctx, struct request *q, int64_t wait_ms);
	void *ctx;
};

/* How often something goes wrong, in a million transactions. */
struct host_faults {
	unsigned killed_before, killed_after, full, verb_failed, commit_failed;
};

/* Several servers over one database: the store of a host is one of its shards, whose engines are somebody else's. */
struct host_cluster {
	/* As host_submit. */
	void (*submit)(void *ctx, struct request *q);
	/* The engine that owns the shard is made the one at hand; false where there is none, or it is at work. */
	bool (*enter_owner)(void *ctx);
	void *ctx;
};

/* From the next host_clear on. The address is of a shard, the spaces belong to it; all is borrowed. */
void host_set_shard(struct host *h, const char *address, const struct str spaces[2],
		    const struct host_cluster *cluster);
/* The name of a space. */
struct str host_space(const struct host *h, int64_t space);
/* The engine of the host itself goes, for others; and comes back, alone. */
void host_leave(struct host *h);
void host_come_back(struct host *h, int64_t now_ms);

/* Borrows all. Returns owned. */
struct host *host_new(struct trace *trace, struct tally *tally, struct host_world world);
void host_free(struct host *h);
/* An empty store, for the next run: host_start is called when the agents are in it. */
struct store_conn *host_clear(struct host *h, uint64_t seed, const struct host_faults *faults,
			      const struct space_keep *keep);
void host_start(struct host *h, struct check *check, int64_t now_ms);
/* The run has ended well. */
void host_end(struct host *h);
/* To look at; see ram_inspect.h. */
struct store_conn *host_store(const struct host *h);
/* From now on nothing goes wrong. */
void host_calm(struct host *h);

/* A request with its step set to nothing. Returns owned. */
struct request *host_request(struct host *h, enum step_kind kind, int64_t space);
struct step *request_step(struct request *q);
/* The caller's own. */
void request_set_ctx(struct request *q, void *ctx);
void *request_ctx(const struct request *q);
void host_release(struct host *h, struct request *q);

/* A new envelope; 0 where it could not be made just now. */
uint64_t host_envelope(struct host *h, int64_t space, int64_t now_ms);
/* Takes the request. */
void host_submit(struct host *h, struct request *q, int64_t now_ms);
/* The time to wait is over, or the caller has gone. Nothing where it is answered already. */
void host_wait_is_over(struct host *h, struct request *q, uint64_t serial, bool is_gone);
/* Of the request at hand: a request that is used again has another one. */
uint64_t request_serial(const struct request *q);
/* Runs what is there and what is due. False: it was killed, or its store has failed. */
bool host_tick(struct host *h, int64_t now_ms);
void host_restart(struct host *h, int64_t now_ms);
bool host_is_up(const struct host *h);
bool host_has_work(const struct host *h);
/* When it wants to be ticked though nobody asks; 0: never. */
int64_t host_wake_at(const struct host *h);
/* Nobody asks for anything any more. Lets the time pass after which all that is old must be gone; returns the time. */
int64_t host_grow_old(struct host *h, int64_t now_ms);
/* The follower has read every event, once and in order. */
void host_check_follower(struct host *h);

#endif
