/* Envelopes: pack one, and read what was packed. What is packed is in desc_pack.c. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "core/memory/mention.h"

#define ENVELOPE_2 "'$ref':'/v1/schemas/envelope-2.json'"
#define ENVELOPE_1 "'$ref':'/v1/schemas/envelope-1.json'"
/* A part of an envelope, as its own schema says. */
#define AS_IN_2(name, says, ...) \
	DOC_ANY(name, says, .schema = "'$ref':'/v1/schemas/envelope-2.json#/properties/" name "'", __VA_ARGS__)
#define LINEAGE_AS_IN_2(name, says) \
	DOC_ANY(name, says, .schema = "'$ref':'/v1/schemas/envelope-2.json#/$defs/lineage/properties/" name "'")

/* --- What a dry run answers --- */

static const struct field lineage_fields[] = {
	LINEAGE_AS_IN_2("hop", "Which hop of the chain it would be."),
	LINEAGE_AS_IN_2("max_hops", "How many there may be."),
	LINEAGE_AS_IN_2("parent", "The envelope that it would continue."),
	LINEAGE_AS_IN_2("parent_digest", "The digest of that one."),
	LINEAGE_AS_IN_2("path", "The agents of the chain."),
	DOC_ENVELOPE_ID("root", "null where this would be the root.", NULLABLE),
	FIELDS_END,
};
static const struct shape lineage = {.fields = lineage_fields};

static const struct field draft_fields[] = {
	AS_IN_2("budget", "What it takes of its budget."),
	AS_IN_2("completeness", "What was found of what was named."),
	AS_IN_2("constraints", "What must hold."),
	AS_IN_2("created_at", "When it would have been packed."),
	AS_IN_2("envelope_minor", "Counts what was added to the version."),
	AS_IN_2("envelope_version", "2."),
	AS_IN_2("expected_output", "What is to come out."),
	AS_IN_2("extensions", "What the server does not know."),
	AS_IN_2("fetch_hint", "How the receiver fetches a memory."),
	AS_IN_2("from", "Who hands over."),
	AS_IN_2("guard", "What the guard has found."),
	AS_IN_2("history", "What was done before."),
	DOC_ANY("id", "It has none.", .schema = "'type':'null'"),
	DOC_SHAPE("lineage", &lineage, "Where it would stand in the chain."),
	AS_IN_2("memory", "The memories that go along."),
	AS_IN_2("space", "The space."),
	AS_IN_2("task", "What is to be done."),
	AS_IN_2("to", "Who gets the work."),
	AS_IN_2("traceparent", "The trace."),
	AS_IN_2("waived", "Constraints that no longer hold."),
	FIELDS_END,
};
static const struct shape draft_envelope = {
	.name = "DraftEnvelope",
	.says = "An envelope that was not stored: without digest, and with null for ids that it does not have.",
	.fields = draft_fields,
};

static const struct field considered_memory_fields[] = {
	DOC_MEMORY_ID("id", "The memory."),
	DOC_ANY("why", "Why it was looked at.",
		.schema = "'$ref':'/v1/schemas/envelope-2.json#/$defs/ref/properties/why'"),
	DOC_ANY("relevance", "When the envelope was packed; 0 in one of minor 0, where it is not known.",
		.schema = "'$ref':'/v1/schemas/envelope-2.json#/$defs/share'"),
	DOC_ENUM("fate", &words_fate, 0,
		 "Carried in that form; left_out: there was no room; passed_over: not chosen at all."),
	DOC_ENUM("reason", &words_left_out, 0,
		 "null: it is there in full. budget, room, repetition, lazy, summary: as in the envelope's "
		 "budget.trimmed. not_relevant: less than floor. not_asked_for: relevant, but behind as many as "
		 "include_recent lets in.", NULLABLE),
	DOC_MEMORY_ID("repeats", "Of a repetition: the memory that says the same. Absent otherwise.", MAYBE),
	COUNT("tokens", "What it takes, or would have taken; null where it is not known.", NULLABLE),
	DOC_TEXT("text", 0, 0,
		 "The beginning, in one line: of what is carried as it was, of the rest as it is now. null where there "
		 "is none: a mention, forgotten since, or not shown beside an envelope that the guard has searched.",
		 NULLABLE),
	FIELDS_END,
};
static const struct shape considered_memory = {.name = "ConsideredMemory", .fields = considered_memory_fields};

static const struct field considered_fields[] = {
	DOC_BOOL("recorded", "false: packed before this was recorded. Then floor, include_recent and scope are absent, "
		 "and what was passed over is not known."),
	DOC_NUMBER("floor", 0, 1, "What is less relevant was passed over, unless it was named or pinned.", MAYBE),
	COUNT("include_recent", "How many could come along by relevance at most.", MAYBE),
	DOC_ENUM("scope", &words_scope, 0, "Whose memories were looked at.", MAYBE),
	DOC_SHAPES("considered", 0, &considered_memory,
		   "First what the envelope carries, in its order; then what it had no room for; then what was passed "
		   "over, at most 32, the first of what search found."),
	FIELDS_END,
};
static const struct shape considered = {
	.name = "Considered", .says = "What an envelope was chosen from.", .fields = considered_fields,
};

static const struct field dry_budget_fields[] = {
	DOC_INT("max_tokens", 1, NO_MAX, "The budget."),
	DOC_BOOL("fits", "Whether the handoff fits it."),
	COUNT("token_count", "What it would take.", MAYBE),
	COUNT("kept", "References that are there, in whatever form.", MAYBE),
	DOC_SHAPES("trimmed", 0, WITHIN(
		DOC_ENUM("form", &words_trimmed_form, 0, "What is left of it."),
		DOC_TEXT("id", 0, 0, "Which memory or step."),
		COUNT("tokens", "What it would have taken.")), "What would not be there in full.", MAYBE),
	DOC_TEXT("code", 0, 0, "Where it does not fit: the problem.", MAYBE),
	DOC_INT("minimum", NO_MIN, NO_MAX, "Where it does not fit: what would do.", MAYBE),
	FIELDS_END,
};
static const struct shape dry_budget = {.fields = dry_budget_fields};

static const struct field dry_run_fields[] = {
	DOC_BOOL("dry_run", "Nothing was stored.", .schema = "'const':true"),
	DOC_SHAPE("envelope", &draft_envelope, "What would be packed."),
	DOC_SHAPES("budgets", 0, &dry_budget, "What the usual budgets would lose."),
	DOC_SHAPE("considered", &considered, "What it would be chosen from."),
	FIELDS_END,
};
static const struct shape dry_run = {.name = "DryRun", .fields = dry_run_fields, .warns = true};

/* --- Other answers --- */

static const struct field both_fields[] = {
	DOC_ANY("v1", "As version 1.", .schema = ENVELOPE_1),
	DOC_ANY("v2", "As version 2.", .schema = ENVELOPE_2),
	FIELDS_END,
};
static const struct shape both_envelopes = {.name = "BothEnvelopes", .fields = both_fields};

static const struct field verdict_fields[] = {
	DOC_ENVELOPE_ID("id", "The envelope."),
	DOC_BOOL("ok", "Whether it is intact, but for what was forgotten."),
	DOC_ENUM("verdict", &words_verdict, 0,
		 "forgotten: a text is gone, so that the digest cannot be computed; what is left matches a second "
		 "digest that was stored with the envelope (one packed before schema 4 has none, and only its number "
		 "and links were compared). unchained: a parent does not match what was sealed."),
	COUNT("checked", "How many envelopes."),
	DOC_ENVELOPE_ID("first_bad", "The envelope that is damaged or does not fit; null where all is well.", NULLABLE),
	FIELDS_END,
};
static const struct shape verdict = {.name = "Verdict", .fields = verdict_fields, .warns = true};

/* --- Operations --- */

const struct description describe_hand_off = {
	.id = "handOff", .tag = "envelopes", .scope = SCOPE_WRITE, .tool = "agent_handoff",
	.summary = "Pack an envelope for another agent",
	.says = "The body is a handoff, or a whole envelope of version 1 or 2 from which a new one is packed.",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY,
	.headers = INPUT(DOC_TEXT("traceparent", 0, 0, "W3C trace context; kept in the envelope.")),
	.body = {&shape_pack, &shape_envelope_1_input, &shape_envelope_2_input},
	ANSWERS(ANSWER(200, "Of a dry run: what would be packed. Nothing was stored.", &dry_run,
		       .headers = GIVES_ANEW),
		OTHER(201, "The envelope, stored.", .schema = ENVELOPE_2,
		      .headers = GIVES_LOCATION | GIVES_TRACEPARENT)),
	REFUSES(P_UNSUPPORTED_VERSION, P_UNKNOWN_TOKENIZER, P_BUDGET_TOO_SMALL, P_CREDENTIALS_FOUND, P_NO_ROUTE,
		P_ENVELOPE_NOT_FOUND, P_INTENT_CONFLICT, P_TASK_CONFLICT, P_CONSTRAINT_CONFLICT, P_HOP_LIMIT, P_LOOP),
};

const struct description describe_read_envelope = {
	.id = "readEnvelope", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Read an envelope, in one of its forms",
	.path = {&path_envelope},
	.query = INPUT(DOC_ENUM("format", &words_envelope_form, 0,
				"json: version 2. prompt: Markdown, what the receiving model reads. v1: version 1. "
				"both: versions 1 and 2.", .otherwise = "'json'",
				.expected = "expected json, prompt, v1 or both")),
	ANSWERS(OTHER(200, "The envelope, in the form that was asked for.", .schema = ENVELOPE_2),
		OTHER(200, NULL, .schema = ENVELOPE_1), OTHER(200, NULL, .shape = &both_envelopes),
		OTHER(200, NULL, .media = "text/markdown", .schema = "'type':'string'")),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_DAMAGED),
};

const struct description describe_verify_envelope = {
	.id = "verifyEnvelope", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Check an envelope and the chain to its root",
	.path = {&path_envelope},
	ANSWERS(ANSWER(200, "The verdict.", &verdict)),
	REFUSES(P_ENVELOPE_NOT_FOUND),
};

const struct description describe_resolve_envelope = {
	.id = "resolveEnvelope", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Read what an envelope left out or missed, as it is now",
	.says = "A receipt is kept of who opened what.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_envelope},
	.body = {INPUT(DOC_MEMORY_REFS("ids", MENTION_MAX,
				       "Memories that the envelope mentions; where absent, all that is not there in "
				       "full."))},
	ANSWERS(ANSWER(200, "What was found, and what was not.", &shape_found)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_DAMAGED),
};

const struct description describe_list_receipts = {
	.id = "listReceipts", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Who opened which of the memories",
	.path = {&path_envelope},
	ANSWERS(ANSWER(200, "The receipts.", OUTPUT(DOC_SHAPES("receipts", 0, WITHIN(
		DOC_MEMORY_ID("id", "The memory."),
		DOC_TEXT("agent", 0, 0, "\"unknown\" where the caller did not say who it was."),
		DOC_TIME("at", "When.")), "In the order of their time.")))),
	REFUSES(P_ENVELOPE_NOT_FOUND),
};

const struct description describe_read_considered = {
	.id = "readConsidered", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "What an envelope was chosen from, and why it has what it has",
	.says = "Recorded when it was packed, beside the envelope: it is neither in it nor in its digest, and is not "
		"worked out anew.",
	.path = {&path_envelope},
	ANSWERS(ANSWER(200, "What was looked at: what the envelope carries, what it had no room for, and what was "
		       "passed over.",
		       OUTPUT(DOC_ENVELOPE_ID("envelope", "The envelope."), DOC_INCLUDE(&considered)))),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_DAMAGED),
};
