#include "api/handoff_json.h"

#include "codec/json_member.h"
#include "core/envelope/envelope.h"
#include "core/delivery/handoff_id.h"

static void put_raw(struct json_writer *w, const char *name, struct str json, const char *otherwise)
{
	json_key(w, name);
	json_put_raw(w, json.p ? json : str_of(otherwise));
}

void handoff_json_members(struct json_writer *w, const struct handoff_row *h)
{
	char id[HANDOFF_ID_SIZE], envelope[ENVELOPE_ID_SIZE];

	handoff_id_format(h->num, id);
	envelope_id_format(h->envelope, envelope);
	json_member_cstr(w, "id", id);
	json_member_cstr(w, "envelope_id", envelope);
	json_member_cstr(w, "state", handoff_state_name(h->state));
	json_member_optional(w, "from", h->from);
	json_member_str(w, "to", h->agent_name);
	/* Whom the sender named, where a fallback has taken over. */
	json_member_str(w, "target", h->target_name);
	json_member_optional(w, "channel", h->channel_name);
	json_member_int(w, "priority", h->priority);
	json_member_int(w, "attempt", h->attempt);
	json_member_int(w, "max_attempts", h->max_attempts);
	put_raw(w, "fallbacks", h->fallbacks, "[]");
	json_member_optional(w, "receiver", h->receiver);
	json_member_optional(w, "progress", h->progress);
	json_member_optional(w, "reason", h->reason);
	json_member_time_optional(w, "created_at", h->created_at_ms);
	json_member_time_optional(w, "changed_at", h->changed_at_ms);
	json_member_time_optional(w, "acked_at", h->acked_at_ms);
	/* When something happens by itself: the next attempt, or the end of a lease or a timeout. */
	json_member_time_optional(w, "due_at", h->due_ms);
	json_member_bool(w, "work_lease", h->state == HANDOFF_WORKING);
}

void handoff_json_put(struct json_writer *w, const struct handoff_row *h)
{
	json_begin_object(w);
	handoff_json_members(w, h);
	json_end_object(w);
}

void handoff_json_put_event(struct json_writer *w, const struct event_row *event)
{
	char id[HANDOFF_ID_SIZE], envelope[ENVELOPE_ID_SIZE];

	json_begin_object(w);
	json_member_int(w, "id", event->id);
	json_member_time_optional(w, "at", event->at_ms);
	json_member_cstr(w, "event", event_name(event->kind));
	if (event->handoff) {
		handoff_id_format(event->handoff, id);
		json_member_cstr(w, "handoff", id);
	}
	if (event->envelope) {
		envelope_id_format(event->envelope, envelope);
		json_member_cstr(w, "envelope_id", envelope);
		json_member_int(w, "attempt", event->attempt);
	}
	json_member_optional(w, "agent", event->agent);
	json_member_optional(w, "actor", event->actor);
	json_member_optional(w, "note", event->note);
	json_end_object(w);
}

void handoff_json_result_memory(struct json_writer *w, uint64_t num)
{
	char id[MEMORY_ID_SIZE];

	if (num)
		memory_id_format(num, 0, id);
	json_member_optional(w, "result_memory", num ? str_of(id) : STR_NULL);
}

void handoff_json_result(struct json_writer *w, const struct result_row *r)
{
	put_raw(w, "result", r->result, "null");
	handoff_json_result_memory(w, r->memory);
	if (r->is_forgotten)
		json_member_cstr(w, "result_state", "forgotten");
	put_raw(w, "gaps", r->gaps, "[]");
	json_key(w, "input_tokens");
	if (r->input_tokens >= 0)
		json_put_int(w, r->input_tokens);
	else
		json_put_null(w);
}

enum problem_code handoff_path_id(struct call *call, uint64_t *ret)
{
	if (handoff_id_parse(call->params[0], ret))
		return P_OK;
	return call_refuse(call, P_HANDOFF_NOT_FOUND, "id",
			   "\"%.*s\" is not an id of a handoff; ids look like ho-17",
			   (int)(call->params[0].n < 64 ? call->params[0].n : 64), call->params[0].p);
}
