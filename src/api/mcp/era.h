/* Which revision a message speaks, and whether its headers say the same as its body. */
#ifndef SPINE_API_MCP_ERA_H
#define SPINE_API_MCP_ERA_H

#include "api/mcp/mcp_call.h"

/* Sets version, client and session. False: it was answered with an error. */
bool era_read(struct mcp_call *m);
/* What the capabilities of a client say that it can do. */
unsigned era_client(const struct json *capabilities);
/* A session for a client that can do that. It is its own memory: what it says outlives the server. */
void era_session(enum mcp_version version, unsigned client, uint64_t key, char ret[MCP_SESSION_SIZE]);

#endif
