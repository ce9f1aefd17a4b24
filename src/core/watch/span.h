/* What happened to an envelope as spans of a trace (OpenTelemetry), derived from the events.
 *
 *     create   packing: from the request to the commit                child of the sender's span, or of the parent's
 *     send     the handoff is queued                                  child of create
 *     receive  from the queue to the receiver: as long as it waited   child of send
 *     ack      from the receiver to its ack                           child of receive
 *     process  from the receiver to its result                        child of receive
 *
 * and, where an attempt fails, a span that ends with the failure: nack, reject, lose_lease, lose_work, ack_timeout,
 * expire, park. Names and attributes are those of the semantic conventions for messaging and for generative AI.
 */
#ifndef SPINE_CORE_SPAN_H
#define SPINE_CORE_SPAN_H

#include "core/envelope/envelope.h"
#include "core/watch/trace_context.h"

/* OTLP's numbers. */
enum span_kind { SPAN_CLIENT = 3, SPAN_PRODUCER = 4, SPAN_CONSUMER = 5 };

struct span_attribute {
	const char *key;
	enum { SPAN_TEXT, SPAN_INT, SPAN_DOUBLE } type;
	struct str text;
	int64_t i;
	double d;
};

enum { SPAN_ATTRIBUTES_MAX = 24 };

struct span {
	struct trace_context context;		/* of the span itself */
	uint8_t parent[SPAN_ID_SIZE];		/* all 0: none */
	struct str name;
	enum span_kind kind;
	int64_t start_ms;
	int64_t end_ms;
	bool has_failed;
	struct str message;			/* of the failure; p == NULL: none */
	struct span_attribute attributes[SPAN_ATTRIBUTES_MAX];
	size_t attribute_count;
};

/* What must be known of an event's surroundings. */
struct span_source {
	const struct event_row *event;
	struct str space_name;
	const struct envelope *envelope;
	bool is_inherited;			/* its traceparent is its parent's: the sender gave none */
	const uint8_t *root_digest;		/* of the chain's first envelope: the trace, where none was named */
	const struct event_row *history;	/* of the handoff: those of span_history_kinds(), from the first on */
	size_t history_count;
	int64_t input_tokens;			/* as the receiver told; -1: it did not */
};

/* Of these kinds of events spans are made: a set of bits. */
uint64_t span_kinds(void);
/* These must be in the history; others may. What a receiver tells of its progress is not among them, so that the
 * history of a handoff is short. */
uint64_t span_history_kinds(void);
/* False where the event makes none, or the sender does not want its trace to be recorded. Texts are borrowed from the
 * source or in the arena. */
bool span_of_event(const struct span_source *source, struct arena *arena, struct span *ret);

/* The context of an envelope: its trace, with the span of its packing. */
struct trace_context span_context_of(const struct envelope *e, const uint8_t *root_digest);
/* The same with the span of a lease: what a receiver that takes the handoff continues. */
struct trace_context span_context_of_lease(const struct envelope *e, const uint8_t *root_digest, uint64_t handoff,
					   int64_t lease);

/* Writes spans as one ExportTraceServiceRequest in OTLP's JSON. instance tells this server from others. */
void span_write_otlp(const struct span *spans, size_t count, struct str instance, struct buf *out);

#endif
