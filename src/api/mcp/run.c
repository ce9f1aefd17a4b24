/* Operations: made, read by their descriptions, run, waited for with progress, and written. */
#include "api/mcp/mcp_call.h"

#include "api/caller.h"
#include "api/decode.h"
#include "api/gate.h"
#include "api/http/entry.h"
#include "api/http/http_client.h"
#include "api/http/reply.h"
#include "api/mcp/cancel.h"
#include "api/routes.h"
#include "api/translate.h"
#include "base/clock.h"
#include "core/delivery/agent.h"

enum { QUERY_MAX = 64, PROGRESS_MS = 7000 };
#define MS_NS INT64_C(1000000)

/* --- The operation's owner --- */

static struct mcp_call *call_of(const struct op *op)
{
	return op->ctx;
}

static void post(struct op *op, void (*fn)(void *op))
{
	const struct mcp_call *m = call_of(op);

	http_post(m->call.api->http, http_req_thread(m->req), fn, op);
}

static bool is_gone(const struct op *op)
{
	return http_req_is_gone(call_of(op)->req) || !held_is_welcome(&call_of(op)->held);
}

static void finish(struct op *op)
{
	struct mcp_call *m = call_of(op);

	http_req_set_timer(m->req, 0, NULL, NULL);
	http_req_on_gone(m->req, NULL, NULL);
	cancel_remove(m);
	if (!held_is_welcome(&m->held)) {
		op->is_replayed = false;
		entry_ended(&op->problem, op->access);
	}
	held_remove(&m->held);
	gate_pass(m->call.api, op);
	m->done(m);
}

/* --- Waiting --- */

static void put_progress(struct mcp_call *m, int64_t now_ns)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, MCP_ANSWER_MAX);
	json_writer_init(&w, &text);
	json_begin_object(&w);
	json_member_cstr(&w, "jsonrpc", "2.0");
	json_member_cstr(&w, "method", "notifications/progress");
	json_key(&w, "params");
	json_begin_object(&w);
	json_key(&w, "progressToken");
	json_put(&w, m->progress_token);
	json_member_int(&w, "progress", (now_ns - m->began_ns) / (1000 * MS_NS));
	json_member_int(&w, "total", (m->until_ns - m->began_ns) / (1000 * MS_NS));
	json_member_cstr(&w, "message", "waiting for work");
	json_end_object(&w);
	json_end_object(&w);
	mcp_stream(m);
	mcp_stream_put(m, buf_str(&text));
	buf_release(&text);
}

static void arm(struct mcp_call *m);

static void on_timer(struct http_req *req, void *arg)
{
	struct mcp_call *m = arg;
	int64_t now_ns = clock_mono_ns();

	(void)req;
	if (now_ns >= m->until_ns || api_is_ending(m->call.api)) {
		engine_nudge(m->call.op);
		return;
	}
	/* A timer may come a moment early. */
	if (m->progress_token && now_ns - m->began_ns >= PROGRESS_MS * MS_NS / 2)
		put_progress(m, now_ns);
	arm(m);
}

static void arm(struct mcp_call *m)
{
	int64_t left_ms = (m->until_ns - clock_mono_ns() + MS_NS - 1) / MS_NS;

	if (m->progress_token && left_ms > PROGRESS_MS)
		left_ms = PROGRESS_MS;
	http_req_set_timer(m->req, left_ms > 0 ? left_ms : 1, on_timer, m);
}

static void on_gone(struct http_req *req, void *arg)
{
	(void)req;
	engine_nudge(arg);
}

static void on_unwelcome(void *op)
{
	held_nudge(&call_of(op)->held, op);
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	struct mcp_call *m = call_of(op);

	held_add(m->call.api, m->req, &m->held, op->access, on_unwelcome, op);
	m->began_ns = clock_mono_ns();
	m->until_ns = m->began_ns + wait_ms * MS_NS;
	if (!mcp_takes_stream(m))
		m->progress_token = NULL;
	arm(m);
	http_req_on_gone(m->req, on_gone, op);
}

static void keep(struct op *op, struct kept_reply *ret)
{
	struct call *call = &call_of(op)->call;
	const struct shown *shows = call->shows;

	/* It may be asked for again over HTTP. */
	call->shows = NULL;
	call_keep(call, ret);
	call->shows = shows;
}

/* The answer as JSON, which the tool's or the resource's own text is made of. */
static void encode(struct op *op)
{
	struct mcp_call *m = call_of(op);

	mcp_encode(m);
	m->is_encoded = true;
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for, encode};

/* --- Making and running --- */

bool mcp_make(struct mcp_call *m, const struct description *d)
{
	struct call *call = &m->call;
	struct op before = {
		.owner = &owner, .ctx = m, .engine = call->api->engine,
		.reader = api_reader(call->api, http_req_thread(m->req)), .arena = http_req_arena(m->req),
		.now_ms = engine_now_ms(call->api->engine), .client = http_client_number(m->req),
		.access = m->access,
	};
	struct problem *problem;

	call->route = routes_of(d);
	call->op = arena_zalloc(before.arena, call->route->op->size);
	*call->op = before;
	call->op->kind = call->route->op;
	call->path = str_of(call->route->pattern);
	call->params[0] = call->params[1] = STR_NULL;
	call->query_count = 0;
	call->shows = NULL;
	call->body = (struct json){.type = JSON_OBJECT};
	m->calls = d;
	m->is_encoded = false;
	problem = &call->op->problem;
	if (scope_check(d, m->access, problem) != P_OK || caller_read(call) != P_OK)
		return false;
	if (m->agent.p && (decode_check_name(m->agent, "agent", AGENT_NAME_MAX, problem) != P_OK ||
			   access_check_name("agent", m->agent, problem) != P_OK ||
			   access_check_agent(m->access, "agent", m->agent, problem) != P_OK))
		return false;
	call->op->agent = mcp_agent(m);
	call->op->protocol = "mcp";
	return true;
}

void mcp_add_query(struct mcp_call *m, struct str name, struct str value)
{
	struct call *call = &m->call;

	if (call->query == NULL)
		call->query = arena_alloc(call->op->arena, QUERY_MAX * sizeof(*call->query));
	if (call->query_count < QUERY_MAX)
		call->query[call->query_count++] = (struct query_pair){name, value};
}

bool mcp_decode(struct mcp_call *m)
{
	return m->call.op->problem.code == P_OK && translate_decode(&m->call) == P_OK;
}

/* One that does not wait is over before anybody could cancel it. */
void mcp_start(struct mcp_call *m)
{
	if (m->until_ns)
		cancel_add(m);
	engine_run(m->call.op);
}

void mcp_run(struct mcp_call *m, void (*done)(struct mcp_call *m))
{
	m->done = done;
	if (mcp_decode(m))
		mcp_start(m);
	else
		done(m);
}

/* --- The answer --- */

void mcp_encode(struct mcp_call *m)
{
	if (m->is_encoded)
		return;
	if (m->call.op->is_replayed)
		call_put_kept(&m->call);
	else
		call_encode(&m->call);
	if (buf_overflowed(&m->call.reply))
		call_refuse(&m->call, P_TOO_LARGE, NULL, "the answer would be larger than %d bytes; ask for less",
			    REPLY_MAX);
}

const struct json *mcp_answer(struct mcp_call *m)
{
	struct json *answer = arena_zalloc(m->call.op->arena, sizeof(*answer));
	struct json_error error;

	mcp_encode(m);
	if (m->call.op->problem.code != P_OK)
		return NULL;
	if (!json_parse(buf_str(&m->call.reply), JSON_DEPTH_MAX, m->call.op->arena, answer, &error)) {
		call_refuse(&m->call, P_INTERNAL, NULL, "the answer cannot be read: %s", error.detail);
		return NULL;
	}
	return answer;
}
