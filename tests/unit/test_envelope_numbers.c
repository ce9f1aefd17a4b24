/* engine/envelope_numbers.h: the numbers of new envelopes, by the names of their spaces. */
#include "temp_store.h"

#include "engine/envelope_numbers.h"

#include <malloc.h>

static void a_number_that_was_looked_at_is_the_next_and_numbers_only_grow(void **state)
{
	struct temp_store *t = *state;
	struct envelope_numbers *n = envelope_numbers_new();
	uint64_t num = 0;

	must(envelope_numbers_peek(n, t->c, STR("new"), 0, &num));
	assert_int_equal(num, 1);
	must(envelope_numbers_next(n, t->c, STR("new"), 0, &num));
	assert_int_equal(num, 1);
	must(envelope_numbers_peek(n, t->c, STR("new"), 0, &num));
	assert_int_equal(num, 2);
	must(envelope_numbers_next(n, t->c, STR("new"), 0, &num));
	assert_int_equal(num, 2);
	envelope_numbers_forget(n, STR("new"));
	must(envelope_numbers_next(n, t->c, STR("new"), 0, &num));
	assert_int_equal(num, 1);
	envelope_numbers_free(n);
}

/* The heap in use after a look at so many spaces that do not exist. A sanitizer's allocator says 0. */
static size_t bytes_after(struct temp_store *t, struct envelope_numbers *n, int from, int to)
{
	uint64_t num = 0;
	char name[32];

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "space-%d", i);
		must(envelope_numbers_peek(n, t->c, str_of(name), 0, &num));
		assert_int_equal(num, 1);
	}
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void names_of_spaces_that_do_not_exist_are_not_remembered(void **state)
{
	struct temp_store *t = *state;
	struct envelope_numbers *n = envelope_numbers_new();
	size_t before = bytes_after(t, n, 0, 10), after = bytes_after(t, n, 10, 1000);

	assert_in_range(after > before ? after - before : 0, 0, 1000);
	envelope_numbers_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_store(a_number_that_was_looked_at_is_the_next_and_numbers_only_grow),
		with_store(names_of_spaces_that_do_not_exist_are_not_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
