/* POST /v1/agents/{agent}/receive: a receiver takes what is queued for its agent, or waits for it. */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/agent.h"
#include "core/handoff_id.h"
#include "core/render.h"
#include "core/unpack.h"

enum { NAME_MAX_BYTES = 128, WAIT_MAX_MS = 60000, TAKE_MAX = 100 };

struct receiving {
	int64_t wait_ms;
	int64_t lease_ms;		/* 0: the handoff's ack timeout */
	int64_t max;
	struct str instance;		/* p == NULL: not told */
	bool with_envelope;
	bool with_prompt;
	struct handoff_row *rows;
	size_t count;
};

static enum problem_code read_format(struct call *call, struct receiving *r)
{
	struct str format = STR("both");
	enum problem_code code = decode_str(&call->body, "format", 1, 16, &format, &call->problem);

	r->with_envelope = str_is(format, "both") || str_is(format, "envelope");
	r->with_prompt = str_is(format, "both") || str_is(format, "prompt");
	if (code == P_OK && !r->with_envelope && !r->with_prompt && !str_is(format, "none"))
		code = problem_set(&call->problem, P_INVALID_FIELD, "format", "format is \"%.*s\"; expected envelope, prompt, both or none", STR_ARG(format));
	return code;
}

static enum problem_code decode_receive(struct call *call)
{
	static const char *const known[] = {"wait_s", "max", "lease_s", "instance", "format", NULL};
	struct receiving *r = arena_zalloc(call->arena, sizeof(*r));
	const struct json *b = &call->body;
	struct problem *p = &call->problem;
	enum problem_code code;

	call->input = r;
	r->max = 1;
	call_warn_unknown_members(call, b, known, "");
	if ((code = decode_check_name(call->params[0], "agent", NAME_MAX_BYTES, p)) != P_OK ||
	    (code = decode_seconds(b, "wait_s", 0, WAIT_MAX_MS, &r->wait_ms, p)) != P_OK ||
	    (code = decode_seconds(b, "lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, &r->lease_ms, p)) != P_OK ||
	    (code = decode_int(b, "max", 1, TAKE_MAX, &r->max, p)) != P_OK ||
	    (code = decode_str(b, "instance", 1, NAME_MAX_BYTES, &r->instance, p)) != P_OK ||
	    (code = r->instance.p ? decode_check_name(r->instance, "instance", NAME_MAX_BYTES, p) : P_OK) != P_OK)
		return code;
	code = read_format(call, r);
	if (code == P_OK)
		waiting_prepare(call, r->wait_ms);
	return code;
}

static enum problem_code write_receive(struct call *call, struct store_conn *c)
{
	struct receiving *r = call->input;
	struct delivery d = waiting_delivery(call, c);
	struct handoff_row row;
	enum problem_code code = P_OK;

	if (call->agent.p == NULL)
		d.actor = call->params[0];
	r->count = 0;
	/* The client has gone: nothing is taken for it. */
	if (call->wait.is_over && r->wait_ms > 0)
		return P_OK;
	for (row.num = 1; code == P_OK && row.num && (int64_t)r->count < r->max;) {
		code = delivery_take(&d, call->params[0], r->lease_ms, r->instance, &row, &call->problem);
		if (code == P_OK && row.num) {
			if (r->rows == NULL)
				r->rows = arena_calloc(call->arena, (size_t)r->max, sizeof(*r->rows));
			r->rows[r->count++] = row;
		}
	}
	if (code == P_OK && r->count == 0 && !call->wait.is_over)
		waiting_for(call, WAIT_AGENT, row.agent);
	return code;
}

static enum problem_code undo_receive(struct call *call, struct store_conn *c)
{
	struct receiving *r = call->input;
	struct delivery d = waiting_delivery(call, c);
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < r->count; i++)
		code = delivery_release(&d, r->rows[i].num, r->rows[i].leases, &call->problem);
	return code;
}

/* The envelope in the newest form that the agent accepts, and the prompt. A damaged envelope is no reason to lose the others. */
static void put_envelope(struct call *call, struct json_writer *w, struct store_conn *c, const struct handoff_row *h, bool v1)
{
	struct receiving *r = call->input;
	struct problem problem = {0};
	struct envelope e;
	struct buf text;

	if (!r->with_envelope && !r->with_prompt)
		return;
	if (unpack(c, h->space, h->envelope, "envelope_id", call->arena, &e, &problem) != P_OK) {
		json_key(w, "envelope");
		json_put_null(w);
		json_member_cstr(w, "problem", problem.detail);
		return;
	}
	buf_init(&text, RENDER_MAX_BYTES);
	if (r->with_envelope) {
		if (v1)
			render_v1(&e, &text);
		else
			envelope_write(&e, ENVELOPE_WHOLE, &text);
		json_key(w, "envelope");
		json_put_raw(w, buf_str(&text));
		buf_clear(&text);
	}
	if (r->with_prompt) {
		render_prompt(&e, &text);
		json_member_str(w, "prompt", buf_str(&text));
	}
	buf_release(&text);
}

static void put_taken(struct call *call, struct json_writer *w, struct store_conn *c, const struct handoff_row *h, bool v1)
{
	char lease[HANDOFF_ID_SIZE];

	json_begin_object(w);
	handoff_json_members(w, h);
	handoff_lease_format(h->num, h->leases, lease);
	json_member_cstr(w, "lease", lease);
	json_member_time(w, "lease_expires_at", h->due_ms);
	json_member_bool(w, "redelivered", h->leases > 1);
	put_envelope(call, w, c, h, v1);
	json_end_object(w);
}

/* On the HTTP thread, after the commit: what was taken is read on the thread's own connection. */
static void encode_receive(struct call *call)
{
	struct receiving *r = call->input;
	struct store_conn *c = call->api->readers[http_req_thread(call->req)];
	struct problem problem = {0};
	struct agent agent = {.accepts_v2 = true};
	struct json_writer w;

	if (r->count)
		agent_read(c, call->space, call->params[0], call->arena, &agent, &problem);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "handoffs");
	json_begin_array(&w);
	for (size_t i = 0; i < r->count; i++)
		put_taken(call, &w, c, &r->rows[i], !agent.accepts_v2);
	json_end_array(&w);
	call_end_reply(call, &w);
}

const struct route receive_routes[] = {
	{HTTP_POST, "/v1/agents/{}/receive", ROUTE_BODY_OPTIONAL | ROUTE_MAKES_SPACE,
	 .decode = decode_receive, .write = write_receive, .encode = encode_receive, .undo = undo_receive},
	{0},
};
