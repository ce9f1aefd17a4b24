/* What only the conformance suite wants: tools, resources and prompts with which it tries the protocol itself. They
 * live in tests/mcp/fixture.c and are a part of build/fixture/spine (make fixture) alone; what users run has
 * no_fixture.c in their place. */
#ifndef SPINE_API_MCP_FIXTURE_H
#define SPINE_API_MCP_FIXTURE_H

#include "api/mcp/methods.h"

bool fixture_is_on(void);
/* NULL: it has none of that name. */
mcp_method_fn *fixture_method(const struct mcp_call *m);
/* Each: true where it has answered. */
bool fixture_tool(struct mcp_call *m, struct str name);
bool fixture_resource(struct mcp_call *m, struct str uri);
bool fixture_prompt(struct mcp_call *m, struct str name);
bool fixture_watches(struct str uri);
/* Each writes items of the list. */
void fixture_put_tools(struct json_writer *w);
void fixture_put_resources(struct json_writer *w);
void fixture_put_templates(struct json_writer *w);
void fixture_put_prompts(struct json_writer *w);

#endif
