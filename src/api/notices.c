#include "api/notices.h"

#include "codec/json_member.h"
#include "core/envelope/envelope.h"
#include "core/delivery/handoff_id.h"

void notices_put(const struct notices *n, struct json_writer *w)
{
	char id[HANDOFF_ID_SIZE], envelope[ENVELOPE_ID_SIZE];

	if (n->count == 0)
		return;
	json_key(w, "notices");
	json_begin_array(w);
	for (size_t i = 0; i < n->count; i++) {
		const struct handoff_row *h = &n->rows[i];

		json_begin_object(w);
		json_member_cstr(w, "event", "handoff.parked");
		handoff_id_format(h->num, id);
		json_member_cstr(w, "handoff", id);
		envelope_id_format(h->envelope, envelope);
		json_member_cstr(w, "envelope_id", envelope);
		json_member_str(w, "to", h->target_name);
		json_member_optional(w, "reason", h->reason);
		json_end_object(w);
	}
	json_end_array(w);
}
