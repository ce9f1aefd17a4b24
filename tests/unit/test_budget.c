/* The choice of forms within a budget: never over it, and as good as trying everything. */
#include "core/envelope/budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { SMALL = 7 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static int64_t total_cost(const struct budget_item *items, size_t count)
{
	int64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += items[i].chosen == BUDGET_NONE ? 0 : items[i].cost[items[i].chosen];
	return total;
}

static double total_value(const struct budget_item *items, size_t count)
{
	double total = 0;

	for (size_t i = 0; i < count; i++)
		total += items[i].chosen == BUDGET_NONE ? 0 : items[i].value[items[i].chosen];
	return total;
}

static double best_by_trying(const struct budget_item *items, size_t count, int64_t capacity)
{
	double best = 0, value;

	if (count == 0)
		return 0;
	best = best_by_trying(items + 1, count - 1, capacity);
	for (int f = 0; f < items->form_count; f++) {
		if (items->cost[f] > capacity)
			continue;
		value = items->value[f] + best_by_trying(items + 1, count - 1, capacity - items->cost[f]);
		if (value > best)
			best = value;
	}
	return best;
}

static void make_items(struct budget_item *items, size_t count, int64_t max_cost, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		int64_t cost = 1 + (int64_t)(next_random(seed) % (uint64_t)max_cost);
		double value = 0.1 + (double)(next_random(seed) % 1000) / 10;

		items[i] = (struct budget_item){.form_count = 1 + (int)(next_random(seed) % BUDGET_FORMS)};
		for (int f = 0; f < items[i].form_count; f++) {
			items[i].cost[f] = cost / (f + 1) + 1;
			items[i].value[f] = value / (f * 0.8 + 1);
		}
	}
}

static void test_the_choice_is_the_best_there_is(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct budget_item items[SMALL];
		int64_t capacity = (int64_t)(next_random(&seed) % 600);
		struct arena arena;

		arena_init(&arena);
		make_items(items, SMALL, 200, &seed);
		budget_choose(items, SMALL, capacity, &arena);
		assert_true(total_cost(items, SMALL) <= capacity);
		assert_true(total_value(items, SMALL) >= best_by_trying(items, SMALL, capacity) * 0.98 - 1e-9);
		arena_release(&arena);
	}
}

static void test_many_items_stay_within_the_budget_and_near_the_best(void **state)
{
	/* Too many for the table: against the bound that the same items give when the last one may be cut. */
	enum { MANY = 5000 };
	static struct budget_item items[MANY];
	uint64_t seed = 7;
	double exact;
	struct arena arena;

	(void)state;
	make_items(items, MANY, 400, &seed);
	for (size_t i = 0; i < MANY; i++)
		items[i].form_count = 1;
	arena_init(&arena);
	budget_choose(items, MANY, 100000, &arena);
	assert_true(total_cost(items, MANY) <= 100000);
	exact = total_value(items, MANY);
	/* Greedy by value for a token is the upper bound, but for one item. */
	for (size_t i = 0; i < MANY; i++)
		items[i].chosen = BUDGET_NONE;
	double bound = 0;
	int64_t left = 100000;
	while (left > 0) {
		struct budget_item *top = NULL;

		for (size_t i = 0; i < MANY; i++)
			if (items[i].chosen == BUDGET_NONE &&
			    (!top ||
			     items[i].value[0] * (double)top->cost[0] > top->value[0] * (double)items[i].cost[0]))
				top = &items[i];
		if (top == NULL)
			break;
		top->chosen = 0;
		bound += top->value[0];
		left -= top->cost[0];
	}
	print_message("many items: %.1f of at most %.1f\n", exact, bound);
	assert_true(exact >= bound * 0.98);
	arena_release(&arena);
}

static void test_everything_fits_or_nothing_does(void **state)
{
	struct budget_item items[2] = {{.form_count = 2, .cost = {10, 5}, .value = {3, 1}},
				       {.form_count = 1, .cost = {20}, .value = {1}}};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	budget_choose(items, 2, 30, &arena);
	assert_int_equal(items[0].chosen, 0);
	assert_int_equal(items[1].chosen, 0);
	budget_choose(items, 2, 4, &arena);
	assert_int_equal(items[0].chosen, BUDGET_NONE);
	assert_int_equal(items[1].chosen, BUDGET_NONE);
	budget_choose(items, 2, -5, &arena);
	assert_int_equal(items[0].chosen, BUDGET_NONE);
	budget_choose(items, 2, 7, &arena);
	assert_int_equal(items[0].chosen, 1);
	arena_release(&arena);
}

/* The values of handoffs fade with time, all alike; what is chosen among equals must not depend on the moment. */
static void test_of_items_that_are_worth_the_same_the_first_are_kept(void **state)
{
	enum { COUNT = 60 };
	struct budget_item items[COUNT];
	struct arena arena;

	(void)state;
	for (int moment = 0; moment < 200; moment++) {
		double value = 40 * (1 + 0.5 * exp2(-moment / 604800.0));

		for (int i = 0; i < COUNT; i++)
			items[i] = (struct budget_item){.form_count = 2, .cost = {30, 24}, .value = {value, value / 2}};
		arena_init(&arena);
		budget_choose(items, COUNT, 30 * 26 + 24, &arena);
		arena_release(&arena);
		for (int i = 0; i < COUNT; i++)
			if (items[i].chosen != (i < 26 ? 0 : i == 26 ? 1 : BUDGET_NONE))
				fail_msg("moment %d: form %d of item %d was chosen", moment, items[i].chosen, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_choice_is_the_best_there_is),
		cmocka_unit_test(test_many_items_stay_within_the_budget_and_near_the_best),
		cmocka_unit_test(test_everything_fits_or_nothing_does),
		cmocka_unit_test(test_of_items_that_are_worth_the_same_the_first_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
