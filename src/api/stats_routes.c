/* GET /v1/stats: how delivery goes, over the last minute, five minutes, hour or day; of a space and of each of its
 * agents. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "core/cluster/shard.h"
#include "engine/watch/stats_get.h"

/* A part of a node knows the figures of its own shard. Those of others could not be added to them: percentiles are made
 * from distributions, which stay where they were counted. */
static enum problem_code warn_of_others(struct call *call)
{
	const struct stats_get *g = (const struct stats_get *)call->op;
	struct str why;

	if (!g->all_spaces || call->api->node == NULL)
		return P_OK;
	why = arena_printf(g->op.arena, "a node of a cluster has the spaces of one shard here, %d, that of the "
			   "request's own space; the figures of each space are with the space",
			   shard_of(g->op.space_name));
	call_warn(call, "one_shard", STR("space"), why);
	return P_OK;
}

const struct route stats_routes[] = {
	{HTTP_GET, "/v1/stats", &stats_get_kind, &describe_stats, warn_of_others, NULL},
	{0},
};
