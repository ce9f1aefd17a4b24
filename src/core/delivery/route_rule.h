/* Choreography by configuration: routes say who comes next.
 *
 * A route has `from` (an agent; absent: any), `to`, `when` (all of it must hold: constraint {key: value}, state, tag,
 * hop {min, max}) and `order`. target_agent "next" takes the first route that fits, by order, then by name.
 */
#ifndef SPINE_CORE_ROUTE_RULE_H
#define SPINE_CORE_ROUTE_RULE_H

#include "codec/json.h"
#include "core/envelope/assemble.h"
#include "core/problem.h"

enum { ROUTE_RULE_ROUTES_MAX = 1000, ROUTE_RULE_SETTINGS_MAX = 64 * 1024, ROUTE_RULE_ORDER_DEFAULT = 100 };
#define ROUTE_RULE_NEXT "next"

/* "next" is the name of nobody: what is sent to it, instead of packed for it, would wait for an agent that never
 * comes. */
static inline bool route_rule_is_next(struct str name)
{
	return str_is(name, ROUTE_RULE_NEXT);
}

/* Are these the settings of a route? The problem names the field. */
enum problem_code route_rule_check(const struct json *settings, struct problem *problem);
/* The agent that comes next after draft->from, on what the draft and its parent (NULL: none) say. P_NO_ROUTE where
 * no route fits. */
enum problem_code route_rule_find(struct store_conn *c, int64_t space, const struct envelope_draft *draft,
				 const struct envelope *parent, struct arena *arena, struct str *ret,
				 struct problem *problem);

#endif
