/* What stays of who wrote a memory that is forgotten. */
#include "conformance.h"

static struct memory get(struct temp_store *t, uint64_t num)
{
	struct memory m;

	must(store_memory_get(t->c, t->space, num, 0, &t->arena, &m));
	return m;
}

static void keys_stay_with_what_is_forgotten_until_they_are_taken(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "one");

	must(store_begin(t->c));
	assert_int_equal(store_memory_set_keys(t->c, t->space, num, STR("7@1")), STORE_NOT_FOUND);
	assert_int_equal(store_memory_set_keys(t->c, t->space, num + 1, STR("7@1")), STORE_NOT_FOUND);
	assert_null(get(t, num).keys.p);
	must(store_memory_forget(t->c, t->space, num, T0));
	assert_null(get(t, num).keys.p);
	must(store_memory_set_keys(t->c, t->space, num, STR("9@3 7@2")));
	assert_str(get(t, num).keys, "9@3 7@2");
	store_rollback(t->c);
	assert_int_equal(get(t, num).forgotten_at_ms, 0);
	assert_null(get(t, num).keys.p);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0));
	must(store_memory_set_keys(t->c, t->space, num, STR("9@3 7@2")));
	must(store_commit(t->c));
	assert_str(get(t, num).keys, "9@3 7@2");
	conformance_reopen(t);
	assert_str(get(t, num).keys, "9@3 7@2");
	must(store_begin(t->c));
	must(store_memory_set_keys(t->c, t->space, num, STR_NULL));
	must(store_commit(t->c));
	assert_null(get(t, num).keys.p);
	conformance_reopen(t);
	assert_null(get(t, num).keys.p);
	conformance_check(t);
}

static void what_is_forgotten_and_has_keys_stands_among_the_others_in_order(void **state)
{
	struct temp_store *t = *state;
	uint64_t first = temp_insert(t, t->space, "one"), second = temp_insert(t, t->space, "two"),
		 third = temp_insert(t, t->space, "three");
	struct memory list[4];
	size_t n = 99;

	temp_insert(t, temp_space(t, "other"), "theirs");
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, first, T0));
	must(store_memory_forget(t->c, t->space, second, T0));
	must(store_memory_set_keys(t->c, t->space, second, STR("7@1")));
	must(store_commit(t->c));
	must(store_memories_traced(t->c, t->space, 0, 4, &t->arena, list, &n));
	assert_int_equal(n, 2);
	assert_true(list[0].num == second && list[0].forgotten_at_ms == T0 && list[0].version == 1);
	assert_str(list[0].keys, "7@1");
	assert_null(list[0].content.p);
	assert_true(list[1].num == third && list[1].keys.p == NULL);
	assert_str(list[1].content, "three");
	must(store_memories_traced(t->c, t->space, second, 4, &t->arena, list, &n));
	assert_true(n == 1 && list[0].num == third);
	must(store_memories_traced(t->c, t->space, 0, 1, &t->arena, list, &n));
	assert_true(n == 1 && list[0].num == second);
	must(store_memory_scan(t->c, t->space, 0, 4, &t->arena, list, &n));
	assert_true(n == 1 && list[0].num == third);
}

static const struct CMUnitTest forgotten[] = {
	with_engine(keys_stay_with_what_is_forgotten_until_they_are_taken),
	with_engine(what_is_forgotten_and_has_keys_stands_among_the_others_in_order),
};

CONFORMANCE_PART(forgotten);
