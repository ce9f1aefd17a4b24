/* core/problem.h: the list of all problems, and the sentences that go with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/problem.h"

#include <stdio.h>

static const enum problem_code all[] = {
#define EACH(code, name, status, retryable) P_##code,
	PROBLEMS(EACH)
#undef EACH
};
enum { COUNT = sizeof(all) / sizeof(all[0]) };

static void every_problem_has_a_name_of_its_own_and_a_status_of_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		const struct problem_kind *kind = problem_kind(all[i]);

		assert_true(kind->status >= 400 && kind->status < 600);
		for (const char *c = kind->name; *c; c++)
			assert_true((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_');
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(kind->name, problem_kind(all[j])->name);
	}
}

/* Programs rely on these: a code never changes its meaning. */
static void the_codes_of_the_protocol_have_the_status_it_says(void **state)
{
	static const struct {
		const char *name;
		int status;
		bool retryable;
	} promised[] = {
		{"invalid_json", 400, false}, {"invalid_utf8", 400, false}, {"duplicate_key", 400, false},
		{"too_deep", 400, false},
		{"number_out_of_range", 400, false}, {"invalid_request", 400, false},
		{"invalid_page_token", 400, false},
		{"unauthorized", 401, false}, {"forbidden", 403, false},
		{"origin_not_allowed", 403, false}, {"not_found", 404, false}, {"memory_not_found", 404, false},
		{"method_not_allowed", 405, false},
		{"id_taken", 409, false}, {"already_superseded", 409, false}, {"memory_forgotten", 409, false},
		{"precondition_failed", 412, false},
		{"unsupported_media_type", 415, false}, {"host_not_allowed", 421, false}, {"missing_field", 422, false},
		{"invalid_field", 422, false},
		{"immutable_field", 422, false}, {"too_large", 422, false}, {"unknown_tokenizer", 422, false},
		{"idempotency_conflict", 422, false},
		{"overloaded", 503, true}, {"store_failed", 503, false}, {"store_full", 507, true},
		{"store_busy", 503, true},
	};

	(void)state;
	for (size_t p = 0; p < sizeof(promised) / sizeof(promised[0]); p++) {
		const struct problem_kind *found = NULL;

		for (size_t i = 0; i < COUNT; i++)
			if (strcmp(problem_kind(all[i])->name, promised[p].name) == 0)
				found = problem_kind(all[i]);
		if (found == NULL)
			fail_msg("%s is gone", promised[p].name);
		assert_int_equal(found->status, promised[p].status);
		assert_int_equal(found->retryable, promised[p].retryable);
	}
}

static void setting_a_problem_fills_it_anew_and_returns_its_code(void **state)
{
	struct problem p;

	(void)state;
	memset(&p, 0xff, sizeof(p));
	assert_int_equal(problem_set(&p, P_INVALID_FIELD, "tags", "%s has %d", "tags", 7), P_INVALID_FIELD);
	assert_int_equal(p.code, P_INVALID_FIELD);
	assert_string_equal(p.field, "tags");
	assert_string_equal(p.detail, "tags has 7");
	assert_int_equal(p.retry_after_ms, 0);
	assert_null(p.extra_key);
	assert_int_equal(problem_set(&p, P_NOT_FOUND, NULL, "nothing"), P_NOT_FOUND);
	assert_string_equal(p.field, "");
}

static void a_list_and_a_place_are_put_before_the_field(void **state)
{
	struct problem p;

	(void)state;
	problem_set(&p, P_INVALID_FIELD, "content", "x");
	problem_prefix(&p, "memories", 3);
	assert_string_equal(p.field, "memories[3].content");
	problem_set(&p, P_INVALID_FIELD, NULL, "x");
	problem_prefix(&p, "ids", 0);
	assert_string_equal(p.field, "ids[0]");
}

/* What is quoted comes from outside and is cut anywhere. */
static void sentences_are_text_whatever_they_quote(void **state)
{
	char quoted[2048], field[1024];
	struct problem p;

	(void)state;
	for (size_t cut = 1; cut < 600; cut++) {
		for (size_t i = 0; i < sizeof(quoted) - 1; i++)
			quoted[i] = "\xf0\x9f\x98\x80"[i % 4];
		quoted[sizeof(quoted) - 1] = '\0';
		memcpy(field, quoted, sizeof(field) - 1);
		field[sizeof(field) - 1] = '\0';
		problem_set(&p, P_INVALID_FIELD, field, "\"%.*s\"; expected something else", (int)cut, quoted);
		assert_true(str_is_utf8(str_of(p.detail)));
		assert_true(str_is_utf8(str_of(p.field)));
		if (cut < 400)
			assert_non_null(strstr(p.detail, "expected something else"));
		problem_prefix(&p, "memories", cut);
		assert_true(str_is_utf8(str_of(p.field)));
	}
}

static void a_store_that_is_full_busy_or_failed_is_told_apart_from_a_refusal(void **state)
{
	struct problem p;

	(void)state;
	assert_int_equal(problem_of_store(&p, STORE_FULL), P_STORE_FULL);
	assert_int_equal(problem_store_status(P_STORE_FULL), STORE_FULL);
	assert_int_equal(problem_of_store(&p, STORE_BUSY), P_STORE_BUSY);
	assert_int_equal(problem_store_status(P_STORE_BUSY), STORE_BUSY);
	assert_true(p.retry_after_ms > 0);
	assert_int_equal(problem_of_store(&p, STORE_FAILED), P_STORE_FAILED);
	assert_int_equal(problem_store_status(P_STORE_FAILED), STORE_FAILED);
	for (size_t i = 0; i < COUNT; i++)
		if (all[i] != P_STORE_FULL && all[i] != P_STORE_BUSY && all[i] != P_STORE_FAILED &&
		    all[i] != P_INTERNAL)
			assert_int_equal(problem_store_status(all[i]), STORE_OK);
	assert_int_equal(problem_store_status(P_OK), STORE_OK);
}

/* It is undone, and nobody else notices: only STORE_FAILED stops the writer. */
static void an_answer_of_the_store_that_nobody_expected_is_no_failure_of_the_store(void **state)
{
	static const enum store_status answers[] = {STORE_NOT_FOUND, STORE_EXISTS, STORE_REFUSED};
	struct problem p;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		assert_true(store_is_answer(answers[i]));
		assert_int_equal(problem_of_store(&p, answers[i]), P_INTERNAL);
		assert_int_equal(problem_kind(p.code)->status, 500);
		assert_int_equal(problem_store_status(p.code), STORE_REFUSED);
	}
	assert_false(store_is_answer(STORE_OK) || store_is_answer(STORE_FULL) || store_is_answer(STORE_BUSY) ||
		     store_is_answer(STORE_FAILED));
}

int main(void)
{
	const struct CMUnitTest problem[] = {
		cmocka_unit_test(every_problem_has_a_name_of_its_own_and_a_status_of_an_error),
		cmocka_unit_test(the_codes_of_the_protocol_have_the_status_it_says),
		cmocka_unit_test(setting_a_problem_fills_it_anew_and_returns_its_code),
		cmocka_unit_test(a_list_and_a_place_are_put_before_the_field),
		cmocka_unit_test(sentences_are_text_whatever_they_quote),
		cmocka_unit_test(a_store_that_is_full_busy_or_failed_is_told_apart_from_a_refusal),
		cmocka_unit_test(an_answer_of_the_store_that_nobody_expected_is_no_failure_of_the_store),
	};

	return cmocka_run_group_tests(problem, NULL, NULL);
}
