#include "api/http/cors.h"

/* Those of replies that a page may read beside the usual ones. */
#define EXPOSED "Allow, ETag, Idempotent-Replayed, Location, Mcp-Session-Id, Retry-After, traceparent, WWW-Authenticate"
/* Those of requests that a page may send. Last-Event-ID is that of a stream that is resumed. */
#define TAKEN                                                                                              \
	"Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "     \
	"Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, Spine-Agent, Spine-Space, Spine-Task, "       \
	"traceparent, tracestate"
#define METHODS "GET, HEAD, POST, PUT, PATCH, DELETE"
/* Seconds that a browser need not ask again. No browser keeps it longer than two hours or a day; an operator who takes
 * an origin away should not wait that long. */
#define MAX_AGE "600"

void cors_allow(struct http_req *req, struct str origin)
{
	enum { COUNT = 3 };
	struct http_header *h = arena_calloc(http_req_arena(req), COUNT + 1, sizeof(*h));

	h[0] = (struct http_header){"Access-Control-Allow-Origin", origin};
	h[1] = (struct http_header){"Access-Control-Expose-Headers", STR(EXPOSED)};
	h[2] = (struct http_header){"Vary", STR("Origin")};
	http_req_add_headers(req, h);
}

bool cors_is_preflight(const struct http_req *req)
{
	return http_req_method(req) == HTTP_OPTIONS && http_req_header(req, "origin").p &&
	       http_req_header(req, "access-control-request-method").p;
}

void cors_reply_preflight(struct http_req *req)
{
	struct http_header headers[] = {
		{"Access-Control-Allow-Methods", STR(METHODS)},
		{"Access-Control-Allow-Headers", STR(TAKEN)},
		{"Access-Control-Max-Age", STR(MAX_AGE)},
		{0}, {0},
	};

	/* Asked of pages that come from the network, about servers that are nearer than they are. */
	if (str_is(http_req_header(req, "access-control-request-private-network"), "true"))
		headers[3] = (struct http_header){"Access-Control-Allow-Private-Network", STR("true")};
	http_reply(req, 204, NULL, headers, NULL);
}
