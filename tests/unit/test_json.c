/* Reading JSON: what is accepted, what it becomes, what is refused and how that is said. */
#include "codec/json.h"

#include "base/mem.h"
#include "codec/json_scan.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { DEPTH = 32 };

struct fixture {
	struct arena arena;
	struct json tree;
	struct json_error error;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	arena_init(&f->arena);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	free(f);
	return 0;
}

/* Parses a copy that ends where the text ends, so that AddressSanitizer sees a read beyond it. */
static bool parse(struct fixture *f, struct str text, int max_depth)
{
	char *copy = mem_alloc(text.n);
	bool ok;

	if (text.n)
		memcpy(copy, text.p, text.n);
	ok = json_parse((struct str){copy, text.n}, max_depth, &f->arena, &f->tree, &f->error);
	free(copy);
	return ok;
}

static const struct json *accept(struct fixture *f, const char *text)
{
	if (!parse(f, str_of(text), DEPTH))
		fail_msg("%s was refused: %s", text, f->error.detail);
	return &f->tree;
}

static void refuse(struct fixture *f, struct str text, const char *code)
{
	if (parse(f, text, DEPTH))
		fail_msg("%.*s was accepted", STR_ARG(text));
	if (strcmp(f->error.code, code) != 0)
		fail_msg("%.*s: %s (%s), not %s", STR_ARG(text), f->error.code, f->error.detail, code);
}

static void assert_str(struct str s, struct str expected)
{
	assert_int_equal(s.n, expected.n);
	assert_memory_equal(s.p, expected.p, expected.n);
	assert_int_equal(s.p[s.n], '\0');
}

/* --- What the text becomes --- */

static void test_every_type_arrives_in_the_tree(void **state)
{
	struct fixture *f = *state;
	const struct json *tree = accept(f, " {\"n\":null,\"t\":true,\"f\":false,\"i\":-42,\"d\":2.5,\"s\":\"x\","
					    "\"a\":[1,[ ]],\"o\":{}}\r\n\t");

	assert_int_equal(tree->type, JSON_OBJECT);
	assert_int_equal(tree->count, 8);
	assert_int_equal(json_get(tree, "n")->type, JSON_NULL);
	assert_int_equal(json_get(tree, "t")->type, JSON_BOOL);
	assert_true(json_get(tree, "t")->boolean);
	assert_int_equal(json_get(tree, "f")->type, JSON_BOOL);
	assert_false(json_get(tree, "f")->boolean);
	assert_int_equal(json_get(tree, "i")->type, JSON_INT);
	assert_int_equal(json_get(tree, "i")->i, -42);
	assert_int_equal(json_get(tree, "d")->type, JSON_DOUBLE);
	assert_true(json_get(tree, "d")->d == 2.5);
	assert_str(json_get(tree, "s")->s, STR("x"));
	assert_int_equal(json_get(tree, "a")->count, 2);
	assert_int_equal(json_get(tree, "a")->items[0].i, 1);
	assert_int_equal(json_get(tree, "a")->items[1].count, 0);
	assert_int_equal(json_get(tree, "o")->type, JSON_OBJECT);
	assert_int_equal(json_get(tree, "o")->count, 0);
}

static void test_members_keep_the_order_of_the_text(void **state)
{
	const struct json *tree = accept(*state, "{\"b\":1,\"a\":2,\"c\":3}");

	assert_str(tree->members[0].key, STR("b"));
	assert_str(tree->members[1].key, STR("a"));
	assert_str(tree->members[2].key, STR("c"));
}

static void test_a_scalar_is_a_text_of_its_own(void **state)
{
	assert_int_equal(accept(*state, "7")->i, 7);
	assert_str(accept(*state, "\"a\"")->s, STR("a"));
	assert_int_equal(accept(*state, " null ")->type, JSON_NULL);
}

static void test_strings_are_unescaped_and_keep_nul(void **state)
{
	assert_str(accept(*state, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->s, STR("\"\\/\b\f\n\r\t"));
	assert_str(accept(*state, "\"\\u00e9\\u20AC\\ud83d\\ude00\"")->s, STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
	assert_str(accept(*state, "\"a\\u0000b\"")->s, STR("a\0b"));
	assert_str(accept(*state, "\"\"")->s, STR(""));
	assert_str(accept(*state, "\"\\uffff\x7f\"")->s, STR("\xef\xbf\xbf\x7f"));
}

static void test_names_may_be_empty_or_hold_nul(void **state)
{
	const struct json *tree = accept(*state, "{\"\":1,\"a\\u0000\":2,\"a\":3}");

	assert_int_equal(json_get(tree, "")->i, 1);
	assert_int_equal(json_get_str(tree, STR("a\0"))->i, 2);
	assert_int_equal(json_get(tree, "a")->i, 3);
}

static void test_nothing_points_into_the_text(void **state)
{
	struct fixture *f = *state;
	char text[] = "{\"name\":[\"value\"]}";

	assert_true(json_parse(str_of(text), DEPTH, &f->arena, &f->tree, &f->error));
	memset(text, 'x', sizeof(text));
	assert_str(json_get(&f->tree, "name")->items[0].s, STR("value"));
}

static void test_a_tree_outlives_the_next_parse(void **state)
{
	struct fixture *f = *state;
	struct json first = *accept(f, "[\"first\"]");

	accept(f, "[\"SECOND\"]");
	assert_str(first.items[0].s, STR("first"));
}

/* --- Numbers --- */

static void test_integers_are_exact_up_to_2_53(void **state)
{
	struct fixture *f = *state;
	static const char *const beyond[] = {
		"9007199254740992", "-9007199254740992", "9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "-9223372036854775809",
		"123456789012345678901234567890123456789012345678901234567890", "1e20", "-1e20", "9007199254740992.0",
		"9007199254740993.5", "999999999999999900000.0", "1e309", "-1e400", "1e999999999999999999999",
	};

	assert_int_equal(accept(f, "9007199254740991")->i, JSON_INT_MAX);
	assert_int_equal(accept(f, "-9007199254740991")->i, -JSON_INT_MAX);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		refuse(f, str_of(beyond[i]), "number_out_of_range");
		assert_non_null(strstr(f->error.detail, "send it as a string"));
	}
	refuse(f, STR("{\"ok\":1,\n \"id\": 12345678901234567890}"), "number_out_of_range");
	assert_int_equal(f->error.offset, 16);
	assert_string_equal(f->error.detail, "The number 12345678901234567890 is beyond ±(2^53-1), where digits get "
					     "lost; send it as a string (line 2, column 8).");
}

static void test_numbers_are_integers_or_doubles_by_their_spelling(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(accept(f, "-0")->type, JSON_INT);
	assert_int_equal(f->tree.i, 0);
	assert_int_equal(accept(f, "5.0")->type, JSON_DOUBLE);
	assert_int_equal(accept(f, "1e2")->type, JSON_DOUBLE);
	assert_true(f->tree.d == 100);
	assert_true(accept(f, "1e21")->d == 1e21);
	assert_true(accept(f, "-1.7976931348623157e308")->d == -1.7976931348623157e308);
	assert_true(accept(f, "5e-324")->d == 5e-324);
	assert_true(accept(f, "1e-999")->d == 0);
	assert_true(accept(f, "0.1")->d == 0.1);
	assert_true(signbit(accept(f, "-0.0")->d));
}

static void test_an_integral_double_reads_as_an_integer(void **state)
{
	static const struct { const char *text; bool is_int; int64_t value; } cases[] = {
		{"5", true, 5}, {"5.0", true, 5}, {"1e2", true, 100}, {"-0.0", true, 0},
		{"9007199254740991.0", true, JSON_INT_MAX}, {"-9007199254740991", true, -JSON_INT_MAX},
		{"5.5", false, 0},
		{"1e21", false, 0}, {"-1e300", false, 0}, {"\"5\"", false, 0}, {"null", false, 0}, {"true", false, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 4711;

		assert_int_equal(json_as_int(accept(*state, cases[i].text), &value), cases[i].is_int);
		assert_int_equal(value, cases[i].is_int ? cases[i].value : 4711);
	}
	assert_false(json_as_int(NULL, &(int64_t){0}));
}

/* --- Refusals --- */

static const struct { const char *text; size_t offset; const char *said; } broken_texts[] = {
	{"", 0, "The text is empty"},
	{" \n\t ", 0, "only white space"},
	{"\xef\xbb\xbf{}", 0, "byte order mark"},
	{"{} x", 3, "Expected nothing after the value, found 'x' (line 1, column 4)."},
	{"1 2", 2, "nothing after the value"},
	{"nullnull", 4, "nothing after the value"},
	{"[1]]", 3, "nothing after the value"},
	{"{\"a\":1,}", 7, "Expected a name in quotes after ',', found '}'"},
	{"[1,]", 3, "Expected a value, found ']'"},
	{"[,1]", 1, "Expected a value, found ','"},
	{"[1 2]", 3, "Expected ',' or ']' after an item, found '2'"},
	{"[1", 2, "found the end of the text"},
	{"{\"a\":1 \"b\":2}", 7, "Expected ',' or '}' after a member"},
	{"{\"a\" 1}", 5, "Expected ':' after a name, found '1'"},
	{"{a:1}", 1, "Expected a name in quotes or '}', found 'a'"},
	{"{1:1}", 1, "a name in quotes"},
	{"{\"a\":}", 5, "Expected a value"},
	{"{", 1, "the end of the text"},
	{"{]", 1, "found ']'"},
	{"[}", 1, "found '}'"},
	{"]", 0, "Expected a value"},
	{"'a'", 0, "Expected a value, found '''"},
	{"[\xc3\xa9]", 1, "Expected a value, found '\xc3\xa9'"},
	{"[tru]", 1, "must be true, false or null"},
	{"True", 0, "Expected a value, found 'T'"},
	{"NaN", 0, "Expected a value"},
	{"nul", 0, "must be true, false or null"},
	{"[truex]", 5, "found 'x'"},
	{"Infinity", 0, "Expected a value"},
	{"01", 0, "must not begin with 0"},
	{"-01", 0, "must not begin with 0"},
	{"-", 1, "a digit after '-', found the end"},
	{"+1", 0, "Expected a value, found '+'"},
	{".5", 0, "Expected a value"},
	{"5.", 2, "a digit after the decimal point"},
	{"5.e1", 2, "a digit after the decimal point"},
	{"1e", 2, "a digit in the exponent"},
	{"1e+", 3, "a digit in the exponent"},
	{"0x10", 1, "found 'x'"},
	{"1_000", 1, "found '_'"},
	{"[1]\n//", 4, "(line 2, column 1)"},
	{"/**/1", 0, "found '/'"},
	{"\"abc", 0, "no closing quote"},
	{"[\"abc\\\"]", 1, "no closing quote"},
	{"\"a\nb\"", 2, "The control character 0x0a must be escaped"},
	{"\"\x1f\"", 1, "0x1f"},
	{"\"\\x41\"", 2, "after a backslash, found 'x'"},
	{"\"\\u12g4\"", 5, "four hexadecimal digits"},
	{"\"\\u12", 5, "found the end of the text"},
	{"\"\\ud800\"", 1, "The escape \\ud800 is half of a surrogate pair"},
	{"\"\\udc00\"", 1, "half of a surrogate pair"},
	{"\"\\udc00\\udc00\"", 1, "half of a surrogate pair"},
	{"\"x\\uDFFF\"", 2, "half of a surrogate pair"},
	{"\"\\ud800\\ud800\"", 1, "half of a surrogate pair"},
	{"\"\\ud800\\ue000\"", 1, "half of a surrogate pair"},
	{"\"\\ud800\\u0041\"", 1, "half of a surrogate pair"},
	{"\"\\ud800x\"", 1, "half of a surrogate pair"},
	{"\"\\ud800\\n\"", 1, "half of a surrogate pair"},
	{"\"\\ude00\\ud83d\"", 1, "half of a surrogate pair"},
	{"{\"\\ud800\":1}", 2, "half of a surrogate pair"},
	{"\f1", 0, "the control character 0x0c"},
	{"\xc2\xa0" "1", 0, "Expected a value"},
};

static void test_what_is_not_json_is_refused_with_the_place(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(broken_texts) / sizeof(broken_texts[0]); i++) {
		const char *text = broken_texts[i].text, *said = broken_texts[i].said;

		refuse(f, str_of(text), "invalid_json");
		if (strstr(f->error.detail, said) == NULL)
			fail_msg("%s: \"%s\" does not say \"%s\"", text, f->error.detail, said);
		if (f->error.offset != broken_texts[i].offset)
			fail_msg("%s: offset %zu, not %zu", text, f->error.offset, broken_texts[i].offset);
	}
	refuse(f, STR("[1,\0]"), "invalid_json");
	refuse(f, STR("1\0"), "invalid_json");
	refuse(f, STR("\"a\0b\""), "invalid_json");
}

static void test_what_is_not_utf8_is_refused_with_the_place(void **state)
{
	static const struct { struct str text; size_t offset; } cases[] = {
		{STR("\"\xff\""), 1}, {STR("[\"ok\", \"\xc3\"]"), 8}, {STR("\"\xc0\xaf\""), 1},
		{STR("\"\xed\xa0\x80\""), 1},
		{STR("\"\xf4\x90\x80\x80\""), 1}, {STR("\"\xe2\x82"), 1}, {STR("{}\x80"), 2},
		{STR("\xff\xfe{\0}\0"), 0},
		{STR("[1,2,\xe9]"), 5},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		refuse(f, cases[i].text, "invalid_utf8");
		assert_int_equal(f->error.offset, cases[i].offset);
	}
	assert_non_null(strstr(f->error.detail, "0xe9"));
}

static void test_lines_and_columns_count_characters(void **state)
{
	struct fixture *f = *state;

	refuse(f, STR("[\n\"\xe2\x82\xac\xc3\xa9\", x]"), "invalid_json");
	assert_int_equal(f->error.offset, 11);
	assert_non_null(strstr(f->error.detail, "(line 2, column 7)"));
}

static void test_depth_is_limited_as_asked(void **state)
{
	struct fixture *f = *state;
	char deep[5000];

	assert_true(parse(f, STR("1"), 0));
	assert_false(parse(f, STR("[]"), 0));
	assert_true(parse(f, STR("[]"), 1));
	assert_true(parse(f, STR("[[],{\"a\":{}}]"), 3));
	assert_false(parse(f, STR("[[],{\"a\":{}}]"), 2));
	assert_string_equal(f->error.code, "too_deep");
	assert_int_equal(f->error.offset, 9);
	assert_string_equal(f->error.detail, "Arrays and objects are nested more than 2 deep (line 1, column 10).");
	for (int depth = JSON_DEPTH_MAX - 2; depth <= JSON_DEPTH_MAX + 20; depth++) {
		memset(deep, '[', (size_t)depth);
		memset(deep + depth, ']', (size_t)depth);
		assert_int_equal(parse(f, (struct str){deep, (size_t)depth * 2}, 1 << 20), depth <= JSON_DEPTH_MAX);
		if (depth > JSON_DEPTH_MAX)
			assert_string_equal(f->error.code, "too_deep");
	}
}

static void test_a_refusal_leaves_the_result_alone(void **state)
{
	struct fixture *f = *state;

	f->tree = (struct json){.type = JSON_INT, .i = 4711};
	assert_false(parse(f, STR("[1,{\"a\":[2]},"), DEPTH));
	assert_false(parse(f, STR("{\"a\":1,\"a\":2}"), DEPTH));
	assert_false(parse(f, STR("[1e20]"), DEPTH));
	assert_int_equal(f->tree.type, JSON_INT);
	assert_int_equal(f->tree.i, 4711);
}

/* --- Duplicate names --- */

static void test_a_name_may_stand_once_in_an_object(void **state)
{
	static const struct { const char *text; size_t offset; } cases[] = {
		{"{\"a\":1,\"a\":1}", 7}, {"{\"a\":1,\"\\u0061\":1}", 7}, {"{\"\":1,\"\":2}", 6},
		{"[1,{\"x\":[{\"a\":1,\"b\":[{},\"a\"],\"a\":2}]}]", 29}, {"{\"a\\u0000\":1,\"a\\u0000\":2}", 13},
		{"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":1}", 18},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		refuse(f, str_of(cases[i].text), "duplicate_key");
		assert_int_equal(f->error.offset, cases[i].offset);
	}
	refuse(f, STR("{\"one\":1,\n\"one\":2}"), "duplicate_key");
	assert_string_equal(f->error.detail, "The name \"one\" stands twice in one object (line 2, column 1).");
	accept(f, "{\"a\":{\"a\":[{\"a\":1},{\"a\":2}]},\"A\":1,\"a\\u0000\":2,\"aa\":3}");
}

static void test_a_long_name_is_cut_between_characters(void **state)
{
	struct fixture *f = *state;
	struct buf text;

	buf_init(&text, 4096);
	buf_puts(&text, "{");
	for (int i = 0; i < 2; i++) {
		buf_puts(&text, i ? ",\"x" : "\"x");
		for (int k = 0; k < 100; k++)
			buf_puts(&text, "\xe2\x82\xac");
		buf_puts(&text, "\":1");
	}
	buf_puts(&text, "}");
	refuse(f, buf_str(&text), "duplicate_key");
	assert_true(str_is_utf8(str_of(f->error.detail)));
	assert_non_null(strstr(f->error.detail, "\xe2\x82\xac…\" stands twice in one object"));
	buf_release(&text);
}

/* {"k0":[0],"k1":[1],…}, the last name being that of the member `repeated` where that is not negative. */
static void put_many_members(struct buf *text, int count, int repeated)
{
	buf_clear(text);
	for (int i = 0; i < count; i++)
		buf_printf(text, "%c\"k%d\":[%d]", i ? ',' : '{', i == count - 1 && repeated >= 0 ? repeated : i, i);
	buf_putc(text, '}');
}

static void test_duplicates_are_found_in_objects_of_any_size(void **state)
{
	struct fixture *f = *state;
	struct buf text;

	buf_init(&text, 1 << 24);
	for (int count = 2; count < 80; count++) {
		put_many_members(&text, count, -1);
		accept(f, text.data);
		for (int repeated = 0; repeated < count - 1; repeated += count > 20 ? 7 : 1) {
			put_many_members(&text, count, repeated);
			refuse(f, buf_str(&text), "duplicate_key");
			assert_string_equal(strrchr(text.data, ',') + 1, text.data + f->error.offset);
		}
	}
	buf_release(&text);
}

static void test_many_names_do_not_take_quadratic_time(void **state)
{
	struct fixture *f = *state;
	clock_t start = clock();
	struct buf text;

	buf_init(&text, 1 << 24);
	put_many_members(&text, 400000, -1);
	assert_int_equal(accept(f, text.data)->count, 400000);
	put_many_members(&text, 400000, 200000);
	refuse(f, buf_str(&text), "duplicate_key");
	/* Pairwise, these would be 160,000,000,000 comparisons. */
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
	buf_release(&text);
}

/* --- Size and threads --- */

static void test_texts_of_every_length_are_read_alike(void **state)
{
	struct fixture *f = *state;
	struct buf text;

	buf_init(&text, 1 << 24);
	for (size_t len = 0; len < 600; len++) {
		buf_clear(&text);
		buf_putc(&text, '"');
		for (size_t i = 0; i < len; i++)
			buf_putc(&text, (char)('a' + i % 26));
		buf_putc(&text, '"');
		accept(f, text.data);
		assert_int_equal(f->tree.s.n, len);
		assert_memory_equal(f->tree.s.p, text.data + 1, len);
		refuse(f, (struct str){text.data, text.len - 1}, "invalid_json");
	}
	buf_release(&text);
}

static void test_large_and_small_texts_may_alternate(void **state)
{
	struct fixture *f = *state;
	struct buf text;

	buf_init(&text, 1 << 24);
	for (int i = 1; i <= 8; i++) {
		buf_clear(&text);
		buf_puts(&text, "[0");
		for (int k = 1; k < i * 100000; k++)
			buf_puts(&text, ",\"\"");
		buf_putc(&text, ']');
		assert_int_equal(accept(f, text.data)->count, i * 100000);
		assert_int_equal(accept(f, "[1,2,3]")->count, 3);
	}
	buf_release(&text);
}

static void *parse_many(void *arg)
{
	int seed = *(int *)arg;
	struct json_error error;
	struct arena arena;
	struct json tree;
	char text[80];
	long sum = 0;

	for (int i = 0; i < 500; i++) {
		arena_init(&arena);
		snprintf(text, sizeof(text), "{\"n\":[%d,%d],\"s\":\"%d\"}", seed, i, seed + i);
		if (json_parse(str_of(text), DEPTH, &arena, &tree, &error))
			sum += json_get(&tree, "n")->items[0].i + atoi(json_get(&tree, "s")->s.p) - i;
		text[strlen(text) - 1] = 'x';
		if (json_parse(str_of(text), DEPTH, &arena, &tree, &error))
			sum = -1;
		arena_release(&arena);
	}
	return sum == 500L * 2 * seed ? arg : NULL;
}

static void test_threads_parse_beside_each_other(void **state)
{
	pthread_t threads[4];
	int seeds[4];
	void *result;

	(void)state;
	for (int i = 0; i < 4; i++) {
		seeds[i] = i + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, parse_many, &seeds[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_non_null(result);
	}
}

/* --- The tree --- */

static void test_get_finds_nothing_where_there_is_nothing(void **state)
{
	struct fixture *f = *state;

	assert_null(json_get(NULL, "a"));
	assert_null(json_get(accept(f, "[1]"), "a"));
	assert_null(json_get(accept(f, "\"a\""), "a"));
	assert_null(json_get(accept(f, "{}"), "a"));
	assert_null(json_get(accept(f, "{\"b\":1,\"aa\":2}"), "a"));
	assert_null(json_get(json_get(&f->tree, "a"), "b"));
}

static void test_equal_trees_are_equal_whatever_their_order(void **state)
{
	static const struct { const char *a, *b; bool equal; } cases[] = {
		{"{\"a\":1,\"b\":[true,null]}", "{\"b\":[true,null],\"a\":1.0}", true}, {"[1,2]", "[2,1]", false},
		{"{\"a\":1}", "{\"a\":1,\"b\":1}", false}, {"{\"a\":1}", "{\"b\":1}", false}, {"0", "-0.0", true},
		{"\"1\"", "1", false}, {"true", "false", false}, {"null", "false", false}, {"[]", "{}", false},
		{"\"a\\u0000b\"", "\"a\\u0000c\"", false}, {"1", "2", false}, {"0.5", "0.25", false},
		{"[[]]", "[[]]", true},
		{"[1]", "[1,2]", false}, {"{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2}}", false},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json a = *accept(f, cases[i].a), b = *accept(f, cases[i].b);

		assert_int_equal(json_equal(&a, &b), cases[i].equal);
		assert_int_equal(json_equal(&b, &a), cases[i].equal);
		assert_true(json_equal(&a, &a));
	}
}

static void test_types_have_names_for_sentences(void **state)
{
	(void)state;
	assert_string_equal(json_type_name(JSON_NULL), "null");
	assert_string_equal(json_type_name(JSON_BOOL), "a boolean");
	assert_string_equal(json_type_name(JSON_INT), "an integer");
	assert_string_equal(json_type_name(JSON_DOUBLE), "a number");
	assert_string_equal(json_type_name(JSON_STRING), "a string");
	assert_string_equal(json_type_name(JSON_ARRAY), "an array");
	assert_string_equal(json_type_name(JSON_OBJECT), "an object");
}

static void test_tokens_are_found_by_their_number(void **state)
{
	struct str text = STR("{\"abc\":[1, \"a,]\", true],\"d\":{}}");
	static const size_t expected[] = {0, 1, 7, 8, 11, 18, 24, 28};

	(void)state;
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(json_scan_token(text, i), expected[i]);
	assert_int_equal(json_scan_token(text, 8), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_type_arrives_in_the_tree),
		TEST(test_members_keep_the_order_of_the_text),
		TEST(test_a_scalar_is_a_text_of_its_own),
		TEST(test_strings_are_unescaped_and_keep_nul),
		TEST(test_names_may_be_empty_or_hold_nul),
		TEST(test_nothing_points_into_the_text),
		TEST(test_a_tree_outlives_the_next_parse),
		TEST(test_integers_are_exact_up_to_2_53),
		TEST(test_numbers_are_integers_or_doubles_by_their_spelling),
		TEST(test_an_integral_double_reads_as_an_integer),
		TEST(test_what_is_not_json_is_refused_with_the_place),
		TEST(test_what_is_not_utf8_is_refused_with_the_place),
		TEST(test_lines_and_columns_count_characters),
		TEST(test_depth_is_limited_as_asked),
		TEST(test_a_refusal_leaves_the_result_alone),
		TEST(test_a_name_may_stand_once_in_an_object),
		TEST(test_a_long_name_is_cut_between_characters),
		TEST(test_duplicates_are_found_in_objects_of_any_size),
		TEST(test_many_names_do_not_take_quadratic_time),
		TEST(test_texts_of_every_length_are_read_alike),
		TEST(test_large_and_small_texts_may_alternate),
		TEST(test_threads_parse_beside_each_other),
		TEST(test_get_finds_nothing_where_there_is_nothing),
		TEST(test_equal_trees_are_equal_whatever_their_order),
		TEST(test_types_have_names_for_sentences),
		TEST(test_tokens_are_found_by_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
