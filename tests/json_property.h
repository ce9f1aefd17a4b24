/* What must hold for any text at all, given to json_parse: shared by the random test and the fuzzer. */
#ifndef TESTS_JSON_PROPERTY_H
#define TESTS_JSON_PROPERTY_H

#include "codec/json.h"
#include "codec/json_scan.h"
#include "memory_spine.h"

enum { JSON_PROPERTY_DEPTH = 64, JSON_PROPERTY_TEXT_MAX = 64 << 20 };

static const char *json_refusal_broken(struct str text, const struct json_error *error, bool scan_accepts)
{
	static const char *const codes[] = {"invalid_json", "invalid_utf8", "duplicate_key", "too_deep",
					    "number_out_of_range"};
	struct str detail = str_of(error->detail);
	bool known = false, duplicate;

	for (size_t i = 0; error->code && i < sizeof(codes) / sizeof(codes[0]); i++)
		known = known || str_is(str_of(codes[i]), error->code);
	if (!known)
		return "a refusal has one of the five codes";
	if (!str_has_suffix(detail, STR(".")) || !str_is_utf8(detail))
		return "a refusal comes with a whole sentence in UTF-8";
	if (error->offset > text.n)
		return "the offset of a refusal lies in the text";
	duplicate = str_is(str_of(error->code), "duplicate_key");
	if (duplicate && (error->offset == text.n || text.p[error->offset] != '"'))
		return "the offset of a duplicate is that of a name";
	/* A duplicate name is none of json_scan's business; it may find another fault further on. */
	if (!duplicate && scan_accepts)
		return "what simdjson refuses, json_scan refuses";
	return NULL;
}

static const char *json_rewrite_broken(const struct json *tree, struct arena *arena, struct buf *first,
				       struct buf *second, bool canonical)
{
	void (*put)(struct json_writer *, const struct json *) = canonical ? json_put_canonical : json_put;
	struct json_error error;
	struct json_writer w;
	struct json again;

	buf_clear(first);
	buf_clear(second);
	json_writer_init(&w, first);
	put(&w, tree);
	if (!json_parse(buf_str(first), JSON_PROPERTY_DEPTH, arena, &again, &error))
		return "what was read can be written and read again";
	if (!json_equal(tree, &again) || !json_equal(&again, tree))
		return "what is read again is equal to what was written";
	json_writer_init(&w, second);
	put(&w, &again);
	if (!str_eq(buf_str(first), buf_str(second)))
		return "writing again gives the same bytes";
	return NULL;
}

/* The value as the reader of the C library has it. */
static bool json_is_same(const struct json *a, const ms_json *b)
{
	size_t len;
	const char *text = ms_json_text(b, &len);

	if ((int)a->type != (int)ms_json_type(b))
		return false;
	switch (a->type) {
	case JSON_BOOL:
		return a->boolean == ms_json_bool(b, !a->boolean);
	case JSON_INT:
		return a->i == ms_json_int(b, !a->i);
	case JSON_DOUBLE:
		return a->d == ms_json_number(b, a->d + 1);
	case JSON_STRING:
		return str_eq(a->s, (struct str){text, len});
	case JSON_ARRAY:
		for (uint32_t i = 0; i < a->count; i++)
			if (!json_is_same(&a->items[i], ms_json_at(b, i)))
				return false;
		return a->count == ms_json_count(b);
	case JSON_OBJECT:
		for (uint32_t i = 0; i < a->count; i++)
			if (!json_is_same(&a->members[i].value, ms_json_at(b, i)) ||
			    strcmp(a->members[i].key.p, ms_json_name(b, i)) != 0)
				return false;
		return a->count == ms_json_count(b);
	default:
		return true;
	}
}

/* The C library has a reader of its own, because it must do without C++. tree is NULL where json_parse refused. */
static const char *json_library_broken(struct str text, const struct json *tree, const struct json_error *error)
{
	ms_answer *answer = NULL;
	bool accepts = ms_json_read(text.n ? text.p : "", text.n, &answer, NULL) == MS_OK;
	const char *broken = NULL;

	if (tree == NULL && accepts && !str_is(str_of(error->code), "too_deep"))
		broken = "what json_parse refuses, the C library refuses";
	else if (tree && !accepts)
		broken = "what json_parse accepts, the C library accepts";
	else if (tree && !json_is_same(tree, ms_answer_json(answer)))
		broken = "json_parse and the C library read the same";
	ms_answer_free(answer);
	return broken;
}

/* NULL, or the promise that text made json_parse break. */
static const char *json_promise_broken(struct str text)
{
	struct json tree = {.type = JSON_INT, .i = 4711};
	struct json_error error = {0}, scan_error = {0};
	struct buf first, second;
	struct arena arena;
	bool scan_accepts = json_scan(text, JSON_PROPERTY_DEPTH, &scan_error);
	const char *broken;

	arena_init(&arena);
	buf_init(&first, JSON_PROPERTY_TEXT_MAX);
	buf_init(&second, JSON_PROPERTY_TEXT_MAX);
	if (!json_parse(text, JSON_PROPERTY_DEPTH, &arena, &tree, &error)) {
		broken = json_refusal_broken(text, &error, scan_accepts);
		if (tree.type != JSON_INT || tree.i != 4711)
			broken = "a refusal leaves the result alone";
	} else if (!scan_accepts) {
		broken = "what simdjson accepts, json_scan accepts";
	} else {
		broken = json_rewrite_broken(&tree, &arena, &first, &second, false);
		if (broken == NULL)
			broken = json_rewrite_broken(&tree, &arena, &first, &second, true);
	}
	if (broken == NULL)
		broken = json_library_broken(text, error.code ? NULL : &tree, &error);
	buf_release(&first);
	buf_release(&second);
	arena_release(&arena);
	return broken;
}

#endif
