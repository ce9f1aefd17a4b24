/* What happens, and what has happened. */
#include "api/call.h"
#include "api/describe/descriptions.h"
#include "api/describe/query.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/event_json.h"
#include "api/page.h"
#include "core/watch/event.h"
#include "engine/watch/event_list.h"

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 1000, ACTOR_MAX = 128, OBJECT_MAX = 256 };

#define NAME_OF_EVENT "'type':'string','pattern':'^[a-z]+\\\\.[a-z_]+$'"
#define NOT_AN_EVENT .refusal = "is not the id of an event: a number, 0 for the beginning"
#define NOT_A_TIME .refusal = "is not an RFC 3339 time, as in 2026-01-30T00:00:00Z"

/* --- Answers --- */

/* Of a handoff its attempt. */
static void put_attempt(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;

	(void)with;
	if (event->handoff)
		field_write(f, &event->attempt, w);
}

/* Figures that only some kinds have; see core/watch/event.h. */
static void put_latency(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;
	int64_t latency_ms = (int64_t)event->value[0];

	(void)with;
	if (event->kind == EVENT_ACKED)
		field_write(f, &latency_ms, w);
}

/* An envelope's note is a figure, too. */
static void put_note(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;

	(void)with;
	if (event->kind != EVENT_ENVELOPE_PACKED)
		field_write(f, &event->note, w);
}

static void put_of_packed(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;
	uint64_t waivers = 0;

	(void)with;
	if (event->kind != EVENT_ENVELOPE_PACKED)
		return;
	if (event->note.p)
		str_to_u64(event->note, &waivers);
	json_key_str(w, f->name);
	json_put_int(w, event->attempt);
	json_member_double(w, "completeness", event->value[0]);
	json_member_double(w, "utilization", event_utilization(event));
	json_member_int(w, "waivers", (int64_t)waivers);
}

/* The other figures of an envelope are written with its hop. */
static const struct field data_fields[] = {
	FIELD_HANDOFF_ID("handoff", struct event_row, handoff, "The handoff that it is about.", MAYBE),
	DOC_INT("attempt", NO_MIN, NO_MAX, "Which attempt of it.", MAYBE, .write = put_attempt),
	FIELD_ENVELOPE_ID("envelope_id", struct event_row, envelope, "The envelope that it is about.", MAYBE),
	FIELD_MEMORY_ID("memory", struct event_row, memory, "The memory that it is about.", MAYBE),
	FIELD_TEXT("agent", struct event_row, agent, 0, 0, "Whom it concerns.", NULLABLE),
	FIELD_TEXT("actor", struct event_row, actor, 0, 0, "Who did it; null: the server, or somebody without a name.",
		   NULLABLE),
	FIELD_KEY_ID("key", struct event_row, access_key,
		     "The key that let them in; absent where the server has none, or did it itself.", MAYBE),
	DOC_INT("latency_ms", NO_MIN, NO_MAX, "Of handoff.acked: since it was sent.", MAYBE, .write = put_latency),
	DOC_TEXT("note", 0, 0, "What there is to say about it.", NULLABLE, MAYBE, .write = put_note),
	DOC_INT("hop", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE, .write = put_of_packed),
	DOC_NUMBER("completeness", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	DOC_NUMBER("utilization", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	DOC_INT("waivers", NO_MIN, NO_MAX, "Of envelope.packed.", MAYBE),
	FIELDS_END,
};
static const struct shape data = {.fields = data_fields, .size = sizeof(struct event_row)};

static void put_constant(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)from;
	(void)with;
	field_write(f, &(int64_t){0}, w);
}

static void put_id(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	char id[STR_U64_SIZE];

	(void)with;
	field_write(f, &(struct str){id, str_put_u64(id, (uint64_t)((const struct event_row *)from)->number)}, w);
}

static void put_source(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_place *place = with;
	struct str source = arena_printf(place->arena, "/spaces/%.*s", STR_ARG(place->space_name));

	(void)from;
	field_write(f, &source, w);
}

static void put_type(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_place *place = with;
	struct str type = arena_printf(place->arena, "com.memoryspine.%s",
				       event_name(((const struct event_row *)from)->kind));

	field_write(f, &type, w);
}

static void put_object(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_place *place = with;
	struct str object = event_object(from, place->space_name, place->arena);

	if (object.n || f->is_nullable)
		field_write(f, &object, w);
}

static const struct field cloud_fields[] = {
	DOC_ENUM("specversion", &words_cloud_version, 0, "Of CloudEvents.", .write = put_constant),
	DOC_TEXT("id", 0, 0, "Grows; the position in the history.", .schema = "'type':'string','pattern':'^[0-9]+$'",
		 .write = put_id),
	DOC_TEXT("source", 0, 0, "The space.", .schema = "'type':'string','pattern':'^/spaces/'", .write = put_source),
	DOC_TEXT("type", 0, 0, "What has happened.", .write = put_type,
		 .schema = "'type':'string','pattern':'^com\\\\.memoryspine\\\\.[a-z]+\\\\.[a-z_]+$'"),
	FIELD_TIME("time", struct event_row, at_ms, "When."),
	DOC_TEXT("subject", 0, 0, "What it is about: an id, or a name.", MAYBE, .write = put_object),
	DOC_ENUM("datacontenttype", &words_cloud_content, 0, "Of data.", .write = put_constant),
	FIELD_SHAPE_SAME("data", struct event_row, &data, "The particulars."),
	FIELDS_END,
};
const struct shape shape_cloud_event = {
	.name = "CloudEvent", .says = "Version 1.0, in the JSON format.", .fields = cloud_fields,
	.size = sizeof(struct event_row),
};

/* Those of the operation, each in the field's shape. */
static void put_events(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_list *l = from;
	const struct event_place place = {l->op.space_name, l->op.arena};

	(void)with;
	json_key_str(w, f->name);
	json_begin_array(w);
	for (size_t i = 0; i < l->count; i++)
		shape_write_with(f->shape, &l->rows[i], &place, w);
	json_end_array(w);
}

static const struct field event_page_fields[] = {
	DOC_SHAPES("events", 0, &shape_cloud_event, "In order.", .write = put_events),
	FIELD_INT("next", struct event_list, next, NO_MIN, NO_MAX, "The after of the next page."),
	FIELD_BOOL("has_more", struct event_list, has_more, "There is more of the history already."),
	FIELD_INT("pruned_to", struct event_list, pruned, 0, NO_MAX,
		  "Of the space's events those up to this id are not kept any more; absent where all are.", MAYBE),
	FIELDS_END,
};
static const struct shape event_page = {.name = "EventPage", .fields = event_page_fields, .warns = true};

static void put_action(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	struct str action = str_of(event_action(((const struct event_row *)from)->kind));

	(void)with;
	field_write(f, &action, w);
}

static void put_space(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)from;
	field_write(f, &((const struct event_place *)with)->space_name, w);
}

static void put_note_or_null(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_row *event = from;
	struct str none = STR_NULL;

	(void)with;
	field_write(f, event->kind == EVENT_ENVELOPE_PACKED ? &none : &event->note, w);
}

static const struct field entry_fields[] = {
	FIELD_INT("id", struct event_row, number, NO_MIN, NO_MAX,
		  "Grows by one; the position in the history of the space."),
	FIELD_TIME("at", struct event_row, at_ms, "When."),
	FIELD_TEXT("actor", struct event_row, actor, 0, 0, "null: the server, or somebody without a name.", NULLABLE),
	FIELD_KEY_ID("key", struct event_row, access_key,
		     "The key that let them in; absent where the server has none, or did it itself.", MAYBE),
	DOC_TEXT("action", 0, 0, "What was done.", .schema = NAME_OF_EVENT, .write = put_action),
	DOC_TEXT("object", 0, 0, "To what.", NULLABLE, .write = put_object),
	DOC_TEXT("space", 0, 0, "In which space.", .write = put_space),
	FIELD_TEXT("agent", struct event_row, agent, 0, 0, "Whom it concerns.", NULLABLE),
	DOC_TEXT("note", 0, 0, "What there is to say about it.", NULLABLE, .write = put_note_or_null),
	FIELDS_END,
};
static const struct shape entry = {.fields = entry_fields, .size = sizeof(struct event_row)};

static void put_next(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct event_list *l = from;

	(void)with;
	if (l->filter.newest_first)
		return;
	json_key_str(w, f->name);
	json_put_int(w, l->next);
}

static const struct field audit_fields[] = {
	DOC_SHAPES("entries", 0, &entry, "In the order that was asked for.", .write = put_events),
	DOC_INT("next", NO_MIN, NO_MAX, "The after of what follows; only from the oldest on.", MAYBE,
		.write = put_next),
	NEXT_PAGE_OF(struct event_list, page),
	FIELDS_END,
};
static const struct shape audit_page = {.name = "AuditPage", .fields = audit_fields, .warns = true};

/* --- Parameters --- */

/* "handoff.,breaker.opened": every part must begin some name. */
static enum problem_code read_kinds(const struct field *f, struct str rest, uint64_t (*kinds_of)(struct str prefix),
				    struct event_list *l, struct shape_reader *r)
{
	while (rest.p) {
		struct str prefix = str_trim(str_cut(&rest, ','));
		uint64_t some = prefix.n ? kinds_of(prefix) : 0;

		if (some == 0)
			return problem_set(r->problem, P_INVALID_FIELD, f->name.p, "%s: nothing is called \"%.*s\"; "
					   "expected beginnings of names, as in handoff.,memory.", f->name.p,
					   (int)(prefix.n < 64 ? prefix.n : 64), prefix.n ? prefix.p : "");
		l->filter.kinds |= some;
	}
	return P_OK;
}

static enum problem_code read_types(const struct field *f, const struct json *value, void *into,
				    struct shape_reader *r)
{
	return read_kinds(f, value->s, event_kinds_named, into, r);
}

static enum problem_code read_actions(const struct field *f, const struct json *value, void *into,
				      struct shape_reader *r)
{
	return read_kinds(f, value->s, event_kinds_acting, into, r);
}

/* A browser that reconnects sends Last-Event-ID with the address it had: that is the newer of the two. */
static enum problem_code read_after(const struct field *f, const struct json *value, void *into,
				    struct shape_reader *r)
{
	const struct call *call = r->ctx;

	return call->beside(call, "last-event-id").n ? P_OK : query_value(f, value->s, into, r);
}

static enum problem_code read_object(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	enum problem_code code = query_value(f, value->s, into, r);

	if (code == P_OK)
		event_filter_object(value->s, &((struct event_list *)into)->filter);
	return code;
}

static void from_nowhere(void *op)
{
	struct event_list *l = op;

	l->after = -1;
	l->limit = LIMIT_DEFAULT;
}

/* A stream, or a page. */
static size_t how_watched(const void *op)
{
	return ((const struct event_list *)op)->limit == 0 ? 0 : 1;
}

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
		FIELD_INT("after", struct event_list, after, 0, NO_MAX,
			  "Go on behind this event; 0: from the first on.",
			  .read = read_after, NOT_AN_EVENT),
		DOC_TEXT("types", 0, 0, "Beginnings of types without com.memoryspine., separated by commas: "
			 "handoff.,breaker.opened", .read = read_types),
		FIELD_INT("limit", struct event_list, limit, 1, LIMIT_MAX, "Of a page.", .otherwise = "100")),
	.query_into = INTO(struct event_list, op), .defaults = from_nowhere, .which = how_watched,
	ANSWERS(OTHER(200, "Events, without an end; or a page.", .media = "text/event-stream",
		      .schema = "'type':'string'"),
		OTHER(200, NULL, .shape = &event_page)),
	REFUSES(P_EVENTS_PRUNED, P_DRAINING),
};

const struct description describe_audit = {
	.id = "audit", .tag = "watching", .scope = SCOPE_READ,
	.summary = "Who did what to which object, and when",
	.says = "Every write, append-only. One answer goes through a bounded part of the history: a page may be short, "
		"or empty, and have a next one.",
	.query = INPUT(
		FIELD_INT("after", struct event_list, after, 0, NO_MAX, "Only entries with higher ids.", NOT_AN_EVENT),
		FIELD_NAME("actor", struct event_list, filter.actor, ACTOR_MAX, "What this one has done."),
		FIELD_KEY_ID("key", struct event_list, filter.access_key, "What was done with this key: key-7."),
		DOC_NAME("object", OBJECT_MAX,
			 "An id (ms-12, env-3, ho-7, al-2), or the name of an agent, channel or route.",
			 .read = read_object),
		DOC_TEXT("action", 0, 0, "Beginnings of actions, separated by commas: memory.forget,route.",
			 .read = read_actions),
		FIELD_TIME("since", struct event_list, since_ms, "Inclusive.", NOT_A_TIME),
		FIELD_TIME("until", struct event_list, until_ms, "Exclusive.", NOT_A_TIME),
		FIELD_ENUM("order", struct event_list, filter.newest_first, &words_oldest_newest, 0,
			   "Which comes first.", .otherwise = "'oldest'", .refusal = "is neither newest nor oldest"),
		PAGE_SIZE, PAGE_TOKEN),
	LISTS(struct event_list),
	ANSWERS(ANSWER(200, "A page.", &audit_page)),
	REFUSES(P_EVENTS_PRUNED, P_INVALID_PAGE_TOKEN),
};
