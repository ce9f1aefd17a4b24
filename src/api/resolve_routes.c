/* What an envelope left out or missed, fetched later; and the receipts that say who opened what. */
#include "api/considered_json.h"
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/lookup.h"
#include "api/routes.h"
#include "base/clock.h"
#include "core/watch/event.h"
#include "core/envelope/unpack.h"

/* --- POST /v1/envelopes/{id}/resolve --- */

struct resolving {
	uint64_t num;
	const struct json *ids;		/* NULL: all that is not there in full */
	struct lookup lookup;
};

static enum problem_code decode_resolve(struct call *call)
{
	static const char *const known[] = {"ids", NULL};
	struct resolving *r = arena_zalloc(call->op->arena, sizeof(*r));
	enum problem_code code = envelope_path_id(call, &r->num);

	call->input = r;
	call_warn_unknown_members(call, &call->body, known, "");
	return code == P_OK ? decode_array(&call->body, "ids", HANDOFF_REFS_MAX, &r->ids, &call->op->problem) : code;
}

/* Every memory that the envelope mentions, whatever its version. */
static struct mention_list mentioned(struct call *call, const struct envelope *e)
{
	struct mention_list all = {0};
	struct memory_id id;

	for (size_t i = 0; i < e->ref_count; i++)
		mention_add(&all, (struct memory_id){e->refs[i].id.num, 0}, call->op->arena);
	for (size_t i = 0; i < e->trim_count; i++)
		if (memory_id_parse(e->trimmed[i].id, &id))
			mention_add(&all, (struct memory_id){id.num, 0}, call->op->arena);
	for (size_t i = 0; i < e->missing_count; i++)
		if (memory_id_parse(e->missing[i].id, &id))
			mention_add(&all, (struct memory_id){id.num, 0}, call->op->arena);
	return all;
}

/* The ids that the caller names, which must be the envelope's. */
static enum problem_code resolve_named(struct call *call, struct store_conn *c, const struct envelope *e)
{
	struct resolving *r = call->input;
	struct mention_list all = mentioned(call, e);
	struct memory_id id;

	for (uint32_t i = 0; i < r->ids->count; i++) {
		const struct json *item = &r->ids->items[i];

		if (item->type == JSON_STRING && memory_id_parse(item->s, &id) &&
		    mention_has(&all, (struct memory_id){id.num, 0}))
			continue;
		problem_set(&call->op->problem, P_INVALID_FIELD, NULL, "ids[%u] is not the id of a memory that this "
			    "envelope mentions", i);
		problem_prefix(&call->op->problem, "ids", i);
		return call->op->problem.code;
	}
	struct memory_id *ids;
	enum problem_code code = lookup_ids(call, r->ids, "ids", &ids);

	return code == P_OK ? lookup_all(call->op, c, ids, r->ids->count, &r->lookup) : code;
}

static enum problem_code resolve_rest(struct call *call, struct store_conn *c, const struct envelope *e)
{
	struct resolving *r = call->input;
	enum problem_code code = P_OK;
	struct memory_id id;

	lookup_init(call->op, e->trim_count + e->missing_count < MENTION_MAX ? e->trim_count + e->missing_count
									 : MENTION_MAX, &r->lookup);
	for (size_t i = 0; code == P_OK && i < e->trim_count; i++)
		if (memory_id_parse(e->trimmed[i].id, &id))
			code = lookup_one(call->op, c, id, &r->lookup);
	for (size_t i = 0; code == P_OK && i < e->missing_count; i++)
		if (memory_id_parse(e->missing[i].id, &id))
			code = lookup_one(call->op, c, id, &r->lookup);
	return code;
}

static enum problem_code prepare_resolve(struct call *call, struct store_conn *c)
{
	struct resolving *r = call->input;
	struct envelope e;
	enum problem_code code = unpack(c, call->op->space, r->num, "id", call->op->arena, &e, &call->op->problem);

	if (code != P_OK)
		return code;
	code = r->ids ? resolve_named(call, c, &e) : resolve_rest(call, c, &e);
	if (code == P_OK)
		code = lookup_guard(call->op, c, r->num, &r->lookup);
	call->op->is_answered = r->lookup.found_count == 0;
	return code;
}

static enum problem_code write_resolve(struct call *call, struct store_conn *c)
{
	struct resolving *r = call->input;
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < r->lookup.found_count; i++) {
		struct receipt_row receipt = {r->lookup.found[i].num, call->op->agent.p ? call->op->agent : STR("unknown"),
					      call->op->now_ms};

		status = store_receipt_put(c, call->op->space, r->num, &receipt);
	}
	call->op->told = (struct event_row){
		.kind = EVENT_ENVELOPE_RESOLVED, .envelope = r->num,
		.note = arena_printf(call->op->arena, "%zu memor%s", r->lookup.found_count,
				     r->lookup.found_count == 1 ? "y" : "ies"),
	};
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_resolve(struct call *call)
{
	struct resolving *r = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &r->lookup);
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/receipts --- */

enum { RECEIPTS_MAX = 10000 };

struct receipts {
	uint64_t num;
	struct receipt_row *rows;
	size_t count;
};

static enum problem_code decode_receipts(struct call *call)
{
	struct receipts *r = arena_zalloc(call->op->arena, sizeof(*r));

	call->input = r;
	return envelope_path_id(call, &r->num);
}

static enum problem_code read_receipts(struct call *call, struct store_conn *c)
{
	struct receipts *r = call->input;
	struct envelope e;
	enum problem_code code = unpack(c, call->op->space, r->num, "id", call->op->arena, &e, &call->op->problem);
	enum store_status status;

	if (code != P_OK)
		return code;
	r->rows = arena_calloc(call->op->arena, RECEIPTS_MAX, sizeof(*r->rows));
	status = store_receipts(c, call->op->space, r->num, RECEIPTS_MAX, call->op->arena, r->rows, &r->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_receipts(struct call *call)
{
	struct receipts *r = call->input;
	char id[MEMORY_ID_SIZE], at[CLOCK_TEXT_SIZE];
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "receipts");
	json_begin_array(&w);
	for (size_t i = 0; i < r->count; i++) {
		json_begin_object(&w);
		memory_id_format(r->rows[i].memory, 0, id);
		json_member_cstr(&w, "id", id);
		json_member_str(&w, "agent", r->rows[i].agent);
		clock_format(r->rows[i].at_ms, at);
		json_member_cstr(&w, "at", at);
		json_end_object(&w);
	}
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/considered --- */

struct consideration {
	uint64_t num;
	struct considered considered;
};

static enum problem_code decode_considered(struct call *call)
{
	struct consideration *r = arena_zalloc(call->op->arena, sizeof(*r));

	call->input = r;
	return envelope_path_id(call, &r->num);
}

static enum problem_code read_considered(struct call *call, struct store_conn *c)
{
	struct consideration *r = call->input;
	struct str record = STR_NULL;
	struct envelope e;
	enum problem_code code = unpack(c, call->op->space, r->num, "id", call->op->arena, &e, &call->op->problem);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_envelope_considered(c, call->op->space, r->num, call->op->arena, &record);
	if (status == STORE_OK)
		status = considered_read(c, call->op->space, &e, record, call->op->arena, &r->considered);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_considered(struct call *call)
{
	struct consideration *r = call->input;
	char id[ENVELOPE_ID_SIZE];
	struct json_writer w;

	envelope_id_format(r->num, id);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "envelope", id);
	considered_json_put(&w, &r->considered);
	call_end_reply(call, &w);
}

const struct route resolve_routes[] = {
	{HTTP_POST, "/v1/envelopes/{}/resolve", ROUTE_BODY_OPTIONAL, .decode = decode_resolve,
	 .prepare = prepare_resolve, .write = write_resolve, .encode = encode_resolve},
	{HTTP_GET, "/v1/envelopes/{}/receipts", 0, .decode = decode_receipts, .read = read_receipts,
	 .encode = encode_receipts},
	{HTTP_GET, "/v1/envelopes/{}/considered", 0, .decode = decode_considered, .read = read_considered,
	 .encode = encode_considered},
	{0},
};
