/* Handoffs: send, look, list. Receiving and settling are in desc_receive.c and desc_settle.c. */
#include "api/call.h"
#include "api/describe/descriptions.h"
#include "api/describe/query.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/envelope_decode.h"
#include "api/page.h"
#include "api/traceparent.h"
#include "core/delivery/delivery.h"
#include "core/watch/event.h"
#include "engine/delivery/handoff_get.h"
#include "engine/delivery/handoff_list.h"
#include "engine/delivery/send.h"
#include "engine/delivery/settle.h"

enum { SEND_WAIT_MAX_MS = 600000, EVENTS_MAX = 1000 };

/* --- A handoff --- */

static void put_work_lease(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct handoff_row *h = from;

	(void)with;
	json_key_str(w, f->name);
	json_put_bool(w, h->state == HANDOFF_WORKING);
}

/* Where a sender waits, its patience ends first. */
static void put_queue_timeout_at(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct handoff_row *h = from;
	bool is_queued = h->state <= HANDOFF_DELAYED && h->expires_at_ms == 0;
	int64_t until_ms = is_queued ? h->queue_until_ms : 0;

	(void)with;
	field_write(f, &until_ms, w);
}

static const struct field handoff_row_fields[] = {
	FIELD_HANDOFF_ID("id", struct handoff_row, num, "Its id."),
	FIELD_ENVELOPE_ID("envelope_id", struct handoff_row, envelope, "What is handed over."),
	FIELD_ENUM("state", struct handoff_row, state, &words_handoff_state, 0, "How far it is."),
	FIELD_TEXT("from", struct handoff_row, from, 0, 0, "Who sent it.", NULLABLE),
	FIELD_TEXT("to", struct handoff_row, agent_name, 0, 0, "Who has it now."),
	FIELD_TEXT("target", struct handoff_row, target_name, 0, 0,
		   "Whom the sender named; another than to where a fallback has taken over."),
	FIELD_TEXT("channel", struct handoff_row, channel_name, 0, 0, "The channel that it came through.", NULLABLE),
	FIELD_INT("priority", struct handoff_row, priority, 0, DELIVERY_PRIORITY_MAX, "The higher goes first."),
	FIELD_INT("attempt", struct handoff_row, attempt, 0, NO_MAX, "Which attempt with this agent it is."),
	FIELD_INT("leases", struct handoff_row, leases, 0, NO_MAX, "How often somebody has taken it."),
	FIELD_INT("max_attempts", struct handoff_row, max_attempts, 1, NO_MAX, "How many there are with each agent."),
	FIELD_RAW("fallbacks", struct handoff_row, fallbacks, "Who is still to follow.", .raw_unset = "[]",
		  .schema = "'type':'array','items':{'type':'string'}"),
	FIELD_TEXT("receiver", struct handoff_row, receiver, 0, 0, "The instance that has taken it.", NULLABLE),
	FIELD_TEXT("progress", struct handoff_row, progress, 0, 0, "The receiver's last note.", NULLABLE),
	FIELD_TEXT("reason", struct handoff_row, reason, 0, 0, "Why the last attempt failed, or why it is parked.",
		   NULLABLE),
	FIELD_TIME("created_at", struct handoff_row, created_at_ms, "When it was first sent."),
	FIELD_TIME("changed_at", struct handoff_row, changed_at_ms, "When its state last changed."),
	FIELD_TIME("acked_at", struct handoff_row, acked_at_ms, "When it was acked.", NULLABLE),
	FIELD_TIME("due_at", struct handoff_row, due_ms,
		   "When something happens by itself: the next attempt, or the end of a lease or a timeout.", NULLABLE),
	FIELD_TIME("held_until", struct handoff_row, held_until_ms,
		   "It is held behind the open circuit breaker of its agent, at least until then.", NULLABLE),
	FIELD_TIME("not_before", struct handoff_row, not_before_ms, "Nobody gets it before.", NULLABLE),
	FIELD_SECONDS("queue_timeout_s", struct handoff_row, queue_timeout_ms, NO_MIN, NO_MAX,
		      "How long nobody may take it until it is parked."),
	DOC_TIME("queue_timeout_at", "When it is parked, if nobody takes it until then; null where it is not queued.",
		 NULLABLE, .write = put_queue_timeout_at),
	FIELD_BOOL("auto_redriven", struct handoff_row, is_redriven,
		   "An outage of its agent parked it, and it came back by itself when that was over."),
	DOC_BOOL("work_lease", "Acked, and still to be heard of.", .write = put_work_lease),
	FIELDS_END,
};
const struct shape shape_handoff_row = {.fields = handoff_row_fields, .size = sizeof(struct handoff_row)};

static const struct field handoff_fields[] = {
	FIELD_INCLUDE_SAME(struct handoff_row, &shape_handoff_row),
	FIELDS_END,
};
const struct shape shape_handoff = {
	.name = "HandoffStatus", .says = "One delivery of one envelope to one agent.", .fields = handoff_fields,
	.size = sizeof(struct handoff_row), .warns = true,
};

const struct shown handoff_blind[] = {
	{"id", NULL}, {"envelope_id", NULL}, {"state", NULL}, {"created_at", NULL}, {"changed_at", NULL},
	{"acked_at", NULL}, {"due_at", NULL}, {"held_until", NULL}, {"not_before", NULL}, {0},
};

static void put_event_name(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;

	(void)with;
	json_key_str(w, f->name);
	json_put_cstr(w, event_name(event->kind));
}

/* It is told with the envelope. */
static void put_event_attempt(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;

	(void)with;
	if (event->envelope == 0)
		return;
	json_key_str(w, f->name);
	json_put_int(w, event->attempt);
}

static const struct field event_fields[] = {
	FIELD_INT("id", struct event_row, number, 1, NO_MAX,
		  "Grows by one; the position in the history of the space."),
	FIELD_TIME("at", struct event_row, at_ms, "When."),
	DOC_TEXT("event", 0, 0, "What.", .schema = "'type':'string','pattern':'^[a-z]+\\\\.[a-z_]+$'",
		 .write = put_event_name),
	FIELD_HANDOFF_ID("handoff", struct event_row, handoff, "The handoff that it is about.", MAYBE),
	FIELD_ENVELOPE_ID("envelope_id", struct event_row, envelope, "The envelope that it is about.", MAYBE),
	DOC_INT("attempt", 0, NO_MAX, "Which attempt of the handoff it is about.", MAYBE, .write = put_event_attempt),
	FIELD_TEXT("agent", struct event_row, agent, 0, 0, "Whom it concerns.", NULLABLE),
	FIELD_TEXT("actor", struct event_row, actor, 0, 0, "Who did it.", NULLABLE),
	FIELD_KEY_ID("key", struct event_row, access_key,
		     "The key that let them in; absent where the server has none, or did it itself.", MAYBE),
	FIELD_TEXT("note", struct event_row, note, 0, 0, "What there is to say about it.", NULLABLE),
	FIELDS_END,
};
const struct shape shape_event = {.name = "Event", .fields = event_fields, .size = sizeof(struct event_row)};

static void put_result_state(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct result_row *r = from;

	(void)with;
	if (!r->is_forgotten && !r->is_quarantined)
		return;
	json_key_str(w, f->name);
	json_put_cstr(w, f->words->list[r->is_quarantined]);
}

static const struct field result_fields[] = {
	FIELD_RAW("result", struct result_row, result, "What complete was told: any JSON.", MAYBE, .schema = "",
		  .raw_unset = "null"),
	FIELD_MEMORY_ID("result_memory", struct result_row, memory, "The memory whose first version is the result.",
			NULLABLE, MAYBE),
	DOC_ENUM("result_state", &words_result_forgotten, 0,
		 "Where that memory was forgotten or is in quarantine: result is null then.", MAYBE,
		 .write = put_result_state),
	FIELD_RAW("gaps", struct result_row, gaps, "What the receiver found missing.", MAYBE,
		  .schema = "'type':'array'", .raw_unset = "[]"),
	FIELD_INT("input_tokens", struct result_row, input_tokens, 0, NO_MAX, "What the receiver's model counted.",
		  NULLABLE, MAYBE, .unset = -1),
	FIELD_HANDOFF_ID("handed_on", struct result_row, then, "The handoff that was handed on with it, as then.",
			 MAYBE),
	FIELDS_END,
};
const struct shape shape_result = {.fields = result_fields, .size = sizeof(struct result_row)};

static const struct field about_fields[] = {
	FIELD_TEXT("task", struct about, task, 0, 0, "The task that it is part of.", NULLABLE),
	FIELD_TEXT("summary", struct about, summary, 0, 0, "What is to be done: the first 200 characters.", NULLABLE),
	FIELDS_END,
};
const struct shape shape_about = {.fields = about_fields, .size = sizeof(struct about)};

static const struct field lease_fields[] = {
	FIELD_INT("number", struct handoff_row, leases, 1, NO_MAX, "Which one of this handoff it is: the lease."),
	FIELD_TEXT("receiver", struct handoff_row, receiver, 0, 0, "The instance that has it.", NULLABLE),
	FIELD_TIME("since", struct handoff_row, changed_at_ms, "Taken, or acked, when."),
	FIELD_TIME("expires_at", struct handoff_row, due_ms, "When it ends, unless it is renewed.", NULLABLE),
	FIELDS_END,
};
static const struct shape lease = {.fields = lease_fields, .size = sizeof(struct handoff_row)};

static const struct field attempt_fields[] = {
	FIELD_INT("attempt", struct attempt, number, 0, NO_MAX, "Which one with this agent."),
	FIELD_TEXT("agent", struct attempt, agent, 0, 0, "The agent.", NULLABLE),
	FIELD_TEXT("receiver", struct attempt, receiver, 0, 0, "The instance that took it.", NULLABLE),
	FIELD_TIME("taken_at", struct attempt, taken_at_ms, "When; null: nobody took it.", NULLABLE),
	FIELD_TIME("acked_at", struct attempt, acked_at_ms, "When; null: nobody acked it.", NULLABLE),
	FIELD_TIME("ended_at", struct attempt, ended_at_ms, "When it was over; null: it is not, or was only acked.",
		   NULLABLE),
	FIELD_ENUM("outcome", struct attempt, outcome, &words_attempt, 0, "How it ended."),
	FIELD_TEXT("error", struct attempt, error, 0, 0, "Why, in the words of whoever ended it.", NULLABLE),
	FIELDS_END,
};
static const struct shape attempt = {
	.name = "Attempt", .says = "Somebody had it, or could have had it, from then to then.",
	.fields = attempt_fields, .size = sizeof(struct attempt),
};

static const struct field history_fields[] = {
	FIELD_INCLUDE(struct handoff_get, row, &shape_handoff_row),
	FIELD_INCLUDE(struct handoff_get, about, &shape_about),
	FIELD_SHAPE("lease", struct handoff_get, row, &lease, "Who has it now; null: nobody.", NULLABLE,
		    .given = INTO(struct handoff_get, is_held)),
	FIELD_SHAPES("attempts", struct handoff_get, attempts, attempt_count, 0, &attempt,
		     "Told by the events below, the first one first."),
	FIELD_INCLUDE_GIVEN(struct handoff_get, result, has_result, &shape_result),
	FIELD_INT("event_count", struct handoff_get, event_count, 1, NO_MAX, "How many events there are of it."),
	FIELD_SHAPES("events", struct handoff_get, events, shown, EVENTS_MAX, &shape_event,
		     "In order; of more than 1,000 the newest."),
	FIELDS_END,
};
static const struct shape history = {
	.name = "HandoffHistory", .says = "With what happened to it, and what came out of it.",
	.fields = history_fields, .warns = true,
};

/* --- Sending --- */

/* Stands behind envelope_id in the table: one of the two must be there. */
static enum problem_code lacks_envelope(const struct field *f, void *into, struct shape_reader *r)
{
	struct send *s = into;

	(void)f;
	s->op.skips_index = true;
	return s->order.envelope ? P_OK : problem_set(r->problem, P_MISSING_FIELD, "envelope_id", "envelope_id is "
		"missing; POST /v1/envelopes packs an envelope and tells its id, as in env-17; or give the envelope "
		"itself as \"envelope\"");
}

static enum problem_code read_envelope(const struct field *f, const struct json *value, void *into,
				       struct shape_reader *r)
{
	struct send *s = into;
	enum problem_code code;

	(void)f;
	if (s->order.envelope)
		return problem_set(r->problem, P_INVALID_FIELD, "envelope", "envelope and envelope_id cannot both be "
				   "given");
	if (value->type != JSON_OBJECT)
		return problem_set(r->problem, P_INVALID_FIELD, "envelope", "envelope is %s; expected an object, as "
				   "POST /v1/envelopes takes it", json_type_name(value->type));
	s->pack = arena_zalloc(r->arena, sizeof(*s->pack));
	code = envelope_decode(r->ctx, value, s->pack);
	if (code == P_OK && s->pack->dry_run)
		code = problem_set(r->problem, P_INVALID_FIELD, "envelope.dry_run", "a dry run is not sent; ask POST "
				   "/v1/envelopes for it");
	return code;
}

static enum problem_code read_to(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct send *s = into;
	enum problem_code code = field_read(f, value, into, r);

	s->given_to = s->order.to;
	return code;
}

static const struct field deliver_fields[] = {
	FIELD_ENVELOPE_ID("envelope_id", struct send, order.envelope, "An envelope that is stored. This or envelope.",
			  .usually = "this or the next", .docs = "an envelope that is stored"),
	DOC_OBJECT("envelope", "Packed and sent with one call, instead of envelope_id. With keys it needs the scope "
		   "read, too.", .read = read_envelope, NEEDS(SCOPE_READ), .absent = lacks_envelope,
		   .schema = "'anyOf':[{'$ref':'#/components/schemas/Handoff'},"
			     "{'$ref':'#/components/schemas/Envelope1Input'},"
			     "{'$ref':'#/components/schemas/Envelope2Input'}]",
		   .docs = "what `POST /v1/envelopes` takes: it is packed and sent in one transaction. With keys it "
			   "needs the scope `read`, too"),
	FIELD_AGENT("to", struct send, order.to, "Who gets it; the envelope's own receiver where absent.",
		    .read = read_to, .usually = "the envelope's receiver", .docs = "an agent"),
	FIELD_SECONDS("wait_s", struct send, order.wait_ms, 0, SEND_WAIT_MAX_MS,
		      "Wait so long for the ack. A delivery that times out is withdrawn until it is delivered again.",
		      .otherwise = "0", .docs = "how long to wait for the ack, at most 600"),
	FIELD_SECONDS("ack_timeout_s", struct send, order.ack_timeout_ms, 1, DELIVERY_TIMEOUT_MAX_MS,
		      "How long a lease lasts where the receiver does not say. The agent's setting, or 15, where "
		      "absent.",
		      .usually = "the agent's, or 15",
		      .docs = "how long a lease lasts where the receiver does not say; at most 86,400"),
	FIELD_QUEUE_TIMEOUT(struct send, order.queue_timeout_ms, "the agent's, or the server's"),
	FIELD_NOT_BEFORE(struct send, order.not_before_ms),
	FIELD_INT("max_attempts", struct send, order.max_attempts, 1, DELIVERY_ATTEMPTS_MAX,
		  "The agent's setting, or 3, where absent.",
		  .usually = "the agent's, or 3", .docs = "1 to 100, with each agent"),
	FIELD_INT("priority", struct send, order.priority, 0, DELIVERY_PRIORITY_MAX,
		  "Higher ones are handed out first.", .otherwise = "5",
		  .docs = "0 to 9; the higher first, and within a priority the oldest first"),
	FIELD_AGENTS("fallbacks", struct send, order.fallbacks, DELIVERY_FALLBACKS_MAX,
		     "Who gets it when the attempts are used up, in order.", .usually = "the agent's",
		     .docs = "agents that get it when the attempts are used up, in order; at most 16"),
	FIELDS_END,
};
const struct shape shape_deliver = {
	.name = "Deliver", .fields = deliver_fields, .size = sizeof(struct send), .is_input = true,
	.also = "'anyOf':[{'required':['envelope_id']},{'required':['envelope']}]",
};

static void put_parked(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)from;
	(void)with;
	field_write(f, &(int64_t){0}, w);
}

static const struct field notice_fields[] = {
	DOC_ENUM("event", &words_notice, 0, "What has happened.", .write = put_parked),
	FIELD_HANDOFF_ID("handoff", struct handoff_row, num, "To which handoff."),
	FIELD_ENVELOPE_ID("envelope_id", struct handoff_row, envelope, "Of which envelope."),
	FIELD_TEXT("to", struct handoff_row, target_name, 0, 0, "Who had it."),
	FIELD_TEXT("reason", struct handoff_row, reason, 0, 0, "Why.", NULLABLE),
	FIELDS_END,
};
static const struct shape notice = {
	.name = "Notice", .says = "A handoff of the caller's that was parked since its last call.",
	.fields = notice_fields, .size = sizeof(struct handoff_row),
};

static const struct field sent_fields[] = {
	FIELD_INCLUDE(struct send, row, &shape_handoff_row),
	FIELD_TEXT("task", struct send, task, 0, 0, "The task that it is part of."),
	FIELD_SHAPES("notices", struct send, notices.rows, notices.count, 0, &notice,
		     "What the caller was not told yet.", MAYBE, .min = 1),
	FIELDS_END,
};
static const struct shape sent = {.name = "Sent", .fields = sent_fields, .warns = true};

/* Not given: the usual one, or what it has where it was sent before. */
static void no_priority(void *op)
{
	((struct send *)op)->order.priority = -1;
}

/* It was acked, or it is under way. */
static size_t how_sent(const void *op)
{
	return ((const struct send *)op)->row.state >= HANDOFF_WORKING ? 0 : 1;
}

/* Where the envelope was packed with it the client goes on in its trace. */
static void give_sent(struct call *call, const void *from)
{
	const struct send *s = from;

	call->location = arena_printf(call->op->arena, "/v1/handoffs/ho-%llu", (unsigned long long)s->row.num);
	if (s->pack && s->pack->envelope.num == s->row.envelope)
		call->traceparent = traceparent_of(call->api, &s->pack->envelope, 0, 0, call->op->arena);
}

#define SENT .headers = GIVES_LOCATION | GIVES_TRACEPARENT

/* --- Operations --- */

const struct description describe_send = {
	.id = "deliver", .tag = "delivery", .scope = SCOPE_WRITE, .tool = "agent_handoff",
	.summary = "Hand an envelope to an agent, and wait for the ack if asked to",
	.says = "Delivering the same envelope to the same agent again never makes a second handoff: where it was "
		"withdrawn it is the next attempt, while it is under way nothing changes but not_before, after the "
		"ack it returns that ack. Behind an open circuit breaker it is accepted and held (held_until), and "
		"goes on by itself; "
		"only where wait_s is given it is refused with circuit_open. With wait_s, attempts and fallbacks "
		"follow within it where ack_timeout_s or fallbacks are given. With wait_s also: 504 ack_timeout, 409 "
		"handoff_parked, 503 circuit_open, 503 draining; all but circuit_open name the handoff.",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY,
	.body = {&shape_deliver}, .body_into = INTO(struct send, op), .defaults = no_priority, .which = how_sent,
	.gives = give_sent, .blind = handoff_blind,
	ANSWERS(ANSWER(200, "It was acked.", &sent, SENT), ANSWER(202, "It is under way.", &sent, SENT)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_ACK_TIMEOUT, P_HANDOFF_PARKED, P_ALREADY_SENT,
		P_CIRCUIT_OPEN, P_DRAINING,
		P_UNSUPPORTED_VERSION, P_UNKNOWN_TOKENIZER, P_BUDGET_TOO_SMALL, P_CREDENTIALS_FOUND, P_NO_ROUTE,
		P_INTENT_CONFLICT, P_TASK_CONFLICT, P_CONSTRAINT_CONFLICT, P_CONSTRAINT_LOCKED,
		P_PARENT_UNCLEAR, P_LINEAGE_UNVERIFIED, P_HOP_LIMIT, P_LOOP, P_ID_TAKEN),
};

static enum problem_code read_states(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	((struct handoff_list *)into)->filter.states = handoff_state_set(value->s);
	return query_value(f, value->s, into, r);
}

const struct description describe_list_handoffs = {
	.id = "listHandoffs", .tag = "delivery", .scope = SCOPE_READ,
	.summary = "List handoffs",
	.query = INPUT(
		DOC_ENUM("state", &words_handoff_state_asked, 0, "Those in this state.", .read = read_states,
			 .expected = "expected queued, leased, acked, completed, parked, expired or discarded"),
		FIELD_TEXT("to", struct handoff_list, to, 0, 0, "Those that this agent has.", OF_INBOX),
		FIELD_TEXT("from", struct handoff_list, filter.from, 0, 0, "Those that this agent has sent.",
			   OF_ANYBODY),
		FIELD_ENVELOPE_ID("envelope_id", struct handoff_list, filter.envelope, "Those of this envelope.",
				  NOT_AN_ENVELOPE),
		FIELD_ENUM("order", struct handoff_list, filter.newest_first, &words_oldest_newest, 0,
			   "Which comes first.", .otherwise = "'oldest'", .refusal = "is neither newest nor oldest"),
		PAGE_SIZE, PAGE_TOKEN),
	LISTS(struct handoff_list),
	ANSWERS(ANSWER(200, "A page of them.", OUTPUT(
		FIELD_SHAPES("handoffs", struct handoff_list, rows, count, 0, &shape_handoff, "Those that fit."),
		NEXT_PAGE_OF(struct handoff_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_handoff = {
	.id = "readHandoff", .tag = "delivery", .scope = SCOPE_READ,
	.summary = "Read a handoff, with what happened to it and what came out of it",
	.path = {&path_handoff}, .path_into = {INTO(struct handoff_get, num)},
	ANSWERS(ANSWER(200, "The handoff.", &history)),
	REFUSES(P_HANDOFF_NOT_FOUND, P_HANDOFF_PRUNED),
};
