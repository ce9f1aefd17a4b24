/* What a server says when it passes a request on: who it is, when, and with which key the request came, sealed with
 * the cluster's secret. The server that owns the space believes it, and need not see the key itself.
 *
 *     NODE UNIX_MS KEY HEX
 *
 * KEY is the number of the access key, or "-" where there is none. HEX is HMAC-SHA256 by the secret over NODE,
 * UNIX_MS, the method, the target as it was sent, the space, and KEY, each but the last followed by a line feed: none
 * of them has one. A seal holds for this request's head alone and for a minute; the secret is never sent.
 */
#ifndef SPINE_CORE_CLUSTER_PASSED_H
#define SPINE_CORE_CLUSTER_PASSED_H

#include "base/buf.h"
#include "base/str.h"

/* As two nodes know the time to within a second each, it may come from the future as well. */
enum { PASSED_WINDOW_MS = 60000, PASSED_NODE_MAX = 64, PASSED_KEY_MAX = 64 };

/* The request that a seal is for. No part has a line feed; the space may be empty. */
struct passed_request {
	struct str method;
	struct str target;		/* path, and '?' and query where there is one */
	struct str space;
};

struct passed {
	struct str node;		/* letters, digits, '-', '_', '.' */
	int64_t at_ms;			/* of a clock that all servers have in common */
	struct str key;			/* as node; p NULL: none */
};

enum passed_verdict {
	PASSED_GOOD,
	PASSED_MALFORMED,
	PASSED_FORGED,			/* another secret, or another request */
	PASSED_STALE,			/* sealed well, but not within a minute of now */
};

/* Appends the header's value. */
void passed_seal(struct buf *b, struct str secret, const struct passed *passed, const struct passed_request *request);
/* *ret is set where it is good; its slices are of value. */
enum passed_verdict passed_check(struct str value, struct str secret, const struct passed_request *request,
				 int64_t now_ms, struct passed *ret);

#endif
