/* Receivers: they take what is queued for their agent, or wait for it.
 *
 *     POST /v1/agents/{agent}/receive   a long poll: one answer
 *     GET  /v1/agents/{agent}/peek      the same without taking: what is there, or will be
 *     GET  /v1/agents/{agent}/stream    server-sent events: one handoff after the other, the next when the last was
 *                                       settled
 */
#include "api/describe/write.h"
#include "api/http/reply.h"
#include "api/describe/descriptions.h"
#include "api/gate.h"
#include "api/describe/shapes.h"
#include "api/routes.h"
#include "api/taken_json.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"
#include "engine/delivery/peek.h"
#include "engine/delivery/receive.h"

/* On the HTTP thread, after the commit: what was taken is read on the thread's own connection. */
static void put_rows(struct call *call, struct json_writer *w, bool as_list)
{
	struct receive *r = call_op(call);
	struct problem problem = {0};
	struct agent agent = {.accepts_v2 = true};
	size_t weight = 0;
	struct taken_form form = {
		.conn = call->op->reader->conn, .arena = call->op->arena, .with_envelope = r->with_envelope,
		.with_prompt = r->with_prompt, .weight = call->may_leave ? &weight : NULL,
	};

	if (r->count == 1 && as_list) {
		form.api = call->api;
		form.ret_traceparent = &call->traceparent;
	}
	if (r->count)
		agent_read(form.conn, call->op->space, r->agent, call->op->arena, &agent, &problem);
	form.is_v1 = !agent.accepts_v2;
	if (as_list)
		json_begin_array(w);
	for (size_t i = 0; i < r->count; i++)
		shape_write_with(&shape_taken, &r->rows[i], &form, w);
	if (as_list)
		json_end_array(w);
	call->leaves = op_takes_long(weight);
}

static void encode_receive(struct call *call)
{
	const struct receive *r = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "handoffs");
	put_rows(call, &w, true);
	if (r->settle_count) {
		json_key(&w, "settled");
		json_begin_array(&w);
		for (size_t i = 0; i < r->settle_count; i++)
			shape_write_with(&shape_outcome, &r->settles[i], call, &w);
		json_end_array(&w);
	}
	call_end_reply(call, &w);
}

/* --- The stream --- */

static void stream_finish(struct http_call *http);

static void heartbeat(struct http_req *req, void *arg)
{
	const struct call *call = arg;

	if (api_is_ending(call->api)) {
		engine_nudge(call->op);
		return;
	}
	http_stream_write(req, STR(": still here\n\n"));
	http_req_set_timer(req, call->api->limits.heartbeat_ms, heartbeat, arg);
}

static void on_gone(struct http_req *req, void *arg)
{
	(void)req;
	engine_nudge(arg);
}

static void on_unwelcome(void *op)
{
	engine_nudge(op);
}

/* Only now: what is refused before is answered with its own status, and says when to come again. */
static void begin_stream(struct http_call *http)
{
	static const struct http_header headers[] = {{"Cache-Control", {"no-store", 8}}, {0}};

	if (http->is_stream)
		return;
	http->is_stream = true;
	http_stream_begin(http->req, 200, "text/event-stream", headers);
	http_stream_write(http->req, STR(": handoffs follow as they come; settle each one, and the next is sent\n\n"));
	http_req_set_timer(http->req, http->call.api->limits.heartbeat_ms, heartbeat, &http->call);
}

static void on_waiting(void *arg)
{
	const struct op *op = arg;

	begin_stream(op->ctx);
}

static enum problem_code decode_stream(struct call *call)
{
	struct receive *r = call_op(call);
	struct http_call *http = http_call_of(call);
	struct arena *round = arena_zalloc(call->op->arena, sizeof(*round));	/* a stream lives long */

	/* Elsewhere HEAD is a GET without a body; here it would take a handoff and show it to nobody. */
	if (http_req_method(http->req) == HTTP_HEAD) {
		call->location = STR("GET");
		return call_refuse(call, P_METHOD_NOT_ALLOWED, NULL, "HEAD is not a method of this address; "
				   "it takes GET");
	}
	if (atomic_load(&call->api->engine->draining))
		return call_refuse(call, P_DRAINING, NULL, "the server is stopping");
	http_req_on_gone(http->req, on_gone, call->op);
	held_add(call->api, http->req, &http->held, call->op->access, on_unwelcome, call->op);
	http->finish = stream_finish;
	r->begins = on_waiting;
	call->op->arena = round;
	arena_init(round);
	return P_OK;
}

static void end_stream(struct http_call *http)
{
	struct op *op = http->call.op;

	if (op->problem.code == P_OK)
		begin_stream(http);
	if (!http->is_stream) {
		arena_release(op->arena);
		op->arena = http_req_arena(http->req);
	}
	reply_send(http);
}

/* On the HTTP thread: a handoff is there, or it is over. */
static void stream_finish(struct http_call *http)
{
	struct call *call = &http->call;
	struct receive *r = call_op(call);
	char lease[HANDOFF_ID_SIZE];
	struct json_writer w;

	if (call->op->problem.code != P_OK || http_req_is_gone(http->req) || call->op->wait.is_over || r->count == 0 ||
	    !gate_pass(call->api, call->op)) {
		end_stream(http);
		return;
	}
	begin_stream(http);
	handoff_lease_format(r->rows[0].num, r->rows[0].leases, lease);
	buf_printf(&call->reply, "event: handoff\nid: %s\ndata: ", lease);
	json_writer_init(&w, &call->reply);
	put_rows(call, &w, false);
	buf_puts(&call->reply, "\n\n");
	http_stream_write(http->req, buf_str(&call->reply));
	buf_release(&call->reply);
	r->held = r->rows[0].num;
	r->held_lease = r->rows[0].leases;
	arena_release(call->op->arena);
	engine_run_again(call->op);
}

const struct route receive_routes[] = {
	{HTTP_POST, "/v1/agents/{}/receive", &receive_kind, &describe_receive, NULL, encode_receive},
	{HTTP_GET, "/v1/agents/{}/peek", &peek_kind, &describe_peek, NULL, NULL},
	{HTTP_GET, "/v1/agents/{}/stream", &receive_stream_kind, &describe_stream_handoffs, decode_stream,
	 encode_receive},
	{0},
};
