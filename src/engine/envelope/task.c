#include "engine/envelope/task.h"

enum { CHUNK = 4 };

enum problem_code task_unknown(struct op *op, struct str task)
{
	return problem_set(&op->problem, P_TASK_NOT_FOUND, "id", "there is no task \"%.*s\" in this space",
			   (int)(task.n < 128 ? task.n : 128), task.p);
}

enum problem_code task_of_caller_unknown(struct op *op)
{
	return problem_set(&op->problem, P_TASK_NOT_FOUND, "Spine-Task", "there is no task \"%.*s\" in this space; "
			   "nothing was stored", STR_ARG(op->task));
}

enum problem_code task_check(struct op *op, struct store_conn *c)
{
	enum store_status status;

	if (!op->uses_task)
		return P_OK;
	status = store_task_find(c, op->space, op->task);
	if (status == STORE_NOT_FOUND)
		return task_of_caller_unknown(op);
	return op_stored(op, status);
}

enum problem_code task_page(struct op *op, struct store_conn *c, struct str task, const struct page *page,
			    struct envelope_row *rows, size_t *ret_count, bool *ret_more)
{
	size_t count = 0, got = CHUNK, want = CHUNK, bytes = 0;
	uint64_t after = page->position;
	enum store_status status = STORE_OK;

	while (status == STORE_OK && got == want && count <= page->size && bytes <= TASK_PAGE_BYTES) {
		want = page->size + 1 - count < CHUNK ? page->size + 1 - count : CHUNK;
		got = 0;
		if (op->space)
			status = store_task_envelopes(c, op->space, task, after, want, op->arena, rows + count, &got);
		for (size_t i = 0; i < got; i++)
			bytes += rows[count++].body.n;
		after = count ? rows[count - 1].num : after;
	}
	/* The last one shows that there are more; on a page that is full by its bytes that is the one held back. */
	*ret_more = got == want && count > 1;
	*ret_count = *ret_more ? count - 1 : count;
	return op_stored(op, status);
}

enum problem_code task_pruned(struct op *op, struct store_conn *c, const struct envelope *list, size_t count, bool *ret)
{
	enum store_status status = STORE_NOT_FOUND;

	*ret = false;
	for (size_t i = 0; status == STORE_NOT_FOUND && i < count; i++) {
		struct pruned_envelope left;

		if (list[i].parent)
			status = store_pruned_envelope(c, op->space, list[i].parent, &left);
	}
	*ret = status == STORE_OK;
	return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
}
