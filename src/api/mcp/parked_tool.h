/* parked_list with decide: the user is asked what becomes of the first item, and that is done. */
#ifndef SPINE_API_MCP_PARKED_TOOL_H
#define SPINE_API_MCP_PARKED_TOOL_H

#include "api/mcp/mcp_call.h"

bool parked_tool_before(struct mcp_call *m);

#endif
