/* Everything that happened to a task, in order: who handed what to whom, and what became of it. */
#ifndef SPINE_ENGINE_TRACE_GET_H
#define SPINE_ENGINE_TRACE_GET_H

#include "core/envelope/envelope.h"
#include "engine/op.h"
#include "engine/page.h"

enum { TRACE_ENVELOPES_MAX = 200 };	/* of a page */

struct trace_get {
	struct op op;
	/* In. */
	struct str task;
	struct page page;		/* of envelopes; its position: the last one's number of the page before */
	/* Out. */
	struct envelope *envelopes;	/* without the memories' text */
	size_t envelope_count;
	struct handoff_row *handoffs;	/* of these envelopes */
	size_t handoff_count;
	struct event_row *events;	/* of these handoffs, in the order of their happening */
	size_t event_count;
	bool is_pruned;			/* what is before one of them is not kept any more */
	/* trace_get.c's own: how many there is room for. */
	size_t handoff_room;
	size_t event_room;
};

extern const struct op_kind trace_get_kind;

#endif
