/* core/delivery/delivery.h with the real store and a clock that the test sets: what an empty chair costs, what an open
 * breaker holds, what comes back after an outage, and a clock that is set back. The rest is played by tests/sim. */
#include "core/delivery/delivery.h"
#include "temp_store.h"

enum { QUEUED = 200, HOUR_MS = 3600 * 1000, ACK_TIMEOUT_MS = 15000, DAY_MS = 24 * HOUR_MS };

struct desk {
	struct temp_store *t;
	uint64_t random;
	int64_t now_ms;
	size_t written;			/* handoffs, so far */
	int64_t ready;			/* the agent that was told last that something may be taken */
};

static void on_changed(void *ctx, const struct handoff_row *h, enum handoff_state before)
{
	struct desk *desk = ctx;

	(void)h;
	(void)before;
	desk->written++;
}

static void on_ready(void *ctx, int64_t agent, int64_t at_ms)
{
	struct desk *desk = ctx;

	if (at_ms <= desk->now_ms)
		desk->ready = agent;
}

static struct delivery step(struct desk *desk)
{
	return (struct delivery){.conn = desk->t->c, .arena = &desk->t->arena, .space = desk->t->space,
				 .now_ms = desk->now_ms, .random = &desk->random, .changed = on_changed,
				 .ready = on_ready, .ctx = desk};
}

static enum problem_code send_order(struct desk *desk, struct delivery_order order, struct handoff_row *ret,
				    struct problem *problem)
{
	struct delivery d = step(desk);

	order.priority = -1;
	return delivery_send(&d, &order, ret, problem);
}

static struct handoff_row send(struct desk *desk, uint64_t envelope, const char *to)
{
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(send_order(desk, (struct delivery_order){.envelope = envelope, .to = str_of(to)}, &h,
				    &problem), P_OK);
	return h;
}

/* What the agent gets; num 0: nothing. */
static struct handoff_row receive(struct desk *desk, const char *agent, int64_t lease_ms)
{
	struct delivery d = step(desk);
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(delivery_take(&d, str_of(agent), lease_ms, STR_NULL, &h, &problem), P_OK);
	return h;
}

static struct handoff_row take(struct desk *desk, const char *agent, int64_t lease_ms)
{
	struct handoff_row h = receive(desk, agent, lease_ms);

	assert_int_not_equal(h.num, 0);
	return h;
}

static struct handoff_row settle(struct desk *desk, const struct handoff_row *h, enum handoff_verb verb,
				 const char *text)
{
	struct delivery_answer answer = {.verb = verb, .lease = h->leases, .delay_ms = 0,
					 .text = text ? str_of(text) : STR_NULL};
	struct delivery d = step(desk);
	struct handoff_row after;
	struct problem problem;

	assert_int_equal(delivery_settle(&d, h->num, &answer, &after, &problem), P_OK);
	return after;
}

/* Lets time pass, as the writer does it: from one thing that is due to the next. */
static void pass(struct desk *desk, int64_t until_ms)
{
	int64_t next_ms = 0;
	struct problem problem;

	must(delivery_next_due(desk->t->c, &next_ms));
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
	struct problem problem;

	must(store_handoff_get(desk->t->c, desk->t->space, num, &desk->t->arena, &h));
	assert_int_equal(delivery_look(desk->t->c, desk->now_ms, &desk->t->arena, &h, &problem), P_OK);
	return h;
}

static struct target_row target_of(struct desk *desk, const char *agent)
{
	struct target_row target;
	int64_t id;

	must(store_agent_id(desk->t->c, desk->t->space, str_of(agent), false, desk->now_ms, &id));
	must(store_target_get(desk->t->c, id, &target));
	return target;
}

/* A handoff that uses up its attempts. */
static struct handoff_row exhaust(struct desk *desk, uint64_t envelope, const char *agent)
{
	struct handoff_row h = send(desk, envelope, agent);

	for (int i = 0; i < DELIVERY_ATTEMPTS; i++) {
		struct handoff_row got = take(desk, agent, 0);

		assert_int_equal(got.num, h.num);
		h = settle(desk, &got, VERB_NACK, "529: overloaded");
	}
	assert_int_equal(h.state, HANDOFF_PARKED);
	return h;
}

static void open_breaker(struct desk *desk, const char *agent)
{
	for (uint64_t i = 0; i < BREAKER_FAILURES; i++)
		exhaust(desk, 1001 + i, agent);
	assert_int_not_equal(target_of(desk, agent).open_until_ms, 0);
}

static struct desk begin(void **state)
{
	struct desk desk = {.t = *state, .random = 1, .now_ms = T0};

	must(store_begin(desk.t->c));
	return desk;
}

/* --- Empty chairs --- */

static void what_nobody_takes_waits_for_a_day_and_costs_nothing(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h;

	for (uint64_t i = 0; i < QUEUED; i++)
		send(&desk, 1 + i, "ann");
	desk.written = 0;
	pass(&desk, T0 + DAY_MS - 1);
	assert_int_equal(desk.written, 0);
	h = look(&desk, 1);
	assert_int_equal(h.state, HANDOFF_QUEUED);
	assert_int_equal(h.attempt, 1);
	pass(&desk, T0 + DAY_MS);
	h = look(&desk, 1);
	assert_int_equal(h.state, HANDOFF_PARKED);
	assert_str(h.reason, "queue_timeout: nobody took it within 24 hours");
	assert_false(h.is_exhausted || h.is_outage);
	assert_int_equal(target_of(&desk, "ann").failures, 0);
	must(store_commit(desk.t->c));
}

/* As a store of an older schema has it: its attempt would have ended untaken. */
static void what_was_queued_before_there_was_a_queue_timeout_waits_from_now_on(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = send(&desk, 1, "ann");

	h.queue_timeout_ms = h.queue_until_ms = 0;
	h.place = 0;
	h.due_ms = T0 + ACK_TIMEOUT_MS;
	must(store_handoff_put(desk.t->c, &h));
	pass(&desk, T0 + DAY_MS);
	h = look(&desk, h.num);
	assert_int_equal(h.state, HANDOFF_QUEUED);
	assert_int_equal(h.attempt, 1);
	assert_int_equal(h.queue_until_ms, T0 + ACK_TIMEOUT_MS + DAY_MS);
	send(&desk, 2, "ann");
	assert_int_equal(take(&desk, "ann", 0).num, h.num);
	must(store_commit(desk.t->c));
}

static void a_redrive_and_a_failed_attempt_begin_the_queue_timeout_anew(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = send(&desk, 1, "ann"), got;
	struct delivery d;
	struct problem problem;

	pass(&desk, T0 + DAY_MS);
	d = step(&desk);
	assert_int_equal(delivery_redrive(&d, h.num, STR_NULL, STR_NULL, &h, &problem), P_OK);
	pass(&desk, T0 + 2 * DAY_MS - 1);
	got = take(&desk, "ann", 0);
	settle(&desk, &got, VERB_NACK, "no model");
	pass(&desk, T0 + 3 * DAY_MS - 2);
	assert_int_equal(look(&desk, h.num).state, HANDOFF_QUEUED);
	pass(&desk, T0 + 3 * DAY_MS - 1);
	h = look(&desk, h.num);
	assert_int_equal(h.state, HANDOFF_PARKED);
	assert_str(h.reason, "queue_timeout: nobody took it within 24 hours, after an attempt that failed: no model");
	must(store_commit(desk.t->c));
}

static void an_empty_chair_passes_the_work_on_and_the_last_one_gives_it_back(void **state)
{
	static const struct json names[] = {{.type = JSON_STRING, .s = {"bob", 3}}};
	const struct json fallbacks = {.type = JSON_ARRAY, .count = 1, .items = (struct json *)(uintptr_t)names};
	struct desk desk = begin(state);
	struct delivery_order order = {.envelope = 1, .to = STR("ann"), .fallbacks = &fallbacks};
	int64_t patience_ms = DELIVERY_ATTEMPTS * ACK_TIMEOUT_MS;
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(send_order(&desk, order, &h, &problem), P_OK);
	pass(&desk, T0 + patience_ms - 1);
	assert_str(look(&desk, 1).agent_name, "ann");
	pass(&desk, T0 + patience_ms);
	assert_str(look(&desk, 1).agent_name, "bob");
	pass(&desk, T0 + 2 * patience_ms);
	h = look(&desk, 1);
	assert_str(h.agent_name, "ann");
	assert_int_equal(h.attempt, 1);
	assert_null(h.reason.p);
	pass(&desk, T0 + DAY_MS - 1);
	assert_str(look(&desk, 1).agent_name, "ann");
	assert_int_equal(target_of(&desk, "bob").failures, 0);
	pass(&desk, T0 + DAY_MS);
	assert_int_equal(look(&desk, 1).state, HANDOFF_PARKED);
	must(store_commit(desk.t->c));
}

/* A long queue with fallbacks waits behind an agent at work: it is looked at once in the time that it would be passed
 * on after, and not passed on. */
static void an_agent_at_work_is_no_empty_chair(void **state)
{
	static const struct json names[] = {{.type = JSON_STRING, .s = {"bob", 3}}};
	const struct json fallbacks = {.type = JSON_ARRAY, .count = 1, .items = (struct json *)(uintptr_t)names};
	struct desk desk = begin(state);
	struct handoff_row held, h;
	struct problem problem;
	int64_t patience_ms = DELIVERY_ATTEMPTS * ACK_TIMEOUT_MS;

	send(&desk, 1, "ann");
	held = take(&desk, "ann", HOUR_MS);
	for (uint64_t i = 0; i < QUEUED; i++)
		assert_int_equal(send_order(&desk, (struct delivery_order){.envelope = 2 + i, .to = STR("ann"),
									   .fallbacks = &fallbacks}, &h, &problem),
				 P_OK);
	desk.written = 0;
	pass(&desk, T0 + HOUR_MS - 1);
	assert_in_range(desk.written, QUEUED, QUEUED * (HOUR_MS / patience_ms + 1));
	settle(&desk, &held, VERB_COMPLETE, NULL);
	pass(&desk, desk.now_ms + patience_ms - 1000);
	for (uint64_t num = 2; num < 2 + QUEUED; num++)
		assert_str(look(&desk, num).agent_name, "ann");
	pass(&desk, desk.now_ms + patience_ms);
	for (uint64_t num = 2; num < 2 + QUEUED; num++)
		assert_str(look(&desk, num).agent_name, "bob");
	must(store_commit(desk.t->c));
}

static void a_dead_agent_does_not_count_as_alive_because_the_clock_was_set_back(void **state)
{
	static const struct json names[] = {{.type = JSON_STRING, .s = {"bob", 3}}};
	const struct json fallbacks = {.type = JSON_ARRAY, .count = 1, .items = (struct json *)(uintptr_t)names};
	struct desk desk = begin(state);
	struct handoff_row h;
	struct problem problem;

	send(&desk, 1, "ann");
	h = take(&desk, "ann", 0);
	settle(&desk, &h, VERB_ACK, NULL);
	desk.now_ms = T0 - HOUR_MS;
	assert_int_equal(send_order(&desk, (struct delivery_order){.envelope = 2, .to = STR("ann"),
								   .fallbacks = &fallbacks}, &h, &problem), P_OK);
	pass(&desk, desk.now_ms + 3 * DELIVERY_ATTEMPTS * ACK_TIMEOUT_MS);
	assert_str(look(&desk, h.num).target_name, "ann");
	assert_int_not_equal(look(&desk, h.num).changed_at_ms, h.changed_at_ms);
	must(store_commit(desk.t->c));
}

static void an_agent_that_is_seen_after_the_clock_was_set_back_was_seen_then(void **state)
{
	struct desk desk = begin(state);

	send(&desk, 1, "ann");
	send(&desk, 2, "ann");
	take(&desk, "ann", 0);
	desk.now_ms = T0 - HOUR_MS;
	take(&desk, "ann", 0);
	assert_int_equal(target_of(&desk, "ann").seen_at_ms, T0 - HOUR_MS);
	must(store_commit(desk.t->c));
}

static void what_is_deferred_is_given_to_nobody_before_its_time(void **state)
{
	struct desk desk = begin(state);
	struct delivery_order order = {.envelope = 1, .to = STR("ann"), .not_before_ms = T0 + HOUR_MS};
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(send_order(&desk, order, &h, &problem), P_OK);
	assert_int_equal(h.state, HANDOFF_DELAYED);
	assert_int_equal(h.queue_until_ms, T0 + HOUR_MS + DAY_MS);
	pass(&desk, T0 + HOUR_MS - 1);
	assert_int_equal(receive(&desk, "ann", 0).num, 0);
	pass(&desk, T0 + HOUR_MS);
	assert_int_equal(take(&desk, "ann", 0).num, h.num);
	order = (struct delivery_order){.envelope = 2, .to = STR("ann"), .not_before_ms = T0 + DAY_MS, .wait_ms = 5};
	assert_int_equal(send_order(&desk, order, &h, &problem), P_INVALID_FIELD);
	assert_string_equal(problem.field, "not_before");
	order = (struct delivery_order){.envelope = 2, .to = STR("ann"), .not_before_ms = T0 + 400 * (int64_t)DAY_MS};
	assert_int_equal(send_order(&desk, order, &h, &problem), P_INVALID_FIELD);
	must(store_commit(desk.t->c));
}

/* --- Breakers --- */

static void behind_an_open_breaker_work_is_held_and_the_first_of_the_queue_is_the_probe(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row before, after, got;
	struct problem problem;

	before = send(&desk, 1, "ann");
	before = take(&desk, "ann", 0);		/* out of the way, while the breaker opens */
	open_breaker(&desk, "ann");
	before = settle(&desk, &before, VERB_NACK, "no");
	assert_int_equal(before.state, HANDOFF_QUEUED);
	after = send(&desk, 2, "ann");
	assert_int_equal(after.held_until_ms, desk.now_ms + BREAKER_OPEN_MS);
	assert_int_equal(look(&desk, before.num).held_until_ms, desk.now_ms + BREAKER_OPEN_MS);
	assert_int_equal(send_order(&desk, (struct delivery_order){.envelope = 3, .to = STR("ann"), .wait_ms = 5},
				    &got, &problem), P_CIRCUIT_OPEN);
	pass(&desk, T0 + BREAKER_OPEN_MS - 1);
	assert_int_equal(receive(&desk, "ann", 0).num, 0);
	desk.ready = 0;
	pass(&desk, T0 + BREAKER_OPEN_MS);
	assert_int_equal(desk.ready, before.agent);
	got = take(&desk, "ann", 0);
	assert_int_equal(got.num, before.num);
	assert_int_equal(receive(&desk, "ann", 0).num, 0);
	assert_int_equal(look(&desk, after.num).held_until_ms, got.due_ms);
	desk.ready = 0;
	settle(&desk, &got, VERB_ACK, NULL);
	assert_int_equal(desk.ready, before.agent);
	got = take(&desk, "ann", 0);
	assert_int_equal(got.num, after.num);
	assert_int_equal(got.attempt, 1);
	must(store_commit(desk.t->c));
}

static void a_probe_that_is_rejected_lets_the_next_one_through(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row got, second;

	open_breaker(&desk, "ann");
	send(&desk, 1, "ann");
	second = send(&desk, 2, "ann");
	pass(&desk, T0 + BREAKER_OPEN_MS);
	got = take(&desk, "ann", 0);
	desk.ready = 0;
	settle(&desk, &got, VERB_REJECT, "not mine");
	assert_int_equal(desk.ready, second.agent);
	assert_int_equal(take(&desk, "ann", 0).num, second.num);
	must(store_commit(desk.t->c));
}

static void channels_and_what_a_person_wants_pass_an_open_breaker(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h, parked;
	struct problem problem;
	struct delivery d;

	open_breaker(&desk, "ann");
	parked = look(&desk, 1);
	send(&desk, 2, "ann");
	assert_int_equal(send_order(&desk, (struct delivery_order){.envelope = 3, .to = STR("ann"), .channel = 1}, &h,
				    &problem), P_OK);
	assert_int_equal(h.held_until_ms, 0);
	d = step(&desk);
	assert_int_equal(delivery_redrive(&d, parked.num, STR_NULL, STR_NULL, &parked, &problem), P_OK);
	assert_int_equal(take(&desk, "ann", 0).num, parked.num);
	assert_int_equal(take(&desk, "ann", 0).num, h.num);
	assert_int_equal(receive(&desk, "ann", 0).num, 0);
	must(store_commit(desk.t->c));
}

/* --- Outages --- */

static void what_an_outage_parked_comes_back_once_and_behind_the_queue(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row early, rejected, got, queued;

	early = exhaust(&desk, 1, "ann");		/* not of this outage: an ack follows */
	send(&desk, 2, "ann");
	got = take(&desk, "ann", 0);
	settle(&desk, &got, VERB_ACK, NULL);
	send(&desk, 3, "ann");
	rejected = take(&desk, "ann", 0);
	desk.now_ms++;
	open_breaker(&desk, "ann");		/* ho-4 to ho-6 */
	rejected = settle(&desk, &rejected, VERB_REJECT, "never");
	queued = send(&desk, 4, "ann");
	pass(&desk, desk.now_ms + BREAKER_OPEN_MS);
	got = take(&desk, "ann", 0);
	assert_int_equal(got.num, queued.num);
	queued = send(&desk, 5, "ann");
	settle(&desk, &got, VERB_COMPLETE, NULL);
	pass(&desk, desk.now_ms);
	assert_int_equal(look(&desk, early.num).state, HANDOFF_PARKED);
	assert_int_equal(look(&desk, rejected.num).state, HANDOFF_PARKED);
	assert_int_equal(take(&desk, "ann", 0).num, queued.num);
	for (uint64_t num = 4; num <= 6; num++) {
		got = take(&desk, "ann", 0);
		assert_int_equal(got.num, num);
		assert_true(got.is_redriven);
		assert_int_equal(got.attempt, 1);
		for (int i = 1; i <= DELIVERY_ATTEMPTS; i++) {
			got = settle(&desk, &got, VERB_NACK, "529 again");
			if (i < DELIVERY_ATTEMPTS)
				got = take(&desk, "ann", 0);
		}
		assert_int_equal(got.state, HANDOFF_PARKED);
		assert_str(got.reason, "529 again");
		assert_false(got.is_outage);
	}
	assert_int_equal(target_of(&desk, "ann").failures, 0);
	must(store_commit(desk.t->c));
}

static void a_large_backlog_comes_back_in_bounded_steps(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row got;
	struct problem problem;
	int64_t next_ms = 0;
	size_t before, step_max = 0, back = 0;

	/* All are leased before the breaker opens, and fail after. */
	for (uint64_t i = 1; i <= QUEUED; i++) {
		assert_int_equal(send_order(&desk, (struct delivery_order){.envelope = i, .to = STR("ann"),
									   .max_attempts = 1}, &got, &problem), P_OK);
		take(&desk, "ann", ACK_TIMEOUT_MS);
	}
	pass(&desk, T0 + ACK_TIMEOUT_MS);
	assert_int_equal(look(&desk, QUEUED).state, HANDOFF_PARKED);
	send(&desk, QUEUED + 1, "ann");
	pass(&desk, desk.now_ms + BREAKER_OPEN_MS);
	got = take(&desk, "ann", 0);
	settle(&desk, &got, VERB_ACK, NULL);
	do {
		struct delivery d = step(&desk);

		before = desk.written;
		assert_int_equal(delivery_due(&d, 1, &next_ms, &problem), P_OK);
		back += desk.written - before;
		step_max = desk.written - before > step_max ? desk.written - before : step_max;
	} while (next_ms && next_ms <= desk.now_ms);
	assert_int_equal(back, QUEUED);
	assert_int_equal(step_max, DELIVERY_BRING_BACK_MAX);
	must(store_commit(desk.t->c));
}

static void what_a_person_or_a_waiting_sender_had_does_not_come_back(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row touched, waited, got;
	struct problem problem;
	struct delivery d;

	touched = exhaust(&desk, 1, "ann");
	assert_int_equal(send_order(&desk, (struct delivery_order){.envelope = 2, .to = STR("ann"), .wait_ms = 900000,
								   .max_attempts = 1}, &waited, &problem), P_OK);
	got = take(&desk, "ann", 0);
	settle(&desk, &got, VERB_NACK, "no");
	exhaust(&desk, 3, "ann");
	assert_int_not_equal(target_of(&desk, "ann").open_until_ms, 0);
	d = step(&desk);
	assert_int_equal(delivery_redrive(&d, touched.num, STR_NULL, STR_NULL, &touched, &problem), P_OK);
	for (int i = 0; i < DELIVERY_ATTEMPTS; i++) {
		got = take(&desk, "ann", 0);
		settle(&desk, &got, VERB_NACK, "no");
	}
	send(&desk, 4, "ann");
	pass(&desk, desk.now_ms + BREAKER_OPEN_MS);
	got = take(&desk, "ann", 0);
	settle(&desk, &got, VERB_ACK, NULL);
	pass(&desk, desk.now_ms + 1);
	assert_int_equal(look(&desk, touched.num).state, HANDOFF_PARKED);
	assert_int_equal(look(&desk, waited.num).state, HANDOFF_PARKED);
	assert_int_equal(look(&desk, 3).state, HANDOFF_QUEUED);
	must(store_commit(desk.t->c));
}

static void a_breaker_that_a_person_closes_brings_back_what_it_owes_with_the_next_ack(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row got;
	struct problem problem;
	struct delivery d;

	open_breaker(&desk, "ann");
	d = step(&desk);
	assert_int_equal(breaker_reset(&d, STR("ann"), &problem), P_OK);
	pass(&desk, desk.now_ms + 1);
	assert_int_equal(look(&desk, 1).state, HANDOFF_PARKED);
	send(&desk, 9, "ann");
	got = take(&desk, "ann", 0);
	settle(&desk, &got, VERB_ACK, NULL);
	pass(&desk, desk.now_ms + 1);
	for (uint64_t num = 1; num <= BREAKER_FAILURES; num++)
		assert_int_equal(look(&desk, num).state, HANDOFF_QUEUED);
	must(store_commit(desk.t->c));
}

/* --- What is queued --- */

static void what_is_queued_is_cancelled_or_moved_and_nothing_else_is(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = send(&desk, 1, "ann"), got;
	struct problem problem;
	struct delivery d = step(&desk);

	assert_int_equal(delivery_hand_over(&d, h.num, STR("bob"), STR("ann is ill"), &got, &problem), P_OK);
	assert_str(got.target_name, "bob");
	assert_int_equal(receive(&desk, "ann", 0).num, 0);
	got = take(&desk, "bob", 0);
	assert_int_equal(delivery_cancel(&d, h.num, STR_NULL, &got, &problem), P_NOT_QUEUED);
	assert_non_null(strstr(problem.detail, "leased"));
	assert_int_equal(delivery_hand_over(&d, h.num, STR("ann"), STR_NULL, &got, &problem), P_NOT_QUEUED);
	h = send(&desk, 2, "ann");
	assert_int_equal(delivery_cancel(&d, h.num, STR("not needed"), &got, &problem), P_OK);
	assert_int_equal(got.state, HANDOFF_DISCARDED);
	assert_int_equal(receive(&desk, "ann", 0).num, 0);
	assert_int_equal(delivery_cancel(&d, h.num, STR_NULL, &got, &problem), P_NOT_QUEUED);
	send(&desk, 3, "ann");
	send(&desk, 3, "bob");
	assert_int_equal(delivery_hand_over(&d, 3, STR("bob"), STR_NULL, &got, &problem), P_ALREADY_SENT);
	must(store_commit(desk.t->c));
}

/* Sent to ann for HOUR_MS later, taken back by a person and redriven: ann gets it now. */
static struct handoff_row let_go_by_a_person(struct desk *desk)
{
	struct delivery_order order = {.envelope = 1, .to = STR("ann"), .not_before_ms = T0 + HOUR_MS};
	struct delivery d = step(desk);
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(send_order(desk, order, &h, &problem), P_OK);
	assert_int_equal(delivery_cancel(&d, h.num, STR_NULL, &h, &problem), P_OK);
	assert_int_equal(delivery_restore(&d, h.num, STR_NULL, &h, &problem), P_OK);
	assert_int_equal(delivery_redrive(&d, h.num, STR_NULL, STR_NULL, &h, &problem), P_OK);
	assert_int_equal(h.state, HANDOFF_QUEUED);
	return h;
}

static struct handoff_row move(struct desk *desk, uint64_t num, const char *to)
{
	struct delivery d = step(desk);
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(delivery_hand_over(&d, num, str_of(to), STR_NULL, &h, &problem), P_OK);
	return h;
}

static void what_is_deferred_and_moved_stays_deferred(void **state)
{
	struct desk desk = begin(state);
	struct delivery_order order = {.envelope = 1, .to = STR("ann"), .not_before_ms = T0 + HOUR_MS};
	struct handoff_row h;
	struct problem problem;

	assert_int_equal(send_order(&desk, order, &h, &problem), P_OK);
	h = move(&desk, h.num, "bob");
	assert_int_equal(h.state, HANDOFF_DELAYED);
	assert_int_equal(h.due_ms, T0 + HOUR_MS);
	assert_int_equal(h.queue_until_ms, T0 + HOUR_MS + DAY_MS);
	must(store_commit(desk.t->c));
}

/* The sender's not_before is still to come, but a person has overruled it. */
static void what_a_redrive_let_go_is_offered_anew_by_a_move(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = let_go_by_a_person(&desk);

	desk.now_ms = T0 + 7;
	h = move(&desk, h.num, "bob");
	assert_int_equal(h.state, HANDOFF_QUEUED);
	assert_int_equal(h.queue_until_ms, T0 + 7 + DAY_MS);
	assert_int_equal(h.due_ms, h.queue_until_ms);
	must(store_commit(desk.t->c));
}

static void what_backs_off_after_a_redrive_does_not_when_it_is_moved(void **state)
{
	struct desk desk = begin(state);
	struct handoff_row h = let_go_by_a_person(&desk), got = take(&desk, "ann", 0);
	struct delivery_answer nack = {.verb = VERB_NACK, .lease = got.leases, .delay_ms = 5000};
	struct delivery d = step(&desk);
	struct problem problem;

	assert_int_equal(delivery_settle(&d, h.num, &nack, &h, &problem), P_OK);
	assert_int_equal(h.state, HANDOFF_DELAYED);
	move(&desk, h.num, "bob");
	assert_int_equal(take(&desk, "bob", 0).num, h.num);
	must(store_commit(desk.t->c));
}

int main(void)
{
	const struct CMUnitTest delivery_time_tests[] = {
		with_store(what_nobody_takes_waits_for_a_day_and_costs_nothing),
		with_store(what_was_queued_before_there_was_a_queue_timeout_waits_from_now_on),
		with_store(a_redrive_and_a_failed_attempt_begin_the_queue_timeout_anew),
		with_store(an_empty_chair_passes_the_work_on_and_the_last_one_gives_it_back),
		with_store(an_agent_at_work_is_no_empty_chair),
		with_store(a_dead_agent_does_not_count_as_alive_because_the_clock_was_set_back),
		with_store(an_agent_that_is_seen_after_the_clock_was_set_back_was_seen_then),
		with_store(what_is_deferred_is_given_to_nobody_before_its_time),
		with_store(behind_an_open_breaker_work_is_held_and_the_first_of_the_queue_is_the_probe),
		with_store(a_probe_that_is_rejected_lets_the_next_one_through),
		with_store(channels_and_what_a_person_wants_pass_an_open_breaker),
		with_store(what_an_outage_parked_comes_back_once_and_behind_the_queue),
		with_store(a_large_backlog_comes_back_in_bounded_steps),
		with_store(what_a_person_or_a_waiting_sender_had_does_not_come_back),
		with_store(a_breaker_that_a_person_closes_brings_back_what_it_owes_with_the_next_ack),
		with_store(what_is_queued_is_cancelled_or_moved_and_nothing_else_is),
		with_store(what_is_deferred_and_moved_stays_deferred),
		with_store(what_a_redrive_let_go_is_offered_anew_by_a_move),
		with_store(what_backs_off_after_a_redrive_does_not_when_it_is_moved),
	};

	return cmocka_run_group_tests(delivery_time_tests, NULL, NULL);
}
