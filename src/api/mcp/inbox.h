/* The address of an agent's inbox, spine://inbox/AGENT, and who may listen to it. */
#ifndef SPINE_API_MCP_INBOX_H
#define SPINE_API_MCP_INBOX_H

#include "api/mcp/mcp_call.h"

#define INBOX "spine://inbox/"

/* The agent of an inbox's address, its escapes undone, in the arena; p == NULL: it is no such address. */
struct str inbox_agent(struct str uri, struct http_req *req);
/* May who asks be told what comes for that agent? It is what peek shows. Otherwise the problem is set. */
bool inbox_may_listen(struct mcp_call *m, struct str agent);
/* The same for all inboxes of a list of addresses. */
bool inbox_may_listen_to_all(struct mcp_call *m, const struct json *uris);

#endif
