/* The figures of several parts in one text. */
#include "api/metrics_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those before it. */
#include <cmocka.h>

#define HEAD(name) "# HELP " name " Says.\n# TYPE " name " gauge\n"

static const char own[] = HEAD("a") HEAD("spine_waiting") "spine_waiting 0\n" HEAD("process_x") "process_x 5\n"
			  HEAD("spine_cluster_x") "spine_cluster_x{state=\"live\"} 6\n";
static const char one[] = HEAD("a") "a{b=\"c d\"} 1\na{b=\"{\"} 2\n" HEAD("spine_waiting") "spine_waiting 3\n"
			  HEAD("process_x") "process_x 5\n";
static const char two[] = HEAD("a") HEAD("spine_waiting") "spine_waiting 4\n" HEAD("process_x") "process_x 5\n";

/* What the process says once, whatever parts it has. */
#define OF_PROCESS HEAD("process_x") "process_x 5\n" HEAD("spine_cluster_x") "spine_cluster_x{state=\"live\"} 6\n"

static void check(size_t count, const char *expected)
{
	const struct metrics_text parts[] = {{7, str_of(one)}, {12, str_of(two)}};
	struct buf out;

	buf_init(&out, 4096);
	metrics_merge(&out, str_of(own), parts, count);
	buf_putc(&out, '\0');
	assert_string_equal(out.data, expected);
	buf_release(&out);
}

static void without_parts_the_process_is_told_and_which_families_there_are(void **state)
{
	(void)state;
	check(0, HEAD("a") HEAD("spine_waiting") OF_PROCESS);
}

static void a_series_of_one_part_is_the_same_when_another_comes(void **state)
{
	(void)state;
	check(1, HEAD("a") "a{shard=\"7\",b=\"c d\"} 1\na{shard=\"7\",b=\"{\"} 2\n"
	      HEAD("spine_waiting") "spine_waiting{shard=\"7\"} 3\n" OF_PROCESS);
}

static void samples_of_a_family_stand_together_and_say_their_shard(void **state)
{
	(void)state;
	check(2, HEAD("a") "a{shard=\"7\",b=\"c d\"} 1\na{shard=\"7\",b=\"{\"} 2\n"
	      HEAD("spine_waiting") "spine_waiting{shard=\"7\"} 3\nspine_waiting{shard=\"12\"} 4\n" OF_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_parts_the_process_is_told_and_which_families_there_are),
		cmocka_unit_test(a_series_of_one_part_is_the_same_when_another_comes),
		cmocka_unit_test(samples_of_a_family_stand_together_and_say_their_shard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
