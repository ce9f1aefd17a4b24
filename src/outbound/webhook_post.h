/* One handoff posted to one webhook: the request, signed as Standard Webhooks has it, and what the answer means.
 *
 *     webhook-id         the lease, "ho-12.1": every attempt is a message of its own
 *     webhook-timestamp  seconds since 1970
 *     webhook-signature  "v1," and the base64 of the HMAC-SHA-256 of ID.TIMESTAMP.BODY
 *     Spine-Handoff      "ho-12", the same with every attempt
 *     Spine-Space        the space's name
 */
#ifndef SPINE_OUTBOUND_WEBHOOK_POST_H
#define SPINE_OUTBOUND_WEBHOOK_POST_H

#include "core/delivery/delivery.h"
#include "outbound/poster.h"

enum { WEBHOOK_RETRY_AFTER_MAX_S = 3600 };	/* who says "not before tomorrow" is asked again in an hour */

/* All borrowed for the call, but for ctx. */
struct webhook_request {
	struct str url;			/* has been checked */
	struct str secret;
	struct str space_name;
	struct str traceparent;		/* p == NULL: there is no trace */
	uint64_t num;			/* of the handoff */
	int64_t lease;
	int64_t now_ms;
	int64_t timeout_ms;
	void (*done)(void *ctx, const struct post_outcome *outcome);
	void *ctx;
};

/* As poster_post. */
struct post *webhook_post(struct poster *poster, const struct webhook_request *request, struct buf *body);
/* What the receiver has answered, or why it has not. *ret_remember is the result that is to be remembered
 * (core/envelope/result.h); NULL: there is none. All of it is in the arena. */
void webhook_post_answer(const struct post_outcome *outcome, int64_t lease, struct arena *arena,
			 struct delivery_answer *ret, const struct json **ret_remember);

#endif
