#include "api/http/pass_problem.h"

#include "api/describe/descriptions.h"
#include "api/gate.h"

enum { RETRY_MS = 1000 };

bool pass_is_once(struct http_req *req, const struct route *route)
{
	static const struct description *const once[] = {
		&describe_create_key, &describe_rotate_key, &describe_delete_space,
	};
	struct str key = http_req_header(req, "idempotency-key");
	const struct description *d = route ? route->describes : NULL;

	if (route == NULL || (route->op->flags & OP_TAKES_KEY))
		return key.p == NULL;
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		if (d == once[i])
			return true;
	return http_req_header(req, "if-match").p != NULL;
}

/* Whether it is done is not known here. */
static void tell_open(const struct http_pass_failure *why, bool is_twice, struct problem *ret)
{
	const char *cause = why->is_drained ? "this server is stopping, and the node that owns the space has not "
					      "answered yet"
					    : "the node that owns the space went away before it answered";

	if (is_twice) {
		problem_set(ret, P_OUTCOME_UNKNOWN, NULL, "%s: this may be done or not; look, before it is sent again",
			    cause);
		return;
	}
	problem_set(ret, why->is_drained ? P_DRAINING : P_NO_OWNER, NULL, "%s; what was asked may be done: ask the "
		    "same again%s", cause, why->is_drained ? " through another server" : "");
	ret->retry_after_ms = RETRY_MS;
}

void pass_problem(const struct http_pass_failure *why, bool is_twice, struct problem *ret)
{
	*ret = (struct problem){0};
	if (why->may_have_run) {
		tell_open(why, is_twice, ret);
	} else if (why->is_undone) {
		gate_refuse(ret, why->why);
	} else if (!why->is_drained) {
		gate_refuse(ret, "the node that owns the space cannot be reached");
	} else {
		problem_set(ret, P_DRAINING, NULL, "this server is stopping; nothing was done: ask again through "
			    "another server");
		ret->retry_after_ms = RETRY_MS;
	}
}
