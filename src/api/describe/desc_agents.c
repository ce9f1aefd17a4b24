/* Agents: what is known of who gets the work. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "core/delivery/delivery.h"
#include "core/envelope/assemble.h"

enum { WEBHOOK_MAX = 2048 };

/* --- Settings --- */

static const struct field settings_fields[] = {
	DOC_ARRAY("accepts", 0, "The envelope versions that it reads; [\"2\"] where absent.", .min = 1,
		  .items = "'enum':['1','2',1,2]", .usually = "`[\"2\"]`",
		  .docs = "versions of the envelope that it reads; it gets the newest of them"),
	DOC_ENUM("tokenizer", &words_tokenizer, 0, "In which its tokens are counted.", .otherwise = "'o200k_base'",
		 .docs = "in which its tokens are counted, where the sender does not say"),
	DOC_INT("max_tokens", 1, HANDOFF_TOKENS_MAX, "Its budget where a handoff does not say.", .otherwise = "8000",
		.docs = "its budget, where the sender gives none"),
	DOC_TEXT("description", 0, 0, "For people."),
	DOC_ENUM("fetch_hint", &words_fetch, 0,
		 "How it fetches a memory by its id, so that its prompts say how: with the MCP tool memory_get, with "
		 "the command spine get, or over HTTP. Where absent they name the command and HTTP.",
		 .docs = "how it fetches a memory by its id, so that its prompts say how: `mcp`, `command` or `http` "
			 "(see [6](#6-envelopes))"),
	DOC_SECONDS("ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS,
		    "How long a handoff may stay in its queue, and a lease last, until the attempt has failed.",
		    .otherwise = "15", .docs = "how long an attempt may take until its ack"),
	DOC_INT("max_attempts", 1, DELIVERY_ATTEMPTS_MAX, "How many attempts a handoff has with it.", .otherwise = "3",
		.docs = "1 to 100"),
	DOC_ARRAY("fallbacks", DELIVERY_FALLBACKS_MAX, "Who gets what it does not, in order.", .usually = "`[]`",
		  .items = "'type':'string','minLength':1,'maxLength':128",
		  .docs = "agents that take over, in order, when its attempts are used up"),
	DOC_TEXT("webhook", 0, WEBHOOK_MAX, "Where handoffs are posted to, http:// or https://.",
		 .docs = "where its handoffs are posted, instead of its fetching them"),
	DOC_TEXT("webhook_secret", 0, 0, "What signs the posts; made up where it is absent.",
		 .usually = "made by the server",
		 .docs = "what posts are signed with: `whsec_` and the base64 of 24 to 64 bytes; answered by `PUT` "
			 "only, null elsewhere, kept until another is given"),
	FIELDS_END,
};
static const struct shape settings = {.name = "AgentSettings", .fields = settings_fields, .is_input = true};

/* --- An agent --- */

static const struct field queue_fields[] = {
	COUNT("queued", "Handoffs that wait."),
	COUNT("leased", "Handoffs that were taken and are not acked."),
	COUNT("working", "Acked, and still to be heard of."),
	COUNT("parked", "Handoffs that wait for a person."),
	FIELDS_END,
};
const struct shape shape_queue = {.fields = queue_fields};

static const struct field breaker_fields[] = {
	DOC_ENUM("state", &words_breaker, 0, "Whether handoffs are let through."),
	COUNT("failures", "Handoffs in a row that used up their attempts."),
	DOC_TIME("reset_at", "When the next one is let through.", NULLABLE),
	FIELDS_END,
};
static const struct shape breaker = {.fields = breaker_fields};

static const struct field agent_fields[] = {
	DOC_TEXT("name", 0, 0, "The agent."),
	DOC_ARRAY("accepts", 0, "The envelope versions that it reads.", .items = "'enum':['1','2']"),
	DOC_ENUM("tokenizer", &words_tokenizer, 0, "null: the default, o200k_base.", NULLABLE),
	DOC_INT("max_tokens", 1, NO_MAX, "null: the default, 8000.", NULLABLE),
	DOC_TEXT("description", 0, 0, "For people.", NULLABLE),
	DOC_ENUM("fetch_hint", &words_fetch, 0, "null: not said.", NULLABLE),
	DOC_SECONDS("ack_timeout_s", NO_MIN, NO_MAX, "How long an attempt may take until its ack."),
	DOC_INT("max_attempts", 1, NO_MAX, "How many attempts a handoff has with it."),
	DOC_ARRAY("fallbacks", 0, "Who gets what it does not, in order.", .items = "'type':'string'"),
	DOC_TEXT("webhook", 0, 0, "Where handoffs are posted to.", NULLABLE),
	DOC_TEXT("webhook_secret", 0, 0,
		 "What signs the posts to the webhook; told where the agent is registered, null elsewhere.", NULLABLE),
	DOC_SHAPE("queue", &shape_queue, "How many handoffs it has."),
	DOC_SHAPE("breaker", &breaker, "Its circuit breaker."),
	DOC_TIME("last_seen_at", "When it last took or settled something.", NULLABLE),
	DOC_TIME("created_at", "When it was first registered."),
	DOC_TIME("updated_at", "When its settings last changed."),
	FIELDS_END,
};
static const struct shape agent = {.name = "Agent", .fields = agent_fields, .warns = true};

/* --- Operations --- */

#define ONE_AGENT ANSWER(200, "The agent.", &agent, .headers = GIVES_AGENT_ETAG, .component = "Agent")

const struct description describe_list_agents = {
	.id = "listAgents", .tag = "agents", .scope = SCOPE_READ,
	.summary = "List registered agents",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of agents.",
		       OUTPUT(DOC_SHAPES("agents", 0, &agent, "By their names."), NEXT_PAGE))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_agent = {
	.id = "readAgent", .tag = "agents", .scope = SCOPE_READ,
	.summary = "Read what is registered of an agent",
	.path = {&path_name},
	ANSWERS(ONE_AGENT),
	REFUSES(P_AGENT_NOT_FOUND),
};

const struct description describe_register_agent = {
	.id = "registerAgent", .tag = "agents", .scope = SCOPE_ADMIN,
	.summary = "Register an agent, or replace its settings",
	.takes = TAKES_KEY | TAKES_IF_MATCH | TAKES_BODY, .path = {&path_name},
	.body = {&settings},
	ANSWERS(ANSWER(200, "The agent.", &agent, .headers = GIVES_AGENT_ETAG)),
	REFUSES(P_PRECONDITION_FAILED, P_UNKNOWN_TOKENIZER, P_UNSUPPORTED_VERSION),
};
