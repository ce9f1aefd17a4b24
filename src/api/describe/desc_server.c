/* Spaces, counting, and what the server says of itself. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "core/envelope/constraints.h"
#include "engine/space_delete.h"
#include "engine/space_settings.h"
#include "engine/token_count.h"

enum { GUARD_MAX = 16, TOKENIZER_NAME_MAX = 1024 };

/* --- Spaces --- */

/* One of the quotas: both arrays have the same order. */
static void put_quota(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct quota_state *s = from;
	int64_t limit = s->limit[f->min];

	(void)with;
	json_key_str(w, f->name);
	json_begin_object(w);
	json_key(w, "used");
	json_put_int(w, s->used[f->min]);
	json_key(w, "limit");
	if (limit)
		json_put_int(w, limit);
	else
		json_put_null(w);
	json_end_object(w);
}

#define QUOTA_FIELD(name, kind, text) \
	DOC_ANY(name, text, .min = (kind), .write = put_quota, \
		.schema = "'type':'object','required':['used','limit'],'properties':{'used':{'type':'integer'}," \
			  "'limit':{'type':['integer','null'],'description':'null: none.'}}")

static const struct field space_fields[] = {
	FIELD_TEXT("name", struct space_settings, op.space_name, 0, 0, "The space."),
	FIELD_ENUM("guard", struct space_settings, guard, &words_guard, 0,
		   "What it does about credentials in handoffs."),
	FIELD_ARRAY("locked", struct space_settings, locked, 0,
		    "Keys of constraints that no agent may waive in any chain of the space.",
		    .items = "'type':'string'"),
	COUNT_OF("memories", struct space_settings, memories, "That are not forgotten."),
	FIELD_SECONDS("keep_handoffs_s", struct space_settings, keep.handoffs_ms, NO_MIN, NO_MAX,
		      "How long handoffs that have ended are kept, with their envelopes and results. 0: for ever; "
		      "null: as the server says.", NULLABLE, .unset = KEEP_AS_SERVER),
	FIELD_SECONDS("keep_events_s", struct space_settings, keep.events_ms, NO_MIN, NO_MAX,
		      "How long events are kept. 0: for ever; null: as the server says.", NULLABLE,
		      .unset = KEEP_AS_SERVER),
	FIELD_SECONDS("keep_idle_s", struct space_settings, keep.idle_ms, NO_MIN, NO_MAX,
		      "How long the space is kept when nothing is written in it. 0: for ever; null: as the server "
		      "says.", NULLABLE, .unset = KEEP_AS_SERVER),
	FIELD_SHAPE("keeps", struct space_settings, kept, WITHIN_OF(struct space_keep,
		FIELD_SECONDS("handoffs_s", struct space_keep, handoffs_ms, NO_MIN, NO_MAX, "null: for ever.",
			      NULLABLE),
		FIELD_SECONDS("events_s", struct space_keep, events_ms, NO_MIN, NO_MAX, "null: for ever.", NULLABLE),
		FIELD_SECONDS("idle_s", struct space_keep, idle_ms, NO_MIN, NO_MAX, "null: for ever.", NULLABLE)),
		"What holds, by the space's word or else the server's."),
	COUNT_OF("handoffs_pruned", struct space_settings, handoffs_pruned, "Handoffs that are not kept any more."),
	FIELD_ENUM("trust_floor", struct space_settings, trust_floor, &words_trust, 0,
		   "Memories that are trusted less go along as references only; external: all go along."),
	FIELD_SHAPE("quotas", struct space_settings, state, WITHIN_OF(struct quota_state,
		QUOTA_FIELD("memories", QUOTA_MEMORIES, "That are not forgotten."),
		QUOTA_FIELD("bytes", QUOTA_BYTES,
			    "Of contents, summaries and metadata of all versions, and of envelopes."),
		QUOTA_FIELD("handoffs_per_minute", QUOTA_HANDOFFS, "Sent in the last minute."),
		QUOTA_FIELD("waiting", QUOTA_WAITING, "Receivers that wait."),
		QUOTA_FIELD("agents", QUOTA_AGENTS, "That are known.")),
		"What the space has, and what it may have at most, by its own word or else the server's."),
	FIELDS_END,
};
static const struct shape space = {.name = "Space", .fields = space_fields, .warns = true};

const struct description describe_list_spaces = {
	.id = "listSpaces", .tag = "spaces", .scope = SCOPE_ADMIN, .is_of_all = true,
	.summary = "List the spaces of the server",
	.says = "In the order in which they were made; the first write to a space makes it.",
	.takes = TAKES_NO_SPACE,
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of spaces.", OUTPUT(
		FIELD_SHAPES("spaces", struct space_list, spaces, count, 0, WITHIN_OF(struct space_listed,
		FIELD_TEXT("name", struct space_listed, row.name, 0, 0, "The space."),
		COUNT_OF("memories", struct space_listed, row.memories, "That are not forgotten."),
		COUNT_OF("handoffs_open", struct space_listed, open, "Queued, leased, or being worked on."),
		COUNT_OF("parked", struct space_listed, parked, "Handoffs that wait for a person."),
		FIELD_TIME("created_at", struct space_listed, row.created_at_ms, "When it was first written to.")),
		"In the order in which they were made."),
		NEXT_PAGE_OF(struct space_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN), LISTS(struct space_list),
};

const struct description describe_read_space = {
	.id = "readSpace", .tag = "spaces", .scope = SCOPE_READ,
	.summary = "Read the settings of the space",
	ANSWERS(ANSWER(200, "The space.", &space)),
};

static void as_it_is(void *op)
{
	struct space_settings *s = op;

	s->asked_guard = SPACE_GUARD_STAYS;
	s->asked = (struct space_keep){SPACE_STAYS, SPACE_STAYS, SPACE_STAYS};
	s->asked_floor = SPACE_FLOOR_STAYS;
	s->asked_quota = (struct space_quota){SPACE_STAYS, SPACE_STAYS, SPACE_STAYS, SPACE_STAYS, SPACE_STAYS};
}

#define KEEP(name, member, text) \
	FIELD_SECONDS(name, struct space_settings, asked.member, -1000, SPACE_KEEP_MAX_MS, text)

#define QUOTA(name, member, text) \
	FIELD_INT(name, struct space_settings, asked_quota.member, -1, (INT64_C(1) << 53) - 1, \
		  text " 0: any number; -1: as the server says. With keys it needs one of all spaces.")

const struct description describe_set_space = {
	.id = "setSpace", .tag = "spaces", .scope = SCOPE_ADMIN,
	.summary = "Set what the space does about credentials in handoffs, what no agent may waive, and how long it "
		   "keeps things",
	.says = "What is absent stays as it is.",
	.takes = TAKES_KEY | TAKES_BODY,
	.defaults = as_it_is, .body_into = INTO(struct space_settings, op),
	.body = {INPUT(
		FIELD_ENUM("guard", struct space_settings, asked_guard, &words_guard, GUARD_MAX,
			   "What it does about credentials in handoffs.", .min = 1,
			   .expected = "expected off, redact or refuse",
			   .docs = "what the space does about credentials in handoffs: `off`, `redact` or "
				   "`refuse` (see [6](#6-envelopes))"),
		FIELD_NAMES("locked", struct space_settings, asked_locked, CONSTRAINTS_MAX, CONSTRAINT_KEY_MAX,
			    "Keys of constraints that no agent may waive in any chain of the space, however they are "
			    "spelled.",
			    .docs = "keys of constraints that no agent may waive in any chain of the space, however "
				    "they are spelled"),
		KEEP("keep_handoffs_s", handoffs_ms, "How long handoffs that have ended are kept, with their envelopes "
		     "and results. 0: for ever; -1: as the server says."),
		KEEP("keep_events_s", events_ms, "How long events are kept. 0: for ever; -1: as the server says."),
		KEEP("keep_idle_s", idle_ms, "How long the space itself is kept when nothing is written in it; then it "
		     "is deleted with everything in it. 0: for ever; -1: as the server says."),
		FIELD_ENUM("trust_floor", struct space_settings, asked_floor, &words_trust, GUARD_MAX,
			   "Memories that are trusted less than this go along as references only. external: all go "
			   "along with their text.", .min = 1,
			   .docs = "memories that are trusted less than this go along as references only: `system`, "
				   "`user`, `agent` or `external`, which is none"),
		QUOTA("quota_memories", memories, "How many memories the space may have."),
		QUOTA("quota_bytes", bytes, "How many bytes its memories, with all versions, and its envelopes may "
		      "have."),
		QUOTA("quota_handoffs_per_minute", handoffs, "How many handoffs may be sent in a minute."),
		QUOTA("quota_waiting", waiting, "How many receivers may wait at a time."),
		QUOTA("quota_agents", agents, "How many agents it may know."))},
	ANSWERS(ANSWER(200, "The space.", &space)),
};

const struct description describe_delete_space = {
	.id = "deleteSpace", .tag = "spaces", .scope = SCOPE_ADMIN,
	.summary = "Delete a space and everything in it",
	.says = "There is no way back. The space is gone when this is answered: who waits for something in it is told "
		"space_deleted, reads find nothing, and a write to the name makes a new, empty space. Its keys are "
		"revoked with it, also that of who deletes it, and do not open the new one. Its rows are removed from "
		"the store afterwards, a few at a time.",
	.takes = TAKES_NO_SPACE | TAKES_AGENT,
	.path = {&path_space}, .path_into = {INTO(struct space_delete, op.space_name)},
	.query = INPUT(FIELD_TEXT("confirm", struct space_delete, confirm, 0, 0,
				  "The name of the space once more: whoever deletes it means it.")),
	.query_into = INTO(struct space_delete, op),
	ANSWERS(ANSWER(200, "It is gone.", OUTPUT(
		FIELD_TEXT("name", struct space_delete, op.space_name, 0, 0, "The space."),
		COUNT_OF("memories", struct space_delete, memories, "That were in it and not forgotten."),
		COUNT_OF("handoffs_open", struct space_delete, open, "That were queued, leased, or being worked on."),
		COUNT_OF("parked", struct space_delete, parked, "Handoffs that waited for a person."),
		COUNT_OF("keys_revoked", struct space_delete, leaving.keys, "Its keys that were valid."),
		FIELD_TIME("deleted_at", struct space_delete, op.now_ms, "When.")))),
	REFUSES(P_SPACE_NOT_FOUND, P_MISSING_FIELD, P_INVALID_FIELD),
};

/* --- Counting --- */

static void as_usual(void *op)
{
	((struct token_count *)op)->name = STR(TOKENIZER_DEFAULT);
}

const struct description describe_count_tokens = {
	.id = "countTokens", .tag = "tokens", .scope = SCOPE_READ,
	.summary = "Count the tokens of a text",
	.takes = TAKES_NO_SPACE | TAKES_BODY,
	.defaults = as_usual, .body_into = INTO(struct token_count, op),
	.body = {INPUT(
		FIELD_TEXT("text", struct token_count, text, 0, 0, "The text.", .required = "expected a string"),
		FIELD_TEXT("tokenizer", struct token_count, name, 0, TOKENIZER_NAME_MAX, "How it is counted.",
			   .words = &words_tokenizer, .otherwise = "'o200k_base'"))},
	ANSWERS(ANSWER(200, "The count.", OUTPUT(
		COUNT_OF("tokens", struct token_count, tokens, "How many there are."),
		FIELD_WORD("tokenizer", struct token_count, counted_by, &words_tokenizer, "How they were counted."),
		FIELD_BOOL("estimate", struct token_count, is_estimate,
			   "true: not counted but derived from the number of characters.")))),
	REFUSES(P_UNKNOWN_TOKENIZER),
};

/* --- Health and status --- */

static const struct field health_fields[] = {
	DOC_ENUM("status", &words_health, 0, "How it is."),
	DOC_ENUM("reason", &words_not_ready, 0, "Of 503.", MAYBE),
	FIELDS_END,
};
static const struct shape health = {.name = "Health", .fields = health_fields};

const struct description describe_health = {
	.id = "health", .tag = "server", .scope = SCOPE_OPEN,
	.summary = "Does the process serve?",
	.takes = TAKES_NO_SPACE,
	ANSWERS(ANSWER(200, "It does.", &health)),
};

const struct description describe_readiness = {
	.id = "readiness", .tag = "server", .scope = SCOPE_OPEN,
	.summary = "Does the server take requests?",
	.takes = TAKES_NO_SPACE,
	ANSWERS(ANSWER(200, "It does.", &health), ANSWER(503, "It does not; reason says why.", &health)),
};

static const struct field dropped_fields[] = {
	COUNT("refused", "It refused the batch."),
	COUNT("rejected", "It took the batch but for these."),
	COUNT("behind", "It took nothing for too long."),
	COUNT("stopped", "The server stopped."),
	FIELDS_END,
};
static const struct shape dropped = {.fields = dropped_fields};

/* Of the process and of all spaces; with a key of one space they are absent. */
#define OF_ALL " Absent with a key of one space."

static const struct field status_fields[] = {
	DOC_TEXT("version", 0, 0, "Of the server."),
	DOC_ENUM("status", &words_status, 0, "Whether it takes requests."),
	DOC_TIME("started_at", "When it started."),
	DOC_INT("uptime_s", NO_MIN, NO_MAX, "Since then."),
	DOC_INT("pid", NO_MIN, NO_MAX, "Of the process." OF_ALL, MAYBE),
	DOC_INT("clock_offset_ms", NO_MIN, NO_MAX,
		"So much is the server's time ahead of its machine's wall clock; below 0: behind. See Time." OF_ALL,
		MAYBE),
	DOC_TEXT("space", 0, 0, "The space that was asked about."),
	COUNT("memories", "In the space."),
	DOC_SHAPE("store", WITHIN(
		DOC_TEXT("engine", 0, 0, "What keeps it."),
		DOC_INT("schema", NO_MIN, NO_MAX, "The version of its form."),
		COUNT("bytes", "How large it is."),
		DOC_TEXT("data", 0, 0, "The folder."),
		DOC_SHAPE("growth", WITHIN(
			DOC_INT("bytes", NO_MIN, NO_MAX, "By so much it has grown."),
			DOC_TIME("since", "Since then: about a day ago, or the start.")), "How it grows.")),
		"Where everything is kept." OF_ALL, MAYBE),
	DOC_SHAPE("retention", WITHIN(
		DOC_SECONDS("handoffs_s", NO_MIN, NO_MAX, "How long ended handoffs are kept; null: for ever.",
			    NULLABLE),
		DOC_SECONDS("events_s", NO_MIN, NO_MAX, "How long events are kept; null: for ever.", NULLABLE),
		COUNT("handoffs_kept", "That there are."), COUNT("handoffs_pruned", "That are not kept any more.")),
		"What the space keeps."),
	DOC_SHAPE("http", WITHIN(
		COUNT("connections", "Open now."), COUNT("requests", "Since the start."),
		COUNT("requests_active", "Being answered now."), COUNT("refused", "Before they were read.")),
		"Connections and requests." OF_ALL, MAYBE),
	DOC_SHAPE("writer", WITHIN(
		COUNT("queued", "Waiting now."), COUNT("writes", "Since the start."),
		COUNT("commits", "Since the start; a commit holds many writes.")),
		"What writes to the store." OF_ALL, MAYBE),
	DOC_SHAPE("events", WITHIN(COUNT("streams", "Open now.")), "Those who watch." OF_ALL, MAYBE),
	DOC_SHAPE("traces", WITHIN(
		COUNT("exported", "Spans that the collector took."),
		COUNT("dropped", "Spans that it did not get, for whichever reason."),
		DOC_SHAPE("dropped_by", &dropped,
			  "The same by reason: it refused the batch; it took the batch but for some; it took nothing "
			  "for too long, and they lay too far behind; the server stopped."),
		COUNT("failed_posts", "Posts that had to be tried again.")), "null where no spans are exported." OF_ALL,
		NULLABLE, MAYBE),
	DOC_SHAPES("clients", 0, WITHIN(
		DOC_TEXT("name", 0, 0, "Which one: memory-spine is the command line."),
		DOC_TEXT("version", 0, 0, "Its version."),
		DOC_TIME("last_seen_at", "When it called last.")),
		"Clients of this project that have called since the start, as their User-Agent says; at most 16."
		OF_ALL, MAYBE),
	FIELDS_END,
};
static const struct shape status = {.name = "Status", .fields = status_fields, .warns = true};

const struct description describe_status = {
	.id = "status", .tag = "server", .scope = SCOPE_READ, .tool = "spine_status",
	.summary = "The server, its store, and the space",
	.says = "With a key of one space: that space, and of the server the version, whether it is ready and how long "
		"it runs.",
	ANSWERS(ANSWER(200, "The status.", &status)),
};

/* --- What describes the API --- */

const struct description describe_list_schemas = {
	.id = "listSchemas", .tag = "server", .scope = SCOPE_OPEN,
	.summary = "List the JSON Schemas of the envelopes",
	.takes = TAKES_NO_SPACE,
	ANSWERS(ANSWER(200, "The schemas.", OUTPUT(DOC_SHAPES("schemas", 0, WITHIN(
		DOC_TEXT("name", 0, 0, "Its name."),
		DOC_TEXT("title", 0, 0, "What it describes."),
		DOC_TEXT("url", 0, 0, "Where it is, on this server.",
			 .schema = "'type':'string','format':'uri-reference'")), "The newest first.")))),
};

const struct description describe_read_schema = {
	.id = "readSchema", .tag = "server", .scope = SCOPE_OPEN,
	.summary = "Read a JSON Schema (2020-12)",
	.takes = TAKES_NO_SPACE, .path = {&path_schema},
	ANSWERS(OTHER(200, "The schema.", .media = "application/schema+json",
		 .schema = "'type':'object','required':['$schema','$id']")),
	REFUSES(P_NOT_FOUND),
};

const struct description describe_openapi = {
	.id = "openapi", .tag = "server", .scope = SCOPE_OPEN,
	.summary = "This document",
	.takes = TAKES_NO_SPACE,
	ANSWERS(OTHER(200, "OpenAPI 3.1.", .schema = "'type':'object','required':['openapi','info','paths']")),
};
