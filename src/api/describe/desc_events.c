/* What happens, and what has happened. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"

enum { LIMIT_MAX = 1000, ACTOR_MAX = 128, OBJECT_MAX = 256 };

#define NAME_OF_EVENT "'type':'string','pattern':'^[a-z]+\\\\.[a-z_]+$'"
#define NOT_AN_EVENT .refusal = "is not the id of an event: a number, 0 for the beginning"
#define NOT_A_TIME .refusal = "is not an RFC 3339 time, as in 2026-01-30T00:00:00Z"

static const struct field data_fields[] = {
	DOC_HANDOFF_ID("handoff", "The handoff that it is about.", MAYBE),
	DOC_INT("attempt", NO_MIN, NO_MAX, "Which attempt of it.", MAYBE),
	DOC_ENVELOPE_ID("envelope_id", "The envelope that it is about.", MAYBE),
	DOC_MEMORY_ID("memory", "The memory that it is about.", MAYBE),
	DOC_TEXT("agent", 0, 0, "Whom it concerns.", NULLABLE),
	DOC_TEXT("actor", 0, 0, "Who did it; null: the server, or somebody without a name.", NULLABLE),
	DOC_TEXT("note", 0, 0, "What there is to say about it.", NULLABLE, MAYBE),
	DOC_INT("latency_ms", NO_MIN, NO_MAX, "Of handoff.acked: since it was sent.", MAYBE),
	DOC_INT("hop", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	DOC_NUMBER("completeness", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	DOC_NUMBER("utilization", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	DOC_INT("waivers", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	FIELDS_END,
};
static const struct shape data = {.fields = data_fields};

static const struct field cloud_fields[] = {
	DOC_ENUM("specversion", &words_cloud_version, 0, "Of CloudEvents."),
	DOC_TEXT("id", 0, 0, "Grows; the position in the history.", .schema = "'type':'string','pattern':'^[0-9]+$'"),
	DOC_TEXT("source", 0, 0, "The space.", .schema = "'type':'string','pattern':'^/spaces/'"),
	DOC_TEXT("type", 0, 0, "What has happened.",
		 .schema = "'type':'string','pattern':'^com\\\\.memoryspine\\\\.[a-z]+\\\\.[a-z_]+$'"),
	DOC_TIME("time", "When."),
	DOC_TEXT("subject", 0, 0, "What it is about: an id, or a name.", MAYBE),
	DOC_ENUM("datacontenttype", &words_cloud_content, 0, "Of data."),
	DOC_SHAPE("data", &data, "The particulars."),
	FIELDS_END,
};
static const struct shape cloud_event = {
	.name = "CloudEvent", .says = "Version 1.0, in the JSON format.", .fields = cloud_fields,
};

static const struct field event_page_fields[] = {
	DOC_SHAPES("events", 0, &cloud_event, "In order."),
	DOC_INT("next", NO_MIN, NO_MAX, "The after of the next page."),
	DOC_BOOL("has_more", "There is more of the history already."),
	FIELDS_END,
};
static const struct shape event_page = {.name = "EventPage", .fields = event_page_fields, .warns = true};

static const struct field entry_fields[] = {
	DOC_INT("id", NO_MIN, NO_MAX, "Grows; the position in the history."),
	DOC_TIME("at", "When."),
	DOC_TEXT("actor", 0, 0, "null: the server, or somebody without a name.", NULLABLE),
	DOC_TEXT("action", 0, 0, "What was done.", .schema = NAME_OF_EVENT),
	DOC_TEXT("object", 0, 0, "To what.", NULLABLE),
	DOC_TEXT("space", 0, 0, "In which space."),
	DOC_TEXT("agent", 0, 0, "Whom it concerns.", NULLABLE),
	DOC_TEXT("note", 0, 0, "What there is to say about it.", NULLABLE),
	FIELDS_END,
};
static const struct shape entry = {.fields = entry_fields};

static const struct field audit_fields[] = {
	DOC_SHAPES("entries", 0, &entry, "In the order that was asked for."),
	DOC_INT("next", NO_MIN, NO_MAX, "The after of what follows; only from the oldest on.", MAYBE),
	NEXT_PAGE,
	FIELDS_END,
};
static const struct shape audit_page = {.name = "AuditPage", .fields = audit_fields, .warns = true};

/* --- Operations --- */

const struct description describe_watch_events = {
	.id = "watchEvents", .tag = "watching", .scope = SCOPE_READ,
	.summary = "What happens, as it happens, or from an event on",
	.says = "Server-sent events: the id is the event's, the data a CloudEvent. Without a position only what "
		"happens from now on. A block without data moves the position (and keeps the connection alive). Where "
		"a client takes too long to read it is disconnected, and resumes with the last id it has. With Accept: "
		"application/json one page.",
	.headers = INPUT(DOC_TEXT("Last-Event-ID", 0, 0, "Go on behind this event. Comes before after.",
				  .schema = "'type':'string','pattern':'^[0-9]+$'")),
	.query = INPUT(
		DOC_INT("after", 0, NO_MAX, "Go on behind this event; 0: from the first on.", NOT_AN_EVENT),
		DOC_TEXT("types", 0, 0, "Beginnings of types without com.memoryspine., separated by commas: "
			 "handoff.,breaker.opened"),
		DOC_INT("limit", 1, LIMIT_MAX, "Of a page.", .otherwise = "100")),
	ANSWERS(OTHER(200, "Events, without an end; or a page.", .media = "text/event-stream",
		      .schema = "'type':'string'"),
		OTHER(200, NULL, .shape = &event_page)),
	REFUSES(P_DRAINING),
};

const struct description describe_audit = {
	.id = "audit", .tag = "watching", .scope = SCOPE_READ,
	.summary = "Who did what to which object, and when",
	.says = "Every write, append-only. One answer goes through a bounded part of the history: a page may be short, "
		"or empty, and have a next one.",
	.query = INPUT(
		DOC_INT("after", 0, NO_MAX, "Only entries with higher ids.", NOT_AN_EVENT),
		DOC_NAME("actor", ACTOR_MAX, "What this one has done."),
		DOC_NAME("object", OBJECT_MAX,
			 "An id (ms-12, env-3, ho-7, al-2), or the name of an agent, channel or route."),
		DOC_TEXT("action", 0, 0, "Beginnings of actions, separated by commas: memory.forget,route."),
		DOC_TIME("since", "Inclusive.", NOT_A_TIME), DOC_TIME("until", "Exclusive.", NOT_A_TIME),
		DOC_ENUM("order", &words_oldest_newest, 0, "Which comes first.", .otherwise = "'oldest'",
			 .refusal = "is neither newest nor oldest"),
		PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page.", &audit_page)),
	REFUSES(P_INVALID_PAGE_TOKEN),
};
