/* Looking into a tree, and comparing two. */
#include "codec/json.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Up to this many members insertion sort is faster than qsort, and comparing needs no memory of its own. */
enum { SORT_SMALL = 16 };

const struct json *json_get_str(const struct json *obj, struct str key)
{
	if (obj == NULL || obj->type != JSON_OBJECT)
		return NULL;
	for (uint32_t i = 0; i < obj->count; i++)
		if (str_eq(obj->members[i].key, key))
			return &obj->members[i].value;
	return NULL;
}

const char *json_type_name(enum json_type type)
{
	switch (type) {
	case JSON_NULL:
		return "null";
	case JSON_BOOL:
		return "a boolean";
	case JSON_INT:
		return "an integer";
	case JSON_DOUBLE:
		return "a number";
	case JSON_STRING:
		return "a string";
	case JSON_ARRAY:
		return "an array";
	case JSON_OBJECT:
		return "an object";
	}
	assert(!"a type of JSON");
	return "";
}

bool json_as_int(const struct json *value, int64_t *ret)
{
	if (value == NULL)
		return false;
	if (value->type == JSON_INT && value->i >= -JSON_INT_MAX && value->i <= JSON_INT_MAX) {
		*ret = value->i;
		return true;
	}
	if (value->type == JSON_DOUBLE && fabs(value->d) <= (double)JSON_INT_MAX && value->d == trunc(value->d)) {
		*ret = (int64_t)value->d;
		return true;
	}
	return false;
}

/* --- The canonical order --- */

/* UTF-8 sorts by code point. UTF-16 puts what needs a surrogate pair (U+10000 and above, in UTF-8 the first bytes f0 to
 * f4) before U+E000 to U+FFFF (ee, ef); moving those two up gives its order, and only first bytes can be in question,
 * because names that differ in a later byte of a character share its first one. */
static int utf16_rank(char c)
{
	unsigned char byte = (unsigned char)c;

	return byte == 0xee || byte == 0xef ? byte + 0x10 : byte;
}

static int compare_names(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	for (size_t i = 0; i < n; i++)
		if (a.p[i] != b.p[i])
			return utf16_rank(a.p[i]) - utf16_rank(b.p[i]);
	return a.n < b.n ? -1 : a.n > b.n;
}

static int compare_members(const void *a, const void *b)
{
	const struct json_member *const *left = a, *const *right = b;

	return compare_names((*left)->key, (*right)->key);
}

static void insertion_sort(const struct json_member **members, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct json_member *member = members[i];
		uint32_t at = i;

		for (; at > 0 && compare_names(members[at - 1]->key, member->key) > 0; at--)
			members[at] = members[at - 1];
		members[at] = member;
	}
}

void json_sort_members(const struct json *obj, const struct json_member **ret)
{
	bool sorted = true;

	assert(obj->type == JSON_OBJECT);
	for (uint32_t i = 0; i < obj->count; i++) {
		ret[i] = &obj->members[i];
		if (i > 0 && sorted && compare_names(ret[i - 1]->key, ret[i]->key) > 0)
			sorted = false;
	}
	if (sorted)
		return;
	if (obj->count <= SORT_SMALL)
		insertion_sort(ret, obj->count);
	else
		qsort(ret, obj->count, sizeof(*ret), compare_members);
}

/* --- Equality --- */

static bool equal_numbers(const struct json *a, const struct json *b)
{
	if (a->type == JSON_INT && b->type == JSON_INT)
		return a->i == b->i;
	return (a->type == JSON_INT ? (double)a->i : a->d) == (b->type == JSON_INT ? (double)b->i : b->d);
}

static bool equal_items(const struct json *a, const struct json *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!json_equal(&a->items[i], &b->items[i]))
			return false;
	return true;
}

static bool equal_members(const struct json *a, const struct json *b)
{
	const struct json_member *small[2 * SORT_SMALL], **sorted = small;
	bool equal = true;

	if (a->count != b->count)
		return false;
	if (a->count > SORT_SMALL)
		sorted = mem_reallocarray(NULL, (size_t)a->count * 2, sizeof(*sorted));
	json_sort_members(a, sorted);
	json_sort_members(b, sorted + a->count);
	for (uint32_t i = 0; equal && i < a->count; i++)
		equal = str_eq(sorted[i]->key, sorted[a->count + i]->key);
	for (uint32_t i = 0; equal && i < a->count; i++)
		equal = json_equal(&sorted[i]->value, &sorted[a->count + i]->value);
	if (sorted != small)
		free(sorted);
	return equal;
}

static bool is_number(const struct json *value)
{
	return value->type == JSON_INT || value->type == JSON_DOUBLE;
}

bool json_equal(const struct json *a, const struct json *b)
{
	if (is_number(a) && is_number(b))
		return equal_numbers(a, b);
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case JSON_BOOL:
		return a->boolean == b->boolean;
	case JSON_STRING:
		return str_eq(a->s, b->s);
	case JSON_ARRAY:
		return equal_items(a, b);
	case JSON_OBJECT:
		return equal_members(a, b);
	default:
		return true;
	}
}
