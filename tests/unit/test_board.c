/* What people are told of handoffs and agents: attempts made from events, why something waits, names that look
 * alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/delivery/agent_name.h"
#include "core/delivery/attempts.h"
#include "core/delivery/queue_why.h"

#define T0 INT64_C(1700000000000)

static struct event_row event(int kind, int64_t at, int64_t attempt, const char *note)
{
	return (struct event_row){.kind = kind, .at_ms = T0 + at, .attempt = attempt, .agent = STR("coder"),
				  .note = note ? str_of(note) : STR_NULL};
}

static void each_taking_is_an_attempt_that_ends_in_somebodys_words(void **state)
{
	const struct event_row events[] = {
		event(EVENT_QUEUED, 0, 1, NULL), event(EVENT_TAKEN, 1, 1, "host-1"),
		event(EVENT_NACKED, 2, 1, "ValueError: no"), event(EVENT_TAKEN, 3, 2, NULL),
		event(EVENT_LEASE_LOST, 4, 2, "host-2"), event(EVENT_TAKEN, 5, 3, "host-3"),
		event(EVENT_ACKED, 6, 3, NULL), event(EVENT_PROGRESS, 7, 3, "half"),
		event(EVENT_WORK_LOST, 8, 3, "host-3"), event(EVENT_PARKED, 8, 3, "the work lease ran out"),
	};
	struct attempt *a;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_int_equal(attempts_of(events, sizeof(events) / sizeof(events[0]), &arena, &a), 3);
	assert_true(a[0].outcome == ATTEMPT_NACKED && str_is(a[0].error, "ValueError: no"));
	assert_true(str_is(a[0].receiver, "host-1") && a[0].taken_at_ms == T0 + 1 && a[0].ended_at_ms == T0 + 2);
	assert_true(a[1].outcome == ATTEMPT_LEASE_LOST && a[1].receiver.p == NULL && a[1].error.n > 10);
	assert_true(a[2].outcome == ATTEMPT_WORK_LOST && a[2].acked_at_ms == T0 + 6 && a[2].number == 3);
	arena_release(&arena);
}

static void what_nobody_took_and_what_is_under_way_are_attempts_too(void **state)
{
	const struct event_row events[] = {
		event(EVENT_QUEUED, 0, 1, NULL), event(EVENT_EXPIRED, 1, 1, "not taken while the sender waited"),
		event(EVENT_QUEUED, 2, 2, "sent again"), event(EVENT_TAKEN, 3, 2, NULL),
	};
	struct attempt *a;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_int_equal(attempts_of(events, 4, &arena, &a), 2);
	assert_true(a[0].outcome == ATTEMPT_EXPIRED && a[0].taken_at_ms == 0 && a[0].ended_at_ms == T0 + 1);
	assert_true(a[1].outcome == ATTEMPT_UNDER_WAY && a[1].ended_at_ms == 0 && a[1].error.p == NULL);
	/* A history that begins in the middle. */
	assert_int_equal(attempts_of(events + 3, 1, &arena, &a), 1);
	assert_int_equal(attempts_of(events, 0, &arena, &a), 0);
	arena_release(&arena);
}

static void a_handoff_waits_for_a_reason(void **state)
{
	struct handoff_row h = {.state = HANDOFF_QUEUED, .ack_timeout_ms = 15000};
	struct target_row target = {0};
	int64_t until_ms = 77;

	(void)state;
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_EMPTY_CHAIR);
	assert_int_equal(until_ms, 0);
	assert_int_equal(queue_why(&h, &target, T0 + 9, T0, &until_ms), QUEUE_BUSY);
	target.seen_at_ms = T0 - 14999;
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_BUSY);
	target.seen_at_ms = T0 - 15000;
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_EMPTY_CHAIR);
	h.held_until_ms = T0 + 5;
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_HELD);
	assert_int_equal(until_ms, T0 + 5);
	h = (struct handoff_row){.state = HANDOFF_DELAYED, .due_ms = T0 + 7, .attempt = 2};
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_BACKOFF);
	h.not_before_ms = T0 + 7;
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_DEFERRED);
	assert_int_equal(until_ms, T0 + 7);
	h.not_before_ms = T0 + 9;	/* a person has overruled it, and then an attempt has failed */
	assert_int_equal(queue_why(&h, &target, 0, T0, &until_ms), QUEUE_BACKOFF);
	assert_int_equal(until_ms, T0 + 7);
}

static void a_slip_is_near_and_another_name_is_not(void **state)
{
	(void)state;
	assert_int_equal(agent_name_distance(STR("coder"), STR("coder")), 0);
	assert_int_equal(agent_name_distance(STR("Coder"), STR("coder")), 0);
	assert_int_equal(agent_name_distance(STR("codr"), STR("coder")), 1);
	assert_int_equal(agent_name_distance(STR("reveiwer"), STR("reviewer")), 1);
	assert_int_equal(agent_name_distance(STR("revewier"), STR("reviewer")), 2);
	assert_int_equal(agent_name_distance(STR("reader"), STR("coder")), AGENT_NAME_FAR);
	assert_int_equal(agent_name_distance(STR("a"), STR("b")), AGENT_NAME_FAR);
	assert_int_equal(agent_name_distance(STR(""), STR("a")), AGENT_NAME_FAR);
	assert_int_equal(agent_name_distance(STR("translator"), STR("coder")), AGENT_NAME_FAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_taking_is_an_attempt_that_ends_in_somebodys_words),
		cmocka_unit_test(what_nobody_took_and_what_is_under_way_are_attempts_too),
		cmocka_unit_test(a_handoff_waits_for_a_reason),
		cmocka_unit_test(a_slip_is_near_and_another_name_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
