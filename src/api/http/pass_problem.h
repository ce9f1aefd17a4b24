/* What whoever asked is told of a request that was passed on and has no answer. */
#ifndef SPINE_API_HTTP_PASS_PROBLEM_H
#define SPINE_API_HTTP_PASS_PROBLEM_H

#include "core/problem.h"
#include "net/http_pass.h"

/* is_twice: sent once more it may be done twice. What does nothing twice may be sent again; whether the rest was
 * carried out nobody knows. */
void pass_problem(const struct http_pass_failure *why, bool is_twice, struct problem *ret);

#endif
