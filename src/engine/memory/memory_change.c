#include "engine/memory/memory_change.h"

#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/memory/origin.h"

/* A change that changed nothing is not told. */
static void tell(struct op *op, enum event_kind kind, struct str note)
{
	const struct memory_change *m = (const struct memory_change *)op;

	if (m->changed)
		op->told = (struct event_row){.kind = kind, .memory = m->num, .note = note};
}

/* With keys, who writes a version is its author, and answers for its trust: nobody puts words into another's mouth, not
 * even by naming nobody. (What has no words in it needs no author: memory_signing.h.) */
static void sign(const struct op *op, struct memory_draft *d)
{
	if (op->access == NULL)
		return;
	d->trust_max = op->access->trust;
	if (!(d->has & MEMORY_HAS_AGENT)) {
		d->is_signed = true;
		d->agent = op->agent;
	}
}

static enum problem_code run_update(struct op *op, struct store_conn *c)
{
	struct memory_change *m = (struct memory_change *)op;
	enum problem_code code;

	m->draft.origin = origin_of(op);
	if (m->draft.has & ~(unsigned)MEMORY_HAS_PINNED)
		sign(op, &m->draft);
	code = memory_update(c, op->space, m->num, op->if_version, &m->draft, op->now_ms, op->arena, &m->memory,
			     &m->changed, &op->problem);
	if (code != P_OK)
		return code;
	if (m->draft.has == MEMORY_HAS_PINNED)
		tell(op, m->draft.pinned ? EVENT_MEMORY_PINNED : EVENT_MEMORY_UNPINNED, STR_NULL);
	else
		tell(op, EVENT_MEMORY_UPDATED, arena_printf(op->arena, "version %u", m->memory.version));
	return P_OK;
}

static enum problem_code run_revert(struct op *op, struct store_conn *c)
{
	struct memory_change *m = (struct memory_change *)op;
	struct memory_draft by = {.origin = origin_of(op)};
	enum problem_code code;

	sign(op, &by);
	code = memory_revert(c, op->space, m->num, op->if_version, m->to_version, &by, op->now_ms, op->arena,
			     &m->memory, &m->changed, &op->problem);
	if (code == P_OK)
		tell(op, EVENT_MEMORY_REVERTED, arena_printf(op->arena, "version %u, as version %u was",
							     m->memory.version, m->to_version));
	return code;
}

/* Who has stored what is in quarantine does not take it away from who is to decide about it. */
static enum problem_code check_may_forget(struct op *op, struct store_conn *c, uint64_t num)
{
	struct memory m;
	enum problem_code code;

	if (op->access == NULL || (op->access->scopes & ACCESS_ADMIN))
		return P_OK;
	code = memory_read(c, op->space, (struct memory_id){num, 0}, op->arena, &m, &op->problem);
	if (code != P_OK || m.quarantined_at_ms == 0)
		return code;
	return problem_set(&op->problem, P_FORBIDDEN, NULL, "ms-%llu is in quarantine, and only a key with admin "
			   "forgets what is; key-%llu has not that scope. Have it released (POST /v1/quarantine/"
			   "release) or purged (POST /v1/purge) by who decides about it", (unsigned long long)num,
			   (unsigned long long)op->access->key);
}

static enum problem_code run_forget(struct op *op, struct store_conn *c)
{
	struct memory_change *m = (struct memory_change *)op;
	enum problem_code code = check_may_forget(op, c, m->num);

	if (code == P_OK)
		code = memory_forget(c, op->space, m->num, op->if_version, op->now_ms, op->arena, &m->memory,
				     &m->changed, &op->problem);
	if (code == P_OK)
		tell(op, EVENT_MEMORY_FORGOTTEN, STR_NULL);
	return code;
}

static void index_changed(struct op *op)
{
	const struct memory_change *m = (const struct memory_change *)op;

	if (m->changed)
		recall_put(op->engine->recall, &m->memory);
}

static void index_forgotten(struct op *op)
{
	const struct memory_change *m = (const struct memory_change *)op;

	if (m->changed)
		recall_remove(op->engine->recall, op->space, m->num);
}

const struct op_kind memory_update_kind = {
	.name = "memory_update", .size = sizeof(struct memory_change),
	.flags = OP_ADDS_BYTES | OP_MAY_ADD_NOTHING, /* pinning makes no version */
	.run = run_update, .done = index_changed,
};
const struct op_kind memory_revert_kind = {
	.name = "memory_revert", .size = sizeof(struct memory_change), .flags = OP_ADDS_BYTES,
	.run = run_revert, .done = index_changed,
};
const struct op_kind memory_forget_kind = {
	.name = "memory_forget", .size = sizeof(struct memory_change), .run = run_forget, .done = index_forgotten,
};
