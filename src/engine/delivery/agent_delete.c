#include "engine/delivery/agent_delete.h"

#include "core/watch/event.h"
#include "engine/engine.h"

static enum problem_code busy(struct op *op, struct str name, const struct target_counts *n)
{
	return problem_set(&op->problem, P_AGENT_BUSY, "name",
			   "%.*s has open work: %lld queued, %lld leased, %lld at work, %lld parked; finish, move or "
			   "discard it first",
			   STR_ARG(name), (long long)n->queued, (long long)n->leased, (long long)n->working,
			   (long long)n->parked);
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct agent_delete *d = (struct agent_delete *)op;
	struct target_counts counts = {0};
	enum store_status status =
		op->space ? store_agent_id(c, op->space, d->name, false, op->now_ms, &d->id) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_AGENT_NOT_FOUND, "name", "there is no agent \"%.*s\" in this space",
				   STR_ARG(d->name));
	if (status == STORE_OK)
		status = store_target_counts(c, d->id, &counts);
	if (status == STORE_OK && counts.queued + counts.leased + counts.working + counts.parked > 0)
		return busy(op, d->name, &counts);
	if (status == STORE_OK)
		status = store_agent_delete(c, op->space, d->name);
	op->told = (struct event_row){.kind = EVENT_AGENT_DELETED, .agent = d->name};
	return op_stored(op, status);
}

/* It has no webhook any more. */
static void tell_webhooks(struct op *op)
{
	const struct agent_delete *d = (const struct agent_delete *)op;
	const struct engine_webhooks *webhooks = &op->engine->webhooks;
	struct agent_place place = {
		.id = d->id, .space = op->space, .space_name = op->space_name, .name = d->name,
	};

	if (webhooks->set)
		webhooks->set(webhooks->ctx, &place, false);
}

const struct op_kind agent_delete_kind = {
	.name = "agent_delete", .size = sizeof(struct agent_delete), .run = run, .done = tell_webhooks,
};
