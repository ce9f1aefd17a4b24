/* The settings of the space that the request is about. */
#include "api/decode.h"
#include "api/routes.h"
#include "core/redact.h"

struct space_settings {
	int64_t guard;
	int64_t memories;
};

static enum problem_code read_space(struct call *call, struct store_conn *c)
{
	struct space_settings *s = arena_zalloc(call->arena, sizeof(*s));
	enum store_status status = STORE_OK;

	call->input = s;
	if (call->space)
		status = store_space_guard(c, call->space, &s->guard);
	if (call->space && status == STORE_OK)
		status = store_space_count(c, call->space, &s->memories);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static enum problem_code decode_space(struct call *call)
{
	static const char *const known[] = {"guard", NULL};
	struct space_settings *s = arena_zalloc(call->arena, sizeof(*s));
	struct str name = STR("off");
	enum redact_policy policy;
	enum problem_code code = decode_str(&call->body, "guard", 1, 16, &name, &call->problem);

	call->input = s;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK && !redact_policy_parse(name, &policy))
		code = problem_set(&call->problem, P_INVALID_FIELD, "guard", "guard is \"%.*s\"; expected off, redact or refuse", STR_ARG(name));
	if (code == P_OK)
		s->guard = policy;
	return code;
}

static enum problem_code write_space(struct call *call, struct store_conn *c)
{
	struct space_settings *s = call->input;
	enum store_status status = store_space_set_guard(c, call->space, s->guard);

	call->told = (struct event_row){.kind = EVENT_SPACE_SET};
	if (status == STORE_OK)
		status = store_space_count(c, call->space, &s->memories);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static void encode_space(struct call *call)
{
	struct space_settings *s = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "name", call->space_name);
	json_member_cstr(&w, "guard", redact_policy_name((enum redact_policy)s->guard));
	json_member_int(&w, "memories", s->memories);
	call_end_reply(call, &w);
}

const struct route space_routes[] = {
	{HTTP_GET, "/v1/space", 0, .read = read_space, .encode = encode_space},
	{HTTP_PUT, "/v1/space", ROUTE_BODY | ROUTE_CREATES, .decode = decode_space, .write = write_space, .encode = encode_space},
	{0},
};
