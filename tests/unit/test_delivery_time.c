/* core/delivery/delivery.h with the real store and a clock that the test sets: how seldom a queue behind an agent at
 * work is looked at, how soon it is when the agent turns out to be dead, and a clock that is set back. */
#include "core/delivery/delivery.h"
#include "temp_store.h"

enum { QUEUED = 200, HOUR_MS = 3600 * 1000, ACK_TIMEOUT_MS = 15000 };

struct desk {
	struct temp_store *t;
	uint64_t random;
	int64_t now_ms;
	size_t written;			/* handoffs, so far */
};

static void on_changed(void *ctx, const struct handoff_row *h, enum handoff_state before)
{
	struct desk *desk = ctx;

	(void)h;
	(void)before;
	desk->written++;
}

static struct delivery step(struct desk *desk)
{
	return (struct delivery){.conn = desk->t->c, .arena = &desk->t->arena, .space = desk->t->space,
				 .now_ms = desk->now_ms, .random = &desk->random, .changed = on_changed, .ctx = desk};
}

static struct handoff_row send(struct desk *desk, uint64_t envelope, const char *to, int64_t ack_timeout_ms)
{
	struct delivery_order order = {.envelope = envelope, .to = str_of(to), .priority = -1,
				       .ack_timeout_ms = ack_timeout_ms};
	struct delivery d = step(desk);
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(delivery_send(&d, &order, &h, &problem), P_OK);
	return h;
}

static struct handoff_row take(struct desk *desk, const char *agent, int64_t lease_ms)
{
	struct delivery d = step(desk);
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(delivery_take(&d, str_of(agent), lease_ms, STR_NULL, &h, &problem), P_OK);
	assert_int_not_equal(h.num, 0);
	return h;
}

static void settle(struct desk *desk, const struct handoff_row *h, enum handoff_verb verb)
{
	struct delivery_answer answer = {.verb = verb, .lease = h->leases, .delay_ms = -1};
	struct delivery d = step(desk);
	struct handoff_row after;
	struct problem problem;

	assert_int_equal(delivery_settle(&d, h->num, &answer, &after, &problem), P_OK);
}

/* Lets time pass, as the writer does it: from one thing that is due to the next. */
static void pass(struct desk *desk, int64_t until_ms)
{
	int64_t next_ms = 0;
	struct problem problem;

	must(store_handoff_next_due(desk->t->c, &next_ms));
	while (next_ms && next_ms <= until_ms) {
		struct delivery d = step(desk);

		d.now_ms = desk->now_ms = next_ms > desk->now_ms ? next_ms : desk->now_ms;
		assert_int_equal(delivery_due(&d, 256, &next_ms, &problem), P_OK);
	}
	desk->now_ms = until_ms;
}

static struct handoff_row look(struct desk *desk, uint64_t num)
{
	struct handoff_row h;

	must(store_handoff_get(desk->t->c, desk->t->space, num, &desk->t->arena, &h));
	return h;
}

/* One is held by the agent, and many wait behind it. */
static struct handoff_row fill_queue(struct desk *desk, int64_t lease_ms, int64_t ack_timeout_ms)
{
	struct handoff_row held;

	must(store_begin(desk->t->c));
	send(desk, 1, "ann", ACK_TIMEOUT_MS);
	held = take(desk, "ann", lease_ms);
	for (uint64_t i = 0; i < QUEUED; i++) {
		desk->now_ms++;
		send(desk, 2 + i, "ann", ack_timeout_ms);
	}
	desk->written = 0;
	return held;
}

static size_t count_attempts(struct desk *desk, int64_t attempt)
{
	size_t count = 0;

	for (uint64_t num = 2; num < 2 + QUEUED; num++)
		count += look(desk, num).attempt == attempt;
	return count;
}

static void what_waits_behind_a_long_lease_is_seldom_looked_at_and_loses_no_attempt(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};

	fill_queue(&desk, HOUR_MS, 1);
	pass(&desk, T0 + HOUR_MS - 1);
	assert_in_range(desk.written, QUEUED, 8 * QUEUED);
	assert_int_equal(count_attempts(&desk, 1), QUEUED);
	/* The lease is lost, and it was the last sign of life. */
	pass(&desk, T0 + HOUR_MS + 2 * DELIVERY_LOOK_MS);
	assert_int_equal(count_attempts(&desk, 1), 0);
	must(store_commit(desk.t->c));
}

static void an_agent_that_settles_and_then_is_silent_is_dead_after_the_ack_timeout(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};
	struct handoff_row held = fill_queue(&desk, HOUR_MS, ACK_TIMEOUT_MS);

	pass(&desk, T0 + 60000);
	settle(&desk, &held, VERB_ACK);
	pass(&desk, T0 + 60000 + ACK_TIMEOUT_MS - 1);
	assert_int_equal(count_attempts(&desk, 1), QUEUED);
	pass(&desk, T0 + 60000 + ACK_TIMEOUT_MS + 2000);
	assert_int_equal(count_attempts(&desk, 2), QUEUED);
	must(store_commit(desk.t->c));
}

static void an_agent_that_works_through_its_queue_costs_a_look_for_each_piece_of_work(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};
	struct handoff_row held = fill_queue(&desk, HOUR_MS, ACK_TIMEOUT_MS);

	for (int i = 0; i < QUEUED; i++) {
		pass(&desk, desk.now_ms + 20000);
		settle(&desk, &held, VERB_COMPLETE);
		held = take(&desk, "ann", HOUR_MS);
		assert_int_equal(held.attempt, 1);
	}
	/* Each is taken, completed, and looked at when it is the first; all of them every ten minutes. */
	assert_in_range(desk.written, 2 * QUEUED, 12 * QUEUED);
	must(store_commit(desk.t->c));
}

static void a_dead_agent_does_not_count_as_alive_because_the_clock_was_set_back(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};
	struct handoff_row h;

	must(store_begin(desk.t->c));
	send(&desk, 1, "ann", ACK_TIMEOUT_MS);
	h = take(&desk, "ann", 0);
	settle(&desk, &h, VERB_ACK);
	desk.now_ms = T0 - HOUR_MS;
	h = send(&desk, 2, "ann", ACK_TIMEOUT_MS);
	pass(&desk, desk.now_ms + 2 * ACK_TIMEOUT_MS);
	assert_int_equal(look(&desk, h.num).attempt, 2);
	must(store_commit(desk.t->c));
}

static void an_agent_that_is_seen_after_the_clock_was_set_back_was_seen_then(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};
	struct handoff_row h;
	struct target_row target;

	must(store_begin(desk.t->c));
	send(&desk, 1, "ann", ACK_TIMEOUT_MS);
	send(&desk, 2, "ann", ACK_TIMEOUT_MS);
	h = take(&desk, "ann", 0);
	desk.now_ms = T0 - HOUR_MS;
	take(&desk, "ann", 0);
	must(store_target_get(desk.t->c, h.agent, &target));
	assert_int_equal(target.seen_at_ms, T0 - HOUR_MS);
	must(store_commit(desk.t->c));
}

int main(void)
{
	const struct CMUnitTest delivery_time_tests[] = {
		with_store(what_waits_behind_a_long_lease_is_seldom_looked_at_and_loses_no_attempt),
		with_store(an_agent_that_settles_and_then_is_silent_is_dead_after_the_ack_timeout),
		with_store(an_agent_that_works_through_its_queue_costs_a_look_for_each_piece_of_work),
		with_store(a_dead_agent_does_not_count_as_alive_because_the_clock_was_set_back),
		with_store(an_agent_that_is_seen_after_the_clock_was_set_back_was_seen_then),
	};

	return cmocka_run_group_tests(delivery_time_tests, NULL, NULL);
}
