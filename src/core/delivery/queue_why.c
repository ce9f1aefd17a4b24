#include "core/delivery/queue_why.h"

#include "core/delivery/delivery.h"

enum queue_why queue_why(const struct handoff_row *h, const struct target_row *target, int64_t busy_until_ms,
			 int64_t now_ms, int64_t *ret_until_ms)
{
	bool was_seen = target->seen_at_ms && target->seen_at_ms + h->ack_timeout_ms > now_ms;

	*ret_until_ms = 0;
	if (h->state == HANDOFF_DELAYED) {
		*ret_until_ms = h->due_ms;
		return delivery_is_deferred(h, now_ms) ? QUEUE_DEFERRED : QUEUE_BACKOFF;
	}
	if (h->held_until_ms) {
		*ret_until_ms = h->held_until_ms;
		return QUEUE_HELD;
	}
	/* As delivery has it: who holds a lease, or was seen within the ack timeout, is at work. */
	return busy_until_ms || was_seen ? QUEUE_BUSY : QUEUE_EMPTY_CHAIR;
}
