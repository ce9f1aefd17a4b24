/* Receivers: they take what is queued for their agent, or wait for it. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "core/delivery/delivery.h"

enum { INSTANCE_MAX = 128, RECEIVE_WAIT_MAX_MS = 60000, RECEIVE_MAX = 100 };

#define NEWS "'$ref':'/v1/schemas/envelope-2.json#/$defs/news'"

static const struct field taken_fields[] = {
	DOC_INCLUDE(&shape_handoff_row),
	DOC_TEXT("lease", 0, 0, "What settles it.", .component = "Lease"),
	DOC_TIME("lease_expires_at", "When somebody else may get it."),
	DOC_BOOL("redelivered", "Somebody has had it before."),
	DOC_OBJECT("envelope", "In the newest version that the agent accepts.", MAYBE,
		   .schema = "'anyOf':[{'$ref':'/v1/schemas/envelope-2.json'},"
			     "{'$ref':'/v1/schemas/envelope-1.json'},{'type':'null'}]"),
	DOC_ARRAY("since", 0, "What has happened since the envelope was packed: to its memories, and what the handoffs "
		  "before it have brought.", MAYBE, .min = 1, .items = NEWS),
	DOC_TEXT("prompt", 0, 0, "The text that a model reads. It ends with the results among since, in full as far as "
		 "max_tokens allows.", MAYBE),
	DOC_TEXT("problem", 0, 0, "Why there is no envelope.", MAYBE),
	FIELDS_END,
};
static const struct shape taken = {
	.name = "Taken", .says = "A handoff, as a receiver gets it.", .fields = taken_fields,
};

#define FORMS .otherwise = "'both'", .expected = "expected envelope, prompt, both or none"

const struct description describe_receive = {
	.id = "receive", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_receive",
	.summary = "Take what is queued for an agent, or wait for it",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_name},
	.body = {INPUT(
		DOC_SECONDS("wait_s", 0, RECEIVE_WAIT_MAX_MS, "Wait so long for something to come.", .otherwise = "0",
			    .docs = "how long to wait for something to come, at most 60"),
		DOC_SECONDS("lease_s", 1, DELIVERY_TIMEOUT_MAX_MS,
			    "How long the lease lasts; the handoff's ack timeout where absent.",
			    .usually = "the handoff's ack timeout",
			    .docs = "how long the lease lasts (15 seconds unless the sender or the agent's settings "
				    "say otherwise); whoever works longer before the ack asks for more, or sends "
				    "`progress`"),
		DOC_INT("max", 1, RECEIVE_MAX, "How many to take.", .otherwise = "1",
			.docs = "how many to take, at most 100; fewer are given where their envelopes are large"),
		DOC_NAME("instance", INSTANCE_MAX, "Which of the agent's instances asks."),
		DOC_ENUM("format", &words_received_form, 16, "What comes with the handoff.", .min = 1, FORMS,
			 .docs = "what comes with the handoff: `both`, `envelope`, `prompt` or `none`"))},
	ANSWERS(ANSWER(200, "What was taken; none where the wait is over.",
		       OUTPUT(DOC_SHAPES("handoffs", 0, &taken, "Each is the receiver's until its lease ends.")))),
};

const struct description describe_stream_handoffs = {
	.id = "streamHandoffs", .tag = "delivery", .scope = SCOPE_RECEIVE,
	.summary = "Take what is queued for an agent, one after the other, as it comes",
	.says = "Server-sent events. An event handoff has the lease as its id and, as its data, what receive gives for "
		"one handoff (Taken); the next comes when it was settled or taken back. An event problem is the last "
		"one.",
	.takes = TAKES_AGENT, .path = {&path_name},
	.query = INPUT(
		DOC_NAME("instance", INSTANCE_MAX, "Which of the agent's instances asks."),
		DOC_ENUM("format", &words_received_form, 0, "What comes with each handoff.", FORMS),
		DOC_SECONDS("lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, "How long each lease lasts.")),
	ANSWERS(OTHER(200, "Events, without an end.", .media = "text/event-stream", .schema = "'type':'string'")),
	REFUSES(P_DRAINING),
};
