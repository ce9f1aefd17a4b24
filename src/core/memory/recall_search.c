/* From a query of the protocol to one of the index, and back. */
#include "base/mem.h"
#include "core/memory/recall_internal.h"

#include <assert.h>
#include <stdlib.h>

#define RECENCY_WEIGHT 0.25
#define RECENCY_HALF_LIFE_MS (INT64_C(7) * 24 * 3600 * 1000)

struct recall_scratch *recall_scratch_new(struct recall *r)
{
	struct recall_scratch *s = mem_zalloc(sizeof(*s));

	s->analyzer = analyzer_new();
	s->index = index_scratch_new();
	termbag_init(&s->bag, r->seed);
	return s;
}

void recall_scratch_free(struct recall_scratch *s)
{
	if (s == NULL)
		return;
	analyzer_free(s->analyzer);
	index_scratch_free(s->index);
	termbag_release(&s->bag);
	free(s);
}

/* The conditions of a query as groups of labels: tags and metadata are a group each, the values of another field are
 * alternatives in one group. */
static void make_groups(const struct recall_query *q, struct arena *arena, struct index_filter *f)
{
	struct index_labels *groups = arena_calloc(arena, q->filter_count + 1, sizeof(*groups));
	size_t count = 0;

	for (enum recall_field field = RECALL_TAG; field <= RECALL_METADATA; field++) {
		struct str *labels = arena_calloc(arena, q->filter_count + 1, sizeof(*labels));
		size_t n = 0;

		for (size_t i = 0; i < q->filter_count; i++) {
			const struct recall_filter *filter = &q->filters[i];

			if (filter->field != field)
				continue;
			labels[n++] = recall_label(arena, field, filter->key, filter->value);
			if (field == RECALL_TAG || field == RECALL_METADATA)
				groups[count++] = (struct index_labels){&labels[n - 1], 1};
		}
		if (n == 0 || field == RECALL_TAG || field == RECALL_METADATA)
			continue;
		groups[count++] = (struct index_labels){labels, n};
	}
	f->require = groups;
	f->require_count = count;
}

/* Only pinned memories carry a label for it: "pinned=false" is the absence of that. */
static void make_pinned(const struct recall_query *q, struct arena *arena, struct index_filter *f,
			struct recall_query *ret_rest)
{
	struct recall_filter *rest = arena_calloc(arena, q->filter_count + 1, sizeof(*rest));
	struct str *label = arena_alloc(arena, sizeof(*label));
	size_t n = 0;

	for (size_t i = 0; i < q->filter_count; i++) {
		if (q->filters[i].field == RECALL_PINNED && str_is(q->filters[i].value, "false")) {
			*label = recall_label(arena, RECALL_PINNED, STR_NULL, STR("true"));
			f->exclude = (struct index_labels){label, 1};
		} else {
			rest[n++] = q->filters[i];
		}
	}
	*ret_rest = *q;
	ret_rest->filters = rest;
	ret_rest->filter_count = n;
}

static void make_state(enum recall_state state, struct index_filter *f)
{
	f->include_hidden = state == RECALL_SUPERSEDED || state == RECALL_ANY;
	f->include_expired = state != RECALL_ACTIVE;
	f->only_hidden = state == RECALL_SUPERSEDED;
	f->only_expired = state == RECALL_EXPIRED;
}

static struct index_filter make_filter(const struct recall_query *q, struct arena *arena)
{
	struct index_filter f = index_filter_any();
	struct recall_query rest;

	make_pinned(q, arena, &f, &rest);
	make_groups(&rest, arena, &f);
	make_state(q->state, &f);
	if (q->created_from_ms)
		f.created_from_ms = q->created_from_ms;
	if (q->created_to_ms)
		f.created_to_ms = q->created_to_ms - 1;
	if (q->text.p == NULL && q->after_num && q->oldest_first)
		f.id_from = q->after_num + 1;
	else if (q->text.p == NULL && q->after_num)
		f.id_to = q->after_num - 1;
	return f;
}

static size_t list(const struct index *ix, struct recall_scratch *scratch, const struct recall_query *q,
		   struct arena *arena, struct recall_hit *ret)
{
	uint64_t *ids = arena_calloc(arena, q->limit, sizeof(*ids));
	struct index_filter filter = make_filter(q, arena);
	size_t n = index_list(ix, &filter, q->now_ms, q->oldest_first, q->limit, scratch->index, ids);

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct recall_hit){.num = ids[i]};
	return n;
}

static void explain(const struct index *ix, struct recall_scratch *scratch, const struct index_query *query,
		    int64_t now_ms, struct arena *arena, struct recall_hit *hit)
{
	struct index_explanation e;

	if (!index_explain(ix, query, now_ms, hit->num, scratch->index, &e))
		return;
	hit->boost = e.boost;
	hit->recency = e.recency;
	hit->terms = arena_calloc(arena, e.term_count, sizeof(*hit->terms));
	hit->term_count = e.term_count;
	for (size_t i = 0; i < e.term_count; i++)
		hit->terms[i] = (struct recall_term){arena_str(arena, e.terms[i].term), e.terms[i].score,
						     e.terms[i].idf, e.terms[i].count};
	index_explanation_release(&e);
}

/* What the words of the query are. Those of `more` count half in the score; a memory is as relevant as it is to one of
 * the two texts. */
static void read_words(struct recall_scratch *scratch, const struct recall_query *q)
{
	termbag_clear(&scratch->bag);
	termbag_add_text(&scratch->bag, scratch->analyzer, q->text, q->more.p ? 2 : 1);
	if (q->more.p)
		termbag_add_aside(&scratch->bag, scratch->analyzer, q->more, 1);
}

static struct index_query make_query(struct recall_scratch *scratch, const struct recall_query *q, struct arena *arena)
{
	read_words(scratch, q);
	return (struct index_query){
		.terms = &scratch->bag,
		.filter = make_filter(q, arena),
		.max_postings = q->max_postings,
		.shortlist = q->shortlist,
		.is_of_groups = q->is_of_tasks,
		.first_k = q->first_limit,
		.recency_weight = RECENCY_WEIGHT,
		.half_life_ms = RECENCY_HALF_LIFE_MS,
		.has_after = q->after_num != 0,
		.after_id = q->after_num,
		.after_score = q->after_score,
	};
}

static size_t search(const struct index *ix, struct recall_scratch *scratch, const struct recall_query *q,
		     struct arena *arena, struct recall_hit *ret)
{
	struct index_hit *hits = arena_calloc(arena, q->limit, sizeof(*hits));
	struct index_query query = make_query(scratch, q, arena);
	size_t n = index_search_near(ix, &query, q->now_ms, q->limit, scratch->index, hits);

	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct recall_hit){
			.num = hits[i].id, .score = hits[i].score, .own = hits[i].own, .text = hits[i].text,
			.relevance = hits[i].relevance,
		};
		if (q->explain)
			explain(ix, scratch, &query, q->now_ms, arena, &ret[i]);
	}
	return n;
}

bool recall_rate(struct recall *r, struct recall_scratch *scratch, int64_t space, const struct recall_query *query,
		 struct arena *arena, const uint64_t *nums, size_t count, double *ret)
{
	struct recall_space *s = recall_space_find(r, space);
	struct index_hit *hits = arena_calloc(arena, count, sizeof(*hits));
	bool ready;

	if (s == NULL)
		return false;
	pthread_rwlock_rdlock(&s->lock);
	ready = s->state == SPACE_READY;
	if (ready) {
		struct index_query q = make_query(scratch, query, arena);

		index_rate(s->index, &q, query->now_ms, nums, count, scratch->index, hits);
	}
	pthread_rwlock_unlock(&s->lock);
	recall_space_leave(s);
	for (size_t i = 0; i < count; i++)
		ret[i] = hits[i].relevance;
	return ready;
}

bool recall_repeats(struct recall *r, int64_t space, const uint64_t *nums, size_t count, size_t from, uint64_t *ret)
{
	struct recall_space *s = recall_space_find(r, space);
	bool ready;

	if (s == NULL)
		return false;
	pthread_rwlock_rdlock(&s->lock);
	ready = s->state == SPACE_READY;
	if (ready)
		index_repeats(s->index, nums, count, from, ret);
	pthread_rwlock_unlock(&s->lock);
	recall_space_leave(s);
	return ready;
}

uint64_t recall_highest(struct recall *r, int64_t space)
{
	struct recall_space *s = recall_space_find(r, space);
	uint64_t highest = 0;

	if (s == NULL)
		return 0;
	pthread_rwlock_rdlock(&s->lock);
	if (s->state == SPACE_READY)
		highest = index_highest(s->index);
	pthread_rwlock_unlock(&s->lock);
	recall_space_leave(s);
	return highest;
}

bool recall_search(struct recall *r, struct recall_scratch *scratch, int64_t space, const struct recall_query *query,
		   struct arena *arena, struct recall_hit *ret, size_t *ret_count)
{
	struct recall_space *s = recall_space_find(r, space);
	bool ready;

	assert(query->limit <= INDEX_PAGE);
	if (s == NULL)
		return false;
	pthread_rwlock_rdlock(&s->lock);
	ready = s->state == SPACE_READY;
	if (ready)
		*ret_count = query->text.p ? search(s->index, scratch, query, arena, ret)
					   : list(s->index, scratch, query, arena, ret);
	pthread_rwlock_unlock(&s->lock);
	recall_space_leave(s);
	return ready;
}
