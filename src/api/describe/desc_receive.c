/* Receivers: they take what is queued for their agent, or wait for it. */
#include "api/describe/descriptions.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/taken_json.h"
#include "core/delivery/delivery.h"
#include "core/delivery/handoff_id.h"
#include "engine/delivery/peek.h"
#include "engine/delivery/receive.h"

enum { INSTANCE_MAX = 128, RECEIVE_WAIT_MAX_MS = 60000, RECEIVE_MAX = 100, SETTLES_MAX = 100 };

#define NEWS "'$ref':'/v1/schemas/envelope-2.json#/$defs/news'"

static void put_lease(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct handoff_row *h = from;
	char lease[HANDOFF_ID_SIZE];

	(void)with;
	json_key_str(w, f->name);
	json_put_str(w, (struct str){lease, handoff_lease_format(h->num, h->leases, lease)});
}

static void put_redelivered(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	json_key_str(w, f->name);
	json_put_bool(w, ((const struct handoff_row *)from)->leases > 1);
}

/* What comes with it is written with the envelope. */
static const struct field taken_fields[] = {
	FIELD_INCLUDE_SAME(struct handoff_row, &shape_handoff_row),
	DOC_TEXT("lease", 0, 0, "What settles it.", .component = "Lease", .write = put_lease),
	FIELD_TIME("lease_expires_at", struct handoff_row, due_ms, "When somebody else may get it."),
	DOC_BOOL("redelivered", "Somebody has had it before.", .write = put_redelivered),
	DOC_OBJECT("envelope", "In the newest version that the agent accepts.", MAYBE, .write = taken_write_envelope,
		   .schema = "'anyOf':[{'$ref':'/v1/schemas/envelope-2.json'},"
			     "{'$ref':'/v1/schemas/envelope-1.json'},{'type':'null'}]"),
	DOC_ARRAY("since", 0, "What has happened since the envelope was packed: to its memories, and what the handoffs "
		  "before it have brought.", MAYBE, .min = 1, .items = NEWS),
	DOC_TEXT("prompt", 0, 0, "The text that a model reads. It ends with the results among since, in full as far as "
		 "max_tokens allows.", MAYBE),
	DOC_TEXTS("flags", "What a reader should know of the envelope: invisible, as of a memory.", MAYBE),
	DOC_TEXT("problem", 0, 0, "Why there is no envelope.", MAYBE),
	FIELDS_END,
};
const struct shape shape_taken = {
	.name = "Taken", .says = "A handoff, as a receiver gets it.", .fields = taken_fields,
	.size = sizeof(struct handoff_row),
};

static enum problem_code read_format(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	struct receive *taking = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code != P_OK)
		return code;
	taking->with_envelope = str_is(value->s, "both") || str_is(value->s, "envelope");
	taking->with_prompt = str_is(value->s, "both") || str_is(value->s, "prompt");
	return P_OK;
}

static void take_one_with_both(void *op)
{
	struct receive *r = op;

	r->max = 1;
	r->op.skips_index = true;
	r->with_envelope = r->with_prompt = true;
}

#define INSTANCE FIELD_NAME("instance", struct receive, instance, INSTANCE_MAX, "Which of the agent's instances asks.")
#define FORMS .read = read_format, .otherwise = "'both'", .expected = "expected envelope, prompt, both or none"

const struct description describe_receive = {
	.id = "receive", .tag = "delivery", .scope = SCOPE_RECEIVE, .tool = "handoff_receive",
	.summary = "Take what is queued for an agent, or wait for it",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_receiver}, .path_into = {INTO(struct receive, agent)},
	.body_into = INTO(struct receive, op), .wait_into = INTO(struct receive, wait_ms),
	.defaults = take_one_with_both,
	.body = {INPUT(
		FIELD_SECONDS("wait_s", struct receive, wait_ms, 0, RECEIVE_WAIT_MAX_MS,
			      "Wait so long for something to come.", .otherwise = "0",
			      .docs = "how long to wait for something to come, at most 60"),
		FIELD_SECONDS("lease_s", struct receive, lease_ms, 1, DELIVERY_TIMEOUT_MAX_MS,
			      "How long the lease lasts; the handoff's ack timeout where absent.",
			      .usually = "the handoff's ack timeout",
			      .docs = "how long the lease lasts (15 seconds unless the sender or the agent's settings "
				      "say otherwise); whoever works longer before the ack asks for more, or sends "
				      "`progress`"),
		FIELD_INT("max", struct receive, max, 1, RECEIVE_MAX, "How many to take.", .otherwise = "1",
			  .docs = "how many to take, at most 100; fewer are given where their envelopes are large"),
		INSTANCE,
		DOC_ARRAY("settle", SETTLES_MAX, "Settled first, each by itself: id, verb (the name of the call), "
			  "lease, and what that call takes.", .read = settles_read,
			  .items = "'type':'object','required':['id','verb','lease'],'properties':{"
				   "'id':{'$ref':'#/components/schemas/HandoffId'},"
				   "'verb':{'enum':['ack','nack','release','reject','progress','complete']},"
				   "'lease':{'$ref':'#/components/schemas/Lease'}}",
			  .docs = "settled first: see [One step, one call](#one-step-one-call); at most 100"),
		DOC_ENUM("format", &words_received_form, 16, "What comes with the handoff.", .min = 1, FORMS,
			 .docs = "what comes with the handoff: `both`, `envelope`, `prompt` or `none`"))},
	ANSWERS(ANSWER(200, "What was taken; none where the wait is over.", OUTPUT(
		DOC_SHAPES("handoffs", 0, &shape_taken, "Each is the receiver's until its lease ends."),
		DOC_SHAPES("settled", 0, &shape_outcome, "What came of each of settle, in their order.", MAYBE)))),
};

const struct description describe_peek = {
	.id = "peek", .tag = "delivery", .scope = SCOPE_READ,
	.summary = "Look at what an agent would get next, or wait until there is something",
	.says = "Nothing is taken, no attempt is used, and the agent does not count as seen. Somebody else may take it "
		"before the caller does.",
	.path = {&path_receiver}, .path_into = {INTO(struct peek, agent)},
	.query_into = INTO(struct peek, op), .wait_into = INTO(struct peek, wait_ms),
	.query = INPUT(FIELD_SECONDS("wait_s", struct peek, wait_ms, 0, RECEIVE_WAIT_MAX_MS,
				     "Wait so long for something to come.", .otherwise = "0")),
	ANSWERS(ANSWER(200, "What is there; null where the wait is over.", OUTPUT(
		FIELD_SHAPE_AT("handoff", struct peek, next, &shape_handoff, "The one that a receiver would get.",
			       NULLABLE)))),
};

const struct description describe_stream_handoffs = {
	.id = "streamHandoffs", .tag = "delivery", .scope = SCOPE_RECEIVE,
	.summary = "Take what is queued for an agent, one after the other, as it comes",
	.says = "Server-sent events. An event handoff has the lease as its id and, as its data, what receive gives for "
		"one handoff (Taken); the next comes when it was settled or taken back. An event problem is the last "
		"one.",
	.takes = TAKES_AGENT, .path = {&path_receiver}, .path_into = {INTO(struct receive, agent)},
	.query_into = INTO(struct receive, op), .defaults = take_one_with_both,
	.query = INPUT(
		INSTANCE,
		DOC_ENUM("format", &words_received_form, 0, "What comes with each handoff.", FORMS),
		FIELD_SECONDS("lease_s", struct receive, lease_ms, 1, DELIVERY_TIMEOUT_MAX_MS,
			      "How long each lease lasts.")),
	ANSWERS(OTHER(200, "Events, without an end.", .media = "text/event-stream", .schema = "'type':'string'")),
	REFUSES(P_DRAINING),
};
