/* W3C Trace Context: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", and the ids of our own spans.
 *
 * Our ids are derived, not drawn: from the trace, and from what the span is about. So the span of a handoff that was
 * sent before a restart is found by whoever makes the span of its ack after it, and nothing need be kept. They hold
 * the digest of the envelope, because two servers may work in one trace, and both have an env-1.
 */
#ifndef SPINE_CORE_TRACE_CONTEXT_H
#define SPINE_CORE_TRACE_CONTEXT_H

#include "base/str.h"

enum { TRACE_ID_SIZE = 16, SPAN_ID_SIZE = 8, TRACEPARENT_SIZE = 56, TRACE_SAMPLED = 1 };

struct trace_context {
	uint8_t trace[TRACE_ID_SIZE];
	uint8_t span[SPAN_ID_SIZE];	/* all 0: none */
	uint8_t flags;
};

/* False, and *ret untouched, where it is not well-formed: then it is to be treated as absent. A version that is not
 * known yet is read as far as version 00 goes. */
bool trace_context_parse(struct str traceparent, struct trace_context *ret);
/* Terminated. */
void trace_context_format(const struct trace_context *context, char ret[TRACEPARENT_SIZE]);

/* The id of a span of this trace: what it is ("create"), of which envelope, and two numbers that tell it from others
 * of the kind. */
void trace_span_id(const uint8_t trace[TRACE_ID_SIZE], const char *what, const uint8_t digest[32], uint64_t first,
		   uint64_t second, uint8_t ret[SPAN_ID_SIZE]);

#endif
