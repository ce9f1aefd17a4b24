#include "api/http/pace.h"

/* HELD_MS: twenty requests a second on a connection; about 50 us of CPU each are a thousandth of a core. It is less
 * than a person notices, and a twentieth of the shortest Retry-After, which is the most that one is held back.
 * EACH_MS: a millisecond for each that is held back, that is a thousand a second: a twentieth of a core.
 * FREE: a client that looks which of its keys holds is not held back. */
enum { HELD_MS = 50, HELD_MOST_MS = 1000, EACH_MS = 1, FREE = 16 };

static void hold(const struct api *api, struct http_req *req)
{
	size_t held = http_server_held(api->http);
	int64_t delay_ms = held < HELD_MOST_MS / EACH_MS ? (int64_t)held * EACH_MS : HELD_MOST_MS;

	http_req_hold_reply(req, delay_ms > HELD_MS ? delay_ms : HELD_MS);
}

void pace_problem(const struct api *api, struct http_req *req, const struct problem *problem)
{
	if (problem->code == P_QUOTA_EXCEEDED)
		hold(api, req);
}

void pace_entry(const struct api *api, struct http_req *req)
{
	if (http_req_refusals(req) >= FREE)
		hold(api, req);
}
