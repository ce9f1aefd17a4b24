/* What webhooks ask: which agents have one, and what their receiver holds. */
#include "conformance.h"

static int64_t agent_with(struct temp_store *t, int64_t space, const char *name, const char *settings)
{
	struct agent_row row = {str_of(name), str_of(settings), T0, T0};
	int64_t id;

	must(store_begin(t->c));
	must(store_agent_put(t->c, space, &row));
	must(store_agent_id(t->c, space, row.name, false, T0, &id));
	must(store_commit(t->c));
	return id;
}

static void agents_whose_settings_hold_a_text_are_found_in_every_space(void **state)
{
	struct temp_store *t = *state;
	struct str text = STR("\"webhook\":\"");
	struct agent_place got[3];
	int64_t other, first, last;
	size_t n = 9;

	must(store_begin(t->c));
	must(store_space_create(t->c, STR("other"), T0, &other));
	must(store_commit(t->c));
	must(store_agents_holding(t->c, text, 0, 3, &t->arena, got, &n));
	assert_int_equal(n, 0);
	first = agent_with(t, t->space, "ann", "{\"webhook\":\"http://a/\"}");
	agent_with(t, t->space, "bob", "{\"webhook\":null}");
	agent_with(t, t->space, "cid", "{}");
	last = agent_with(t, other, "ann", "{\"a\":1,\"webhook\":\"http://b/\"}");
	must(store_agents_holding(t->c, text, 0, 3, &t->arena, got, &n));
	assert_int_equal(n, 2);
	assert_int_equal(got[0].id, first);
	assert_int_equal(got[0].space, t->space);
	assert_true(str_is(got[0].name, "ann") && str_is(got[0].settings, "{\"webhook\":\"http://a/\"}"));
	assert_int_equal(got[1].id, last);
	assert_int_equal(got[1].space, other);
	assert_true(str_is(got[1].space_name, "other"));
	must(store_agents_holding(t->c, text, 0, 1, &t->arena, got, &n));
	assert_int_equal(n, 1);
	must(store_agents_holding(t->c, text, first, 3, &t->arena, got, &n));
	assert_int_equal(n, 1);
	assert_int_equal(got[0].id, last);
}

static uint64_t add(struct temp_store *t, uint64_t envelope, int64_t agent, enum handoff_state state,
		    struct str receiver)
{
	struct envelope_row row = {
		.space = t->space, .num = envelope, .task = STR("t"), .hop = 1, .created_at_ms = T0, .body = STR("{}"),
	};
	struct handoff_row h = {
		.space = t->space, .envelope = envelope, .created_at_ms = T0, .target = agent, .agent = agent,
		.state = state, .attempt = 1, .max_attempts = 3, .leases = 1, .changed_at_ms = T0, .receiver = receiver,
		.due_ms = state <= HANDOFF_WORKING ? T0 + 1 : 0,
	};

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_handoff_insert(t->c, &h));
	must(store_commit(t->c));
	return h.num;
}

static void what_a_receiver_holds_is_what_it_has_leased_and_nothing_else(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_with(t, t->space, "ann", "{}"), bob = agent_with(t, t->space, "bob", "{}");
	struct str hook = STR("webhook");
	struct handoff_row got[4];
	uint64_t first, second, envelope = 1;
	size_t n = 9;

	first = add(t, envelope++, ann, HANDOFF_LEASED, hook);
	for (int s = 0; s < HANDOFF_STATES; s++)
		if (s != HANDOFF_LEASED)
			add(t, envelope++, ann, (enum handoff_state)s, hook);
	add(t, envelope++, ann, HANDOFF_LEASED, STR("another"));
	add(t, envelope++, ann, HANDOFF_LEASED, STR_NULL);
	add(t, envelope++, bob, HANDOFF_LEASED, hook);
	second = add(t, envelope++, ann, HANDOFF_LEASED, hook);
	must(store_handoffs_held(t->c, ann, hook, 4, &t->arena, got, &n));
	assert_int_equal(n, 2);
	assert_int_equal(got[0].num, first);
	assert_int_equal(got[1].num, second);
	assert_int_equal(got[0].leases, 1);
	must(store_handoffs_held(t->c, ann, hook, 1, &t->arena, got, &n));
	assert_int_equal(n, 1);
}

static const struct CMUnitTest agents[] = {
	with_engine(agents_whose_settings_hold_a_text_are_found_in_every_space),
	with_engine(what_a_receiver_holds_is_what_it_has_leased_and_nothing_else),
};

CONFORMANCE_PART(agents);
