#include "api/http/http_client.h"

#include "base/hash.h"

static uint64_t add(struct str s, uint64_t seed)
{
	return s.p ? hash_bytes(s.p, s.n, seed) : seed;
}

uint64_t http_client_number(const struct http_req *req)
{
	struct str key = http_req_header(req, "authorization");

	if (key.p)
		return add(key, 0);
	return add(http_req_header(req, "spine-space"), add(http_req_header(req, "spine-agent"), http_req_peer(req)));
}
