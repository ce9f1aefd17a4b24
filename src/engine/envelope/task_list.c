#include "engine/envelope/task_list.h"

#include "core/envelope/unpack.h"
#include "engine/envelope/task.h"

enum { ABOUT_CHARACTERS = 200 };

static struct str beginning(struct arena *arena, struct str text)
{
	size_t characters = 0;

	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] & 0xc0) != 0x80 && ++characters > ABOUT_CHARACTERS)
			return arena_printf(arena, "%.*s\xe2\x80\xa6", (int)i, text.p);
	return text.p ? arena_str(arena, text) : STR_NULL;
}

/* An envelope can be large, and a page has many tasks: no more than the beginnings is kept of them, and *bytes says how
 * much was read. What cannot be read is not told here: spine check and verify say what is wrong with it. */
static enum store_status read_about(struct op *op, struct store_conn *c, struct task_listed *ret, size_t *bytes)
{
	const struct task_row *task = &ret->row;
	struct envelope_row row = {0};
	struct envelope e;
	struct problem problem = {0};
	struct arena arena;
	size_t count = 0;
	enum store_status status;

	arena_init(&arena);
	status = store_task_last(c, op->space, task->name, &arena, &row);
	if (status == STORE_OK && unpack_skeleton(&row, &arena, &e, &problem) == P_OK) {
		ret->intent = beginning(op->arena, e.intent);
		ret->summary = beginning(op->arena, e.summary);
	}
	*bytes += row.body.n;
	if (status == STORE_OK && task->envelopes > 1) {
		status = store_task_envelopes(c, op->space, task->name, 0, 1, &arena, &row, &count);
		if (count && unpack_skeleton(&row, &arena, &e, &problem) == P_OK)
			ret->summary = beginning(op->arena, e.summary);
		*bytes += row.body.n;
	}
	arena_release(&arena);
	return status;
}

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct task_list *l = (struct task_list *)op;
	size_t max = l->page.size + 1, bytes = 0;
	struct task_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	enum store_status status = STORE_OK;

	l->tasks = arena_calloc(op->arena, max, sizeof(*l->tasks));
	if (op->space)
		status = store_tasks(c, op->space, (int64_t)l->page.position, max, op->arena, rows, &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	for (size_t i = 0; status == STORE_OK && i < l->count; i++) {
		l->tasks[i].row = rows[i];
		status = read_about(op, c, &l->tasks[i], &bytes);
		/* A page of large envelopes ends earlier. */
		if (bytes > TASK_PAGE_BYTES && i + 1 < l->count) {
			l->count = i + 1;
			l->page.has_more = true;
		}
		l->page.next = (uint64_t)rows[i].id;
	}
	return op_stored(op, status);
}

const struct op_kind task_list_kind = {.name = "task_list", .size = sizeof(struct task_list), .read = read_list};
