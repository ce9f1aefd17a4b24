#include "engine/board/queue_list.h"

#include "engine/engine.h"
#include "engine/watch/queues.h"
#include "engine/watch/watch.h"

/* In a page's token: where it ends. What is queued comes first, then what waits for later. */
enum { PLACE_FIRST, PLACE_QUEUED, PLACE_LATER };

/* --- All queues --- */

static enum store_status read_first(struct op *op, struct store_conn *c, struct queue_listed *q)
{
	struct handoff_row h;
	int64_t busy_until_ms = 0;
	struct problem problem = {0};
	enum store_status status = store_handoff_next(c, q->view.id, false, op->arena, &h);

	if (status == STORE_NOT_FOUND)
		return STORE_OK;
	if (status == STORE_OK)
		status = problem_store_status(delivery_look(c, op->now_ms, op->arena, &h, &problem));
	if (status == STORE_OK)
		status = store_target_busy_until(c, q->view.id, &busy_until_ms);
	if (status == STORE_OK)
		status = queues_waiting_since(c, q->view.id, op->arena, &q->oldest_at_ms);
	q->has_first = true;
	q->why = queue_why(&h, &q->view.target, busy_until_ms, op->now_ms, &q->until_ms);
	return status;
}

static enum problem_code read_queue(struct op *op, struct store_conn *c, struct str name, struct queue_listed *q)
{
	enum problem_code code = agent_get_view(op, c, name, &q->view);

	return code == P_OK && q->view.id ? op_stored(op, read_first(op, c, q)) : code;
}

static bool has_work(const struct queue_row *row)
{
	return row->counts.queued + row->counts.leased + row->counts.working + row->counts.parked > 0;
}

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct queue_list *l = (struct queue_list *)op;
	struct writer_stats writer;
	struct queue_row *rows;
	size_t count = 0, kept = 0, skipped;
	enum problem_code code;

	if (op->space == 0)
		return P_OK;
	writer_stats(op->engine->writer, &writer);
	code = op_stored(op, queues_read(watch_queues(op->engine->watch), c, writer.commits, op->space, op->arena,
					 &rows, &count, NULL, NULL));
	if (code != P_OK)
		return code;
	for (size_t i = 0; i < count; i++)
		if (has_work(&rows[i]))
			rows[kept++] = rows[i];
	skipped = page_skip(&l->page, &kept);
	l->count = kept;
	page_end(&l->page, &l->count);
	l->queues = arena_calloc(op->arena, l->count, sizeof(*l->queues));
	for (size_t i = 0; code == P_OK && i < l->count; i++)
		code = read_queue(op, c, rows[skipped + i].name, &l->queues[i]);
	return code;
}

/* --- One queue --- */

/* The last one of the page before: what it was says where to go on, wherever it is by now. */
static enum store_status read_rows(struct op *op, struct store_conn *c, struct queue_get *g, struct handoff_row *rows,
				   size_t max)
{
	struct handoff_row behind = {.num = g->page.position & MEMORY_NUM_MAX};
	int64_t agent = g->queue.view.id;
	size_t more = 0;
	enum store_status status = STORE_OK;

	if (g->page.extra == PLACE_QUEUED)
		status = store_handoff_get(c, op->space, behind.num, op->arena, &behind);
	if (status == STORE_OK && g->page.extra != PLACE_LATER)
		status = store_handoffs_queued(c, agent, g->page.extra == PLACE_FIRST ? NULL : &behind, max,
					       op->arena, rows, &g->count);
	if (status == STORE_OK && g->count < max)
		status = store_handoffs_flight(c, agent, 1u << HANDOFF_DELAYED,
					       g->page.extra == PLACE_LATER ? behind.num : 0, max - g->count,
					       op->arena, rows + g->count, &more);
	g->count += more;
	return status;
}

/* The number of those on earlier pages is in the token, above the number of the last of them. */
static void turn_page(struct queue_get *g, const struct handoff_row *rows)
{
	const struct handoff_row *last = g->count ? &rows[g->count - 1] : NULL;
	uint64_t before = g->page.position >> 40;

	if (last == NULL)
		return;
	g->page.next = (before + g->count) << 40 | last->num;
	g->page.next_extra = last->state == HANDOFF_DELAYED ? PLACE_LATER : PLACE_QUEUED;
}

static enum problem_code read_entries(struct op *op, struct store_conn *c, struct queue_get *g,
				      const struct handoff_row *rows)
{
	int64_t busy_until_ms = 0;
	enum problem_code code = op_stored(op, store_target_busy_until(c, g->queue.view.id, &busy_until_ms));

	g->entries = arena_calloc(op->arena, g->count, sizeof(*g->entries));
	for (size_t i = 0; code == P_OK && i < g->count; i++) {
		struct queue_entry *e = &g->entries[i];

		e->row = rows[i];
		e->position = (int64_t)(g->page.position >> 40) + (int64_t)i + 1;
		code = delivery_look(c, op->now_ms, op->arena, &e->row, &op->problem);
		e->why = queue_why(&e->row, &g->queue.view.target, busy_until_ms, op->now_ms, &e->until_ms);
		if (code == P_OK)
			code = op_stored(op, about_read(op, c, rows[i].envelope, &e->about));
	}
	return code;
}

static enum problem_code read_one(struct op *op, struct store_conn *c)
{
	struct queue_get *g = (struct queue_get *)op;
	size_t max = g->page.size + 1;
	struct handoff_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	enum problem_code code = read_queue(op, c, g->agent, &g->queue);
	enum store_status status;

	if (code == P_OK && g->queue.view.id == 0)
		code = problem_set(&op->problem, P_AGENT_NOT_FOUND, "agent", "there is no agent \"%.*s\" in this space",
				   STR_ARG(g->agent));
	if (code != P_OK)
		return code;
	status = read_rows(op, c, g, rows, max);
	/* Retention took it, or the token is of another queue. */
	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_INVALID_PAGE_TOKEN, "page_token", "what page_token stands for is "
				   "not there any more; begin again with the first page");
	if (status != STORE_OK)
		return op_stored(op, status);
	g->page.has_more = page_cut(&g->page, &g->count);
	turn_page(g, rows);
	return read_entries(op, c, g, rows);
}

const struct op_kind queue_list_kind = {
	.name = "queues", .size = sizeof(struct queue_list), .flags = OP_ASIDE, .read = read_list,
};
const struct op_kind queue_get_kind = {.name = "queue", .size = sizeof(struct queue_get), .read = read_one};
