/* The server's line of time: the wall clock may be set, and nothing that is timed ends early or late by more than a
 * tenth of itself. */
#include "base/timeline.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define START (1800000000 * SECOND)	/* some time in 2027 */

/* A machine: time that passes, and a wall clock that somebody sets. */
struct machine {
	int64_t passed_ns;	/* since the boot */
	int64_t wrong_ns;	/* of the wall clock */
	int64_t booted_ns;	/* when, in truth */
};

static struct timeline_reading look(const struct machine *m)
{
	return (struct timeline_reading){m->passed_ns, m->booted_ns + m->passed_ns + m->wrong_ns};
}

static struct machine machine(void)
{
	return (struct machine){.passed_ns = 77 * SECOND, .booted_ns = START};
}

/* Lets time pass in steps, and asks the time after each. */
static int64_t pass(struct machine *m, struct timeline *t, int64_t ns, int64_t step_ns)
{
	int64_t before = t->time_ns, now = before;

	for (int64_t left = ns; left > 0; left -= step_ns) {
		m->passed_ns += left < step_ns ? left : step_ns;
		now = timeline_advance(t, look(m));
		assert_true(now > before);
		before = now;
	}
	return now;
}

static void test_without_trouble_it_is_the_wall_clock(void **state)
{
	struct machine m = machine();
	struct timeline t = timeline_begin(NULL, false, 0, look(&m));

	(void)state;
	assert_int_equal(t.time_ns, look(&m).wall_ns);
	pass(&m, &t, HOUR, 7 * SECOND);
	assert_int_equal(t.time_ns, look(&m).wall_ns);
	/* NTP makes the wall clock a little faster or slower than the other. */
	for (int i = 0; i < 1000; i++) {
		m.wrong_ns += i % 3 ? SECOND / 2000 : -SECOND / 2000;
		pass(&m, &t, SECOND, SECOND);
		assert_int_equal(t.time_ns, look(&m).wall_ns);
	}
}

/* Whatever the wall clock does, an 8-second span lasts 8 seconds, a tenth more or less. */
static void test_a_span_lasts_as_long_wherever_the_wall_clock_is_set(void **state)
{
	static const int64_t steps[] = {-HOUR, HOUR, -8765 * HOUR, 8765 * HOUR, SECOND, -SECOND};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct machine m = machine();
		struct timeline t = timeline_begin(NULL, false, 0, look(&m));
		int64_t from = pass(&m, &t, SECOND, SECOND / 100), to;

		m.wrong_ns += steps[i];
		to = pass(&m, &t, 8 * SECOND, SECOND / 100);
		assert_true(to - from <= 8 * SECOND * 11 / 10);
		assert_true(to - from >= 8 * SECOND * 9 / 10);
	}
}

static void test_it_comes_back_to_the_wall_clock_within_ten_times_the_difference(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct machine m = machine();
		struct timeline t = timeline_begin(NULL, false, 0, look(&m));

		m.wrong_ns = sign * HOUR;
		pass(&m, &t, 9 * HOUR, SECOND);
		assert_true(llabs(t.time_ns - look(&m).wall_ns) >= HOUR / 20);
		pass(&m, &t, 2 * HOUR, SECOND);
		assert_int_equal(t.time_ns, look(&m).wall_ns);
	}
}

static void test_asking_often_steers_as_much_as_asking_seldom(void **state)
{
	struct machine often = machine(), seldom = machine();
	struct timeline a = timeline_begin(NULL, false, 0, look(&often)), b = a;

	(void)state;
	often.wrong_ns = seldom.wrong_ns = HOUR;
	pass(&often, &a, SECOND / 10, 1000);
	pass(&seldom, &b, SECOND / 10, SECOND / 10);
	assert_true(llabs(a.time_ns - b.time_ns) < SECOND / 100000);
}

static void test_a_late_reading_does_not_turn_it_back(void **state)
{
	struct machine m = machine();
	struct timeline t = timeline_begin(NULL, false, 0, look(&m));
	struct timeline_reading late = look(&m);
	int64_t now = pass(&m, &t, SECOND, SECOND);

	(void)state;
	assert_int_equal(timeline_advance(&t, late), now);
	assert_int_equal(pass(&m, &t, SECOND, SECOND), now + SECOND);
}

static void test_a_restart_within_the_boot_goes_on_exactly(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct machine m = machine();
		struct timeline t = timeline_begin(NULL, false, 0, look(&m)), again;

		pass(&m, &t, HOUR, SECOND);
		m.wrong_ns = sign * HOUR;
		again = t;
		/* While it is away: the same as if it had not been. */
		m.passed_ns += 20 * SECOND;
		again = timeline_begin(&again, true, 0, look(&m));
		assert_int_equal(again.time_ns, timeline_advance(&t, look(&m)));
	}
}

static void test_over_a_reboot_the_larger_of_both_is_taken(void **state)
{
	struct machine m = machine();
	struct timeline t = timeline_begin(NULL, false, 0, look(&m)), kept = t, next;

	(void)state;
	/* Off for an hour, as the wall clock says. */
	m = (struct machine){.passed_ns = SECOND, .booted_ns = START + HOUR};
	next = timeline_begin(&kept, false, 0, look(&m));
	assert_int_equal(next.time_ns, look(&m).wall_ns);
	/* A machine without a battery begins in 1970. */
	m = (struct machine){.passed_ns = SECOND, .booted_ns = 0};
	next = timeline_begin(&kept, false, 0, look(&m));
	assert_int_equal(next.time_ns, kept.time_ns);
	/* The same name of the boot, but its clock is behind: another one. */
	next = timeline_begin(&kept, true, 0, look(&m));
	assert_int_equal(next.time_ns, kept.time_ns);
}

static void test_it_never_begins_before_what_has_been(void **state)
{
	struct machine m = machine();
	struct timeline kept = {m.passed_ns, START};

	(void)state;
	assert_int_equal(timeline_begin(NULL, false, START + HOUR, look(&m)).time_ns, START + HOUR);
	assert_int_equal(timeline_begin(&kept, true, START + HOUR, look(&m)).time_ns, START + HOUR);
	assert_int_equal(timeline_begin(&kept, false, START + HOUR, look(&m)).time_ns, START + HOUR);
}

static void test_the_machine_names_its_boot_and_counts_from_it(void **state)
{
	char a[CLOCK_BOOT_ID_SIZE], b[CLOCK_BOOT_ID_SIZE];
	int64_t before = clock_boot_ns();

	(void)state;
	clock_boot_id(a);
	clock_boot_id(b);
	assert_string_equal(a, b);
	assert_null(strchr(a, '\n'));
	assert_true(clock_boot_ns() >= before && before > 0);
	assert_true(llabs(clock_wall_ns() / 1000000 - clock_wall_ms()) < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_trouble_it_is_the_wall_clock),
		cmocka_unit_test(test_a_span_lasts_as_long_wherever_the_wall_clock_is_set),
		cmocka_unit_test(test_it_comes_back_to_the_wall_clock_within_ten_times_the_difference),
		cmocka_unit_test(test_asking_often_steers_as_much_as_asking_seldom),
		cmocka_unit_test(test_a_late_reading_does_not_turn_it_back),
		cmocka_unit_test(test_a_restart_within_the_boot_goes_on_exactly),
		cmocka_unit_test(test_over_a_reboot_the_larger_of_both_is_taken),
		cmocka_unit_test(test_it_never_begins_before_what_has_been),
		cmocka_unit_test(test_the_machine_names_its_boot_and_counts_from_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
