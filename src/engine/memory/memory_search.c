#include "engine/memory/memory_search.h"

#include "core/access/space_policy.h"
#include "engine/engine.h"

#include <math.h>

/* A query without a word in it is a listing. */
static enum problem_code complete_query(struct memory_search *s)
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
	return isfinite(q->after_score) ? P_OK
					: problem_set(&s->op.problem, P_INVALID_PAGE_TOKEN, "page_token",
						      "page_token is not one that this list gave out");
}

static const struct memory_explained *explain(struct op *op, const struct recall_hit *hit, const struct memory *m)
{
	struct memory_explained *e = arena_alloc(op->arena, sizeof(*e));

	*e = (struct memory_explained){
		.text = hit->own, .neighbours = hit->text - hit->own, .recency = hit->recency,
		.importance = recall_importance_part(m->importance), .pinned = recall_pinned_part(m->pinned),
		.terms = hit->terms, .term_count = hit->term_count,
	};
	return e;
}

static void add_found(struct op *op, struct memory_search *s, const struct recall_hit *hit)
{
	struct memory_found *f = &s->found[s->count++];
	bool is_search = s->query.text.p != NULL;

	f->is_below_floor = f->memory.trust > s->trust_floor;
	f->score = is_search ? hit->score : -1;
	f->relevance = is_search ? round(hit->relevance * 1000) / 1000 : -1;
	if (is_search && s->query.explain)
		f->explained = explain(op, hit, &f->memory);
}

/* The next page begins behind this one. */
static void end_page(struct page *page, const struct recall_hit *last)
{
	page->has_more = true;
	page->next = last->num;
	memcpy(&page->next_extra, &last->score, sizeof(page->next_extra));
}

static enum problem_code read_hits(struct op *op, struct store_conn *c, const struct recall_hit *hits, size_t count)
{
	struct memory_search *s = (struct memory_search *)op;
	enum store_status status = STORE_OK;
	size_t bytes = 0;

	s->found = arena_calloc(op->arena, count, sizeof(*s->found));
	for (size_t i = 0; i < count && (status == STORE_OK || status == STORE_NOT_FOUND); i++) {
		struct memory *m = &s->found[s->count].memory;

		status = store_memory_get(c, op->space, hits[i].num, 0, op->arena, m);
		if (status != STORE_OK || m->forgotten_at_ms || m->quarantined_at_ms)
			continue;
		bytes += m->content.n;
		if (op_is_too_large(op, bytes))
			return P_OK;
		if (bytes > PAGE_BYTES_MAX && s->count) {
			end_page(&s->page, &hits[i - 1]);
			break;
		}
		add_found(op, s, &hits[i]);
	}
	return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
}

/* A search ranks three times as many as its first page has, whatever page this is; each word of the query costs, and is
 * explained for each result. */
static size_t rows_of(const struct memory_search *s)
{
	enum { BYTES_A_WORD = 8, BYTES_A_ROW = 16 };
	size_t first = s->page.first_size > s->page.size ? s->page.first_size : s->page.size, bytes = s->query.text.n;

	return (s->query.explain ? first * (1 + bytes / BYTES_A_WORD) : first) + bytes / BYTES_A_ROW;
}

static enum problem_code search(struct op *op, struct store_conn *c)
{
	struct memory_search *s = (struct memory_search *)op;
	struct page *page = &s->page;
	enum problem_code code = complete_query(s);
	struct recall_hit *hits;
	size_t count = 0;

	/* It may be begun again elsewhere. */
	s->count = 0;
	page->has_more = false;
	if (code == P_OK)
		code = space_policy_floor(c, op->space, op->arena, &s->trust_floor, &op->problem);
	if (code != P_OK || op->space == 0 || op_is_too_long(op, rows_of(s)))
		return code;
	hits = arena_calloc(op->arena, s->query.limit, sizeof(*hits));
	if (!recall_search(op->engine->recall, op->reader->scratch, op->space, &s->query, op->arena, hits, &count))
		return problem_set(&op->problem, P_STORE_FAILED, NULL,
				   "the store could not be read to build the search index; see the server's log");
	if (page_cut(page, &count))
		end_page(page, &hits[count - 1]);
	return read_hits(op, c, hits, count);
}

const struct op_kind memory_search_kind = {
	.name = "memory_search", .size = sizeof(struct memory_search), .flags = OP_INDEX, .read = search,
};
