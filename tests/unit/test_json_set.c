/* Sets of JSON values: what is in one is what json_equal finds in the list, however long the list is. */
#include "codec/json_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Far more than it takes, and far less than comparing each with each would. */
enum { MANY = 300000, SECONDS_AT_MOST = 20 };

static const char *const VALUES[] = {
	"null", "true", "false", "0", "-0.0", "1", "1.0", "1e0", "-1", "0.5", "1e300", "\"\"", "\"1\"", "\"a\"",
	"\"A\"",
	"\"a\\u0000\"", "[]", "{}", "[[]]", "[{}]", "[1]", "[1.0]", "[1,2]", "[2,1]", "[1,[2]]", "[[1],2]", "{\"a\":1}",
	"{\"a\":1.0}", "{\"b\":1}", "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "{\"a\":2,\"b\":1}", "{\"a\":{\"b\":1}}",
	"{\"a\":{},\"b\":{}}", "{\"a\":[]}", "{\"a\":null}",
};

enum { VALUE_COUNT = sizeof(VALUES) / sizeof(VALUES[0]) };

static struct json parse(const char *text, struct arena *arena)
{
	struct json value;
	struct json_error error;

	if (!json_parse(str_of(text), 32, arena, &value, &error))
		fail_msg("%s: %s", text, error.detail);
	return value;
}

static void test_equal_values_are_found_and_others_are_not(void **state)
{
	struct json values[VALUE_COUNT];
	struct arena arena;
	struct json_set set;

	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < VALUE_COUNT; i++)
		values[i] = parse(VALUES[i], &arena);
	for (uint32_t from = 0; from < VALUE_COUNT; from++)
		for (uint32_t count = 0; from + count <= VALUE_COUNT; count++) {
			struct json list = {.type = JSON_ARRAY, .count = count, .items = values + from};

			json_set_init(&set, &list);
			for (size_t i = 0; i < VALUE_COUNT; i++) {
				bool expected = false;

				for (uint32_t k = 0; k < count; k++)
					expected = expected || json_equal(&values[from + k], &values[i]);
				if (json_set_has(&set, &values[i]) != expected)
					fail_msg("%s among %u from %s", VALUES[i], count, VALUES[from]);
			}
			json_set_release(&set);
		}
	arena_release(&arena);
}

static void test_equal_values_have_the_same_hash(void **state)
{
	struct json values[VALUE_COUNT];
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < VALUE_COUNT; i++)
		values[i] = parse(VALUES[i], &arena);
	for (uint64_t seed = 0; seed < 100; seed++)
		for (size_t i = 0; i < VALUE_COUNT; i++)
			for (size_t k = 0; k < VALUE_COUNT; k++)
				if ((json_hash(&values[i], seed) == json_hash(&values[k], seed)) !=
				    json_equal(&values[i], &values[k]))
					fail_msg("%s and %s", VALUES[i], VALUES[k]);
	arena_release(&arena);
}

static void test_long_lists_are_looked_through_in_no_time(void **state)
{
	struct json list = {.type = JSON_ARRAY, .count = MANY};
	struct json_set set;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	list.items = arena_calloc(&arena, MANY, sizeof(*list.items));
	for (uint32_t i = 0; i < MANY; i++)
		list.items[i] = (struct json){.type = JSON_INT, .i = (int64_t)i * 1024};
	alarm(SECONDS_AT_MOST);
	json_set_init(&set, &list);
	for (uint32_t i = 0; i < MANY; i++) {
		struct json other = {.type = JSON_DOUBLE, .d = (double)i * 1024 + 1};

		assert_true(json_set_has(&set, &list.items[i]));
		assert_false(json_set_has(&set, &other));
	}
	json_set_release(&set);
	alarm(0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_values_are_found_and_others_are_not),
		cmocka_unit_test(test_equal_values_have_the_same_hash),
		cmocka_unit_test(test_long_lists_are_looked_through_in_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
