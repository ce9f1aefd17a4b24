/* Tasks: a handoff_receive that the client asks for again instead of waiting in one call.
 *
 * Nothing waits behind a task. Each tasks/get looks for work, and takes it for the task; tasks/result waits for it. So
 * nothing is ever taken for a client that does not ask any more. Tasks are kept in memory: a server that was started
 * anew does not know them, and the client calls the tool again.
 */
#ifndef SPINE_API_MCP_TASKS_H
#define SPINE_API_MCP_TASKS_H

#include "api/mcp/mcp_call.h"

struct tasks;

struct tasks *tasks_new(void);
void tasks_free(struct tasks *t);

/* Makes a task of a call of handoff_receive, where the client wants one, and answers. False: it does not, or there are
 * too many. */
bool tasks_begin(struct mcp_call *m);
/* How long the call for a task waits. */
int64_t tasks_wait_ms(const struct mcp_task *task);

#endif
