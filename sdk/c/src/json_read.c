/* The reader: see json.h.
 *
 * `pending` is a stack of values whose container is still open; a container remembers where its children begin there.
 * When it closes, its children are copied to their place for good, and it becomes a pending value itself.
 */
#include "json_reader.h"

#include "error.h"
#include "utf8.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, FEW_MEMBERS = 16 };

#define INT_MAX_EXACT 9007199254740991	/* 2^53-1: every integer up to it has a double of its own */

struct msi_json_chunk {
	struct msi_json_chunk *next;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char room[];
};

static bool fail_memory(struct reader *r)
{
	return fail(r, NULL);
}

/* --- Memory --- */

static void *take_room(struct msi_json_tree *tree, size_t size)
{
	struct msi_json_chunk *chunk = tree->chunks;
	size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

	if (chunk == NULL || chunk->size - chunk->used < size) {
		chunk = malloc(sizeof(*chunk) + room);
		if (chunk == NULL)
			return NULL;
		*chunk = (struct msi_json_chunk){.next = tree->chunks, .size = room};
		tree->chunks = chunk;
	}
	chunk->used += size;
	return chunk->room + chunk->used - size;
}

static struct ms_json *push(struct reader *r)
{
	struct ms_json *longer;
	size_t cap;

	if (r->values++ >= MSI_JSON_VALUES) {
		fail(r, "there are more than 2,000,000 values in it");
		return NULL;
	}
	if (r->pending_count == r->pending_cap) {
		cap = r->pending_cap ? r->pending_cap * 2 : 64;
		longer = realloc(r->pending, cap * sizeof(*longer));
		if (longer == NULL) {
			fail_memory(r);
			return NULL;
		}
		r->pending = longer;
		r->pending_cap = cap;
	}
	r->pending[r->pending_count] = (struct ms_json){.source = r->at};
	return &r->pending[r->pending_count++];
}

static void skip_space(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\n' || peek(r) == '\r' || peek(r) == '\t')
		r->at++;
}

/* --- Numbers --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool skip_digits(struct reader *r)
{
	if (!is_digit(peek(r)))
		return fail(r, "a digit is missing in a number");
	while (is_digit(peek(r)))
		r->at++;
	return true;
}

static bool set_int(struct reader *r, struct ms_json *value, const char *digits, bool negative)
{
	int64_t i = 0;

	for (const char *p = digits; p < r->at; p++) {
		i = i * 10 + (*p - '0');
		if (i > INT_MAX_EXACT)
			return fail(r, "a number is beyond 2^53-1");
	}
	value->type = MS_INT;
	value->i = negative ? -i : i;
	return true;
}

/* The text is well-formed, and what follows it does not belong to a number: strtod ends where it should. */
static bool set_double(struct reader *r, struct ms_json *value)
{
	locale_t before;
	double magnitude;

	if (r->c_locale == (locale_t)0)
		r->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (r->c_locale == (locale_t)0)
		return fail_memory(r);
	value->type = MS_DOUBLE;
	before = uselocale(r->c_locale);	/* of this thread */
	value->d = strtod(value->source, NULL);
	uselocale(before);
	magnitude = fabs(value->d);
	if (magnitude <= (double)INT_MAX_EXACT || (magnitude >= 1e21 && isfinite(magnitude)))
		return true;
	return fail(r, "a number is beyond 2^53-1");
}

static bool read_number(struct reader *r, struct ms_json *value)
{
	bool negative = peek(r) == '-', is_int = true;
	const char *digits;

	r->at += negative;
	digits = r->at;
	if (peek(r) == '0' && r->at + 1 < r->end && is_digit(r->at[1]))
		return fail(r, "a number begins with 0");
	if (!skip_digits(r))
		return false;
	if (peek(r) == '.') {
		is_int = false;
		r->at++;
		if (!skip_digits(r))
			return false;
	}
	if (peek(r) == 'e' || peek(r) == 'E') {
		is_int = false;
		r->at++;
		if (peek(r) == '+' || peek(r) == '-')
			r->at++;
		if (!skip_digits(r))
			return false;
	}
	return is_int ? set_int(r, value, digits, negative) : set_double(r, value);
}

/* --- Values --- */

static bool read_literal(struct reader *r, struct ms_json *value, const char *word, ms_type type, bool boolean)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
		return fail(r, "a value is missing, or not one of JSON");
	r->at += len;
	value->type = type;
	value->boolean = boolean;
	return true;
}

static bool read_scalar(struct reader *r, struct ms_json *value)
{
	bool good;

	switch (peek(r)) {
	case '"':
		value->type = MS_TEXT;
		good = msi_json_read_text(r, &value->text, &value->text_len);
		break;
	case 't':
		good = read_literal(r, value, "true", MS_BOOL, true);
		break;
	case 'f':
		good = read_literal(r, value, "false", MS_BOOL, false);
		break;
	case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
		good = read_number(r, value);
		break;
	default:
		good = read_literal(r, value, "null", MS_NULL, false);
	}
	value->source_len = (size_t)(r->at - value->source);
	return good;
}

static int compare_names(const void *a, const void *b)
{
	const struct ms_json *left = *(const struct ms_json *const *)a, *right = *(const struct ms_json *const *)b;
	size_t len = left->name_len < right->name_len ? left->name_len : right->name_len;
	int order = memcmp(left->name, right->name, len);

	return order ? order : left->name_len < right->name_len ? -1 : left->name_len > right->name_len;
}

static bool has_duplicates(const struct ms_json **sorted, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_names(&sorted[i - 1], &sorted[i]) == 0)
			return true;
	return false;
}

static bool check_names(struct reader *r, const struct ms_json *children, size_t count)
{
	const struct ms_json *few[FEW_MEMBERS], **sorted = few;
	bool twice;

	if (count > FEW_MEMBERS)
		sorted = malloc(count * sizeof(*sorted));
	if (sorted == NULL)
		return fail_memory(r);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &children[i];
	qsort(sorted, count, sizeof(*sorted), compare_names);
	twice = has_duplicates(sorted, count);
	if (sorted != few)
		free(sorted);
	return !twice || fail(r, "an object has two members of the same name");
}

/* The reader stands behind the bracket. */
static bool close_container(struct reader *r)
{
	size_t first = r->open[--r->depth].first, self = r->open[r->depth].self, count = r->pending_count - first;
	struct ms_json *value = &r->pending[self], *children = NULL;

	if (count) {
		children = take_room(r->tree, count * sizeof(*children));
		if (children == NULL)
			return fail_memory(r);
		memcpy(children, &r->pending[first], count * sizeof(*children));
	}
	if (value->type == MS_OBJECT && !check_names(r, children, count))
		return false;
	value->count = (uint32_t)count;
	value->children = children;
	value->source_len = (size_t)(r->at - value->source);
	r->pending_count = first;
	return true;
}

static bool open_container(struct reader *r, struct ms_json *value)
{
	if (r->depth == MSI_JSON_DEPTH)
		return fail(r, "it is nested more than 1,000 deep");
	value->type = peek(r) == '{' ? MS_OBJECT : MS_ARRAY;
	r->open[r->depth].self = (size_t)(value - r->pending);
	r->open[r->depth++].first = r->pending_count;
	r->at++;
	return true;
}

/* The type of the innermost container that is open. */
static ms_type inside(const struct reader *r)
{
	return r->pending[r->open[r->depth - 1].self].type;
}

/* One value, or the beginning of a container. In an object its name stands before it. */
static bool read_value(struct reader *r)
{
	const char *name = NULL;
	struct ms_json *value;
	size_t name_len = 0;

	if (r->depth && inside(r) == MS_OBJECT) {
		if (peek(r) != '"')
			return fail(r, "the name of a member is missing");
		if (!msi_json_read_text(r, &name, &name_len))
			return false;
		skip_space(r);
		if (peek(r) != ':')
			return fail(r, "a name is not followed by ':'");
		r->at++;
		skip_space(r);
	}
	value = push(r);
	if (value == NULL)
		return false;
	value->name = name;
	value->name_len = name_len;
	return peek(r) == '{' || peek(r) == '[' ? open_container(r, value) : read_scalar(r, value);
}

/* Closes what ends here, up to a comma, or the end of it all. */
static bool read_ends(struct reader *r, bool was_opened)
{
	for (;;) {
		skip_space(r);
		if (r->depth == 0)
			return true;
		if (peek(r) == (inside(r) == MS_OBJECT ? '}' : ']')) {
			r->at++;
			if (!close_container(r))
				return false;
			was_opened = false;
			continue;
		}
		if (was_opened)
			return true;
		if (peek(r) != ',')
			return fail(r, "',' or a closing bracket is missing");
		r->at++;
		skip_space(r);
		return true;
	}
}

static bool read_all(struct reader *r)
{
	skip_space(r);
	do {
		int depth = r->depth;

		if (!read_value(r) || !read_ends(r, r->depth > depth))
			return false;
	} while (r->depth > 0);
	return r->at == r->end || fail(r, "something follows the value");
}

ms_status msi_json_read(const char *text, size_t len, struct msi_json_tree *ret, ms_error *ret_error)
{
	struct msi_json_tree tree = {.texts = malloc(len + 1)};
	struct reader *r = calloc(1, sizeof(*r));
	ms_status status = MS_OK;

	if (r == NULL || tree.texts == NULL) {
		status = msi_error_no_memory(ret_error);
	} else {
		r->start = r->at = text;
		r->end = text + len;
		r->tree = &tree;
		r->texts = tree.texts;
		if (msi_utf8_prefix(text, len) < len)
			fail(r, "it is not UTF-8");
		if (r->failed || !read_all(r))
			status = r->fault == NULL ? msi_error_no_memory(ret_error) :
				 msi_error_set(ret_error, MS_BAD_ANSWER, "bad_answer", "this is not JSON as a Memory "
					       "Spine server writes it: %s (near byte %zu)", r->fault,
					       (size_t)(r->at - r->start));
	}
	if (status == MS_OK) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): MS_OK says that both are there */
		tree.root = r->pending[0];
		*ret = tree;
	} else {
		msi_json_release(&tree);
	}
	if (r && r->c_locale != (locale_t)0)
		freelocale(r->c_locale);
	if (r)
		free(r->pending);
	free(r);
	return status;
}

void msi_json_release(struct msi_json_tree *tree)
{
	while (tree->chunks) {
		struct msi_json_chunk *next = tree->chunks->next;

		free(tree->chunks);
		tree->chunks = next;
	}
	free(tree->texts);
	*tree = (struct msi_json_tree){0};
}
