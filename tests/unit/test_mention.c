/* Memories named in a text. */
#include "core/memory/mention.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The ids of a text, joined by spaces. */
static void assert_mentions(const char *text, const char *expected)
{
	struct mention_list list = {0};
	char id[MEMORY_ID_SIZE];
	struct arena arena;
	struct buf out;

	arena_init(&arena);
	buf_init(&out, 65536);
	mention_collect(&list, str_of(text), &arena);
	for (size_t i = 0; i < list.count; i++) {
		memory_id_format(list.ids[i].num, list.ids[i].version, id);
		buf_printf(&out, "%s%s", i ? " " : "", id);
	}
	assert_string_equal(out.data ? out.data : "", expected);
	buf_release(&out);
	arena_release(&arena);
}

static void test_single_ids_and_lists(void **state)
{
	(void)state;
	assert_mentions("see ms-4821", "ms-4821");
	assert_mentions("ms-1, ms-2 and ms-3.", "ms-1 ms-2 ms-3");
	assert_mentions("(ms-7) [ms-8] \"ms-9\"", "ms-7 ms-8 ms-9");
	assert_mentions("MS-5 and Ms-6", "ms-5 ms-6");
	assert_mentions("ms-4@2 then ms-4", "ms-4@2 ms-4");
	assert_mentions("twice: ms-1 ms-1", "ms-1");
}

static void test_ranges_in_every_spelling(void **state)
{
	static const char *const joints[] = {" through ", " to ",         "-",       " - ",
					     "..",        "\xe2\x80\x93", " until ", " thru "};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
		snprintf(text, sizeof(text), "ms-4821%sms-4825", joints[i]);
		assert_mentions(text, "ms-4821 ms-4822 ms-4823 ms-4824 ms-4825");
	}
	assert_mentions("in memories ms-7100 through\nms-7102.", "ms-7100 ms-7101 ms-7102");
	assert_mentions("ms-1 to ms-3, ms-9, ms-11 through ms-12", "ms-1 ms-2 ms-3 ms-9 ms-11 ms-12");
}

static void test_what_is_not_a_range_is_two_ids(void **state)
{
	(void)state;
	assert_mentions("ms-5 to ms-3", "ms-5 ms-3");
	assert_mentions("from ms-1 we go to work on ms-4", "ms-1 ms-4");
	assert_mentions("ms-1 to ms-3 to ms-5", "ms-1 ms-2 ms-3 ms-5");
}

static void test_what_is_not_an_id_is_not_found(void **state)
{
	(void)state;
	assert_mentions("forms-12 items-3 xms-4", "");
	assert_mentions("ms-0 ms-007 ms- ms-x ms-12a ms-1_2", "");
	assert_mentions("ms-99999999999999999999", "");
	assert_mentions("", "");
}

static void test_a_huge_range_is_cut_and_says_so(void **state)
{
	struct mention_list list = {0};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	mention_collect(&list, STR("ms-1 through ms-1099511627775"), &arena);
	assert_int_equal(list.count, MENTION_MAX);
	assert_true(list.truncated);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_ids_and_lists),
		cmocka_unit_test(test_ranges_in_every_spelling),
		cmocka_unit_test(test_what_is_not_a_range_is_two_ids),
		cmocka_unit_test(test_what_is_not_an_id_is_not_found),
		cmocka_unit_test(test_a_huge_range_is_cut_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
