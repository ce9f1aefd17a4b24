/* With which keys a memory was written: numbers, no names. */
#include "core/memory/memory_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t key_of(const char *origin)
{
	struct arena arena;
	uint64_t key;

	arena_init(&arena);
	key = memory_keys_origin(origin ? str_of(origin) : STR_NULL, &arena);
	arena_release(&arena);
	return key;
}

static void the_key_of_an_origin_is_its_own_and_not_one_that_was_claimed(void **state)
{
	(void)state;
	assert_int_equal(key_of("{\"client\":null,\"key\":\"key-7\",\"protocol\":\"http\"}"), 7);
	assert_int_equal(key_of("{\"claimed\":{\"key\":\"key-9\"},\"key\":\"key-12\"}"), 12);
	assert_int_equal(key_of("{\"claimed\":{\"key\":\"key-9\"},\"key\":null}"), 0);
	assert_int_equal(key_of("{\"key\":\"key-\"}"), 0);
	assert_int_equal(key_of("{\"key\":\"key-7x\"}"), 0);
	assert_int_equal(key_of("{\"key\":\"key-99999999999999999999\"}"), 0);
	assert_int_equal(key_of("{\"key\":7}"), 0);
	assert_int_equal(key_of("[\"key-7\"]"), 0);
	assert_int_equal(key_of("{"), 0);
	assert_int_equal(key_of(NULL), 0);
}

static void each_key_is_kept_once_with_its_newest_version(void **state)
{
	struct memory_keys keys = {0};
	struct memory_key one;
	struct arena arena;
	struct str text;

	(void)state;
	arena_init(&arena);
	assert_null(memory_keys_text(&keys, &arena).p);
	for (uint32_t version = 40; version; version--)
		memory_keys_add(&keys, version % 5, version, &arena);
	text = memory_keys_text(&keys, &arena);
	assert_true(str_is(text, "4@39 3@38 2@37 1@36"));
	for (uint64_t key = 4; key; key--) {
		assert_true(memory_keys_next(&text, &one));
		assert_true(one.key == key && one.version == 35 + key);
	}
	assert_false(memory_keys_next(&text, &one));
	assert_false(memory_keys_next(&(struct str){"nonsense 7@", 11}, &one));
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_key_of_an_origin_is_its_own_and_not_one_that_was_claimed),
		cmocka_unit_test(each_key_is_kept_once_with_its_newest_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
