#include "engine/delivery/send.h"

#include "codec/json_member.h"
#include "core/envelope/unpack.h"
#include "core/guard/redact.h"
#include "engine/delivery/unknown_agent.h"
#include "engine/engine.h"
#include "engine/envelope/large_envelope.h"
#include "engine/envelope/over_budget.h"
#include "engine/waiting.h"

enum { GRACE_MS = 5000, FALLBACKS_MAX_BYTES = 65536 };

/* The deadline itself is in the store; the timer is for a server that drains. But what is under way already keeps a
 * later deadline, or has none: there the timer is what ends the wait. */
static void prepare_wait(struct op *op, struct send *s, bool is_under_way)
{
	if (s->order.wait_ms)
		op_may_wait(op, s->order.wait_ms + (is_under_way ? 0 : GRACE_MS));
}

static bool is_under_way(struct op *op, struct store_conn *c, const struct send *s)
{
	struct handoff_row h;
	int64_t target;

	return s->order.wait_ms && store_agent_id(c, op->space, s->order.to, false, 0, &target) == STORE_OK &&
	       store_handoff_find(c, op->space, s->order.envelope, target, op->arena, &h) == STORE_OK &&
	       handoff_is_open(h.state) &&
	       (h.expires_at_ms == 0 || h.expires_at_ms >= op->now_ms + s->order.wait_ms);
}

/* Whoever it may reach: a guarded envelope goes to no name that is a credential. */
static enum problem_code check_names(struct op *op, const struct send *s, const struct envelope *e)
{
	const struct json *names = s->order.fallbacks;
	enum problem_code code = redact_check_sent(e, s->order.to, "to", op->arena, &op->problem);

	for (uint32_t i = 0; code == P_OK && names && i < names->count; i++)
		if (names->items[i].type == JSON_STRING)
			code = redact_check_sent(e, names->items[i].s, "fallbacks", op->arena, &op->problem);
	return code;
}

static enum problem_code prepare_pack(struct op *op, struct store_conn *c, struct send *s)
{
	enum problem_code code = pack_prepare(op, c, s->pack);

	if (code != P_OK)
		return code;
	s->order.envelope = s->pack->envelope.num;
	s->task = s->pack->envelope.task;
	s->order.is_new = true;
	s->order.from = s->pack->draft.from;
	s->order.to = s->order.to.p ? s->order.to : s->pack->draft.to;
	s->packed_order = s->order;
	over_budget_warn(op, c, &s->pack->envelope, "to", &s->order.to, 1);
	unknown_agent_warn(op, c, "to", s->order.to);
	prepare_wait(op, s, false);
	s->warnings = op->warning_count;
	return check_names(op, s, &s->pack->envelope);
}

enum problem_code send_find_envelope(struct op *op, struct store_conn *c, struct delivery_order *order,
				     struct envelope *ret)
{
	struct envelope_row row;
	enum problem_code code = envelope_find(op, c, order->envelope, "envelope_id", &row);

	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, ret, &op->problem);
	if (code != P_OK)
		return code;
	order->to = order->to.p ? order->to : ret->to;
	order->from = op->agent.p ? op->agent : ret->from;
	return P_OK;
}

/* A request with the same key has packed the envelope already, and went away before it was answered, or still waits:
 * this is the same handoff. */
static enum problem_code go_on(struct op *op, struct store_conn *c, struct send *s)
{
	struct envelope e;
	enum problem_code code;

	envelope_id_parse(op->claim, &s->order.envelope);
	s->order.is_new = false;
	s->order.to = s->given_to;
	code = send_find_envelope(op, c, &s->order, &e);
	if (code == P_OK)
		s->task = e.task;
	return code;
}

/* Whom an envelope is for is read, too. */
static void warn_of_receiver(struct op *op, struct store_conn *c, const struct send *s, const struct envelope *e)
{
	if (s->given_to.p == NULL && !access_has(op->access, ACCESS_READ))
		return;
	over_budget_warn(op, c, e, "to", &s->order.to, 1);
	unknown_agent_warn(op, c, "to", s->order.to);
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct send *s = (struct send *)op;
	struct envelope e;
	enum problem_code code;

	if (op->claim.p) {
		code = go_on(op, c, s);
	} else if (s->pack) {
		return prepare_pack(op, c, s);
	} else {
		code = send_find_envelope(op, c, &s->order, &e);
		if (code == P_OK) {
			s->task = e.task;
			warn_of_receiver(op, c, s, &e);
			code = check_names(op, s, &e);
		}
	}
	if (code == P_OK)
		prepare_wait(op, s, is_under_way(op, c, s));
	s->warnings = op->warning_count;
	return code;
}

/* What a sender that waits is told, or that it must go on waiting. */
static enum problem_code tell_sender(struct op *op, const struct handoff_row *h)
{
	struct problem *p = &op->problem;
	int reason = h->reason.p ? (int)(h->reason.n < 300 ? h->reason.n : 300) : 0;

	switch (h->state) {
	case HANDOFF_QUEUED:
	case HANDOFF_DELAYED:
	case HANDOFF_LEASED:
		if (!op->wait.is_over) {
			waiting_for(op, WAIT_HANDOFF, waiting_id(h->space, h->num));
			return P_OK;
		}
		if (atomic_load(&op->engine->draining))
			problem_set(p, P_DRAINING, NULL, "the server is stopping; the handoff is kept: deliver it "
				    "again after the restart and it goes on");
		else if (op->wait.is_cut)
			problem_set(p, P_DRAINING, NULL, "the server that was asked is stopping; the handoff is kept: "
				    "deliver it again through another one, with the same Idempotency-Key, and it goes "
				    "on");
		else
			problem_set(p, P_ACK_TIMEOUT, NULL, "%.*s did not ack in time; the handoff goes on, because it "
				    "was under way before, sent by somebody who waits longer or not at all",
				    STR_ARG(h->agent_name));
		break;
	case HANDOFF_EXPIRED:
		problem_set(p, P_ACK_TIMEOUT, NULL, "%.*s did not ack in time%s%.*s%s; deliver again for the next "
			    "attempt, or park the envelope", STR_ARG(h->agent_name), reason ? " (" : "", reason,
			    h->reason.p, reason ? ")" : "");
		break;
	case HANDOFF_PARKED:
	case HANDOFF_DISCARDED:
		problem_set(p, P_HANDOFF_PARKED, NULL, "ho-%llu was %s%s%.*s", (unsigned long long)h->num,
			    handoff_state_name(h->state), reason ? ": " : "", reason, h->reason.p);
		p->remedies = delivery_remedies(h->state);
		break;
	default:
		return P_OK;
	}
	p->handoff = h->num;
	return p->code;
}

static void warn_kept(struct op *op, const struct handoff_row *h, const char *field)
{
	op_warn(op, "order_kept", str_of(field),
		arena_printf(op->arena, "ho-%llu was sent before and is %s: it keeps its %s",
			     (unsigned long long)h->num, handoff_state_name(h->state), field));
}

/* What was sent before is under way as it was ordered then; who orders something else now must hear that. */
static void warn_of_order(struct op *op, const struct delivery_order *o, const struct handoff_row *h, bool is_anothers)
{
	struct str fallbacks = o->fallbacks && o->fallbacks->count
				       ? json_canonical(o->fallbacks, FALLBACKS_MAX_BYTES, op->arena) : STR_NULL;
	/* Those that had their turn are not among its own any more. */
	bool is_tried = h->agent != h->target || h->attempt > 1;

	/* After the ack none of it means anything. */
	if (!handoff_is_open(h->state))
		return;
	if (o->ack_timeout_ms && o->ack_timeout_ms != h->ack_timeout_ms)
		warn_kept(op, h, "ack_timeout_s");
	if (o->queue_timeout_ms && o->queue_timeout_ms != h->queue_timeout_ms)
		warn_kept(op, h, "queue_timeout_s");
	if (o->max_attempts && o->max_attempts != h->max_attempts)
		warn_kept(op, h, "max_attempts");
	if (o->priority >= 0 && o->priority != h->priority)
		warn_kept(op, h, "priority");
	/* The sender's own is put off, or let go. */
	if (is_anothers && (o->not_before_ms > op->now_ms ? o->not_before_ms != h->not_before_ms
							  : o->not_before_ms && h->not_before_ms > op->now_ms))
		warn_kept(op, h, "not_before");
	if (o->fallbacks && !is_tried && !str_eq(fallbacks.p ? fallbacks : STR(""),
						 h->fallbacks.p ? h->fallbacks : STR("")))
		warn_kept(op, h, "fallbacks");
}

/* The envelope and its handoff, or neither: what may be refused is asked before anything is written. (A savepoint
 * would do, too, and would copy every page that is touched.) */
static enum problem_code send_packed(struct op *op, struct store_conn *c, struct send *s)
{
	struct delivery d = waiting_delivery(op, c);
	struct delivery_plan plan;
	enum problem_code code;

	if (s->pack->refusal.code != P_OK)
		return pack_write(op, c, s->pack);
	code = delivery_plan(&d, &s->order, &plan, &op->problem);
	if (code == P_OK)
		code = pack_write(op, c, s->pack);
	op->shown_count = 0;	/* the answer has the envelope's id, and no text of it */
	return code == P_OK ? delivery_carry_out(&d, &plan, &s->row, &op->problem) : code;
}

static enum problem_code send_first(struct op *op, struct store_conn *c, struct send *s)
{
	struct delivery d = waiting_delivery(op, c);
	enum problem_code code = P_OK;

	/* Where the two came at the same time. A claim that is gone again was never committed. */
	if (op->claim.p)
		code = go_on(op, c, s);
	else if (s->pack && s->packed_order.is_new)
		s->order = s->packed_order;
	if (code == P_OK)
		code = s->pack && op->claim.p == NULL ? send_packed(op, c, s)
							: delivery_send(&d, &s->order, &s->row, &op->problem);
	op->warning_count = s->warnings;
	if (code == P_OK)
		warn_of_order(op, &s->order, &s->row, delivery_is_anothers(&d, &s->row));
	if (code == P_OK && s->order.wait_ms && op->claim.p == NULL)
		code = op_claim(op, c, arena_printf(op->arena, "env-%llu", (unsigned long long)s->row.envelope));
	return code;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct send *s = (struct send *)op;
	struct delivery d = waiting_delivery(op, c);
	enum problem_code code = op->wait.is_again ? P_OK : send_first(op, c, s);

	if (code == P_OK && op->wait.is_again) {
		enum store_status status = store_handoff_get(c, op->space, s->row.num, op->arena, &s->row);

		code = status == STORE_OK ? P_OK : problem_of_store(&op->problem, status);
		delivery_withhold(&d, &s->row);
	}
	if (code == P_OK && s->order.wait_ms)
		code = tell_sender(op, &s->row);
	if (code == P_OK && !op->wait.is_waiting)
		code = notices_take(op, c, &s->notices);
	return code;
}

/* It was sent to that agent before; or it goes on with what its key stands for. */
static bool adds_nothing(struct op *op, struct store_conn *c)
{
	const struct send *s = (const struct send *)op;
	struct problem problem = {0};
	struct str to = s->order.to;
	struct envelope_row row;
	struct handoff_row h;
	struct envelope e;
	int64_t target;

	if (op->claim.p)
		return true;
	if (s->pack || store_envelope_get(c, op->space, s->order.envelope, op->arena, &row) != STORE_OK)
		return false;
	if (to.p == NULL && unpack_skeleton(&row, op->arena, &e, &problem) == P_OK)
		to = e.to;
	return to.p && store_agent_id(c, op->space, to, false, 0, &target) == STORE_OK &&
	       store_handoff_find(c, op->space, s->order.envelope, target, op->arena, &h) == STORE_OK;
}

const struct op_kind send_kind = {
	.name = "send", .size = sizeof(struct send),
	.flags = OP_CREATES | OP_INDEX | OP_ADDS_BYTES | OP_ADDS_HANDOFFS | OP_ADDS_AGENTS,
	.prepare = prepare, .run = run, .adds_nothing = adds_nothing,
};
