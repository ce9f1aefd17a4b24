#include "api/mcp/inbox.h"

#include "api/caller.h"
#include "api/describe/descriptions.h"
#include "api/http/entry.h"
#include "api/mcp/subscriptions.h"
#include "core/delivery/agent.h"

struct str inbox_agent(struct str uri, struct http_req *req)
{
	struct str agent;

	if (uri.n >= SUBSCRIPTION_URI_MAX || !str_has_prefix(uri, STR(INBOX)) || uri.n == sizeof(INBOX) - 1 ||
	    !http_decode_path(req, str_sub(uri, sizeof(INBOX) - 1, uri.n), &agent) || agent.n > AGENT_NAME_MAX)
		return STR_NULL;
	return agent;
}

bool inbox_may_listen(struct mcp_call *m, struct str agent)
{
	struct problem *problem = &m->call.op->problem;

	return scope_check(&describe_peek, m->access, problem) == P_OK &&
	       access_check_space(m->access, "Spine-Space", caller_space(&m->call), problem) == P_OK &&
	       access_check_agent(m->access, "agent", agent, problem) == P_OK;
}

bool inbox_may_listen_to_all(struct mcp_call *m, const struct json *uris)
{
	for (uint32_t i = 0; uris && uris->type == JSON_ARRAY && i < uris->count; i++) {
		const struct json *uri = &uris->items[i];
		struct str agent = uri->type == JSON_STRING ? inbox_agent(uri->s, m->req) : STR_NULL;

		if (agent.p && !inbox_may_listen(m, agent))
			return false;
	}
	return true;
}
