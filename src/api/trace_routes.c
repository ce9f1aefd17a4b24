/* GET /v1/tasks/{id}/trace: everything that happened to a task, in order: who handed what to whom, and what became
 * of it. */
#include "api/handoff_json.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/watch/trace_get.h"

enum { ENVELOPES_MAX = 200 };

static enum problem_code decode_trace(struct call *call)
{
	static const char *const known[] = {NULL};
	struct trace_get *t = call_op(call);
	enum problem_code code = page_read_only(call, known, &t->page);

	t->task = call->params[0];
	if (t->page.size > ENVELOPES_MAX || call_query(call, "page_size").p == NULL)
		t->page.size = ENVELOPES_MAX;
	return code;
}

static void put_envelope(struct json_writer *w, const struct envelope *e)
{
	char id[ENVELOPE_ID_SIZE];

	json_begin_object(w);
	envelope_id_format(e->num, id);
	json_member_cstr(w, "id", id);
	json_member_optional(w, "from", e->from);
	json_member_str(w, "to", e->to);
	json_key(w, "parent");
	if (e->parent) {
		envelope_id_format(e->parent, id);
		json_put_cstr(w, id);
	} else {
		json_put_null(w);
	}
	json_member_int(w, "hop", e->hop);
	json_member_time(w, "created_at", e->created_at_ms);
	json_member_int(w, "token_count", e->token_count);
	json_member_int(w, "max_tokens", e->max_tokens);
	json_member_str(w, "summary", e->summary);
	json_member_int(w, "refs", (int64_t)e->ref_count);
	json_member_int(w, "missing", (int64_t)e->missing_count);
	json_member_int(w, "trimmed", (int64_t)e->trim_count);
	json_end_object(w);
}

static void encode_trace(struct call *call)
{
	const struct trace_get *t = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", t->task);
	json_key(&w, "envelopes");
	json_begin_array(&w);
	for (size_t i = 0; i < t->envelope_count; i++)
		put_envelope(&w, &t->envelopes[i]);
	json_end_array(&w);
	json_key(&w, "handoffs");
	json_begin_array(&w);
	for (size_t i = 0; i < t->handoff_count; i++)
		handoff_json_put(&w, &t->handoffs[i]);
	json_end_array(&w);
	json_key(&w, "events");
	json_begin_array(&w);
	for (size_t i = 0; i < t->event_count; i++)
		handoff_json_put_event(&w, &t->events[i]);
	json_end_array(&w);
	page_put_next(call, &t->page, &w, t->has_more, t->has_more ? t->envelopes[t->envelope_count - 1].num : 0, 0);
	call_end_reply(call, &w);
}

const struct route trace_routes[] = {
	{HTTP_GET, "/v1/tasks/{}/trace", &trace_get_kind, &describe_trace_task, decode_trace, encode_trace},
	{0},
};
