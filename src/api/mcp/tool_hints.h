/* What a model does next about a problem, in the words of its tools. */
#ifndef SPINE_API_MCP_TOOL_HINTS_H
#define SPINE_API_MCP_TOOL_HINTS_H

#include "core/problem.h"

/* NULL: what the problem itself says is enough. */
const char *tool_hint(enum problem_code code);

#endif
