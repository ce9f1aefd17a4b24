/* The database's time, as a node knows it. */
#include "base/clock.h"
#include "serve/db_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those before it. */
#include <cmocka.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

/* What it would tell at that time, but for that it never goes back. */
static int64_t told_ms(const struct db_clock *c, int64_t now_ns)
{
	return (now_ns + c->offset_ns) / MS;
}

static void the_time_is_that_of_the_middle_of_the_way(void **state)
{
	struct db_clock c;

	(void)state;
	db_clock_init(&c);
	db_clock_sample(&c, 100 * SECOND, 100 * SECOND + 40 * MS, 5000000);
	assert_int_equal(told_ms(&c, 100 * SECOND + 20 * MS), 5000000);
	assert_int_equal(db_clock_doubt_ms(&c, 100 * SECOND + 40 * MS), 21);
	db_clock_destroy(&c);
}

static void a_slow_answer_does_not_replace_a_fast_one(void **state)
{
	struct db_clock c;

	(void)state;
	db_clock_init(&c);
	db_clock_sample(&c, 100 * SECOND, 100 * SECOND + 2 * MS, 5000000);
	/* Within its doubt, but three hundred milliseconds off. */
	db_clock_sample(&c, 101 * SECOND, 101 * SECOND + 800 * MS, 5000000 + 1000 + 700);
	assert_int_equal(told_ms(&c, 101 * SECOND + 1 * MS), 5001000);
	db_clock_destroy(&c);
}

static void the_doubt_grows_until_a_better_answer_comes(void **state)
{
	struct db_clock c;

	(void)state;
	db_clock_init(&c);
	db_clock_sample(&c, 100 * SECOND, 100 * SECOND + 2 * MS, 5000000);
	assert_true(db_clock_doubt_ms(&c, 101 * SECOND) < 5);
	assert_true(db_clock_doubt_ms(&c, 100 * SECOND + 1100 * SECOND) > DB_CLOCK_DOUBT_MAX_MS);
	db_clock_sample(&c, 1200 * SECOND, 1200 * SECOND + 100 * MS, 5000000 + 1100000 + 50);
	assert_true(db_clock_doubt_ms(&c, 1200 * SECOND + 100 * MS) < 60);
	db_clock_destroy(&c);
}

static void another_database_with_another_time_is_believed(void **state)
{
	struct db_clock c;

	(void)state;
	db_clock_init(&c);
	db_clock_sample(&c, 100 * SECOND, 100 * SECOND + 2 * MS, 5000000);
	db_clock_sample(&c, 101 * SECOND, 101 * SECOND + 20 * MS, 5090000);
	assert_int_equal(told_ms(&c, 101 * SECOND + 10 * MS), 5090000);
	db_clock_destroy(&c);
}

static void time_stands_still_rather_than_go_back(void **state)
{
	int64_t now_ns = clock_boot_ns(), before_ms;
	struct db_clock c;

	(void)state;
	db_clock_init(&c);
	db_clock_sample(&c, now_ns - MS, now_ns, 9000000);
	before_ms = db_clock_now_ms(&c);
	assert_true(before_ms >= 9000000);
	db_clock_sample(&c, now_ns - MS, now_ns, 9000000 - 60000);
	assert_true(db_clock_now_ms(&c) >= before_ms);
	assert_true(db_clock_now_ms(&c) < before_ms + 30000);
	/* So long it would have to stand still: nobody may own anything by it. */
	assert_true(db_clock_doubt_ms(&c, clock_boot_ns()) > 20000);
	db_clock_restart(&c);
	assert_true(db_clock_now_ms(&c) < before_ms);
	assert_true(db_clock_doubt_ms(&c, clock_boot_ns()) < 1000);
	db_clock_destroy(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_is_that_of_the_middle_of_the_way),
		cmocka_unit_test(a_slow_answer_does_not_replace_a_fast_one),
		cmocka_unit_test(the_doubt_grows_until_a_better_answer_comes),
		cmocka_unit_test(another_database_with_another_time_is_believed),
		cmocka_unit_test(time_stands_still_rather_than_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
