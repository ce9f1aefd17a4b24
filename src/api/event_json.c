#include "api/event_json.h"

#include "codec/json_member.h"
#include "core/envelope/envelope.h"
#include "core/watch/event.h"
#include "core/delivery/handoff_id.h"
#include "core/memory/memory_id.h"

#define TYPE_PREFIX "com.memoryspine."

static void put_ids(struct json_writer *w, const struct event_row *event)
{
	char handoff[HANDOFF_ID_SIZE], envelope[ENVELOPE_ID_SIZE], memory[MEMORY_ID_SIZE];

	if (event->handoff) {
		handoff_id_format(event->handoff, handoff);
		json_member_cstr(w, "handoff", handoff);
		json_member_int(w, "attempt", event->attempt);
	}
	if (event->envelope) {
		envelope_id_format(event->envelope, envelope);
		json_member_cstr(w, "envelope_id", envelope);
	}
	if (event->memory) {
		memory_id_format(event->memory, 0, memory);
		json_member_cstr(w, "memory", memory);
	}
}

/* Figures that only some kinds have; see core/watch/event.h. An envelope's note is a figure, too. */
static bool put_figures(struct json_writer *w, const struct event_row *event)
{
	uint64_t waivers = 0;

	if (event->kind == EVENT_ACKED)
		json_member_int(w, "latency_ms", (int64_t)event->value[0]);
	if (event->kind != EVENT_ENVELOPE_PACKED)
		return false;
	if (event->note.p)
		str_to_u64(event->note, &waivers);
	json_member_int(w, "hop", event->attempt);
	json_member_double(w, "completeness", event->value[0]);
	json_member_double(w, "utilization", event->value[1]);
	json_member_int(w, "waivers", (int64_t)waivers);
	return true;
}

void event_json_put(struct json_writer *w, const struct event_row *event, struct str space_name, struct arena *arena)
{
	char id[STR_U64_SIZE];
	struct str object = event_object(event, space_name, arena);

	json_begin_object(w);
	json_member_cstr(w, "specversion", "1.0");
	json_member_str(w, "id", (struct str){id, str_put_u64(id, (uint64_t)event->id)});
	json_member_str(w, "source", arena_printf(arena, "/spaces/%.*s", STR_ARG(space_name)));
	json_member_str(w, "type", arena_printf(arena, TYPE_PREFIX "%s", event_name(event->kind)));
	json_member_time(w, "time", event->at_ms);
	if (object.n)
		json_member_str(w, "subject", object);
	json_member_cstr(w, "datacontenttype", "application/json");
	json_key(w, "data");
	json_begin_object(w);
	put_ids(w, event);
	json_member_optional(w, "agent", event->agent);
	json_member_optional(w, "actor", event->actor);
	if (!put_figures(w, event))
		json_member_optional(w, "note", event->note);
	json_end_object(w);
	json_end_object(w);
}

void event_json_put_entry(struct json_writer *w, const struct event_row *event, struct str space_name,
			  struct arena *arena)
{
	struct str object = event_object(event, space_name, arena);

	json_begin_object(w);
	json_member_int(w, "id", event->id);
	json_member_time(w, "at", event->at_ms);
	json_member_optional(w, "actor", event->actor);
	json_member_cstr(w, "action", event_action(event->kind));
	json_member_optional(w, "object", object);
	json_member_str(w, "space", space_name);
	json_member_optional(w, "agent", event->agent);
	json_member_optional(w, "note", event->kind == EVENT_ENVELOPE_PACKED ? STR_NULL : event->note);
	json_end_object(w);
}
