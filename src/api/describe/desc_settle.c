/* What a receiver answers: ack, nack, release, reject, progress, complete, need. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/describe/read.h"
#include "api/describe/write.h"
#include "api/call.h"
#include "api/http/reply.h"
#include "codec/json_member.h"
#include "codec/sha256.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"
#include "engine/delivery/need.h"
#include "engine/delivery/receive.h"
#include "engine/delivery/send.h"

enum { NOTE_MAX = 4096, GAPS_BYTES_MAX = 256 * 1024, GAPS_MAX = 1000, NEED_MAX = 1000, PROBLEM_MAX = 65536 };

/* The token names the handoff, too, and that must be the one of the address. */
static enum problem_code read_lease(const struct field *f, const struct json *value, void *into,
				    struct shape_reader *r)
{
	struct settling *s = into;
	uint64_t num = 0;
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && (!handoff_lease_parse(value->s, &num, &s->answer.lease) || num != s->num))
		code = problem_set(r->problem, P_INVALID_FIELD, "lease", "lease is not one of this handoff; expected "
				   "what receive gave, as in ho-%llu.1", (unsigned long long)s->num);
	return code;
}

static enum problem_code read_need_lease(const struct field *f, const struct json *value, void *into,
					 struct shape_reader *r)
{
	return read_lease(f, value, &((struct need *)into)->settle.one, r);
}

/* Kept as it is stored. */
static enum problem_code read_gaps(const struct field *f, const struct json *value, void *into,
				   struct shape_reader *r)
{
	struct delivery_answer *a = &((struct settling *)into)->answer;
	enum problem_code code = field_read(f, value, into, r);

	if (code != P_OK)
		return code;
	a->has_result = true;
	a->result.gaps = json_canonical(value, GAPS_BYTES_MAX, r->arena);
	return a->result.gaps.p ? P_OK : problem_set(r->problem, P_TOO_LARGE, "gaps", "the gaps are larger than %d "
						     "bytes", GAPS_BYTES_MAX);
}

static enum problem_code read_input_tokens(const struct field *f, const struct json *value, void *into,
					   struct shape_reader *r)
{
	((struct settling *)into)->answer.has_result = true;
	return field_read(f, value, into, r);
}

/* The same, and it is to be remembered. */
static enum problem_code read_result(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	struct settling *s = into;

	s->answer.has_result = true;
	s->answer.result.result = json_canonical(value, RESULT_MAX_BYTES, r->arena);
	if (s->answer.result.result.p == NULL)
		return problem_set(r->problem, P_TOO_LARGE, "result", "the result is larger than %d bytes; keep it "
				   "elsewhere, or store it as memories, and say where it is", RESULT_MAX_BYTES);
	return field_read(f, value, into, r);
}

/* Stands behind the result in the table. */
static enum problem_code read_remember(const struct field *f, const struct json *value, void *into,
				       struct shape_reader *r)
{
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && !value->boolean)
		((struct settling *)into)->result = NULL;
	return code;
}

#define LEASE LEASE_READ_BY(read_lease)
#define LEASE_READ_BY(fn) \
	DOC_TEXT("lease", 1, HANDOFF_ID_SIZE, "What came with the handoff.", .component = "Lease", .read = (fn), \
		 .required = "it came with the handoff, as in ho-12.1", \
		 .docs = "what came with the handoff, as in `ho-12.1`")
#define WORK_LEASE \
	FIELD_SECONDS("work_lease_s", struct settling, answer.work_lease_ms, 1, DELIVERY_TIMEOUT_MAX_MS, \
		    "Acked, but to be heard of again by then, or the work comes back.", \
		    .docs = "acked, but to be heard of again within that time, or the work comes back")
#define GAPS \
	DOC_ARRAY("gaps", GAPS_MAX, "What the receiver found missing.", .usually = "`[]`", .read = read_gaps, \
		  .docs = "what the receiver found missing; at most 1,000"), \
	FIELD_INT("input_tokens", struct settling, answer.result.input_tokens, 0, INT32_MAX, \
		  "What its model counted.", .read = read_input_tokens, .docs = "what the receiver's model counted")
#define RESULT \
	FIELD_ANY("result", struct settling, result, \
		  "Any JSON, at most 1 MiB. It becomes a memory of the task (kind output), unless it says nothing, " \
		  "or no memory may hold it: one that is too large, or text with a NUL character.", .schema = "", \
		  .read = read_result, \
		  .docs = "any JSON, at most 1 MiB. It becomes a memory: see [Results](#results)")
#define REMEMBER \
	DOC_BOOL("remember", "false: it becomes no memory.", .otherwise = "true", .read = read_remember, \
		 .docs = "`false`: the result becomes no memory")
#define DELAY \
	FIELD_SECONDS("delay_s", struct settling, answer.delay_ms, 0, DELIVERY_TIMEOUT_MAX_MS, \
		      "Until the next attempt; a backoff where absent.", .usually = "a backoff", \
		      .docs = "until the next attempt")
#define AFTER \
	FIELD_SECONDS("delay_s", struct settling, answer.delay_ms, 0, DELIVERY_TIMEOUT_MAX_MS, \
		      "Until somebody may take it again.", .usually = "`0`", .docs = "until somebody may take it again")
#define NOTE FIELD_TEXT("note", struct settling, answer.text, 0, NOTE_MAX, "How far it is.")
#define REASON(sentence) FIELD_TEXT("reason", struct settling, answer.text, 0, NOTE_MAX, sentence)

/* --- Handing on --- */

/* What POST /v1/handoffs takes, but nobody waits: the answer is that of the settling. */
static enum problem_code read_then(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct settling *s = into;
	struct send *order = arena_zalloc(r->arena, sizeof(*order));
	struct buf asked;
	struct json_writer w;
	enum problem_code code;

	if (value->type != JSON_OBJECT)
		return problem_set(r->problem, P_INVALID_FIELD, "then", "then is %s; expected an object, as POST "
				   "/v1/handoffs takes it", json_type_name(value->type));
	order->order.priority = -1;
	code = shape_read(&shape_deliver, value, "then.", order, r);
	if (code == P_OK && json_get(value, "wait_s"))
		code = problem_set(r->problem, P_INVALID_FIELD, "wait_s", "nobody waits for the ack of what is handed "
				   "on with a settling; leave wait_s out, or send it with POST /v1/handoffs");
	if (code != P_OK) {
		problem_within(r->problem, f->name.p);
		return code;
	}
	s->then = arena_zalloc(r->arena, sizeof(*s->then));
	s->then->order = order->order;
	s->then->pack = order->pack;
	if (order->pack)
		((struct call *)r->ctx)->op->skips_index = false;
	buf_init(&asked, SIZE_MAX);
	json_writer_init(&w, &asked);
	json_put_canonical(&w, value);
	sha256(buf_str(&asked), s->then->digest);
	buf_release(&asked);
	return P_OK;
}

#define THEN \
	DOC_OBJECT("then", "Handed on in the same transaction: what POST /v1/handoffs takes, but for wait_s. " \
		   "The parent of an envelope that is packed is that of this handoff, unless another is named, or " \
		   "new_root is true. " \
		   "Where it is refused nothing is settled. With keys it needs the scope write, too.", \
		   .read = read_then, NEEDS(SCOPE_WRITE), \
		   .schema = "'$ref':'#/components/schemas/Deliver'", \
		   .docs = "handed on in the same transaction: see [One step, one call](#one-step-one-call). With " \
			   "keys it needs the scope `write`, too")

/* --- The calls --- */

static void begin_settling(struct settling *s, enum handoff_verb verb)
{
	s->answer = (struct delivery_answer){.verb = verb, .delay_ms = -1, .result = {.input_tokens = -1}};
}

/* Only what is packed needs the index; read_then sees to it. */
static void settle_as(void *op, enum handoff_verb verb)
{
	struct settle *s = op;

	s->op.skips_index = true;
	begin_settling(&s->one, verb);
}

static void as_ack(void *op)
{
	settle_as(op, VERB_ACK);
}

static void as_nack(void *op)
{
	settle_as(op, VERB_NACK);
}

static void as_release(void *op)
{
	settle_as(op, VERB_RELEASE);
}

static void as_reject(void *op)
{
	settle_as(op, VERB_REJECT);
}

static void as_progress(void *op)
{
	settle_as(op, VERB_PROGRESS);
}

static void as_complete(void *op)
{
	settle_as(op, VERB_COMPLETE);
}

static void put_result_memory(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct settling *s = from;

	(void)with;
	if (s->row.state == HANDOFF_COMPLETED)
		field_write(f, &s->result_memory, w);
}

static void put_then(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct settling *s = from;
	const struct call *call = with;
	const void *only = w->only;

	if (s->next.num == 0)
		return;
	json_key_str(w, f->name);
	if (!access_has(call->op->access, ACCESS_READ))
		w->only = handoff_blind;
	shape_write_with(&shape_handoff_row, &s->next, with, w);
	w->only = only;
}

static const struct field settled_fields[] = {
	FIELD_INCLUDE(struct settling, row, &shape_handoff_row),
	DOC_MEMORY_ID("result_memory", "Where it is completed: the memory that its result is.", NULLABLE, MAYBE,
		      .write = put_result_memory),
	DOC_OBJECT("then", "The handoff that was handed on with it.", MAYBE, .write = put_then,
		   .schema = "'$ref':'#/components/schemas/HandoffStatus'"),
	FIELDS_END,
};
const struct shape shape_settled = {
	.name = "Settled", .says = "A handoff that was settled.", .fields = settled_fields,
	.size = sizeof(struct settling), .warns = true,
};

#define SETTLES_ALL .path_into = {INTO(struct settle, one.num)}, .body_into = INTO(struct settle, one), \
	.from = FROM(struct settle, one)
#define SETTLED ANSWERS(ANSWER(200, "The handoff.", &shape_settled))
#define SETTLES \
	REFUSES(P_HANDOFF_NOT_FOUND, P_HANDOFF_PRUNED, P_STALE_LEASE, P_ALREADY_SETTLED, P_CREDENTIALS_FOUND)
#define SETTLES_AND_SENDS \
	REFUSES(P_HANDOFF_NOT_FOUND, P_HANDOFF_PRUNED, P_STALE_LEASE, P_ALREADY_SETTLED, P_ENVELOPE_NOT_FOUND, \
		P_ENVELOPE_PRUNED, P_HANDOFF_PARKED, P_ALREADY_SENT, \
		P_UNSUPPORTED_VERSION, P_UNKNOWN_TOKENIZER, P_BUDGET_TOO_SMALL, P_CREDENTIALS_FOUND, P_NO_ROUTE, \
		P_INTENT_CONFLICT, P_TASK_CONFLICT, P_CONSTRAINT_CONFLICT, P_CONSTRAINT_LOCKED, P_PARENT_UNCLEAR, \
		P_LINEAGE_UNVERIFIED, P_HOP_LIMIT, P_LOOP, P_ID_TAKEN)

const struct description describe_ack = {
	.id = "ack", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Accept it",
	.says = "The same ack again is answered as before.",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, WORK_LEASE, GAPS, THEN)},
	SETTLED, SETTLES_AND_SENDS, SETTLES_ALL, .defaults = as_ack,
};

const struct description describe_nack = {
	.id = "nack", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Give it back: the attempt has failed",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, REASON("Why not now."), DELAY)},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_nack,
};

const struct description describe_release = {
	.id = "release", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Give it back unfinished: no attempt is used",
	.says = "For a receiver that is stopped: the handoff goes back to its place in the queue, and neither failure "
		"figures nor breaker count it. What was taken 100 times or more uses an attempt, as with nack.",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, REASON("Why it is given back."), AFTER)},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_release,
};

const struct description describe_reject = {
	.id = "reject", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Refuse it for good: a fallback gets it, or it is parked",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, REASON("Why not by this agent."))},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_reject,
};

const struct description describe_progress = {
	.id = "progress", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Renew the lease, or the work lease",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, NOTE, WORK_LEASE)},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_progress,
};

const struct description describe_complete = {
	.id = "complete", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "End it with a result",
	.says = "Also without an ack before, to whose gaps its own are added. The same again is answered as before; "
		"with another result it is 409 already_settled.",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, GAPS, RESULT, REMEMBER, THEN)},
	SETTLED, SETTLES_AND_SENDS, SETTLES_ALL, .defaults = as_complete,
};

/* --- Several, with a receive --- */

#define VERB_LIST "ack, nack, release, reject, progress or complete"
#define ITEM_OF(...) \
	{.is_input = true, .noun = "what is settled", .size = sizeof(struct settling), FIELDS( \
		FIELD_HANDOFF_ID("id", struct settling, num, "Which handoff.", \
				 .required = "it is the handoff that is settled, as in ho-12"), \
		DOC_TEXT("verb", 1, 16, "What to do.", .required = "it is " VERB_LIST), \
		LEASE, __VA_ARGS__)}

/* As the calls of these names take them. */
static const struct {
	const char *name;
	enum handoff_verb verb;
	struct shape shape;
} verbs[] = {
	{"ack", VERB_ACK, ITEM_OF(WORK_LEASE, GAPS, THEN)},
	{"nack", VERB_NACK, ITEM_OF(REASON("Why not now."), DELAY)},
	{"release", VERB_RELEASE, ITEM_OF(REASON("Why it is given back."), AFTER)},
	{"reject", VERB_REJECT, ITEM_OF(REASON("Why not by this agent."))},
	{"progress", VERB_PROGRESS, ITEM_OF(NOTE, WORK_LEASE)},
	{"complete", VERB_COMPLETE, ITEM_OF(GAPS, RESULT, REMEMBER, THEN)},
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static enum problem_code read_item(const struct json *item, const char *prefix, struct settling *ret,
				   struct shape_reader *r)
{
	const struct json *verb = json_get(item, "verb");
	size_t i = 0;

	if (item->type != JSON_OBJECT)
		return problem_set(r->problem, P_INVALID_FIELD, NULL, "an item is %s; expected an object",
				   json_type_name(item->type));
	while (i < VERBS && verb && verb->type == JSON_STRING && !str_is(verb->s, verbs[i].name))
		i++;
	if (i == VERBS || (verb && verb->type != JSON_STRING))
		return problem_set(r->problem, P_INVALID_FIELD, "verb", "verb is not known; expected " VERB_LIST);
	begin_settling(ret, verbs[i].verb);
	return shape_read(&verbs[i].shape, item, prefix, ret, r);
}

enum problem_code settles_read(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct receive *taking = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code != P_OK)
		return code;
	taking->settles = arena_calloc(r->arena, value->count, sizeof(*taking->settles));
	taking->settle_count = value->count;
	for (uint32_t i = 0; code == P_OK && i < value->count; i++) {
		code = read_item(&value->items[i], arena_printf(r->arena, "%s[%u].", f->name.p, i).p,
				 &taking->settles[i], r);
		if (code != P_OK)
			problem_prefix(r->problem, f->name.p, i);
	}
	return code;
}

static void put_verb(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct settling *s = from;
	size_t i = 0;

	(void)with;
	while (verbs[i].verb != s->answer.verb)
		i++;
	json_key_str(w, f->name);
	json_put_cstr(w, verbs[i].name);
}

static void put_settled(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct settling *s = from;

	if (s->problem.code != P_OK)
		return;
	json_key_str(w, f->name);
	shape_write_with(&shape_settled, s, with, w);
}

static void put_problem(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct settling *s = from;
	struct buf body;

	(void)with;
	if (s->problem.code == P_OK)
		return;
	buf_init(&body, PROBLEM_MAX);
	reply_problem_body(&s->problem, &body);
	json_key_str(w, f->name);
	json_put_raw(w, buf_str(&body));
	buf_release(&body);
}

static const struct field outcome_fields[] = {
	FIELD_HANDOFF_ID("id", struct settling, num, "Which handoff."),
	DOC_TEXT("verb", 0, 0, "What was asked.", .write = put_verb),
	DOC_OBJECT("handoff", "The handoff, where it was carried out.", MAYBE, .write = put_settled,
		   .schema = "'$ref':'#/components/schemas/Settled'"),
	DOC_OBJECT("problem", "Why it was refused; nothing was changed by it then.", MAYBE, .write = put_problem,
		   .schema = "'$ref':'#/components/schemas/Problem'"),
	FIELDS_END,
};
const struct shape shape_outcome = {
	.name = "SettleOutcome", .says = "What came of one settling.", .fields = outcome_fields,
	.size = sizeof(struct settling),
};

const struct description describe_need = {
	.id = "need", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_need",
	.summary = "Ask for memories that the envelope does not show",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff}, .path_into = {INTO(struct need, settle.one.num)},
	.body_into = INTO(struct need, settle), .defaults = as_progress,
	.body = {INPUT(LEASE_READ_BY(read_need_lease),
		       FIELD_MEMORY_IDS("refs", struct need, ids, count, NEED_MAX, "The memories.",
					.required = "it is a list of ids of memories, as in [\"ms-4821\"]",
					.docs = "ids of memories, at most 1,000"))},
	ANSWERS(ANSWER(200, "The handoff.", OUTPUT(
		FIELD_INCLUDE(struct need, lookup, &shape_found),
		FIELD_SHAPE("handoff", struct need, settle.one.row, &shape_handoff,
			    "The handoff, with its lease renewed.")))),
	SETTLES,
};
