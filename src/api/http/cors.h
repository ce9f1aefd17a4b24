/* What a browser is told about a page of another origin that may call (CORS).
 *
 * guard.h says which origins may. They get their own name back, never "*", in every reply, also in refusals, so that a
 * page can read what is wrong. Before a request that is more than a form could send the browser asks (a preflight): it
 * is told which methods and headers there are. Spine-Person is not among them: what is decided in the name of a person
 * is decided on the dashboard or the command line, not by a page of somebody else.
 */
#ifndef SPINE_API_HTTP_CORS_H
#define SPINE_API_HTTP_CORS_H

#include "net/http.h"

/* From on_head, for an origin that may call and is not the server's own: whatever is replied tells the browser so. */
void cors_allow(struct http_req *req, struct str origin);
bool cors_is_preflight(const struct http_req *req);
/* Replies. */
void cors_reply_preflight(struct http_req *req);

#endif
