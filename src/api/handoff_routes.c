/* Delivering envelopes, and looking at handoffs. */
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/handoff_json.h"
#include "api/notices.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/traceparent.h"
#include "core/delivery/handoff_id.h"
#include "engine/delivery/handoff_get.h"
#include "engine/delivery/handoff_list.h"
#include "engine/delivery/send.h"

enum { SEND_WAIT_MAX_MS = 600000 };

/* --- POST /v1/handoffs --- */

/* An envelope that is there, or one that is packed with the same call. */
static enum problem_code read_envelope(struct call *call, struct send *s)
{
	const struct json *whole = decode_member(&call->body, "envelope");
	struct problem *p = &call->op->problem;
	enum problem_code code = envelope_body_id(call, &s->order.envelope);

	if (code != P_OK || (s->order.envelope && whole == NULL))
		return code;
	if (s->order.envelope)
		return problem_set(p, P_INVALID_FIELD, "envelope", "envelope and envelope_id cannot both be given");
	if (whole == NULL)
		return problem_set(p, P_MISSING_FIELD, "envelope_id", "envelope_id is missing; POST /v1/envelopes "
				   "packs an envelope and tells its id, as in env-17; or give the envelope itself as "
				   "\"envelope\"");
	if (whole->type != JSON_OBJECT)
		return problem_set(p, P_INVALID_FIELD, "envelope", "envelope is %s; expected an object, as POST "
				   "/v1/envelopes takes it", json_type_name(whole->type));
	s->pack = arena_zalloc(call->op->arena, sizeof(*s->pack));
	code = envelope_decode(call, whole, s->pack);
	if (code == P_OK && s->pack->dry_run)
		code = problem_set(p, P_INVALID_FIELD, "envelope.dry_run", "a dry run is not sent; ask POST "
				   "/v1/envelopes for it");
	return code;
}

static enum problem_code decode_send(struct call *call)
{
	static const char *const known[] = {"envelope_id", "envelope", "to", "wait_s", "ack_timeout_s", "max_attempts",
					    "fallbacks", "priority", NULL};
	struct send *s = call_op(call);
	struct delivery_order *o = &s->order;
	const struct json *b = &call->body;
	struct problem *p = &call->op->problem;
	int64_t priority = DELIVERY_PRIORITY;
	enum problem_code code;

	call_warn_unknown_members(call, b, known, "");
	if ((code = read_envelope(call, s)) != P_OK ||
	    (code = decode_agent(b, "to", &o->to, p)) != P_OK ||
	    (code = decode_seconds(b, "wait_s", 0, SEND_WAIT_MAX_MS, &o->wait_ms, p)) != P_OK ||
	    (code = decode_seconds(b, "ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS, &o->ack_timeout_ms, p)) != P_OK ||
	    (code = decode_int(b, "max_attempts", 1, DELIVERY_ATTEMPTS_MAX, &o->max_attempts, p)) != P_OK ||
	    (code = decode_int(b, "priority", 0, DELIVERY_PRIORITY_MAX, &priority, p)) != P_OK)
		return code;
	s->given_to = o->to;
	o->priority = (int)priority;
	call->op->skips_index = s->pack == NULL;
	return decode_agents(b, "fallbacks", DELIVERY_FALLBACKS_MAX, &o->fallbacks, p);
}

static void encode_send(struct call *call)
{
	struct send *s = call_op(call);
	struct json_writer w;

	call->status = s->row.state >= HANDOFF_WORKING ? 200 : 202;
	call->location = arena_printf(call->op->arena, "/v1/handoffs/ho-%llu", (unsigned long long)s->row.num);
	if (s->pack && s->pack->envelope.num == s->row.envelope)
		call->traceparent = traceparent_of(call->api, &s->pack->envelope, 0, 0, call->op->arena);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &s->row);
	notices_put(&s->notices, &w);
	call_end_reply(call, &w);
}

/* --- GET /v1/handoffs/{id} --- */

static enum problem_code decode_look(struct call *call)
{
	struct handoff_get *l = call_op(call);

	return handoff_path_id(call, &l->num);
}

static void encode_look(struct call *call)
{
	struct handoff_get *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &l->row);
	if (l->has_result)
		handoff_json_result(&w, &l->result);
	json_member_int(&w, "event_count", l->event_count);
	json_key(&w, "events");
	json_begin_array(&w);
	for (size_t i = l->shown; i > 0; i--)
		handoff_json_put_event(&w, &l->events[i - 1]);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- GET /v1/handoffs, GET /v1/parked --- */

/* "state" and "order" are the last of the parameters: a list of one state does not know them. */
static enum problem_code decode_listing(struct call *call, bool of_all_states)
{
	const char *const known[] = {"to", "from", "envelope_id", of_all_states ? "state" : NULL, "order", NULL};
	struct handoff_list *l = call_op(call);
	struct str envelope = call_query(call, "envelope_id");
	enum problem_code code = page_read_only(call, known, &l->page);

	l->to = call_query(call, "to");
	l->filter.from = call_query(call, "from");
	if (code == P_OK && envelope.p && !envelope_id_parse(envelope, &l->filter.envelope))
		code = call_refuse(call, P_INVALID_FIELD, "envelope_id", "envelope_id is not an id of an "
				   "envelope; expected one as in env-17");
	return code;
}

static enum problem_code decode_list(struct call *call)
{
	enum problem_code code = decode_listing(call, true);
	struct handoff_list *l = call_op(call);
	struct str state = call_query(call, "state"), order = call_query(call, "order");

	if (code == P_OK && order.p && !str_is(order, "newest") && !str_is(order, "oldest"))
		code = call_refuse(call, P_INVALID_FIELD, "order", "order is neither newest nor oldest");
	l->filter.newest_first = str_is(order, "newest");
	if (code == P_OK && state.p && (l->filter.states = handoff_state_set(state)) == 0)
		code = call_refuse(call, P_INVALID_FIELD, "state", "state is \"%.*s\"; expected queued, "
				   "leased, acked, completed, parked, expired or discarded",
				   (int)(state.n < 64 ? state.n : 64), state.p);
	return code;
}

static enum problem_code decode_parked(struct call *call)
{
	enum problem_code code = decode_listing(call, false);
	struct handoff_list *l = call_op(call);

	l->filter.states = 1u << HANDOFF_PARKED;
	return code;
}

static void put_parked(struct json_writer *w, const struct handoff_row *h)
{
	json_begin_object(w);
	handoff_json_members(w, h);
	json_member_int(w, "attempts", h->attempt);
	json_key(w, "remedies");
	json_begin_array(w);
	for (const char *const *r = delivery_remedies(h->state); *r; r++)
		json_put_cstr(w, *r);
	json_end_array(w);
	json_end_object(w);
}

static void encode_rows(struct call *call, const char *name, void (*put)(struct json_writer *w, const struct handoff_row *h))
{
	struct handoff_list *l = call_op(call);
	size_t shown = l->count < l->page.size ? l->count : l->page.size;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, name);
	json_begin_array(&w);
	for (size_t i = 0; i < shown; i++)
		put(&w, &l->rows[i]);
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->count > shown, shown ? l->rows[shown - 1].num : 0, 0);
	call_end_reply(call, &w);
}

static void encode_list(struct call *call)
{
	encode_rows(call, "handoffs", handoff_json_put);
}

static void encode_parked(struct call *call)
{
	encode_rows(call, "parked", put_parked);
}

const struct route handoff_routes[] = {
	{HTTP_POST, "/v1/handoffs", &send_kind, &describe_deliver, decode_send, encode_send},
	{HTTP_GET, "/v1/handoffs", &handoff_list_kind, &describe_list_handoffs, decode_list, encode_list},
	{HTTP_GET, "/v1/parked", &handoff_list_kind, &describe_list_parked, decode_parked, encode_parked},
	{HTTP_GET, "/v1/handoffs/{}", &handoff_get_kind, &describe_read_handoff, decode_look, encode_look},
	{0},
};
