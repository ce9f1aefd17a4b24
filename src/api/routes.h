/* The table of routes: every call of the protocol, once. */
#ifndef SPINE_API_ROUTES_H
#define SPINE_API_ROUTES_H

#include "api/call.h"

/* Finds the route for a method and a raw path and puts the raw pieces that stand for "{}" into params. Where the
 * path exists but not for this method: NULL, and *ret_allow is a list for the Allow header (otherwise NULL). */
const struct route *routes_find(enum http_method method, struct str path, struct str params[CALL_PARAMS_MAX],
				const char **ret_allow);

/* The route of a described operation; there is one. */
const struct route *routes_of(const struct description *d);

/* One array a part, each ended by an entry without a pattern. An address without parameters stands before the patterns
 * that it would fit, too (routes.c has the order of the arrays): the first that fits is taken. */
extern const struct route memory_routes[];
extern const struct route quarantine_routes[];
extern const struct route search_routes[];
extern const struct route envelope_routes[];
extern const struct route resolve_routes[];
extern const struct route task_routes[];
extern const struct route blame_routes[];
extern const struct route agent_routes[];
extern const struct route handoff_routes[];
extern const struct route receive_routes[];
extern const struct route settle_routes[];
extern const struct route parked_routes[];
extern const struct route channel_routes[];
extern const struct route publish_routes[];
extern const struct route route_rule_routes[];
extern const struct route trace_routes[];
extern const struct route space_routes[];
extern const struct route transfer_routes[];
extern const struct route token_routes[];
extern const struct route access_routes[];
extern const struct route session_routes[];
extern const struct route stats_routes[];
extern const struct route alert_routes[];
extern const struct route metrics_routes[];
extern const struct route status_routes[];
extern const struct route cluster_routes[];
extern const struct route schema_routes[];
extern const struct route dashboard_routes[];
extern const struct route event_routes[];

#endif
