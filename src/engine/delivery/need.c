#include "engine/delivery/need.h"

#include "core/envelope/unpack.h"

static bool is_id(struct str text, uint64_t num)
{
	struct memory_id id;

	return memory_id_parse(text, &id) && id.num == num;
}

/* Does the envelope name it: as a reference, with its text or without, as one that it misses, or as one that it had no
 * room for? */
static bool is_named(const struct envelope *e, uint64_t num)
{
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].id.num == num)
			return true;
	for (size_t i = 0; i < e->missing_count; i++)
		if (is_id(e->missing[i].id, num))
			return true;
	for (size_t i = 0; i < e->trim_count; i++)
		if (is_id(e->trimmed[i].id, num))
			return true;
	return false;
}

/* Who takes work may open what came with it. Everything else of the space is for who may read it. */
static enum problem_code check_named(struct op *op, struct store_conn *c, const struct need *n, uint64_t envelope)
{
	struct envelope_row row;
	struct envelope e;
	enum problem_code code;

	if (access_has(op->access, ACCESS_READ))
		return P_OK;
	code = unpack_find(c, op->space, envelope, NULL, op->arena, &row, &op->problem);
	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, &e, &op->problem);
	for (size_t i = 0; code == P_OK && i < n->count; i++) {
		if (is_named(&e, n->ids[i].num))
			continue;
		code = problem_set(&op->problem, P_FORBIDDEN, NULL, "ms-%llu is not named in env-%llu, and key-%llu "
				   "lacks the scope read; ask for what the envelope names, or use a key that has it",
				   (unsigned long long)n->ids[i].num, (unsigned long long)envelope,
				   (unsigned long long)op->access->key);
		problem_prefix(&op->problem, "refs", i);
	}
	return code;
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct need *n = (struct need *)op;
	const struct settling *s = &n->settle.one;
	struct handoff_row row;
	enum problem_code code = settle_check_own(op, c, s->num);
	enum store_status status = code == P_OK && op->space ? store_handoff_get(c, op->space, s->num, op->arena, &row)
							     : STORE_NOT_FOUND;

	/* That there is no such handoff, or that the lease is another's, is for the run to say. */
	if (status != STORE_OK || !delivery_is_due_settle(&row, &s->answer))
		return code == P_OK && status != STORE_NOT_FOUND ? op_stored(op, status) : code;
	code = check_named(op, c, n, row.envelope);
	if (code == P_OK)
		code = memory_lookup_all(op, c, n->ids, n->count, &n->lookup);
	return code == P_OK && n->lookup.found_count ? memory_lookup_guard(op, c, row.envelope, &n->lookup) : code;
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
