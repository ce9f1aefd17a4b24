#include "engine/delivery/need.h"

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct need *n = (struct need *)op;
	enum problem_code code = memory_lookup_all(op, c, n->ids, n->count, &n->lookup);
	struct handoff_row row;
	enum store_status status;

	if (code != P_OK || n->lookup.found_count == 0)
		return code;
	status = store_handoff_get(c, op->space, n->settle.one.num, op->arena, &row);
	/* That there is no such handoff is for the run to say. */
	if (status == STORE_NOT_FOUND)
		return P_OK;
	return status == STORE_OK ? memory_lookup_guard(op, c, row.envelope, &n->lookup) : op_stored(op, status);
}

/* The lease is looked at first and lives on; then the memories that the receiver opens this way are noted. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct need *n = (struct need *)op;
	const struct handoff_row *row = &n->settle.one.row;
	enum problem_code code = settle_run(op, c, &n->settle.one);

	if (code != P_OK || n->lookup.found_count == 0)
		return code;
	op->told = (struct event_row){
		.kind = EVENT_ENVELOPE_RESOLVED, .handoff = row->num, .envelope = row->envelope,
		.attempt = row->attempt, .agent = row->agent_name, .actor = row->agent_name,
	};
	return memory_lookup_note(op, c, row->envelope, row->agent_name, &n->lookup);
}

const struct op_kind need_kind = {.name = "need", .size = sizeof(struct need), .prepare = prepare, .run = run};
