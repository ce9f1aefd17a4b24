#include "api/since_json.h"

#include "codec/json_member.h"
#include "core/delivery/handoff_id.h"

/* What became of a memory since the envelope was packed; NULL where that is nothing. */
static const char *news_of(const struct envelope_ref *r, int64_t now_ms)
{
	if (r->now.forgotten)
		return "forgotten";
	if (r->now.quarantined)
		return "quarantined";
	if (r->now.superseded_by && r->now.superseded_by != r->superseded_by)
		return "superseded";
	if (r->now.expires_at_ms && r->now.expires_at_ms <= now_ms)
		return "expired";
	return r->now.version > r->id.version ? "updated" : NULL;
}

static void put_memory(struct json_writer *w, const struct envelope_ref *r, const char *event)
{
	char id[MEMORY_ID_SIZE];

	json_begin_object(w);
	memory_id_format(r->id.num, 0, id);
	json_member_cstr(w, "id", id);
	json_member_cstr(w, "event", event);
	if (strcmp(event, "superseded") == 0) {
		memory_id_format(r->now.superseded_by, 0, id);
		json_member_cstr(w, "by", id);
	} else if (strcmp(event, "updated") == 0) {
		json_member_int(w, "version", r->now.version);
	}
	json_end_object(w);
}

/* One that no memory may hold has no id: its handoff has it. */
static void put_result(struct json_writer *w, const struct past_result *r)
{
	char id[MEMORY_ID_SIZE], handoff[HANDOFF_ID_SIZE];

	json_begin_object(w);
	memory_id_format(r->memory, 0, id);
	handoff_id_format(r->handoff, handoff);
	json_member_optional(w, "id", r->memory ? str_of(id) : STR_NULL);
	json_member_cstr(w, "event", "result");
	json_member_cstr(w, "handoff", handoff);
	json_member_str(w, "agent", r->agent);
	json_member_time(w, "at", r->at_ms);
	json_end_object(w);
}

void since_json_put(struct json_writer *w, const struct envelope *e, const struct since_result *results, size_t count,
		    int64_t now_ms)
{
	json_begin_array(w);
	for (size_t i = 0; i < e->ref_count; i++) {
		const char *event = news_of(&e->refs[i], now_ms);

		if (event)
			put_memory(w, &e->refs[i], event);
	}
	for (size_t i = 0; i < count; i++)
		put_result(w, &results[i].past);
	json_end_array(w);
}
