/* core/watch/event.h: names, actions, and what an event is about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/watch/event.h"

static const int kinds[] = {
#define EVENT_NUMBER(name, number, text) number,
	EVENTS(EVENT_NUMBER)
#undef EVENT_NUMBER
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

#define BIT(kind) (UINT64_C(1) << (kind))

static void every_kind_has_a_name_and_an_action_of_its_own_in_one_family(void **state)
{
	(void)state;
	for (int i = 0; i < KINDS; i++) {
		struct str name = str_of(event_name(kinds[i])), action = str_of(event_action(kinds[i]));

		assert_true(kinds[i] > 0 && kinds[i] < 64);
		assert_true(str_eq(str_sub(name, 0, str_find(name, '.')), str_sub(action, 0, str_find(action, '.'))));
		for (int j = 0; j < i; j++) {
			assert_int_not_equal(kinds[i], kinds[j]);
			assert_string_not_equal(event_name(kinds[i]), event_name(kinds[j]));
			assert_string_not_equal(event_action(kinds[i]), event_action(kinds[j]));
		}
	}
	assert_string_equal(event_name(63), "unknown");
}

static void a_prefix_names_a_set_of_kinds(void **state)
{
	(void)state;
	assert_int_equal(event_kinds_named(STR("breaker.")), BIT(EVENT_BREAKER_OPENED) | BIT(EVENT_BREAKER_CLOSED) |
			 BIT(EVENT_BREAKER_RESET));
	assert_int_equal(event_kinds_named(STR("memory.stored")), BIT(EVENT_MEMORY_STORED));
	assert_int_equal(event_kinds_acting(STR("memory.store")), BIT(EVENT_MEMORY_STORED));
	assert_int_equal(event_kinds_named(STR("nothing.")), 0);
}

static void expect_object(struct event_row event, const char *object)
{
	struct arena arena;

	arena_init(&arena);
	assert_true(str_is(event_object(&event, STR("lab"), &arena), object));
	arena_release(&arena);
}

static void an_event_is_about_one_object(void **state)
{
	(void)state;
	expect_object((struct event_row){.kind = EVENT_ACKED, .handoff = 12, .envelope = 3, .agent = STR("ann")},
		      "ho-12");
	expect_object((struct event_row){.kind = EVENT_ENVELOPE_PACKED, .envelope = 3, .agent = STR("ann"),
					 .note = STR("2")}, "env-3");
	expect_object((struct event_row){.kind = EVENT_MEMORY_STORED, .memory = 4}, "ms-4");
	expect_object((struct event_row){.kind = EVENT_BREAKER_OPENED, .agent = STR("ann")}, "ann");
	expect_object((struct event_row){.kind = EVENT_CHANNEL_SUBSCRIBED, .agent = STR("ann"), .note = STR("news")},
		      "news");
	expect_object((struct event_row){.kind = EVENT_CHANNEL_PUBLISHED, .envelope = 3, .note = STR("news")}, "news");
	expect_object((struct event_row){.kind = EVENT_SPACE_SET}, "lab");
	expect_object((struct event_row){.kind = EVENT_ALERT_FIRED, .agent = STR("ann"),
					 .note = STR("al-3 breaker_open: it is")}, "al-3");
}

static void an_object_is_asked_for_by_its_id_or_its_name(void **state)
{
	struct event_filter f = {0};

	(void)state;
	event_filter_object(STR("ho-12"), &f);
	assert_int_equal(f.handoff, 12);
	event_filter_object(STR("env-3"), &f);
	assert_int_equal(f.envelope, 3);
	event_filter_object(STR("ms-4@2"), &f);
	assert_int_equal(f.memory, 4);
	assert_null(f.name.p);
	event_filter_object(STR("ms-"), &f);
	assert_true(str_is(f.name, "ms-"));
}

int main(void)
{
	const struct CMUnitTest event[] = {
		cmocka_unit_test(every_kind_has_a_name_and_an_action_of_its_own_in_one_family),
		cmocka_unit_test(a_prefix_names_a_set_of_kinds),
		cmocka_unit_test(an_event_is_about_one_object),
		cmocka_unit_test(an_object_is_asked_for_by_its_id_or_its_name),
	};

	return cmocka_run_group_tests(event, NULL, NULL);
}
