/* The routes that say who comes next. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/delivery/route_rules.h"

const struct route route_rule_routes[] = {
	{HTTP_GET, "/v1/routes", &route_rule_list_kind, &describe_list_routes, NULL, NULL},
	{HTTP_GET, "/v1/routes/{}", &route_rule_get_kind, &describe_read_route, NULL, NULL},
	{HTTP_PUT, "/v1/routes/{}", &route_rule_set_kind, &describe_put_route, NULL, NULL},
	{HTTP_DELETE, "/v1/routes/{}", &route_rule_delete_kind, &describe_delete_route, NULL, NULL},
	{0},
};
