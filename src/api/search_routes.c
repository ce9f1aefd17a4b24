/* GET /v1/memories: listing and search. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/memory/memory_search.h"

const struct route search_routes[] = {
	{HTTP_GET, "/v1/memories", &memory_search_kind, &describe_list_memories, NULL, NULL},
	{0},
};
