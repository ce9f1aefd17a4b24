/* The count and the sequence of a space, in transactions that add much. */
#include "conformance.h"

static int64_t count(struct store_conn *c, int64_t space)
{
	int64_t n = -1;

	must(store_space_count(c, space, &n));
	return n;
}

/* Inserts in the transaction under way. num 0 takes the next number. */
static uint64_t add(struct temp_store *t, int64_t space, uint64_t num)
{
	struct memory m = temp_memory(space, "text");

	m.num = num;
	must(store_memory_insert(t->c, &m));
	return m.num;
}

/* The engine's own check knows what a count and a sequence must be. Opened anew, so that it sees what was
 * committed, and first of all, because a count on the writing connection would bring the row up to date. */
static void assert_sound(struct temp_store *t)
{
	conformance_reopen(t);
	conformance_check(t);
}

static void spaces_that_are_filled_in_turns_count_each_their_own(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");

	must(store_begin(t->c));
	for (uint64_t i = 1; i <= 5; i++) {
		assert_int_equal(add(t, t->space, 0), i);
		assert_int_equal(add(t, other, 0), 2 * i - 1);
		assert_int_equal(add(t, other, 0), 2 * i);
	}
	must(store_commit(t->c));
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 5);
	assert_int_equal(count(t->c, other), 10);
	assert_int_equal(temp_insert(t, other, "next"), 11);
}

static void a_count_holds_what_its_own_transaction_added(void **state)
{
	struct temp_store *t = *state;

	must(store_begin(t->c));
	add(t, t->space, 0);
	add(t, t->space, 0);
	assert_int_equal(count(t->c, t->space), 2);
	assert_int_equal(add(t, t->space, 0), 3);
	must(store_commit(t->c));
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 3);
}

static void a_number_that_was_chosen_moves_the_sequence_at_once(void **state)
{
	struct temp_store *t = *state;
	struct memory taken = temp_memory(t->space, "taken");

	must(store_begin(t->c));
	add(t, t->space, 40);
	assert_int_equal(add(t, t->space, 0), 41);
	add(t, t->space, 7);
	taken.num = 7;
	assert_int_equal(store_memory_insert(t->c, &taken), STORE_EXISTS);
	assert_int_equal(add(t, t->space, 0), 42);
	must(store_commit(t->c));
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 4);
}

static void what_is_forgotten_where_it_was_added_is_not_counted(void **state)
{
	struct temp_store *t = *state;

	must(store_begin(t->c));
	add(t, t->space, 0);
	must(store_memory_forget(t->c, t->space, add(t, t->space, 0), T0));
	add(t, t->space, 0);
	must(store_commit(t->c));
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 2);
}

static void an_undone_part_takes_its_count_and_its_numbers_along(void **state)
{
	struct temp_store *t = *state;

	must(store_begin(t->c));
	assert_int_equal(add(t, t->space, 0), 1);
	must(store_savepoint(t->c));
	assert_int_equal(add(t, t->space, 0), 2);
	must(store_savepoint(t->c));
	assert_int_equal(add(t, t->space, 0), 3);
	must(store_rollback_to(t->c));
	assert_int_equal(add(t, t->space, 0), 3);
	must(store_release(t->c));
	assert_int_equal(add(t, t->space, 0), 4);
	must(store_savepoint(t->c));
	add(t, t->space, 90);
	must(store_rollback_to(t->c));
	must(store_commit(t->c));
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 4);
	assert_int_equal(temp_insert(t, t->space, "next"), 5);
}

static void a_rollback_leaves_nothing_for_the_next_transaction(void **state)
{
	struct temp_store *t = *state;

	must(store_begin(t->c));
	add(t, t->space, 0);
	add(t, t->space, 0);
	store_rollback(t->c);
	assert_int_equal(temp_insert(t, t->space, "next"), 1);
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 1);
}

static void nothing_is_added_to_a_space_that_is_not_there(void **state)
{
	struct temp_store *t = *state;
	struct memory next = temp_memory(t->space + 7, "text"), chosen = next;

	chosen.num = 3;
	must(store_begin(t->c));
	assert_int_equal(store_memory_insert(t->c, &next), STORE_NOT_FOUND);
	assert_int_equal(store_memory_insert(t->c, &chosen), STORE_NOT_FOUND);
	add(t, t->space, 0);
	must(store_commit(t->c));
	assert_sound(t);
	assert_int_equal(count(t->c, t->space), 1);
}

static const struct CMUnitTest tally[] = {
	with_engine(spaces_that_are_filled_in_turns_count_each_their_own),
	with_engine(a_count_holds_what_its_own_transaction_added),
	with_engine(a_number_that_was_chosen_moves_the_sequence_at_once),
	with_engine(what_is_forgotten_where_it_was_added_is_not_counted),
	with_engine(an_undone_part_takes_its_count_and_its_numbers_along),
	with_engine(a_rollback_leaves_nothing_for_the_next_transaction),
	with_engine(nothing_is_added_to_a_space_that_is_not_there),
};

CONFORMANCE_PART(tally);
