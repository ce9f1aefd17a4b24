/* What a receiver answers: ack, nack, reject, progress, complete, need. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/describe/read.h"
#include "codec/json_member.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"
#include "engine/delivery/need.h"

enum { NOTE_MAX = 4096, GAPS_BYTES_MAX = 256 * 1024, GAPS_MAX = 1000, NEED_MAX = 1000 };

/* The token names the handoff, too, and that must be the one of the address. */
static enum problem_code read_lease(const struct field *f, const struct json *value, void *into,
				    struct shape_reader *r)
{
	struct settle *s = into;
	uint64_t num = 0;
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && (!handoff_lease_parse(value->s, &num, &s->answer.lease) || num != s->num))
		code = problem_set(r->problem, P_INVALID_FIELD, "lease", "lease is not one of this handoff; expected "
				   "what receive gave, as in ho-%llu.1", (unsigned long long)s->num);
	return code;
}

/* Kept as it is stored. */
static enum problem_code read_gaps(const struct field *f, const struct json *value, void *into,
				   struct shape_reader *r)
{
	struct delivery_answer *a = &((struct settle *)into)->answer;
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
	((struct settle *)into)->answer.has_result = true;
	return field_read(f, value, into, r);
}

/* The same, and it is to be remembered. */
static enum problem_code read_result(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	struct settle *s = into;

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
		((struct settle *)into)->result = NULL;
	return code;
}

#define LEASE \
	DOC_TEXT("lease", 1, HANDOFF_ID_SIZE, "What came with the handoff.", .component = "Lease", .read = read_lease, \
		 .required = "it came with the handoff, as in ho-12.1", \
		 .docs = "what came with the handoff, as in `ho-12.1`")
#define WORK_LEASE \
	FIELD_SECONDS("work_lease_s", struct settle, answer.work_lease_ms, 1, DELIVERY_TIMEOUT_MAX_MS, \
		    "Acked, but to be heard of again by then, or the work comes back.", \
		    .docs = "acked, but to be heard of again within that time, or the work comes back")
#define GAPS \
	DOC_ARRAY("gaps", GAPS_MAX, "What the receiver found missing.", .usually = "`[]`", .read = read_gaps, \
		  .docs = "what the receiver found missing; at most 1,000"), \
	FIELD_INT("input_tokens", struct settle, answer.result.input_tokens, 0, INT32_MAX, "What its model counted.", \
		  .read = read_input_tokens, .docs = "what the receiver's model counted")
#define REASON(sentence) FIELD_TEXT("reason", struct settle, answer.text, 0, NOTE_MAX, sentence)

static void settle_as(struct settle *s, enum handoff_verb verb)
{
	s->answer = (struct delivery_answer){.verb = verb, .delay_ms = -1, .result = {.input_tokens = -1}};
}

static void as_ack(void *op)
{
	settle_as(op, VERB_ACK);
}

static void as_nack(void *op)
{
	settle_as(op, VERB_NACK);
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

#define SETTLES_ALL .path_into = {INTO(struct settle, num)}, .body_into = INTO(struct settle, op), \
	.from = FROM(struct settle, row)
#define SETTLED ANSWERS(ANSWER(200, "The handoff.", &shape_handoff))
#define SETTLES REFUSES(P_HANDOFF_NOT_FOUND, P_HANDOFF_PRUNED, P_STALE_LEASE, P_ALREADY_SETTLED)

const struct description describe_ack = {
	.id = "ack", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Accept it",
	.says = "The same ack again is answered as before.",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, WORK_LEASE, GAPS)},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_ack,
};

const struct description describe_nack = {
	.id = "nack", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "Give it back: the attempt has failed",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, REASON("Why not now."),
		       FIELD_SECONDS("delay_s", struct settle, answer.delay_ms, 0, DELIVERY_TIMEOUT_MAX_MS,
				   "Until the next attempt; a backoff where absent.", .usually = "a backoff",
				   .docs = "until the next attempt"))},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_nack,
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
	.body = {INPUT(LEASE, FIELD_TEXT("note", struct settle, answer.text, 0, NOTE_MAX, "How far it is."),
		       WORK_LEASE)},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_progress,
};

const struct description describe_complete = {
	.id = "complete", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_settle",
	.summary = "End it with a result",
	.says = "Also without an ack before, to whose gaps its own are added. The same again is answered as before; "
		"with another result it is 409 already_settled.",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff},
	.body = {INPUT(LEASE, GAPS,
		       FIELD_ANY("result", struct settle, result,
				 "Any JSON, at most 1 MiB. It becomes a memory of the task (kind output), unless it "
				 "says nothing, or no memory may hold it: one that is too large, or text with a NUL "
				 "character.", .schema = "", .read = read_result,
			       .docs = "any JSON, at most 1 MiB. It becomes a memory: see [Results](#results)"),
		       DOC_BOOL("remember", "false: it becomes no memory.", .otherwise = "true", .read = read_remember,
				.docs = "`false`: the result becomes no memory"))},
	SETTLED, SETTLES, SETTLES_ALL, .defaults = as_complete,
};

const struct description describe_need = {
	.id = "need", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_need",
	.summary = "Ask for memories that the envelope does not show",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_handoff}, .path_into = {INTO(struct need, settle.num)},
	.body_into = INTO(struct need, settle), .defaults = as_progress,
	.body = {INPUT(LEASE, FIELD_MEMORY_IDS("refs", struct need, ids, count, NEED_MAX, "The memories.",
					       .required = "it is a list of ids of memories, as in [\"ms-4821\"]",
					       .docs = "ids of memories, at most 1,000"))},
	ANSWERS(ANSWER(200, "The handoff.", OUTPUT(
		FIELD_INCLUDE(struct need, lookup, &shape_found),
		FIELD_SHAPE("handoff", struct need, settle.row, &shape_handoff,
			    "The handoff, with its lease renewed.")))),
	SETTLES,
};
