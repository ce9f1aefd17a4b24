/* What a simulation has exercised, counted over all its runs. Plain data: several processes add theirs up. */
#ifndef SPINE_TESTS_SIM_TALLY_H
#define SPINE_TESTS_SIM_TALLY_H

#include "step.h"

enum tally_fault {
	FAULT_KILLED_BEFORE_COMMIT,
	FAULT_KILLED_AFTER_COMMIT,
	FAULT_FULL,
	FAULT_VERB_FAILED,
	FAULT_COMMIT_FAILED_LOST,
	FAULT_COMMIT_FAILED_KEPT,
	FAULT_REPLY_LOST,
	FAULT_REPLY_TWICE,
	FAULT_CALLER_GONE,
	/* Of a cluster. */
	FAULT_PAUSED,
	FAULT_PAUSED_IN_BATCH,
	FAULT_IDLE_ENDED,
	FAULT_DIED,
	FAULT_LEFT,
	FAULT_CUT,
	FAULT_APART,
	FAULT_AWAY,
	FAULT_CLOCK,
	FAULT_COMMIT_BROKE_LOST,
	FAULT_COMMIT_BROKE_KEPT,
	FAULT_KINDS
};

enum { TALLY_CODES = 64, TALLY_EVENTS = 64 };

struct tally {
	uint64_t runs;
	uint64_t failed;
	uint64_t handoffs;
	uint64_t steps;
	uint64_t transactions;
	uint64_t simulated_ms;
	uint64_t moves[HANDOFF_VERBS][HANDOFF_STATES][HANDOFF_STATES];
	uint64_t codes[STEP_KINDS][TALLY_CODES];
	uint64_t events[TALLY_EVENTS];
	uint64_t faults[FAULT_KINDS];
	uint64_t replays;			/* answers that were kept for a key */
	uint64_t notices;			/* handoffs that a sender was told of */
	uint64_t handed_on;			/* with a settling */
	uint64_t items;				/* settled with a receive */
	uint64_t held;				/* sent behind an open breaker */
	uint64_t probes;			/* taken from a half-open one */
	uint64_t brought_back;			/* of what an outage has parked */
	uint64_t passed_on[2];			/* from an empty chair: to a fallback, back to the target */
	uint64_t queue_timeouts;
	uint64_t joins[4];			/* by how they ended */
	uint64_t takeovers;			/* of shards, by another node than before */
	uint64_t gated;				/* answers that a lease held back */
	uint64_t given_up;			/* calls that took too long */
	uint64_t recovered;			/* shards that were served behind the last fault */
	uint64_t recovery_ms;			/* the time that they took, added up */
	uint64_t pruned[2];			/* handoffs, events */
	uint64_t ended[HANDOFF_STATES];
};

void tally_add(struct tally *sum, const struct tally *more);
/* A table for a person. */
void tally_print(const struct tally *t);
/* Prints what core/delivery/handoff_state.c allows and nothing has done, and returns how many that are. */
int tally_missing(const struct tally *t);
/* The same for what can only go wrong with several servers. */
int tally_missing_of_cluster(const struct tally *t);
/* The table of core/delivery/handoff_state.c is one of sets; some pairs in it cannot come about. */
bool tally_is_possible(enum handoff_verb verb, enum handoff_state from, enum handoff_state to);

#endif
