/* Options: where a value comes from, what it may be, and what is said where it may not. */
#include "base/options.h"

#include "base/mem.h"
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct option options[] = {
	{.name = "quiet", .letter = 'q', .env = "TEST_QUIET", .key = "quiet", .type = OPTION_FLAG, .help = "no noise"},
	{.name = "verbose", .letter = 'v', .type = OPTION_FLAG, .help = "noise"},
	{.name = "name", .letter = 'n', .arg = "TEXT", .env = "TEST_NAME", .key = "name", .type = OPTION_TEXT,
	 .fallback = "nobody", .help = "who"},
	{.name = "tag", .letter = 't', .arg = "TAG", .type = OPTION_LIST, .help = "several"},
	{.name = "colour", .arg = "COLOUR", .env = "TEST_COLOUR", .key = "colour", .type = OPTION_CHOICE,
	 .choices = colours, .fallback = "green", .help = "which"},
	{.name = "count", .arg = "N", .env = "TEST_COUNT", .key = "count", .type = OPTION_INT, .fallback = "3",
	 .min = 1, .max = 10, .help = "how many"},
	{.name = "max-body", .arg = "SIZE", .env = "TEST_MAX_BODY", .key = "max_body", .type = OPTION_SIZE,
	 .fallback = "8m", .min = 1024, .max = 1 << 30, .help = "how large"},
	{.name = "timeout", .arg = "TIME", .key = "timeout", .type = OPTION_DURATION, .fallback = "30s", .min = 1,
	 .max = 86400000, .help = "how long"},
	{.name = "data", .arg = "DIR", .key = "data", .type = OPTION_PATH,
	 .fallback = "${TEST_XDG:-~/.local/share}/thing", .help = "where"},
};

static const struct option other_options[] = {
	{.name = "other", .arg = "N", .key = "other", .type = OPTION_INT, .min = 1, .max = 9,
	 .help = "of another command"},
};

static const struct option_table table = {"Test", options, sizeof(options) / sizeof(options[0])};
static const struct option_table other_table = {"Other", other_options, 1};
static const struct option_table *const tables[] = {&table, NULL};
static const struct option_table *const known[] = {&table, &other_table, NULL};

struct fixture {
	struct arena arena;
	struct options o;
	struct buf error;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	unsetenv("TEST_QUIET");
	unsetenv("TEST_NAME");
	unsetenv("TEST_COLOUR");
	unsetenv("TEST_COUNT");
	unsetenv("TEST_MAX_BODY");
	unsetenv("TEST_XDG");
	setenv("HOME", "/home/somebody", 1);
	arena_init(&f->arena);
	options_init(&f->o, tables, &f->arena);
	buf_init(&f->error, 4096);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	buf_release(&f->error);
	arena_release(&f->arena);
	free(f);
	return 0;
}

/* Parses the words of a line, divided by single spaces. */
static bool parse(struct fixture *f, const char *line)
{
	char *argv[32];
	int argc = 0;
	char *copy = arena_cstr(&f->arena, str_of(line));

	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse_args(&f->o, argc, argv, &f->error);
}

static bool parse_config(struct fixture *f, const char *text)
{
	return options_parse_config(&f->o, known, "/etc/test.conf", str_of(text), &f->error);
}

static void assert_error(struct fixture *f, const char *expected)
{
	assert_string_equal(buf_str(&f->error).p, expected);
	buf_clear(&f->error);
}

static void assert_refused(struct fixture *f, const char *line, const char *expected)
{
	assert_false(parse(f, line));
	assert_error(f, expected);
}

/* --- Command line --- */

static void test_values_come_attached_or_after(void **state)
{
	struct fixture *f = *state;

	assert_true(parse(f, "--name=ada --count 7 -t one --tag=two -tthree -q"));
	assert_string_equal(options_text(&f->o, "name"), "ada");
	assert_int_equal(options_int(&f->o, "count"), 7);
	assert_true(options_flag(&f->o, "quiet"));
	assert_false(options_flag(&f->o, "verbose"));
	assert_int_equal(options_value(&f->o, "tag")->list_count, 3);
	assert_string_equal(options_value(&f->o, "tag")->list[0], "one");
	assert_string_equal(options_value(&f->o, "tag")->list[2], "three");
}

static void test_a_value_may_be_empty_or_hold_an_equals_sign(void **state)
{
	struct fixture *f = *state;

	assert_true(parse(f, "--name= -t a=b --tag=c=d"));
	assert_string_equal(options_text(&f->o, "name"), "");
	assert_string_equal(options_value(&f->o, "tag")->list[0], "a=b");
	assert_string_equal(options_value(&f->o, "tag")->list[1], "c=d");
}

static void test_flags_stand_together_and_the_last_letter_takes_a_value(void **state)
{
	struct fixture *f = *state;

	assert_true(parse(f, "-qvn ada"));
	assert_true(options_flag(&f->o, "quiet") && options_flag(&f->o, "verbose"));
	assert_string_equal(options_text(&f->o, "name"), "ada");
}

static void test_a_flag_can_be_turned_off(void **state)
{
	struct fixture *f = *state;

	setenv("TEST_QUIET", "yes", 1);
	assert_true(parse(f, "--quiet=no"));
	assert_true(options_parse_env(&f->o, &f->error));
	assert_false(options_flag(&f->o, "quiet"));
	assert_true(options_is_given(&f->o, "quiet"));
	assert_refused(f, "--quiet=perhaps", "--quiet is \"perhaps\"; expected true or false");
}

static void test_options_and_arguments_may_be_mixed(void **state)
{
	struct fixture *f = *state;

	assert_true(parse(f, "first -q second - --name ada -- --count -v"));
	assert_int_equal(f->o.arg_count, 5);
	assert_string_equal(f->o.args[0], "first");
	assert_string_equal(f->o.args[2], "-");
	assert_string_equal(f->o.args[3], "--count");
	assert_string_equal(f->o.args[4], "-v");
	assert_false(options_flag(&f->o, "verbose"));
}

static void test_an_unknown_option_names_the_nearest(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "--cuont 3", "unknown option --cuont; did you mean --count?");
	assert_refused(f, "--max-boddy=3", "unknown option --max-boddy; did you mean --max-body?");
}

static void test_an_unknown_option_like_nothing_names_none(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "--zzzzzz", "unknown option --zzzzzz");
	assert_refused(f, "-z", "unknown option -z");
	assert_refused(f, "-qz", "unknown option -z");
}

static void test_a_word_behind_one_dash_is_taken_for_a_long_option(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "-colour", "unknown option -colour; did you mean --colour?");
}

static void test_a_missing_value_says_what_is_missing(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "--count", "--count needs a value: a whole number from 1 to 10");
	assert_refused(f, "-n", "-n needs a value: some text");
}

static void test_a_long_value_is_cut_in_the_message(void **state)
{
	struct fixture *f = *state;
	char line[400] = "--count=";

	memset(line + 8, 'x', 300);
	assert_false(parse(f, line));
	assert_true(f->error.len > 0 && f->error.len < 200);
}

/* --- Values --- */

static void assert_number(struct fixture *f, const char *line, const char *name, int64_t expected)
{
	options_init(&f->o, tables, &f->arena);
	assert_true(parse(f, line));
	assert_int_equal(options_int(&f->o, name), expected);
}

static void test_sizes_have_suffixes(void **state)
{
	struct fixture *f = *state;

	assert_number(f, "--max-body 2000", "max-body", 2000);
	assert_number(f, "--max-body 16k", "max-body", 16384);
	assert_number(f, "--max-body 16KiB", "max-body", 16384);
	assert_number(f, "--max-body 8M", "max-body", 8 << 20);
	assert_number(f, "--max-body 1GiB", "max-body", 1 << 30);
	assert_refused(f, "--max-body 8x",
		       "--max-body is \"8x\"; expected a size from 1k to 1g, in bytes or with k, m or g");
}

static void test_durations_have_suffixes_and_count_seconds_without(void **state)
{
	struct fixture *f = *state;

	assert_number(f, "--timeout 5", "timeout", 5000);
	assert_number(f, "--timeout 250ms", "timeout", 250);
	assert_number(f, "--timeout 5s", "timeout", 5000);
	assert_number(f, "--timeout 2m", "timeout", 120000);
	assert_number(f, "--timeout 3h", "timeout", 10800000);
	assert_number(f, "--timeout 1d", "timeout", 86400000);
	assert_refused(f, "--timeout soon",
		       "--timeout is \"soon\"; expected a duration from 1ms to 1d, in seconds or with ms, s, m, h "
		       "or d");
}

static void test_numbers_beyond_their_bounds_are_refused(void **state)
{
	static const char *const bad[] = {
		"--count 0", "--count 11", "--count -1", "--count 1.5", "--count 01", "--count=+3", "--count=",
		"--count 99999999999999999999", "--max-body 1023", "--max-body 2g", "--max-body 99999999999999999g",
		"--max-body k", "--timeout 0", "--timeout 2d", "--timeout ms",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(parse(f, bad[i]));
		assert_non_null(strstr(buf_str(&f->error).p, "; expected a "));
		buf_clear(&f->error);
	}
}

static void test_a_choice_lists_what_there_is(void **state)
{
	struct fixture *f = *state;

	assert_true(parse(f, "--colour blue"));
	assert_string_equal(options_text(&f->o, "colour"), "blue");
	assert_refused(f, "--colour Blue", "--colour is \"Blue\"; expected one of red, green, blue");
}

static void test_a_path_may_begin_at_home(void **state)
{
	struct fixture *f = *state;

	assert_true(parse(f, "--data=~/x"));
	assert_string_equal(options_text(&f->o, "data"), "/home/somebody/x");
	assert_true(parse(f, "--data=./~/x"));
	assert_string_equal(options_text(&f->o, "data"), "./~/x");
	assert_refused(f, "--data=", "--data is \"\"; expected a path");
}

static void test_a_default_path_follows_the_environment(void **state)
{
	struct fixture *f = *state;
	const char *path;

	assert_true(option_expand_path(options[8].fallback, &f->arena, &path));
	assert_string_equal(path, "/home/somebody/.local/share/thing");
	setenv("TEST_XDG", "relative/is/ignored", 1);
	assert_true(option_expand_path(options[8].fallback, &f->arena, &path));
	assert_string_equal(path, "/home/somebody/.local/share/thing");
	setenv("TEST_XDG", "/var/share", 1);
	assert_true(option_expand_path(options[8].fallback, &f->arena, &path));
	assert_string_equal(path, "/var/share/thing");
}

/* --- Precedence --- */

static void test_arguments_go_before_environment_before_file_before_default(void **state)
{
	struct fixture *f = *state;

	setenv("TEST_NAME", "from-env", 1);
	setenv("TEST_COUNT", "5", 1);
	assert_true(parse(f, "--name from-args"));
	assert_true(options_parse_env(&f->o, &f->error));
	assert_true(parse_config(f, "name = from-file\ncount = 6\ncolour = red\n"));
	assert_true(options_apply_defaults(&f->o, &f->error));
	assert_string_equal(options_text(&f->o, "name"), "from-args");
	assert_int_equal(options_int(&f->o, "count"), 5);
	assert_string_equal(options_text(&f->o, "colour"), "red");
	assert_int_equal(options_int(&f->o, "max-body"), 8 << 20);
	assert_true(options_is_given(&f->o, "colour"));
	assert_false(options_is_given(&f->o, "max-body"));
}

static void test_an_empty_variable_counts_as_unset(void **state)
{
	struct fixture *f = *state;

	setenv("TEST_COUNT", "", 1);
	assert_true(options_parse_env(&f->o, &f->error));
	assert_false(options_is_given(&f->o, "count"));
}

static void test_a_bad_variable_is_named(void **state)
{
	struct fixture *f = *state;

	setenv("TEST_COUNT", "many", 1);
	assert_false(options_parse_env(&f->o, &f->error));
	assert_error(f, "the environment variable TEST_COUNT is \"many\"; expected a whole number from 1 to 10");
}

static void test_a_bad_variable_does_not_matter_where_the_argument_is_given(void **state)
{
	struct fixture *f = *state;

	setenv("TEST_COUNT", "many", 1);
	assert_true(parse(f, "--count 2"));
	assert_true(options_parse_env(&f->o, &f->error));
	assert_int_equal(options_int(&f->o, "count"), 2);
}

/* --- Configuration file --- */

static void test_the_file_has_comments_blanks_and_quotes(void **state)
{
	struct fixture *f = *state;

	assert_true(parse_config(f, "# a comment\r\n\r\n  name =  \"a # b \"  # another\r\ndata = /x#y\nquiet = on"));
	assert_string_equal(options_text(&f->o, "name"), "a # b ");
	assert_string_equal(options_text(&f->o, "data"), "/x#y");
	assert_true(options_flag(&f->o, "quiet"));
}

static void test_a_bad_value_names_file_line_and_key(void **state)
{
	struct fixture *f = *state;

	assert_false(parse_config(f, "\n# x\ncount = lots\n"));
	assert_error(f, "/etc/test.conf:3: count is \"lots\"; expected a whole number from 1 to 10");
}

static void test_an_unknown_key_names_the_nearest(void **state)
{
	struct fixture *f = *state;

	assert_false(parse_config(f, "max_bdoy = 8m\n"));
	assert_error(f, "/etc/test.conf:1: unknown key \"max_bdoy\"; did you mean \"max_body\"?");
	assert_false(parse_config(f, "tag = x\n"));
	assert_error(f, "/etc/test.conf:1: unknown key \"tag\"");
}

static void test_a_key_of_another_command_is_checked_and_ignored(void **state)
{
	struct fixture *f = *state;

	assert_true(parse_config(f, "other = 5\n"));
	assert_false(parse_config(f, "other = 50\n"));
	assert_error(f, "/etc/test.conf:1: other is \"50\"; expected a whole number from 1 to 9");
}

static void test_a_key_given_twice_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_false(parse_config(f, "count = 4\n\ncount = 4\n"));
	assert_error(f, "/etc/test.conf:3: count was given already, in line 1");
}

static void test_a_line_without_an_equals_sign_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_false(parse_config(f, "count 4\n"));
	assert_error(f, "/etc/test.conf:1: expected \"key = value\", found \"count 4\"");
	assert_false(parse_config(f, "name = \"open\n"));
	assert_error(f, "/etc/test.conf:1: the value of name has no closing quote");
}

/* --- Suggestions --- */

static const char *suggest(const char *wanted)
{
	struct nearest n;

	nearest_init(&n, str_of(wanted));
	nearest_offer(&n, "store");
	nearest_offer(&n, "restore");
	nearest_offer(&n, "status");
	nearest_offer(&n, "idempotency-key");
	return n.best;
}

static void test_the_nearest_name_is_suggested(void **state)
{
	(void)state;
	assert_string_equal(suggest("stroe"), "store");
	assert_string_equal(suggest("stor"), "store");
	assert_string_equal(suggest("restre"), "restore");
	assert_string_equal(suggest("statsu"), "status");
	assert_string_equal(suggest("idem"), "idempotency-key");
	assert_null(suggest("xyzzy"));
	assert_null(suggest(""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void test_percentages_are_read_to_a_hundredth_of_a_per_cent(void **state)
{
	static const struct option share = {.name = "share", .type = OPTION_PERCENT, .min = 0, .max = 10000};
	static const struct { const char *text; int64_t value; } good[] = {
		{"95%", 9500}, {"95", 9500}, {"0.5%", 50}, {"0.05", 5}, {"99.95%", 9995}, {"100%", 10000}, {"0", 0},
	};
	static const char *const bad[] = {"",     "%",      ".5",  "5.",  "0.123", "-1",
					  "101%", "100.01", "1e2", "5 %", "0.5%%", "a"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct option_value v = {0};

		assert_true(option_parse(&share, str_of(good[i].text), &f->arena, &v, &f->error));
		assert_int_equal(v.number, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct option_value v = {0};

		buf_clear(&f->error);
		assert_false(option_parse(&share, str_of(bad[i]), &f->arena, &v, &f->error));
		assert_string_equal(f->error.data,
				    "a percentage from 0% to 100%, with two digits behind the point at most");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_values_come_attached_or_after),
		TEST(test_a_value_may_be_empty_or_hold_an_equals_sign),
		TEST(test_flags_stand_together_and_the_last_letter_takes_a_value),
		TEST(test_a_flag_can_be_turned_off),
		TEST(test_options_and_arguments_may_be_mixed),
		TEST(test_an_unknown_option_names_the_nearest),
		TEST(test_an_unknown_option_like_nothing_names_none),
		TEST(test_a_word_behind_one_dash_is_taken_for_a_long_option),
		TEST(test_a_missing_value_says_what_is_missing),
		TEST(test_a_long_value_is_cut_in_the_message),
		TEST(test_sizes_have_suffixes),
		TEST(test_durations_have_suffixes_and_count_seconds_without),
		TEST(test_percentages_are_read_to_a_hundredth_of_a_per_cent),
		TEST(test_numbers_beyond_their_bounds_are_refused),
		TEST(test_a_choice_lists_what_there_is),
		TEST(test_a_path_may_begin_at_home),
		TEST(test_a_default_path_follows_the_environment),
		TEST(test_arguments_go_before_environment_before_file_before_default),
		TEST(test_an_empty_variable_counts_as_unset),
		TEST(test_a_bad_variable_is_named),
		TEST(test_a_bad_variable_does_not_matter_where_the_argument_is_given),
		TEST(test_the_file_has_comments_blanks_and_quotes),
		TEST(test_a_bad_value_names_file_line_and_key),
		TEST(test_an_unknown_key_names_the_nearest),
		TEST(test_a_key_of_another_command_is_checked_and_ignored),
		TEST(test_a_key_given_twice_is_refused),
		TEST(test_a_line_without_an_equals_sign_is_refused),
		TEST(test_the_nearest_name_is_suggested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
