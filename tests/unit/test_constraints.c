/* Constraints: inherited, narrowed, waived, never weakened. */
#include "core/envelope/constraints.h"
#include "core/envelope/constraints_given.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;

static int set_up(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct json *parse(const char *text)
{
	struct json *value = arena_zalloc(&arena, sizeof(*value));
	struct json_error error;

	if (text == NULL)
		return NULL;
	if (!json_parse(str_of(text), 32, &arena, value, &error))
		fail_msg("%s: %s", text, error.detail);
	return value;
}

static const char *written(const struct json *value)
{
	struct json_writer w;
	struct buf out;
	const char *text;

	buf_init(&out, 65536);
	json_writer_init(&w, &out);
	json_put_canonical(&w, value);
	text = arena_cstr(&arena, buf_str(&out));
	buf_release(&out);
	return text;
}

/* Inherits and returns the constraints as canonical JSON, or the code's name. */
static const char *inherit(const char *inherited, const char *given, const char *waive, const char **ret_waived)
{
	struct constraints_input in = {
		.inherited = parse(inherited), .given = parse(given), .waive = parse(waive), .by = STR("bob"), .hop = 3,
	};
	struct constraints made;
	struct problem problem;
	enum problem_code code = constraints_inherit(&in, &arena, &made, &problem);

	if (code != P_OK)
		return problem_kind(code)->name;
	if (ret_waived)
		*ret_waived = written(&made.waived);
	return written(&made.all);
}

static void test_what_was_set_holds_at_later_hops(void **state)
{
	(void)state;
	assert_string_equal(inherit("{\"language\":\"python\",\"x\":null}", NULL, NULL, NULL),
			    "{\"language\":\"python\",\"x\":null}");
	assert_string_equal(inherit("{\"a\":1}", "{\"b\":[1,{}]}", NULL, NULL), "{\"a\":1,\"b\":[1,{}]}");
	assert_string_equal(inherit("{\"a\":1}", "{\"a\":1.0}", NULL, NULL), "{\"a\":1}");
	assert_string_equal(inherit(NULL, "{\"a\":true}", NULL, NULL), "{\"a\":true}");
}

static void test_max_tokens_belongs_to_the_receiver(void **state)
{
	(void)state;
	assert_string_equal(inherit("{\"max_tokens\":4000}", NULL, NULL, NULL), "{}");
	assert_string_equal(inherit("{\"max_tokens\":4000}", "{\"max_tokens\":9000}", NULL, NULL),
			    "{\"max_tokens\":9000}");
}

struct narrowing {
	const char *key;
	const char *before;
	const char *after;
	bool allowed;
};

static void test_narrowing_is_allowed_and_nothing_else(void **state)
{
	static const struct narrowing cases[] = {
		{"max_retries", "3", "2", true}, {"max_retries", "3", "4", false}, {"maxRetries", "3", "2.5", true},
		{"retry_limit", "10", "1", true}, {"min_coverage", "80", "90", true},
		{"min_coverage", "80", "70", false},
		{"at_least", "1", "2", true}, {"retries", "3", "2", false}, {"timeout", "3", "2", false},
		{"do_not", "[\"x\"]", "[\"y\",\"x\"]", true}, {"do_not", "[\"x\",\"y\"]", "[\"x\"]", false},
		{"forbidden_paths", "[]", "[\"/etc\"]", true}, {"allowed_hosts", "[\"a\",\"b\"]", "[\"a\"]", true},
		{"allowed_hosts", "[\"a\"]", "[\"a\",\"b\"]", false}, {"files", "[\"a\"]", "[\"a\",\"b\"]", false},
		{"deadline", "\"2026-01-30T00:00:00Z\"", "\"2026-01-29T00:00:00Z\"", true},
		{"deadline", "\"2026-01-30T00:00:00Z\"", "\"2026-01-31T00:00:00Z\"", false},
		{"deadline", "\"2026-01-30\"", "\"2026-01-29\"", true},
		{"deadline", "\"2026-01-30\"", "\"2026-01-31\"", false},
		{"deadline", "\"2026-01-30\"", "\"2026-01-30T12:00:00Z\"", true},
		{"deadline", "\"2026-01-30T12:00:00Z\"", "\"2026-01-30\"", false},
		{"deadline", "\"2026-01-30\"", "\"2026-02-30\"", false},
		{"deadline", "\"2026-01-30\"", "\"next year.\"", false},
		{"security", "\"no plaintext credentials\"", "\"none\"", false}, {"security", "true", "false", false},
		{"max_retries", "3", "\"2\"", false}, {"max_retries", "3", "null", false},
		{"language", "\"python\"", "\"Python\"", false},
		{"maximum", "{\"a\":1}", "{\"a\":0}", false}, {"mindset", "1", "2", false},
		{"maximal", "2", "1", false},
		/* A count below nothing is no count. */
		{"max_retries", "3", "0", true}, {"max_retries", "3", "-1", false}, {"max_retries", "0", "-0.5", false},
		{"max_celsius", "-5", "-10", true}, {"max_celsius", "-5", "-1", false},
		/* What says both says neither. */
		{"min_budget", "100", "10", false}, {"min_budget", "100", "200", false},
		{"not_before", "\"2026-01-30\"", "\"2026-01-29\"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool allowed = constraints_narrows(str_of(cases[i].key), parse(cases[i].before), parse(cases[i].after));

		if (allowed != cases[i].allowed)
			fail_msg("%s: %s -> %s is %s", cases[i].key, cases[i].before, cases[i].after,
				 allowed ? "allowed" : "refused");
	}
	assert_string_equal(inherit("{\"max_retries\":3}", "{\"max_retries\":2}", NULL, NULL), "{\"max_retries\":2}");
	assert_string_equal(inherit("{\"max_retries\":3}", "{\"max_retries\":4}", NULL, NULL), "constraint_conflict");
}

static void test_a_waiver_is_by_name_with_a_reason_and_kept(void **state)
{
	const char *waived = NULL;

	(void)state;
	assert_string_equal(inherit("{\"a\":1,\"b\":2}", NULL, "[{\"key\":\"a\",\"reason\":\"legal said so\"}]",
				    &waived), "{\"b\":2}");
	assert_string_equal(waived, "[{\"at_hop\":3,\"by\":\"bob\",\"key\":\"a\",\"reason\":\"legal said "
			    "so\",\"value\":1}]");
	assert_string_equal(inherit("{\"a\":1}", NULL, "[{\"key\":\"a\"}]", NULL), "missing_field");
	assert_string_equal(inherit("{\"a\":1}", NULL, "[{\"key\":\"a\",\"reason\":\"  \"}]", NULL), "missing_field");
	assert_string_equal(inherit("{\"a\":1}", NULL, "[{\"key\":\"b\",\"reason\":\"r\"}]", NULL), "invalid_field");
	/* A waived key may be set anew. */
	assert_string_equal(inherit("{\"a\":1}", "{\"a\":9}", "[{\"key\":\"a\",\"reason\":\"r\"}]", NULL), "{\"a\":9}");
}

/* --- Keys that look alike --- */

static void test_a_key_that_can_be_taken_for_another_does_not_stand_beside_it(void **state)
{
	static const char *const alike[] = {
		"PUBLIC_API", "Public_Api", "public_api ", " public_api", "public\\u200b_api", "public_api\\ufeff",
		"p\\u00adublic_api", "\\uff50ublic_api", "\\u0440ublic_api", "publi\\u0441_\\u0430\\u0440\\u0456",
		"PUBLIC_\\u0391PI", "public_api\\u00a0", "public_api\\u3164", "public_api\\u2800",
		"publi\\u0307c_api", "publ\\u0131c_api", "PUBL\\u0130C_API",
	};
	static const char *const apart[] = {"public_apis", "public api", "publ\\u00edc_api", "\\u043f\\u0443\\u0431",
					     "no_public_api"};

	(void)state;
	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		struct str given = arena_printf(&arena, "{\"%s\":9}", alike[i]);
		struct str both = arena_printf(&arena, "{\"public_api\":1,\"%s\":9}", alike[i]);

		assert_string_equal(inherit("{\"public_api\":1}", given.p, NULL, NULL), "constraint_conflict");
		assert_string_equal(inherit(NULL, both.p, NULL, NULL), "constraint_conflict");
		/* Not even with the same value: the reader would see two. */
		given = arena_printf(&arena, "{\"%s\":1}", alike[i]);
		assert_string_equal(inherit("{\"public_api\":1}", given.p, NULL, NULL), "constraint_conflict");
	}
	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		struct str given = arena_printf(&arena, "{\"%s\":9}", apart[i]);

		assert_string_not_equal(inherit("{\"public_api\":1}", given.p, NULL, NULL), "constraint_conflict");
	}
	/* A store from before may hold two that look alike: each goes on under its own spelling. */
	assert_string_equal(inherit("{\"A\":1,\"a\":2}", "{\"a\":2}", NULL, NULL), "{\"A\":1,\"a\":2}");
}

static void test_a_key_can_be_read(void **state)
{
	static const char *const unreadable[] = {"a\\u0000b", "a\\nb", "\\u0007", "a\\u007f", "a\\u0085b", " "
		"", "\\u200b", "\\u2800"};

	(void)state;
	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++) {
		struct str given = arena_printf(&arena, "{\"%s\":1}", unreadable[i]);

		assert_string_equal(inherit(NULL, given.p, NULL, NULL), "invalid_field");
	}
}

static void test_a_reason_says_something(void **state)
{
	static const char *const blank[] = {"", "  ", "\\u200b\\u200b", "\\u00a0", "\\u3164", "\\n\\t", "\\u2800 "
		"\\u00ad"};

	(void)state;
	for (size_t i = 0; i < sizeof(blank) / sizeof(blank[0]); i++) {
		struct str waive = arena_printf(&arena, "[{\"key\":\"a\",\"reason\":\"%s\"}]", blank[i]);

		assert_string_equal(inherit("{\"a\":1}", NULL, waive.p, NULL), "missing_field");
	}
}

/* --- Locks --- */

static enum problem_code make(const struct constraints_input *in, struct constraints *ret)
{
	struct problem problem = {0};

	return constraints_inherit(in, &arena, ret, &problem);
}

static void test_what_is_locked_is_narrowed_but_not_waived(void **state)
{
	struct constraints_input in = {
		.inherited = parse("{\"max_retries\":3,\"style\":\"terse\"}"), .locked = parse("[\"max_retries\"]"),
		.by = STR("bob"), .hop = 2, .task = STR("t"),
	};
	struct constraints made;

	(void)state;
	in.waive = parse("[{\"key\":\"max_retries\",\"reason\":\"in the way\"}]");
	assert_int_equal(make(&in, &made), P_CONSTRAINT_LOCKED);
	in.waive = parse("[{\"key\":\"style\",\"reason\":\"in the way\"}]");
	in.given = parse("{\"max_retries\":2}");
	assert_int_equal(make(&in, &made), P_OK);
	assert_string_equal(written(&made.all), "{\"max_retries\":2}");
	assert_string_equal(written(&made.locked), "[\"max_retries\"]");
}

static void test_a_hop_the_policy_and_the_guard_lock(void **state)
{
	struct constraints_input in = {
		.given = parse("{\"b\":1,\"a\":1,\"Region\":\"eu\",\"security\":\"no plaintext "
			"credentials\",\"max_tokens\":9}"),
		.lock = parse("[\"b\"]"), .policy = parse("[\"region\"]"), .by = STR("bob"), .hop = 1,
	};
	struct constraints made, next;

	(void)state;
	assert_int_equal(make(&in, &made), P_OK);
	assert_string_equal(written(&made.locked), "[\"Region\",\"b\",\"security\"]");
	in = (struct constraints_input){
		.inherited = &made.all, .waived = &made.waived, .locked = &made.locked, .hop = 2,
	};
	assert_int_equal(make(&in, &next), P_OK);
	assert_string_equal(written(&next.locked), written(&made.locked));
	in.lock = parse("[\"c\"]");
	assert_int_equal(make(&in, &next), P_INVALID_FIELD);
	in.lock = parse("[\"max_tokens\"]");
	assert_int_equal(make(&in, &next), P_INVALID_FIELD);
	/* What the guard does not go by is anybody's. */
	in = (struct constraints_input){
		.inherited = parse("{\"security\":\"be careful\"}"), .hop = 2,
		.waive = parse("[{\"key\":\"security\",\"reason\":\"done\"}]"),
	};
	assert_int_equal(make(&in, &next), P_OK);
	in.inherited = parse("{\"Credentials\":\"refuse\"}");
	in.waive = parse("[{\"key\":\"Credentials\",\"reason\":\"done\"}]");
	assert_int_equal(make(&in, &next), P_CONSTRAINT_LOCKED);
}

static void test_what_a_person_waived_goes_once(void **state)
{
	static const struct constraints_waiver standing[] = {
		{4, STR("a"), STR("kim"), STR("first"), false}, {7, STR("a"), STR("kim"), STR("legal said so"), false},
	};
	const struct constraints_waiver checked = {8, STR("b"), STR("ops"), STR("known by a key"), true};
	struct constraints_input in = {
		.inherited = parse("{\"a\":1,\"b\":2}"), .locked = parse("[\"a\"]"), .standing = standing,
		.standing_count = 2, .hop = 3, .by = STR("bob"),
		/* An agent hands on all that it got, and has tried to waive it itself. */
		.given = parse("{\"a\":1}"), .lock = parse("[\"a\"]"),
		.waive = parse("[{\"key\":\"a\",\"reason\":\"in the way\"}]"),
	};
	struct constraints made, next;

	(void)state;
	assert_int_equal(make(&in, &made), P_OK);
	assert_string_equal(written(&made.all), "{\"b\":2}");
	assert_string_equal(written(&made.locked), "[]");
	assert_string_equal(written(&made.waived), "[{\"at_hop\":3,\"by\":\"kim\",\"key\":\"a\",\"reason\":\"legal "
			    "said so\",\"unauthenticated\":true,\"value\":1,\"waiver\":7}]");
	/* Who sets it anew has set it. */
	in = (struct constraints_input){
		.inherited = &made.all, .waived = &made.waived, .given = parse("{\"a\":5}"), .standing = standing,
		.standing_count = 2, .hop = 4,
	};
	assert_int_equal(make(&in, &next), P_OK);
	in = (struct constraints_input){
		.inherited = &next.all, .waived = &next.waived, .standing = standing, .standing_count = 2, .hop = 5,
	};
	assert_int_equal(make(&in, &made), P_OK);
	assert_string_equal(written(&made.all), "{\"a\":5,\"b\":2}");
	/* Who was known by their key is not called unauthenticated. */
	in = (struct constraints_input){.inherited = parse("{\"b\":2}"), .standing = &checked, .standing_count = 1,
					.hop = 3};
	assert_int_equal(make(&in, &made), P_OK);
	assert_string_equal(written(&made.waived), "[{\"at_hop\":3,\"by\":\"ops\",\"key\":\"b\",\"reason\":\"known "
			    "by a key\",\"value\":2,\"waiver\":8}]");
}

static void test_a_conflict_names_the_key_and_both_values(void **state)
{
	struct constraints_input in = {
		.inherited = parse("{\"language\":\"python\"}"), .given = parse("{\"language\":\"go\"}"),
		.by = STR("bob"), .hop = 2,
	};
	struct constraints made;
	struct problem problem;

	(void)state;
	assert_int_equal(constraints_inherit(&in, &arena, &made, &problem), P_CONSTRAINT_CONFLICT);
	assert_string_equal(problem.field, "constraints.language");
	assert_non_null(strstr(problem.detail, "\"python\""));
	assert_non_null(strstr(problem.detail, "\"go\""));
}

/* --- Much --- */

/* Far more than it takes, and far less than comparing each with each would. */
enum { MANY = 200000, SECONDS_AT_MOST = 20 };

static void test_more_constraints_than_allowed_are_refused_before_they_are_compared(void **state)
{
	struct json given = {.type = JSON_OBJECT, .count = MANY};
	struct constraints_input in = {.given = &given, .hop = 1};
	struct constraints made;
	struct problem problem;

	(void)state;
	given.members = arena_calloc(&arena, MANY, sizeof(*given.members));
	for (uint32_t i = 0; i < MANY; i++)
		given.members[i].key = arena_printf(&arena, "key %u", i);
	alarm(SECONDS_AT_MOST);
	assert_int_equal(constraints_inherit(&in, &arena, &made, &problem), P_TOO_LARGE);
	alarm(0);
	assert_non_null(strstr(problem.detail, "200000"));
}

static void test_long_lists_are_narrowed_in_no_time(void **state)
{
	struct json before = {.type = JSON_ARRAY, .count = MANY}, next = {.type = JSON_ARRAY, .count = MANY + 1};

	(void)state;
	next.items = arena_calloc(&arena, MANY + 1, sizeof(*next.items));
	before.items = arena_calloc(&arena, MANY, sizeof(*before.items));
	for (uint32_t i = 0; i < MANY; i++)
		before.items[i] = next.items[MANY - i] = (struct json){.type = JSON_INT, .i = i};
	next.items[0] = (struct json){.type = JSON_INT, .i = MANY};
	alarm(SECONDS_AT_MOST);
	assert_true(constraints_narrows(STR("do_not"), &before, &next));
	assert_false(constraints_narrows(STR("do_not"), &next, &before));
	assert_true(constraints_narrows(STR("allowed"), &next, &before));
	alarm(0);
}

/* --- What was given further down --- */

static const struct envelope *hop(uint64_t num, const char *from, const char *constraints, const char *locked)
{
	struct envelope *e = arena_zalloc(&arena, sizeof(*e));

	e->num = num;
	e->from = str_of(from);
	e->constraints = *parse(constraints);
	if (locked)
		e->locked = *parse(locked);
	return e;
}

/* What "me" inherits with these lines behind the envelope; or the code's name. */
static const char *given(const struct envelope *before, const struct given_line *lines, size_t count,
			 const char *waive, const char **ret_locked)
{
	static const struct str me[] = {{"me", 2}};
	struct given_input in = {.before = before, .lines = lines, .line_count = count, .senders = me,
				 .sender_count = 1, .waive = parse(waive)};
	struct given_constraints made;
	struct problem problem;
	enum problem_code code = constraints_given(&in, &arena, &made, &problem);

	if (code != P_OK)
		return problem_kind(code)->name;
	*ret_locked = written(&made.locked);
	return written(&made.constraints);
}

static void what_others_set_behind_the_parent_holds_and_ones_own_does_not(void **state)
{
	const struct envelope *before = hop(1, "boss", "{\"max_a\":9,\"b\":1,\"max_tokens\":500}", "[\"b\"]");
	/* From what was given up to the child of the parent. */
	const struct envelope *line[] = {
		hop(4, "other", "{\"max_a\":3,\"b\":1,\"mine\":1,\"theirs\":2,\"max_tokens\":99}", "[\"b\",\"max_a\"]"),
		hop(3, "me", "{\"max_a\":5,\"b\":1,\"mine\":1}", "[\"b\"]"),
	};
	const struct given_line lines[] = {{line, 2}};
	const char *locked;

	(void)state;
	assert_string_equal(given(before, lines, 1, NULL, &locked),
			    "{\"b\":1,\"max_a\":3,\"max_tokens\":500,\"theirs\":2}");
	assert_string_equal(locked, "[\"b\",\"max_a\"]");
}

static void of_two_lines_the_narrower_holds_and_a_contradiction_is_refused(void **state)
{
	const struct envelope *before = hop(1, "boss", "{\"waived\":\"x\"}", NULL);
	const struct envelope *one[] = {hop(3, "one", "{\"max_a\":3,\"lang\":\"go\",\"waived\":\"anew\"}", NULL)};
	const struct envelope *two[] = {hop(2, "two", "{\"max_a\":2}", NULL)};
	const struct envelope *three[] = {hop(4, "two", "{\"lang\":\"c\"}", NULL)};
	const struct given_line lines[] = {{one, 1}, {two, 1}, {three, 1}};
	const char *locked;

	(void)state;
	/* What was waived there and set anew stays here what it was. */
	assert_string_equal(given(before, lines, 2, NULL, &locked), "{\"lang\":\"go\",\"max_a\":2,\"waived\":\"x\"}");
	assert_string_equal(given(before, lines, 3, NULL, &locked), "constraint_conflict");
	assert_string_equal(given(before, lines, 3, "[{\"key\":\"lang\"}]", &locked),
			    "{\"lang\":\"go\",\"max_a\":2,\"waived\":\"x\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_set_holds_at_later_hops, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_max_tokens_belongs_to_the_receiver, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_narrowing_is_allowed_and_nothing_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_waiver_is_by_name_with_a_reason_and_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_key_that_can_be_taken_for_another_does_not_stand_beside_it,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_key_can_be_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_reason_says_something, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_locked_is_narrowed_but_not_waived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_hop_the_policy_and_the_guard_lock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_a_person_waived_goes_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_conflict_names_the_key_and_both_values, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_more_constraints_than_allowed_are_refused_before_they_are_compared,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_lists_are_narrowed_in_no_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_others_set_behind_the_parent_holds_and_ones_own_does_not, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(of_two_lines_the_narrower_holds_and_a_contradiction_is_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
