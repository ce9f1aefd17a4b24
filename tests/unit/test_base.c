/* The ground everything stands on: slices, buffers, arenas, the text of a time, log lines. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* --- str --- */

static void test_slices_compare_by_content(void **state)
{
	(void)state;
	assert_true(str_eq(STR("abc"), str_sub(STR("xabcx"), 1, 4)));
	assert_false(str_eq(STR("abc"), STR("abd")));
	assert_false(str_eq(STR("abc"), STR("ab")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_eq(STR(""), STR_NULL));
	assert_true(str_is(STR("abc"), "abc"));
	assert_false(str_is(STR("a\0"), "a"));
	assert_true(str_ieq(STR("Content-LENGTH"), STR("content-length")));
	assert_false(str_ieq(STR("a["), STR("A{")));
	assert_false(str_ieq(STR("@"), STR("`")));
	assert_true(str_cmp(STR("a"), STR("b")) < 0);
	assert_true(str_cmp(STR("ab"), STR("a")) > 0);
	assert_true(str_cmp(STR(""), STR("a")) < 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_cmp(STR("ab"), STR("ab")), 0);
	assert_int_equal(str_cmp(STR_NULL, STR("")), 0);
}

static void test_slices_are_searched_and_cut(void **state)
{
	struct str rest = STR("a,,b");

	(void)state;
	assert_true(str_has_prefix(STR("abc"), STR("ab")));
	assert_true(str_has_prefix(STR("abc"), STR("")));
	assert_false(str_has_prefix(STR("ab"), STR("abc")));
	assert_true(str_has_suffix(STR("abc"), STR("bc")));
	assert_false(str_has_suffix(STR("bc"), STR("abc")));
	assert_int_equal(str_find(STR("abc"), 'c'), 2);
	assert_int_equal(str_find(STR("abc"), 'x'), 3);
	assert_int_equal(str_find(STR_NULL, 'x'), 0);
	assert_true(str_is(str_trim(STR(" \ta b\t ")), "a b"));
	assert_int_equal(str_trim(STR(" \t ")).n, 0);
	assert_true(str_is(str_trim(STR("\na")), "\na"));
	assert_true(str_is(str_cut(&rest, ','), "a"));
	assert_true(str_is(str_cut(&rest, ','), ""));
	assert_true(str_is(str_cut(&rest, ','), "b"));
	assert_null(rest.p);
	assert_int_equal(rest.n, 0);
	assert_true(str_is(str_cut(&rest, ','), ""));
	rest = STR("a,");
	str_cut(&rest, ',');
	assert_non_null(rest.p);	/* an empty last part is not the same as none */
	assert_int_equal(rest.n, 0);
}

static void test_numbers_are_read_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = {"", "-", "+1", " 1", "1 ", "01", "00", "1a", "0x1", "1.0", "--1",
					  "18446744073709551616", "99999999999999999999", "184467440737095516150"};
	uint64_t u = 4711;
	int64_t i = 4711;

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		assert_false(str_to_u64(str_of(bad[k]), &u));
		assert_false(str_to_i64(str_of(bad[k]), &i));
	}
	assert_false(str_to_u64(STR("-1"), &u));
	assert_false(str_to_u64(STR("1\0"), &u));
	assert_false(str_to_i64(STR("9223372036854775808"), &i));
	assert_false(str_to_i64(STR("-9223372036854775809"), &i));
	assert_true(u == 4711 && i == 4711);
	assert_true(str_to_u64(STR("0"), &u) && u == 0);
	assert_true(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
	assert_true(str_to_i64(STR("9223372036854775807"), &i) && i == INT64_MAX);
	assert_true(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
	assert_true(str_to_i64(STR("-12"), &i) && i == -12);
}

static void test_numbers_are_written_as_they_are_read(void **state)
{
	uint64_t values[] = {0, 1, 9, 10, 99, 100, 4821, UINT32_MAX, UINT64_C(10000000000000000000), UINT64_MAX}, u;
	char text[STR_U64_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		size_t n = str_put_u64(text, values[i]);

		assert_true(n <= sizeof(text) && str_to_u64((struct str){text, n}, &u));
		assert_true(u == values[i]);
	}
}

/* The definition, from the other side: a sequence is good where it is what encoding some code point gives. */
static bool is_encoding(const unsigned char *p, size_t n)
{
	uint32_t c;

	if (n == 1)
		return p[0] < 0x80;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	if (n == 2)
		return (p[0] & 0xe0) == 0xc0 && (p[0] & 0x1fu) >= 2;
	c = n == 3 ? (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
		   : (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
	if (n == 3)
		return (p[0] & 0xf0) == 0xe0 && c >= 0x800 && (c < 0xd800 || c > 0xdfff);
	return (p[0] & 0xf8) == 0xf0 && c >= 0x10000 && c <= 0x10ffff;
}

/* All of two and three bytes that start with a first byte of that length, and of four with the last one fixed. */
static void test_utf8_is_told_from_what_is_not(void **state)
{
	(void)state;
	for (int a = 0xc0; a < 0x100; a++) {
		for (int b = 0; b < 0x100; b++) {
			for (int c = 0x70; c < 0xd0; c += 5) {
				unsigned char bytes[4] = {(unsigned char)a, (unsigned char)b, (unsigned char)c, 0x80};
				size_t n = a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;

				if (str_is_utf8((struct str){(char *)bytes, n}) != is_encoding(bytes, n))
					fail_msg("%02x %02x %02x %02x", a, b, c, 0x80);
			}
		}
	}
	assert_true(str_is_utf8(STR("\0 plain \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")));
	assert_true(str_is_utf8(STR_NULL));
	assert_false(str_is_utf8(STR("\x80")));
	assert_int_equal(str_utf8_prefix(STR("ab\xc3\xa9\xe2\x82")), 4);
	assert_int_equal(str_utf8_prefix(STR("ab\xff" "cd")), 2);
	assert_int_equal(str_utf8_prefix(STR("abc")), 3);
	assert_int_equal(str_utf8_prefix(STR_NULL), 0);
}

/* --- buf --- */

static void test_a_buffer_grows_to_its_limit_and_no_further(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	assert_string_equal(buf_str(&b).p, "");
	for (int i = 0; i < 100; i++)
		buf_putc(&b, (char)('a' + i % 26));
	assert_int_equal(b.len, 100);
	assert_false(buf_overflowed(&b));
	assert_int_equal(strlen(b.data), 100);
	buf_putc(&b, 'x');
	assert_true(buf_overflowed(&b));
	assert_int_equal(b.len, 100);
	buf_clear(&b);
	assert_false(buf_overflowed(&b));
	assert_string_equal(b.data, "");
	buf_release(&b);
	buf_release(&b);
	assert_int_equal(b.max, 100);
}

static void test_after_an_overflow_nothing_is_appended(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_puts(&b, "abc");
	buf_puts(&b, "de");	/* does not fit, and changes nothing */
	assert_string_equal(b.data, "abc");
	buf_puts(&b, "f");	/* would fit */
	buf_printf(&b, "%d", 1);
	assert_null(buf_reserve(&b, 1));
	assert_string_equal(b.data, "abc");
	assert_true(buf_overflowed(&b));
	buf_release(&b);
	buf_init(&b, 0);
	buf_append(&b, "", 0);
	assert_false(buf_overflowed(&b));
	buf_putc(&b, 'x');
	assert_true(buf_overflowed(&b));
	buf_release(&b);
}

static void test_what_a_buffer_shares_is_neither_changed_nor_freed(void **state)
{
	static const char bytes[] = "shared";
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	buf_share(&b, (struct str){bytes, 4});
	assert_ptr_equal(b.data, bytes);
	buf_puts(&b, "!");	/* of a copy */
	assert_string_equal(b.data, "shar!");
	assert_string_equal(bytes, "shared");
	buf_release(&b);
	b.is_secret = true;
	buf_share(&b, STR("shared"));
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	buf_puts(&b, "more");
	assert_string_equal(b.data, "more");
	buf_release(&b);
}

static void test_a_buffer_formats_reserves_consumes_and_gives_away(void **state)
{
	struct buf b;
	char *owned, *at;

	(void)state;
	buf_init(&b, 1000);
	buf_printf(&b, "%s-%d%s", "abc", 42, "");
	buf_put(&b, STR("\0tail"));
	buf_put(&b, STR_NULL);
	buf_printf(&b, "%s", "");
	assert_int_equal(b.len, 11);
	assert_memory_equal(b.data, "abc-42\0tail", 12);
	buf_consume(&b, 7);
	assert_string_equal(b.data, "tail");
	buf_consume(&b, 0);
	at = buf_reserve(&b, 500);
	memcpy(at, "ed", 2);
	buf_commit(&b, 2);
	assert_string_equal(b.data, "tailed");
	owned = buf_take(&b);
	assert_string_equal(owned, "tailed");
	free(owned);
	assert_int_equal(b.len, 0);
	owned = buf_take(&b);
	assert_string_equal(owned, "");
	free(owned);
	buf_release(&b);
}

/* --- arena --- */

static void test_what_is_printed_may_have_any_length(void **state)
{
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	buf_init(&b, 700);
	for (int len = 0; len < 600; len++) {
		struct str s = arena_printf(&a, "%.*d", len, 0);

		assert_int_equal(s.n, len);
		assert_int_equal(strspn(s.p, "0"), len);
		buf_clear(&b);
		buf_puts(&b, "x");
		buf_printf(&b, "%.*d", len, 0);
		assert_int_equal(b.len, 1 + len);
		assert_int_equal(strspn(b.data + 1, "0"), len);
	}
	buf_printf(&b, "%.*d", 101, 1);	/* does not fit, and changes nothing */
	assert_int_equal(strspn(b.data + 1, "0"), 599);
	assert_true(buf_overflowed(&b));
	buf_release(&b);
	arena_release(&a);
}

static void test_memory_of_no_bytes_is_memory_too(void **state)
{
	void *volatile p = mem_alloc(0);	/* so that the compiler takes nobody's word for it */

	(void)state;
	assert_non_null(p);
	p = mem_realloc(p, 0);
	assert_non_null(p);
	p = mem_reallocarray(p, 0, 8);
	assert_non_null(p);
	free(p);
	p = mem_calloc(0, 8);
	assert_non_null(p);
	free(p);
	p = mem_zalloc(0);
	assert_non_null(p);
	free(p);
}

static void test_a_part_of_no_text_is_no_text(void **state)
{
	struct str part = str_sub(STR_NULL, 0, 0);

	(void)state;
	assert_null(part.p);
	assert_int_equal(part.n, 0);
}

static void test_an_arena_gives_aligned_memory_of_any_size(void **state)
{
	char *pieces[400];
	struct arena a;

	(void)state;
	arena_init(&a);
	for (int i = 0; i < 400; i++) {
		size_t size = (size_t)i * 7 % 300 + (i % 97 == 0 ? 100000 : 0);

		pieces[i] = i % 2 ? arena_alloc(&a, size) : arena_zalloc(&a, size);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t k = 0; i % 2 == 0 && k < size; k++)
			assert_int_equal(pieces[i][k], 0);
		memset(pieces[i], i, size);
	}
	for (int i = 0; i < 400; i++)
		for (size_t k = 0; k < (size_t)i * 7 % 300; k++)
			assert_int_equal(pieces[i][k], (char)i);
	arena_release(&a);
	assert_null(a.blocks);
	arena_release(&a);
}

static void test_an_arena_copies_and_formats(void **state)
{
	struct arena a;
	struct str s;
	int *numbers;

	(void)state;
	arena_init(&a);
	assert_string_equal(arena_cstr(&a, str_sub(STR("xabcx"), 1, 4)), "abc");
	assert_string_equal(arena_cstr(&a, STR_NULL), "");
	s = arena_str(&a, STR("a\0b"));
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.p, "a\0b", 4);
	s = arena_printf(&a, "%s-%d", "abc", 42);
	assert_true(str_is(s, "abc-42"));
	assert_int_equal(s.p[s.n], '\0');
	assert_int_equal(arena_printf(&a, "%5000d", 1).n, 5000);
	numbers = arena_calloc(&a, 1000, sizeof(*numbers));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], 0);
	arena_release(&a);
}

/* --- clock --- */

static void test_times_are_written_in_utc_with_milliseconds(void **state)
{
	static const struct { int64_t ms; const char *text; } cases[] = {
		{0, "1970-01-01T00:00:00.000Z"}, {1, "1970-01-01T00:00:00.001Z"}, {-1, "1969-12-31T23:59:59.999Z"},
		{951782400000, "2000-02-29T00:00:00.000Z"}, {951868799999, "2000-02-29T23:59:59.999Z"},
		{951868800000, "2000-03-01T00:00:00.000Z"}, {4107542399999, "2100-02-28T23:59:59.999Z"},
		{4107542400000, "2100-03-01T00:00:00.000Z"}, {1769776496789, "2026-01-30T12:34:56.789Z"},
		{253402300799999, "9999-12-31T23:59:59.999Z"}, {-62135596800000, "0001-01-01T00:00:00.000Z"},
	};
	char text[CLOCK_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clock_format(cases[i].ms, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void test_the_clocks_run(void **state)
{
	int64_t first = clock_mono_ns(), second = clock_mono_ns();

	(void)state;
	assert_true(second >= first);
	assert_true(clock_wall_ms() > 1600000000000);
}

/* --- log --- */

struct pipes {
	int fd[2];
	char line[20000];
};

/* What one call wrote. Lines here are shorter than what a pipe holds, so nobody has to read meanwhile. */
static const char *read_line(struct pipes *p)
{
	ssize_t n;

	close(p->fd[1]);
	n = read(p->fd[0], p->line, sizeof(p->line) - 1);
	close(p->fd[0]);
	assert_true(n >= 0);
	p->line[n] = '\0';
	return p->line;
}

static struct log log_to(struct pipes *p, enum log_level level, enum log_format format)
{
	struct log log;

	assert_int_equal(pipe(p->fd), 0);
	log_init(&log, p->fd[1], level, format);
	return log;
}

static void test_a_log_line_is_one_json_object(void **state)
{
	struct json_error error;
	struct arena arena;
	struct json tree;
	struct pipes p;
	struct log log = log_to(&p, LOG_INFO, LOG_AUTO);
	const char *line;

	(void)state;
	log_write(&log, LOG_WARN, "some \"thing\"", LOG_STR("path", "a\\b\n\x1b[2J\x7f"), LOG_INT("n", -5),
		  LOG_SLICE("part", str_sub(STR("xyz"), 1, 2)), LOG_STR("none", NULL));
	line = read_line(&p);
	assert_int_equal(strcspn(line, "\n"), strlen(line) - 1);
	arena_init(&arena);
	if (!json_parse(str_of(line), 4, &arena, &tree, &error))
		fail_msg("%s: %s", line, error.detail);
	assert_int_equal(tree.count, 7);
	assert_int_equal(json_get(&tree, "time")->s.n, CLOCK_TEXT_SIZE - 1);
	assert_string_equal(json_get(&tree, "level")->s.p, "warn");
	assert_string_equal(json_get(&tree, "msg")->s.p, "some \"thing\"");
	assert_string_equal(json_get(&tree, "path")->s.p, "a\\b\n\x1b[2J\x7f");
	assert_int_equal(json_get(&tree, "n")->i, -5);
	assert_string_equal(json_get(&tree, "part")->s.p, "y");
	assert_string_equal(json_get(&tree, "none")->s.p, "");
	arena_release(&arena);
}

static void test_a_log_line_has_from_none_to_all_of_its_fields(void **state)
{
	struct pipes p;
	struct log log = log_to(&p, LOG_INFO, LOG_JSON);

	(void)state;
	log_write(&log, LOG_INFO, "none");
	assert_non_null(strstr(read_line(&p), "\"msg\":\"none\"}\n"));
	log = log_to(&p, LOG_INFO, LOG_JSON);
	_Static_assert(LOG_FIELDS_MAX == 12, "as many as here");
	log_write(&log, LOG_INFO, "all", LOG_INT("a", 1), LOG_INT("b", 2), LOG_INT("c", 3), LOG_INT("d", 4),
		  LOG_INT("e", 5), LOG_INT("f", 6), LOG_INT("g", 7), LOG_INT("h", 8), LOG_INT("i", 9),
		  LOG_INT("j", 10), LOG_INT("k", 11), LOG_INT("l", 12));
	assert_non_null(strstr(read_line(&p), ",\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,"
					      "\"i\":9,\"j\":10,\"k\":11,\"l\":12}\n"));
	log = log_to(&p, LOG_INFO, LOG_TEXT);
	log_write(&log, LOG_INFO, "all", LOG_INT("a", 1), LOG_INT("b", 2), LOG_INT("c", 3), LOG_INT("d", 4),
		  LOG_INT("e", 5), LOG_INT("f", 6), LOG_INT("g", 7), LOG_INT("h", 8), LOG_INT("i", 9),
		  LOG_INT("j", 10), LOG_INT("k", 11), LOG_INT("l", 12));
	assert_non_null(strstr(read_line(&p), " k=11 l=12\n"));
}

static void test_a_log_line_is_json_whatever_the_bytes(void **state)
{
	/* A lone continuation, a sequence cut short, an overlong one, a surrogate, beyond U+10FFFF; valid ones in
	 * between. */
	static const char bad[] =
		"a\x80z\xe2\x82 \xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80 \xc3\xa4\xf0\x9f\x98\x80\xff\"\xc3";
	struct json_error error;
	struct arena arena;
	struct json tree;
	struct pipes p;
	struct log log = log_to(&p, LOG_INFO, LOG_JSON);

	(void)state;
	log_write(&log, LOG_INFO, "refused", LOG_STR("host", bad));
	arena_init(&arena);
	if (!json_parse(str_of(read_line(&p)), 4, &arena, &tree, &error))
		fail_msg("%s: %s", p.line, error.detail);
	assert_string_equal(
		json_get(&tree, "host")->s.p,
		"a\uFFFDz\uFFFD \uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD \u00e4\U0001F600\uFFFD\"\uFFFD");
	arena_release(&arena);
	log = log_to(&p, LOG_INFO, LOG_TEXT);
	log_write(&log, LOG_INFO, "refused", LOG_STR("host", "a\x9b" "2J"), LOG_STR("other", "\u00e4"));
	assert_non_null(strstr(read_line(&p), " host=\"a\uFFFD" "2J\" other=\u00e4\n"));
}

static void test_a_log_line_for_a_person_cannot_be_forged(void **state)
{
	struct pipes p;
	struct log log = log_to(&p, LOG_DEBUG, LOG_TEXT);
	const char *line;

	(void)state;
	log_write(&log, LOG_INFO, "listening", LOG_STR("address", "127.0.0.1"), LOG_INT("port", 8788),
		  LOG_STR("name", "two words"), LOG_STR("empty", ""), LOG_STR("evil", "a\n12:00:00 error\x1b[31m"));
	line = read_line(&p);
	assert_true(line[2] == ':' && line[5] == ':' && line[8] == ' ');
	assert_string_equal(line + 9, "info  listening address=127.0.0.1 port=8788 name=\"two words\" empty=\"\" "
				      "evil=\"a\\u000a12:00:00 error\\u001b[31m\"\n");
}

static void test_a_level_below_the_logs_is_not_written(void **state)
{
	struct pipes p;
	struct log log = log_to(&p, LOG_WARN, LOG_JSON);

	(void)state;
	log_write(&log, LOG_DEBUG, "no");
	log_write(&log, LOG_INFO, "no");
	log_write(NULL, LOG_ERROR, "no");
	log_write(&log, LOG_ERROR, "yes");
	assert_non_null(strstr(read_line(&p), "\"msg\":\"yes\"}\n"));
	assert_null(strstr(p.line, "no"));
}

static void test_a_line_that_is_too_long_is_said_to_be(void **state)
{
	char *huge = mem_zalloc(40001);
	struct pipes p;
	struct log log = log_to(&p, LOG_INFO, LOG_JSON);

	(void)state;
	memset(huge, 'x', 40000);
	log_write(&log, LOG_INFO, "big", LOG_STR("value", huge));
	assert_non_null(strstr(read_line(&p), "too long to log"));
	assert_true(strlen(p.line) < 200);
	free(huge);
}

static void test_level_names_are_read(void **state)
{
	enum log_level level = LOG_INFO;

	(void)state;
	assert_true(log_level_parse(STR("debug"), &level) && level == LOG_DEBUG);
	assert_true(log_level_parse(STR("error"), &level) && level == LOG_ERROR);
	assert_false(log_level_parse(STR("loud"), &level));
	assert_false(log_level_parse(STR(""), &level));
	assert_int_equal(level, LOG_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices_compare_by_content),
		cmocka_unit_test(test_slices_are_searched_and_cut),
		cmocka_unit_test(test_numbers_are_read_whole_or_not_at_all),
		cmocka_unit_test(test_numbers_are_written_as_they_are_read),
		cmocka_unit_test(test_utf8_is_told_from_what_is_not),
		cmocka_unit_test(test_a_buffer_grows_to_its_limit_and_no_further),
		cmocka_unit_test(test_after_an_overflow_nothing_is_appended),
		cmocka_unit_test(test_what_a_buffer_shares_is_neither_changed_nor_freed),
		cmocka_unit_test(test_a_buffer_formats_reserves_consumes_and_gives_away),
		cmocka_unit_test(test_what_is_printed_may_have_any_length),
		cmocka_unit_test(test_memory_of_no_bytes_is_memory_too),
		cmocka_unit_test(test_a_part_of_no_text_is_no_text),
		cmocka_unit_test(test_an_arena_gives_aligned_memory_of_any_size),
		cmocka_unit_test(test_an_arena_copies_and_formats),
		cmocka_unit_test(test_times_are_written_in_utc_with_milliseconds),
		cmocka_unit_test(test_the_clocks_run),
		cmocka_unit_test(test_a_log_line_is_one_json_object),
		cmocka_unit_test(test_a_log_line_has_from_none_to_all_of_its_fields),
		cmocka_unit_test(test_a_log_line_is_json_whatever_the_bytes),
		cmocka_unit_test(test_a_log_line_for_a_person_cannot_be_forged),
		cmocka_unit_test(test_a_level_below_the_logs_is_not_written),
		cmocka_unit_test(test_a_line_that_is_too_long_is_said_to_be),
		cmocka_unit_test(test_level_names_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
