/* Storing, reading and changing memories. */
#include "api/decode.h"
#include "api/lookup.h"
#include "api/memory_json.h"
#include "api/page.h"
#include "api/routes.h"
#include "api/task.h"
#include "core/watch/event.h"

#include <math.h>

enum { FETCH_MAX = 1000, REPLY_WITHOUT_TEXT_BYTES = 700 };

/* What the calls about one memory share: the input and what came of it. */
struct one_memory {
	struct memory_id id;
	struct memory_draft draft;
	uint32_t to_version;
	struct memory result;
	bool changed;
};

/* --- Replies with one memory --- */

static struct str etag_of(struct call *call, const struct memory *m)
{
	char tag[MEMORY_ID_SIZE + 2] = "\"";
	size_t len = 1 + memory_id_format(m->num, m->version, tag + 1);

	tag[len++] = '"';
	return arena_str(call->op->arena, (struct str){tag, len});
}

static struct str location_of(struct call *call, const struct memory *m)
{
	static const char path[] = "/v1/memories/";
	char *at = arena_alloc(call->op->arena, sizeof(path) + MEMORY_ID_SIZE);

	memcpy(at, path, sizeof(path));
	return (struct str){at, sizeof(path) - 1 + memory_id_format(m->num, 0, at + sizeof(path) - 1)};
}

static void encode_memory(struct call *call)
{
	struct one_memory *one = call->input;
	const struct memory *m = &one->result;
	struct json_writer w;

	call->etag = etag_of(call, m);
	/* All at once for most memories, instead of growing with what is written. */
	buf_reserve(&call->reply, REPLY_WITHOUT_TEXT_BYTES + m->content.n + m->summary.n + m->tags.n + m->metadata.n);
	json_writer_init(&w, &call->reply);
	memory_json_begin(&w, m, call->op->now_ms);
	call_end_reply(call, &w);
}

static void encode_created(struct call *call)
{
	struct one_memory *one = call->input;

	call->status = 201;
	call->location = location_of(call, &one->result);
	encode_memory(call);
}

/* --- What is told --- */

/* Who wrote it, where the call itself does not say. */
static void tell_of(struct call *call, enum event_kind kind, const struct memory *m)
{
	call->op->told = (struct event_row){.kind = kind, .memory = m->num, .actor = m->agent};
}

/* The memory that m takes the place of has an event of its own: it is changed, too. */
static enum problem_code tell_superseded(struct call *call, struct store_conn *c, const struct memory *m)
{
	char id[MEMORY_ID_SIZE];
	struct event_row event = {
		.space = call->op->space, .at_ms = call->op->now_ms, .kind = EVENT_MEMORY_SUPERSEDED, .memory = m->supersedes,
		.actor = call->op->agent.p ? call->op->agent : m->agent,
	};
	enum store_status status;

	if (m->supersedes == 0)
		return P_OK;
	memory_id_format(m->num, 0, id);
	event.note = arena_printf(call->op->arena, "by %s", id);
	status = store_event_add(c, &event);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

/* A change that changed nothing is not told. */
static void tell_change(struct call *call, enum event_kind kind)
{
	const struct one_memory *one = call->input;

	if (!one->changed)
		return;
	call->op->told = (struct event_row){.kind = kind, .memory = one->id.num};
	if (kind == EVENT_MEMORY_UPDATED)
		call->op->told.note = arena_printf(call->op->arena, "version %u", one->result.version);
	else if (kind == EVENT_MEMORY_REVERTED)
		call->op->told.note = arena_printf(call->op->arena, "version %u, as version %u was", one->result.version,
					       one->to_version);
}

/* --- The id in the address --- */

static enum problem_code read_path_id(struct call *call, bool version_allowed, struct memory_id *ret)
{
	struct str raw = call->params[0];

	if (!memory_id_parse(raw, ret))
		return problem_set(&call->op->problem, P_MEMORY_NOT_FOUND, "id", "\"%.*s\" is not an id of a memory; ids "
				   "look like ms-4821", (int)(raw.n < 64 ? raw.n : 64), raw.p);
	if (ret->version && !version_allowed)
		return problem_set(&call->op->problem, P_INVALID_FIELD, "id", "only the memory as a whole can be changed; "
				   "leave out \"@%u\"", ret->version);
	return P_OK;
}

static enum problem_code decode_id(struct call *call)
{
	struct one_memory *one = arena_zalloc(call->op->arena, sizeof(*one));

	call->input = one;
	return read_path_id(call, false, &one->id);
}

/* --- Store --- */

static enum problem_code decode_store(struct call *call)
{
	struct one_memory *one = arena_zalloc(call->op->arena, sizeof(*one));

	call->input = one;
	return memory_json_read(call, &call->body, false, "", &one->draft);
}

static enum problem_code write_store(struct call *call, struct store_conn *c)
{
	struct one_memory *one = call->input;
	enum problem_code code = task_check(call, c);

	call->op->shown = &one->result.num;
	call->op->shown_count = 1;
	if (code == P_OK)
		code = memory_create(c, call->op->space, &one->draft, call->op->now_ms, &one->result, &call->op->problem);
	if (code != P_OK)
		return code;
	tell_of(call, EVENT_MEMORY_STORED, &one->result);
	return tell_superseded(call, c, &one->result);
}

static void index_one(struct call *call)
{
	struct one_memory *one = call->input;

	recall_put(call->api->engine->recall, &one->result);
}

/* What a new memory supersedes is not recalled any more. */
static void index_created(struct call *call)
{
	struct one_memory *one = call->input;

	recall_put(call->api->engine->recall, &one->result);
	if (one->result.supersedes)
		recall_set_superseded(call->api->engine->recall, call->op->space, one->result.supersedes);
}

/* --- Batch --- */

struct batch {
	struct memory_draft *drafts;
	struct memory *results;
	uint64_t *nums;		/* of the results */
	size_t count;
};

static enum problem_code decode_batch(struct call *call)
{
	static const char *const known[] = {"memories", NULL};
	struct batch *batch = arena_zalloc(call->op->arena, sizeof(*batch));
	const struct json *list = NULL;
	enum problem_code code;

	call->input = batch;
	call_warn_unknown_members(call, &call->body, known, "");
	code = decode_array(&call->body, "memories", call->api->limits.max_batch, &list, &call->op->problem);
	if (code != P_OK)
		return code;
	if (list == NULL || list->count == 0)
		return problem_set(&call->op->problem, P_MISSING_FIELD, "memories", "memories is missing or empty; it is "
				   "the list of memories to store");
	batch->count = list->count;
	batch->drafts = arena_calloc(call->op->arena, batch->count, sizeof(*batch->drafts));
	batch->results = arena_calloc(call->op->arena, batch->count, sizeof(*batch->results));
	batch->nums = arena_calloc(call->op->arena, batch->count, sizeof(*batch->nums));
	for (uint32_t i = 0; code == P_OK && i < list->count; i++) {
		code = memory_json_read(call, &list->items[i], false, "memories[].", &batch->drafts[i]);
		if (code != P_OK)
			problem_prefix(&call->op->problem, "memories", i);
	}
	return code;
}

/* One event for all of them, and one for each that was superseded. */
static enum problem_code tell_batch(struct call *call, struct store_conn *c)
{
	struct batch *batch = call->input;
	char first[MEMORY_ID_SIZE], last[MEMORY_ID_SIZE];
	enum problem_code code = P_OK;

	tell_of(call, EVENT_MEMORY_STORED, &batch->results[0]);
	memory_id_format(batch->results[0].num, 0, first);
	memory_id_format(batch->results[batch->count - 1].num, 0, last);
	if (batch->count > 1)
		call->op->told.note = arena_printf(call->op->arena, "%zu memories, %s to %s", batch->count, first, last);
	call->op->told.value[0] = call->op->told.value[1] = (double)batch->results[0].num;
	for (size_t i = 1; i < batch->count; i++) {
		call->op->told.value[0] = fmin(call->op->told.value[0], (double)batch->results[i].num);
		call->op->told.value[1] = fmax(call->op->told.value[1], (double)batch->results[i].num);
	}
	for (size_t i = 0; code == P_OK && i < batch->count; i++)
		code = tell_superseded(call, c, &batch->results[i]);
	return code;
}

static enum problem_code write_batch(struct call *call, struct store_conn *c)
{
	struct batch *batch = call->input;
	enum problem_code code = task_check(call, c);

	if (code == P_OK)
		code = memory_create_many(c, call->op->space, batch->drafts, batch->count, call->op->now_ms, batch->results,
					  &call->op->problem);
	for (size_t i = 0; code == P_OK && i < batch->count; i++)
		batch->nums[i] = batch->results[i].num;
	if (code == P_OK)
		code = tell_batch(call, c);
	call->op->shown = batch->nums;
	call->op->shown_count = batch->count;
	return code;
}

static void index_batch(struct call *call)
{
	struct batch *batch = call->input;

	for (size_t i = 0; i < batch->count; i++) {
		recall_put(call->api->engine->recall, &batch->results[i]);
		if (batch->results[i].supersedes)
			recall_set_superseded(call->api->engine->recall, call->op->space, batch->results[i].supersedes);
	}
}

/* A later memory of the batch may supersede an earlier one; the answer says so. */
static void mark_superseded(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		for (size_t j = 0; batch->results[i].supersedes && j < i; j++)
			if (batch->results[j].num == batch->results[i].supersedes)
				batch->results[j].superseded_by = batch->results[i].num;
}

static void encode_batch(struct call *call)
{
	struct batch *batch = call->input;
	struct json_writer w;

	mark_superseded(batch);
	call->status = 201;
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "memories");
	json_begin_array(&w);
	for (size_t i = 0; i < batch->count; i++)
		memory_json_put(&w, &batch->results[i], call->op->now_ms);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- Get, versions, fetch --- */

static enum problem_code decode_get(struct call *call)
{
	struct one_memory *one = arena_zalloc(call->op->arena, sizeof(*one));

	call->input = one;
	return read_path_id(call, true, &one->id);
}

static enum problem_code read_get(struct call *call, struct store_conn *c)
{
	struct one_memory *one = call->input;

	return memory_read(c, call->op->space, one->id, call->op->arena, &one->result, &call->op->problem);
}

struct version_list {
	struct memory_id id;
	struct page page;
	struct memory *versions;
	size_t count;
};

static enum problem_code decode_versions(struct call *call)
{
	static const char *const known[] = {NULL};
	struct version_list *list = arena_zalloc(call->op->arena, sizeof(*list));
	enum problem_code code = read_path_id(call, false, &list->id);

	call->input = list;
	return code == P_OK ? page_read_only(call, known, &list->page) : code;
}

static enum problem_code read_versions(struct call *call, struct store_conn *c)
{
	struct version_list *list = call->input;
	size_t max = list->page.size + 1;	/* one more tells whether there is a next page */
	enum store_status status;
	struct memory newest;
	enum problem_code code = memory_read(c, call->op->space, (struct memory_id){list->id.num, 0}, call->op->arena, &newest,
					     &call->op->problem);

	if (code != P_OK)
		return code;
	list->versions = arena_calloc(call->op->arena, max, sizeof(*list->versions));
	status = store_memory_versions(c, call->op->space, list->id.num, (uint32_t)list->page.position, max, call->op->arena,
				       list->versions, &list->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_versions(struct call *call)
{
	struct version_list *list = call->input;
	bool more = list->count > list->page.size;
	size_t count = more ? list->page.size : list->count;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "versions");
	json_begin_array(&w);
	for (size_t i = 0; i < count; i++)
		memory_json_put(&w, &list->versions[i], call->op->now_ms);
	json_end_array(&w);
	page_put_next(call, &list->page, &w, more, more ? list->versions[count - 1].version : 0, 0);
	call_end_reply(call, &w);
}

struct fetch {
	const struct json *ids;
	struct lookup lookup;
};

static enum problem_code decode_fetch(struct call *call)
{
	static const char *const known[] = {"ids", NULL};
	struct fetch *fetch = arena_zalloc(call->op->arena, sizeof(*fetch));
	enum problem_code code;

	call->input = fetch;
	call_warn_unknown_members(call, &call->body, known, "");
	code = decode_array(&call->body, "ids", FETCH_MAX, &fetch->ids, &call->op->problem);
	if (code == P_OK && fetch->ids == NULL)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "ids", "ids is missing; it is the list of ids to "
				   "fetch");
	return code;
}

static enum problem_code read_fetch(struct call *call, struct store_conn *c)
{
	struct fetch *fetch = call->input;

	struct memory_id *ids;
	enum problem_code code = lookup_ids(call, fetch->ids, "ids", &ids);

	return code == P_OK ? lookup_all(call->op, c, ids, fetch->ids->count, &fetch->lookup) : code;
}

static void encode_fetch(struct call *call)
{
	struct fetch *fetch = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &fetch->lookup);
	call_end_reply(call, &w);
}

/* --- Changes --- */

static enum problem_code decode_patch(struct call *call)
{
	enum problem_code code = decode_id(call);
	struct one_memory *one = call->input;

	return code == P_OK ? memory_json_read(call, &call->body, true, "", &one->draft) : code;
}

static enum problem_code write_patch(struct call *call, struct store_conn *c)
{
	struct one_memory *one = call->input;
	enum problem_code code = memory_update(c, call->op->space, one->id.num, call->op->if_version, &one->draft, call->op->now_ms,
					       call->op->arena, &one->result, &one->changed, &call->op->problem);

	if (code == P_OK)
		tell_change(call, one->draft.has != MEMORY_HAS_PINNED ? EVENT_MEMORY_UPDATED
				  : one->draft.pinned ? EVENT_MEMORY_PINNED : EVENT_MEMORY_UNPINNED);
	return code;
}

static enum problem_code decode_pin_as(struct call *call, bool pinned)
{
	enum problem_code code = decode_id(call);
	struct one_memory *one = call->input;

	one->draft.has = MEMORY_HAS_PINNED;
	one->draft.pinned = pinned;
	return code;
}

static enum problem_code decode_pin(struct call *call)
{
	return decode_pin_as(call, true);
}

static enum problem_code decode_unpin(struct call *call)
{
	return decode_pin_as(call, false);
}

static enum problem_code decode_revert(struct call *call)
{
	static const char *const known[] = {"version", NULL};
	enum problem_code code = decode_id(call);
	struct one_memory *one = call->input;
	int64_t version = 0;

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = decode_int(&call->body, "version", 1, UINT32_MAX, &version, &call->op->problem);
	if (code == P_OK && version == 0)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "version", "version is missing; it is the version "
				   "to go back to");
	one->to_version = (uint32_t)version;
	return code;
}

static enum problem_code write_revert(struct call *call, struct store_conn *c)
{
	struct one_memory *one = call->input;
	enum problem_code code = memory_revert(c, call->op->space, one->id.num, call->op->if_version, one->to_version,
					       call->op->now_ms, call->op->arena, &one->result, &one->changed, &call->op->problem);

	if (code == P_OK)
		tell_change(call, EVENT_MEMORY_REVERTED);
	return code;
}

static enum problem_code write_forget(struct call *call, struct store_conn *c)
{
	struct one_memory *one = call->input;
	enum problem_code code = memory_forget(c, call->op->space, one->id.num, call->op->if_version, call->op->now_ms, call->op->arena,
					       &one->result, &one->changed, &call->op->problem);

	if (code == P_OK)
		tell_change(call, EVENT_MEMORY_FORGOTTEN);
	return code;
}

static void index_forgotten(struct call *call)
{
	struct one_memory *one = call->input;

	if (one->changed)
		recall_remove(call->api->engine->recall, call->op->space, one->result.num);
}

static void index_changed(struct call *call)
{
	struct one_memory *one = call->input;

	if (one->changed)
		index_one(call);
}

const struct route memory_routes[] = {
	{HTTP_POST, "/v1/memories", ROUTE_BODY | ROUTE_CREATES | ROUTE_TASK,
	 .decode = decode_store, .write = write_store, .committed = index_created, .encode = encode_created},
	{HTTP_POST, "/v1/memories/batch", ROUTE_BODY | ROUTE_CREATES | ROUTE_TASK,
	 .decode = decode_batch, .write = write_batch, .committed = index_batch, .encode = encode_batch},
	{HTTP_POST, "/v1/memories/fetch", ROUTE_BODY,
	 .decode = decode_fetch, .read = read_fetch, .encode = encode_fetch},
	{HTTP_GET, "/v1/memories/{}", 0, .decode = decode_get, .read = read_get, .encode = encode_memory},
	{HTTP_PATCH, "/v1/memories/{}", ROUTE_BODY | ROUTE_IF_MATCH,
	 .decode = decode_patch, .write = write_patch, .committed = index_changed, .encode = encode_memory},
	{HTTP_DELETE, "/v1/memories/{}", ROUTE_IF_MATCH,
	 .decode = decode_id, .write = write_forget, .committed = index_forgotten, .encode = encode_memory},
	{HTTP_GET, "/v1/memories/{}/versions", 0,
	 .decode = decode_versions, .read = read_versions, .encode = encode_versions},
	{HTTP_POST, "/v1/memories/{}/pin", ROUTE_IF_MATCH,
	 .decode = decode_pin, .write = write_patch, .committed = index_changed, .encode = encode_memory},
	{HTTP_POST, "/v1/memories/{}/unpin", ROUTE_IF_MATCH,
	 .decode = decode_unpin, .write = write_patch, .committed = index_changed, .encode = encode_memory},
	{HTTP_POST, "/v1/memories/{}/revert", ROUTE_BODY | ROUTE_IF_MATCH,
	 .decode = decode_revert, .write = write_revert, .committed = index_changed, .encode = encode_memory},
	{0},
};
