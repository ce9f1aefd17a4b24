#include "core/delivery/route_rule.h"

#include "core/delivery/agent.h"
#include "core/memory/mention.h"

enum { TAG_MAX = 128, DEPTH = 100, CITED_MAX = 200 };

/* --- Checking --- */

static bool is_name(const struct json *value)
{
	return value->type == JSON_STRING && value->s.n > 0 && value->s.n <= AGENT_NAME_MAX;
}

static enum problem_code check_hop(const struct json *hop, struct problem *problem)
{
	static const char *const names[] = {"min", "max"};
	bool ok = hop->type == JSON_OBJECT && hop->count > 0;
	int64_t limits[2] = {1, PACK_HOPS_MAX};

	for (uint32_t i = 0; ok && i < hop->count; i++) {
		int64_t *limit = &limits[str_is(hop->members[i].key, names[1])];

		ok = (str_is(hop->members[i].key, names[0]) || str_is(hop->members[i].key, names[1])) &&
		     json_as_int(&hop->members[i].value, limit) && *limit >= 1 && *limit <= PACK_HOPS_MAX;
	}
	if (!ok)
		return problem_set(problem, P_INVALID_FIELD, "when.hop", "hop is not of the form "
				   "{\"min\":1,\"max\":3}, with numbers from 1 to %d", PACK_HOPS_MAX);
	if (limits[0] > limits[1])
		return problem_set(problem, P_INVALID_FIELD, "when.hop", "no hop is from %lld to %lld; the route would "
				   "never fit", (long long)limits[0], (long long)limits[1]);
	return P_OK;
}

static enum problem_code check_when(const struct json *when, struct problem *problem)
{
	if (when->type != JSON_OBJECT)
		return problem_set(problem, P_INVALID_FIELD, "when", "when is %s; expected an object",
				   json_type_name(when->type));
	for (uint32_t i = 0; i < when->count; i++) {
		const struct json_member *m = &when->members[i];
		enum problem_code code = P_OK;

		if (str_is(m->key, "hop"))
			code = check_hop(&m->value, problem);
		else if (str_is(m->key, "constraint"))
			code = m->value.type == JSON_OBJECT && m->value.count > 0 ? P_OK
			       : problem_set(problem, P_INVALID_FIELD, "when.constraint", "constraint is not of the "
					     "form {\"language\":\"python\"}");
		else if (str_is(m->key, "tag") || str_is(m->key, "state"))
			code = m->value.type == JSON_STRING && m->value.s.n > 0 ? P_OK
			       : problem_set(problem, P_INVALID_FIELD, "when", "%.*s is not a text", STR_ARG(m->key));
		else
			/* A condition that is not understood must not be taken for one that holds. */
			code = problem_set(problem, P_INVALID_FIELD, "when", "there is no condition \"%.*s\"; expected "
					   "constraint, state, tag or hop", (int)(m->key.n < 64 ? m->key.n : 64),
					   m->key.p);
		if (code != P_OK)
			return code;
	}
	return P_OK;
}

enum problem_code route_rule_check(const struct json *settings, struct problem *problem)
{
	const struct json *from = json_get(settings, "from"), *to = json_get(settings, "to"),
		*when = json_get(settings, "when");
	const struct json *order = json_get(settings, "order");
	int64_t number;

	if (to == NULL || to->type == JSON_NULL)
		return problem_set(problem, P_MISSING_FIELD, "to", "to is missing; it is the agent that comes next");
	if (!is_name(to) || route_rule_is_next(to->s))
		return problem_set(problem, P_INVALID_FIELD, "to", "to is not the name of an agent");
	if (from && from->type != JSON_NULL && !is_name(from))
		return problem_set(problem, P_INVALID_FIELD, "from", "from is not the name of an agent; leave it out "
				   "for any");
	if (order && order->type != JSON_NULL && (!json_as_int(order, &number) || number < 0 || number > 1000000))
		return problem_set(problem, P_INVALID_FIELD, "order", "order is not a whole number from 0 to 1000000");
	return when && when->type != JSON_NULL ? check_when(when, problem) : P_OK;
}

/* --- Choosing --- */

struct choice {
	struct store_conn *conn;
	int64_t space;
	const struct envelope_draft *draft;
	const struct envelope *parent;
	struct arena *arena;
};

/* Does the draft take it over from its parent? Not what it waives, and not max_tokens, which is each receiver's own. */
static bool inherits(const struct choice *c, struct str key)
{
	const struct json *waive = &c->draft->waive;

	if (c->parent == NULL || str_is(key, "max_tokens"))
		return false;
	for (uint32_t i = 0; waive->type == JSON_ARRAY && i < waive->count; i++) {
		const struct json *name = waive->items[i].type == JSON_OBJECT ? json_get(&waive->items[i], "key")
									      : NULL;

		if (name && name->type == JSON_STRING && str_eq(name->s, key))
			return false;
	}
	return true;
}

static bool constraints_hold(const struct choice *c, const struct json *wanted)
{
	const struct json *given = &c->draft->constraints;

	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct json_member *m = &wanted->members[i];
		const struct json *is = given->type == JSON_OBJECT ? json_get_str(given, m->key) : NULL;

		if (is == NULL && inherits(c, m->key))
			is = json_get_str(&c->parent->constraints, m->key);
		if (is == NULL || !json_equal(is, &m->value))
			return false;
	}
	return true;
}

static bool hop_holds(const struct choice *c, const struct json *wanted)
{
	const struct json *min = json_get(wanted, "min"), *max = json_get(wanted, "max");
	int64_t hop = c->parent ? c->parent->hop + 1 : 1, limit;

	if (min && json_as_int(min, &limit) && hop < limit)
		return false;
	return !(max && json_as_int(max, &limit) && hop > limit);
}

static enum problem_code has_tag(const struct choice *c, uint64_t num, struct str tag, bool *ret,
				 struct problem *problem)
{
	struct memory m;
	struct json tags;
	struct json_error error;
	enum store_status status = store_memory_get(c->conn, c->space, num, 0, c->arena, &m);

	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
	if (m.forgotten_at_ms || m.quarantined_at_ms || !json_parse(m.tags, 4, c->arena, &tags, &error))
		return P_OK;
	for (uint32_t i = 0; i < tags.count; i++)
		*ret = *ret || str_eq(tags.items[i].s, tag);
	return P_OK;
}

/* One of the memories that the draft cites or that its parent carried has the tag. */
static enum problem_code tag_holds(const struct choice *c, struct str tag, bool *ret, struct problem *problem)
{
	struct mention_list ids = {0};
	enum problem_code code = P_OK;

	*ret = false;
	if (c->space == 0)
		return P_OK;
	mention_collect(&ids, c->draft->summary, c->arena);
	for (size_t i = 0; i < c->draft->ref_count; i++)
		mention_add(&ids, c->draft->refs[i], c->arena);
	for (size_t i = 0; c->parent && i < c->parent->ref_count; i++)
		mention_add(&ids, c->parent->refs[i].id, c->arena);
	for (size_t i = 0; code == P_OK && !*ret && i < ids.count && i < CITED_MAX; i++)
		code = has_tag(c, ids.ids[i].num, tag, ret, problem);
	return code;
}

static enum problem_code holds(const struct choice *c, const struct json *route, bool *ret, struct problem *problem)
{
	const struct json *from = json_get(route, "from"), *when = json_get(route, "when");
	struct str state = c->draft->state.p ? c->draft->state : c->parent ? c->parent->state : STR_NULL;
	enum problem_code code = P_OK;

	*ret = from == NULL || from->type == JSON_NULL || (c->draft->from.p && str_eq(from->s, c->draft->from));
	for (uint32_t i = 0; code == P_OK && *ret && when && when->type == JSON_OBJECT && i < when->count; i++) {
		const struct json_member *m = &when->members[i];

		if (str_is(m->key, "constraint"))
			*ret = constraints_hold(c, &m->value);
		else if (str_is(m->key, "hop"))
			*ret = hop_holds(c, &m->value);
		else if (str_is(m->key, "state"))
			*ret = state.p && str_eq(state, m->value.s);
		else
			code = tag_holds(c, m->value.s, ret, problem);
	}
	return code;
}

static int64_t order_of(const struct json *route)
{
	const struct json *order = json_get(route, "order");
	int64_t value = ROUTE_RULE_ORDER_DEFAULT;

	if (order)
		json_as_int(order, &value);
	return value;
}

enum problem_code route_rule_find(struct store_conn *c, int64_t space, const struct envelope_draft *draft,
				 const struct envelope *parent, struct arena *arena, struct str *ret,
				 struct problem *problem)
{
	struct choice choice = {c, space, draft, parent, arena};
	struct route_row *rows = arena_calloc(arena, ROUTE_RULE_ROUTES_MAX, sizeof(*rows));
	const struct json *best = NULL;
	size_t count = 0;
	enum store_status status = space ? store_routes(c, space, STR_NULL, ROUTE_RULE_ROUTES_MAX, arena, rows, &count)
					 : STORE_OK;
	enum problem_code code = P_OK;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	for (size_t i = 0; code == P_OK && i < count; i++) {
		struct json *route = arena_zalloc(arena, sizeof(*route));
		struct json_error error;
		bool fits = false;

		if (!json_parse(rows[i].settings, DEPTH, arena, route, &error))
			continue;
		if (best && order_of(route) >= order_of(best))
			continue;
		code = holds(&choice, route, &fits, problem);
		if (fits)
			best = route;
	}
	if (code == P_OK && best == NULL)
		code = problem_set(problem, P_NO_ROUTE, "target_agent", "target_agent is \"next\", but none of the %zu "
				   "routes of this space fits; name the agent, or add one with PUT /v1/routes/NAME",
				   count);
	if (code == P_OK)
		*ret = json_get(best, "to")->s;
	return code;
}
