/* Members of an object: what is not there is null, times have one form. */
#include "codec/json_member.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void test_what_is_not_there_is_null(void **state)
{
	struct json_writer w;
	struct buf out;

	(void)state;
	buf_init(&out, 4096);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_optional(&w, "a", STR_NULL);
	json_member_optional(&w, "b", STR(""));
	json_member_optional(&w, "c", STR("\"x\""));
	json_member_null(&w, "d");
	json_member_time_optional(&w, "e", 0);
	json_member_time_optional(&w, "f", 1);
	json_end_object(&w);
	assert_string_equal(buf_str(&out).p, "{\"a\":null,\"b\":\"\",\"c\":\"\\\"x\\\"\",\"d\":null,\"e\":null,"
					     "\"f\":\"1970-01-01T00:00:00.001Z\"}");
	buf_release(&out);
}

static void test_a_time_of_zero_is_a_time(void **state)
{
	struct json_writer w;
	struct buf out;

	(void)state;
	buf_init(&out, 4096);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_time(&w, "first", 0);
	json_member_time(&w, "then", 1769774400000);
	json_end_object(&w);
	assert_string_equal(buf_str(&out).p,
			    "{\"first\":\"1970-01-01T00:00:00.000Z\",\"then\":\"2026-01-30T12:00:00.000Z\"}");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_not_there_is_null),
		cmocka_unit_test(test_a_time_of_zero_is_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
