/* The server of the simulation: what engine/writer.c and engine/waiting.c do around delivery, on a clock of its own, and
 * with a hard life.
 *
 * Requests gather; a tick runs them in one transaction, after what is due and before what waits for it, and answers
 * them once it is committed. When one of them fails, the transaction is rolled back and each runs again, alone. The
 * server may be killed at any verb of the store, or between the commit and the answers; what then starts again knows
 * what was committed, and nothing else.
 */
#ifndef SPINE_TESTS_SIM_SERVER_H
#define SPINE_TESTS_SIM_SERVER_H

#include "base/list.h"
#include "check.h"

enum { SERVER_STEPS_MAX = 6, SERVER_BATCH_MAX = 64, SERVER_TICK_MAX_MS = 3 };

struct request {
	struct list link;
	struct step steps[SERVER_STEPS_MAX];
	size_t count;				/* more than one: a publish */
	bool waits;				/* TAKE: until there is something */
	/* is_known: the answer is in the steps. Otherwise nobody knows what became of it. Takes the request. */
	void (*done)(void *ctx, struct request *q, bool is_known);
	void *ctx;
};

/* How often something goes wrong, in a million transactions. */
struct server_faults {
	unsigned killed_before, killed_after, full, verb_failed, commit_failed;
};

struct server;

/* Borrows all. Returns owned. */
struct server *server_new(struct store_conn *store, struct check *check, struct trace *trace, struct tally *tally);
void server_free(struct server *s);
/* A new server, for the next run. */
void server_clear(struct server *s, uint64_t seed, const struct server_faults *faults);
/* From now on nothing goes wrong. */
void server_calm(struct server *s);

/* Takes the request. */
void server_submit(struct server *s, struct request *q, int64_t now_ms);
/* Runs what is there and what is due. False: it was killed. */
bool server_tick(struct server *s, int64_t now_ms);
void server_restart(struct server *s, int64_t now_ms);
bool server_is_up(const struct server *s);
bool server_has_work(const struct server *s);
/* When it wants to be ticked though nobody asks; 0: never. */
int64_t server_wake_at(const struct server *s);
/* Answers everything that is left with "nobody knows". */
void server_drop_all(struct server *s);

#endif
