/* core/delivery/delivery.h with the real store: what is parked of an envelope that went to many. The rest of delivery
 * is played by tests/sim. */
#include "core/delivery/delivery.h"
#include "temp_store.h"

enum { RECEIVERS = 150 };	/* more than are read at a time, twice over */

static struct delivery step(struct temp_store *t, uint64_t *random)
{
	return (struct delivery){.conn = t->c, .arena = &t->arena, .space = t->space, .now_ms = T0, .random = random};
}

static void every_receiver_of_a_large_publish_is_parked(void **state)
{
	struct temp_store *t = *state;
	uint64_t random = 1;
	struct delivery d = step(t, &random);
	struct delivery_parking enough = {.envelope = 1, .to = STR("agent000"), .reason = STR("enough")};
	struct target_counts counts;
	struct handoff_row h;
	struct problem problem;
	int64_t parked = 0;

	must(store_begin(t->c));
	for (int i = 0; i < RECEIVERS; i++) {
		struct delivery_order order = {.envelope = 1, .to = arena_printf(&t->arena, "agent%03d", i),
					       .channel = 1, .priority = -1};

		assert_int_equal(delivery_send(&d, &order, &h, &problem), P_OK);
	}
	assert_int_equal(delivery_park(&d, &enough, &h, &problem), P_OK);
	assert_int_equal(h.num, RECEIVERS);
	assert_int_equal(h.state, HANDOFF_PARKED);
	must(store_commit(t->c));
	for (int i = 0; i < RECEIVERS; i++) {
		struct str name = arena_printf(&t->arena, "agent%03d", i);
		int64_t id;

		must(store_agent_id(t->c, t->space, name, false, T0, &id));
		must(store_target_counts(t->c, id, &counts));
		parked += counts.parked;
		assert_int_equal(counts.queued, 0);
	}
	assert_int_equal(parked, RECEIVERS);
}

static void what_was_acked_stays_acked(void **state)
{
	struct temp_store *t = *state;
	uint64_t random = 1;
	struct delivery d = step(t, &random);
	struct delivery_order order = {.envelope = 1, .to = STR("ann"), .priority = -1};
	struct delivery_parking enough = {.envelope = 1, .to = STR("ann"), .reason = STR("enough")};
	struct delivery_answer ack = {.verb = VERB_ACK, .lease = 1};
	struct handoff_row h, untouched = {.num = 77};
	struct problem problem;

	must(store_begin(t->c));
	assert_int_equal(delivery_send(&d, &order, &h, &problem), P_OK);
	assert_int_equal(delivery_take(&d, STR("ann"), 0, STR_NULL, &h, &problem), P_OK);
	assert_int_equal(delivery_settle(&d, h.num, &ack, &h, &problem), P_OK);
	assert_int_equal(delivery_park(&d, &enough, &untouched, &problem), P_ALREADY_SETTLED);
	assert_non_null(strstr(problem.detail, "acked"));
	assert_int_equal(untouched.num, 77);
	must(store_commit(t->c));
}

int main(void)
{
	const struct CMUnitTest delivery_park_tests[] = {
		with_store(every_receiver_of_a_large_publish_is_parked),
		with_store(what_was_acked_stays_acked),
	};

	return cmocka_run_group_tests(delivery_park_tests, NULL, NULL);
}
