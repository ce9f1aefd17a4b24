/* notifications/cancelled, of the revisions with sessions: a client that has lost its patience says so, and may leave
 * its connection open. A receiver that waits for it must not be given anything any more. */
#ifndef SPINE_API_MCP_CANCEL_H
#define SPINE_API_MCP_CANCEL_H

#include "api/mcp/mcp_call.h"

struct cancelling;

struct cancelling *cancel_new(void);
void cancel_free(struct cancelling *c);

/* On the thread of a call whose operation waits: from here on it may be cancelled; and not any more. */
void cancel_add(struct mcp_call *m);
void cancel_remove(struct mcp_call *m);
/* A notification, of any method: cancels what it names, where it is that and of the same session. */
void cancel_asked(struct mcp_call *m);

#endif
