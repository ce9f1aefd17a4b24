/* The inbox of an agent as a resource that tells when something has come: spine://inbox/AGENT.
 *
 *     subscriptions/listen    since 2026-07-28: the reply is the stream
 *     resources/subscribe     before; the stream is a GET of the same session
 *
 * After a commit the writer's thread tells each HTTP thread that has streams which agents something was queued for.
 */
#ifndef SPINE_API_MCP_LISTEN_H
#define SPINE_API_MCP_LISTEN_H

#include "api/mcp/mcp_call.h"

struct listening;

struct listening *listen_new(struct api *api, int threads);
void listen_free(struct listening *l);
void listen_wake(struct listening *l, const int64_t *agents, size_t count);
/* The stream of a session. */
void listen_session(struct mcp_call *m);
/* Tells all streams that listen for such changes ("tools", "prompts"); for the fixture. */
void listen_tell_changed(struct mcp *mcp, const char *what);

#endif
