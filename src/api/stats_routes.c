/* GET /v1/stats: how delivery goes, over the last minute, five minutes, hour or day; of a space and of each of its
 * agents. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/watch/stats_get.h"

const struct route stats_routes[] = {
	{HTTP_GET, "/v1/stats", &stats_get_kind, &describe_stats, NULL, NULL},
	{0},
};
