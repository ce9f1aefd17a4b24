#include "api/considered_json.h"

#include "codec/json_member.h"

#include <math.h>

static void put_item(struct json_writer *w, const struct considered_item *item)
{
	char id[MEMORY_ID_SIZE];

	memory_id_format(item->num, 0, id);
	json_begin_object(w);
	json_member_cstr(w, "id", id);
	json_member_cstr(w, "why", envelope_why_name(item->why));
	json_member_double(w, "relevance", round(item->relevance * 1000) / 1000);
	json_member_str(w, "fate", item->fate);
	json_member_optional(w, "reason", item->reason);
	if (item->repeats) {
		memory_id_format(item->repeats, 0, id);
		json_member_cstr(w, "repeats", id);
	}
	json_key(w, "tokens");
	if (item->tokens)
		json_put_int(w, item->tokens);
	else
		json_put_null(w);
	json_member_optional(w, "text", item->text);
	json_end_object(w);
}

void considered_json_put(struct json_writer *w, const struct considered *considered)
{
	json_member_bool(w, "recorded", considered->is_recorded);
	if (considered->is_recorded) {
		json_member_double(w, "floor", considered->floor);
		json_member_int(w, "include_recent", considered->include_recent);
		json_member_cstr(w, "scope", considered->whole_space ? "space" : "task");
	}
	json_key(w, "considered");
	json_begin_array(w);
	for (size_t i = 0; i < considered->count; i++)
		put_item(w, &considered->items[i]);
	json_end_array(w);
}
