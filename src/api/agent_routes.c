/* Agents: register, read, list, delete. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/delivery/agent_delete.h"
#include "engine/delivery/agent_set.h"

const struct route agent_routes[] = {
	{HTTP_GET, "/v1/agents", &agent_list_kind, &describe_list_agents, NULL, NULL},
	{HTTP_GET, "/v1/agents/{}", &agent_get_kind, &describe_read_agent, NULL, NULL},
	{HTTP_PUT, "/v1/agents/{}", &agent_set_kind, &describe_register_agent, NULL, NULL},
	{HTTP_DELETE, "/v1/agents/{}", &agent_delete_kind, &describe_delete_agent, NULL, NULL},
	{0},
};
