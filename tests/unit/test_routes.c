/* api/routes.h: what a route says of itself, in its kind and in its description, is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/routes.h"

static const struct route *const tables[] = {
	memory_routes, search_routes, envelope_routes, resolve_routes, task_routes, blame_routes, agent_routes,
	handoff_routes, receive_routes, settle_routes, parked_routes, channel_routes, publish_routes, route_rule_routes,
	trace_routes, event_routes, space_routes, token_routes, stats_routes, alert_routes, metrics_routes,
	status_routes, schema_routes, dashboard_routes,
};

static size_t for_each(void (*look)(const struct route *r))
{
	size_t count = 0;

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct route *r = tables[t]; r->pattern; r++, count++)
			look(r);
	return count;
}

static void look_at_the_key(const struct route *r)
{
	bool takes = r->describes && (r->describes->takes & TAKES_KEY);

	if (takes != ((r->op->flags & OP_TAKES_KEY) != 0))
		fail_msg("%s: the kind and the description do not agree whether it takes a key", r->pattern);
}

static void look_at_the_space(const struct route *r)
{
	bool takes_none = r->describes == NULL || (r->describes->takes & TAKES_NO_SPACE);

	if (takes_none != ((r->op->flags & OP_NO_SPACE) != 0))
		fail_msg("%s: the kind and the description do not agree whether it is about a space", r->pattern);
}

static void look_at_the_steps(const struct route *r)
{
	const struct op_kind *k = r->op;

	assert_non_null(k->name);
	assert_true(k->size >= sizeof(struct op));
	if ((k->read != NULL) == (k->run != NULL))
		fail_msg("%s: its kind reads, or prepares and runs", r->pattern);
	assert_true(k->run || (k->prepare == NULL && k->done == NULL && k->undo == NULL));
	if (r->describes == NULL && r->encode == NULL)
		fail_msg("%s: nothing says how it is answered", r->pattern);
}

static void keys_are_taken_where_they_are_described(void **state)
{
	(void)state;
	assert_true(for_each(look_at_the_key) > 70);
}

static void spaces_are_asked_for_where_they_are_described(void **state)
{
	(void)state;
	for_each(look_at_the_space);
}

static void every_route_can_be_carried_out(void **state)
{
	(void)state;
	for_each(look_at_the_steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_taken_where_they_are_described),
		cmocka_unit_test(spaces_are_asked_for_where_they_are_described),
		cmocka_unit_test(every_route_can_be_carried_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
