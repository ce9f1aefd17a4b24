/* Writing JSON: commas, escapes, numbers, and the canonical form with the examples of RFC 8785. */
#include "codec/json.h"

#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
	struct buf out;
	struct json_writer w;
	struct arena arena;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	buf_init(&f->out, 1 << 20);
	json_writer_init(&f->w, &f->out);
	arena_init(&f->arena);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	buf_release(&f->out);
	arena_release(&f->arena);
	free(f);
	return 0;
}

static void restart(struct fixture *f)
{
	buf_clear(&f->out);
	json_writer_init(&f->w, &f->out);
}

/* --- Structure --- */

static void test_commas_stand_between_values_only(void **state)
{
	struct fixture *f = *state;
	struct json_writer *w = &f->w;

	json_begin_object(w);
	json_member_cstr(w, "a", "x");
	json_key(w, "b");
	json_begin_array(w);
	json_put_int(w, 1);
	json_begin_array(w);
	json_end_array(w);
	json_begin_object(w);
	json_end_object(w);
	json_put_null(w);
	json_end_array(w);
	json_key_str(w, STR("c"));
	json_begin_object(w);
	json_member_int(w, "d", -1);
	json_member_bool(w, "e", true);
	json_end_object(w);
	json_member_bool(w, "f", false);
	json_member_double(w, "g", 0.5);
	json_member_str(w, "h", STR(""));
	json_key(w, "i");
	json_put_raw(w, STR("[1, 2]"));
	json_key(w, "j");
	json_put_cstr(w, "end");
	json_end_object(w);
	assert_string_equal(f->out.data, "{\"a\":\"x\",\"b\":[1,[],{},null],\"c\":{\"d\":-1,\"e\":true},\"f\":false,"
					 "\"g\":0.5,\"h\":\"\",\"i\":[1, 2],\"j\":\"end\"}");
}

static void test_integers_are_written_whole(void **state)
{
	struct fixture *f = *state;

	json_begin_array(&f->w);
	json_put_int(&f->w, 0);
	json_put_int(&f->w, INT64_MAX);
	json_put_int(&f->w, INT64_MIN);
	json_put_int(&f->w, -10);
	json_end_array(&f->w);
	assert_string_equal(f->out.data, "[0,9223372036854775807,-9223372036854775808,-10]");
}

/* Whatever the limit, the buffer holds a beginning of the text, and all of it where that fits. */
static void test_a_full_buffer_overflows_and_never_early(void **state)
{
	static const struct str texts[] = {STR("{\"a\":[\"b\",1,null,\"c\\n\"],\"d\":{\"e\":0.5}}"), STR("\"plain\""),
					   STR("\"tab\\t\""), STR("-12"), STR("2.5"), STR("true"), STR("[]")};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct json_error error;
		struct json tree;

		assert_true(json_parse(texts[i], 8, &f->arena, &tree, &error));
		for (size_t max = 0; max <= texts[i].n; max++) {
			struct json_writer w;
			struct buf out;

			buf_init(&out, max);
			json_writer_init(&w, &out);
			json_put(&w, &tree);
			assert_int_equal(buf_overflowed(&out), max < texts[i].n);
			assert_true(str_has_prefix(texts[i], buf_str(&out)));
			buf_release(&out);
		}
	}
}

/* --- Strings --- */

static void test_only_what_must_be_escaped_is(void **state)
{
	struct fixture *f = *state;

	json_put_str(&f->w, STR("\0\x01\b\t\n\x0b\f\r\x1f \"\\/'<>&\x7f\xc2\x80\xe2\x80\xa8\xf0\x9f\x98\x80"));
	assert_string_equal(f->out.data, "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/'<>&\x7f\xc2\x80"
					 "\xe2\x80\xa8\xf0\x9f\x98\x80\"");
	restart(f);
	json_begin_object(&f->w);
	json_member_str(&f->w, "a\"b\n", STR_NULL);
	json_end_object(&f->w);
	assert_string_equal(f->out.data, "{\"a\\\"b\\n\":\"\"}");
}

static void assert_escaped(struct fixture *f, struct str text)
{
	struct json_error error;
	struct json tree;

	restart(f);
	json_put_str(&f->w, text);
	for (size_t k = 0; k < f->out.len; k++)
		assert_true((unsigned char)f->out.data[k] >= 0x20);
	assert_true(json_parse(buf_str(&f->out), 1, &f->arena, &tree, &error));
	assert_int_equal(tree.s.n, text.n);
	assert_memory_equal(tree.s.p, text.p, text.n);
}

/* Every byte at every position, in texts around the length of a word, beside neighbours that could carry into it. */
static void test_escapes_are_found_at_every_position(void **state)
{
	static const unsigned char neighbours[] = {0x00, 0x1f, 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f};
	struct fixture *f = *state;
	char text[17];

	for (size_t i = 0; i < sizeof(neighbours); i++) {
		for (int c = 0; c < 0x80; c++) {
			for (size_t n = 1; n <= sizeof(text); n += n < 9 ? 1 : 4) {
				for (size_t at = 0; at < n; at++) {
					memset(text, neighbours[i], sizeof(text));
					text[at] = (char)c;
					assert_escaped(f, (struct str){text, n});
				}
			}
			arena_release(&f->arena);
		}
	}
}

/* --- Doubles --- */

static void assert_double(struct fixture *f, double value, const char *expected)
{
	restart(f);
	json_put_double(&f->w, value);
	assert_string_equal(f->out.data, expected);
}

/* RFC 8785, appendix B. */
static void test_doubles_are_written_as_ecmascript_writes_them(void **state)
{
	static const struct { uint64_t bits; const char *text; } cases[] = {
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value;

		memcpy(&value, &cases[i].bits, sizeof(value));
		assert_double(f, value, cases[i].text);
	}
	assert_double(f, 5, "5");
	assert_double(f, 100, "100");
	assert_double(f, -1.5, "-1.5");
	assert_double(f, 0.1, "0.1");
	assert_double(f, 123456789.125, "123456789.125");
	assert_double(f, 2.2250738585072014e-308, "2.2250738585072014e-308");
	assert_double(f, 1e-7, "1e-7");
	assert_double(f, 1.25e-10, "1.25e-10");
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static int significant_digits(const char *text)
{
	int digits = 0, trailing_zeros = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (digits == 0 && *text == '0'))
			continue;
		digits++;
		trailing_zeros = *text == '0' ? trailing_zeros + 1 : 0;
	}
	return digits - trailing_zeros;
}

/* Against the C library: the text reads back as the same double, and no shorter one does. */
static void test_doubles_are_the_shortest_that_read_back(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 8785;

	for (int i = 0; i < 20000; i++) {
		uint64_t bits = next_random(&seed);
		char shorter[40];
		int digits;
		double value;

		memcpy(&value, &bits, sizeof(value));
		if (i % 2)	/* half of them in the range that people use */
			value = (double)(int64_t)(bits >> 20) / (double)(1 + bits % 100000);
		if (!isfinite(value) || value == 0)
			continue;
		restart(f);
		json_put_double(&f->w, value);
		assert_true(strtod(f->out.data, NULL) == value);
		digits = significant_digits(f->out.data);
		assert_in_range(digits, 1, 17);
		if (digits == 1)
			continue;
		snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, value);
		assert_true(strtod(shorter, NULL) != value);
	}
}

/* --- The canonical form --- */

static void assert_canonical(struct fixture *f, const char *text, const char *expected)
{
	struct json_error error;
	struct json tree;

	if (!json_parse(str_of(text), 16, &f->arena, &tree, &error))
		fail_msg("%s", error.detail);
	restart(f);
	json_put_canonical(&f->w, &tree);
	assert_string_equal(f->out.data, expected);
}

/* RFC 8785, 3.2.2 and 3.2.4. */
static void test_the_rfc_s_sample_becomes_its_canonical_form(void **state)
{
	assert_canonical(*state,
			 "{\n  \"numbers\": [333333333.33333329, 1E30, 4.50,\n 2e-3, 0.000000000000000000000000001],\n"
			 "  \"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n"
			 "  \"literals\": [null, true, false]\n}",
			 "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
			 "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

/* RFC 8785, 3.2.3: by UTF-16 code units, so that the emoji comes before U+FB33. */
static void test_names_are_sorted_by_utf16_code_units(void **state)
{
	assert_canonical(*state,
			 "{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\","
			 "\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\","
			 "\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
			 "\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}",
			 "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
			 "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
			 "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
			 "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

static void test_the_edges_of_the_surrogates_sort_as_utf16_does(void **state)
{
	/* U+D7FF, U+E000, U+FFFF, U+10000, U+10FFFF; then beside a common beginning, and a beginning alone. */
	assert_canonical(*state,
			 "{\"\xef\xbf\xbf\":1,\"\xf4\x8f\xbf\xbf\":2,\"\xee\x80\x80\":3,\"\xed\x9f\xbf\":4,"
			 "\"\xf0\x90\x80\x80\":5,\"a\xee\x80\x80\":6,\"a\xf0\x90\x80\x80\":7,\"a\":8,\"\":9}",
			 "{\"\":9,\"a\":8,\"a\xf0\x90\x80\x80\":7,\"a\xee\x80\x80\":6,\"\xed\x9f\xbf\":4,"
			 "\"\xf0\x90\x80\x80\":5,"
			 "\"\xf4\x8f\xbf\xbf\":2,\"\xee\x80\x80\":3,\"\xef\xbf\xbf\":1}");
}

static void test_odd_strings_and_nested_objects_are_canonical_too(void **state)
{
	assert_canonical(*state,
			 "{\"</script>\":\"Browser Challenge\",\"\\u000a\":\"Newline\",\"\\u0080\":\"Control\\u007f\"}",
			 "{\"\\n\":\"Newline\",\"</script>\":\"Browser Challenge\",\"\xc2\x80\":\"Control\x7f\"}");
	assert_canonical(*state, "{\"1\":{\"f\":{\"f\":\"hi\",\"F\":5},\"\\n\":56.0},\"10\":{},\"\":\"empty\",\"a\":{},"
				 "\"111\":[{\"e\":\"yes\",\"E\":\"no\"}],\"A\":{}}",
			 "{\"\":\"empty\",\"1\":{\"\\n\":56,\"f\":{\"F\":5,\"f\":\"hi\"}},\"10\":{},"
			 "\"111\":[{\"E\":\"no\",\"e\":\"yes\"}],\"A\":{},\"a\":{}}");
	/* No normalisation: A and a combining ring stay two characters. */
	assert_canonical(*state, "{\"Unnormalized Unicode\":\"A\\u030a\"}", "{\"Unnormalized Unicode\":\"A\xcc\x8a\"}");
	assert_canonical(*state, "[56,{\"d\":true,\"10\":null,\"1\":[]},-0.0,-0,1.0]",
			 "[56,{\"1\":[],\"10\":null,\"d\":true},0,0,1]");
}

static void test_large_objects_are_sorted_like_small_ones(void **state)
{
	struct fixture *f = *state;
	struct json_error error;
	struct buf text, sorted;
	struct json tree;

	buf_init(&text, 1 << 20);
	buf_init(&sorted, 1 << 20);
	for (int count = 1; count < 200; count++) {
		buf_clear(&text);
		buf_clear(&sorted);
		for (int i = 0; i < count; i++) {
			buf_printf(&text, "%c\"%03d\":%d", i ? ',' : '{', count - 1 - i, i);
			buf_printf(&sorted, "%c\"%03d\":%d", i ? ',' : '{', i, count - 1 - i);
		}
		buf_putc(&text, '}');
		buf_putc(&sorted, '}');
		assert_canonical(f, text.data, sorted.data);
		assert_true(json_parse(buf_str(&text), 4, &f->arena, &tree, &error));
		restart(f);
		json_put(&f->w, &tree);
		assert_string_equal(f->out.data, text.data);
	}
	buf_release(&text);
	buf_release(&sorted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_commas_stand_between_values_only),
		TEST(test_integers_are_written_whole),
		TEST(test_a_full_buffer_overflows_and_never_early),
		TEST(test_only_what_must_be_escaped_is),
		TEST(test_escapes_are_found_at_every_position),
		TEST(test_doubles_are_written_as_ecmascript_writes_them),
		TEST(test_doubles_are_the_shortest_that_read_back),
		TEST(test_the_rfc_s_sample_becomes_its_canonical_form),
		TEST(test_names_are_sorted_by_utf16_code_units),
		TEST(test_the_edges_of_the_surrogates_sort_as_utf16_does),
		TEST(test_odd_strings_and_nested_objects_are_canonical_too),
		TEST(test_large_objects_are_sorted_like_small_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
