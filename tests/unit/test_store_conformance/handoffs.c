/* Handoffs, and what came out of them. */
#include "handoff_rows.h"

/* The numbers that a list gives, as text. */
static const char *list(struct temp_store *t, struct handoff_filter filter, uint64_t after, size_t max)
{
	struct handoff_row rows[16];
	struct buf text;
	const char *result;
	size_t n = 99;

	if (filter.space == 0)
		filter.space = t->space;
	buf_init(&text, 4096);
	must(store_handoffs(t->c, &filter, after, max, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%llu", i ? " " : "", (unsigned long long)rows[i].num);
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

/* --- One handoff ---------------------------------------------------------------------------------- */

static void assert_same(const struct handoff_row *a, const struct handoff_row *b)
{
	assert_int_equal(a->space, b->space);
	assert_int_equal(a->num, b->num);
	assert_int_equal(a->envelope, b->envelope);
	assert_int_equal(a->channel, b->channel);
	assert_int_equal(a->created_at_ms, b->created_at_ms);
	assert_true(str_eq(a->from, b->from));
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->agent, b->agent);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->priority, b->priority);
	assert_int_equal(a->attempt, b->attempt);
	assert_int_equal(a->max_attempts, b->max_attempts);
	assert_int_equal(a->leases, b->leases);
	assert_int_equal(a->due_ms, b->due_ms);
	assert_int_equal(a->expires_at_ms, b->expires_at_ms);
	assert_int_equal(a->ack_timeout_ms, b->ack_timeout_ms);
	assert_int_equal(a->lease_ms, b->lease_ms);
	assert_int_equal(a->changed_at_ms, b->changed_at_ms);
	assert_int_equal(a->acked_at_ms, b->acked_at_ms);
	assert_int_equal(a->is_exhausted, b->is_exhausted);
	assert_int_equal(a->is_told, b->is_told);
	assert_int_equal(a->is_retried, b->is_retried);
	assert_true(str_eq(a->receiver, b->receiver));
	assert_true(str_eq(a->fallbacks, b->fallbacks));
	assert_true(str_eq(a->reason, b->reason));
	assert_true(str_eq(a->progress, b->progress));
}

static void a_handoff_comes_back_as_it_was_stored(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct handoff_row h = {
		.space = t->space, .envelope = 7, .channel = 0, .created_at_ms = T0 + 1, .from = STR("sender"),
				.target = ann, .agent = bob,
		.state = HANDOFF_LEASED, .priority = 9, .attempt = 2, .max_attempts = 4, .leases = 3, .due_ms = T0 + 5,
				.expires_at_ms = T0 + 6,
		.ack_timeout_ms = 7, .lease_ms = 8, .changed_at_ms = T0 + 9, .acked_at_ms = T0 + 10,
				.is_exhausted = true, .is_told = true, .is_retried = true,
		.receiver = STR("bob-1"), .fallbacks = STR("[\"cid\"]"), .reason = STR("späte Antwort"),
				.progress = STR("half"),
	}, r;

	add_envelope(t, t->space, 7);
	must(insert(t, &h));
	assert_int_equal(h.num, 1);
	conformance_reopen(t);
	r = get(t, t->space, 1);
	assert_same(&r, &h);
	assert_str(r.target_name, "ann");
	assert_str(r.agent_name, "bob");
}

static void what_is_not_set_comes_back_as_not_set(void **state)
{
	struct temp_store *t = *state;
	struct handoff_row r;

	add_envelope(t, t->space, 1);
	add(t, t->space, 1, agent_id(t, t->space, "ann"), HANDOFF_QUEUED, 5);
	r = get(t, t->space, 1);
	assert_null(r.from.p);
	assert_null(r.receiver.p);
	assert_null(r.fallbacks.p);
	assert_null(r.reason.p);
	assert_null(r.progress.p);
	assert_false(r.is_exhausted);
	assert_false(r.is_told);
}

static void numbers_grow_by_one_in_each_space(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), ann = agent_id(t, t->space, "ann"), there = agent_id(t, other, "ann");

	assert_int_not_equal(ann, there);
	assert_int_equal(add(t, t->space, 1, ann, HANDOFF_QUEUED, 5), 1);
	assert_int_equal(add(t, t->space, 2, ann, HANDOFF_DISCARDED, 5), 2);
	assert_int_equal(add(t, other, 1, there, HANDOFF_QUEUED, 5), 1);
	assert_int_equal(add(t, t->space, 3, ann, HANDOFF_QUEUED, 5), 3);
	conformance_reopen(t);
	assert_int_equal(add(t, other, 2, there, HANDOFF_QUEUED, 5), 2);
}

static void an_envelope_is_handed_to_a_target_once(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct handoff_row again = new_handoff(t->space, 1, ann), r;

	add(t, t->space, 1, ann, HANDOFF_COMPLETED, 5);
	assert_int_equal(insert(t, &again), STORE_EXISTS);
	assert_int_equal(get(t, t->space, 1).state, HANDOFF_COMPLETED);
	assert_string_equal(list(t, (struct handoff_filter){0}, 0, 16), "1");
	assert_int_equal(add(t, t->space, 1, bob, HANDOFF_QUEUED, 5), 2);
	must(store_handoff_find(t->c, t->space, 1, bob, &t->arena, &r));
	assert_int_equal(r.num, 2);
	assert_int_equal(store_handoff_find(t->c, t->space, 2, bob, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_find(t->c, t->space + 1, 1, bob, &t->arena, &r), STORE_NOT_FOUND);
}

static void a_put_writes_all_that_may_change_and_nothing_else(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob"),
			cid = agent_id(t, t->space, "cid");
	struct handoff_row h = new_handoff(t->space, 1, ann), r;

	h.from = STR("sender");
	must(insert(t, &h));
	h.target = bob;
	h.agent = cid;
	h.state = HANDOFF_WORKING;
	h.priority = 2;
	h.attempt = 3;
	h.max_attempts = 4;
	h.leases = 5;
	h.due_ms = 6;
	h.expires_at_ms = 7;
	h.ack_timeout_ms = 8;
	h.lease_ms = 9;
	h.changed_at_ms = 10;
	h.acked_at_ms = 11;
	h.is_exhausted = true;
	h.is_told = true;
	h.receiver = STR("r");
	h.fallbacks = STR("[]");
	h.reason = STR("why");
	h.progress = STR("p");
	put(t, &h);
	r = get(t, t->space, 1);
	assert_same(&r, &h);
	r.envelope = 9;
	r.created_at_ms = 9;
	r.from = STR("somebody else");
	r.receiver = r.fallbacks = r.reason = r.progress = STR_NULL;
	put(t, &r);
	r = get(t, t->space, 1);
	assert_int_equal(r.envelope, 1);
	assert_int_equal(r.created_at_ms, T0);
	assert_str(r.from, "sender");
	assert_null(r.receiver.p);
	assert_null(r.reason.p);
}

static void an_unknown_handoff_is_not_found(void **state)
{
	struct temp_store *t = *state;
	struct handoff_row h = new_handoff(t->space, 1, agent_id(t, t->space, "ann")), r = {.num = 77};

	must(insert(t, &h));
	assert_int_equal(store_handoff_get(t->c, t->space, 2, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_get(t->c, t->space + 1, 1, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(r.num, 77);
	h.num = 2;
	must(store_begin(t->c));
	assert_int_equal(store_handoff_put(t->c, &h), STORE_NOT_FOUND);
	store_rollback(t->c);
}

/* --- Lists ---------------------------------------------------------------------------------------- */

static void a_list_holds_what_the_filter_says_in_order_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct handoff_row h;

	add(t, t->space, 1, ann, HANDOFF_QUEUED, 5);
	add(t, t->space, 1, bob, HANDOFF_PARKED, 5);
	add(t, t->space, 2, ann, HANDOFF_PARKED, 5);
	add(t, t->space, 3, ann, HANDOFF_ACKED, 5);
	h = new_handoff(t->space, 4, bob);
	h.channel = 8;
	h.from = STR("sender");
	must(insert(t, &h));
	add(t, other, 1, agent_id(t, other, "ann"), HANDOFF_PARKED, 5);
	assert_string_equal(list(t, (struct handoff_filter){0}, 0, 16), "1 2 3 4 5");
	assert_string_equal(list(t, (struct handoff_filter){0}, 0, 2), "1 2");
	assert_string_equal(list(t, (struct handoff_filter){0}, 2, 2), "3 4");
	assert_string_equal(list(t, (struct handoff_filter){0}, 5, 2), "");
	assert_string_equal(list(t, (struct handoff_filter){.states = 1u << HANDOFF_PARKED}, 0, 16), "2 3");
	assert_string_equal(list(t, (struct handoff_filter){.states = 1u << HANDOFF_PARKED}, 2, 16), "3");
	assert_string_equal(list(t, (struct handoff_filter){.states = 1u << HANDOFF_PARKED | 1u << HANDOFF_ACKED}, 0,
				 16), "2 3 4");
	assert_string_equal(list(t, (struct handoff_filter){.agent = bob}, 0, 16), "2 5");
	assert_string_equal(list(t, (struct handoff_filter){.agent = ann, .states = 1u << HANDOFF_PARKED}, 0, 16), "3");
	assert_string_equal(list(t, (struct handoff_filter){.envelope = 1}, 0, 16), "1 2");
	assert_string_equal(list(t, (struct handoff_filter){.envelope = 1}, 1, 16), "2");
	assert_string_equal(list(t, (struct handoff_filter){.envelope = 1, .states = 1u << HANDOFF_QUEUED}, 0, 16),
			    "1");
	assert_string_equal(list(t, (struct handoff_filter){.channel = 8}, 0, 16), "5");
	assert_string_equal(list(t, (struct handoff_filter){.from = STR("sender")}, 0, 16), "5");
	/* What the agent has sent, what was sent to it, and what it has. */
	assert_string_equal(list(t, (struct handoff_filter){.party = STR("bob"), .party_id = bob}, 0, 16), "2 5");
	assert_string_equal(list(t, (struct handoff_filter){.party = STR("sender")}, 0, 16), "5");
	assert_string_equal(list(t, (struct handoff_filter){.party = STR("nobody")}, 0, 16), "");
	assert_string_equal(list(t, (struct handoff_filter){.party = STR("ann"), .party_id = ann, .envelope = 1}, 0,
				 16), "1");
	assert_string_equal(list(t, (struct handoff_filter){.party = STR("bob"), .party_id = bob,
							    .newest_first = true}, 5, 16), "2");
	assert_string_equal(list(t, (struct handoff_filter){.space = other}, 0, 16), "1");
	assert_string_equal(list(t, (struct handoff_filter){.space = other + 1}, 0, 16), "");
	/* The newest first: what lies below. */
	assert_string_equal(list(t, (struct handoff_filter){.newest_first = true}, 0, 2), "5 4");
	assert_string_equal(list(t, (struct handoff_filter){.newest_first = true}, 4, 16), "3 2 1");
	assert_string_equal(list(t, (struct handoff_filter){.newest_first = true}, 1, 16), "");
	assert_string_equal(list(t, (struct handoff_filter){.newest_first = true, .states = 1u << HANDOFF_PARKED}, 0,
				 16), "3 2");
	assert_string_equal(list(t, (struct handoff_filter){.newest_first = true, .envelope = 1}, 0, 16), "2 1");
	assert_string_equal(list(t, (struct handoff_filter){.newest_first = true, .space = other}, 0, 16), "1");
}

static void what_the_sender_was_not_told_is_found_by_its_name(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");
	struct handoff_filter filter = {.from = STR("sender"), .untold = true};
	struct handoff_row h;

	for (uint64_t i = 1; i <= 4; i++) {
		h = new_handoff(t->space, i, ann);
		h.from = i == 3 ? STR("another") : STR("sender");
		h.state = i == 4 ? HANDOFF_EXPIRED : HANDOFF_PARKED;
		h.due_ms = 0;
		h.is_exhausted = i == 1;
		must(insert(t, &h));
	}
	assert_string_equal(list(t, filter, 0, 16), "1 2");
	h = get(t, t->space, 1);
	h.is_told = true;
	put(t, &h);
	assert_string_equal(list(t, filter, 0, 16), "2");
	assert_string_equal(list(t, filter, 2, 16), "");
}

/* --- Results -------------------------------------------------------------------------------------- */

static void a_result_is_kept_and_replaced(void **state)
{
	struct temp_store *t = *state;
	struct result_row r;

	add(t, t->space, 1, agent_id(t, t->space, "ann"), HANDOFF_COMPLETED, 5);
	assert_int_equal(store_result_get(t->c, t->space, 1, &t->arena, &r), STORE_NOT_FOUND);
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &(struct result_row){.gaps = STR("[\"ms-1\"]"), .input_tokens = 12}));
	must(store_commit(t->c));
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_null(r.result.p);
	assert_str(r.gaps, "[\"ms-1\"]");
	assert_int_equal(r.input_tokens, 12);
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &(struct result_row){.result = STR("{\"a\":1}"), .input_tokens = -1}));
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_str(r.result, "{\"a\":1}");
	assert_null(r.gaps.p);
	assert_int_equal(r.input_tokens, -1);
	assert_int_equal(store_result_get(t->c, t->space + 1, 1, &t->arena, &r), STORE_NOT_FOUND);
	assert_true(r.form == RESULT_KEPT && r.memory == 0);
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &(struct result_row){.form = RESULT_TEXT, .memory = MEMORY_NUM_MAX}));
	must(store_commit(t->c));
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_true(r.form == RESULT_TEXT && r.memory == MEMORY_NUM_MAX && r.result.p == NULL);
}

static void what_was_handed_on_stays_noted_whatever_becomes_of_the_result(void **state)
{
	static const uint8_t first[32] = {1}, second[32] = {2};
	struct temp_store *t = *state;
	struct result_row r;

	add(t, t->space, 1, agent_id(t, t->space, "ann"), HANDOFF_ACKED, 0);
	must(store_begin(t->c));
	must(store_result_hand_on(t->c, t->space, 1, 7, first));
	must(store_commit(t->c));
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_true(r.then == 7 && r.result.p == NULL && r.gaps.p == NULL && r.input_tokens == -1);
	assert_memory_equal(r.then_digest, first, sizeof(first));
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &(struct result_row){.result = STR("1"), .input_tokens = 3}));
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_true(r.then == 7 && r.input_tokens == 3);
	assert_str(r.result, "1");
	assert_memory_equal(r.then_digest, first, sizeof(first));
	must(store_begin(t->c));
	must(store_result_hand_on(t->c, t->space, 1, 8, second));
	store_rollback(t->c);
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_int_equal(r.then, 7);
}

static void who_has_an_envelope_is_found_as_target_and_as_fallback(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	uint64_t num = add(t, t->space, 1, ann, HANDOFF_QUEUED, 5), found = 77;
	struct handoff_row h = get(t, t->space, num);

	must(store_handoff_of_agent(t->c, t->space, 1, ann, 0, &found));
	assert_int_equal(found, num);
	assert_int_equal(store_handoff_of_agent(t->c, t->space, 1, ann, num, &found), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_of_agent(t->c, t->space, 1, bob, 0, &found), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_of_agent(t->c, t->space, 2, ann, 0, &found), STORE_NOT_FOUND);
	h.agent = bob;
	put(t, &h);
	must(store_handoff_of_agent(t->c, t->space, 1, bob, 0, &found));
	assert_int_equal(found, num);
}

/* --- Together ------------------------------------------------------------------------------------- */

static void a_rollback_undoes_all_of_it(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), id, last = 77;
	uint64_t num = add(t, t->space, 1, ann, HANDOFF_QUEUED, 5);
	struct handoff_row h = get(t, t->space, num), fresh = new_handoff(t->space, 2, ann), r;
	struct event_row e = {.space = t->space, .at_ms = T0, .kind = 1, .handoff = num};
	struct target_row target;
	struct result_row result;

	must(store_begin(t->c));
	h.state = HANDOFF_LEASED;
	h.leases = 1;
	must(store_handoff_put(t->c, &h));
	must(store_handoff_insert(t->c, &fresh));
	must(store_event_add(t->c, &e));
	must(store_result_put(t->c, t->space, num, &(struct result_row){.result = STR("{}")}));
	must(store_target_put(t->c, ann, &(struct target_row){.seen_at_ms = 1, .failures = 2}));
	must(store_agent_id(t->c, t->space, STR("new"), true, T0, &id));
	store_rollback(t->c);
	assert_int_equal(get(t, t->space, num).state, HANDOFF_QUEUED);
	assert_int_equal(get(t, t->space, num).leases, 0);
	assert_int_equal(store_handoff_get(t->c, t->space, fresh.num, &t->arena, &r), STORE_NOT_FOUND);
	must(store_handoff_next(t->c, ann, false, &t->arena, &r));
	assert_int_equal(r.num, num);
	must(store_event_last(t->c, 0, &last));
	assert_int_equal(last, 0);
	assert_int_equal(store_result_get(t->c, t->space, num, &t->arena, &result), STORE_NOT_FOUND);
	must(store_target_get(t->c, ann, &target));
	assert_int_equal(target.failures, 0);
	assert_int_equal(store_agent_id(t->c, t->space, STR("new"), false, T0, &id), STORE_NOT_FOUND);
}

static void a_check_finds_nothing_wrong_with_them(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");

	for (int s = 0; s < HANDOFF_STATES; s++) {
		add_envelope(t, t->space, (uint64_t)s + 1);
		add(t, t->space, (uint64_t)s + 1, ann, (enum handoff_state)s, 5);
	}
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &(struct result_row){.result = STR("{}")}));
	must(store_target_put(t->c, ann, &(struct target_row){.seen_at_ms = 1, .failures = 2}));
	must(store_commit(t->c));
	conformance_check(t);
}

static const struct CMUnitTest handoffs[] = {
	with_engine(a_handoff_comes_back_as_it_was_stored),
	with_engine(what_is_not_set_comes_back_as_not_set),
	with_engine(numbers_grow_by_one_in_each_space),
	with_engine(an_envelope_is_handed_to_a_target_once),
	with_engine(a_put_writes_all_that_may_change_and_nothing_else),
	with_engine(an_unknown_handoff_is_not_found),
	with_engine(a_list_holds_what_the_filter_says_in_order_and_in_pieces),
	with_engine(what_the_sender_was_not_told_is_found_by_its_name),
	with_engine(a_result_is_kept_and_replaced),
	with_engine(what_was_handed_on_stays_noted_whatever_becomes_of_the_result),
	with_engine(who_has_an_envelope_is_found_as_target_and_as_fallback),
	with_engine(a_rollback_undoes_all_of_it),
	with_engine(a_check_finds_nothing_wrong_with_them),
};

CONFORMANCE_PART(handoffs);
