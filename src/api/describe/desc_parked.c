/* What cannot go on by itself, and what a person does with it; and the breaker, which a person may close. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "core/envelope/assemble.h"
#include "engine/board/parked_list.h"
#include "engine/delivery/reset.h"
#include "engine/delivery/shrink.h"

enum { PERSON_MAX = 128, WHY_MAX = 4096, REASON_MAX = 1024 };

#define BY FIELD_NAME("by", struct decide, by, PERSON_MAX, "Who; the caller where absent.", OF_CALLER)

static const struct field decision_fields[] = {
	FIELD_TEXT("why", struct decide, why, 1, WHY_MAX, "Why; it stays in the events."), BY, FIELDS_END,
};
const struct shape shape_decision = {
	.name = "Decision", .fields = decision_fields, .size = sizeof(struct decide), .is_input = true,
};

static void put_remedies(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct handoff_row *h = &((const struct about_handoff *)from)->row;

	(void)with;
	json_key_str(w, f->name);
	json_begin_array(w);
	for (const char *const *r = delivery_remedies(h->state); *r; r++)
		json_put_cstr(w, *r);
	json_end_array(w);
}

static const struct field parked_fields[] = {
	FIELD_INCLUDE(struct about_handoff, row, &shape_handoff_row),
	FIELD_INCLUDE(struct about_handoff, about, &shape_about),
	FIELD_INT("attempts", struct about_handoff, row.attempt, 0, NO_MAX,
		  "How many there were with the last agent."),
	DOC_TEXTS("remedies", "What can be done about it.", .words = &words_remedy, .write = put_remedies),
	FIELDS_END,
};
static const struct shape parked = {
	.name = "Parked", .fields = parked_fields, .size = sizeof(struct about_handoff),
};

static const struct field shrunk_fields[] = {
	FIELD_INCLUDE(struct shrink, decision.row, &shape_handoff_row),
	FIELD_HANDOFF_ID("replaces", struct shrink, old.num, "The one that was parked."),
	FIELD_INT("token_count", struct shrink, pack.envelope.token_count, 1, NO_MAX, "What the new envelope takes."),
	FIELDS_END,
};
static const struct shape shrunk = {.fields = shrunk_fields, .warns = true};

/* An answer to a decision, and what it is about. */
#define DECIDES .path_into = {INTO(struct decide, num)}, .body_into = INTO(struct decide, op), \
	.from = FROM(struct decide, row)

const struct description describe_park = {
	.id = "park", .tag = "delivery", .scope = SCOPE_WRITE, .blind = handoff_blind,
	.summary = "Park an envelope for a person",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .path = {&path_envelope},
	.body = {INPUT(FIELD_TEXT("reason", struct decide, why, 1, WHY_MAX, "What a person reads first.",
				  .required = "it is what a person reads first"), BY)},
	ANSWERS(ANSWER(200, "The handoff, parked.", &shape_handoff)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_ALREADY_SETTLED, P_HANDOFF_PARKED), DECIDES,
};

const struct description describe_list_parked = {
	.id = "listParked", .tag = "delivery", .scope = SCOPE_READ, .tool = "parked_list",
	.summary = "List what is parked",
	.query = INPUT(
		FIELD_TEXT("to", struct parked_list, to, 0, 0, "What this agent had.", OF_INBOX),
		FIELD_TEXT("from", struct parked_list, filter.from, 0, 0, "What this agent has sent.", OF_ANYBODY),
		FIELD_ENVELOPE_ID("envelope_id", struct parked_list, filter.envelope, "What is of this envelope.",
				  NOT_AN_ENVELOPE),
		FIELD_TEXT("task", struct parked_list, filter.task, 0, 0, "What is of this task."),
		FIELD_TEXT("reason", struct parked_list, filter.reason, 0, REASON_MAX,
			   "Whose reason holds this text, in upper or lower case."),
		FIELD_TIME("since", struct parked_list, filter.since_ms, "Parked since then."),
		FIELD_TIME("before", struct parked_list, filter.before_ms, "Parked before then."),
		FIELD_ENUM("order", struct parked_list, filter.newest_first, &words_oldest_newest, 0,
			   "Which comes first.", .otherwise = "'oldest'", .refusal = "is neither newest nor oldest"),
		PAGE_SIZE, PAGE_TOKEN),
	LISTS(struct parked_list),
	ANSWERS(ANSWER(200, "A page of it.", OUTPUT(
		FIELD_SHAPES("parked", struct parked_list, rows, count, 0, &parked, "What fits."),
		COUNT_OF("total", struct parked_list, total, "How many fit, on all pages."),
		NEXT_PAGE_OF(struct parked_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

#define OUT_OF_PARKED P_HANDOFF_NOT_FOUND, P_HANDOFF_PRUNED, P_NOT_PARKED

const struct description describe_redrive = {
	.id = "redrive", .tag = "delivery", .scope = SCOPE_ADMIN, .tool = "parked_list",
	.summary = "Out of parked: to the same agent, with new attempts",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_handoff},
	.body = {&shape_decision},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(OUT_OF_PARKED), DECIDES,
};

const struct description describe_reroute = {
	.id = "reroute", .tag = "delivery", .scope = SCOPE_ADMIN, .tool = "parked_list",
	.summary = "Out of parked: to another agent",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(FIELD_INCLUDE_SAME(struct decide, &shape_decision),
		       FIELD_AGENT("to", struct decide, to, "Who gets the work instead.",
				   .required = "it is the agent that gets the work instead"))},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(OUT_OF_PARKED, P_ALREADY_SENT), DECIDES,
};

static void give_new_handoff(struct call *call, const void *from)
{
	const struct handoff_row *h = &((const struct shrink *)from)->decision.row;

	call->location = arena_printf(call->op->arena, "/v1/handoffs/ho-%llu", (unsigned long long)h->num);
}

const struct description describe_shrink = {
	.id = "shrink", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Out of parked: a new, smaller envelope instead",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .path = {&path_handoff},
	.path_into = {INTO(struct shrink, decision.num)}, .body_into = INTO(struct shrink, decision),
	.body = {INPUT(FIELD_INCLUDE(struct shrink, decision, &shape_decision),
		       FIELD_INT("max_tokens", struct shrink, max_tokens, 1, PACK_TOKENS_MAX,
				 "Less than the budget of the envelope.",
				 .required = "it is the budget that the new envelope must fit"))},
	ANSWERS(ANSWER(201, "The new handoff.", &shrunk, .headers = GIVES_LOCATION)), .gives = give_new_handoff,
	REFUSES(OUT_OF_PARKED, P_ENVELOPE_DAMAGED, P_BUDGET_TOO_SMALL, P_CREDENTIALS_FOUND, P_HOP_LIMIT, P_LOOP,
		P_ID_TAKEN),
};

const struct description describe_discard = {
	.id = "discard", .tag = "delivery", .scope = SCOPE_ADMIN, .tool = "parked_list",
	.summary = "Out of parked: for good",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(FIELD_TEXT("why", struct decide, why, 1, WHY_MAX, "Why; it stays in the events.",
				  .required = "what is discarded is gone from the queue for good, and somebody will "
					      "ask"),
		       BY)},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(OUT_OF_PARKED), DECIDES,
};

const struct description describe_cancel = {
	.id = "cancel", .tag = "delivery", .scope = SCOPE_WRITE, .blind = handoff_blind,
	.summary = "Take back what is queued: nobody gets it any more",
	.says = "Only what nobody has taken: queued, deferred or held. It ends as discarded.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_handoff},
	.body = {&shape_decision},
	ANSWERS(ANSWER(200, "The handoff, discarded.", &shape_handoff)),
	REFUSES(P_HANDOFF_NOT_FOUND, P_NOT_QUEUED), DECIDES,
};

const struct description describe_move = {
	.id = "move", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Give what is queued to another agent, without parking it",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(FIELD_INCLUDE_SAME(struct decide, &shape_decision),
		       FIELD_AGENT("to", struct decide, to, "Who gets the work instead.",
				   .required = "it is the agent that gets the work instead"))},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(P_HANDOFF_NOT_FOUND, P_NOT_QUEUED, P_ALREADY_SENT), DECIDES,
};

const struct description describe_restore = {
	.id = "restore", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Undo: parked, what was discarded or cancelled, or redriven and not taken since",
	.says = "One that was rerouted is parked with the agent that it was rerouted to.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_handoff},
	.body = {&shape_decision},
	ANSWERS(ANSWER(200, "The handoff.", &shape_handoff)),
	REFUSES(P_HANDOFF_NOT_FOUND, P_NOT_RESTORABLE), DECIDES,
};

const struct description describe_reset_breaker = {
	.id = "resetBreaker", .tag = "delivery", .scope = SCOPE_ADMIN,
	.summary = "Close the circuit breaker of an agent",
	.takes = TAKES_AGENT, .path = {&path_name}, .path_into = {INTO(struct reset, agent)},
	ANSWERS(ANSWER(200, "It is closed.", OUTPUT(
		FIELD_TEXT("name", struct reset, agent, 0, 0, "The agent."),
		FIELD_ENUM("breaker", struct reset, breaker, &words_breaker_closed, 0, "Its breaker.")))),
	REFUSES(P_AGENT_NOT_FOUND),
};
