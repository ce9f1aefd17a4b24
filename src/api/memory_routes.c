/* Storing, reading and changing memories. */
#include "api/decode.h"
#include "api/lookup.h"
#include "api/memory_json.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/memory/memory_change.h"
#include "engine/memory/memory_get.h"
#include "engine/memory/memory_store.h"

enum { FETCH_MAX = 1000, REPLY_WITHOUT_TEXT_BYTES = 700 };

/* --- Replies with memories --- */

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

static void put_memory(struct call *call, const struct memory *m)
{
	struct json_writer w;

	call->etag = etag_of(call, m);
	/* All at once for most memories, instead of growing with what is written. */
	buf_reserve(&call->reply, REPLY_WITHOUT_TEXT_BYTES + m->content.n + m->summary.n + m->tags.n + m->metadata.n);
	json_writer_init(&w, &call->reply);
	memory_json_begin(&w, m, call->op->now_ms);
	call_end_reply(call, &w);
}

/* Begins a reply with a list of them. */
static void begin_list(struct call *call, struct json_writer *w, const char *key, const struct memory *list,
		       size_t count)
{
	json_writer_init(w, &call->reply);
	json_begin_object(w);
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < count; i++)
		memory_json_put(w, &list[i], call->op->now_ms);
	json_end_array(w);
}

/* --- The id in the address --- */

static enum problem_code read_path_id(struct call *call, struct memory_id *ret)
{
	struct str raw = call->params[0];

	if (memory_id_parse(raw, ret))
		return P_OK;
	return call_refuse(call, P_MEMORY_NOT_FOUND, "id", "\"%.*s\" is not an id of a memory; ids look "
			   "like ms-4821", (int)(raw.n < 64 ? raw.n : 64), raw.p);
}

static enum problem_code read_path_num(struct call *call, uint64_t *ret)
{
	struct memory_id id = {0};
	enum problem_code code = read_path_id(call, &id);

	if (code == P_OK && id.version)
		code = call_refuse(call, P_INVALID_FIELD, "id", "only the memory as a whole can be "
				   "changed; leave out \"@%u\"", id.version);
	*ret = id.num;
	return code;
}

/* --- Store --- */

static enum problem_code decode_store(struct call *call)
{
	struct memory_store *s = call_op(call);

	return memory_json_read(call, &call->body, false, "", &s->draft);
}

static void encode_store(struct call *call)
{
	const struct memory_store *s = call_op(call);

	call->status = 201;
	call->location = location_of(call, &s->made);
	put_memory(call, &s->made);
}

static enum problem_code decode_batch(struct call *call)
{
	static const char *const known[] = {"memories", NULL};
	struct memory_batch *b = call_op(call);
	const struct json *list = NULL;
	struct problem *p = &call->op->problem;
	enum problem_code code;

	call_warn_unknown_members(call, &call->body, known, "");
	code = decode_array(&call->body, "memories", call->api->limits.max_batch, &list, p);
	if (code != P_OK)
		return code;
	if (list == NULL || list->count == 0)
		return problem_set(p, P_MISSING_FIELD, "memories", "memories is missing or empty; it is the list of "
				   "memories to store");
	memory_batch_init(b, list->count);
	for (uint32_t i = 0; code == P_OK && i < list->count; i++) {
		code = memory_json_read(call, &list->items[i], false, "memories[].", &b->drafts[i]);
		if (code != P_OK)
			problem_prefix(p, "memories", i);
	}
	return code;
}

static void encode_batch(struct call *call)
{
	const struct memory_batch *b = call_op(call);
	struct json_writer w;

	call->status = 201;
	begin_list(call, &w, "memories", b->made, b->count);
	call_end_reply(call, &w);
}

/* --- Get, versions, fetch --- */

static enum problem_code decode_get(struct call *call)
{
	struct memory_get *g = call_op(call);

	return read_path_id(call, &g->id);
}

static void encode_get(struct call *call)
{
	const struct memory_get *g = call_op(call);

	put_memory(call, &g->memory);
}

static enum problem_code decode_versions(struct call *call)
{
	static const char *const known[] = {NULL};
	struct memory_versions *v = call_op(call);
	enum problem_code code = read_path_num(call, &v->num);

	return code == P_OK ? page_read_only(call, known, &v->page) : code;
}

static void encode_versions(struct call *call)
{
	const struct memory_versions *v = call_op(call);
	struct json_writer w;

	begin_list(call, &w, "versions", v->versions, v->count);
	page_put_next(call, &v->page, &w, v->more, v->more ? v->versions[v->count - 1].version : 0, 0);
	call_end_reply(call, &w);
}

static enum problem_code decode_fetch(struct call *call)
{
	static const char *const known[] = {"ids", NULL};
	struct memory_fetch *f = call_op(call);
	const struct json *list = NULL;
	struct memory_id *ids = NULL;
	enum problem_code code;

	call_warn_unknown_members(call, &call->body, known, "");
	code = decode_array(&call->body, "ids", FETCH_MAX, &list, &call->op->problem);
	if (code == P_OK && list == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "ids", "ids is missing; it is the list of ids "
				   "to fetch");
	if (code == P_OK)
		code = lookup_ids(call, list, "ids", &ids);
	f->ids = ids;
	f->count = list ? list->count : 0;
	return code;
}

static void encode_fetch(struct call *call)
{
	const struct memory_fetch *f = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &f->lookup);
	call_end_reply(call, &w);
}

/* --- Changes --- */

static enum problem_code decode_forget(struct call *call)
{
	struct memory_change *m = call_op(call);

	return read_path_num(call, &m->num);
}

static enum problem_code decode_patch(struct call *call)
{
	struct memory_change *m = call_op(call);
	enum problem_code code = read_path_num(call, &m->num);

	return code == P_OK ? memory_json_read(call, &call->body, true, "", &m->draft) : code;
}

static enum problem_code decode_unpin(struct call *call)
{
	struct memory_change *m = call_op(call);

	m->draft.has = MEMORY_HAS_PINNED;
	return read_path_num(call, &m->num);
}

static enum problem_code decode_pin(struct call *call)
{
	struct memory_change *m = call_op(call);

	m->draft.pinned = true;
	return decode_unpin(call);
}

static enum problem_code decode_revert(struct call *call)
{
	static const char *const known[] = {"version", NULL};
	struct memory_change *m = call_op(call);
	enum problem_code code = read_path_num(call, &m->num);
	int64_t version = 0;

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = decode_int(&call->body, "version", 1, UINT32_MAX, &version, &call->op->problem);
	if (code == P_OK && version == 0)
		code = call_refuse(call, P_MISSING_FIELD, "version", "version is missing; it is the "
				   "version to go back to");
	m->to_version = (uint32_t)version;
	return code;
}

static void encode_change(struct call *call)
{
	const struct memory_change *m = call_op(call);

	put_memory(call, &m->memory);
}

const struct route memory_routes[] = {
	{HTTP_POST, "/v1/memories", &memory_store_kind, &describe_store_memory, decode_store, encode_store},
	{HTTP_POST, "/v1/memories/batch", &memory_batch_kind, &describe_store_memories, decode_batch, encode_batch},
	{HTTP_POST, "/v1/memories/fetch", &memory_fetch_kind, &describe_fetch_memories, decode_fetch, encode_fetch},
	{HTTP_GET, "/v1/memories/{}", &memory_get_kind, &describe_read_memory, decode_get, encode_get},
	{HTTP_PATCH, "/v1/memories/{}", &memory_update_kind, &describe_change_memory, decode_patch, encode_change},
	{HTTP_DELETE, "/v1/memories/{}", &memory_forget_kind, &describe_forget_memory, decode_forget, encode_change},
	{HTTP_GET, "/v1/memories/{}/versions", &memory_versions_kind, &describe_list_versions, decode_versions, encode_versions},
	{HTTP_POST, "/v1/memories/{}/pin", &memory_update_kind, &describe_pin_memory, decode_pin, encode_change},
	{HTTP_POST, "/v1/memories/{}/unpin", &memory_update_kind, &describe_unpin_memory, decode_unpin, encode_change},
	{HTTP_POST, "/v1/memories/{}/revert", &memory_revert_kind, &describe_revert_memory, decode_revert,
	 encode_change},
	{0},
};
