/* Envelopes: pack one, and read what was packed. What is packed is in desc_pack.c. */
#include "api/describe/descriptions.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "codec/json_member.h"
#include "core/envelope/render.h"
#include "core/memory/mention.h"
#include "engine/envelope/envelope_get.h"
#include "engine/envelope/pack.h"
#include "engine/envelope/resolve.h"

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
	AS_IN_2("trust", "The least of its parts."),
	AS_IN_2("waived", "Constraints that no longer hold."),
	FIELDS_END,
};
static const struct shape draft_envelope = {
	.name = "DraftEnvelope",
	.says = "An envelope that was not stored: without digest, and with null for ids that it does not have.",
	.fields = draft_fields,
};

static const struct field considered_memory_fields[] = {
	FIELD_MEMORY_ID("id", struct considered_item, num, "The memory."),
	FIELD_ENUM("why", struct considered_item, why, &words_why, 0, "Why it was looked at.",
		   .schema = "'$ref':'/v1/schemas/envelope-2.json#/$defs/ref/properties/why'"),
	FIELD_NUMBER("relevance", struct considered_item, relevance, 0, 1,
		     "When the envelope was packed; 0 in one of minor 0, where it is not known.",
		     .schema = "'$ref':'/v1/schemas/envelope-2.json#/$defs/share'"),
	FIELD_WORD("fate", struct considered_item, fate, &words_fate,
		   "Carried in that form; left_out: there was no room; passed_over: not chosen at all."),
	FIELD_WORD("reason", struct considered_item, reason, &words_left_out,
		   "null: it is there in full. budget, room, repetition, lazy, summary, trust_floor: as in the "
		   "envelope's budget.trimmed. not_relevant: less than "
		   "floor. not_asked_for: relevant, but behind as many as "
		   "include_recent lets in.", NULLABLE),
	FIELD_MEMORY_ID("repeats", struct considered_item, repeats,
			"Of a repetition: the memory that says the same. Absent otherwise.", MAYBE),
	COUNT_OF("tokens", struct considered_item, tokens,
		 "What it takes, or would have taken; null where it is not known.", NULLABLE),
	FIELD_TEXT("text", struct considered_item, text, 0, 0,
		   "The beginning, in one line: of what is carried as it was, of the rest as it is now. null where "
		   "there is none: a mention, forgotten since, or not shown beside an envelope that the guard has "
		   "searched.", NULLABLE),
	FIELDS_END,
};
static const struct shape considered_memory = {
	.name = "ConsideredMemory", .fields = considered_memory_fields, .size = sizeof(struct considered_item),
};

#define RECORDED MAYBE, .given = INTO(struct considered, is_recorded)

static const struct field considered_fields[] = {
	FIELD_BOOL("recorded", struct considered, is_recorded,
		   "false: packed before this was recorded. Then floor, include_recent and scope are absent, and what "
		   "was passed over is not known."),
	FIELD_NUMBER("floor", struct considered, floor, 0, 1,
		     "What is less relevant was passed over, unless it was named or pinned.", RECORDED, .unset = -1),
	COUNT_OF("include_recent", struct considered, include_recent, "How many could come along by relevance at most.",
		 RECORDED, .unset = -1),
	FIELD_ENUM("scope", struct considered, whole_space, &words_scope, 0, "Whose memories were looked at.", RECORDED,
		   .unset = -1),
	FIELD_SHAPES("considered", struct considered, items, count, 0, &considered_memory,
		     "First what the envelope carries, in its order; then what it had no room for; then what was "
		     "passed over, at most 32, the first of what search found."),
	FIELDS_END,
};
static const struct shape considered = {
	.name = "Considered", .says = "What an envelope was chosen from.", .fields = considered_fields,
	.size = sizeof(struct considered),
};

static void put_code(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	json_member_cstr(w, f->name.p, problem_kind(((const struct problem *)from)->code)->name);
}

#define FITS MAYBE, .unset = -1, .given = INTO(struct pack_dry, fits)

static const struct field dry_budget_fields[] = {
	FIELD_INT("max_tokens", struct pack_dry, max_tokens, 1, NO_MAX, "The budget."),
	FIELD_BOOL("fits", struct pack_dry, fits, "Whether the handoff fits it."),
	COUNT_OF("token_count", struct pack_dry, envelope.token_count, "What it would take.", FITS),
	COUNT_OF("kept", struct pack_dry, envelope.ref_count, "References that are there, in whatever form.", FITS),
	FIELD_SHAPES("trimmed", struct pack_dry, envelope.trimmed, envelope.trim_count, 0,
		WITHIN_OF(struct envelope_trim,
			FIELD_WORD("form", struct envelope_trim, form, &words_trimmed_form, "What is left of it."),
			FIELD_TEXT("id", struct envelope_trim, id, 0, 0, "Which memory or step."),
			COUNT_OF("tokens", struct envelope_trim, tokens, "What it would have taken.")),
		"What would not be there in full.", FITS),
	FIELD_INCLUDE_AT(struct pack_dry, refusal, WITHIN_OF(struct problem,
		DOC_TEXT("code", 0, 0, "Where it does not fit: the problem.", MAYBE, .write = put_code),
		FIELD_INT("minimum", struct problem, extra, NO_MIN, NO_MAX, "Where it does not fit: what would do.",
			  MAYBE, .unset = -1))),
	FIELDS_END,
};
static const struct shape dry_budget = {.fields = dry_budget_fields, .size = sizeof(struct pack_dry)};

static void put_draft(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	struct buf text;

	(void)with;
	buf_init(&text, RENDER_MAX_BYTES);
	envelope_write(&((const struct packing *)from)->envelope, ENVELOPE_DIGESTED, &text);
	json_key_str(w, f->name);
	json_put_raw(w, buf_str(&text));
	buf_release(&text);
}

static const struct field dry_run_fields[] = {
	FIELD_BOOL("dry_run", struct packing, dry_run, "Nothing was stored.", .schema = "'const':true"),
	DOC_SHAPE("envelope", &draft_envelope, "What would be packed.", .write = put_draft),
	FIELD_SHAPES("budgets", struct packing, dry, dry_count, 0, &dry_budget, "What the usual budgets would lose."),
	FIELD_SHAPE("considered", struct packing, dry_considered, &considered, "What it would be chosen from."),
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
	FIELD_ENVELOPE_ID("id", struct envelope_verify, num, "The envelope."),
	FIELD_BOOL("ok", struct envelope_verify, is_ok, "Whether it is intact, but for what was forgotten or pruned."),
	FIELD_ENUM("verdict", struct envelope_verify, verdict, &words_verdict, 0,
		 "forgotten: a text is gone, so that the digest cannot be computed; what is left matches a second "
		 "digest that was stored with the envelope (one packed before schema 4 has none, and only its number "
		 "and links were compared). unchained: a parent does not match what was sealed. pruned: it, or one "
		 "before it, is not kept any more; the digests that are left match those that were sealed."),
	COUNT_OF("checked", struct envelope_verify, checked, "How many envelopes."),
	FIELD_ENVELOPE_ID("first_bad", struct envelope_verify, at,
			  "The envelope that is damaged or does not fit; null where all is well.", NULLABLE),
	FIELDS_END,
};
static const struct shape verdict = {.name = "Verdict", .fields = verdict_fields, .warns = true};

/* --- Operations --- */

const struct description describe_pack = {
	.id = "handOff", .tag = "envelopes", .scope = SCOPE_WRITE, .also = SCOPE_READ, .tool = "agent_handoff",
	.summary = "Pack an envelope for another agent",
	.says = "The body is a handoff, or a whole envelope of version 1 or 2 from which a new one is packed. "
		"With keys it needs the scope read, too: it tells what the memories say.",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .from = FROM(struct pack, packing),
	.headers = INPUT(DOC_TEXT("traceparent", 0, 0, "W3C trace context; kept in the envelope.")),
	.body = {&shape_pack, &shape_envelope_1_input, &shape_envelope_2_input},
	ANSWERS(ANSWER(200, "Of a dry run: what would be packed. Nothing was stored.", &dry_run,
		       .headers = GIVES_ANEW),
		OTHER(201, "The envelope, stored.", .schema = ENVELOPE_2,
		      .headers = GIVES_LOCATION | GIVES_TRACEPARENT)),
	REFUSES(P_UNSUPPORTED_VERSION, P_UNKNOWN_TOKENIZER, P_BUDGET_TOO_SMALL, P_CREDENTIALS_FOUND, P_NO_ROUTE,
		P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_INTENT_CONFLICT, P_TASK_CONFLICT,
		P_CONSTRAINT_CONFLICT, P_CONSTRAINT_LOCKED, P_PARENT_UNCLEAR, P_LINEAGE_UNVERIFIED, P_HOP_LIMIT,
		P_LOOP, P_ID_TAKEN),
};

const struct description describe_read_envelope = {
	.id = "readEnvelope", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Read an envelope, in one of its forms",
	.path = {&path_envelope}, .path_into = {INTO(struct envelope_get, num)},
	.query_into = INTO(struct envelope_get, op),
	.query = INPUT(FIELD_ENUM("format", struct envelope_get, format, &words_envelope_form, 0,
				  "json: version 2. prompt: Markdown, what the receiving model reads. v1: version 1. "
				  "both: versions 1 and 2.", .otherwise = "'json'",
				  .expected = "expected json, prompt, v1 or both")),
	ANSWERS(OTHER(200, "The envelope, in the form that was asked for.", .schema = ENVELOPE_2),
		OTHER(200, NULL, .schema = ENVELOPE_1), OTHER(200, NULL, .shape = &both_envelopes),
		OTHER(200, NULL, .media = "text/markdown", .schema = "'type':'string'")),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_ENVELOPE_DAMAGED),
};

const struct description describe_verify_envelope = {
	.id = "verifyEnvelope", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Check an envelope and the chain to its root",
	.path = {&path_envelope}, .path_into = {INTO(struct envelope_verify, num)},
	ANSWERS(ANSWER(200, "The verdict.", &verdict)),
	REFUSES(P_ENVELOPE_NOT_FOUND),
};

/* What is no id of a memory is one that no envelope mentions. */
static enum problem_code read_ids(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	const struct field list = {.name = f->name, .type = TYPE_ARRAY, .offset = FIELD_NOWHERE, .max = f->max};
	struct resolve *resolve = into;
	enum problem_code code = field_read(&list, value, into, r);
	struct memory_id *ids;

	if (code != P_OK)
		return code;
	ids = arena_calloc(r->arena, value->count + 1, sizeof(*ids));
	for (uint32_t i = 0; i < value->count; i++)
		if (value->items[i].type != JSON_STRING || !memory_id_parse(value->items[i].s, &ids[i]))
			ids[i] = (struct memory_id){0};
	resolve->ids = ids;
	resolve->count = value->count;
	return P_OK;
}

const struct description describe_resolve_envelope = {
	.id = "resolveEnvelope", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Read what an envelope left out or missed, as it is now",
	.says = "A receipt is kept of who opened what.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_envelope}, .path_into = {INTO(struct resolve, num)},
	.body_into = INTO(struct resolve, op), .from = FROM(struct resolve, lookup),
	.body = {INPUT(DOC_MEMORY_REFS("ids", MENTION_MAX,
				       "Memories that the envelope mentions; where absent, all that is not there in "
				       "full.", .read = read_ids))},
	ANSWERS(ANSWER(200, "What was found, and what was not.", &shape_found)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_ENVELOPE_DAMAGED),
};

const struct description describe_list_receipts = {
	.id = "listReceipts", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "Who opened which of the memories",
	.path = {&path_envelope}, .path_into = {INTO(struct envelope_receipts, num)},
	ANSWERS(ANSWER(200, "The receipts.", OUTPUT(
		FIELD_SHAPES("receipts", struct envelope_receipts, rows, count, 0, WITHIN_OF(struct receipt_row,
			FIELD_MEMORY_ID("id", struct receipt_row, memory, "The memory."),
			FIELD_TEXT("agent", struct receipt_row, agent, 0, 0,
				   "\"unknown\" where the caller did not say who it was."),
			FIELD_TIME("at", struct receipt_row, at_ms, "When.")), "In the order of their time.")))),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED),
};

const struct description describe_read_considered = {
	.id = "readConsidered", .tag = "envelopes", .scope = SCOPE_READ,
	.summary = "What an envelope was chosen from, and why it has what it has",
	.says = "Recorded when it was packed, beside the envelope: it is neither in it nor in its digest, and is not "
		"worked out anew.",
	.path = {&path_envelope}, .path_into = {INTO(struct envelope_considered, num)},
	ANSWERS(ANSWER(200, "What was looked at: what the envelope carries, what it had no room for, and what was "
		       "passed over.",
		       OUTPUT(FIELD_ENVELOPE_ID("envelope", struct envelope_considered, num, "The envelope."),
			      FIELD_INCLUDE(struct envelope_considered, considered, &considered)))),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_ENVELOPE_DAMAGED),
};
