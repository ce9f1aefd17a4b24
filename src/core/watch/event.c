#include "core/watch/event.h"

#include "core/envelope/envelope_id.h"
#include "core/delivery/handoff_id.h"
#include "core/memory/memory_id.h"

#include <assert.h>

#define BIT(kind) (UINT64_C(1) << (kind))

/* Whose object is an agent, or has its name in the note. */
#define AGENT_KINDS \
	(BIT(EVENT_AGENT_SET) | BIT(EVENT_AGENT_DELETED) | BIT(EVENT_BREAKER_OPENED) | \
	 BIT(EVENT_BREAKER_CLOSED) | BIT(EVENT_BREAKER_RESET) | BIT(EVENT_ENVELOPE_REFUSED))
#define NOTE_KINDS \
	(BIT(EVENT_CHANNEL_SET) | BIT(EVENT_CHANNEL_PUBLISHED) | BIT(EVENT_CHANNEL_SUBSCRIBED) | \
	 BIT(EVENT_CHANNEL_UNSUBSCRIBED) | BIT(EVENT_ROUTE_SET) | BIT(EVENT_ROUTE_DELETED))

#define EVENT_FITS(name, number, text) static_assert((number) < 64, "sets of kinds are bits");
EVENTS(EVENT_FITS)
#undef EVENT_FITS

static_assert((int)EVENT_ROW_PACKED == (int)EVENT_ENVELOPE_PACKED, "what the store looks for");

/* Whose note begins with the id of an alert or a key, "al-3 ...". */
#define WORD_KINDS \
	(BIT(EVENT_ALERT_FIRED) | BIT(EVENT_ALERT_RESOLVED) | BIT(EVENT_ALERT_ACKED) | BIT(EVENT_ALERT_SILENCED) | \
	 BIT(EVENT_KEY_CREATED) | BIT(EVENT_KEY_ROTATED) | BIT(EVENT_KEY_REVOKED))

static const int all_kinds[] = {
#define EVENT_NUMBER(name, number, text) EVENT_##name,
	EVENTS(EVENT_NUMBER)
#undef EVENT_NUMBER
};

const char *event_name(int kind)
{
	switch (kind) {
#define EVENT_NAME(name, number, text) \
	case EVENT_##name: \
		return text;
	EVENTS(EVENT_NAME)
#undef EVENT_NAME
	default:
		return "unknown";
	}
}

/* Kinds that are not here are called the same, whether they are told or done. */
static const struct {
	enum event_kind kind;
	const char *action;
} actions[] = {
	{EVENT_QUEUED, "handoff.send"}, {EVENT_TAKEN, "handoff.receive"}, {EVENT_RELEASED, "handoff.release"},
	{EVENT_ACKED, "handoff.ack"},
	{EVENT_NACKED, "handoff.nack"}, {EVENT_REJECTED, "handoff.reject"}, {EVENT_COMPLETED, "handoff.complete"},
	{EVENT_LEASE_LOST, "handoff.lose_lease"}, {EVENT_WORK_LOST, "handoff.lose_work"},
	{EVENT_EXPIRED, "handoff.expire"},
	{EVENT_FALLBACK, "handoff.fall_back"}, {EVENT_PARKED, "handoff.park"}, {EVENT_REDRIVEN, "handoff.redrive"},
	{EVENT_REROUTED, "handoff.reroute"}, {EVENT_SHRUNK, "handoff.shrink"}, {EVENT_DISCARDED, "handoff.discard"},
	{EVENT_CANCELLED, "handoff.cancel"}, {EVENT_MOVED, "handoff.move"},
	{EVENT_RESCHEDULED, "handoff.reschedule"},
	{EVENT_BREAKER_OPENED, "breaker.open"}, {EVENT_BREAKER_CLOSED, "breaker.close"},
	{EVENT_MEMORY_STORED, "memory.store"},
	{EVENT_MEMORY_UPDATED, "memory.update"}, {EVENT_MEMORY_PINNED, "memory.pin"},
	{EVENT_MEMORY_UNPINNED, "memory.unpin"},
	{EVENT_MEMORY_REVERTED, "memory.revert"}, {EVENT_MEMORY_FORGOTTEN, "memory.forget"},
	{EVENT_MEMORY_SUPERSEDED, "memory.supersede"},
	{EVENT_ENVELOPE_PACKED, "envelope.pack"}, {EVENT_ENVELOPE_RESOLVED, "envelope.resolve"},
	{EVENT_ENVELOPE_REFUSED, "envelope.refuse"}, {EVENT_CONSTRAINT_WAIVED, "constraint.waive"},
	{EVENT_CHANNEL_PUBLISHED, "channel.publish"},
	{EVENT_CHANNEL_SUBSCRIBED, "channel.subscribe"}, {EVENT_CHANNEL_UNSUBSCRIBED, "channel.unsubscribe"},
	{EVENT_SPACE_PRUNED, "space.prune"}, {EVENT_SPACE_DELETED, "space.delete"},
	{EVENT_ROUTE_DELETED, "route.delete"}, {EVENT_ALERT_FIRED, "alert.fire"},
	{EVENT_ALERT_RESOLVED, "alert.resolve"},
	{EVENT_RESTORED, "handoff.restore"}, {EVENT_AGENT_DELETED, "agent.delete"},
	{EVENT_KEY_CREATED, "key.create"}, {EVENT_KEY_ROTATED, "key.rotate"}, {EVENT_KEY_REVOKED, "key.revoke"},
	{EVENT_ALERT_ACKED, "alert.ack"}, {EVENT_ALERT_SILENCED, "alert.silence"},
};

const char *event_action(int kind)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if ((int)actions[i].kind == kind)
			return actions[i].action;
	return event_name(kind);
}

static uint64_t kinds_with(struct str prefix, const char *(*name)(int kind))
{
	uint64_t kinds = 0;

	for (size_t i = 0; i < sizeof(all_kinds) / sizeof(all_kinds[0]); i++)
		if (str_has_prefix(str_of(name(all_kinds[i])), prefix))
			kinds |= BIT(all_kinds[i]);
	return kinds;
}

uint64_t event_kinds_named(struct str prefix)
{
	return kinds_with(prefix, event_name);
}

uint64_t event_kinds_acting(struct str prefix)
{
	return kinds_with(prefix, event_action);
}

struct str event_object(const struct event_row *event, struct str space_name, struct arena *arena)
{
	char id[HANDOFF_ID_SIZE];

	static_assert(sizeof(id) >= (size_t)ENVELOPE_ID_SIZE && sizeof(id) >= (size_t)MEMORY_ID_SIZE,
		      "room for any of them");
	if (event->handoff)
		handoff_id_format(event->handoff, id);
	else if (event->memory)
		memory_id_format(event->memory, 0, id);
	else if (BIT(event->kind) & NOTE_KINDS)
		return event->note;
	else if (BIT(event->kind) & WORD_KINDS)
		return str_sub(event->note, 0, str_find(event->note, ' '));
	else if (event->envelope)
		envelope_id_format(event->envelope, id);
	else if (event->kind == EVENT_SPACE_SET)
		return space_name;
	else
		return event->agent;
	return arena_str(arena, str_of(id));
}

void event_filter_object(struct str object, struct event_filter *filter)
{
	struct memory_id memory;
	uint64_t num;

	if (handoff_id_parse(object, &num)) {
		filter->handoff = num;
	} else if (envelope_id_parse(object, &num)) {
		filter->envelope = num;
	} else if (memory_id_parse(object, &memory)) {
		filter->memory = memory.num;
		filter->range_kinds = BIT(EVENT_MEMORY_STORED);
	} else {
		filter->name = object;
		filter->agent_kinds = AGENT_KINDS;
		filter->note_kinds = NOTE_KINDS;
		filter->word_kinds = WORD_KINDS;
	}
}
