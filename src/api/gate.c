#include "api/gate.h"

#include "net/http.h"

enum { RETRY_MS = 1000 };

static enum problem_code refuse(struct problem *problem, const char *why, const char *what)
{
	*problem = (struct problem){0};
	problem_set(problem, P_NO_OWNER, NULL, "%s; %s", why, what);
	problem->retry_after_ms = RETRY_MS;
	return problem->code;
}

enum problem_code gate_refuse(struct problem *problem, const char *why)
{
	return refuse(problem, why, "nothing was done: ask again in a moment");
}

/* What stands committed is no less so because its answer must not leave. */
static void refuse_answer(struct op *op, const char *why)
{
	uint64_t handoff = op->problem.code == P_DRAINING || op->wait.is_over ? op->problem.handoff : 0;

	if (handoff)
		refuse(&op->problem, why, "the handoff is kept: deliver it again in a moment, with the same "
		       "Idempotency-Key, and it goes on");
	else if (op->is_replayed)
		refuse(&op->problem, why, "the request was carried out before, and its answer is kept: ask again in "
		       "a moment");
	else if (op->wait.is_over)
		refuse(&op->problem, why, "what it had begun before it waited is kept: ask again in a moment");
	else
		gate_refuse(&op->problem, why);
	op->problem.handoff = handoff;
	op->is_replayed = false;
}

/* Whether it was committed, or not, is known from the database, or is said not to be known. */
static bool is_of_database(const struct op *op)
{
	switch (op->problem.code) {
	case P_OK:
		return op->kind && op->kind->run && !op->is_answered && !op->is_replayed && !op->wait.is_over;
	case P_OUTCOME_UNKNOWN:
	case P_STORE_FAILED:
	case P_STORE_BUSY:
	case P_STORE_FULL:
	case P_INTERNAL:
	case P_NO_OWNER:
		return true;
	default:
		return false;
	}
}

/* A sender that waited: the same request with its key goes on at the new owner. */
static void say_moved(const struct api *api, struct op *op)
{
	if (op->problem.code == P_DRAINING && !op->wait.is_cut && !http_server_is_draining(api->http))
		refuse_answer(op, "the space moves to another node");
}

/* A node's store is in a database. */
static void say_away(struct op *op)
{
	bool is_lost = store_is_lost(op->engine->store);
	int64_t retry_ms = op->problem.retry_after_ms;

	if (op->problem.code != P_STORE_BUSY)
		return;
	problem_set(&op->problem, P_STORE_BUSY, NULL, "%s; %s",
		    is_lost ? "the space has another owner by now" : "the database does not answer just now",
		    op->wait.is_over ? "what it had begun before it waited is kept" : "nothing was stored");
	op->problem.retry_after_ms = retry_ms;
}

bool gate_pass(const struct api *api, struct op *op)
{
	if (api->node == NULL)
		return true;
	say_moved(api, op);
	say_away(op);
	if (is_of_database(op) || api_may_answer(api))
		return true;
	refuse_answer(op, "this node's lease is over, or its part of the spaces has another owner");
	return false;
}
