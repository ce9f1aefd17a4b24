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

#include <curl/curl.h>

enum {
	WEBHOOK_ANSWER_MAX_BYTES = 64 * 1024,
	WEBHOOK_RETRY_AFTER_MAX_MS = 3600 * 1000,	/* who says "not before tomorrow" is asked again in an hour */
};

struct webhook_post;

/* All borrowed for the call. */
struct webhook_request {
	struct str url;			/* has been checked */
	struct str secret;
	struct str space_name;
	struct str traceparent;		/* p == NULL: there is no trace */
	uint64_t num;			/* of the handoff */
	int64_t lease;
	int64_t now_ms;
	int64_t timeout_ms;
	const char *ca_file;		/* authorities that are trusted; NULL: the system's */
};

/* Takes the body's bytes. The handle's CURLOPT_PRIVATE is owner. Returns owned. */
struct webhook_post *webhook_post_new(const struct webhook_request *request, struct buf *body, void *owner);
/* For curl_multi_add_handle. Borrowed. */
CURL *webhook_post_handle(struct webhook_post *p);
/* What the receiver has answered, or why it has not; the lease is filled in. *ret_remember is the result that is to be
 * remembered (core/envelope/result.h), NULL where there is none. All of it is in the arena. */
void webhook_post_answer(struct webhook_post *p, CURLcode result, struct arena *arena, struct delivery_answer *ret,
			 const struct json **ret_remember);
/* The handle must be in no multi handle any more. NULL-safe. */
void webhook_post_free(struct webhook_post *p);

#endif
