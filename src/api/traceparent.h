/* The header traceparent of an answer: where in its trace the client goes on.
 *
 * Where spans are exported it names the server's own span (that of the packing, or of the lease), otherwise what the
 * sender gave is passed on as it is: a span that nobody ever sees must not become anybody's parent. */
#ifndef SPINE_API_TRACEPARENT_H
#define SPINE_API_TRACEPARENT_H

#include "api/api.h"
#include "core/envelope/envelope.h"

/* Of an answer about an envelope; with a handoff, about that lease of it. In the arena; p == NULL: none. */
struct str traceparent_of(const struct api *api, const struct envelope *e, uint64_t handoff, int64_t lease,
			  struct arena *arena);

#endif
