/* Who sent a request, as far as large work is shared out among clients. */
#ifndef SPINE_API_HTTP_HTTP_CLIENT_H
#define SPINE_API_HTTP_HTTP_CLIENT_H

#include "net/http.h"

/* A body up to this size is parsed in a few milliseconds, whatever is in it; a larger one is parsed by a worker. */
enum { PARSED_HERE_MAX = 128 * 1024 };

/* A number for the key that came with it; without one, for the address with the names of agent and space that are
 * given. Who makes up many names gets many shares: where there are no keys everybody is trusted. */
uint64_t http_client_number(const struct http_req *req);

#endif
