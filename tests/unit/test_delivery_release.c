/* Giving work back on purpose, with the real store: it costs nothing, keeps its place, and does not go on for ever. The
 * rest of it is played by tests/sim. */
#include "core/delivery/delivery.h"
#include "temp_store.h"

enum { LEASE_MS = 60000, RESTARTS = 10 };

struct desk {
	struct temp_store *t;
	uint64_t random;
	int64_t now_ms;
};

static struct delivery step(struct desk *desk)
{
	return (struct delivery){.conn = desk->t->c, .arena = &desk->t->arena, .space = desk->t->space,
				 .now_ms = desk->now_ms, .random = &desk->random};
}

static struct desk begin(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};

	must(store_begin(desk.t->c));
	return desk;
}

static struct handoff_row send(struct desk *desk, uint64_t envelope)
{
	struct delivery d = step(desk);
	struct delivery_order order = {.envelope = envelope, .to = STR("ann"), .priority = -1};
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(delivery_send(&d, &order, &h, &problem), P_OK);
	return h;
}

static struct handoff_row take(struct desk *desk)
{
	struct delivery d = step(desk);
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(delivery_take(&d, STR("ann"), LEASE_MS, STR_NULL, &h, &problem), P_OK);
	return h;
}

static struct handoff_row settle(struct desk *desk, const struct handoff_row *h, struct delivery_answer answer)
{
	struct delivery d = step(desk);
	struct handoff_row after;
	struct problem problem;

	answer.lease = h->leases;
	assert_int_equal(delivery_settle(&d, h->num, &answer, &after, &problem), P_OK);
	return after;
}

static struct handoff_row give_back(struct desk *desk, const struct handoff_row *h)
{
	return settle(desk, h, (struct delivery_answer){.verb = VERB_RELEASE, .delay_ms = -1, .text = STR("deploy")});
}

static struct target_row target(struct desk *desk)
{
	struct target_row row;
	int64_t id;

	must(store_agent_id(desk->t->c, desk->t->space, STR("ann"), false, desk->now_ms, &id));
	must(store_target_get(desk->t->c, id, &row));
	return row;
}

static void restarts_use_no_attempt_and_the_work_keeps_its_place(void **state)
{
	static const enum handoff_state from[] = {HANDOFF_LEASED, HANDOFF_ACKED, HANDOFF_WORKING};
	struct desk desk = begin(state);
	struct handoff_row first = send(&desk, 1), h;

	send(&desk, 2);
	for (int i = 0; i < RESTARTS; i++) {
		desk.now_ms += 2 * DELIVERY_QUEUE_TIMEOUT_MS;	/* what is at work does not time out of the queue */
		h = take(&desk);
		assert_int_equal(h.num, first.num);
		if (from[i % 3] != HANDOFF_LEASED)
			h = settle(&desk, &h, (struct delivery_answer){
				.verb = VERB_ACK, .work_lease_ms = from[i % 3] == HANDOFF_WORKING ? 1000 : 0});
		assert_int_equal(h.state, from[i % 3]);
		h = give_back(&desk, &h);
		assert_int_equal(h.state, HANDOFF_QUEUED);
		assert_int_equal(h.attempt, 1);
		assert_int_equal(h.queue_until_ms, desk.now_ms + DELIVERY_QUEUE_TIMEOUT_MS);
		assert_null(h.reason.p);
		assert_null(h.receiver.p);
	}
	assert_int_equal(h.leases, RESTARTS);
	assert_int_equal(target(&desk).failures, 0);
	must(store_commit(desk.t->c));
}

static void a_delay_is_kept_and_a_lease_that_has_ended_gives_nothing_back(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = send(&desk, 1), after;
	struct delivery_answer again = {.verb = VERB_RELEASE, .delay_ms = -1, .lease = 1};
	struct delivery d;
	struct problem problem;
	int64_t next_ms;

	h = take(&desk);
	h = settle(&desk, &h, (struct delivery_answer){.verb = VERB_RELEASE, .delay_ms = 5000});
	assert_int_equal(h.state, HANDOFF_DELAYED);
	assert_int_equal(h.due_ms, T0 + 5000);
	assert_int_equal(take(&desk).num, 0);
	d = step(&desk);
	assert_int_equal(delivery_settle(&d, h.num, &again, &after, &problem), P_STALE_LEASE);
	desk.now_ms = T0 + 5000;
	d = step(&desk);
	assert_int_equal(delivery_due(&d, 10, &next_ms, &problem), P_OK);
	assert_int_equal(take(&desk).attempt, 1);
	must(store_commit(desk.t->c));
}

static void a_probe_that_is_given_back_lets_the_next_one_through(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h;

	for (uint64_t i = 1; i <= BREAKER_FAILURES; i++) {
		send(&desk, i);
		for (int attempt = 0; attempt < DELIVERY_ATTEMPTS; attempt++) {
			h = take(&desk);
			settle(&desk, &h, (struct delivery_answer){.verb = VERB_NACK, .text = STR("no")});
		}
	}
	send(&desk, 10);
	send(&desk, 11);
	assert_int_equal(take(&desk).num, 0);
	desk.now_ms += BREAKER_OPEN_MS;
	h = take(&desk);
	assert_int_equal(target(&desk).probe, h.num);
	settle(&desk, &h, (struct delivery_answer){.verb = VERB_RELEASE, .delay_ms = 3600000});
	assert_int_equal(take(&desk).num, h.num + 1);
	must(store_commit(desk.t->c));
}

static void giving_back_without_end_ends_parked(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = send(&desk, 1);
	int64_t next_ms;
	struct problem problem;
	int taken = 0;

	while (h.state != HANDOFF_PARKED) {
		struct delivery d = step(&desk);

		assert_true(taken < 2 * DELIVERY_FREE_LEASES);
		assert_int_equal(delivery_due(&d, 10, &next_ms, &problem), P_OK);
		h = take(&desk);
		if (h.num) {
			taken++;
			h = give_back(&desk, &h);
		}
		desk.now_ms += DELIVERY_BACKOFF_MAX_MS;
	}
	assert_int_equal(taken, DELIVERY_FREE_LEASES + DELIVERY_ATTEMPTS - 1);
	assert_str(h.reason, "given back after it was taken 102 times: deploy");
	assert_int_equal(target(&desk).failures, 1);
	must(store_commit(desk.t->c));
}

int main(void)
{
	const struct CMUnitTest delivery_release_tests[] = {
		with_store(restarts_use_no_attempt_and_the_work_keeps_its_place),
		with_store(a_delay_is_kept_and_a_lease_that_has_ended_gives_nothing_back),
		with_store(a_probe_that_is_given_back_lets_the_next_one_through),
		with_store(giving_back_without_end_ends_parked),
	};

	return cmocka_run_group_tests(delivery_release_tests, NULL, NULL);
}
