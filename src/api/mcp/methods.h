/* The methods of the protocol, each of which answers a message. */
#ifndef SPINE_API_MCP_METHODS_H
#define SPINE_API_MCP_METHODS_H

#include "api/mcp/mcp_call.h"

typedef void mcp_method_fn(struct mcp_call *m);

/* hello.c */
mcp_method_fn hello_initialize, hello_discover, hello_ping;
/* tool_list.c, tool_call.c */
mcp_method_fn tool_list, tool_call;
/* resources.c */
mcp_method_fn resources_list, resources_templates, resources_read;
/* prompts.c */
mcp_method_fn prompts_list, prompts_get, prompts_complete;
/* listen.c */
mcp_method_fn listen_open, listen_subscribe, listen_unsubscribe;
/* tasks.c */
mcp_method_fn tasks_get, tasks_result, tasks_update, tasks_cancel;

#endif
