/* The settings of the space that the request is about; and the list of all spaces, for whoever runs the server. */
#include "api/decode.h"
#include "api/page.h"
#include "engine/queues.h"
#include "api/routes.h"
#include "engine/watch.h"
#include "codec/json_member.h"
#include "core/guard/redact.h"

struct space_settings {
	int64_t guard;
	int64_t memories;
};

static enum problem_code read_space(struct call *call, struct store_conn *c)
{
	struct space_settings *s = arena_zalloc(call->op->arena, sizeof(*s));
	enum store_status status = STORE_OK;

	call->input = s;
	if (call->op->space)
		status = store_space_guard(c, call->op->space, &s->guard);
	if (call->op->space && status == STORE_OK)
		status = store_space_count(c, call->op->space, &s->memories);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static enum problem_code decode_space(struct call *call)
{
	static const char *const known[] = {"guard", NULL};
	struct space_settings *s = arena_zalloc(call->op->arena, sizeof(*s));
	struct str name = STR("off");
	enum redact_policy policy;
	enum problem_code code = decode_str(&call->body, "guard", 1, 16, &name, &call->op->problem);

	call->input = s;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK && !redact_policy_parse(name, &policy))
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "guard",
				   "guard is \"%.*s\"; expected off, redact or refuse", STR_ARG(name));
	if (code == P_OK)
		s->guard = policy;
	return code;
}

static enum problem_code write_space(struct call *call, struct store_conn *c)
{
	struct space_settings *s = call->input;
	enum store_status status = store_space_set_guard(c, call->op->space, s->guard);

	call->op->told = (struct event_row){.kind = EVENT_SPACE_SET};
	if (status == STORE_OK)
		status = store_space_count(c, call->op->space, &s->memories);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_space(struct call *call)
{
	struct space_settings *s = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "name", call->op->space_name);
	json_member_cstr(&w, "guard", redact_policy_name((enum redact_policy)s->guard));
	json_member_int(&w, "memories", s->memories);
	call_end_reply(call, &w);
}

/* --- GET /v1/spaces --- */

struct space_list {
	struct page page;
	struct space_row *rows;
	size_t count;
	bool has_more;
	struct queues_sum *sums;
	size_t sum_count;
};

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct space_list *l = arena_zalloc(call->op->arena, sizeof(*l));

	call->input = l;
	return page_read_only(call, known, &l->page);
}

static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct space_list *l = call->input;
	struct writer_stats writer;
	enum store_status status;

	l->rows = arena_calloc(call->op->arena, l->page.size + 1, sizeof(*l->rows));
	status = store_spaces(c, (int64_t)l->page.position, l->page.size + 1, call->op->arena, l->rows, &l->count);
	l->has_more = l->count > l->page.size;
	if (l->has_more)
		l->count = l->page.size;
	writer_stats(call->api->engine->writer, &writer);
	if (status == STORE_OK)
		status = queues_read(watch_queues(call->api->engine->watch), c, writer.commits, 0, call->op->arena, NULL, NULL,
				     &l->sums, &l->sum_count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_list(struct call *call)
{
	const struct space_list *l = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "spaces");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		struct target_counts counts = queues_sum_of(l->sums, l->sum_count, l->rows[i].id).counts;

		json_begin_object(&w);
		json_member_str(&w, "name", l->rows[i].name);
		json_member_int(&w, "memories", l->rows[i].memories);
		json_member_int(&w, "handoffs_open", counts.queued + counts.leased + counts.working);
		json_member_int(&w, "parked", counts.parked);
		json_member_time(&w, "created_at", l->rows[i].created_at_ms);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->has_more, l->count ? (uint64_t)l->rows[l->count - 1].id : 0, 0);
	call_end_reply(call, &w);
}

const struct route space_routes[] = {
	{HTTP_GET, "/v1/spaces", ROUTE_NO_SPACE, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/space", 0, .read = read_space, .encode = encode_space},
	{HTTP_PUT, "/v1/space", ROUTE_BODY | ROUTE_CREATES, .decode = decode_space, .write = write_space,
	 .encode = encode_space},
	{0},
};
