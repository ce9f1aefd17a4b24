#include "engine/envelope/waive.h"

#include "core/envelope/constraints.h"
#include "core/envelope/unpack.h"
#include "core/watch/event.h"
#include "engine/envelope/lineage.h"
#include "engine/envelope/task.h"
#include "engine/said.h"
#include "text/lookalike.h"

enum { ENDS_MAX = 64 };

static enum problem_code check(struct op *op)
{
	const struct waive *w = (const struct waive *)op;

	if (op->person.p == NULL || lookalike_is_blank(op->person))
		return problem_set(&op->problem, P_PERSON_REQUIRED, "Spine-Person", "only a person waives a "
				   "constraint for a whole task: with spine waive, or in the dashboard; an agent "
				   "waives what is not locked with waive, when it packs");
	if (lookalike_is_blank(w->reason))
		return problem_set(&op->problem, P_MISSING_FIELD, "reason", "a waiver says why, in reason, so that "
				   "somebody can read it");
	if (str_is(w->key, "max_tokens"))
		return problem_set(&op->problem, P_INVALID_FIELD, "key", "max_tokens belongs to the receiver, and is "
				   "not inherited; there is nothing to waive");
	return P_OK;
}

/* Names what there is instead. */
static enum problem_code no_such(struct op *op, const struct envelope *newest)
{
	const struct waive *w = (const struct waive *)op;
	struct buf keys;

	buf_init(&keys, 4096);
	for (uint32_t i = 0; i < newest->constraints.count && keys.len < 200; i++)
		buf_printf(&keys, "%s\"%.*s\"", i ? ", " : "", STR_ARG(newest->constraints.members[i].key));
	problem_set(&op->problem, P_INVALID_FIELD, "key", "no end of the task has a constraint \"%.*s\"; env-%llu has "
		"%s",
		    (int)(w->key.n < 100 ? w->key.n : 100), w->key.p, (unsigned long long)newest->num,
		    keys.len ? keys.data : "none");
	buf_release(&keys);
	return op->problem.code;
}

/* The newest end of the task that has it. */
static enum problem_code find_constraint(struct op *op, struct store_conn *c, const uint64_t *ends, size_t count)
{
	struct waive *w = (struct waive *)op;
	struct envelope *newest = NULL;

	for (size_t i = count; i > 0; i--) {
		struct envelope *e = arena_alloc(op->arena, sizeof(*e));
		struct envelope_row row;
		const struct json *value;
		enum problem_code code = unpack_find(c, op->space, ends[i - 1], "id", op->arena, &row, &op->problem);

		if (code == P_OK)
			code = unpack_skeleton(&row, op->arena, e, &op->problem);
		if (code != P_OK)
			return code;
		newest = newest ? newest : e;
		value = json_get_str(&e->constraints, w->key);
		if (value == NULL)
			continue;
		w->value = *value;
		w->envelope = e->num;
		return P_OK;
	}
	return newest ? no_such(op, newest) : task_unknown(op, w->task);
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct waive *w = (struct waive *)op;
	uint64_t ends[ENDS_MAX];
	size_t count = 0;
	enum problem_code code = check(op);

	if (code == P_OK && op->space)
		code = lineage_ends(op, c, w->task, ends, ENDS_MAX, &count);
	if (code == P_OK)
		code = find_constraint(op, c, ends, count);
	return code == P_OK ? said_guard(op, c, SAID_OF_ENVELOPE, w->envelope, "reason", &w->reason) : code;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct waive *w = (struct waive *)op;
	struct waiver_row *rows = arena_calloc(op->arena, TASK_WAIVERS_MAX, sizeof(*rows));
	size_t count = 0;
	enum store_status status = store_waivers(c, op->space, w->task, TASK_WAIVERS_MAX, op->arena, rows, &count);

	if (status == STORE_OK && count == TASK_WAIVERS_MAX)
		return problem_set(&op->problem, P_TOO_LARGE, "key", "%d constraints were waived for this task "
				   "already; begin another task", TASK_WAIVERS_MAX);
	w->row = (struct waiver_row){
		.key = w->key, .reason = w->reason, .by = op->person, .at_ms = op->now_ms,
		.access_key = op_access_key(op),
	};
	w->unauthenticated = op->access == NULL;
	if (status == STORE_OK)
		status = store_waiver_add(c, op->space, w->task, &w->row);
	if (status == STORE_NOT_FOUND)
		return task_unknown(op, w->task);
	op->told = (struct event_row){
		.kind = EVENT_CONSTRAINT_WAIVED, .envelope = w->envelope, .actor = op->person,
		.note = arena_printf(op->arena, "%.*s: %.*s (for the whole task, by a person%s)", STR_ARG(w->key),
				     STR_ARG(w->reason), w->unauthenticated ? ", unauthenticated" : ""),
	};
	return op_stored(op, status);
}

const struct op_kind waive_kind = {
	.name = "waive", .size = sizeof(struct waive), .flags = OP_TAKES_KEY, .prepare = prepare, .run = run,
};
