/* Queues, what is due, and what an agent has. */
#include "handoff_rows.h"

static void the_next_is_of_the_highest_priority_and_of_these_the_oldest(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	static const int priorities[] = {5, 9, 0, 9, 5};
	static const uint64_t order[] = {2, 4, 1, 5, 3};
	struct handoff_row r;

	assert_int_equal(store_handoff_next(t->c, ann, false, &t->arena, &r), STORE_NOT_FOUND);
	for (uint64_t i = 0; i < 5; i++)
		add(t, t->space, i + 1, ann, HANDOFF_QUEUED, priorities[i]);
	add(t, t->space, 6, bob, HANDOFF_QUEUED, 9);
	for (int other = HANDOFF_DELAYED; other < HANDOFF_STATES; other++)
		add(t, t->space, 10 + (uint64_t)other, ann, (enum handoff_state)other, 9);
	for (size_t i = 0; i < 5; i++) {
		must(store_handoff_next(t->c, ann, false, &t->arena, &r));
		assert_int_equal(r.num, order[i]);
		move(t, r.num, HANDOFF_LEASED, T0 + 1);
	}
	assert_int_equal(store_handoff_next(t->c, ann, false, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_next(t->c, bob, false, &t->arena, &r));
	assert_int_equal(r.num, 6);
	/* What comes back stands where it stood. */
	move(t, 5, HANDOFF_QUEUED, T0 + 2);
	move(t, 1, HANDOFF_QUEUED, T0 + 3);
	must(store_handoff_next(t->c, ann, false, &t->arena, &r));
	assert_int_equal(r.num, 1);
}

static void the_queue_is_that_of_the_agent_who_has_it_not_of_the_target(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct handoff_row h = new_handoff(t->space, 1, ann), r;

	h.agent = bob;
	must(insert(t, &h));
	assert_int_equal(store_handoff_next(t->c, ann, false, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_next(t->c, bob, false, &t->arena, &r));
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

static void within_a_priority_the_lower_place_is_first(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");
	static const int priorities[] = {5, 5, 5, 9};
	static const uint64_t places[] = {4, 0, 4, 9}, order[] = {4, 2, 1, 3};
	struct handoff_row h;
	uint64_t last = 77;

	must(store_handoff_last(t->c, t->space, &last));
	assert_int_equal(last, 0);
	for (uint64_t i = 0; i < 4; i++) {
		h = new_handoff(t->space, i + 1, ann);
		h.priority = priorities[i];
		h.place = places[i];
		must(insert(t, &h));
		assert_int_equal(h.place, places[i] ? places[i] : h.num);
	}
	must(store_handoff_last(t->c, t->space, &last));
	assert_int_equal(last, 4);
	for (int i = 0; i < 4; i++) {
		must(store_handoff_next(t->c, ann, false, &t->arena, &h));
		assert_int_equal(h.num, order[i]);
		move(t, h.num, HANDOFF_LEASED, T0 + 1);
	}
}

static void what_passes_is_found_behind_what_does_not(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");
	struct handoff_row h;

	for (uint64_t i = 1; i <= 3; i++)
		add(t, t->space, i, ann, HANDOFF_QUEUED, 5);
	assert_int_equal(store_handoff_next(t->c, ann, true, &t->arena, &h), STORE_NOT_FOUND);
	h = get(t, t->space, 3);
	h.passes = true;
	put(t, &h);
	must(store_handoff_next(t->c, ann, true, &t->arena, &h));
	assert_int_equal(h.num, 3);
	assert_true(h.passes);
	must(store_handoff_next(t->c, ann, false, &t->arena, &h));
	assert_int_equal(h.num, 1);
	move(t, 3, HANDOFF_DELAYED, T0 + 1);
	assert_int_equal(store_handoff_next(t->c, ann, true, &t->arena, &h), STORE_NOT_FOUND);
}

static void what_an_outage_parked_is_found_by_agent_and_time(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct handoff_row rows[8];
	size_t count = 77;

	for (uint64_t i = 1; i <= 6; i++) {
		struct handoff_row h = new_handoff(t->space, i, i == 6 ? bob : ann);

		h.state = HANDOFF_PARKED;
		h.due_ms = 0;
		h.is_outage = i != 3;
		h.changed_at_ms = T0 + 10 - (int64_t)i;
		must(insert(t, &h));
	}
	must(store_handoffs_outage(t->c, ann, T0 + 6, T0 + 9, 8, &t->arena, rows, &count));
	assert_int_equal(count, 3);
	assert_int_equal(rows[0].num, 4);
	assert_int_equal(rows[1].num, 2);
	assert_int_equal(rows[2].num, 1);
	must(store_handoffs_outage(t->c, ann, T0 + 6, T0 + 9, 2, &t->arena, rows, &count));
	assert_int_equal(count, 2);
	must(store_handoffs_outage(t->c, ann, T0 + 20, T0 + 30, 2, &t->arena, rows, &count));
	assert_int_equal(count, 0);
}

static void an_agent_is_due_when_its_row_says_so(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob"), next = 77;
	struct target_row target = {.failures = 2, .failing_since_ms = T0, .has_opened = true, .redrive_from_ms = 3,
				    .redrive_to_ms = 4, .due_ms = T0 + 9}, got;
	struct target_due due;

	must(store_target_next_due(t->c, &next));
	assert_int_equal(next, 0);
	must(store_begin(t->c));
	must(store_target_put(t->c, ann, &target));
	target.due_ms = T0 + 5;
	must(store_target_put(t->c, bob, &target));
	must(store_commit(t->c));
	must(store_target_next_due(t->c, &next));
	assert_int_equal(next, T0 + 5);
	assert_int_equal(store_target_due(t->c, T0 + 4, &t->arena, &due), STORE_NOT_FOUND);
	must(store_target_due(t->c, T0 + 20, &t->arena, &due));
	assert_int_equal(due.agent, bob);
	assert_int_equal(due.space, t->space);
	assert_str(due.name, "bob");
	must(store_target_get(t->c, bob, &got));
	assert_true(due.target.failures == 2 && due.target.redrive_to_ms == 4 && due.target.due_ms == T0 + 5);
	assert_true(got.has_opened && got.failing_since_ms == T0 && got.redrive_from_ms == 3 && got.redrive_to_ms == 4);
}

static void agents_that_fail_are_found_by_space(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	int64_t cid = agent_id(t, t->space, "cid");
	int64_t dan = agent_id(t, t->space + 1, "dan");
	struct target_due rows[4];
	size_t count = 77;

	must(store_begin(t->c));
	must(store_target_put(t->c, ann, &(struct target_row){.seen_at_ms = T0}));
	must(store_target_put(t->c, bob, &(struct target_row){.failures = 1}));
	must(store_target_put(t->c, cid, &(struct target_row){.open_until_ms = T0}));
	must(store_target_put(t->c, dan, &(struct target_row){.failures = 1}));
	must(store_commit(t->c));
	must(store_targets_failing(t->c, t->space, 4, &t->arena, rows, &count));
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].agent, bob);
	assert_str(rows[1].name, "cid");
	must(store_targets_failing(t->c, t->space, 1, &t->arena, rows, &count));
	assert_int_equal(count, 1);
}

static const struct CMUnitTest queues[] = {
	with_engine(the_next_is_of_the_highest_priority_and_of_these_the_oldest),
	with_engine(the_queue_is_that_of_the_agent_who_has_it_not_of_the_target),
	with_engine(what_is_due_comes_in_the_order_of_its_time_from_every_space),
	with_engine(what_an_agent_has_is_counted_by_state),
	with_engine(an_agent_is_busy_while_a_lease_or_a_work_lease_is_out),
	with_engine(within_a_priority_the_lower_place_is_first),
	with_engine(what_passes_is_found_behind_what_does_not),
	with_engine(what_an_outage_parked_is_found_by_agent_and_time),
	with_engine(an_agent_is_due_when_its_row_says_so),
	with_engine(agents_that_fail_are_found_by_space),
};

CONFORMANCE_PART(queues);
