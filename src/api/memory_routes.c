/* Storing, reading and changing memories. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/memory/memory_change.h"
#include "engine/memory/memory_get.h"
#include "engine/memory/memory_store.h"

const struct route memory_routes[] = {
	{HTTP_POST, "/v1/memories", &memory_store_kind, &describe_store_memory, NULL, NULL},
	{HTTP_POST, "/v1/memories/batch", &memory_batch_kind, &describe_store_memories, NULL, NULL},
	{HTTP_POST, "/v1/memories/fetch", &memory_fetch_kind, &describe_fetch_memories, NULL, NULL},
	{HTTP_GET, "/v1/memories/{}", &memory_get_kind, &describe_read_memory, NULL, NULL},
	{HTTP_PATCH, "/v1/memories/{}", &memory_update_kind, &describe_change_memory, NULL, NULL},
	{HTTP_DELETE, "/v1/memories/{}", &memory_forget_kind, &describe_forget_memory, NULL, NULL},
	{HTTP_GET, "/v1/memories/{}/versions", &memory_versions_kind, &describe_list_versions, NULL, NULL},
	{HTTP_POST, "/v1/memories/{}/pin", &memory_update_kind, &describe_pin_memory, NULL, NULL},
	{HTTP_POST, "/v1/memories/{}/unpin", &memory_update_kind, &describe_unpin_memory, NULL, NULL},
	{HTTP_POST, "/v1/memories/{}/revert", &memory_revert_kind, &describe_revert_memory, NULL, NULL},
	{0},
};
