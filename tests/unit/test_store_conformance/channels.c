/* Channels, their subscribers, and routes. */
#include "conformance.h"

static void put_channel(struct temp_store *t, int64_t space, const char *name, const char *description, int64_t at_ms)
{
	must(store_begin(t->c));
	must(store_channel_put(t->c, space, str_of(name), str_of(description), at_ms));
	must(store_commit(t->c));
}

static int64_t channel_id(struct temp_store *t, int64_t space, const char *name)
{
	struct channel_row row;

	must(store_channel_get(t->c, space, str_of(name), &t->arena, &row));
	return row.id;
}

static int64_t agent_id(struct temp_store *t, int64_t space, const char *name)
{
	int64_t id = 0;

	must(store_begin(t->c));
	must(store_agent_id(t->c, space, str_of(name), true, T0, &id));
	must(store_commit(t->c));
	return id;
}

static void subscribe(struct temp_store *t, int64_t channel, int64_t agent)
{
	must(store_begin(t->c));
	must(store_subscriber_put(t->c, channel, agent, T0));
	must(store_commit(t->c));
}

/* The names of the subscribers, as text. */
static const char *subscribers(struct temp_store *t, int64_t channel, size_t max)
{
	struct str names[8];
	struct buf text;
	const char *result;
	size_t n = 99;

	buf_init(&text, 4096);
	must(store_subscribers(t->c, channel, max, &t->arena, names, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%.*s", i ? " " : "", STR_ARG(names[i]));
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

/* --- Channels ------------------------------------------------------------------------------------- */

static void a_channel_is_made_and_its_description_changed(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), id;
	struct channel_row row = {.id = 77};

	assert_int_equal(store_channel_get(t->c, t->space, STR("news"), &t->arena, &row), STORE_NOT_FOUND);
	assert_int_equal(row.id, 77);
	put_channel(t, t->space, "news", NULL, T0);
	must(store_channel_get(t->c, t->space, STR("news"), &t->arena, &row));
	assert_str(row.name, "news");
	assert_null(row.description.p);
	assert_int_equal(row.subscribers, 0);
	id = row.id;
	put_channel(t, t->space, "news", "wäs ist", T0 + 5);
	conformance_reopen(t);
	must(store_channel_get(t->c, t->space, STR("news"), &t->arena, &row));
	assert_int_equal(row.id, id);
	assert_int_equal(row.created_at_ms, T0);
	assert_str(row.description, "wäs ist");
	assert_int_equal(store_channel_get(t->c, other, STR("news"), &t->arena, &row), STORE_NOT_FOUND);
	put_channel(t, other, "news", NULL, T0);
	assert_int_not_equal(channel_id(t, other, "news"), id);
}

static void channels_are_listed_in_the_order_of_their_names_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	struct channel_row rows[2];
	size_t n = 99;

	must(store_channels(t->c, t->space, STR_NULL, 2, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	put_channel(t, t->space, "c", NULL, T0);
	put_channel(t, t->space, "a", NULL, T0);
	put_channel(t, t->space, "b", NULL, T0);
	put_channel(t, temp_space(t, "other"), "aa", NULL, T0);
	must(store_channels(t->c, t->space, STR_NULL, 2, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	assert_str(rows[0].name, "a");
	assert_str(rows[1].name, "b");
	must(store_channels(t->c, t->space, STR("b"), 2, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	assert_str(rows[0].name, "c");
}

/* --- Subscribers ---------------------------------------------------------------------------------- */

static void an_agent_subscribes_once_and_leaves(void **state)
{
	struct temp_store *t = *state;
	int64_t bob = agent_id(t, t->space, "bob"), ann = agent_id(t, t->space, "ann"), news, other;
	struct channel_row row;

	put_channel(t, t->space, "news", NULL, T0);
	put_channel(t, t->space, "other", NULL, T0);
	news = channel_id(t, t->space, "news");
	other = channel_id(t, t->space, "other");
	assert_string_equal(subscribers(t, news, 8), "");
	subscribe(t, news, bob);
	subscribe(t, news, ann);
	subscribe(t, news, bob);
	subscribe(t, other, ann);
	conformance_reopen(t);
	assert_string_equal(subscribers(t, news, 8), "ann bob");
	assert_string_equal(subscribers(t, news, 1), "ann");
	assert_string_equal(subscribers(t, other, 8), "ann");
	must(store_channel_get(t->c, t->space, STR("news"), &t->arena, &row));
	assert_int_equal(row.subscribers, 2);
	must(store_begin(t->c));
	must(store_subscriber_delete(t->c, news, ann));
	assert_int_equal(store_subscriber_delete(t->c, news, ann), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_string_equal(subscribers(t, news, 8), "bob");
	assert_string_equal(subscribers(t, other, 8), "ann");
}

/* --- Routes --------------------------------------------------------------------------------------- */

static void put_route(struct temp_store *t, int64_t space, const char *name, const char *settings, int64_t at_ms)
{
	must(store_begin(t->c));
	must(store_route_put(t->c, space, &(struct route_row){str_of(name), str_of(settings), at_ms, at_ms}));
	must(store_commit(t->c));
}

static void a_route_is_made_replaced_and_deleted(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct route_row rows[4];
	size_t n = 99;

	put_route(t, t->space, "r", "{\"to\":\"ann\"}", T0);
	put_route(t, other, "r", "{\"to\":\"cid\"}", T0);
	put_route(t, t->space, "r", "{\"to\":\"bob\"}", T0 + 5);
	conformance_reopen(t);
	must(store_routes(t->c, t->space, STR_NULL, 4, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	assert_str(rows[0].name, "r");
	assert_str(rows[0].settings, "{\"to\":\"bob\"}");
	assert_int_equal(rows[0].created_at_ms, T0);
	assert_int_equal(rows[0].updated_at_ms, T0 + 5);
	must(store_begin(t->c));
	must(store_route_delete(t->c, t->space, STR("r")));
	assert_int_equal(store_route_delete(t->c, t->space, STR("r")), STORE_NOT_FOUND);
	must(store_commit(t->c));
	must(store_routes(t->c, t->space, STR_NULL, 4, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	must(store_routes(t->c, other, STR_NULL, 4, &t->arena, rows, &n));
	assert_int_equal(n, 1);
}

static void routes_are_listed_in_the_order_of_their_names_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	struct route_row rows[2];
	size_t n = 99;

	put_route(t, t->space, "c", "{}", T0);
	put_route(t, t->space, "a", "{}", T0);
	put_route(t, t->space, "b", "{}", T0);
	must(store_routes(t->c, t->space, STR_NULL, 2, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	assert_str(rows[0].name, "a");
	assert_str(rows[1].name, "b");
	must(store_routes(t->c, t->space, STR("b"), 2, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	assert_str(rows[0].name, "c");
}

/* --- Together ------------------------------------------------------------------------------------- */

static void a_rollback_undoes_these_verbs_too(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), news;
	struct channel_row row;
	struct route_row route;
	size_t n = 99;

	put_channel(t, t->space, "news", NULL, T0);
	news = channel_id(t, t->space, "news");
	must(store_begin(t->c));
	must(store_channel_put(t->c, t->space, STR("news"), STR("changed"), T0));
	must(store_channel_put(t->c, t->space, STR("another"), STR_NULL, T0));
	must(store_subscriber_put(t->c, news, ann, T0));
	must(store_route_put(t->c, t->space, &(struct route_row){STR("r"), STR("{}"), T0, T0}));
	store_rollback(t->c);
	must(store_channel_get(t->c, t->space, STR("news"), &t->arena, &row));
	assert_null(row.description.p);
	assert_int_equal(store_channel_get(t->c, t->space, STR("another"), &t->arena, &row), STORE_NOT_FOUND);
	assert_string_equal(subscribers(t, news, 8), "");
	must(store_routes(t->c, t->space, STR_NULL, 1, &t->arena, &route, &n));
	assert_int_equal(n, 0);
}

static void a_check_finds_nothing_wrong_with_them(void **state)
{
	struct temp_store *t = *state;

	put_channel(t, t->space, "news", NULL, T0);
	subscribe(t, channel_id(t, t->space, "news"), agent_id(t, t->space, "ann"));
	put_route(t, t->space, "r", "{}", T0);
	conformance_check(t);
}

static const struct CMUnitTest channels[] = {
	with_engine(a_channel_is_made_and_its_description_changed),
	with_engine(channels_are_listed_in_the_order_of_their_names_and_in_pieces),
	with_engine(an_agent_subscribes_once_and_leaves),
	with_engine(a_route_is_made_replaced_and_deleted),
	with_engine(routes_are_listed_in_the_order_of_their_names_and_in_pieces),
	with_engine(a_rollback_undoes_these_verbs_too),
	with_engine(a_check_finds_nothing_wrong_with_them),
};

CONFORMANCE_PART(channels);
