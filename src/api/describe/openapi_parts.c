/* The parts of the OpenAPI document that no single operation has: its head, headers, the problem. */
#include "api/describe/openapi_parts.h"

#include "api/describe/shapes.h"

const char *const openapi_head =
	"'openapi':'3.1.0','info':{'title':'Memory Spine','version':'1','description':'Memories of agents, and the "
	"envelopes in which they hand work to each other. docs/protocol.md is the specification; this document says "
	"the same for programs. A 2xx answer to a write leaves after the write was fsynced. A refused request has "
	"changed nothing, but that ack_timeout withdraws the handoff, and that hop_limit, loop and "
	"credentials_found are told in an event. Fields may be added to answers: ignore those you do not know.',"
	"'license':{'name':'Apache-2.0','identifier':'Apache-2.0'}},'security':[],"
	"'servers':[{'url':'/','description':'The server that this document came from; 127.0.0.1:8788 unless told "
	"otherwise.'}]";

const struct openapi_tag openapi_tags[] = {
	{"memories", "Store, read, change, forget, search."},
	{"envelopes", "Hand work over, and read what was handed over."},
	{"tasks", "Chains of envelopes, and what each hop kept."},
	{"agents", "What is known of who gets the work."},
	{"delivery", "Envelopes on their way: sent, taken, settled, parked."},
	{"channels", "One envelope for many, and what they make of it."},
	{"routes", "Who comes next, by configuration."},
	{"spaces", "Settings of a tenant."},
	{"keys", "Who is let in, and what each may do."},
	{"tokens", "Counting."},
	{"watching", "What happens, and what has happened."},
	{"server", "Health, status, and what describes the API."},
	{NULL, NULL},
};

/* Those with a flag of enum takes. Spine-Space has none: it is there unless the flag says otherwise. */
const struct openapi_header openapi_request_headers[] = {
	{0, "Space", FIELD_ODD(TYPE_TEXT, "Spine-Space",
			       "The tenant that the request is about. Nothing is visible from another.",
			       .schema = "'type':'string','pattern':'^[a-z0-9][a-z0-9_-]{0,63}$'",
			       .otherwise = "'default'")},
	{TAKES_AGENT, "Agent", FIELD_ODD(TYPE_TEXT, "Spine-Agent",
					 "Who is calling: the author of what is stored, the sender of what is handed "
					 "over, unless the body says otherwise.", .min = 1, .max = 128)},
	{TAKES_TASK, "Task", FIELD_ODD(TYPE_TEXT, "Spine-Task",
				       "What the caller is working on: the task of what is stored, unless the body "
				       "says otherwise. 404 task_not_found where it would be used and there is none "
				       "such.",
				       .min = 1, .max = 128)},
	{TAKES_PERSON, "Person", FIELD_ODD(TYPE_TEXT, "Spine-Person",
					   "The person who asks. 403 person_required without it. While the server has "
					   "no keys nobody checks it, and what is done so is recorded as "
					   "unauthenticated.",
					   .min = 1, .max = 128)},
	{TAKES_KEY, "IdempotencyKey", FIELD_ODD(TYPE_TEXT, "Idempotency-Key",
						"The same key with the same request gets the first answer again, for "
						"24 hours.", .schema = "'type':'string','pattern':'^[!-~]{1,255}$'")},
	{TAKES_IF_MATCH, "IfMatch", FIELD_ODD(TYPE_TEXT, "If-Match",
					      "An ETag, with its quotes. Where the memory or the agent has moved on "
					      "since: 412 precondition_failed.")},
	{.component = NULL},
};

const struct openapi_header openapi_answer_headers[] = {
	{GIVES_ETAG, "ETag", FIELD_ODD(TYPE_TEXT, "ETag", "Id and version, quoted: \"ms-4821@3\".")},
	{GIVES_AGENT_ETAG, "AgentETag", FIELD_ODD(TYPE_TEXT, "ETag", "Another whenever the settings change, quoted.")},
	{GIVES_LOCATION, "Location", FIELD_ODD(TYPE_TEXT, "Location", "Where it can be read.",
					       .schema = "'type':'string','format':'uri-reference'")},
	{OPENAPI_REPLAYED, "IdempotentReplayed",
	 FIELD_ODD(TYPE_TEXT, "Idempotent-Replayed",
		   "Present where this is the answer to an earlier request with the same key.",
		   .schema = "'const':'true'")},
	{GIVES_TRACEPARENT, "Traceparent",
	 FIELD_ODD(TYPE_TEXT, "traceparent",
		   "W3C trace context to go on with: the server's span where it exports spans, otherwise what the "
		   "sender gave; absent where there is no trace.")},
	{.component = NULL},
};

static const struct field page_size = PAGE_SIZE, page_size_of_task = PAGE_SIZE_OF_TASK, page_token = PAGE_TOKEN;

const struct openapi_parameter openapi_parameters[] = {
	{"path", &path_memory}, {"path", &path_envelope}, {"path", &path_handoff}, {"path", &path_alert},
	{"path", &path_task}, {"path", &path_name}, {"path", &path_key},
	{"query", &page_size}, {"query", &page_size_of_task}, {"query", &page_token},
	{NULL, NULL},
};

static const struct field problem_fields[] = {
	DOC_TEXT("type", 0, 0, "about:blank: code says more.", .schema = "'type':'string','format':'uri-reference'"),
	DOC_TEXT("title", 0, 0, "What the status means."),
	DOC_INT("status", 400, 599, "The same as that of the answer."),
	DOC_TEXT("code", 0, 0, "For programs.",
		 .schema = "'type':'string','pattern':'^[a-z0-9_]+$',"
			   "'examples':['invalid_field','memory_not_found','budget_too_small']"),
	DOC_TEXT("field", 0, 0, "The place in the request, where there is one: memories[3].content.", MAYBE),
	DOC_TEXT("detail", 0, 0, "For people."),
	DOC_BOOL("retryable", "Whether the same request may succeed later."),
	DOC_INT("retry_after_ms", 1, NO_MAX, "When, where that is known.", MAYBE),
	DOC_INT("current_version", 1, NO_MAX, "Of precondition_failed: the memory's newest version.", MAYBE),
	DOC_INT("minimum", 1, NO_MAX, "Of budget_too_small: the max_tokens that would do.", MAYBE),
	DOC_INT("findings", 1, NO_MAX, "Of credentials_found: how many there are.", MAYBE),
	DOC_HANDOFF_ID("handoff", "The handoff that it is about.", MAYBE),
	DOC_TEXTS("remedies", "What can be done about it.", MAYBE),
	FIELDS_END,
};
const struct shape openapi_problem = {
	.name = "Problem",
	.says = "RFC 9457. code is for programs and never changes its meaning; detail is for people.",
	.fields = problem_fields,
};
