/* The attempts of a handoff, told from its events: who had it, from when to when, and how each ended. */
#ifndef SPINE_CORE_ATTEMPTS_H
#define SPINE_CORE_ATTEMPTS_H

#include "base/arena.h"
#include "core/watch/event.h"

enum attempt_outcome {
	ATTEMPT_UNDER_WAY,	/* somebody has it, or it is still offered */
	ATTEMPT_ACKED,
	ATTEMPT_COMPLETED,
	ATTEMPT_NACKED,
	ATTEMPT_REJECTED,
	ATTEMPT_LEASE_LOST,
	ATTEMPT_WORK_LOST,
	ATTEMPT_NOT_TAKEN,
	ATTEMPT_RELEASED,
	ATTEMPT_EXPIRED,
	ATTEMPT_PARKED,		/* a person parked it meanwhile */
};

struct attempt {
	int64_t number;			/* with its agent, from 1 */
	struct str agent;
	struct str receiver;		/* p == NULL: not told */
	int64_t taken_at_ms;		/* 0: nobody has */
	int64_t acked_at_ms;		/* 0: nobody did */
	int64_t ended_at_ms;		/* 0: it has not; one that was acked without a work lease has with the ack */
	enum attempt_outcome outcome;
	struct str error;		/* in the words of whoever ended it; p == NULL: none */
};

/* Events in their order; texts are borrowed from them. In the arena; returns how many there are. A history that begins
 * in the middle gives the attempts that it tells of. */
size_t attempts_of(const struct event_row *events, size_t count, struct arena *arena, struct attempt **ret);

#endif
