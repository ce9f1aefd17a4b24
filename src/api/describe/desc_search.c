/* Listing memories, and searching them. */
#include "api/describe/descriptions.h"
#include "api/describe/query.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/page.h"
#include "engine/memory/memory_search.h"

enum { QUERY_MAX = 8192 };

/* --- What is found --- */

static const struct field explain_fields[] = {
	FIELD_NUMBER("text", struct memory_explained, text, NO_MIN, NO_MAX, "Of its own words: the sum of the terms."),
	FIELD_NUMBER("neighbours", struct memory_explained, neighbours, NO_MIN, NO_MAX,
		     "What the memories beside it in its task lend it."),
	FIELD_NUMBER("importance", struct memory_explained, importance, NO_MIN, NO_MAX, "What its importance adds."),
	FIELD_NUMBER("pinned", struct memory_explained, pinned, NO_MIN, NO_MAX, "What it adds that it is pinned."),
	FIELD_NUMBER("recency", struct memory_explained, recency, NO_MIN, NO_MAX, "What its newness adds."),
	FIELD_SHAPES("terms", struct memory_explained, terms, term_count, 0, WITHIN_OF(struct recall_term,
		FIELD_TEXT("term", struct recall_term, term, 0, 0, "A word of the query, as it is compared."),
		FIELD_NUMBER("score", struct recall_term, score, NO_MIN, NO_MAX, "What it adds."),
		COUNT_OF("count", struct recall_term, count, "How often the memory has it."),
		FIELD_NUMBER("idf", struct recall_term, idf, NO_MIN, NO_MAX, "How rare it is.")),
		"The words of the query that it has."),
	FIELDS_END,
};

static const struct shape explain = {
	.name = "Explain", .says = "score = (text + neighbours) × (1 + importance + pinned + recency)",
	.fields = explain_fields, .size = sizeof(struct memory_explained),
};

static const struct field scored_fields[] = {
	FIELD_NUMBER("score", struct memory_found, score, NO_MIN, NO_MAX, "Of a search.", MAYBE, .unset = -1),
	FIELD_NUMBER("relevance", struct memory_found, relevance, 0, 1,
		     "Of a search: how well it answers the query, comparable between queries.", MAYBE, .unset = -1,
		     .component = "Share"),
	FIELD_SHAPE_AT("explain", struct memory_found, explained, &explain,
		       "How its score came about, where that was asked for.", MAYBE),
	FIELDS_END,
};
const struct shape shape_scored = {.fields = scored_fields, .size = sizeof(struct memory_found)};

static void put_found(const struct field *f, const void *from, const void *call, struct json_writer *w)
{
	const struct memory_search *s = from;

	json_key_str(w, f->name);
	json_begin_array(w);
	for (size_t i = 0; i < s->count; i++) {
		json_begin_object(w);
		shape_write_members(&shape_memory, &s->found[i].memory, call, w);
		shape_write_members(&shape_scored, &s->found[i], call, w);
		json_end_object(w);
	}
	json_end_array(w);
}

static const struct field page_fields[] = {
	DOC_SHAPES("memories", 0, &shape_memory, "Those that fit.", .write = put_found),
	NEXT_PAGE_OF(struct memory_search, page), FIELDS_END,
};
static const struct shape memory_page = {.name = "MemoryPage", .fields = page_fields, .warns = true};

/* --- What is looked for --- */

static enum problem_code add_filter(struct memory_search *s, struct recall_filter filter, struct shape_reader *r)
{
	if (s->query.filter_count == RECALL_FILTERS_MAX)
		return problem_set(r->problem, P_TOO_LARGE, NULL, "there are more than %d filters", RECALL_FILTERS_MAX);
	s->filters[s->query.filter_count++] = filter;
	return P_OK;
}

/* Values of fields with a fixed list are checked, so that a typing error does not look like an empty result. */
static enum problem_code read_filter(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	static const char *const names[] = {"tag", "kind", "agent", "task", "importance", "trust", "pinned"};
	enum problem_code code = query_value(f, value->s, into, r);
	enum recall_field field = RECALL_TAG;

	while (!str_is(f->name, names[field]))
		field++;
	return code == P_OK ? add_filter(into, (struct recall_filter){field, STR_NULL, value->s}, r) : code;
}

static enum problem_code read_metadata(const struct field *f, const struct json *value, void *into,
				       struct shape_reader *r)
{
	struct str key = str_sub(f->name, sizeof("metadata.") - 1, f->name.n);

	return add_filter(into, (struct recall_filter){RECALL_METADATA, key, value->s}, r);
}

/* 0 stands for no bound; before 1970 there is nothing either way. */
static enum problem_code read_before(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	struct memory_search *s = into;
	enum problem_code code = query_value(f, value->s, into, r);

	if (s->query.created_to_ms == 0)
		s->query.created_to_ms = -1;
	return code;
}

#define FILTERS .read = read_filter, .is_repeated = true

const struct description describe_list_memories = {
	.id = "listMemories", .tag = "memories", .scope = SCOPE_READ, .tool = "memory_search",
	.summary = "List memories, or search them",
	.says = "Without query: a listing, the newest first. With it: a search, the highest score first. A parameter "
		"metadata.KEY asks for a value of a top-level member of the metadata.",
	.query_into = INTO(struct memory_search, op), .query_kind = QUERY_OPEN,
	.page_into = INTO(struct memory_search, page),
	.query = INPUT(
		FIELD_TEXT("query", struct memory_search, query.text, 0, QUERY_MAX,
			   "Words to look for in content, summary and tags. Any text is a query; at most 8 KiB."),
		DOC_TEXT("tag", 0, 0, "All of them must be there.", FILTERS),
		DOC_TEXT("kind", 0, 0, "Any of them.", FILTERS), DOC_TEXT("agent", 0, 0, "Any of them.", FILTERS,
			 OF_ANYBODY),
		DOC_TEXT("task", 0, 0, "Any of them.", FILTERS),
		DOC_ENUM("importance", &words_importance, 0, "Any of them.", FILTERS),
		DOC_ENUM("trust", &words_trust, 0, "Any of them.", FILTERS),
		DOC_BOOL("pinned", "Only those that are pinned, or only those that are not.", .read = read_filter),
		DOC_TEXT("metadata.", 0, 0, "The value of a top-level member.", .is_prefix = true,
			 .read = read_metadata),
		FIELD_ENUM("state", struct memory_search, query.state, &words_searched_state, 0,
			   "What has become of them.", .otherwise = "'active'",
			   .expected = "expected active, superseded, expired or any"),
		FIELD_TIME("created_after", struct memory_search, query.created_from_ms, "Inclusive."),
		FIELD_TIME("created_before", struct memory_search, query.created_to_ms, "Exclusive.",
			   .read = read_before),
		FIELD_ENUM("order", struct memory_search, query.oldest_first, &words_newest_oldest, 0,
			   "Of a listing, by id.", .otherwise = "'newest'", .expected = "expected newest or oldest"),
		FIELD_BOOL("explain", struct memory_search, query.explain,
			   "true: each result of a search tells how its score came about.", .otherwise = "false"),
		PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of memories.", &memory_page)),
	REFUSES(P_INVALID_PAGE_TOKEN),
};
