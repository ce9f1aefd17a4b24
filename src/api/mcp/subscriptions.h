/* Who wants to know when something comes for which agent. Bounded; any thread. */
#ifndef SPINE_API_MCP_SUBSCRIPTIONS_H
#define SPINE_API_MCP_SUBSCRIPTIONS_H

#include "api/api.h"
#include "store/store.h"

enum { SUBSCRIPTION_OF_MAX = 88, SUBSCRIPTION_URI_MAX = 512 };

struct subscriptions;

/* Returns owned. Borrows api. */
struct subscriptions *subscriptions_new(struct api *api);
/* NULL-safe. */
void subscriptions_free(struct subscriptions *s);

/* of: a stream, or a session, which may have one. Where there is no room the oldest makes it: its client has most
 * likely gone. */
void subscriptions_add(struct subscriptions *s, const char *of, struct str uri, struct str space, struct str agent);
/* That one; all of them where uri.p is NULL. */
void subscriptions_remove(struct subscriptions *s, const char *of, struct str uri);
/* Calls fn for each that is about one of these agents. */
void subscriptions_find(struct subscriptions *s, struct store_conn *conn, const int64_t *agents, size_t count,
			void (*fn)(void *ctx, const char *of, const char *uri), void *ctx);

#endif
