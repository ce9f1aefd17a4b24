/* handoff_receive: waits in slices that clients bear, says what to do next, and is a task where the client
 * wants one. */
#ifndef SPINE_API_MCP_RECEIVE_TOOL_H
#define SPINE_API_MCP_RECEIVE_TOOL_H

#include "api/mcp/mcp_call.h"

bool receive_tool_before(struct mcp_call *m);
void receive_tool_fill(struct mcp_call *m);
void receive_tool_prepare(struct mcp_call *m);
const struct json *receive_tool_reshape(struct mcp_call *m, const struct json *answer);
void receive_tool_text(const struct json *answer, struct buf *out);

#endif
