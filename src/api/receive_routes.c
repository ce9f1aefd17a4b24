/* Receivers: they take what is queued for their agent, or wait for it.
 *
 *     POST /v1/agents/{agent}/receive   a long poll: one answer
 *     GET  /v1/agents/{agent}/stream    server-sent events: one handoff after the other, the next when the last was
 *                                       settled
 */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/reply.h"
#include "api/routes.h"
#include "api/taken_json.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"

enum { NAME_MAX_BYTES = 128, WAIT_MAX_MS = 60000, TAKE_MAX = 100, TAKEN_BYTES = 16 << 20 };

struct receiving {
	int64_t wait_ms;
	int64_t lease_ms;		/* 0: the handoff's ack timeout */
	int64_t max;
	struct str instance;		/* p == NULL: not told */
	bool with_envelope;
	bool with_prompt;
	struct handoff_row *rows;
	size_t count;
	/* Of a stream. */
	uint64_t held;			/* the handoff that the receiver has not settled yet; 0: none */
	int64_t held_lease;
	struct arena round;		/* for one handoff: a stream lives long */
};

static enum problem_code read_format(struct call *call, struct receiving *r, struct str format)
{
	enum problem_code code = P_OK;

	r->with_envelope = str_is(format, "both") || str_is(format, "envelope");
	r->with_prompt = str_is(format, "both") || str_is(format, "prompt");
	if (!r->with_envelope && !r->with_prompt && !str_is(format, "none"))
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "format", "format is \"%.*s\"; expected envelope, "
				   "prompt, both or none", STR_ARG(format));
	return code;
}

static enum problem_code decode_receive(struct call *call)
{
	static const char *const known[] = {"wait_s", "max", "lease_s", "instance", "format", NULL};
	struct receiving *r = arena_zalloc(call->op->arena, sizeof(*r));
	const struct json *b = &call->body;
	struct problem *p = &call->op->problem;
	struct str format = STR("both");
	enum problem_code code;

	call->input = r;
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

/* How large the answer grows by this one, about. One alone is given however large it is. */
static enum problem_code weigh(struct call *call, struct store_conn *c, const struct handoff_row *row, size_t *bytes)
{
	const struct receiving *r = call->input;
	struct envelope_row envelope = {0};
	struct arena arena;
	enum store_status status = STORE_OK;

	if (r->max == 1 || (!r->with_envelope && !r->with_prompt))
		return P_OK;
	arena_init(&arena);
	status = store_envelope_get(c, call->op->space, row->envelope, &arena, &envelope);
	*bytes += envelope.body.n;
	arena_release(&arena);
	return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK : problem_of_store(&call->op->problem, status);
}

static enum problem_code write_receive(struct call *call, struct store_conn *c)
{
	struct receiving *r = call->input;
	struct delivery d = waiting_delivery(call->op, c);
	struct handoff_row row;
	size_t bytes = 0;
	enum problem_code code = P_OK;

	if (call->op->agent.p == NULL)
		d.actor = call->params[0];
	r->count = 0;
	/* The client has gone: nothing is taken for it. */
	if (call->op->wait.is_over && r->wait_ms > 0)
		return P_OK;
	/* What is large is given a few at a time: nothing may be taken that cannot be answered. */
	for (row.num = 1; code == P_OK && row.num && (int64_t)r->count < r->max && bytes <= TAKEN_BYTES;) {
		code = delivery_take(&d, call->params[0], r->lease_ms, r->instance, &row, &call->op->problem);
		if (code == P_OK && row.num) {
			if (r->rows == NULL)
				r->rows = arena_calloc(call->op->arena, (size_t)r->max, sizeof(*r->rows));
			r->rows[r->count++] = row;
			code = weigh(call, c, &row, &bytes);
		}
	}
	if (code == P_OK && r->count == 0 && !call->op->wait.is_over)
		waiting_for(call->op, WAIT_AGENT, row.agent);
	return code;
}

static enum problem_code undo_receive(struct call *call, struct store_conn *c)
{
	struct receiving *r = call->input;
	struct delivery d = waiting_delivery(call->op, c);
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < r->count; i++)
		code = delivery_release(&d, r->rows[i].num, r->rows[i].leases, &call->op->problem);
	return code;
}

/* On the HTTP thread, after the commit: what was taken is read on the thread's own connection. */
static void put_rows(struct call *call, struct json_writer *w, bool as_list)
{
	struct receiving *r = call->input;
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

static enum problem_code read_lease_s(struct call *call, struct receiving *r)
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
	struct receiving *r = arena_zalloc(call->op->arena, sizeof(*r));
	struct str format = call_query(call, "format");
	enum problem_code code = decode_check_agent(call->params[0], "agent", &call->op->problem);

	call->input = r;
	/* Elsewhere HEAD is a GET without a body; here it would take a handoff and show it to nobody. */
	if (http_req_method(call->req) == HTTP_HEAD) {
		call->location = STR("GET");
		return problem_set(&call->op->problem, P_METHOD_NOT_ALLOWED, NULL, "HEAD is not a method of this address; "
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
		code = problem_set(&call->op->problem, P_DRAINING, NULL, "the server is stopping");
	if (code != P_OK)
		return code;
	http_stream_begin(call->req, 200, "text/event-stream", headers);
	http_stream_write(call->req, STR(": handoffs follow as they come; settle each one, and the next is sent\n\n"));
	http_req_set_timer(call->req, call->api->limits.heartbeat_ms, heartbeat, call);
	http_req_on_gone(call->req, on_gone, call->op);
	call->is_stream = true;
	call->finish = stream_finish;
	arena_init(&r->round);
	call->op->arena = &r->round;
	return P_OK;
}

/* The next one is given when the last was settled, or taken back. */
static enum problem_code write_stream(struct call *call, struct store_conn *c)
{
	struct receiving *r = call->input;
	struct handoff_row held;
	enum store_status status;

	r->rows = NULL;
	r->count = 0;
	if (call->op->wait.is_over)
		return P_OK;
	if (r->held) {
		status = store_handoff_get(c, call->op->space, r->held, call->op->arena, &held);
		if (status != STORE_OK)
			return problem_of_store(&call->op->problem, status);
		if (held.state == HANDOFF_LEASED && held.leases == r->held_lease) {
			waiting_for(call->op, WAIT_HANDOFF, waiting_id(call->op->space, r->held));
			return P_OK;
		}
	}
	return write_receive(call, c);
}

/* On the HTTP thread: a handoff is there, or it is over. */
static void stream_finish(struct call *call)
{
	struct receiving *r = call->input;
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
	arena_release(&r->round);
	engine_run_again(call->op);
}

const struct route receive_routes[] = {
	{HTTP_POST, "/v1/agents/{}/receive", ROUTE_BODY_OPTIONAL | ROUTE_MAKES_SPACE,
	 .decode = decode_receive, .write = write_receive, .encode = encode_receive, .undo = undo_receive},
	{HTTP_GET, "/v1/agents/{}/stream", ROUTE_MAKES_SPACE,
	 .decode = decode_stream, .write = write_stream, .encode = encode_receive, .undo = undo_receive},
	{0},
};
