/* The checker: knows what was committed, says what each step must do, and holds the store to it.
 *
 * It keeps a shadow of every handoff and every breaker, written from the protocol, not from the core: each committed
 * step is predicted from the shadow and compared with what the step did, its answer and its events included. A step
 * whose transaction was rolled back never gets here. At the end the events alone must tell the same story, and every
 * answer that got out must have stayed true.
 */
#ifndef SPINE_TESTS_SIM_CHECK_H
#define SPINE_TESTS_SIM_CHECK_H

#include "tally.h"
#include "trace.h"

struct check;

/* Borrows all. Returns owned. */
struct check *check_new(struct trace *trace, struct tally *tally);
void check_free(struct check *k);
/* For the next run. Borrows the store and the cast. */
void check_clear(struct check *k, struct store_conn *store, const struct cast *cast, const struct space_keep *keep);
/* The store is looked at through another connection from now on. */
void check_look(struct check *k, struct store_conn *store);

/* A step was committed. */
void check_step(struct check *k, const struct record *r);
/* Copies the events that are new: they may be pruned later, and are still what has happened. */
void check_log(struct check *k);

/* What retention takes away: rows that have ended, and are old. */
enum check_pruned_kind { PRUNED_ENVELOPE, PRUNED_EVENT, PRUNED_MEMORY };

struct check_pruned {
	enum check_pruned_kind kind;
	int64_t space;
	uint64_t num;
};

/* A transaction was committed that took these away, in this order. */
void check_prune(struct check *k, const struct check_pruned *list, size_t count, int64_t now_ms);
/* Longer than anything is kept nothing has happened: what may go is gone. */
void check_old(struct check *k);
/* The answer to a step got out. */
void check_promise(struct check *k, const struct step *s);
/* The step waits, and rightly so: what it waits for has not happened. num: the handoff that a sender waits for. */
void check_waits(struct check *k, const struct step *s, uint64_t num, int64_t now_ms);
/* The store holds what was committed, and nothing else. */
void check_whole(struct check *k);
/* The run is over, and nothing has disturbed it for long. */
void check_end(struct check *k);

/* How many handoffs are open. */
size_t check_open(const struct check *k);
/* A number that two runs have in common when they have everything in common. */
uint64_t check_hash(const struct check *k);

#endif
