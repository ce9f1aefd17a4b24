/* Parking an envelope, and what a person does with what is parked; and the breaker, which a person may close. */
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/handoff_json.h"
#include "api/over_budget.h"
#include "api/pack.h"
#include "api/routes.h"
#include "core/delivery/handoff_id.h"
#include "core/memory/mention.h"
#include "core/envelope/repack.h"
#include "core/envelope/unpack.h"

enum { NAME_MAX_BYTES = 128, WHY_MAX = 4096 };

struct deciding {
	uint64_t num;			/* a handoff's, or an envelope's where it is parked */
	struct str to;			/* p == NULL: the same agent */
	struct str why;
	struct str by;			/* p == NULL: the caller */
	struct str from;		/* of the envelope */
	struct handoff_row row;
};

static enum problem_code read_why(struct call *call, struct deciding *d, const char *name)
{
	enum problem_code code = decode_str(&call->body, name, 1, WHY_MAX, &d->why, &call->op->problem);

	if (code == P_OK)
		code = decode_str(&call->body, "by", 1, NAME_MAX_BYTES, &d->by, &call->op->problem);
	return code == P_OK && d->by.p ? decode_check_name(d->by, "by", NAME_MAX_BYTES, &call->op->problem) : code;
}

static struct delivery delivery_by(struct call *call, struct store_conn *c)
{
	struct deciding *in = call->input;
	struct delivery d = waiting_delivery(call->op, c);

	if (in->by.p)
		d.actor = in->by;
	return d;
}

static void encode_row(struct call *call)
{
	struct deciding *d = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &d->row);
	call_end_reply(call, &w);
}

/* --- POST /v1/envelopes/{id}/park --- */

static enum problem_code decode_park(struct call *call)
{
	static const char *const known[] = {"reason", "by", NULL};
	struct deciding *d = arena_zalloc(call->op->arena, sizeof(*d));
	enum problem_code code = envelope_path_id(call, &d->num);

	call->input = d;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_why(call, d, "reason");
	if (code == P_OK && d->why.p == NULL)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "reason", "reason is missing; it is what a person "
				   "reads first");
	return code;
}

static enum problem_code prepare_park(struct call *call, struct store_conn *c)
{
	struct deciding *d = call->input;
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = unpack_find(c, call->op->space, d->num, "id", call->op->arena, &row, &call->op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, call->op->arena, &e, &call->op->problem);
	if (code != P_OK)
		return code;
	d->to = e.to;
	d->from = e.from;
	return P_OK;
}

static enum problem_code write_park(struct call *call, struct store_conn *c)
{
	struct deciding *in = call->input;
	struct delivery d = delivery_by(call, c);

	return delivery_park(&d, in->num, in->to, in->from, in->why, false, &in->row, &call->op->problem);
}

/* --- POST /v1/parked/{id}/redrive, /reroute, /discard --- */

static enum problem_code decode_decision(struct call *call)
{
	struct deciding *d = arena_zalloc(call->op->arena, sizeof(*d));
	enum problem_code code = handoff_path_id(call, &d->num);

	call->input = d;
	return code == P_OK ? read_why(call, d, "why") : code;
}

static enum problem_code decode_redrive(struct call *call)
{
	static const char *const known[] = {"why", "by", NULL};

	call_warn_unknown_members(call, &call->body, known, "");
	return decode_decision(call);
}

static enum problem_code decode_reroute(struct call *call)
{
	static const char *const known[] = {"to", "why", "by", NULL};
	enum problem_code code = decode_decision(call);
	struct deciding *d = call->input;

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = decode_agent(&call->body, "to", &d->to, &call->op->problem);
	if (code == P_OK && d->to.p == NULL)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "to", "to is missing; it is the agent that gets "
				   "the work instead");
	return code;
}

/* Only to warn: whether it can be done is known when it is written. */
static enum problem_code prepare_reroute(struct call *call, struct store_conn *c)
{
	struct deciding *d = call->input;
	struct problem problem = {0};
	struct envelope_row row;
	struct handoff_row h;
	struct envelope e;

	if (call->op->space && store_handoff_get(c, call->op->space, d->num, call->op->arena, &h) == STORE_OK &&
	    store_envelope_get(c, call->op->space, h.envelope, call->op->arena, &row) == STORE_OK &&
	    unpack_skeleton(&row, call->op->arena, &e, &problem) == P_OK)
		over_budget_warn(call, c, &e, "to", &d->to, 1);
	return P_OK;
}

static enum problem_code decode_discard(struct call *call)
{
	enum problem_code code = decode_redrive(call);
	struct deciding *d = call->input;

	if (code == P_OK && d->why.p == NULL)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "why", "why is missing; what is discarded is gone "
				   "from the queue for good, and somebody will ask");
	return code;
}

static enum problem_code write_redrive(struct call *call, struct store_conn *c)
{
	struct deciding *in = call->input;
	struct delivery d = delivery_by(call, c);

	return delivery_redrive(&d, in->num, in->to, in->why, &in->row, &call->op->problem);
}

static enum problem_code write_discard(struct call *call, struct store_conn *c)
{
	struct deciding *in = call->input;
	struct delivery d = delivery_by(call, c);

	return delivery_discard(&d, in->num, EVENT_DISCARDED, in->why, &in->row, &call->op->problem);
}

/* --- POST /v1/parked/{id}/shrink --- */

/* A new envelope with what the old one carried, in a smaller budget: same parent, same place in the chain. */
struct shrinking {
	struct deciding decision;	/* the first: it is read and shown as one */
	int64_t max_tokens;
	struct pack pack;
	struct handoff_row old;
};

static enum problem_code decode_shrink(struct call *call)
{
	static const char *const known[] = {"max_tokens", "why", "by", NULL};
	struct shrinking *s = arena_zalloc(call->op->arena, sizeof(*s));
	enum problem_code code = handoff_path_id(call, &s->decision.num);

	call->input = s;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_why(call, &s->decision, "why");
	if (code == P_OK)
		code = decode_int(&call->body, "max_tokens", 1, HANDOFF_TOKENS_MAX, &s->max_tokens, &call->op->problem);
	if (code == P_OK && s->max_tokens == 0)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "max_tokens", "max_tokens is missing; it is the "
				   "budget that the new envelope must fit");
	return code;
}

static struct json with_member(struct arena *arena, const struct json *object, const char *key, struct json value)
{
	struct json_member *members = arena_calloc(arena, object->count + 1, sizeof(*members));
	uint32_t count = 0;

	for (uint32_t i = 0; i < object->count; i++)
		if (!str_is(object->members[i].key, key))
			members[count++] = object->members[i];
	members[count++] = (struct json_member){str_of(key), value};
	return (struct json){.type = JSON_OBJECT, .count = count, .members = members};
}

static bool is_found(enum envelope_why why)
{
	return why == WHY_RELEVANT || why == WHY_RECENT;
}

/* The memories of an envelope that were found by relevance, or those that were not. */
static void add_memories(struct mention_list *ids, const struct envelope *e, bool found, struct arena *arena)
{
	struct memory_id id;

	for (size_t i = 0; i < e->ref_count; i++)
		if (is_found(e->refs[i].why) == found)
			mention_add(ids, e->refs[i].id, arena);
	for (size_t i = 0; i < e->trim_count; i++)
		if (memory_id_parse(e->trimmed[i].id, &id) && (e->minor > 0 && is_found(e->trimmed[i].why)) == found)
			mention_add(ids, id, arena);
	for (size_t i = 0; !found && i < e->missing_count; i++)
		if (memory_id_parse(e->missing[i].id, &id))
			mention_add(ids, id, arena);
}

/* Every memory that the envelope names, whether it had room for it or not, and whether it was only found. */
static void name_memories(struct call *call, const struct envelope *e, struct handoff_draft *draft)
{
	struct mention_list ids = {0};
	bool *found;
	size_t named;

	add_memories(&ids, e, false, call->op->arena);
	named = ids.count;
	add_memories(&ids, e, true, call->op->arena);
	found = arena_calloc(call->op->arena, ids.count, sizeof(*found));
	for (size_t i = named; i < ids.count; i++)
		found[i] = true;
	draft->refs = ids.ids;
	draft->ref_is_found = found;
	draft->ref_count = ids.count;
}

static void draft_from(struct call *call, const struct envelope *e, int64_t max_tokens, struct pack *p)
{
	struct str id = arena_printf(call->op->arena, "env-%llu", (unsigned long long)e->num);

	p->in = (struct handoff_input){
		.draft = {
			.from = e->from, .to = e->to, .summary = e->summary, .intent = e->intent, .state = e->state,
			.task = e->task,
			.traceparent = e->traceparent, .history = e->history, .expected_output = e->expected_output,
			.open_decisions = e->open_decisions,
			.resolved_decisions = repack_decisions(&e->history, &e->open_decisions, e->from, call->op->arena),
			.waive = repack_waivers(&e->waived, e->hop, call->op->arena), .strategy = e->strategy,
			.max_hops = e->max_hops,
			.constraints = with_member(call->op->arena, &e->constraints, "max_tokens",
						   (struct json){.type = JSON_INT, .i = max_tokens}),
			.extensions = with_member(call->op->arena, &e->extensions, "shrunk_from",
						  (struct json){.type = JSON_STRING, .s = id}),
		},
		.parent = e->parent,
		.tokenizer = e->tokenizer,
	};
	name_memories(call, e, &p->in.draft);
}

static enum problem_code prepare_shrink(struct call *call, struct store_conn *c)
{
	struct shrinking *s = call->input;
	struct envelope e;
	enum store_status status = call->op->space ? store_handoff_get(c, call->op->space, s->decision.num, call->op->arena,
								   &s->old) : STORE_NOT_FOUND;
	enum problem_code code;

	if (status == STORE_NOT_FOUND)
		return problem_set(&call->op->problem, P_HANDOFF_NOT_FOUND, "id", "there is no ho-%llu in this space",
				   (unsigned long long)s->decision.num);
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	code = unpack(c, call->op->space, s->old.envelope, "id", call->op->arena, &e, &call->op->problem);
	if (code != P_OK)
		return code;
	if (s->max_tokens >= e.max_tokens)
		return problem_set(&call->op->problem, P_INVALID_FIELD, "max_tokens", "max_tokens is %lld, and the "
				   "envelope's budget is %lld; expected less", (long long)s->max_tokens,
				   (long long)e.max_tokens);
	draft_from(call, &e, s->max_tokens, &s->pack);
	code = pack_prepare(call, c, &s->pack);
	/* The chain may not go on like that: then the old one stays parked, and so does nothing else. */
	if (code == P_OK && s->pack.refusal.code != P_OK) {
		call->op->problem = s->pack.refusal;
		code = call->op->problem.code;
	}
	return code;
}

/* What may be refused is asked before anything is written, and the old one is discarded when the new one is there: a
 * refusal leaves it parked, and everything as it was. */
static enum problem_code write_shrink(struct call *call, struct store_conn *c)
{
	struct shrinking *s = call->input;
	struct delivery d = delivery_by(call, c), sending = d;	/* whose actor is the sender where nobody is named */
	struct delivery_order order = {.envelope = s->pack.envelope.num, .is_new = true, .is_forced = true};
	struct delivery_plan plan;
	struct str why = s->decision.why;
	enum problem_code code = delivery_get_parked(&d, s->decision.num, &s->old, &call->op->problem);

	if (code != P_OK)
		return code;
	order.to = s->old.target_name;
	order.from = s->old.from;
	order.priority = s->old.priority;
	if (why.p == NULL)
		why = arena_printf(call->op->arena, "shrunk to %lld tokens as env-%llu", (long long)s->max_tokens,
				   (unsigned long long)order.envelope);
	code = delivery_plan(&sending, &order, &plan, &call->op->problem);
	if (code == P_OK)
		code = pack_write(call, c, &s->pack);
	if (code == P_OK)
		code = delivery_carry_out(&sending, &plan, &s->decision.row, &call->op->problem);
	return code == P_OK ? delivery_discard(&d, s->old.num, EVENT_SHRUNK, why, &s->old, &call->op->problem) : code;
}

static void encode_shrink(struct call *call)
{
	struct shrinking *s = call->input;
	char id[HANDOFF_ID_SIZE];
	struct json_writer w;

	call->status = 201;
	call->location = arena_printf(call->op->arena, "/v1/handoffs/ho-%llu", (unsigned long long)s->decision.row.num);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &s->decision.row);
	handoff_id_format(s->old.num, id);
	json_member_cstr(&w, "replaces", id);
	json_member_int(&w, "token_count", s->pack.envelope.token_count);
	call_end_reply(call, &w);
}

/* --- POST /v1/agents/{name}/reset --- */

static enum problem_code decode_reset(struct call *call)
{
	call->input = arena_zalloc(call->op->arena, sizeof(struct deciding));
	return decode_check_name(call->params[0], "name", NAME_MAX_BYTES, &call->op->problem);
}

static enum problem_code write_reset(struct call *call, struct store_conn *c)
{
	struct delivery d = waiting_delivery(call->op, c);

	return breaker_reset(&d, call->params[0], &call->op->problem);
}

static void encode_reset(struct call *call)
{
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "name", call->params[0]);
	json_member_cstr(&w, "breaker", breaker_name(BREAKER_CLOSED));
	call_end_reply(call, &w);
}

const struct route parked_routes[] = {
	{HTTP_POST, "/v1/envelopes/{}/park", ROUTE_BODY | ROUTE_CREATES,
	 .decode = decode_park, .write = write_park, .encode = encode_row, .prepare = prepare_park},
	{HTTP_POST, "/v1/parked/{}/redrive", ROUTE_BODY_OPTIONAL, .decode = decode_redrive, .write = write_redrive,
	 .encode = encode_row},
	{HTTP_POST, "/v1/parked/{}/reroute", ROUTE_BODY, .decode = decode_reroute,
	 .prepare = prepare_reroute, .write = write_redrive, .encode = encode_row},
	{HTTP_POST, "/v1/parked/{}/discard", ROUTE_BODY, .decode = decode_discard, .write = write_discard,
	 .encode = encode_row},
	{HTTP_POST, "/v1/parked/{}/shrink", ROUTE_BODY | ROUTE_CREATES | ROUTE_INDEX,
	 .decode = decode_shrink, .write = write_shrink, .encode = encode_shrink, .prepare = prepare_shrink},
	{HTTP_POST, "/v1/agents/{}/reset", 0, .decode = decode_reset, .write = write_reset, .encode = encode_reset},
	{0},
};
