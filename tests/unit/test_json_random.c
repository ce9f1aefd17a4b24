/* Random trees and damaged texts: what must hold for any input (tests/json_property.h), from fixed seeds. */
#include "json_property.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static uint32_t below(uint64_t *seed, uint32_t limit)
{
	return (uint32_t)((next_random(seed) >> 20) % limit);
}

/* --- Trees --- */

static struct str random_string(uint64_t *seed, struct arena *arena)
{
	static const char *const pieces[] = {
		"a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\x01", "\x1f", "\x7f", "key", "twelve bytes",
		"\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x9f\x98\x80",
	};
	uint32_t count = below(seed, 12);
	struct str copy;
	struct buf text;

	buf_init(&text, 4096);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t piece = below(seed, sizeof(pieces) / sizeof(pieces[0]) + 1);

		if (piece == sizeof(pieces) / sizeof(pieces[0]))
			buf_putc(&text, '\0');
		else
			buf_puts(&text, pieces[piece]);
	}
	copy = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

/* Any finite double but those that would be written as integers out of range. */
static double random_double(uint64_t *seed)
{
	double value;

	do {
		uint64_t bits = next_random(seed);

		memcpy(&value, &bits, sizeof(value));
		if (below(seed, 2))
			value = (double)(int64_t)(bits % 2000001) / 1000 - 1000;
	} while (value - value != 0 || ((value >= 9007199254740992.0 || value <= -9007199254740992.0) && value < 1e21 &&
					value > -1e21));
	return value;
}

static void random_tree(uint64_t *seed, struct arena *arena, int depth, struct json *ret);

static void random_members(uint64_t *seed, struct arena *arena, int depth, struct json *ret)
{
	uint32_t count = below(seed, below(seed, 4) ? 5 : 40);

	ret->members = arena_calloc(arena, count + 1, sizeof(*ret->members));
	for (uint32_t i = 0; i < count; i++) {
		struct str key = random_string(seed, arena);

		if (json_get_str(ret, key))
			continue;
		ret->members[ret->count].key = key;
		random_tree(seed, arena, depth - 1, &ret->members[ret->count].value);
		ret->count++;
	}
}

static void random_items(uint64_t *seed, struct arena *arena, int depth, struct json *ret)
{
	ret->count = below(seed, 6);
	ret->items = arena_calloc(arena, ret->count + 1, sizeof(*ret->items));
	for (uint32_t i = 0; i < ret->count; i++)
		random_tree(seed, arena, depth - 1, &ret->items[i]);
}

static void random_tree(uint64_t *seed, struct arena *arena, int depth, struct json *ret)
{
	*ret = (struct json){.type = (enum json_type)below(seed, depth > 0 ? JSON_OBJECT + 1 : JSON_STRING + 1)};
	switch (ret->type) {
	case JSON_BOOL:
		ret->boolean = below(seed, 2);
		break;
	case JSON_INT:
		ret->i = (int64_t)(next_random(seed) >> (10 + below(seed, 50))) % (JSON_INT_MAX + 1);
		if (below(seed, 2))
			ret->i = -ret->i;
		break;
	case JSON_DOUBLE:
		ret->d = random_double(seed);
		break;
	case JSON_STRING:
		ret->s = random_string(seed, arena);
		break;
	case JSON_ARRAY:
		random_items(seed, arena, depth, ret);
		break;
	case JSON_OBJECT:
		random_members(seed, arena, depth, ret);
		break;
	default:
		break;
	}
}

/* An object at the root: a scalar there has little to be damaged. */
static void random_document(uint64_t *seed, struct arena *arena, int depth, struct json *ret)
{
	*ret = (struct json){.type = JSON_OBJECT};
	random_members(seed, arena, depth, ret);
}

static void shuffle_members(uint64_t *seed, struct json *tree)
{
	if (tree->type == JSON_ARRAY)
		for (uint32_t i = 0; i < tree->count; i++)
			shuffle_members(seed, &tree->items[i]);
	if (tree->type != JSON_OBJECT)
		return;
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t other = below(seed, i + 1);
		struct json_member member = tree->members[i];

		shuffle_members(seed, &member.value);
		tree->members[i] = tree->members[other];
		tree->members[other] = member;
	}
}

static void put(struct buf *out, const struct json *tree, bool canonical)
{
	struct json_writer w;

	buf_clear(out);
	json_writer_init(&w, out);
	if (canonical)
		json_put_canonical(&w, tree);
	else
		json_put(&w, tree);
	assert_false(buf_overflowed(out));
}

static void test_a_random_tree_is_read_as_it_was_written(void **state)
{
	struct buf text, canonical, again;
	uint64_t seed = 20260130;

	(void)state;
	buf_init(&text, 1 << 24);
	buf_init(&canonical, 1 << 24);
	buf_init(&again, 1 << 24);
	for (int i = 0; i < 1500; i++) {
		struct json_error error;
		struct arena arena;
		struct json tree, read;

		arena_init(&arena);
		random_document(&seed, &arena, 5, &tree);
		put(&text, &tree, false);
		if (!json_parse(buf_str(&text), 8, &arena, &read, &error))
			fail_msg("%s: %s", text.data, error.detail);
		assert_true(json_equal(&tree, &read));
		put(&canonical, &read, true);
		shuffle_members(&seed, &tree);
		assert_true(json_equal(&tree, &read));
		put(&again, &tree, true);
		assert_string_equal(canonical.data, again.data);
		assert_null(json_promise_broken(buf_str(&text)));
		arena_release(&arena);
	}
	buf_release(&text);
	buf_release(&canonical);
	buf_release(&again);
}

/* --- Damage --- */

/* One change to len bytes at text, which has room for 64 more; returns the new length. */
static size_t damage(uint64_t *seed, char *text, size_t len)
{
	static const char *const pieces[] = {
		"\"", "\\", ",", ":", "[", "]", "{", "}", "0", "-", ".", "e9", " ", "\\u", "\\ud800", "\\udc00", "true",
		"null", "\xef\xbb\xbf", "\xc3", "\xff", "\x01", "1e400", "9007199254740992", "\"a\":1,",
	};
	size_t at = below(seed, (uint32_t)len + 1), count;
	const char *piece;

	switch (below(seed, 4)) {
	case 0:
		if (at < len)
			text[at] = (char)next_random(seed);
		return len;
	case 1:
		count = below(seed, 4) + 1;
		if (at + count > len)
			return at;
		memmove(text + at, text + at + count, len - at - count);
		return len - count;
	case 2:
		piece = pieces[below(seed, sizeof(pieces) / sizeof(pieces[0]))];
		count = strlen(piece);
		memmove(text + at + count, text + at, len - at);
		memcpy(text + at, piece, count);
		return len + count;
	default:
		count = len - at < 16 ? len - at : 16;
		memmove(text + at + count, text + at, len - at);
		return len + count;
	}
}

static void test_a_damaged_text_breaks_no_promise(void **state)
{
	uint64_t seed = 8259;
	struct buf text;

	(void)state;
	buf_init(&text, 1 << 24);
	for (int i = 0; i < 40000; i++) {
		uint64_t tree_seed = 1 + (uint64_t)(i / 50);
		const char *broken;
		struct arena arena;
		struct json tree;
		char *copy, *exact;
		size_t len;

		if (i % 50 == 0) {
			arena_init(&arena);
			tree_seed *= 0x9e3779b97f4a7c15;
			random_document(&tree_seed, &arena, 3, &tree);
			put(&text, &tree, false);
			arena_release(&arena);
		}
		len = text.len;
		copy = mem_alloc(len + 3 * 64);
		memcpy(copy, text.data, len);
		for (uint32_t k = 0; k <= below(&seed, 3); k++)
			len = damage(&seed, copy, len);
		exact = mem_alloc(len);	/* so that AddressSanitizer sees a read beyond the end */
		memcpy(exact, copy, len);
		broken = json_promise_broken((struct str){exact, len});
		if (broken)
			fail_msg("%s: %.*s", broken, (int)len, exact);
		free(copy);
		free(exact);
	}
	buf_release(&text);
}

static void test_every_beginning_of_a_text_is_refused(void **state)
{
	struct str text = STR("{\"a\":[1,-2.5e+3,\"\\ud83d\\ude00\\n\xe2\x82\xac\",true,false,null,{}],"
			      "\"b\":{\"c\":[]}}");

	(void)state;
	assert_null(json_promise_broken(text));
	for (size_t len = 0; len < text.n; len++) {
		struct json_error error;
		struct arena arena;
		struct json tree;

		arena_init(&arena);
		assert_null(json_promise_broken(str_sub(text, 0, len)));
		assert_false(json_parse(str_sub(text, 0, len), 8, &arena, &tree, &error));
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_random_tree_is_read_as_it_was_written),
		cmocka_unit_test(test_a_damaged_text_breaks_no_promise),
		cmocka_unit_test(test_every_beginning_of_a_text_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
