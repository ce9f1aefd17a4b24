/* Agents: what is known of who gets the work. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "core/envelope/assemble.h"
#include "engine/delivery/agent_delete.h"
#include "engine/delivery/agent_set.h"

enum { WEBHOOK_MAX = 2048, LISTED_MAX = 1000000 };

/* --- Settings --- */

static const struct field settings_fields[] = {
	DOC_ARRAY("accepts", 0, "The envelope versions that it reads; [\"2\"] where absent.", .min = 1,
		  .items = "'enum':['1','2',1,2]", .usually = "`[\"2\"]`",
		  .docs = "versions of the envelope that it reads; it gets the newest of them"),
	DOC_ENUM("tokenizer", &words_tokenizer, 0, "In which its tokens are counted.", .otherwise = "'o200k_base'",
		 .docs = "in which its tokens are counted, where the sender does not say"),
	DOC_INT("max_tokens", 1, PACK_TOKENS_MAX, "Its budget where a handoff does not say.", .otherwise = "8000",
		.docs = "its budget, where the sender gives none"),
	DOC_TEXT("description", 0, 0, "For people."),
	DOC_ENUM("fetch_hint", &words_fetch, 0,
		 "How it fetches a memory by its id, so that its prompts say how: with the MCP tool memory_get, with "
		 "the command spine get, or over HTTP. Where absent they name the command and HTTP.",
		 .docs = "how it fetches a memory by its id, so that its prompts say how: `mcp`, `command` or `http` "
			 "(see [6](#6-envelopes))"),
	DOC_SECONDS("ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS,
		    "How long a lease of its lasts where the receiver does not say.",
		    .otherwise = "15", .docs = "how long an attempt may take until its ack"),
	DOC_SECONDS("queue_timeout_s", 1, DELIVERY_LATER_MAX_MS,
		    "How long nobody may take a handoff from its queue until it is parked; the server's where absent.",
		    .usually = "the server's, 86,400",
		    .docs = "how long nobody may take a handoff from its queue until it is parked"),
	DOC_INT("max_attempts", 1, DELIVERY_ATTEMPTS_MAX, "How many attempts a handoff has with it.", .otherwise = "3",
		.docs = "1 to 100"),
	DOC_ARRAY("fallbacks", DELIVERY_FALLBACKS_MAX, "Who gets what it does not, in order.", .usually = "`[]`",
		  .items = "'type':'string','minLength':1,'maxLength':128",
		  .docs = "agents that take over, in order, when its attempts are used up"),
	DOC_TEXT("webhook", 0, WEBHOOK_MAX, "Where handoffs are posted to, http:// or https://.",
		 .docs = "where its handoffs are posted, instead of its fetching them"),
	DOC_TEXT("webhook_secret", 0, 0, "What signs the posts; made up where it is absent.",
		 .usually = "made by the server",
		 .docs = "what posts are signed with: `whsec_` and the base64 of 24 to 64 bytes; answered by every "
			 "`PUT` that names a webhook, the same again until another is given, and null elsewhere"),
	FIELDS_END,
};
static const struct shape settings = {.name = "AgentSettings", .fields = settings_fields, .is_input = true};

/* --- An agent --- */

static const struct field queue_fields[] = {
	FIELD_INT("queued", struct target_counts, queued, 0, NO_MAX, "Handoffs that wait."),
	FIELD_INT("leased", struct target_counts, leased, 0, NO_MAX, "Handoffs that were taken and are not acked."),
	FIELD_INT("working", struct target_counts, working, 0, NO_MAX, "Acked, and still to be heard of."),
	FIELD_INT("parked", struct target_counts, parked, 0, NO_MAX, "Handoffs that wait for a person."),
	FIELDS_END,
};
const struct shape shape_queue = {.fields = queue_fields, .size = sizeof(struct target_counts)};

static const struct field breaker_fields[] = {
	FIELD_ENUM("state", struct agent_view, breaker, &words_breaker, 0, "Whether handoffs are let through."),
	FIELD_INT("failures", struct agent_view, target.failures, 0, NO_MAX,
		  "Handoffs in a row that used up their attempts."),
	FIELD_TIME("reset_at", struct agent_view, reset_at_ms, "When the next one is let through.", NULLABLE),
	FIELDS_END,
};
const struct shape shape_breaker = {.fields = breaker_fields, .size = sizeof(struct agent_view)};

static const struct field working_on_fields[] = {
	FIELD_HANDOFF_ID("id", struct about_handoff, row.num, "The handoff."),
	FIELD_INCLUDE(struct about_handoff, about, &shape_about),
	FIELD_TIME("since", struct about_handoff, row.changed_at_ms, "Since when it has it."),
	FIELD_TEXT("receiver", struct about_handoff, row.receiver, 0, 0, "The instance that has taken it.", NULLABLE),
	FIELDS_END,
};
static const struct shape working_on = {.fields = working_on_fields, .size = sizeof(struct about_handoff)};

static const struct field presence_fields[] = {
	FIELD_ENUM("presence", struct agent_view, presence, &words_presence, 0,
		   "Told by what it does: it has work, a call of it waits for work, it was seen before, or never."),
	FIELD_INT("receivers_waiting", struct agent_view, receivers, 0, NO_MAX,
		  "How many calls of it wait for work now."),
	FIELD_TIME("last_seen_at", struct agent_view, target.seen_at_ms,
		   "When it last asked for, took or settled something.", NULLABLE),
	FIELDS_END,
};
const struct shape shape_presence = {.fields = presence_fields, .size = sizeof(struct agent_view)};

static void put_accepts(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct agent *a = &((const struct agent_view *)from)->agent;

	(void)with;
	json_key_str(w, f->name);
	json_begin_array(w);
	if (a->accepts_v2)
		json_put_cstr(w, "2");
	if (a->accepts_v1)
		json_put_cstr(w, "1");
	json_end_array(w);
}

static const struct field agent_fields[] = {
	FIELD_TEXT("name", struct agent_view, agent.name, 0, 0, "The agent."),
	DOC_ARRAY("accepts", 0, "The envelope versions that it reads.", .items = "'enum':['1','2']",
		  .write = put_accepts),
	FIELD_TEXT("tokenizer", struct agent_view, agent.tokenizer, 0, 0, "null: the default, o200k_base.",
		   .words = &words_tokenizer, NULLABLE),
	FIELD_INT("max_tokens", struct agent_view, agent.max_tokens, 1, NO_MAX, "null: the default, 8000.", NULLABLE),
	FIELD_TEXT("description", struct agent_view, description, 0, 0, "For people.", NULLABLE),
	FIELD_ENUM("fetch_hint", struct agent_view, agent.fetch_hint, &words_fetch, 0, "null: not said.", NULLABLE),
	FIELD_SECONDS("ack_timeout_s", struct agent_view, ack_timeout_ms, NO_MIN, NO_MAX,
		      "How long an attempt may take until its ack."),
	FIELD_INT("max_attempts", struct agent_view, max_attempts, 1, NO_MAX,
		  "How many attempts a handoff has with it."),
	FIELD_SECONDS("queue_timeout_s", struct agent_view, queue_timeout_ms, NO_MIN, NO_MAX,
		      "How long nobody may take a handoff from its queue until it is parked."),
	FIELD_ARRAY("fallbacks", struct agent_view, agent.fallbacks, 0, "Who gets what it does not, in order.",
		    .items = "'type':'string'", .raw_unset = "[]"),
	FIELD_TEXT("webhook", struct agent_view, agent.webhook, 0, 0, "Where handoffs are posted to.", NULLABLE),
	FIELD_TEXT("webhook_secret", struct agent_view, secret, 0, 0,
		   "What signs the posts to the webhook; told where the agent is registered, null elsewhere.",
		   NULLABLE),
	FIELD_SHAPE("queue", struct agent_view, counts, &shape_queue, "How many handoffs it has."),
	FIELD_SHAPE_SAME("breaker", struct agent_view, &shape_breaker, "Its circuit breaker."),
	FIELD_INCLUDE_SAME(struct agent_view, &shape_presence),
	FIELD_SHAPES("working_on", struct agent_view, work, work_count, AGENT_WORK_MAX, &working_on,
		     "What it has now; of more than ten the first. With the key of an agent those that it sees."),
	FIELD_BOOL("registered", struct agent_view, agent.is_registered,
		   "Somebody has registered it; otherwise its name was only used."),
	FIELD_TIME("created_at", struct agent_view, agent.created_at_ms, "When it was first registered."),
	FIELD_TIME("updated_at", struct agent_view, agent.updated_at_ms, "When its settings last changed."),
	FIELDS_END,
};
static const struct shape agent = {
	.name = "Agent", .fields = agent_fields, .size = sizeof(struct agent_view), .warns = true,
};

/* --- Operations --- */

static void give_tag(struct call *call, const void *from)
{
	call->etag = agent_tag(&((const struct agent_view *)from)->agent, call->op->arena);
}

const struct description describe_list_agents = {
	.id = "listAgents", .tag = "agents", .scope = SCOPE_READ,
	.summary = "List registered agents",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct agent_list), .page_max = LISTED_MAX,
	ANSWERS(ANSWER(200, "A page of agents.", OUTPUT(
		FIELD_SHAPES("agents", struct agent_list, agents, count, 0, &agent, "By their names."),
		NEXT_PAGE_OF(struct agent_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_agent = {
	.id = "readAgent", .tag = "agents", .scope = SCOPE_READ,
	.summary = "Read what is registered of an agent",
	.path = {&path_name}, .path_into = {INTO(struct agent_get, name)}, .from = FROM(struct agent_get, view),
	ANSWERS(ANSWER(200, "The agent.", &agent, .headers = GIVES_AGENT_ETAG, .component = "Agent")),
	.gives = give_tag,
	REFUSES(P_AGENT_NOT_FOUND),
};

const struct description describe_delete_agent = {
	.id = "deleteAgent", .tag = "agents", .scope = SCOPE_ADMIN,
	.summary = "Forget an agent that has no open work",
	.says = "Its settings, breaker and subscriptions go. What it had stays in the history. Whoever uses the name "
		"again begins anew.",
	.path = {&path_agent}, .path_into = {INTO(struct agent_delete, name)}, .takes = TAKES_AGENT,
	ANSWERS(OTHER(204, "It is gone.")),
	REFUSES(P_AGENT_NOT_FOUND, P_AGENT_BUSY),
};

const struct description describe_register_agent = {
	.id = "registerAgent", .tag = "agents", .scope = SCOPE_ADMIN,
	.summary = "Register an agent, or replace its settings",
	.takes = TAKES_KEY | TAKES_IF_MATCH | TAKES_BODY, .path = {&path_agent},
	.path_into = {INTO(struct agent_set, name)},
	.body = {&settings}, .body_whole = INTO(struct agent_set, settings), .from = FROM(struct agent_set, view),
	ANSWERS(ANSWER(200, "The agent.", &agent, .headers = GIVES_AGENT_ETAG)), .gives = give_tag,
	REFUSES(P_PRECONDITION_FAILED, P_UNKNOWN_TOKENIZER, P_UNSUPPORTED_VERSION),
};
