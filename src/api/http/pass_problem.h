/* What whoever asked is told of a request that was passed on and has no answer. */
#ifndef SPINE_API_HTTP_PASS_PROBLEM_H
#define SPINE_API_HTTP_PASS_PROBLEM_H

#include "api/call.h"
#include "core/problem.h"
#include "net/http_pass.h"

/* Is it not safe to say again? It would be refused because it was carried out, or do something else: make another
 * secret, of which nobody got to know the first. A condition (If-Match) holds once. */
bool pass_is_once(struct http_req *req, const struct route *route);
/* is_twice: sent once more it may be done twice. What does nothing twice may be sent again; whether the rest was
 * carried out nobody knows. */
void pass_problem(const struct http_pass_failure *why, bool is_twice, struct problem *ret);

#endif
