/* GET /v1/tasks/{id}/trace: everything that happened to a task, in order: who handed what to whom, and what became
 * of it. */
#include "api/handoff_json.h"
#include "api/page.h"
#include "api/routes.h"
#include "api/task.h"
#include "codec/json_member.h"
#include "core/envelope/unpack.h"

#include <stdlib.h>

enum { ENVELOPES_MAX = 200, HANDOFFS_OF_ONE = 100, EVENTS_OF_ONE = 100 };

struct trace {
	struct page page;
	struct envelope *envelopes;
	size_t envelope_count;
	bool more;
	struct handoff_row *handoffs;
	size_t handoff_count;
	size_t handoff_room;
	struct event_row *events;
	size_t event_count;
	size_t event_room;
	/* Room to read into, again and again. */
	struct handoff_row *handoffs_of_one;
	struct event_row *events_of_one;
};

static enum problem_code decode_trace(struct call *call)
{
	static const char *const known[] = {NULL};
	struct trace *t = arena_zalloc(call->op->arena, sizeof(*t));
	enum problem_code code = page_read_only(call, known, &t->page);

	call->input = t;
	if (t->page.size > ENVELOPES_MAX || call_query(call, "page_size").p == NULL)
		t->page.size = ENVELOPES_MAX;
	return code;
}

/* Makes room for that many more; what the arena held before is left to it. */
static void *grow(struct arena *arena, void *items, size_t count, size_t *room, size_t more, size_t size)
{
	void *larger;

	if (count + more <= *room)
		return items;
	*room = 2 * *room + more;
	larger = arena_calloc(arena, *room, size);
	if (count)
		memcpy(larger, items, count * size);
	return larger;
}

static enum problem_code add_events(struct call *call, struct store_conn *c, struct trace *t, uint64_t handoff)
{
	struct event_row *found = t->events_of_one;
	size_t count = EVENTS_OF_ONE;
	int64_t after = 0;

	while (count == EVENTS_OF_ONE) {
		enum store_status status = store_events(c, call->op->space, handoff, after, EVENTS_OF_ONE, call->op->arena,
							found, &count);

		if (status != STORE_OK)
			return problem_of_store(&call->op->problem, status);
		if (count == 0)
			break;
		t->events = grow(call->op->arena, t->events, t->event_count, &t->event_room, count, sizeof(*t->events));
		memcpy(t->events + t->event_count, found, count * sizeof(*found));
		t->event_count += count;
		after = found[count - 1].id;
	}
	return P_OK;
}

static enum problem_code add_handoffs(struct call *call, struct store_conn *c, struct trace *t, uint64_t envelope)
{
	struct handoff_filter filter = {.space = call->op->space, .envelope = envelope};
	struct handoff_row *found = t->handoffs_of_one;
	size_t count = HANDOFFS_OF_ONE;
	uint64_t after = 0;
	enum problem_code code = P_OK;

	while (code == P_OK && count == HANDOFFS_OF_ONE) {
		enum store_status status = store_handoffs(c, &filter, after, HANDOFFS_OF_ONE, call->op->arena, found,
							  &count);

		if (status != STORE_OK)
			return problem_of_store(&call->op->problem, status);
		t->handoffs = grow(call->op->arena, t->handoffs, t->handoff_count, &t->handoff_room, count,
				   sizeof(*t->handoffs));
		for (size_t i = 0; code == P_OK && i < count; i++) {
			t->handoffs[t->handoff_count++] = found[i];
			after = found[i].num;
			code = add_events(call, c, t, found[i].num);
		}
	}
	return code;
}

static int compare_events(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static enum problem_code read_trace(struct call *call, struct store_conn *c)
{
	struct trace *t = call->input;
	struct envelope_row *rows = arena_calloc(call->op->arena, t->page.size + 1, sizeof(*rows));
	size_t count = 0;
	enum problem_code code = task_envelopes(call, c, t->page.position, t->page.size, rows, &count, &t->more);

	if (code == P_OK && count == 0 && t->page.position == 0)
		code = task_not_found(call);
	if (code != P_OK)
		return code;
	t->envelopes = arena_calloc(call->op->arena, count, sizeof(*t->envelopes));
	t->handoffs_of_one = arena_calloc(call->op->arena, HANDOFFS_OF_ONE, sizeof(*t->handoffs_of_one));
	t->events_of_one = arena_calloc(call->op->arena, EVENTS_OF_ONE, sizeof(*t->events_of_one));
	for (; code == P_OK && t->envelope_count < count; t->envelope_count++) {
		code = unpack_skeleton(&rows[t->envelope_count], call->op->arena, &t->envelopes[t->envelope_count],
				       &call->op->problem);
		if (code == P_OK)
			code = add_handoffs(call, c, t, rows[t->envelope_count].num);
	}
	if (t->event_count)
		qsort(t->events, t->event_count, sizeof(*t->events), compare_events);
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
	struct trace *t = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", call->params[0]);
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
	page_put_next(call, &t->page, &w, t->more, t->more ? t->envelopes[t->envelope_count - 1].num : 0, 0);
	call_end_reply(call, &w);
}

const struct route trace_routes[] = {
	{HTTP_GET, "/v1/tasks/{}/trace", 0, .decode = decode_trace, .read = read_trace, .encode = encode_trace},
	{0},
};
