/* Who is let in: the key of a request, and what it may do, decided when the head is there and before its body is read.
 *
 * Where no key is needed nothing is looked at. Otherwise everything is closed but what a description calls open, and
 * the dashboard's own files: also an address that does not exist. A route without a description and a description
 * without a scope do not get in (test_describe.c holds every operation to one).
 */
#ifndef SPINE_API_HTTP_ENTRY_H
#define SPINE_API_HTTP_ENTRY_H

#include "api/call.h"
#include "net/http.h"

/* What on_head has found, for on_request. */
struct entry {
	const struct access *access;	/* NULL: no key is needed, or what is asked for is open */
	const struct route *route;	/* NULL: not looked for yet, or there is none */
	struct str params[CALL_PARAMS_MAX];	/* raw */
	/* Of what another node has passed on (cluster_front.h). */
	bool is_passed;
	struct str passed_by;		/* the node's id */
	bool is_key_coming;		/* its key is not known here yet */
	uint64_t key, secret;		/* as in struct access; key 0: none */
};

/* The text behind "Bearer " of an Authorization header, in place; empty where it is another scheme, p == NULL where
 * there is no header. */
struct str entry_bearer(struct str authorization);
/* On the HTTP thread, from on_head: keeps an entry with the request, or fills in the problem. */
enum problem_code entry_check(struct api *api, struct http_req *req, struct problem *problem);
/* From on_request: the entry; where a key has come to be needed, or has ended, while the body was read: NULL, and the
 * problem. */
const struct entry *entry_of(struct api *api, struct http_req *req, struct problem *problem);
/* The headers that a 401 has. */
extern const struct http_header entry_challenge[];
/* Is who was let in so still welcome: has neither the key ended, nor the session? NULL: who came when no key was
 * needed. Any thread. */
bool entry_is_welcome(struct api *api, const struct access *access);
/* The problem of who is not. */
enum problem_code entry_ended(struct problem *problem, const struct access *access);

#endif
