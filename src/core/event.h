/* What can be told of a handoff or a breaker: the kinds of events, and their names on the wire. The numbers are in the store and never
 * change: append only. */
#ifndef SPINE_CORE_EVENT_H
#define SPINE_CORE_EVENT_H

#include "base/str.h"

#define EVENTS(X) \
	X(QUEUED, 1, "handoff.queued") \
	X(TAKEN, 2, "handoff.leased") \
	X(RELEASED, 3, "handoff.released") \
	X(ACKED, 4, "handoff.acked") \
	X(NACKED, 5, "handoff.nacked") \
	X(REJECTED, 6, "handoff.rejected") \
	X(PROGRESS, 7, "handoff.progress") \
	X(COMPLETED, 8, "handoff.completed") \
	X(ACK_TIMEOUT, 9, "handoff.ack_timeout") \
	X(LEASE_LOST, 10, "handoff.lease_lost") \
	X(WORK_LOST, 11, "handoff.work_lost") \
	X(EXPIRED, 12, "handoff.expired") \
	X(FALLBACK, 13, "handoff.fallback") \
	X(PARKED, 14, "handoff.parked") \
	X(REDRIVEN, 15, "handoff.redriven") \
	X(REROUTED, 16, "handoff.rerouted") \
	X(SHRUNK, 17, "handoff.shrunk") \
	X(DISCARDED, 18, "handoff.discarded") \
	X(BREAKER_OPENED, 19, "breaker.opened") \
	X(BREAKER_CLOSED, 20, "breaker.closed") \
	X(BREAKER_RESET, 21, "breaker.reset")

enum event_kind {
#define EVENT_KIND(name, number, text) EVENT_##name = (number),
	EVENTS(EVENT_KIND)
#undef EVENT_KIND
};

/* "handoff.queued"; "unknown" for a number that is none. */
const char *event_name(int kind);

#endif
