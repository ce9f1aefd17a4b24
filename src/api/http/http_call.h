/* A call that came by HTTP. */
#ifndef SPINE_API_HTTP_HTTP_CALL_H
#define SPINE_API_HTTP_HTTP_CALL_H

#include "api/call.h"
#include "api/http/held.h"
#include "net/http.h"

struct http_call {
	struct call call;
	struct http_req *req;
	const struct http_header *headers;	/* more of the reply, ended by one without a name; NULL: none */
	bool is_stream;				/* the reply has begun; it ends with the call */
	struct held held;			/* while it waits */
	/* Instead of encode and reply, as for a stream; NULL: these. */
	void (*finish)(struct http_call *http);
};

/* For routes that only HTTP has: streams, and files for browsers. */
static inline struct http_call *http_call_of(struct call *call)
{
	return (struct http_call *)call;
}

#endif
