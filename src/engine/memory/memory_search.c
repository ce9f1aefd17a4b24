#include "engine/memory/memory_search.h"

#include "engine/engine.h"

/* A query without a word in it is a listing. */
static void complete_query(struct memory_search *s)
{
	struct recall_query *q = &s->query;

	if (str_trim(q->text).n == 0)
		q->text = STR_NULL;
	q->filters = s->filters;
	q->limit = s->page.size + 1;
	q->first_limit = s->page.first_size + 1;
	q->now_ms = s->page.time_ms;
	q->after_num = s->page.position;
	memcpy(&q->after_score, &s->page.extra, sizeof(q->after_score));
}

static enum problem_code read_hits(struct op *op, struct store_conn *c, struct memory_search *s)
{
	enum store_status status = STORE_OK;

	s->memories = arena_calloc(op->arena, s->count, sizeof(*s->memories));
	for (size_t i = 0; i < s->count && (status == STORE_OK || status == STORE_NOT_FOUND); i++) {
		status = store_memory_get(c, op->space, s->hits[i].num, 0, op->arena, &s->memories[i]);
		if (s->memories[i].forgotten_at_ms)
			s->memories[i].num = 0;
	}
	return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
}

static enum problem_code search(struct op *op, struct store_conn *c)
{
	struct memory_search *s = (struct memory_search *)op;

	complete_query(s);
	if (op->space == 0)
		return P_OK;
	s->hits = arena_calloc(op->arena, s->query.limit, sizeof(*s->hits));
	if (!recall_search(op->engine->recall, op->reader->scratch, op->space, &s->query, op->arena, s->hits,
			   &s->count))
		return problem_set(&op->problem, P_STORE_FAILED, NULL,
				   "the store could not be read to build the search index; see the server's log");
	s->more = page_cut(&s->page, &s->count);
	return read_hits(op, c, s);
}

const struct op_kind memory_search_kind = {
	.name = "memory_search", .size = sizeof(struct memory_search), .flags = OP_INDEX, .read = search,
};
