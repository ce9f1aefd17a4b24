#include "api/fidelity_json.h"

#include "codec/json_member.h"

void fidelity_json_id(struct json_writer *w, const char *key, uint64_t num)
{
	char id[ENVELOPE_ID_SIZE];

	envelope_id_format(num, id);
	json_member_optional(w, key, num ? str_of(id) : STR_NULL);
}

void fidelity_json_hop(struct json_writer *w, const struct envelope *e)
{
	fidelity_json_id(w, "envelope", e->num);
	fidelity_json_id(w, "parent", e->parent);
	json_member_int(w, "hop", e->hop);
	json_member_optional(w, "from", e->from);
	json_member_str(w, "to", e->to);
	json_member_time(w, "created_at", e->created_at_ms);
}

static void put_item(struct json_writer *w, const struct fidelity_item *item)
{
	json_begin_object(w);
	json_member_cstr(w, "kind", fidelity_kind_name(item->kind));
	json_member_cstr(w, "fate", fidelity_fate_name(item->fate));
	if (item->key.n)
		json_member_str(w, "key", item->key);
	if (item->before && item->fate != FATE_KEPT) {
		json_key(w, "before");
		json_put_canonical(w, item->before);
	}
	if (item->after && item->fate != FATE_KEPT) {
		json_key(w, "after");
		json_put_canonical(w, item->after);
	}
	if (item->reason.p)
		json_member_str(w, "reason", item->reason);
	if (item->by.p)
		json_member_str(w, "by", item->by);
	json_end_object(w);
}

void fidelity_json_put(struct json_writer *w, const struct fidelity *f)
{
	json_member_double(w, "score", f->score);
	json_member_int(w, "kept", (int64_t)f->kept);
	json_member_int(w, "total", (int64_t)f->total);
	json_key(w, "changes");
	json_begin_array(w);
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].fate != FATE_KEPT)
			put_item(w, &f->items[i]);
	json_end_array(w);
}
