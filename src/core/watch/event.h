/* Everything that is written is told: the kinds of events, their names on the wire, and what they are about. The
 * numbers are in the store and never change: append only, below 64 (sets of kinds are bits).
 *
 * Values: handoff.acked has the milliseconds from the first sending to the first ack; a failed attempt (nacked,
 * ack_timeout, lease_lost, work_lost) has 1 where another attempt follows, and as its second value 1 where it was the
 * last one with the agent, so that the handoff has failed there; expired and parked have that second value, too;
 * alert.fired and alert.resolved have the figure and its threshold; envelope.packed the completeness (0 to 1) and the
 * share of the budget that is used (below 0 where nobody chose the budget: the default holds), with the hop as its
 * attempt and the number of waivers in its note; memory.stored of a batch the lowest and the highest number.
 * key.created, key.rotated and key.revoked have "key-7 name: reason" in their note.
 * constraint.waived has "KEY: reason" in its note, envelope.refused "code: why"; space.pruned
 * has how many handoffs and how many events went. */
#ifndef SPINE_CORE_EVENT_H
#define SPINE_CORE_EVENT_H

#include "base/arena.h"
#include "store/records.h"

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
	X(BREAKER_RESET, 21, "breaker.reset") \
	X(MEMORY_STORED, 22, "memory.stored") \
	X(MEMORY_UPDATED, 23, "memory.updated") \
	X(MEMORY_PINNED, 24, "memory.pinned") \
	X(MEMORY_UNPINNED, 25, "memory.unpinned") \
	X(MEMORY_REVERTED, 26, "memory.reverted") \
	X(MEMORY_FORGOTTEN, 27, "memory.forgotten") \
	X(ENVELOPE_PACKED, 28, "envelope.packed") \
	X(ENVELOPE_RESOLVED, 29, "envelope.resolved") \
	X(AGENT_SET, 30, "agent.set") \
	X(SPACE_SET, 31, "space.set") \
	X(CHANNEL_SET, 32, "channel.set") \
	X(CHANNEL_PUBLISHED, 33, "channel.published") \
	X(CHANNEL_SUBSCRIBED, 34, "channel.subscribed") \
	X(CHANNEL_UNSUBSCRIBED, 35, "channel.unsubscribed") \
	X(ROUTE_SET, 36, "route.set") \
	X(ROUTE_DELETED, 37, "route.deleted") \
	X(ALERT_FIRED, 38, "alert.fired") \
	X(ALERT_RESOLVED, 39, "alert.resolved") \
	X(ALERT_ACKED, 40, "alert.acked") \
	X(ALERT_SILENCED, 41, "alert.silenced") \
	X(MEMORY_SUPERSEDED, 42, "memory.superseded") \
	X(ENVELOPE_REFUSED, 43, "envelope.refused") \
	X(CANCELLED, 44, "handoff.cancelled") \
	X(MOVED, 45, "handoff.moved") \
	X(RESCHEDULED, 46, "handoff.rescheduled") \
	X(RESTORED, 52, "handoff.restored") \
	X(AGENT_DELETED, 53, "agent.deleted") \
	X(MEMORY_QUARANTINED, 47, "memory.quarantined") \
	X(MEMORY_UNQUARANTINED, 48, "memory.unquarantined") \
	X(MEMORY_PURGED, 49, "memory.purged") \
	X(CONSTRAINT_WAIVED, 50, "constraint.waived") \
	X(KEY_CREATED, 54, "key.created") \
	X(KEY_ROTATED, 55, "key.rotated") \
	X(KEY_REVOKED, 56, "key.revoked") \
	X(SPACE_PRUNED, 60, "space.pruned") \
	X(SPACE_DELETED, 61, "space.deleted")

enum event_kind {
#define EVENT_KIND(name, number, text) EVENT_##name = (number),
	EVENTS(EVENT_KIND)
#undef EVENT_KIND
};

/* Is it of a key? Its note has the key's name. */
static inline bool event_is_of_key(int kind)
{
	return kind == EVENT_KEY_CREATED || kind == EVENT_KEY_ROTATED || kind == EVENT_KEY_REVOKED;
}

/* The share of the budget that an envelope uses, as its packing tells it. */
static inline double event_utilization(const struct event_row *event)
{
	return event->value[1] < 0 ? -event->value[1] : event->value[1];
}

/* "handoff.queued"; "unknown" for a number that is none. */
const char *event_name(int kind);
/* What somebody did, for the audit trail: "handoff.send". */
const char *event_action(int kind);

/* The kinds whose name begins so: "handoff.", "breaker.opened". 0: none. */
uint64_t event_kinds_named(struct str prefix);
/* The same of actions. */
uint64_t event_kinds_acting(struct str prefix);

/* The id or name of what the event is about, in the arena: "ho-12", "ms-4", "env-3", the name of an agent, channel,
 * route or space. */
struct str event_object(const struct event_row *event, struct str space_name, struct arena *arena);
/* What asks for the events of a memory's writing: those whose actor is an author of it. */
struct event_filter event_filter_writing(int64_t space, uint64_t memory);
/* Sets what asks for the events about an object that is named so. */
void event_filter_object(struct str object, struct event_filter *filter);

#endif
