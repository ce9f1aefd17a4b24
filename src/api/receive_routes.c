/* Receivers: they take what is queued for their agent, or wait for it.
 *
 *     POST /v1/agents/{agent}/receive   a long poll: one answer
 *     GET  /v1/agents/{agent}/stream    server-sent events: one handoff after the other, the next when the last was
 *                                       settled
 */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/reply.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/taken_json.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"
#include "engine/delivery/receive.h"

enum { NAME_MAX_BYTES = 128, WAIT_MAX_MS = 60000, TAKE_MAX = 100 };

static enum problem_code read_format(struct call *call, struct receive *r, struct str format)
{
	enum problem_code code = P_OK;

	r->with_envelope = str_is(format, "both") || str_is(format, "envelope");
	r->with_prompt = str_is(format, "both") || str_is(format, "prompt");
	if (!r->with_envelope && !r->with_prompt && !str_is(format, "none"))
		code = call_refuse(call, P_INVALID_FIELD, "format", "format is \"%.*s\"; expected envelope, "
				   "prompt, both or none", STR_ARG(format));
	return code;
}

static enum problem_code decode_receive(struct call *call)
{
	static const char *const known[] = {"wait_s", "max", "lease_s", "instance", "format", NULL};
	struct receive *r = call_op(call);
	const struct json *b = &call->body;
	struct problem *p = &call->op->problem;
	struct str format = STR("both");
	enum problem_code code;

	r->agent = call->params[0];
	r->max = 1;
	call_warn_unknown_members(call, b, known, "");
	if ((code = decode_check_agent(call->params[0], "agent", p)) != P_OK ||
	    (code = decode_seconds(b, "wait_s", 0, WAIT_MAX_MS, &r->wait_ms, p)) != P_OK ||
	    (code = decode_seconds(b, "lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, &r->lease_ms, p)) != P_OK ||
	    (code = decode_int(b, "max", 1, TAKE_MAX, &r->max, p)) != P_OK ||
	    (code = decode_str(b, "instance", 1, NAME_MAX_BYTES, &r->instance, p)) != P_OK ||
	    (code = r->instance.p ? decode_check_name(r->instance, "instance", NAME_MAX_BYTES, p) : P_OK) != P_OK ||
	    (code = decode_str(b, "format", 1, 16, &format, p)) != P_OK)
		return code;
	code = read_format(call, r, format);
	if (code == P_OK)
		op_may_wait(call->op, r->wait_ms);
	return code;
}

/* On the HTTP thread, after the commit: what was taken is read on the thread's own connection. */
static void put_rows(struct call *call, struct json_writer *w, bool as_list)
{
	struct receive *r = call_op(call);
	struct store_conn *c = call->op->reader->conn;
	struct problem problem = {0};
	struct agent agent = {.accepts_v2 = true};
	struct taken_form form = {.with_envelope = r->with_envelope, .with_prompt = r->with_prompt};

	if (r->count == 1 && !call->is_stream) {
		form.api = call->api;
		form.ret_traceparent = &call->traceparent;
	}
	if (r->count)
		agent_read(c, call->op->space, call->params[0], call->op->arena, &agent, &problem);
	form.is_v1 = !agent.accepts_v2;
	if (as_list)
		json_begin_array(w);
	for (size_t i = 0; i < r->count; i++)
		taken_json_put(w, c, &r->rows[i], form, call->op->arena);
	if (as_list)
		json_end_array(w);
}

static void encode_receive(struct call *call)
{
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "handoffs");
	put_rows(call, &w, true);
	call_end_reply(call, &w);
}

/* --- The stream --- */

static enum problem_code read_lease_s(struct call *call, struct receive *r)
{
	struct str text = call_query(call, "lease_s");
	struct json value;
	struct json_error error;
	struct json_member member = {STR("lease_s"), {0}};
	struct json object = {.type = JSON_OBJECT, .count = 1, .members = &member};

	if (text.p == NULL)
		return P_OK;
	member.value = json_parse(text, 1, call->op->arena, &value, &error) ? value
									: (struct json){.type = JSON_STRING, .s = text};
	return decode_seconds(&object, "lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, &r->lease_ms, &call->op->problem);
}

static void stream_finish(struct call *call);

static void heartbeat(struct http_req *req, void *arg)
{
	struct call *call = arg;

	if (http_server_is_draining(call->api->http)) {
		engine_nudge(call->op);
		return;
	}
	http_stream_write(req, STR(": still here\n\n"));
	http_req_set_timer(req, call->api->limits.heartbeat_ms, heartbeat, call);
}

static void on_gone(struct http_req *req, void *arg)
{
	(void)req;
	engine_nudge(arg);
}

static enum problem_code decode_stream(struct call *call)
{
	static const struct http_header headers[] = {{"Cache-Control", {"no-store", 8}}, {0}};
	struct receive *r = call_op(call);
	struct arena *round = arena_zalloc(call->op->arena, sizeof(*round));	/* a stream lives long */
	struct str format = call_query(call, "format");
	enum problem_code code = decode_check_agent(call->params[0], "agent", &call->op->problem);

	r->agent = call->params[0];
	/* Elsewhere HEAD is a GET without a body; here it would take a handoff and show it to nobody. */
	if (http_req_method(call->req) == HTTP_HEAD) {
		call->location = STR("GET");
		return call_refuse(call, P_METHOD_NOT_ALLOWED, NULL, "HEAD is not a method of this address; "
				   "it takes GET");
	}
	r->max = 1;
	r->instance = call_query(call, "instance");
	if (code == P_OK && r->instance.p)
		code = decode_check_name(r->instance, "instance", NAME_MAX_BYTES, &call->op->problem);
	if (code == P_OK)
		code = read_format(call, r, format.p ? format : STR("both"));
	if (code == P_OK)
		code = read_lease_s(call, r);
	if (code == P_OK && atomic_load(&call->api->engine->draining))
		code = call_refuse(call, P_DRAINING, NULL, "the server is stopping");
	if (code != P_OK)
		return code;
	http_stream_begin(call->req, 200, "text/event-stream", headers);
	http_stream_write(call->req, STR(": handoffs follow as they come; settle each one, and the next is sent\n\n"));
	http_req_set_timer(call->req, call->api->limits.heartbeat_ms, heartbeat, call);
	http_req_on_gone(call->req, on_gone, call->op);
	call->is_stream = true;
	call->finish = stream_finish;
	call->op->arena = round;
	arena_init(round);
	return P_OK;
}

/* On the HTTP thread: a handoff is there, or it is over. */
static void stream_finish(struct call *call)
{
	struct receive *r = call_op(call);
	char lease[HANDOFF_ID_SIZE];
	struct json_writer w;

	if (call->op->problem.code != P_OK || http_req_is_gone(call->req) || call->op->wait.is_over || r->count == 0) {
		reply_send(call);
		return;
	}
	handoff_lease_format(r->rows[0].num, r->rows[0].leases, lease);
	buf_printf(&call->reply, "event: handoff\nid: %s\ndata: ", lease);
	json_writer_init(&w, &call->reply);
	put_rows(call, &w, false);
	buf_puts(&call->reply, "\n\n");
	http_stream_write(call->req, buf_str(&call->reply));
	buf_release(&call->reply);
	r->held = r->rows[0].num;
	r->held_lease = r->rows[0].leases;
	arena_release(call->op->arena);
	engine_run_again(call->op);
}

const struct route receive_routes[] = {
	{HTTP_POST, "/v1/agents/{}/receive", &receive_kind, &describe_receive, decode_receive, encode_receive},
	{HTTP_GET, "/v1/agents/{}/stream", &receive_stream_kind, &describe_stream_handoffs, decode_stream, encode_receive},
	{0},
};
