/* Queues, what is due, and what an agent has. */
#include "handoff_rows.h"

static void the_next_is_of_the_highest_priority_and_of_these_the_oldest(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	static const int priorities[] = {5, 9, 0, 9, 5};
	static const uint64_t order[] = {2, 4, 1, 5, 3};
	struct handoff_row r;

	assert_int_equal(store_handoff_next(t->c, ann, &t->arena, &r), STORE_NOT_FOUND);
	for (uint64_t i = 0; i < 5; i++)
		add(t, t->space, i + 1, ann, HANDOFF_QUEUED, priorities[i]);
	add(t, t->space, 6, bob, HANDOFF_QUEUED, 9);
	for (int other = HANDOFF_DELAYED; other < HANDOFF_STATES; other++)
		add(t, t->space, 10 + (uint64_t)other, ann, (enum handoff_state)other, 9);
	for (size_t i = 0; i < 5; i++) {
		must(store_handoff_next(t->c, ann, &t->arena, &r));
		assert_int_equal(r.num, order[i]);
		move(t, r.num, HANDOFF_LEASED, T0 + 1);
	}
	assert_int_equal(store_handoff_next(t->c, ann, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_next(t->c, bob, &t->arena, &r));
	assert_int_equal(r.num, 6);
	/* What comes back stands where it stood. */
	move(t, 5, HANDOFF_QUEUED, T0 + 2);
	move(t, 1, HANDOFF_QUEUED, T0 + 3);
	must(store_handoff_next(t->c, ann, &t->arena, &r));
	assert_int_equal(r.num, 1);
}

static void the_queue_is_that_of_the_agent_who_has_it_not_of_the_target(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct handoff_row h = new_handoff(t->space, 1, ann), r;

	h.agent = bob;
	must(insert(t, &h));
	assert_int_equal(store_handoff_next(t->c, ann, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_next(t->c, bob, &t->arena, &r));
	assert_int_equal(r.num, 1);
}

static void what_is_due_comes_in_the_order_of_its_time_from_every_space(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), ann = agent_id(t, t->space, "ann"), there = agent_id(t, other, "ann"),
			next = 77;
	struct handoff_row r;

	must(store_handoff_next_due(t->c, &next));
	assert_int_equal(next, 0);
	add(t, t->space, 1, ann, HANDOFF_PARKED, 5);
	add(t, t->space, 2, ann, HANDOFF_QUEUED, 5);
	add(t, other, 1, there, HANDOFF_QUEUED, 5);
	add(t, t->space, 3, ann, HANDOFF_QUEUED, 5);
	move(t, 2, HANDOFF_DELAYED, T0 + 30);
	move(t, 3, HANDOFF_WORKING, T0 + 10);
	r = get(t, other, 1);
	r.state = HANDOFF_LEASED;
	r.due_ms = T0 + 20;
	put(t, &r);
	must(store_handoff_next_due(t->c, &next));
	assert_int_equal(next, T0 + 10);
	assert_int_equal(store_handoff_due(t->c, T0 + 9, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_due(t->c, T0 + 10, &t->arena, &r));
	assert_int_equal(r.num, 3);
	move(t, 3, HANDOFF_ACKED, 0);
	must(store_handoff_due(t->c, T0 + 99, &t->arena, &r));
	assert_int_equal(r.space, other);
	r.state = HANDOFF_COMPLETED;
	r.due_ms = 0;
	put(t, &r);
	must(store_handoff_due(t->c, T0 + 99, &t->arena, &r));
	assert_int_equal(r.num, 2);
	move(t, 2, HANDOFF_EXPIRED, 0);
	assert_int_equal(store_handoff_due(t->c, T0 + 99, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_next_due(t->c, &next));
	assert_int_equal(next, 0);
}

static void what_an_agent_has_is_counted_by_state(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct target_counts n = {9, 9, 9, 9};
	int64_t busy_until = 77;

	must(store_target_counts(t->c, ann, &n));
	assert_int_equal(n.queued + n.leased + n.working + n.parked, 0);
	must(store_target_busy_until(t->c, ann, &busy_until));
	assert_int_equal(busy_until, 0);
	for (int s = 0; s < HANDOFF_STATES; s++)
		for (int i = 0; i <= s; i++)
			add(t, t->space, (uint64_t)(100 * s + i + 1), ann, (enum handoff_state)s, 5);
	must(store_target_counts(t->c, ann, &n));
	assert_int_equal(n.queued, HANDOFF_QUEUED + 1 + HANDOFF_DELAYED + 1);
	assert_int_equal(n.leased, HANDOFF_LEASED + 1);
	assert_int_equal(n.working, HANDOFF_WORKING + 1);
	assert_int_equal(n.parked, HANDOFF_PARKED + 1);
	must(store_target_counts(t->c, bob, &n));
	assert_int_equal(n.queued + n.leased + n.working + n.parked, 0);
}

static void an_agent_is_busy_while_a_lease_or_a_work_lease_is_out(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");
	uint64_t num = add(t, t->space, 1, ann, HANDOFF_QUEUED, 5);
	int64_t until;

	for (int s = 0; s < HANDOFF_STATES; s++) {
		move(t, num, (enum handoff_state)s, s <= HANDOFF_WORKING ? T0 + 1 : 0);
		must(store_target_busy_until(t->c, ann, &until));
		assert_int_equal(until, s == HANDOFF_LEASED || s == HANDOFF_WORKING ? T0 + 1 : 0);
	}
	move(t, num, HANDOFF_LEASED, T0 + 20);
	move(t, add(t, t->space, 2, ann, HANDOFF_QUEUED, 5), HANDOFF_WORKING, T0 + 30);
	move(t, add(t, t->space, 3, ann, HANDOFF_QUEUED, 5), HANDOFF_DELAYED, T0 + 40);
	must(store_target_busy_until(t->c, ann, &until));
	assert_int_equal(until, T0 + 30);
}

static void a_queue_is_walked_from_one_to_the_next(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	static const int priorities[] = {5, 9, 5, 0, 9, 5}, order[] = {2, 5, 1, 3, 6, 4};
	struct handoff_row h, behind;

	add(t, t->space, 100, bob, HANDOFF_QUEUED, 5);
	for (uint64_t i = 0; i < 6; i++)
		add(t, t->space, i + 1, ann, HANDOFF_QUEUED, priorities[i]);
	add(t, t->space, 101, ann, HANDOFF_LEASED, 5);
	must(store_handoff_next(t->c, ann, &t->arena, &h));
	for (int i = 0; i < 6; i++) {
		assert_int_equal(h.envelope, order[i]);
		if (i < 5)
			must(store_handoff_behind(t->c, &h, &t->arena, &behind));
		else
			assert_int_equal(store_handoff_behind(t->c, &h, &t->arena, &behind), STORE_NOT_FOUND);
		h = behind;
	}
}

static void the_first_of_a_queue_is_put_off_when_it_is_due_later_than_its_ack_timeout(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");
	uint64_t impatient = add(t, t->space, 1, ann, HANDOFF_QUEUED, 9), num = add(t, t->space, 2, ann, HANDOFF_QUEUED,
		       5), found = 77;
	struct handoff_row h = get(t, t->space, impatient);

	add(t, t->space, 3, ann, HANDOFF_QUEUED, 0);
	move(t, 3, HANDOFF_QUEUED, T0 + 900000);
	h.expires_at_ms = h.due_ms = T0 + 900000;
	put(t, &h);
	h = get(t, t->space, num);
	move(t, num, HANDOFF_QUEUED, T0 + h.ack_timeout_ms);
	assert_int_equal(store_handoff_put_off(t->c, ann, T0, &found), STORE_NOT_FOUND);
	move(t, num, HANDOFF_QUEUED, T0 + h.ack_timeout_ms + 1);
	must(store_handoff_put_off(t->c, ann, T0, &found));
	assert_int_equal(found, num);
}

static const struct CMUnitTest queues[] = {
	with_engine(the_next_is_of_the_highest_priority_and_of_these_the_oldest),
	with_engine(the_queue_is_that_of_the_agent_who_has_it_not_of_the_target),
	with_engine(what_is_due_comes_in_the_order_of_its_time_from_every_space),
	with_engine(what_an_agent_has_is_counted_by_state),
	with_engine(an_agent_is_busy_while_a_lease_or_a_work_lease_is_out),
	with_engine(a_queue_is_walked_from_one_to_the_next),
	with_engine(the_first_of_a_queue_is_put_off_when_it_is_due_later_than_its_ack_timeout),
};

CONFORMANCE_PART(queues);
