/* engine/spaces.h: the names of spaces, and the numbers that are remembered for them. */
#include "temp_store.h"

#include "engine/spaces.h"

#include <malloc.h>

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

/* Which of them are gone is known whatever the order in which they went. */
static void those_that_were_removed_are_gone_and_their_neighbours_are_not(void **state)
{
	enum { MANY = 1000, STEP = 389 };	/* no factor in common: each is met once */
	struct spaces *s = spaces_new();
	bool gone[MANY + 2] = {false};
	char name[32];

	(void)state;
	for (int i = 0, id = 1; i < MANY; i++, id = (id + STEP - 1) % MANY + 1) {
		snprintf(name, sizeof(name), "space-%d", id);
		spaces_remember(s, str_of(name), id);
		spaces_forget(s, str_of(name), id);
		spaces_forget(s, str_of(name), id);
		gone[id] = true;
		for (int k = 0; k <= MANY + 1; k++)
			assert_int_equal(spaces_is_gone(s, k), gone[k]);
	}
	for (int id = 1; id <= MANY; id++)
		assert_true(gone[id]);
	spaces_free(s);
}

/* The heap in use after so many have come and gone beside one that stays. A sanitizer's allocator says 0. */
static size_t bytes_after(struct spaces *s, int from, int to)
{
	char name[32];
	int64_t id;

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "space-%d", i);
		spaces_remember(s, str_of(name), i);
		spaces_forget(s, str_of(name), i);
	}
	must(spaces_find(s, NULL, STR("stays"), &id));
	assert_int_equal(id, 1);
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void names_that_come_and_go_take_no_room(void **state)
{
	struct spaces *s = spaces_new();
	size_t before, after;

	(void)state;
	spaces_remember(s, STR("stays"), 1);
	before = bytes_after(s, 2, 1000);
	after = bytes_after(s, 1000, 21000);
	assert_in_range(after > before ? after - before : 0, 0, 1000);
	spaces_free(s);
}

int main(void)
{
	const struct CMUnitTest spaces[] = {
		cmocka_unit_test(names_are_checked),
		with_store(a_space_is_found_in_the_store_and_then_remembered),
		with_store(a_space_that_was_rolled_back_is_not_remembered),
		cmocka_unit_test(thousands_of_spaces_are_told_apart),
		cmocka_unit_test(those_that_were_removed_are_gone_and_their_neighbours_are_not),
		cmocka_unit_test(names_that_come_and_go_take_no_room),
	};

	return cmocka_run_group_tests(spaces, NULL, NULL);
}
