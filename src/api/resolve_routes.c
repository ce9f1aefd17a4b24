/* What an envelope left out or missed, fetched later; who opened what; and what it was chosen from. */
#include "api/considered_json.h"
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/fidelity_json.h"
#include "api/lookup.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/envelope/envelope_get.h"
#include "engine/envelope/resolve.h"

/* --- POST /v1/envelopes/{id}/resolve --- */

/* What is no id of a memory is one that no envelope mentions. */
static enum problem_code decode_resolve(struct call *call)
{
	static const char *const known[] = {"ids", NULL};
	struct resolve *r = call_op(call);
	const struct json *list = NULL;
	struct memory_id *ids;
	enum problem_code code = envelope_path_id(call, &r->num);

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = decode_array(&call->body, "ids", HANDOFF_REFS_MAX, &list, &call->op->problem);
	if (code != P_OK || list == NULL)
		return code;
	ids = arena_calloc(call->op->arena, list->count + 1, sizeof(*ids));
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].type != JSON_STRING || !memory_id_parse(list->items[i].s, &ids[i]))
			ids[i] = (struct memory_id){0};
	r->ids = ids;
	r->count = list->count;
	return P_OK;
}

static void encode_resolve(struct call *call)
{
	const struct resolve *r = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &r->lookup);
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/receipts --- */

static enum problem_code decode_receipts(struct call *call)
{
	struct envelope_receipts *r = call_op(call);

	return envelope_path_id(call, &r->num);
}

static void encode_receipts(struct call *call)
{
	const struct envelope_receipts *r = call_op(call);
	char id[MEMORY_ID_SIZE];
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
		json_member_time(&w, "at", r->rows[i].at_ms);
		json_end_object(&w);
	}
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/considered --- */

static enum problem_code decode_considered(struct call *call)
{
	struct envelope_considered *r = call_op(call);

	return envelope_path_id(call, &r->num);
}

static void encode_considered(struct call *call)
{
	const struct envelope_considered *r = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	fidelity_json_id(&w, "envelope", r->num);
	considered_json_put(&w, &r->considered);
	call_end_reply(call, &w);
}

const struct route resolve_routes[] = {
	{HTTP_POST, "/v1/envelopes/{}/resolve", &resolve_kind, &describe_resolve_envelope, decode_resolve, encode_resolve},
	{HTTP_GET, "/v1/envelopes/{}/receipts", &envelope_receipts_kind, &describe_list_receipts, decode_receipts, encode_receipts},
	{HTTP_GET, "/v1/envelopes/{}/considered", &envelope_considered_kind, &describe_read_considered, decode_considered, encode_considered},
	{0},
};
