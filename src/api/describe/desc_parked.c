/* What cannot go on by itself, and what a person does with it; and the breaker, which a person may close. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "core/envelope/assemble.h"

enum { PERSON_MAX = 128, WHY_MAX = 4096 };

#define BY DOC_NAME("by", PERSON_MAX, "Who; the caller where absent.")

static const struct field decision_fields[] = {
	DOC_TEXT("why", 1, WHY_MAX, "Why; it stays in the events."), BY, FIELDS_END,
};
const struct shape shape_decision = {.name = "Decision", .fields = decision_fields, .is_input = true};

static const struct field parked_fields[] = {
	DOC_INCLUDE(&shape_handoff_row),
	COUNT("attempts", "How many there were with the last agent."),
	DOC_TEXTS("remedies", "What can be done about it.", .words = &words_remedy),
	FIELDS_END,
};
static const struct shape parked = {.name = "Parked", .fields = parked_fields};

static const struct field shrunk_fields[] = {
	DOC_INCLUDE(&shape_handoff_row),
	DOC_HANDOFF_ID("replaces", "The one that was parked."),
	DOC_INT("token_count", 1, NO_MAX, "What the new envelope takes."),
	FIELDS_END,
};
static const struct shape shrunk = {.fields = shrunk_fields, .warns = true};

const struct description describe_park = {
	.id = "park", .tag = "delivery", .scope = SCOPE_WRITE,
	.summary = "Park an envelope for a person",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .path = {&path_envelope},
	.body = {INPUT(DOC_TEXT("reason", 1, WHY_MAX, "What a person reads first.",
				.required = "it is what a person reads first"), BY)},
	ANSWERS(ANSWER(200, "The handoff, parked.", &shape_handoff)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ALREADY_SETTLED, P_HANDOFF_PARKED),
};

const struct description describe_list_parked = {
	.id = "listParked", .tag = "delivery", .scope = SCOPE_READ, .tool = "parked_list",
	.summary = "List what is parked",
	.query = INPUT(
		DOC_TEXT("to", 0, 0, "What this agent had."),
		DOC_TEXT("from", 0, 0, "What this agent has sent."),
		DOC_ENVELOPE_ID("envelope_id", "What is of this envelope."),
		PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of it.", OUTPUT(DOC_SHAPES("parked", 0, &parked, "What fits."), NEXT_PAGE))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

#define OUT_OF_PARKED P_HANDOFF_NOT_FOUND, P_NOT_PARKED

const struct description describe_redrive = {
	.id = "redrive", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Out of parked: to the same agent, with new attempts",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_handoff},
	.body = {&shape_decision},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(OUT_OF_PARKED),
};

const struct description describe_reroute = {
	.id = "reroute", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Out of parked: to another agent",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(DOC_INCLUDE(&shape_decision),
		       DOC_AGENT("to", "Who gets the work instead.",
				 .required = "it is the agent that gets the work instead"))},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(OUT_OF_PARKED, P_ALREADY_SENT),
};

const struct description describe_shrink = {
	.id = "shrink", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Out of parked: a new, smaller envelope instead",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(DOC_INCLUDE(&shape_decision),
		       DOC_INT("max_tokens", 1, HANDOFF_TOKENS_MAX, "Less than the budget of the envelope.",
			       .required = "it is the budget that the new envelope must fit"))},
	ANSWERS(ANSWER(201, "The new handoff.", &shrunk, .headers = GIVES_LOCATION)),
	REFUSES(OUT_OF_PARKED, P_ENVELOPE_DAMAGED, P_BUDGET_TOO_SMALL, P_CREDENTIALS_FOUND, P_HOP_LIMIT, P_LOOP),
};

const struct description describe_discard = {
	.id = "discard", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Out of parked: for good",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(DOC_TEXT("why", 1, WHY_MAX, "Why; it stays in the events.",
				.required = "what is discarded is gone from the queue for good, and somebody will ask"),
		       BY)},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(OUT_OF_PARKED),
};

const struct description describe_reset_breaker = {
	.id = "resetBreaker", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Close the circuit breaker of an agent",
	.takes = TAKES_AGENT, .path = {&path_name},
	ANSWERS(ANSWER(200, "It is closed.", OUTPUT(
		DOC_TEXT("name", 0, 0, "The agent."),
		DOC_ENUM("breaker", &words_breaker_closed, 0, "Its breaker.")))),
	REFUSES(P_AGENT_NOT_FOUND),
};
