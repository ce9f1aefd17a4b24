/* Delivering envelopes, and looking at handoffs. */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/notices.h"
#include "api/over_budget.h"
#include "api/pack.h"
#include "api/page.h"
#include "api/routes.h"
#include "api/traceparent.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"
#include "core/envelope/unpack.h"

enum { SEND_WAIT_MAX_MS = 600000, GRACE_MS = 5000, EVENTS_MAX = 1000 };

/* --- POST /v1/handoffs --- */

struct sending {
	struct delivery_order order;
	struct pack *pack;		/* the envelope is packed with the same call; NULL: it is there */
	struct delivery_order packed_order;	/* the order for it */
	struct str given_to;		/* p == NULL: whom the envelope is for */
	struct handoff_row row;
	struct notices notices;
};

/* An envelope that is there, or one that is packed with the same call. */
static enum problem_code read_envelope(struct call *call, struct sending *s)
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
	code = pack_decode(call, whole, s->pack);
	if (code == P_OK && s->pack->in.dry_run)
		code = problem_set(p, P_INVALID_FIELD, "envelope.dry_run", "a dry run is not sent; ask POST "
				   "/v1/envelopes for it");
	return code;
}

static enum problem_code decode_send(struct call *call)
{
	static const char *const known[] = {"envelope_id", "envelope", "to", "wait_s", "ack_timeout_s", "max_attempts",
					    "fallbacks", "priority", NULL};
	struct sending *s = arena_zalloc(call->op->arena, sizeof(*s));
	struct delivery_order *o = &s->order;
	const struct json *b = &call->body;
	struct problem *p = &call->op->problem;
	int64_t priority = DELIVERY_PRIORITY;
	enum problem_code code;

	call->input = s;
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

/* The deadline itself is in the store; the timer is for a server that drains. But what is under way already keeps a
 * later deadline, or has none: there the timer is what ends the wait. */
static void prepare_wait(struct call *call, struct sending *s, bool is_under_way)
{
	if (s->order.wait_ms)
		op_may_wait(call->op, s->order.wait_ms + (is_under_way ? 0 : GRACE_MS));
}

static bool is_under_way(struct call *call, struct store_conn *c, const struct sending *s)
{
	struct handoff_row h;
	int64_t target;

	return s->order.wait_ms && store_agent_id(c, call->op->space, s->order.to, false, 0, &target) == STORE_OK &&
	       store_handoff_find(c, call->op->space, s->order.envelope, target, call->op->arena, &h) == STORE_OK &&
	       handoff_is_open(h.state) &&
	       (h.expires_at_ms == 0 || h.expires_at_ms >= call->op->now_ms + s->order.wait_ms);
}

static enum problem_code prepare_pack(struct call *call, struct store_conn *c, struct sending *s)
{
	enum problem_code code = pack_prepare(call, c, s->pack);

	if (code != P_OK)
		return code;
	s->order.envelope = s->pack->envelope.num;
	s->order.is_new = true;
	s->order.from = s->pack->in.draft.from;
	s->order.to = s->order.to.p ? s->order.to : s->pack->in.draft.to;
	s->packed_order = s->order;
	over_budget_warn(call, c, &s->pack->envelope, "to", &s->order.to, 1);
	prepare_wait(call, s, false);
	return P_OK;
}

/* The envelope must be there; whom it is for, where the request does not say, and who packed it, is in it. */
static enum problem_code find_envelope(struct call *call, struct store_conn *c, struct sending *s, struct envelope *ret)
{
	struct envelope_row row;
	enum problem_code code = unpack_find(c, call->op->space, s->order.envelope, "envelope_id", call->op->arena, &row,
					     &call->op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, call->op->arena, ret, &call->op->problem);
	if (code != P_OK)
		return code;
	s->order.to = s->order.to.p ? s->order.to : ret->to;
	s->order.from = call->op->agent.p ? call->op->agent : ret->from;
	return P_OK;
}

/* A request with the same key has packed the envelope already, and went away before it was answered, or still waits:
 * this is the same handoff. */
static enum problem_code go_on(struct call *call, struct store_conn *c, struct sending *s)
{
	struct envelope e;

	envelope_id_parse(call->op->claim, &s->order.envelope);
	s->order.is_new = false;
	s->order.to = s->given_to;
	return find_envelope(call, c, s, &e);
}

static enum problem_code prepare_send(struct call *call, struct store_conn *c)
{
	struct sending *s = call->input;
	struct envelope e;
	enum problem_code code;

	if (call->op->claim.p) {
		code = go_on(call, c, s);
	} else if (s->pack) {
		return prepare_pack(call, c, s);
	} else {
		code = find_envelope(call, c, s, &e);
		if (code == P_OK)
			over_budget_warn(call, c, &e, "to", &s->order.to, 1);
	}
	if (code == P_OK)
		prepare_wait(call, s, is_under_way(call, c, s));
	return code;
}

/* What a sender that waits is told, or that it must go on waiting. */
static enum problem_code tell_sender(struct call *call, const struct handoff_row *h)
{
	struct problem *p = &call->op->problem;
	int reason = h->reason.p ? (int)(h->reason.n < 300 ? h->reason.n : 300) : 0;

	switch (h->state) {
	case HANDOFF_QUEUED:
	case HANDOFF_DELAYED:
	case HANDOFF_LEASED:
		if (!call->op->wait.is_over) {
			waiting_for(call->op, WAIT_HANDOFF, waiting_id(h->space, h->num));
			return P_OK;
		}
		if (atomic_load(&call->api->engine->draining))
			problem_set(p, P_DRAINING, NULL, "the server is stopping; the handoff is kept: deliver it "
				    "again after the restart and it goes on");
		else
			problem_set(p, P_ACK_TIMEOUT, NULL, "%.*s did not ack in time; the handoff goes on, because it "
				    "was under way before, sent by somebody who waits longer or not at all",
				    STR_ARG(h->agent_name));
		break;
	case HANDOFF_EXPIRED:
		problem_set(p, P_ACK_TIMEOUT, NULL, "%.*s did not ack in time (%.*s); deliver again for the next "
			    "attempt, or park the envelope", STR_ARG(h->agent_name), reason, h->reason.p);
		break;
	case HANDOFF_PARKED:
	case HANDOFF_DISCARDED:
		problem_set(p, P_HANDOFF_PARKED, NULL, "ho-%llu was %s: %.*s", (unsigned long long)h->num,
			    handoff_state_name(h->state), reason, h->reason.p);
		p->remedies = delivery_remedies(h->state);
		break;
	default:
		return P_OK;
	}
	p->handoff = h->num;
	return p->code;
}

/* The envelope and its handoff, or neither: what may be refused is asked before anything is written. (A savepoint
 * would do, too, and would copy every page that is touched.) */
static enum problem_code send_packed(struct call *call, struct store_conn *c, struct sending *s)
{
	struct delivery d = waiting_delivery(call->op, c);
	struct delivery_plan plan;
	enum problem_code code;

	if (s->pack->refusal.code != P_OK)
		return pack_write(call, c, s->pack);
	code = delivery_plan(&d, &s->order, &plan, &call->op->problem);
	if (code == P_OK)
		code = pack_write(call, c, s->pack);
	return code == P_OK ? delivery_carry_out(&d, &plan, &s->row, &call->op->problem) : code;
}

static enum problem_code send_first(struct call *call, struct store_conn *c, struct sending *s)
{
	struct delivery d = waiting_delivery(call->op, c);
	enum problem_code code = P_OK;

	/* Where the two came at the same time. A claim that is gone again was never committed. */
	if (call->op->claim.p)
		code = go_on(call, c, s);
	else if (s->pack && s->packed_order.is_new)
		s->order = s->packed_order;
	if (code == P_OK)
		code = s->pack && call->op->claim.p == NULL ? send_packed(call, c, s)
							: delivery_send(&d, &s->order, &s->row, &call->op->problem);
	if (code == P_OK && s->order.wait_ms && call->op->claim.p == NULL)
		code = op_claim(call->op, c, arena_printf(call->op->arena, "env-%llu", (unsigned long long)s->row.envelope));
	return code;
}

static enum problem_code write_send(struct call *call, struct store_conn *c)
{
	struct sending *s = call->input;
	enum problem_code code = call->op->wait.is_again ? P_OK : send_first(call, c, s);

	if (code == P_OK && call->op->wait.is_again) {
		enum store_status status = store_handoff_get(c, call->op->space, s->row.num, call->op->arena, &s->row);

		code = status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
	}
	if (code == P_OK && s->order.wait_ms)
		code = tell_sender(call, &s->row);
	if (code == P_OK && !call->op->wait.is_waiting)
		code = notices_take(call, c, &s->notices);
	return code;
}

static void encode_send(struct call *call)
{
	struct sending *s = call->input;
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

struct looking {
	uint64_t num;
	struct handoff_row row;
	struct result_row result;
	bool has_result;
	struct event_row *events;	/* the newest first */
	size_t shown;
	int64_t event_count;
};

static enum problem_code decode_look(struct call *call)
{
	struct looking *l = arena_zalloc(call->op->arena, sizeof(*l));

	call->input = l;
	return handoff_path_id(call, &l->num);
}

/* Somebody who looks at a long history looks for what happened last. */
static enum store_status read_events(struct call *call, struct store_conn *c, struct looking *l)
{
	struct event_filter filter = {.space = call->op->space, .handoff = l->num, .newest_first = true};
	enum store_status status;

	l->events = arena_calloc(call->op->arena, EVENTS_MAX, sizeof(*l->events));
	status = store_event_page(c, &filter, 0, INT64_MAX, EVENTS_MAX, call->op->arena, l->events, &l->shown);
	l->event_count = (int64_t)l->shown;
	if (status == STORE_OK && l->shown == EVENTS_MAX)
		status = store_event_count(c, call->op->space, l->num, &l->event_count);
	return status;
}

static enum problem_code read_look(struct call *call, struct store_conn *c)
{
	struct looking *l = call->input;
	enum store_status status = call->op->space ? store_handoff_get(c, call->op->space, l->num, call->op->arena, &l->row)
					       : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return problem_set(&call->op->problem, P_HANDOFF_NOT_FOUND, "id", "there is no ho-%llu in this space",
				   (unsigned long long)l->num);
	if (status == STORE_OK)
		status = read_events(call, c, l);
	if (status == STORE_OK) {
		status = result_read(c, call->op->space, l->num, call->op->arena, &l->result);
		l->has_result = status == STORE_OK;
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_look(struct call *call)
{
	struct looking *l = call->input;
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

struct listing {
	struct page page;
	struct handoff_filter filter;
	struct str to;
	bool is_parked;
	struct handoff_row *rows;
	size_t count;
};

/* "state" and "order" are the last of the parameters: a list of one state does not know them. */
static enum problem_code decode_listing(struct call *call, bool of_all_states)
{
	const char *const known[] = {"to", "from", "envelope_id", of_all_states ? "state" : NULL, "order", NULL};
	struct listing *l = arena_zalloc(call->op->arena, sizeof(*l));
	struct str envelope = call_query(call, "envelope_id");
	enum problem_code code = page_read_only(call, known, &l->page);

	call->input = l;
	l->to = call_query(call, "to");
	l->filter.from = call_query(call, "from");
	if (code == P_OK && envelope.p && !envelope_id_parse(envelope, &l->filter.envelope))
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "envelope_id", "envelope_id is not an id of an "
				   "envelope; expected one as in env-17");
	return code;
}

static enum problem_code decode_list(struct call *call)
{
	enum problem_code code = decode_listing(call, true);
	struct listing *l = call->input;
	struct str state = call_query(call, "state"), order = call_query(call, "order");

	if (code == P_OK && order.p && !str_is(order, "newest") && !str_is(order, "oldest"))
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "order", "order is neither newest nor oldest");
	l->filter.newest_first = str_is(order, "newest");
	if (code == P_OK && state.p && (l->filter.states = handoff_state_set(state)) == 0)
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "state", "state is \"%.*s\"; expected queued, "
				   "leased, acked, completed, parked, expired or discarded",
				   (int)(state.n < 64 ? state.n : 64), state.p);
	return code;
}

static enum problem_code decode_parked(struct call *call)
{
	enum problem_code code = decode_listing(call, false);
	struct listing *l = call->input;

	l->is_parked = true;
	l->filter.states = 1u << HANDOFF_PARKED;
	return code;
}

static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct listing *l = call->input;
	size_t max = l->page.size + 1;
	enum store_status status = STORE_OK;

	l->filter.space = call->op->space;
	if (call->op->space && l->to.p)
		status = store_agent_id(c, call->op->space, l->to, false, 0, &l->filter.agent);
	if (call->op->space == 0 || status == STORE_NOT_FOUND)
		return P_OK;
	l->rows = arena_calloc(call->op->arena, max, sizeof(*l->rows));
	if (status == STORE_OK)
		status = store_handoffs(c, &l->filter, l->page.position, max, call->op->arena, l->rows, &l->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
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

static void encode_list(struct call *call)
{
	struct listing *l = call->input;
	size_t shown = l->count < l->page.size ? l->count : l->page.size;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, l->is_parked ? "parked" : "handoffs");
	json_begin_array(&w);
	for (size_t i = 0; i < shown; i++) {
		if (l->is_parked)
			put_parked(&w, &l->rows[i]);
		else
			handoff_json_put(&w, &l->rows[i]);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->count > shown, shown ? l->rows[shown - 1].num : 0, 0);
	call_end_reply(call, &w);
}

const struct route handoff_routes[] = {
	{HTTP_POST, "/v1/handoffs", ROUTE_BODY | ROUTE_CREATES | ROUTE_INDEX,
	 .decode = decode_send, .write = write_send, .encode = encode_send, .prepare = prepare_send},
	{HTTP_GET, "/v1/handoffs", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/parked", 0, .decode = decode_parked, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/handoffs/{}", 0, .decode = decode_look, .read = read_look, .encode = encode_look},
	{0},
};
