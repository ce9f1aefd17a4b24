/* Why something waits in a queue, and until when, as people are told it. Delivery itself does not ask. */
#ifndef SPINE_CORE_QUEUE_WHY_H
#define SPINE_CORE_QUEUE_WHY_H

#include "store/records.h"

enum queue_why {
	QUEUE_EMPTY_CHAIR,	/* nobody takes anything from this queue */
	QUEUE_BUSY,		/* the agent is at work */
	QUEUE_HELD,		/* behind an open breaker */
	QUEUE_BACKOFF,		/* an attempt has failed; the next one is later */
	QUEUE_DEFERRED,		/* its sender wants it later */
};

/* Of a handoff that is queued, also for later, as delivery_look left it. busy_until_ms: store_target_busy_until.
 * *ret_until_ms: when that ends; 0: not known. */
enum queue_why queue_why(const struct handoff_row *h, const struct target_row *target, int64_t busy_until_ms,
			 int64_t now_ms, int64_t *ret_until_ms);

#endif
