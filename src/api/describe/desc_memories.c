/* Memories: store, read, change, forget, search. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "codec/json_member.h"
#include "core/memory/memory.h"

enum { FETCH_MAX = 1000, BATCH_MAX = 1000, QUERY_MAX = 8192 };

/* --- What depends on more than one member --- */

/* Of one that was forgotten there is none. */
static void put_word(const struct field *f, const struct memory *m, int value, struct json_writer *w)
{
	json_key_str(w, f->name);
	if (m->forgotten_at_ms)
		json_put_null(w);
	else
		json_put_cstr(w, f->words->list[value]);
}

static void put_importance(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct memory *m = from;

	(void)with;
	put_word(f, m, (int)m->importance, w);
}

static void put_trust(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct memory *m = from;

	(void)with;
	put_word(f, m, (int)m->trust, w);
}

/* with is the time of the request, an int64_t. */
static void put_state(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	json_key_str(w, f->name);
	json_put_cstr(w, f->words->list[memory_state(from, *(const int64_t *)with)]);
}

static void put_digest(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	static const char hex[] = "0123456789abcdef";
	const struct memory *m = from;
	char text[7 + 64 + 1] = "sha256:";

	(void)with;
	json_key_str(w, f->name);
	if (m->forgotten_at_ms) {
		json_put_null(w);
		return;
	}
	for (size_t i = 0; i < sizeof(m->digest); i++) {
		text[7 + 2 * i] = hex[m->digest[i] >> 4];
		text[8 + 2 * i] = hex[m->digest[i] & 15];
	}
	json_put_cstr(w, text);
}

static void put_updated_at(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct memory *m = from;

	(void)with;
	json_member_time(w, f->name.p, m->forgotten_at_ms ? m->forgotten_at_ms : m->updated_at_ms);
}

static void put_current_version(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct memory *m = from;

	(void)with;
	if (m->version == m->current_version)
		return;
	json_key_str(w, f->name);
	json_put_int(w, m->current_version);
}

/* --- A memory --- */

static const struct field explain_fields[] = {
	DOC_NUMBER("text", NO_MIN, NO_MAX, "Of its own words: the sum of the terms."),
	DOC_NUMBER("neighbours", NO_MIN, NO_MAX, "What the memories beside it in its task lend it."),
	DOC_NUMBER("importance", NO_MIN, NO_MAX, "What its importance adds."),
	DOC_NUMBER("pinned", NO_MIN, NO_MAX, "What it adds that it is pinned."),
	DOC_NUMBER("recency", NO_MIN, NO_MAX, "What its newness adds."),
	DOC_SHAPES("terms", 0, WITHIN(
		DOC_TEXT("term", 0, 0, "A word of the query, as it is compared."),
		DOC_NUMBER("score", NO_MIN, NO_MAX, "What it adds."),
		COUNT("count", "How often the memory has it."),
		DOC_NUMBER("idf", NO_MIN, NO_MAX, "How rare it is.")), "The words of the query that it has."),
	FIELDS_END,
};

static const struct shape explain = {
	.name = "Explain", .says = "score = (text + neighbours) × (1 + importance + pinned + recency)",
	.fields = explain_fields,
};

static const struct field memory_fields[] = {
	FIELD_MEMORY_ID("id", struct memory, num, "Its id."),
	FIELD_INT("version", struct memory, version, 1, NO_MAX, "Counts from 1."),
	DOC_ENUM("state", &words_memory_state, 0, "What became of it.", .write = put_state),
	FIELD_TEXT("content", struct memory, content, 0, 0, "The text.", NULLABLE),
	FIELD_TEXT("summary", struct memory, summary, 0, 0, "A short form.", NULLABLE),
	FIELD_TEXT("kind", struct memory, kind, 0, 0, "note, fact, decision, observation, output, or any other word.",
		   NULLABLE),
	FIELD_RAW("tags", struct memory, tags, "Its tags, in the order in which they were given.", .raw_unset = "[]",
		  .schema = "'type':'array','items':{'type':'string'}"),
	DOC_ENUM("importance", &words_importance, 0, "How much it matters.", NULLABLE, .write = put_importance),
	FIELD_TEXT("agent", struct memory, agent, 0, 0, "The author.", NULLABLE),
	FIELD_TEXT("task", struct memory, task, 0, 0, "Whose memory it is; null: the whole space's.", NULLABLE),
	FIELD_BOOL("pinned", struct memory, pinned, "A pinned memory goes with every handoff and ranks higher."),
	DOC_ENUM("trust", &words_trust, 0, "How far it can be trusted.", NULLABLE, .write = put_trust),
	FIELD_RAW("metadata", struct memory, metadata, "What its author has put beside it.", .raw_unset = "{}",
		  .schema = "'type':'object'"),
	FIELD_TIME("expires_at", struct memory, expires_at_ms, "When it is not recalled any more.", NULLABLE),
	FIELD_MEMORY_ID("supersedes", struct memory, supersedes, "The memory that this one replaces.", NULLABLE),
	FIELD_MEMORY_ID("superseded_by", struct memory, superseded_by, "The memory that replaced this one.", NULLABLE),
	DOC_TEXT("digest", 0, 0, "SHA-256 of the content's bytes.", NULLABLE, .component = "Digest",
		 .write = put_digest),
	FIELD_TIME("created_at", struct memory, created_at_ms, "When it was stored."),
	DOC_TIME("updated_at", "When this version was made.", .write = put_updated_at),
	FIELD_TIME("forgotten_at", struct memory, forgotten_at_ms, "Of one that was forgotten.", MAYBE),
	DOC_INT("current_version", 1, NO_MAX, "The newest version, where this is not it.", MAYBE,
		.write = put_current_version),
	DOC_NUMBER("score", NO_MIN, NO_MAX, "Of a search.", MAYBE),
	DOC_NUMBER("relevance", 0, 1, "Of a search: how well it answers the query, comparable between queries.", MAYBE,
		   .component = "Share"),
	DOC_SHAPE("explain", &explain, "How its score came about, where that was asked for.", MAYBE),
	FIELDS_END,
};

const struct shape shape_memory = {
	.name = "Memory",
	.says = "Always whole; what is not set is null, [] or {}. One that was forgotten has lost all but its id, "
		"version and times.",
	.fields = memory_fields, .size = sizeof(struct memory), .warns = true,
};

static const struct field missing_fields[] = {
	DOC_MEMORY_REF("id", "As it was asked for."),
	DOC_ENUM("reason", &words_not_found, 0, "Why it is not there."),
	FIELDS_END,
};

const struct shape shape_missing = {.fields = missing_fields};

#define FOUND_FIELDS \
	DOC_SHAPES("memories", 0, &shape_memory, "What was found."), \
	DOC_SHAPES("missing", 0, &shape_missing, "What was not found.", .component = "NotFound")

static const struct field found_fields[] = {FOUND_FIELDS, FIELDS_END};

const struct shape shape_found = {.name = "Found", .fields = found_fields, .warns = true};

/* --- What is stored, and what is changed --- */

static const struct field memory_input_fields[] = {
	FIELD_MEMORY_ID("id", struct memory_draft, num, "A free number; the server counts up where it is absent.",
			.bit = MEMORY_HAS_ID, .is_immutable = true,
			.docs = "`ms-` and a number from 1 to 1,099,511,627,775 without leading zeros. The server "
				"counts up, one sequence a space. A free number may be given (409 `id_taken` where it "
				"is not free); the sequence goes on above the highest"),
	FIELD_MEMORY_ID("supersedes", struct memory_draft, supersedes, "The memory that this one replaces.",
			.bit = MEMORY_HAS_SUPERSEDES, .is_immutable = true,
			.docs = "id of the memory that this one replaces (404 `memory_not_found`, 409 "
				"`already_superseded`, 409 `memory_forgotten`); on creation"),
	FIELD_TIME("created_at", struct memory_draft, created_at_ms, "For imports; not in the future.",
		   .bit = MEMORY_HAS_CREATED_AT, .is_immutable = true, .usually = "now",
		   .docs = "for imports; not in the future; on creation"),
	FIELD_TEXT("content", struct memory_draft, content, 1, MEMORY_CONTENT_MAX,
		   "Text, 1 byte to 256 KiB, no NUL character.", .bit = MEMORY_HAS_CONTENT,
		   .required = "it is the text to remember"),
	FIELD_TEXT("summary", struct memory_draft, summary, 1, MEMORY_SUMMARY_MAX, "A short form, at most 16 KiB.",
		   .bit = MEMORY_HAS_SUMMARY),
	FIELD_NAME("kind", struct memory_draft, kind, MEMORY_KIND_MAX,
		   "note, fact, decision, observation, output, or any other word of up to 64 bytes.",
		   .bit = MEMORY_HAS_KIND, .otherwise = "'note'",
		   .docs = "`note`, `fact`, `decision`, `observation`, `output` (also what [results](#results) "
			   "become), or any text up to 64 bytes without control characters"),
	DOC_NAMES("tags", MEMORY_TAGS_MAX, MEMORY_TAG_MAX, "Duplicates are dropped, the order is kept.",
		  .bit = MEMORY_HAS_TAGS, .usually = "`[]`",
		  .docs = "at most 64, each 1 to 128 bytes without control characters; duplicates are dropped, order "
			  "is kept"),
	FIELD_ENUM("importance", struct memory_draft, importance, &words_importance, 0, "How much it matters.",
		   .bit = MEMORY_HAS_IMPORTANCE, .otherwise = "'medium'"),
	FIELD_ENUM("trust", struct memory_draft, trust, &words_trust, 0, "Where it comes from.",
		   .bit = MEMORY_HAS_TRUST, .otherwise = "'agent'"),
	DOC_OBJECT("metadata", "At most 16 KiB as JSON.", .bit = MEMORY_HAS_METADATA, .usually = "`{}`",
		   .docs = "an object, at most 16 KiB as JSON"),
	FIELD_TIME("expires_at", struct memory_draft, expires_at_ms, "Any offset is read. This or ttl_s.",
		   .bit = MEMORY_HAS_EXPIRES_AT, .usually = "never", .docs = "a time; this or `ttl_s`"),
	FIELD_INT("ttl_s", struct memory_draft, ttl_s, 1, MEMORY_TTL_MAX_S, "Seconds from now. This or expires_at.",
		  .bit = MEMORY_HAS_TTL, .is_null_absent = true,
		  .docs = "seconds from now, 1 to 3,155,760,000; this or `expires_at`"),
	FIELD_BOOL("pinned", struct memory_draft, pinned,
		   "A pinned memory goes with every handoff and ranks higher. Pinning makes no version.",
		   .bit = MEMORY_HAS_PINNED, .otherwise = "false",
		   .docs = "a pinned memory goes with every handoff and ranks higher; in a `PATCH` it makes no "
			   "version"),
	FIELD_NAME("agent", struct memory_draft, agent, MEMORY_AGENT_MAX, "The author; Spine-Agent where absent.",
		   .bit = MEMORY_HAS_AGENT, .usually = "`Spine-Agent`", .docs = "the author"),
	FIELD_NAME("task", struct memory_draft, task, MEMORY_TASK_MAX, "Spine-Task where absent.",
		   .bit = MEMORY_HAS_TASK, .usually = "`Spine-Task`",
		   .docs = "the id of a task, up to 128 bytes: whose memory it is. A memory without a task is "
			   "knowledge of the whole space"),
	DOC_ENUM("scope", &words_of_no_task, 0,
		 "space: it belongs to no task, whatever Spine-Task says. Not with task.", .is_new_only = true,
		 .expected = "expected one of space (for what belongs to no task); leave it out otherwise",
		 .docs = "`space`: it belongs to no task, whatever `Spine-Task` says. Not together with `task`; on "
			 "creation"),
	FIELDS_END,
};

const struct shape shape_memory_input = {
	.name = "MemoryInput", .says = "A memory to store. null is the same as absent.", .noun = "a memory",
	.fields = memory_input_fields, .size = sizeof(struct memory_draft), .is_input = true,
	SHAPE_HAS(struct memory_draft, has),
};

const struct shape shape_memory_patch = {
	.name = "MemoryPatch", .says = "What to change. null clears a field.", .noun = "a memory",
	.fields = memory_input_fields, .size = sizeof(struct memory_draft), .is_input = true, .is_patch = true,
	SHAPE_HAS(struct memory_draft, has),
};

/* --- Operations --- */

#define ONE_MEMORY ANSWER(200, "The memory.", &shape_memory, .headers = GIVES_ETAG, .component = "Memory")

static const struct field page_fields[] = {
	DOC_SHAPES("memories", 0, &shape_memory, "Those that fit."), NEXT_PAGE, FIELDS_END,
};
static const struct shape memory_page = {.name = "MemoryPage", .fields = page_fields, .warns = true};

const struct description describe_list_memories = {
	.id = "listMemories", .tag = "memories", .scope = SCOPE_READ, .tool = "memory_search",
	.summary = "List memories, or search them",
	.says = "Without query: a listing, the newest first. With it: a search, the highest score first. A parameter "
		"metadata.KEY asks for a value of a top-level member of the metadata.",
	.query = INPUT(
		DOC_TEXT("query", 0, QUERY_MAX,
			 "Words to look for in content, summary and tags. Any text is a query; at most 8 KiB."),
		DOC_TEXT("tag", 0, 0, "All of them must be there.", .is_repeated = true),
		DOC_TEXT("kind", 0, 0, "Any of them.", .is_repeated = true),
		DOC_TEXT("agent", 0, 0, "Any of them.", .is_repeated = true),
		DOC_TEXT("task", 0, 0, "Any of them.", .is_repeated = true),
		DOC_ENUM("importance", &words_importance, 0, "Any of them.", .is_repeated = true),
		DOC_ENUM("trust", &words_trust, 0, "Any of them.", .is_repeated = true),
		DOC_BOOL("pinned", "Only those that are pinned, or only those that are not."),
		DOC_ENUM("state", &words_searched_state, 0, "What has become of them.", .otherwise = "'active'",
			 .expected = "expected active, superseded, expired or any"),
		DOC_TIME("created_after", "Inclusive."), DOC_TIME("created_before", "Exclusive."),
		DOC_ENUM("order", &words_newest_oldest, 0, "Of a listing, by id.", .otherwise = "'newest'",
			 .expected = "expected newest or oldest"),
		DOC_BOOL("explain", "true: each result of a search tells how its score came about.",
			 .otherwise = "false"),
		PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of memories.", &memory_page)),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_store_memory = {
	.id = "storeMemory", .tag = "memories", .scope = SCOPE_WRITE, .tool = "memory_store",
	.summary = "Store a memory",
	.takes = TAKES_AGENT | TAKES_TASK | TAKES_KEY | TAKES_BODY,
	.body = {&shape_memory_input},
	ANSWERS(ANSWER(201, "The memory, stored.", &shape_memory, .headers = GIVES_ETAG | GIVES_LOCATION)),
	REFUSES(P_ID_TAKEN, P_MEMORY_NOT_FOUND, P_ALREADY_SUPERSEDED, P_MEMORY_FORGOTTEN, P_TASK_NOT_FOUND),
};

const struct description describe_store_memories = {
	.id = "storeMemories", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Store many memories, all or none",
	.takes = TAKES_AGENT | TAKES_TASK | TAKES_KEY | TAKES_BODY,
	.body = {INPUT(DOC_SHAPES("memories", BATCH_MAX, &shape_memory_input, "Each as one that is stored alone.",
				  .min = 1, .warns_unnumbered = true,
				  .required = "it is the list of memories to store"))},
	ANSWERS(ANSWER(201, "All of them, in their order.",
		       OUTPUT(DOC_SHAPES("memories", 0, &shape_memory, "As they are stored.")))),
	REFUSES(P_ID_TAKEN, P_MEMORY_NOT_FOUND, P_ALREADY_SUPERSEDED, P_MEMORY_FORGOTTEN, P_TASK_NOT_FOUND),
};

const struct description describe_fetch_memories = {
	.id = "fetchMemories", .tag = "memories", .scope = SCOPE_READ,
	.summary = "Read many memories by their ids",
	.takes = TAKES_BODY,
	.body = {INPUT(DOC_MEMORY_REFS("ids", FETCH_MAX, "Duplicates are answered once.",
				       .required = "it is the list of ids to fetch"))},
	ANSWERS(ANSWER(200, "What was found, in the order of the ids, each once, and what was not.", &shape_found)),
};

const struct description describe_read_memory = {
	.id = "readMemory", .tag = "memories", .scope = SCOPE_READ, .tool = "memory_get",
	.summary = "Read a memory, in its newest version or in another",
	.path = {&path_memory_ref},
	ANSWERS(ONE_MEMORY),
	REFUSES(P_MEMORY_NOT_FOUND),
};

const struct description describe_change_memory = {
	.id = "changeMemory", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Change a memory",
	.says = "The fields given replace the old ones and make a new version; null clears a field. Where nothing "
		"would change, no version is made.",
	.takes = TAKES_IF_MATCH | TAKES_BODY, .path = {&path_memory},
	.body = {&shape_memory_patch},
	ANSWERS(ONE_MEMORY),
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED, P_IMMUTABLE_FIELD),
};

const struct description describe_forget_memory = {
	.id = "forgetMemory", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Forget a memory for good",
	.says = "What every version said is removed; id, version and times stay. Forgetting again answers the same.",
	.takes = TAKES_IF_MATCH, .path = {&path_memory},
	ANSWERS(ONE_MEMORY),
	REFUSES(P_MEMORY_NOT_FOUND, P_PRECONDITION_FAILED),
};

const struct description describe_list_versions = {
	.id = "listVersions", .tag = "memories", .scope = SCOPE_READ,
	.summary = "List the versions of a memory, the newest first",
	.path = {&path_memory},
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of versions.",
		       OUTPUT(DOC_SHAPES("versions", 0, &shape_memory, "The memory as it was in each."),
			      NEXT_PAGE))),
	REFUSES(P_MEMORY_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

const struct description describe_pin_memory = {
	.id = "pinMemory", .tag = "memories", .scope = SCOPE_WRITE, .tool = "memory_pin",
	.summary = "Pin a memory: it goes with every handoff",
	.takes = TAKES_IF_MATCH, .path = {&path_memory},
	ANSWERS(ONE_MEMORY),
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED),
};

const struct description describe_unpin_memory = {
	.id = "unpinMemory", .tag = "memories", .scope = SCOPE_WRITE, .tool = "memory_pin",
	.summary = "Unpin a memory",
	.takes = TAKES_IF_MATCH, .path = {&path_memory},
	ANSWERS(ONE_MEMORY),
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED),
};

const struct description describe_revert_memory = {
	.id = "revertMemory", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Make a new version that says what an old one said",
	.takes = TAKES_IF_MATCH | TAKES_BODY, .path = {&path_memory},
	.body = {INPUT(DOC_INT("version", 1, UINT32_MAX, "The version that is to hold again.",
			       .required = "it is the version to go back to"))},
	ANSWERS(ONE_MEMORY),
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED),
};
