/* Problems as RFC 9457 documents, and the reply to a call. */
#ifndef SPINE_API_HTTP_REPLY_H
#define SPINE_API_HTTP_REPLY_H

#include "api/http/http_call.h"

/* The most that a reply may hold. */
enum { REPLY_MAX = 512 * 1024 * 1024 };

void reply_problem_body(const struct problem *problem, struct buf *out);
/* The same for a refusal that has no code in our list. */
void reply_refusal_body(int status, const char *code, const char *detail, struct buf *out);
/* Sends the problem of the operation, or the reply where there is none. Ends the call. */
void reply_send(struct http_call *http);

#endif
