/* Memories: store, read, change, forget. Search is in desc_search.c. */
#include "api/describe/descriptions.h"
#include "api/call.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/page.h"
#include "codec/json_member.h"
#include "engine/memory/memory_change.h"
#include "engine/memory/memory_get.h"
#include "engine/memory/memory_store.h"
#include "text/invisible.h"

enum { FETCH_MAX = 1000, BATCH_MAX = 1000, REPLY_WITHOUT_TEXT_BYTES = 700 };

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

static void put_state(const struct field *f, const void *from, const void *call, struct json_writer *w)
{
	json_key_str(w, f->name);
	json_put_cstr(w, f->words->list[memory_state(from, ((const struct call *)call)->op->now_ms)]);
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

/* Looked for when it is read, so that it holds for what was stored before, and by the newest rules. */
static void put_flags(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct memory *m = from;
	const struct str texts[] = {m->content, m->summary, m->kind, m->tags, m->agent, m->task, m->metadata};

	(void)with;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].p && invisible_is_flagged(texts[i])) {
			json_key_str(w, f->name);
			json_put_raw(w, STR("[\"" INVISIBLE_FLAG "\"]"));
			return;
		}
}

/* --- A memory --- */

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
	FIELD_RAW("origin", struct memory, origin,
		  "Who stored this version by which way, as the server saw it. null: not known.", .raw_unset = "null",
		  .schema = ORIGIN_OR_NULL),
	FIELD_TIME("expires_at", struct memory, expires_at_ms, "When it is not recalled any more.", NULLABLE),
	FIELD_MEMORY_ID("supersedes", struct memory, supersedes, "The memory that this one replaces.", NULLABLE),
	FIELD_MEMORY_ID("superseded_by", struct memory, superseded_by, "The memory that replaced this one.", NULLABLE),
	DOC_TEXT("digest", 0, 0, "SHA-256 of the content's bytes.", NULLABLE, .component = "Digest",
		 .write = put_digest),
	FIELD_TIME("created_at", struct memory, created_at_ms, "When it was stored."),
	DOC_TIME("updated_at", "When this version was made.", .write = put_updated_at),
	FIELD_TIME("forgotten_at", struct memory, forgotten_at_ms, "Of one that was forgotten.", MAYBE),
	FIELD_TIME("quarantined_at", struct memory, quarantined_at_ms,
		   "Of one that is in quarantine: its text is kept from everybody.", MAYBE),
	DOC_INT("current_version", 1, NO_MAX, "The newest version, where this is not it.", MAYBE,
		.write = put_current_version),
	DOC_TEXTS("flags", "What a reader should know: invisible, where characters that nobody sees stand in it and no "
		  "script or emoji needs them. Absent where there is nothing.", MAYBE, .write = put_flags),
	DOC_INCLUDE(&shape_scored),
	FIELDS_END,
};

const struct shape shape_memory = {
	.name = "Memory",
	.says = "Always whole; what is not set is null, [] or {}. One that was forgotten has lost all but its id, "
		"version and times.",
	.fields = memory_fields, .size = sizeof(struct memory), .warns = true,
};

static const struct field missing_fields[] = {
	FIELD_TOLD(TYPE_MEMORY_REF, "id", struct envelope_missing, id, "As it was asked for."),
	FIELD_WORD("reason", struct envelope_missing, reason, &words_not_found, "Why it is not there. "
		   "not_given: the answer has 8 MiB of text without it; ask for it again, without those "
		   "that were given."),
	FIELDS_END,
};

const struct shape shape_missing = {.fields = missing_fields, .size = sizeof(struct envelope_missing)};

static const struct field found_fields[] = {
	FIELD_SHAPES("memories", struct memory_lookup, found, found_count, 0, &shape_memory, "What was found."),
	FIELD_SHAPES("missing", struct memory_lookup, missing, missing_count, 0, &shape_missing, "What was not found.",
		     .component = "NotFound"),
	FIELDS_END,
};

const struct shape shape_found = {
	.name = "Found", .fields = found_fields, .size = sizeof(struct memory_lookup), .warns = true,
};

/* --- What is stored, and what is changed --- */

static bool is_repeated(const struct json *items, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (str_eq(items[i].s, items[index].s))
			return true;
	return false;
}

/* Kept as JSON, each once. */
static enum problem_code read_tags(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct memory_draft *d = into;
	enum problem_code code = field_read(f, value, into, r);
	struct json_writer w;
	struct buf out;

	if (code != P_OK)
		return code;
	buf_init(&out, 2 + MEMORY_TAGS_MAX * (6 * MEMORY_TAG_MAX + 3));
	json_writer_init(&w, &out);
	json_begin_array(&w);
	for (uint32_t i = 0; i < value->count; i++)
		if (!is_repeated(value->items, i))
			json_put_str(&w, value->items[i].s);
	json_end_array(&w);
	d->tags = arena_str(r->arena, buf_str(&out));
	buf_release(&out);
	return P_OK;
}

static enum problem_code read_metadata(const struct field *f, const struct json *value, void *into,
				       struct shape_reader *r)
{
	struct memory_draft *d = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK)
		d->metadata = json_canonical(value, MEMORY_METADATA_MAX, r->arena);
	if (code == P_OK && d->metadata.p == NULL)
		code = problem_set(r->problem, P_TOO_LARGE, "metadata", "metadata is larger than %d bytes as JSON",
				   MEMORY_METADATA_MAX);
	return code;
}

/* 0 stands for never; 1970 is long past either way. */
static enum problem_code read_expires_at(const struct field *f, const struct json *value, void *into,
					 struct shape_reader *r)
{
	struct memory_draft *d = into;
	enum problem_code code = field_read(f, value, into, r);

	if (d->expires_at_ms == 0)
		d->expires_at_ms = 1;
	return code;
}

static enum problem_code read_ttl(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	const struct memory_draft *d = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && (d->has & MEMORY_HAS_EXPIRES_AT))
		code = problem_set(r->problem, P_INVALID_FIELD, "ttl_s",
				   "expires_at and ttl_s were both given; give one of them");
	return code;
}

/* A new memory that says it is for the whole space is given no task: it does not get that of the work under way. */
static enum problem_code read_scope(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct memory_draft *d = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && (d->has & MEMORY_HAS_TASK))
		code = problem_set(r->problem, P_INVALID_FIELD, "scope", "task and scope were both given; scope "
				   "\"space\" is for what belongs to no task");
	d->has |= MEMORY_HAS_TASK;
	return code;
}

static const struct field memory_input_fields[] = {
	FIELD_MEMORY_ID("id", struct memory_draft, num, "A free number; the server counts up where it is absent.",
			.bit = MEMORY_HAS_ID, .is_immutable = true,
			.docs = "`ms-` and a number from 1 to 1,099,511,627,775 without leading zeros. The server "
				"counts up, one sequence a space. A free number may be given (409 `id_taken` where it "
				"is not free), at most 549,755,813,888 (422 above it), so that there always is a next "
				"one; the sequence goes on above the highest"),
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
		  .bit = MEMORY_HAS_TAGS, .read = read_tags, .usually = "`[]`",
		  .docs = "at most 64, each 1 to 128 bytes without control characters; duplicates are dropped, order "
			  "is kept"),
	FIELD_ENUM("importance", struct memory_draft, importance, &words_importance, 0, "How much it matters.",
		   .bit = MEMORY_HAS_IMPORTANCE, .otherwise = "'medium'"),
	FIELD_ENUM("trust", struct memory_draft, trust, &words_trust, 0, "Where it comes from.",
		   .bit = MEMORY_HAS_TRUST, .otherwise = "'agent'"),
	DOC_OBJECT("metadata", "At most 16 KiB as JSON.", .bit = MEMORY_HAS_METADATA, .read = read_metadata,
		   .usually = "`{}`",
		   .docs = "an object, at most 16 KiB as JSON"),
	FIELD_TIME("expires_at", struct memory_draft, expires_at_ms, "Any offset is read. This or ttl_s.",
		   .bit = MEMORY_HAS_EXPIRES_AT, .read = read_expires_at, .usually = "never",
		   .docs = "a time; this or `ttl_s`"),
	FIELD_INT("ttl_s", struct memory_draft, ttl_s, 1, MEMORY_TTL_MAX_S, "Seconds from now. This or expires_at.",
		  .bit = MEMORY_HAS_TTL, .read = read_ttl, .is_null_absent = true,
		  .docs = "seconds from now, 1 to 3,155,760,000; this or `expires_at`"),
	FIELD_BOOL("pinned", struct memory_draft, pinned,
		   "A pinned memory goes with every handoff and ranks higher. Pinning makes no version.",
		   .bit = MEMORY_HAS_PINNED, .otherwise = "false",
		   .docs = "a pinned memory goes with every handoff and ranks higher; in a `PATCH` it makes no "
			   "version"),
	FIELD_NAME("agent", struct memory_draft, agent, MEMORY_AGENT_MAX, "The author; Spine-Agent where absent.",
		   .bit = MEMORY_HAS_AGENT, .usually = "`Spine-Agent`", .docs = "the author", OF_CALLER),
	FIELD_NAME("task", struct memory_draft, task, MEMORY_TASK_MAX, "Spine-Task where absent.",
		   .bit = MEMORY_HAS_TASK, .usually = "`Spine-Task`",
		   .docs = "the id of a task, up to 128 bytes: whose memory it is. A memory without a task is "
			   "knowledge of the whole space"),
	DOC_ENUM("scope", &words_of_no_task, 0,
		 "space: it belongs to no task, whatever Spine-Task says. Not with task.", .is_new_only = true,
		 .read = read_scope,
		 .expected = "expected one of space (for what belongs to no task); leave it out otherwise",
		 .docs = "`space`: it belongs to no task, whatever `Spine-Task` says. Not together with `task`; on "
			 "creation"),
	FIELDS_END,
};

static const struct memory_draft usual = {
	.kind = {"note", 4}, .tags = {"[]", 2}, .metadata = {"{}", 2}, .importance = IMPORTANCE_MEDIUM,
	.trust = TRUST_AGENT,
};

const struct shape shape_memory_input = {
	.name = "MemoryInput", .says = "A memory to store. null is the same as absent.", .noun = "a memory",
	.fields = memory_input_fields, .size = sizeof(struct memory_draft), .is_input = true, .defaults = &usual,
	SHAPE_HAS(struct memory_draft, has),
};

const struct shape shape_memory_patch = {
	.name = "MemoryPatch", .says = "What to change. null clears a field.", .noun = "a memory",
	.fields = memory_input_fields, .size = sizeof(struct memory_draft), .is_input = true, .is_patch = true,
	.defaults = &usual, SHAPE_HAS(struct memory_draft, has),
};

/* --- Operations --- */

static void give_tag(struct call *call, const void *from)
{
	const struct memory *m = from;
	char tag[MEMORY_ID_SIZE + 2] = "\"";
	size_t len = 1 + memory_id_format(m->num, m->version, tag + 1);

	tag[len++] = '"';
	call->etag = arena_str(call->op->arena, (struct str){tag, len});
	/* All at once for most memories, instead of growing with what is written. */
	buf_reserve(&call->reply, REPLY_WITHOUT_TEXT_BYTES + m->content.n + m->summary.n + m->tags.n + m->metadata.n);
}

static void give_place(struct call *call, const void *from)
{
	static const char path[] = "/v1/memories/";
	char *at = arena_alloc(call->op->arena, sizeof(path) + MEMORY_ID_SIZE);

	memcpy(at, path, sizeof(path));
	call->location = (struct str){at, sizeof(path) - 1};
	call->location.n += memory_id_format(((const struct memory *)from)->num, 0, at + sizeof(path) - 1);
	give_tag(call, from);
}

/* Nothing that somebody wrote. */
static const struct shown told_blind[] = {
	{"id", NULL}, {"version", NULL}, {"state", NULL}, {"pinned", NULL}, {"created_at", NULL}, {"updated_at", NULL},
	{"forgotten_at", NULL}, {0},
};

#define CHANGES .blind = told_blind, .path_into = {INTO(struct memory_change, num)}, \
		.from = FROM(struct memory_change, memory), .gives = give_tag

#define ONE_MEMORY ANSWER(200, "The memory.", &shape_memory, .headers = GIVES_ETAG, .component = "Memory")

const struct description describe_store_memory = {
	.id = "storeMemory", .tag = "memories", .scope = SCOPE_WRITE, .tool = "memory_store",
	.summary = "Store a memory",
	.takes = TAKES_AGENT | TAKES_TASK | TAKES_KEY | TAKES_BODY,
	.body = {&shape_memory_input},
	ANSWERS(ANSWER(201, "The memory, stored.", &shape_memory, .headers = GIVES_ETAG | GIVES_LOCATION)),
	REFUSES(P_ID_TAKEN, P_MEMORY_NOT_FOUND, P_ALREADY_SUPERSEDED, P_MEMORY_FORGOTTEN, P_TASK_NOT_FOUND),
	.body_into = INTO(struct memory_store, draft), .from = FROM(struct memory_store, made), .gives = give_place,
};

/* How many there may be is a setting of the server. */
static enum problem_code read_batch(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct field bounded = *f;

	bounded.max = (int64_t)((const struct call *)r->ctx)->api->limits.max_batch;
	return field_read(&bounded, value, into, r);
}

const struct description describe_store_memories = {
	.id = "storeMemories", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Store many memories, all or none",
	.takes = TAKES_AGENT | TAKES_TASK | TAKES_KEY | TAKES_BODY,
	.body_into = INTO(struct memory_batch, op),
	.body = {INPUT(FIELD_SHAPES("memories", struct memory_batch, drafts, count, BATCH_MAX, &shape_memory_input,
				    "Each as one that is stored alone.", .min = 1, .warns_unnumbered = true,
				    .read = read_batch, .required = "it is the list of memories to store"))},
	ANSWERS(ANSWER(201, "All of them, in their order.", OUTPUT(
		FIELD_SHAPES("memories", struct memory_batch, made, count, 0, &shape_memory, "As they are stored.")))),
	REFUSES(P_ID_TAKEN, P_MEMORY_NOT_FOUND, P_ALREADY_SUPERSEDED, P_MEMORY_FORGOTTEN, P_TASK_NOT_FOUND),
};

const struct description describe_fetch_memories = {
	.id = "fetchMemories", .tag = "memories", .scope = SCOPE_READ,
	.summary = "Read many memories by their ids",
	.takes = TAKES_BODY, .body_into = INTO(struct memory_fetch, op), .from = FROM(struct memory_fetch, lookup),
	.body = {INPUT(FIELD_MEMORY_IDS("ids", struct memory_fetch, ids, count, FETCH_MAX,
					"Duplicates are answered once.",
					.required = "it is the list of ids to fetch"))},
	ANSWERS(ANSWER(200, "What was found, in the order of the ids, each once, and what was not. At most 8 MiB of "
		       "text, or one memory: what does not fit is missing as not_given.", &shape_found)),
};

const struct description describe_read_memory = {
	.id = "readMemory", .tag = "memories", .scope = SCOPE_READ, .tool = "memory_get",
	.summary = "Read a memory, in its newest version or in another",
	.path = {&path_memory_ref}, .path_into = {INTO(struct memory_get, id)},
	ANSWERS(ONE_MEMORY), .from = FROM(struct memory_get, memory), .gives = give_tag,
	REFUSES(P_MEMORY_NOT_FOUND),
};

const struct description describe_change_memory = {
	.id = "changeMemory", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Change a memory",
	.says = "The fields given replace the old ones and make a new version; null clears a field. Where nothing "
		"would change, no version is made.",
	.takes = TAKES_IF_MATCH | TAKES_BODY, .path = {&path_memory},
	.body = {&shape_memory_patch}, .body_into = INTO(struct memory_change, draft),
	ANSWERS(ONE_MEMORY), CHANGES,
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED, P_IMMUTABLE_FIELD),
};

const struct description describe_forget_memory = {
	.id = "forgetMemory", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Forget a memory for good",
	.says = "What every version said is removed; id, version and times stay, and the numbers of the keys that "
		"wrote it, for who asks whom it had reached (quarantine). What is in quarantine is forgotten with "
		"admin only. Forgetting again answers the same.",
	.takes = TAKES_IF_MATCH, .path = {&path_memory},
	ANSWERS(ONE_MEMORY), CHANGES,
	REFUSES(P_MEMORY_NOT_FOUND, P_PRECONDITION_FAILED),
};

const struct description describe_list_versions = {
	.id = "listVersions", .tag = "memories", .scope = SCOPE_READ,
	.summary = "List the versions of a memory, the newest first",
	.path = {&path_memory}, .path_into = {INTO(struct memory_versions, num)},
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct memory_versions),
	ANSWERS(ANSWER(200, "A page of versions.", OUTPUT(
		FIELD_SHAPES("versions", struct memory_versions, versions, count, 0, &shape_memory,
			     "The memory as it was in each."),
		NEXT_PAGE_OF(struct memory_versions, page)))),
	REFUSES(P_MEMORY_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

static void as_unpinned(void *op)
{
	((struct memory_change *)op)->draft = (struct memory_draft){.has = MEMORY_HAS_PINNED};
}

static void as_pinned(void *op)
{
	((struct memory_change *)op)->draft = (struct memory_draft){.has = MEMORY_HAS_PINNED, .pinned = true};
}

const struct description describe_pin_memory = {
	.id = "pinMemory", .tag = "memories", .scope = SCOPE_WRITE, .tool = "memory_pin",
	.summary = "Pin a memory: it goes with every handoff",
	.takes = TAKES_IF_MATCH, .path = {&path_memory}, .defaults = as_pinned,
	ANSWERS(ONE_MEMORY), CHANGES,
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED),
};

const struct description describe_unpin_memory = {
	.id = "unpinMemory", .tag = "memories", .scope = SCOPE_WRITE, .tool = "memory_pin",
	.summary = "Unpin a memory",
	.takes = TAKES_IF_MATCH, .path = {&path_memory}, .defaults = as_unpinned,
	ANSWERS(ONE_MEMORY), CHANGES,
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED),
};

const struct description describe_revert_memory = {
	.id = "revertMemory", .tag = "memories", .scope = SCOPE_WRITE,
	.summary = "Make a new version that says what an old one said",
	.takes = TAKES_IF_MATCH | TAKES_BODY, .path = {&path_memory},
	.body_into = INTO(struct memory_change, op),
	.body = {INPUT(FIELD_INT("version", struct memory_change, to_version, 1, UINT32_MAX,
				 "The version that is to hold again.", .required = "it is the version to go back to"))},
	ANSWERS(ONE_MEMORY), CHANGES,
	REFUSES(P_MEMORY_NOT_FOUND, P_MEMORY_FORGOTTEN, P_PRECONDITION_FAILED),
};
