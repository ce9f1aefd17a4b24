/* Routes: who comes next, by configuration. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "core/delivery/agent.h"
#include "core/delivery/route_rule.h"
#include "engine/delivery/route_rules.h"

enum { ORDER_MAX = 1000000, HOP_MAX = 64 };

static const struct field hop_fields[] = {
	DOC_INT("min", 1, HOP_MAX, "The first hop for which it holds.", MAYBE),
	DOC_INT("max", 1, HOP_MAX, "The last hop for which it holds.", MAYBE),
	FIELDS_END,
};
static const struct shape hop = {.fields = hop_fields, .also = "'minProperties':1"};

/* Of a request and of an answer alike: what is not said is absent. */
static const struct field condition_fields[] = {
	DOC_OBJECT("constraint", "Constraints that must have these values.", MAYBE,
		   .schema = "'type':'object','minProperties':1"),
	DOC_TEXT("state", 1, 0, "The state of the task.", MAYBE),
	DOC_TEXT("tag", 1, 0, "A tag of one of the memories.", MAYBE),
	DOC_SHAPE("hop", &hop, "The new hop is within.", MAYBE),
	FIELDS_END,
};
static const struct shape condition = {
	.name = "Condition", .fields = condition_fields, .also = "'additionalProperties':false",
};

static const struct field settings_fields[] = {
	DOC_TEXT("to", 1, AGENT_NAME_MAX, "Who comes next.", .required = "it is the agent that comes next",
		 .docs = "who comes next"),
	DOC_TEXT("from", 1, AGENT_NAME_MAX, "Whose work it is; anybody's where absent.", .usually = "anybody",
		 OF_ANYBODY, .docs = "whose work it is"),
	DOC_INT("order", 0, ORDER_MAX, "The lowest that fits is taken.", .otherwise = "100"),
	DOC_SHAPE("when", &condition, "All of it must hold.", .usually = "always"),
	DOC_TEXT("description", 0, 0, "For people."),
	FIELDS_END,
};
static const struct shape settings = {.name = "RouteSettings", .fields = settings_fields, .is_input = true};

static void put_when(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct json *when = ((const struct route_view *)from)->when;

	(void)with;
	json_key_str(w, f->name);
	if (when)
		json_put(w, when);
	else
		json_put_null(w);
}

static const struct field route_fields[] = {
	FIELD_TEXT("name", struct route_view, row.name, 0, 0, "The route."),
	FIELD_TEXT("from", struct route_view, from, 0, 0, "Whose work it is; null: anybody's.", NULLABLE),
	FIELD_TEXT("to", struct route_view, to, 0, 0, "Who comes next."),
	DOC_SHAPE("when", &condition, "All of it must hold.", NULLABLE, .write = put_when),
	FIELD_INT("order", struct route_view, order, NO_MIN, NO_MAX, "The lowest that fits is taken."),
	FIELD_TEXT("description", struct route_view, description, 0, 0, "For people.", NULLABLE),
	FIELD_TIME("created_at", struct route_view, row.created_at_ms, "When it was made."),
	FIELD_TIME("updated_at", struct route_view, row.updated_at_ms, "When it was last set."),
	FIELDS_END,
};
static const struct shape route = {
	.name = "Route", .fields = route_fields, .size = sizeof(struct route_view), .warns = true,
};

#define ONE_ROUTE \
	.path = {&path_name}, .path_into = {INTO(struct route_rule, name)}, .from = FROM(struct route_rule, view)

const struct description describe_list_routes = {
	.id = "listRoutes", .tag = "routes", .scope = SCOPE_READ,
	.summary = "List routes",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct route_rule_list), .page_max = ROUTE_RULE_ROUTES_MAX,
	ANSWERS(ANSWER(200, "A page of them.", OUTPUT(
		FIELD_SHAPES("routes", struct route_rule_list, routes, count, 0, &route, "By their names."),
		NEXT_PAGE_OF(struct route_rule_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_route = {
	.id = "readRoute", .tag = "routes", .scope = SCOPE_READ,
	.summary = "Read a route",
	ONE_ROUTE,
	ANSWERS(ANSWER(200, "The route.", &route)),
	REFUSES(P_ROUTE_NOT_FOUND),
};

const struct description describe_put_route = {
	.id = "putRoute", .tag = "routes", .scope = SCOPE_ADMIN,
	.summary = "Say who comes next",
	.takes = TAKES_KEY | TAKES_BODY, ONE_ROUTE,
	.body = {&settings}, .body_whole = INTO(struct route_rule, settings),
	ANSWERS(ANSWER(200, "The route.", &route)),
};

const struct description describe_delete_route = {
	.id = "deleteRoute", .tag = "routes", .scope = SCOPE_ADMIN,
	.summary = "Remove a route",
	ONE_ROUTE,
	ANSWERS(OTHER(204, "It is gone.")),
	REFUSES(P_ROUTE_NOT_FOUND),
};
