/* Channels: one envelope for many, and what they make of it. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "core/delivery/delivery.h"

enum { DESCRIPTION_MAX = 4096, RECEIVERS_MAX = 10000, JOIN_WAIT_MAX_MS = 60000 };

static const struct field channel_fields[] = {
	DOC_TEXT("name", 0, 0, "The channel."),
	DOC_TEXT("description", 0, 0, "For people.", NULLABLE),
	COUNT("subscriber_count", "How many agents subscribe to it."),
	DOC_TIME("created_at", "When it was first used."),
	DOC_TEXTS("subscribers", "Their names, where one channel was asked for.", MAYBE),
	FIELDS_END,
};
static const struct shape channel = {.name = "Channel", .fields = channel_fields, .warns = true};

#define PUBLISHED \
	DOC_ENVELOPE_ID("envelope_id", "What is published.", \
			.required = "it is what POST /v1/envelopes answered, as in env-17", \
			.docs = "what `POST /v1/envelopes` answered")

static const struct field joined_result_fields[] = {
	DOC_INCLUDE(&shape_handoff_row), DOC_INCLUDE(&shape_result), FIELDS_END,
};
static const struct shape joined_result = {.fields = joined_result_fields};

static const struct field joined_fields[] = {
	DOC_ENUM("state", &words_join, 0,
		 "failed: enough never will. waiting: the wait is over. deadline: it has passed."),
	DOC_INT("receivers", 1, NO_MAX, "How many there are."),
	COUNT("completed", "How many have completed."),
	DOC_INT("need", 1, NO_MAX, "How many must have completed."),
	DOC_SHAPES("results", 0, &joined_result, "The handoff of each receiver, with what came of it."),
	FIELDS_END,
};
static const struct shape joined = {.name = "Joined", .fields = joined_fields, .warns = true};

/* --- Operations --- */

#define ONE_CHANNEL ANSWERS(ANSWER(200, "The channel.", &channel))

const struct description describe_list_channels = {
	.id = "listChannels", .tag = "channels", .scope = SCOPE_READ,
	.summary = "List channels",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of them.",
		       OUTPUT(DOC_SHAPES("channels", 0, &channel, "By their names."), NEXT_PAGE))),
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
	.body = {INPUT(DOC_TEXT("description", 0, DESCRIPTION_MAX, "For people."))},
	ONE_CHANNEL,
};

const struct description describe_subscribe = {
	.id = "subscribe", .tag = "channels", .scope = SCOPE_WRITE,
	.summary = "Let an agent have what is published without receivers",
	.path = {&path_name, &path_subscriber},
	ONE_CHANNEL,
};

const struct description describe_unsubscribe = {
	.id = "unsubscribe", .tag = "channels", .scope = SCOPE_WRITE,
	.summary = "Take an agent off the channel",
	.path = {&path_name, &path_subscriber},
	ONE_CHANNEL, REFUSES(P_CHANNEL_NOT_FOUND, P_AGENT_NOT_FOUND),
};

const struct description describe_publish = {
	.id = "publish", .tag = "channels", .scope = SCOPE_WRITE, .tool = "channel_publish",
	.summary = "Hand an envelope to many agents: to all of them or to none",
	.takes = TAKES_AGENT | TAKES_KEY | TAKES_BODY, .path = {&path_name},
	.body = {INPUT(
		PUBLISHED,
		DOC_AGENTS("receivers", RECEIVERS_MAX, "The subscribers where absent.", .usually = "the subscribers",
			   .docs = "who gets it; at most 10,000"),
		DOC_INT("priority", 0, DELIVERY_PRIORITY_MAX, "Higher ones are handed out first.", .otherwise = "5",
			.docs = "0 to 9; the higher first"),
		DOC_SECONDS("ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS,
			    "How long it may stay in the queue, and a lease last, until the attempt has failed. The "
			    "agent's setting, or 15, where absent.", .usually = "each agent's, or 15",
			    .docs = "how long it may stay in a queue, and a lease last, until the attempt has failed"),
		DOC_INT("max_attempts", 1, DELIVERY_ATTEMPTS_MAX, "The agent's setting, or 3, where absent.",
			.usually = "each agent's, or 3", .docs = "1 to 100"),
		DOC_ENUM("delivery", &words_delivery, 64, "What is promised.", .min = 1,
			 .otherwise = "'at-least-once'", .expected = "this server has at-least-once",
			 .docs = "what is promised; there is no other"))},
	ANSWERS(ANSWER(200, "A handoff for each receiver; the same ones where it was published before.", OUTPUT(
		DOC_TEXT("channel", 0, 0, "The channel."),
		DOC_SHAPES("handoffs", 0, &shape_handoff, "One for each receiver.")))),
	REFUSES(P_ENVELOPE_NOT_FOUND),
};

const struct description describe_join = {
	.id = "join", .tag = "channels", .scope = SCOPE_READ,
	.summary = "Wait for what the receivers of a publish make of it",
	.takes = TAKES_BODY, .path = {&path_name},
	.body = {INPUT(
		PUBLISHED,
		DOC_ANY("need", "How many must have completed.",
			.schema = "'anyOf':[{'enum':['all','any',null]},{'type':'integer','minimum':1}]",
			.otherwise = "'all'", .docs = "how many must have completed: `all`, `any` or a number"),
		DOC_SECONDS("wait_s", 0, JOIN_WAIT_MAX_MS, "Wait so long for them.", .otherwise = "0",
			    .docs = "how long to wait for them, at most 60"),
		DOC_TIME("deadline", "RFC 3339. After it nobody waits any more.",
			 .docs = "a time, after which nobody waits any more"))},
	ANSWERS(ANSWER(200, "How it stands, and the results.", &joined)),
	REFUSES(P_CHANNEL_NOT_FOUND, P_ENVELOPE_NOT_FOUND),
};
