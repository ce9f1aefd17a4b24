/* How long a refusal is held back, so that a client that asks again at once takes no time from the others.
 *
 * Refused by a quota: always. Without a key that counts: from the seventeenth request in a row on a connection. The
 * more are held back, the longer each is: so all of them together are no more than a thousand a second, however
 * many connections they come by. Whoever waits as Retry-After says does not notice.
 */
#ifndef SPINE_API_HTTP_PACE_H
#define SPINE_API_HTTP_PACE_H

#include "api/api.h"
#include "core/problem.h"
#include "net/http.h"

/* Before the problem is sent as a reply, or as the last event of a stream. */
void pace_problem(const struct api *api, struct http_req *req, const struct problem *problem);
/* In on_head, before it refuses. */
void pace_entry(const struct api *api, struct http_req *req);

#endif
