#include "api/traceparent.h"

#include "core/watch/span.h"

struct str traceparent_of(const struct api *api, const struct envelope *e, uint64_t handoff, int64_t lease,
			  struct arena *arena)
{
	struct trace_context context;
	char text[TRACEPARENT_SIZE];

	if (api->exporter == NULL)
		return e->traceparent;
	/* The trace of a chain that has none of its own is its root's, and that is not at hand here. */
	if (e->traceparent.p == NULL && e->parent)
		return STR_NULL;
	context = handoff ? span_context_of_lease(e, e->digest, handoff, lease) : span_context_of(e, e->digest);
	trace_context_format(&context, text);
	return arena_str(arena, str_of(text));
}
