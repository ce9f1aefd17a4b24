/* Agents, how delivery to them goes, and what webhooks ask: who has one, and what their receiver holds. */
#include "handoff_rows.h"

static int64_t agent_with(struct temp_store *t, int64_t space, const char *name, const char *settings)
{
	struct agent_row row = {str_of(name), str_of(settings), T0, T0, false};
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

static uint64_t add_leased(struct temp_store *t, uint64_t envelope, int64_t agent, enum handoff_state state,
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

	first = add_leased(t, envelope++, ann, HANDOFF_LEASED, hook);
	for (int s = 0; s < HANDOFF_STATES; s++)
		if (s != HANDOFF_LEASED)
			add_leased(t, envelope++, ann, (enum handoff_state)s, hook);
	add_leased(t, envelope++, ann, HANDOFF_LEASED, STR("another"));
	add_leased(t, envelope++, ann, HANDOFF_LEASED, STR_NULL);
	add_leased(t, envelope++, bob, HANDOFF_LEASED, hook);
	second = add_leased(t, envelope++, ann, HANDOFF_LEASED, hook);
	must(store_handoffs_held(t->c, ann, hook, 4, &t->arena, got, &n));
	assert_int_equal(n, 2);
	assert_int_equal(got[0].num, first);
	assert_int_equal(got[1].num, second);
	assert_int_equal(got[0].leases, 1);
	must(store_handoffs_held(t->c, ann, hook, 1, &t->arena, got, &n));
	assert_int_equal(n, 1);
}

static void an_agent_is_made_once_and_keeps_its_id(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), id = 77, again = 0;
	struct agent_row row;

	assert_int_equal(store_agent_id(t->c, t->space, STR("ann"), false, T0, &id), STORE_NOT_FOUND);
	assert_int_equal(id, 77);
	id = agent_id(t, t->space, "ann");
	must(store_begin(t->c));
	must(store_agent_put(t->c, t->space, &(struct agent_row){STR("ann"), STR("{\"a\":1}"), T0 + 5, T0 + 5, false}));
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_agent_id(t->c, t->space, STR("ann"), false, T0, &again));
	assert_int_equal(again, id);
	assert_int_equal(agent_id(t, t->space, "ann"), id);
	assert_int_not_equal(agent_id(t, other, "ann"), id);
	/* Whoever is registered by being used has settings of its own: none. */
	agent_id(t, t->space, "bob");
	must(store_agent_get(t->c, t->space, STR("bob"), &t->arena, &row));
	assert_str(row.settings, "{}");
	assert_int_equal(row.created_at_ms, T0);
	must(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &row));
	assert_str(row.settings, "{\"a\":1}");
}

static void how_delivery_to_an_agent_goes_is_kept(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	struct target_row r = {.seen_at_ms = 1, .failures = 2, .open_until_ms = 3, .probe = 4};

	must(store_target_get(t->c, ann, &r));
	assert_int_equal(r.seen_at_ms, 0);
	assert_int_equal(r.failures, 0);
	assert_int_equal(r.open_until_ms, 0);
	assert_int_equal(r.probe, 0);
	for (int64_t i = 1; i <= 2; i++) {
		must(store_begin(t->c));
		must(store_target_put(t->c, ann, &(struct target_row){.seen_at_ms = T0 + i, .failures = 2 * i,
								      .open_until_ms = T0 + 3 * i,
								      .probe = 4 * (uint64_t)i}));
		must(store_commit(t->c));
	}
	conformance_reopen(t);
	must(store_target_get(t->c, ann, &r));
	assert_int_equal(r.seen_at_ms, T0 + 2);
	assert_int_equal(r.failures, 4);
	assert_int_equal(r.open_until_ms, T0 + 6);
	assert_int_equal(r.probe, 8);
	must(store_target_get(t->c, bob, &r));
	assert_int_equal(r.failures, 0);
}

static void put_agent(struct temp_store *t, int64_t space, const char *name, const char *settings, int64_t at_ms)
{
	must(store_begin(t->c));
	must(store_agent_put(t->c, space, &(struct agent_row){str_of(name), str_of(settings), at_ms, at_ms, false}));
	must(store_commit(t->c));
}

static void an_agent_is_made_and_its_settings_replaced(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct agent_row a = {.created_at_ms = 77};

	assert_int_equal(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &a), STORE_NOT_FOUND);
	assert_int_equal(a.created_at_ms, 77);
	put_agent(t, t->space, "ann", "{\"a\":1}", T0);
	put_agent(t, t->space, "ann", "{\"b\":2}", T0 + 5);
	must(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &a));
	assert_str(a.name, "ann");
	assert_str(a.settings, "{\"b\":2}");
	assert_int_equal(a.created_at_ms, T0);
	assert_int_equal(a.updated_at_ms, T0 + 5);
	assert_int_equal(store_agent_get(t->c, other, STR("ann"), &t->arena, &a), STORE_NOT_FOUND);
	assert_int_equal(store_agent_get(t->c, t->space, STR("Ann"), &t->arena, &a), STORE_NOT_FOUND);
}

static void agents_are_listed_in_the_order_of_their_names_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct agent_row rows[3];
	size_t n = 99;

	must(store_agents(t->c, t->space, STR_NULL, 3, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	put_agent(t, t->space, "cid", "{}", T0);
	put_agent(t, t->space, "ann", "{}", T0);
	put_agent(t, t->space, "bob", "{}", T0);
	put_agent(t, t->space, "dee", "{}", T0);
	put_agent(t, other, "eve", "{}", T0);
	must(store_agents(t->c, t->space, STR_NULL, 3, &t->arena, rows, &n));
	assert_int_equal(n, 3);
	assert_str(rows[0].name, "ann");
	assert_str(rows[1].name, "bob");
	assert_str(rows[2].name, "cid");
	must(store_agents(t->c, t->space, STR("cid"), 3, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	assert_str(rows[0].name, "dee");
}

static const struct CMUnitTest agents[] = {
	with_engine(an_agent_is_made_and_its_settings_replaced),
	with_engine(agents_are_listed_in_the_order_of_their_names_and_in_pieces),
	with_engine(an_agent_is_made_once_and_keeps_its_id),
	with_engine(how_delivery_to_an_agent_goes_is_kept),
	with_engine(agents_whose_settings_hold_a_text_are_found_in_every_space),
	with_engine(what_a_receiver_holds_is_what_it_has_leased_and_nothing_else),
};

CONFORMANCE_PART(agents);
