/* Channels: one envelope for many, and what they make of it. */
#include "api/describe/descriptions.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "engine/delivery/channel.h"
#include "engine/delivery/join.h"
#include "engine/delivery/publish.h"

enum { DESCRIPTION_MAX = 4096, JOIN_WAIT_MAX_MS = 60000, LISTED_MAX = 1000000 };

/* Of the one that the operation is about; a list shows less of each. */
static void put_subscribers(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct channel *ch = call_op(with);

	if (from != &ch->row)
		return;
	json_key_str(w, f->name);
	json_begin_array(w);
	for (size_t i = 0; i < ch->count; i++)
		json_put_str(w, ch->subscribers[i]);
	json_end_array(w);
}

static const struct field channel_fields[] = {
	FIELD_TEXT("name", struct channel_row, name, 0, 0, "The channel."),
	FIELD_TEXT("description", struct channel_row, description, 0, 0, "For people.", NULLABLE),
	FIELD_INT("subscriber_count", struct channel_row, subscribers, 0, NO_MAX, "How many agents subscribe to it."),
	FIELD_TIME("created_at", struct channel_row, created_at_ms, "When it was first used."),
	DOC_TEXTS("subscribers", "Their names, where one channel was asked for.", MAYBE, .write = put_subscribers),
	FIELDS_END,
};
static const struct shape channel = {
	.name = "Channel", .fields = channel_fields, .size = sizeof(struct channel_row), .warns = true,
};

#define PUBLISHED(s, m) \
	FIELD_ENVELOPE_ID("envelope_id", s, m, "What is published.", \
			  .required = "it is what POST /v1/envelopes answered, as in env-17", \
			  .docs = "what `POST /v1/envelopes` answered")

static const struct field joined_result_fields[] = {
	FIELD_INCLUDE(struct joined, row, &shape_handoff_row),
	FIELD_INCLUDE_GIVEN(struct joined, result, has_result, &shape_result),
	FIELDS_END,
};
static const struct shape joined_result = {.fields = joined_result_fields, .size = sizeof(struct joined)};

static const struct field joined_fields[] = {
	FIELD_ENUM("state", struct join, state, &words_join, 0,
		   "failed: enough never will. waiting: the wait is over. deadline: it has passed."),
	FIELD_INT("receivers", struct join, count, 1, NO_MAX, "How many there are."),
	FIELD_INT("completed", struct join, tally.completed, 0, NO_MAX, "How many have completed."),
	FIELD_INT("need", struct join, needed, 1, NO_MAX, "How many must have completed."),
	FIELD_SHAPES("results", struct join, results, count, 0, &joined_result,
		     "The handoff of each receiver, with what came of it."),
	FIELDS_END,
};
static const struct shape joined = {.name = "Joined", .fields = joined_fields, .warns = true};

/* --- Operations --- */

#define ONE_CHANNEL \
	.path_into = {INTO(struct channel, name)}, .from = FROM(struct channel, row), \
	ANSWERS(ANSWER(200, "The channel.", &channel))
#define OF_SUBSCRIBER \
	.path = {&path_name, &path_subscriber}, \
	.path_into = {INTO(struct channel, name), INTO(struct channel, agent)}, \
	.from = FROM(struct channel, row), ANSWERS(ANSWER(200, "The channel.", &channel))

const struct description describe_list_channels = {
	.id = "listChannels", .tag = "channels", .scope = SCOPE_READ,
	.summary = "List channels",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct channel_list), .page_max = LISTED_MAX,
	ANSWERS(ANSWER(200, "A page of them.", OUTPUT(
		FIELD_SHAPES("channels", struct channel_list, rows, count, 0, &channel, "By their names."),
		NEXT_PAGE_OF(struct channel_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_channel = {
	.id = "readChannel", .tag = "channels", .scope = SCOPE_READ,
	.summary = "Read a channel and its subscribers",
	.path = {&path_name},
	ONE_CHANNEL, REFUSES(P_CHANNEL_NOT_FOUND),
};

const struct description describe_make_channel = {
	.id = "makeChannel", .tag = "channels", .scope = SCOPE_WRITE,
	.summary = "Make a channel, or describe it",
	.takes = TAKES_KEY | TAKES_BODY_MAYBE, .path = {&path_name},
	.body = {INPUT(FIELD_TEXT("description", struct channel, description, 0, DESCRIPTION_MAX, "For people."))},
	.body_into = INTO(struct channel, op),
	ONE_CHANNEL,
};

const struct description describe_subscribe = {
	.id = "subscribe", .tag = "channels", .scope = SCOPE_WRITE,
	.summary = "Let an agent have what is published without receivers",
	OF_SUBSCRIBER,
};

const struct description describe_unsubscribe = {
	.id = "unsubscribe", .tag = "channels", .scope = SCOPE_WRITE,
	.summary = "Take an agent off the channel",
	OF_SUBSCRIBER, REFUSES(P_CHANNEL_NOT_FOUND, P_AGENT_NOT_FOUND),
};

/* An empty list is none. */
static enum problem_code read_receivers(const struct field *f, const struct json *value, void *into,
					struct shape_reader *r)
{
	struct publish *p = into;
	enum problem_code code = field_read(f, value, into, r);
	struct str *names;

	if (code != P_OK || value->count == 0)
		return code;
	names = arena_calloc(r->arena, value->count, sizeof(*names));
	for (uint32_t i = 0; i < value->count; i++)
		names[i] = value->items[i].s;
	p->receivers = names;
	p->receiver_count = value->count;
	return P_OK;
}

static void usual_priority(void *op)
{
	((struct publish *)op)->order.priority = DELIVERY_PRIORITY;
}

static const struct shown published_blind[] = {{"channel", NULL}, {"handoffs", handoff_blind}, {0}};

const struct description describe_publish = {
	.id = "publish", .tag = "channels", .scope = SCOPE_WRITE, .tool = "channel_publish", .blind = published_blind,
	.summary = "Hand an envelope to many agents: to all of them or to none",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .path = {&path_name}, .path_into = {INTO(struct publish, name)},
	.body_into = INTO(struct publish, op), .defaults = usual_priority,
	.body = {INPUT(
		PUBLISHED(struct publish, order.envelope),
		DOC_AGENTS("receivers", PUBLISH_RECEIVERS_MAX, "The subscribers where absent.", .read = read_receivers,
			   .usually = "the subscribers", .docs = "who gets it; at most 10,000"),
		FIELD_INT("priority", struct publish, order.priority, 0, DELIVERY_PRIORITY_MAX,
			  "Higher ones are handed out first.", .otherwise = "5", .docs = "0 to 9; the higher first"),
		FIELD_SECONDS("ack_timeout_s", struct publish, order.ack_timeout_ms, 1, DELIVERY_TIMEOUT_MAX_MS,
			      "How long a lease lasts where the receiver does not say. The agent's setting, or 15, "
			      "where absent.", .usually = "each agent's, or 15",
			      .docs = "how long a lease lasts where the receiver does not say"),
		FIELD_QUEUE_TIMEOUT(struct publish, order.queue_timeout_ms, "each agent's, or the server's"),
		FIELD_NOT_BEFORE(struct publish, order.not_before_ms),
		FIELD_INT("max_attempts", struct publish, order.max_attempts, 1, DELIVERY_ATTEMPTS_MAX,
			  "The agent's setting, or 3, where absent.", .usually = "each agent's, or 3",
			  .docs = "1 to 100"),
		DOC_ENUM("delivery", &words_delivery, 64, "What is promised.", .min = 1,
			 .otherwise = "'at-least-once'", .expected = "this server has at-least-once",
			 .docs = "what is promised; there is no other"))},
	ANSWERS(ANSWER(200, "A handoff for each receiver; the same ones where it was published before.", OUTPUT(
		FIELD_TEXT("channel", struct publish, name, 0, 0, "The channel."),
		FIELD_SHAPES("handoffs", struct publish, rows, count, 0, &shape_handoff, "One for each receiver.")))),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_CREDENTIALS_FOUND),
};

/* 0 is all of them. */
static enum problem_code read_need(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct join *j = into;
	bool is_any = value->type == JSON_STRING && str_is(value->s, "any");

	j->need = is_any ? 1 : 0;
	if (is_any || (value->type == JSON_STRING && str_is(value->s, "all")) ||
	    (json_as_int(value, &j->need) && j->need >= 1))
		return P_OK;
	return problem_set(r->problem, P_INVALID_FIELD, f->name.p, "need is how many receivers must complete; "
			   "expected \"all\", \"any\" or a whole number from 1");
}

/* Stands behind the wait in the table: nobody waits longer than that. */
static enum problem_code read_deadline(const struct field *f, const struct json *value, void *into,
				       struct shape_reader *r)
{
	struct join *j = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && j->deadline_ms && j->deadline_ms - j->op.now_ms < j->wait_ms)
		j->wait_ms = j->deadline_ms - j->op.now_ms;
	return code;
}

const struct description describe_join = {
	.id = "join", .tag = "channels", .scope = SCOPE_READ,
	.summary = "Wait for what the receivers of a publish make of it",
	.takes = TAKES_BODY, .path = {&path_name}, .path_into = {INTO(struct join, name)},
	.body_into = INTO(struct join, op), .wait_into = INTO(struct join, wait_ms),
	.body = {INPUT(
		PUBLISHED(struct join, envelope),
		DOC_ANY("need", "How many must have completed.", .read = read_need,
			.schema = "'anyOf':[{'enum':['all','any',null]},{'type':'integer','minimum':1}]",
			.otherwise = "'all'", .docs = "how many must have completed: `all`, `any` or a number"),
		FIELD_SECONDS("wait_s", struct join, wait_ms, 0, JOIN_WAIT_MAX_MS, "Wait so long for them.",
			      .otherwise = "0", .docs = "how long to wait for them, at most 60"),
		FIELD_TIME("deadline", struct join, deadline_ms, "RFC 3339. After it nobody waits any more.",
			   .read = read_deadline, .docs = "a time, after which nobody waits any more"))},
	ANSWERS(ANSWER(200, "How it stands, and the results.", &joined)),
	REFUSES(P_CHANNEL_NOT_FOUND, P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED),
};
