/* engine/spaces.h: the names of spaces, and the numbers that are remembered for them. */
#include "temp_store.h"

#include "engine/spaces.h"

static void names_are_checked(void **state)
{
	static const char *const good[] = {"a", "0", "default", "a-b_c", "9-", "a__",
					   "0123456789012345678901234567890123456789012345678901234567890123"};
	static const char *const bad[] = {
		"", "A", "-a", "_a", "a b", "a.b", "a/b", "ä", "a\n", "a\x7f", "defaulT",
		"01234567890123456789012345678901234567890123456789012345678901234",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(space_name_is_valid(str_of(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(space_name_is_valid(str_of(bad[i])));
	assert_false(space_name_is_valid((struct str){"a\0", 2}));
}

static void a_space_is_found_in_the_store_and_then_remembered(void **state)
{
	struct temp_store *t = *state;
	struct spaces *s = spaces_new();
	struct store_conn *reader = temp_store_open(t, STORE_READ);
	int64_t id = 77;

	assert_int_equal(spaces_find(s, reader, STR("other"), &id), STORE_NOT_FOUND);
	assert_int_equal(id, 77);
	must(spaces_find(s, reader, STR("default"), &id));
	assert_int_equal(id, t->space);
	/* Not from the store any more: another one would not know the name. */
	must(spaces_find(s, NULL, STR("default"), &id));
	assert_int_equal(id, t->space);
	store_close(reader);
	spaces_free(s);
}

static void a_space_that_was_rolled_back_is_not_remembered(void **state)
{
	struct temp_store *t = *state;
	struct spaces *s = spaces_new();
	int64_t id = 0, found = 0;

	must(store_begin(t->c));
	must(store_space_create(t->c, STR("new"), T0, &id));
	must(spaces_find(s, t->c, STR("new"), &found));
	assert_int_equal(found, id);
	store_rollback(t->c);
	assert_int_equal(spaces_find(s, t->c, STR("new"), &found), STORE_NOT_FOUND);
	spaces_free(s);
}

static void thousands_of_spaces_are_told_apart(void **state)
{
	struct spaces *s = spaces_new();
	char name[32];
	int64_t id;

	(void)state;
	for (int i = 1; i <= 5000; i++) {
		snprintf(name, sizeof(name), "space-%d", i);
		spaces_remember(s, str_of(name), i);
		spaces_remember(s, str_of(name), i);
	}
	for (int i = 1; i <= 5000; i++) {
		snprintf(name, sizeof(name), "space-%d", i);
		must(spaces_find(s, NULL, str_of(name), &id));
		assert_int_equal(id, i);
	}
	spaces_free(s);
}

int main(void)
{
	const struct CMUnitTest spaces[] = {
		cmocka_unit_test(names_are_checked),
		with_store(a_space_is_found_in_the_store_and_then_remembered),
		with_store(a_space_that_was_rolled_back_is_not_remembered),
		cmocka_unit_test(thousands_of_spaces_are_told_apart),
	};

	return cmocka_run_group_tests(spaces, NULL, NULL);
}
