#include "core/delivery/attempts.h"

/* How an event ends the attempt under way, where it does. */
static const struct {
	enum event_kind kind;
	enum attempt_outcome outcome;
	const char *error;		/* where the event has no words of its own; NULL: none */
} ends[] = {
	{EVENT_NACKED, ATTEMPT_NACKED, "nacked without a reason"},
	{EVENT_REJECTED, ATTEMPT_REJECTED, "rejected without a reason"},
	{EVENT_COMPLETED, ATTEMPT_COMPLETED, NULL},
	{EVENT_ACK_TIMEOUT, ATTEMPT_NOT_TAKEN, "nobody took it within the ack timeout"},
	{EVENT_LEASE_LOST, ATTEMPT_LEASE_LOST, "the lease ran out: the receiver took it and did not answer"},
	{EVENT_WORK_LOST, ATTEMPT_WORK_LOST, "the work lease ran out: the receiver was not heard of again"},
	{EVENT_RELEASED, ATTEMPT_RELEASED, "the receiver went away before it had it"},
	{EVENT_EXPIRED, ATTEMPT_EXPIRED, "the sender stopped waiting"},
	{EVENT_PARKED, ATTEMPT_PARKED, NULL},
};

static void end(struct attempt *a, const struct event_row *event)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/* The note of a lease that was lost is whose it was. */
		bool is_lost = event->kind == EVENT_LEASE_LOST || event->kind == EVENT_WORK_LOST;

		if ((int)ends[i].kind != event->kind)
			continue;
		a->outcome = ends[i].outcome;
		a->ended_at_ms = event->at_ms;
		if (ends[i].outcome != ATTEMPT_COMPLETED)
			a->error = event->note.p && !is_lost ? event->note :
				   ends[i].error ? str_of(ends[i].error) : STR_NULL;
		return;
	}
}

static bool ends_attempt(int kind)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if ((int)ends[i].kind == kind)
			return true;
	return false;
}

/* Is there one under way that the event is about? One that was acked may still be completed or lost. */
static bool is_open(const struct attempt *a)
{
	return a && (a->outcome == ATTEMPT_UNDER_WAY || a->outcome == ATTEMPT_ACKED);
}

static bool begins(const struct attempt *last, const struct event_row *event)
{
	switch (event->kind) {
	case EVENT_TAKEN:
		return true;
	/* Attempts that nobody took have no other beginning. Parking after the last failure is not an attempt. */
	case EVENT_ACK_TIMEOUT:
	case EVENT_EXPIRED:
		return !is_open(last);
	default:
		return false;
	}
}

size_t attempts_of(const struct event_row *events, size_t count, struct arena *arena, struct attempt **ret)
{
	struct attempt *list = arena_calloc(arena, count + 1, sizeof(*list)), *last = NULL;
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		const struct event_row *event = &events[i];

		if (begins(last, event)) {
			last = &list[made++];
			*last = (struct attempt){.number = event->attempt, .agent = event->agent};
		}
		if (event->kind == EVENT_TAKEN) {
			last->taken_at_ms = event->at_ms;
			last->receiver = event->note;
		} else if (event->kind == EVENT_ACKED && is_open(last)) {
			last->outcome = ATTEMPT_ACKED;
			last->acked_at_ms = event->at_ms;
		} else if (ends_attempt(event->kind) && is_open(last)) {
			end(last, event);
		}
	}
	*ret = list;
	return made;
}
