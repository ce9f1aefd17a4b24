/* The parts of the command line that need no server: safe text, times, lines, ids, addresses. */
#include "cli/id_map.h"
#include "cli/lines.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/when.h"
#include "client/client.h"
#include "client/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* --- Text from outside --- */

static void assert_text(const char *text, size_t len, const char *expected)
{
	struct buf out;

	buf_init(&out, 4096);
	term_put_text(&out, (struct str){text, len});
	assert_string_equal(buf_str(&out).p, expected);
	buf_release(&out);
}

static void test_control_characters_are_made_visible(void **state)
{
	(void)state;
	assert_text("a\x1b[31mb", 7, "a\\x1b[31mb");
	assert_text("a\0b", 3, "a\\x00b");
	assert_text("\x7f\x07\x08", 3, "\\x7f\\x07\\x08");
	assert_text("one\ntwo\tthree", 13, "one\ntwo\tthree");
	assert_text("one\r\ntwo\rthree", 14, "one\ntwo\\x0dthree");
	assert_text("\xc2\x9b" "31m", 5, "\\x9b31m");
	assert_text("abc\xe2\x80\xae" "def", 9, "abc\\u202edef");
	assert_text("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f");
}

static void assert_all_of_text(const char *text, const char *expected)
{
	assert_text(text, strlen(text), expected);
}

static void test_what_nobody_sees_is_made_visible_and_what_a_script_needs_is_not(void **state)
{
	(void)state;
	assert_all_of_text("pay\u200bload", "pay\\u200bload");
	assert_all_of_text("a\U000e0061\U000e0062", "a\\U000e0061\\U000e0062");
	assert_all_of_text("ig\u200dnore b\ufe0f", "ig\\u200dnore b\\ufe0f");
	assert_all_of_text("\U0001f468\u200d\U0001f469 \u2764\ufe0f", "\U0001f468\u200d\U0001f469 \u2764\ufe0f");
	assert_all_of_text("می\u200cخواهم", "می\u200cخواهم");
	/* A mark of direction would turn what stands behind it in the line, whoever needs it. */
	assert_all_of_text("שלום\u200f", "שלום\\u200f");
}

static void test_what_is_no_utf8_is_made_visible(void **state)
{
	(void)state;
	assert_text("a\xff" "b", 3, "a\\xffb");
	assert_text("\xc3", 1, "\\xc3");
	assert_text("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	assert_text("\xc0\x9b", 2, "\\xc0\\x9b");
}

static void assert_line(const char *text, size_t columns, const char *expected)
{
	struct buf out;

	buf_init(&out, 4096);
	term_put_line(&out, str_of(text), columns);
	assert_string_equal(buf_str(&out).p, expected);
	buf_release(&out);
}

static void test_a_line_is_one_line_and_cut_to_its_columns(void **state)
{
	(void)state;
	assert_line("  one\n\n two\t three  ", 80, "one two three");
	assert_line("abcdef", 6, "abcdef");
	assert_line("abcdefg", 6, "abcde…");
	assert_line("", 6, "");
	/* Wide characters take two columns, combining ones none. */
	assert_line("漢字漢字", 8, "漢字漢字");
	assert_line("漢字漢字", 7, "漢字漢…");
	assert_line("漢字漢字", 6, "漢字…");
	assert_line("e\xcc\x81" "abc", 4, "e\xcc\x81" "abc");
	/* What is escaped counts as it is shown. */
	assert_line("\x1b\x1b\x1b", 12, "\\x1b\\x1b\\x1b");
	assert_line("\x1b\x1b\x1b", 11, "\\x1b\\x1b…");
}

static void test_json_keeps_its_value_and_loses_its_teeth(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 4096);
	term_put_json(&out, str_of("{\"a\":\"\xc2\x9b\x7f\xe2\x80\xae\xc3\xbc\",\n\t\"b\":1}"));
	assert_string_equal(buf_str(&out).p, "{\"a\":\"\\u009b\\u007f\\u202e\xc3\xbc\",\n\t\"b\":1}");
	buf_clear(&out);
	term_put_json(&out, str_of("\"a\u200bb\U000e0061\""));
	assert_string_equal(buf_str(&out).p, "\"a\\u200bb\\udb40\\udc61\"");
	buf_release(&out);
}

static void test_words_are_filled_into_lines(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 4096);
	term_fill(&out, str_of("one two  three averyveryverylongword four"), 2, 4, 14);
	assert_string_equal(buf_str(&out).p, "one two\n    three\n    averyveryverylongword\n    four");
	buf_release(&out);
}

static void test_a_table_is_aligned_and_leaves_empty_columns_out(void **state)
{
	static const struct table_column columns[] = {
		{"ID", false, TERM_PLAIN}, {"N", true, TERM_PLAIN}, {"NOTHING", false, TERM_PLAIN},
		{"TEXT", false, TERM_PLAIN},
		{NULL, false, TERM_PLAIN},
	};
	struct term term = {.is_terminal = true, .width = 40};
	struct table table;
	struct table_row *row;
	struct arena arena;
	struct buf out;

	(void)state;
	arena_init(&arena);
	table_init(&table, columns, &arena);
	row = table_add(&table);
	table_set(&table, row, 0, str_of("ms-1"));
	table_set(&table, row, 1, str_of("5"));
	table_set(&table, row, 3, str_of("a text that is longer than the line"));
	row = table_add(&table);
	table_set(&table, row, 0, str_of("漢"));
	table_set(&table, row, 1, str_of("123"));
	table_set(&table, row, 3, str_of("short\nline"));
	buf_init(&out, 4096);
	table_print(&table, &term, &out);
	assert_string_equal(buf_str(&out).p,
			    "ID      N  TEXT\n"
			    "ms-1    5  a text that is longer than t…\n"
			    "漢    123  short line\n");
	/* In a pipe nothing is cut. */
	term.is_terminal = false;
	buf_clear(&out);
	table_print(&table, &term, &out);
	assert_string_equal(buf_str(&out).p,
			    "ID      N  TEXT\n"
			    "ms-1    5  a text that is longer than the line\n"
			    "漢    123  short line\n");
	buf_release(&out);
	arena_release(&arena);
}

static void test_a_table_that_is_too_wide_is_cut_where_it_may_be_and_then_loses_columns(void **state)
{
	static const struct table_column columns[] = {
		{"ID", false, TERM_PLAIN}, {"ROUTE", false, TERM_PLAIN}, {"SHARE", true, TERM_PLAIN},
		{"NOTES", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	static const struct {
		size_t width;
		const char *text;
	} cases[] = {
		{64, "ID     ROUTE                  SHARE  NOTES\n"
		     "env-1  researcher -> analyst  100 %  what was done to the const…\n"},
		{52, "ID     ROUTE             SHARE  NOTES\n"
		     "env-1  researcher -> a…  100 %  what was done to th…\n"},
		{40, "ID     ROUTE                  SHARE\n"
		     "env-1  researcher -> analyst  100 %\n"},
		{30, "ID     ROUTE             SHARE\n"
		     "env-1  researcher -> a…  100 %\n"},
		/* There is no way to fit: as narrow as it gets. */
		{10, "ID     ROUTE         SHARE\n"
		     "env-1  researcher…   100 %\n"},
	};
	struct table table;
	struct table_row *row;
	struct arena arena;
	struct buf out;

	(void)state;
	arena_init(&arena);
	table_init(&table, columns, &arena);
	table_may_cut(&table, 1);
	table_may_omit(&table, 3);
	row = table_add(&table);
	table_set(&table, row, 0, str_of("env-1"));
	table_set(&table, row, 1, str_of("researcher -> analyst"));
	table_set(&table, row, 2, str_of("100 %"));
	table_set(&table, row, 3, str_of("what was done to the constraints, at length"));
	buf_init(&out, 4096);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct term term = {.is_terminal = true, .width = cases[i].width};

		buf_clear(&out);
		table_print(&table, &term, &out);
		assert_string_equal(buf_str(&out).p, cases[i].text);
	}
	buf_release(&out);
	arena_release(&arena);
}

/* --- Times --- */

static void test_times_are_read_as_people_type_them(void **state)
{
	int64_t ms = -1, now_ms = 1769774400000;	/* 2026-01-30T12:00:00Z */

	(void)state;
	assert_true(when_parse(STR("2026-01-30T12:00:00Z"), 0, &ms));
	assert_int_equal(ms, now_ms);
	assert_true(when_parse(STR("2026-01-30T13:00:00+01:00"), 0, &ms));
	assert_int_equal(ms, now_ms);
	assert_true(when_parse(STR("2026-01-30"), 0, &ms));
	assert_int_equal(ms, now_ms - 12 * 3600000);
	assert_true(when_parse(STR("2h"), now_ms, &ms));
	assert_int_equal(ms, now_ms - 2 * 3600000);
	ms = -1;
	assert_false(when_parse(STR("2026"), now_ms, &ms));
	assert_false(when_parse(STR("2026-02-30"), now_ms, &ms));
	assert_false(when_parse(STR("yesterday"), now_ms, &ms));
	assert_false(when_parse(STR(""), now_ms, &ms));
	assert_false(when_parse(STR("99999999d"), now_ms, &ms));
	assert_int_equal(ms, -1);
}

static void test_ages_are_short(void **state)
{
	int64_t now_ms = 1769774400000;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_string_equal(when_age(&arena, STR("2026-01-30T12:00:00.000Z"), now_ms).p, "now");
	assert_string_equal(when_age(&arena, STR("2026-01-30T13:00:00.000Z"), now_ms).p, "now");
	assert_string_equal(when_age(&arena, STR("2026-01-30T11:58:59.000Z"), now_ms).p, "1m");
	assert_string_equal(when_age(&arena, STR("2026-01-26T12:00:00.000Z"), now_ms).p, "4d");
	assert_string_equal(when_age(&arena, STR("soon"), now_ms).p, "");
	arena_release(&arena);
}

/* --- Lines --- */

/* A file with this text, to be read from its start. */
static int file_of(const char *text, size_t len)
{
	FILE *file = tmpfile();
	int fd;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	fflush(file);
	fd = dup(fileno(file));
	fclose(file);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void test_lines_come_one_by_one_with_their_numbers(void **state)
{
	int fd = file_of("one\n\nthree", 10);
	struct lines lines;
	struct str line;

	(void)state;
	lines_init(&lines, fd, 100);
	assert_int_equal(lines_next(&lines, &line), LINES_OK);
	assert_true(str_is(line, "one"));
	assert_int_equal(lines_next(&lines, &line), LINES_OK);
	assert_true(str_is(line, ""));
	assert_int_equal(lines_next(&lines, &line), LINES_OK);
	assert_true(str_is(line, "three"));
	assert_int_equal(lines.number, 3);
	assert_int_equal(lines_next(&lines, &line), LINES_END);
	assert_int_equal(lines_next(&lines, &line), LINES_END);
	lines_release(&lines);
	close(fd);
}

static void test_lines_cross_the_borders_of_reads(void **state)
{
	enum { COUNT = 300, LENGTH = 1000 };
	char *text = malloc(COUNT * LENGTH);
	struct lines lines;
	struct str line;
	int fd;

	(void)state;
	memset(text, 'x', COUNT * LENGTH);
	for (size_t i = 1; i <= COUNT; i++)
		text[i * LENGTH - 1] = '\n';
	fd = file_of(text, COUNT * LENGTH);
	lines_init(&lines, fd, LENGTH);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(lines_next(&lines, &line), LINES_OK);
		assert_int_equal(line.n, LENGTH - 1);
	}
	assert_int_equal(lines_next(&lines, &line), LINES_END);
	lines_release(&lines);
	close(fd);
	free(text);
}

static void test_a_line_without_end_is_refused(void **state)
{
	enum { LENGTH = 1 << 20 };
	char *text = malloc(LENGTH);
	struct lines lines;
	struct str line;
	int fd;

	(void)state;
	memset(text, 'x', LENGTH);
	fd = file_of(text, LENGTH);
	lines_init(&lines, fd, 100000);
	assert_int_equal(lines_next(&lines, &line), LINES_TOO_LONG);
	lines_release(&lines);
	close(fd);
	free(text);
}

/* --- Ids and addresses --- */

static void test_the_map_holds_many_ids(void **state)
{
	struct id_map map = {0};
	uint64_t value = 7;

	(void)state;
	assert_false(id_map_get(&map, 1, &value));
	for (uint64_t id = 1; id <= 10000; id++)
		id_map_put(&map, id * 977, id);
	id_map_put(&map, 977, 42);
	assert_int_equal(map.count, 10000);
	for (uint64_t id = 2; id <= 10000; id++) {
		assert_true(id_map_get(&map, id * 977, &value));
		assert_int_equal(value, id);
	}
	assert_true(id_map_get(&map, 977, &value));
	assert_int_equal(value, 42);
	assert_false(id_map_get(&map, 5, &value));
	assert_false(id_map_get(&map, 0, &value));
	id_map_release(&map);
}

static void test_ids_are_numbers_with_a_prefix(void **state)
{
	(void)state;
	assert_int_equal(id_number(STR("ms-4821")), 4821);
	assert_int_equal(id_number(STR("ms-1099511627775")), 1099511627775);
	assert_int_equal(id_number(STR("ms-1099511627776")), 0);
	assert_int_equal(id_number(STR("ms-0")), 0);
	assert_int_equal(id_number(STR("ms-01")), 0);
	assert_int_equal(id_number(STR("ms-1@2")), 0);
	assert_int_equal(id_number(STR("ms-")), 0);
	assert_int_equal(id_number(STR_NULL), 0);
}

static void test_addresses_mean_what_was_put_in(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 4096);
	buf_puts(&out, "/v1/memories/");
	url_put_escaped(&out, STR("ms-1@2/../?#%\xc3\xbc "));
	url_add(&out, "a b", STR("x&y=z+1"));
	url_add_int(&out, "n", -5);
	assert_string_equal(buf_str(&out).p, "/v1/memories/ms-1@2%2F..%2F%3F%23%25%C3%BC%20?a%20b=x%26y%3Dz%2B1&n=-5");
	buf_release(&out);
}

static bool takes_url(const char *url, bool *ret_is_local)
{
	struct client_config config = {.url = url, .timeout_ms = 1000, .max_reply_bytes = 1000};
	struct client *client;
	struct buf error;

	buf_init(&error, 4096);
	client = client_new(&config, &error);
	if (client)
		*ret_is_local = client_is_local(client);
	assert_true((client == NULL) == (error.len > 0));
	client_free(client);
	buf_release(&error);
	return client != NULL;
}

static void test_a_server_has_an_address_and_nothing_more(void **state)
{
	bool is_local = false;

	(void)state;
	assert_true(takes_url("http://127.0.0.1:8788", &is_local) && is_local);
	assert_true(takes_url("http://127.0.0.1:8788/", &is_local) && is_local);
	assert_true(takes_url("http://[::1]:8788", &is_local) && is_local);
	assert_true(takes_url("http://localhost:8788", &is_local) && is_local);
	assert_true(takes_url("https://spine.example.org", &is_local) && !is_local);
	assert_true(takes_url("http://127.0.0.1.example.org", &is_local) && !is_local);
	assert_false(takes_url("127.0.0.1:8788", &is_local));
	assert_false(takes_url("http://127.0.0.1:8788/v1", &is_local));
	assert_false(takes_url("http://127.0.0.1:8788/?x", &is_local));
	assert_false(takes_url("http://me:pw@127.0.0.1:8788", &is_local));
	assert_false(takes_url("file:///etc/passwd", &is_local));
	assert_false(takes_url("ftp://127.0.0.1", &is_local));
	assert_false(takes_url("", &is_local));
	assert_false(takes_url("http://", &is_local));
}

static void test_a_name_cannot_leave_its_header(void **state)
{
	struct client_config config = {
		.url = "http://127.0.0.1:8788", .agent = "me\r\nSpine-Space: other", .timeout_ms = 1000,
		.max_reply_bytes = 1000,
	};
	struct buf error;

	(void)state;
	buf_init(&error, 4096);
	assert_null(client_new(&config, &error));
	assert_string_equal(buf_str(&error).p, "the agent must be text without control characters, and not empty");
	buf_release(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_control_characters_are_made_visible),
		cmocka_unit_test(test_what_nobody_sees_is_made_visible_and_what_a_script_needs_is_not),
		cmocka_unit_test(test_what_is_no_utf8_is_made_visible),
		cmocka_unit_test(test_a_line_is_one_line_and_cut_to_its_columns),
		cmocka_unit_test(test_json_keeps_its_value_and_loses_its_teeth),
		cmocka_unit_test(test_words_are_filled_into_lines),
		cmocka_unit_test(test_a_table_is_aligned_and_leaves_empty_columns_out),
		cmocka_unit_test(test_a_table_that_is_too_wide_is_cut_where_it_may_be_and_then_loses_columns),
		cmocka_unit_test(test_times_are_read_as_people_type_them),
		cmocka_unit_test(test_ages_are_short),
		cmocka_unit_test(test_lines_come_one_by_one_with_their_numbers),
		cmocka_unit_test(test_lines_cross_the_borders_of_reads),
		cmocka_unit_test(test_a_line_without_end_is_refused),
		cmocka_unit_test(test_the_map_holds_many_ids),
		cmocka_unit_test(test_ids_are_numbers_with_a_prefix),
		cmocka_unit_test(test_addresses_mean_what_was_put_in),
		cmocka_unit_test(test_a_server_has_an_address_and_nothing_more),
		cmocka_unit_test(test_a_name_cannot_leave_its_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
