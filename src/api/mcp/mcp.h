/* The Model Context Protocol at /mcp: a second translator beside HTTP, over the same operations and descriptions.
 *
 * It speaks the stateless revision 2026-07-28, and those that begin with `initialize`: 2025-11-25, 2025-06-18 and
 * 2025-03-26. A message is one POST; its answer is JSON, or a stream of events that ends with the answer.
 */
#ifndef SPINE_API_MCP_MCP_H
#define SPINE_API_MCP_MCP_H

#include "api/api.h"
#include "core/access/access.h"
#include "net/http.h"

struct mcp;

/* Returns owned. */
struct mcp *mcp_new(struct api *api, int threads);
/* NULL-safe. After the HTTP server's and the writer's threads have ended. */
void mcp_free(struct mcp *mcp);
/* On the HTTP thread: takes a request to /mcp, of who was let in with that; NULL: no key is needed. */
void mcp_on_request(struct api *api, struct http_req *req, const struct access *access);
/* On the writer's thread, after a commit: something was queued for these agents. */
void mcp_wake(struct mcp *mcp, const int64_t *agents, size_t count);

#endif
