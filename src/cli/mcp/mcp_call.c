/* A call: sent, read, repeated, given up. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/mcp/mcp_proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	/* The longest that a tool waits is 110 s. */
	SILENCE_MS = 180000,
	CLIENT_TIMEOUT_MS = 5000,	/* of what has no stream: the last call */
	ERROR_MAX_BYTES = 4096,
	REFUSAL_MAX_BYTES = 1 << 20,
	PAUSE_FIRST_MS = 10,
	PAUSE_MAX_MS = 1000,
};

bool mcp_call_is_subscription(const struct mcp_call *call)
{
	return call->purpose == MCP_FORWARD && str_is(call->message.method, "subscriptions/listen");
}

bool mcp_call_is_waiting(const struct mcp_call *call)
{
	return call->client == NULL;
}

/* --- What comes back --- */

static void on_header(void *arg, struct str name, struct str value)
{
	struct mcp_call *call = arg;
	struct mcp_session *session = &call->proxy->session;
	bool begins = call->purpose == MCP_RESUME || str_is(call->message.method, "initialize");

	if (str_ieq(name, STR("content-type"))) {
		call->is_stream = str_has_prefix(value, STR("text/event-stream"));
		if (call->purpose == MCP_LISTEN && call->is_stream && call->was_lost)
			session->has_new_stream = true;
	} else if (begins && str_ieq(name, STR("mcp-session-id"))) {
		buf_clear(&session->id);
		buf_put(&session->id, value);
	}
}

static bool is_answer_of(const struct mcp_call *call, const struct mcp_message *m)
{
	return m->id && call->message.id && json_equal(m->id, call->message.id);
}

/* The acknowledgement of a subscription that was made again is not news. */
static bool is_repeated_acknowledgement(struct mcp_call *call, const struct mcp_message *m)
{
	bool is_one = mcp_call_is_subscription(call) &&
		      str_is(m->method, "notifications/subscriptions/acknowledged");
	bool is_repeated = is_one && call->is_acknowledged;

	call->is_acknowledged = call->is_acknowledged || is_one;
	return is_repeated;
}

/* A response goes out where this call asked for it, and nothing was said yet. */
static bool take_response(struct mcp_call *call, const struct mcp_message *m, struct str text)
{
	if (!is_answer_of(call, m) || call->is_answered)
		return false;
	/* A server that stops ends its subscriptions in good order. The next one goes on. */
	if (mcp_call_is_subscription(call) && json_get(&m->tree, "result"))
		return true;
	call->is_answered = true;
	call->answered_ns = clock_mono_ns();
	if (call->purpose == MCP_RESUME || str_is(call->message.method, "initialize"))
		mcp_session_agreed(&call->proxy->session, m);
	if (call->purpose == MCP_FORWARD)
		mcp_proxy_say(call->proxy, text);
	return true;
}

/* Something that the server sent. False where it is no message of JSON-RPC. */
static bool take_message(struct mcp_call *call, struct str text)
{
	struct mcp_refusal refusal;
	struct mcp_message m;
	struct arena arena;
	bool good;

	arena_init(&arena);
	good = mcp_message_read(text, &arena, &m, &refusal);
	if (good && m.kind == MCP_RESPONSE) {
		good = take_response(call, &m, text);
	} else if (good && m.kind == MCP_BATCH) {
		good = call->message.kind == MCP_BATCH && call->purpose == MCP_FORWARD;
		if (good)
			mcp_proxy_say(call->proxy, text);
		call->is_answered = call->is_answered || good;
	} else if (good && !is_repeated_acknowledgement(call, &m)) {
		mcp_proxy_say(call->proxy, text);
	}
	arena_release(&arena);
	return good;
}

static bool on_event(void *arg, const struct sse *stream, struct str data)
{
	struct mcp_call *call = arg;

	(void)stream;
	if (data.n && !take_message(call, data))
		cli_note(call->proxy->cli, "spine mcp: the server sent something that is no message for this call; it "
			 "was dropped");
	call->pause_ms = 0;
	return true;
}

static bool on_data(void *arg, struct str data)
{
	struct mcp_call *call = arg;

	if (call->is_stream)
		return sse_feed(&call->stream, data, on_event, call);
	buf_put(&call->body, data);
	return !buf_overflowed(&call->body);
}

/* --- What becomes of it --- */

static void fail(struct mcp_call *call, const char *text, bool is_retryable)
{
	mcp_proxy_fail(call->proxy, call, MCP_INTERNAL_ERROR, text, is_retryable);
	if (call->purpose == MCP_RESUME)
		mcp_session_failed(call->proxy, text);
	mcp_call_free(call);
}

/* Streams that stay open are asked for again, ever more slowly; other calls once the server is there. */
static void again(struct mcp_call *call)
{
	call->was_lost = true;
	call->pause_ms = call->pause_ms == 0 ? PAUSE_FIRST_MS :
			 call->pause_ms * 2 < PAUSE_MAX_MS ? call->pause_ms * 2 : PAUSE_MAX_MS;
	mcp_call_postpone(call, call->stream.retry_ms > call->pause_ms ? call->stream.retry_ms : call->pause_ms);
}

static bool shall_stay_open(const struct mcp_call *call)
{
	return call->purpose == MCP_LISTEN || (mcp_call_is_subscription(call) && call->is_acknowledged);
}

/* Doing it twice is the same as once: it only reads, or the server knows it by its key. */
static bool is_repeatable(const struct mcp_call *call)
{
	return call->purpose == MCP_FORWARD && (call->key[0] || mcp_is_repeatable(&call->message));
}

/* There was no answer, or not all of it. */
static void lose(struct mcp_call *call, bool was_sent, const char *phrase)
{
	struct mcp_proxy *p = call->proxy;
	const char *why;

	if (call->is_answered || call->purpose == MCP_GOODBYE) {
		mcp_call_free(call);
	} else if (!was_sent) {
		if (shall_stay_open(call) || mcp_server_wait(p, call, true, &why))
			again(call);
		else
			fail(call, why, true);
	} else if (shall_stay_open(call) || (is_repeatable(call) && !call->is_repeated)) {
		call->is_repeated = true;
		again(call);
	} else {
		fail(call, arena_printf(&call->arena, "%s at %s: %s. Whether the call was carried out is not known: "
					"look before you make it again", "no answer of the Memory Spine server",
					p->url, phrase).p, false);
	}
}

/* The text of a refusal: of JSON-RPC without an id, of the HTTP API (a problem document), or none of ours. */
static const char *refusal_text(struct mcp_call *call, const struct client_reply *reply, int *ret_code)
{
	struct json_error bad;
	struct json json = {0};
	const struct json *error;
	struct str text = STR_NULL;
	int64_t code;

	if (json_parse(buf_str(&reply->body), JSON_DEPTH_MAX, &call->arena, &json, &bad)) {
		error = json_get(&json, "error");
		text = mcp_text(error ? error : &json, error ? "message" : "detail");
		if (json_as_int(json_get(error, "code"), &code) && code >= INT32_MIN && code <= INT32_MAX)
			*ret_code = (int)code;
	}
	if (text.n)
		return arena_cstr(&call->arena, text);
	return arena_printf(&call->arena, "%s answers with HTTP status %d, and not as the MCP endpoint of a Memory "
			    "Spine server does", call->proxy->url, reply->status).p;
}

static void refuse(struct mcp_call *call, const struct client_reply *reply)
{
	bool is_busy = reply->status == 503 || reply->status == 429;
	int code = MCP_INTERNAL_ERROR;
	const char *text, *why;

	if (reply->status == 404 && mcp_session_lost(call->proxy, call))
		return;
	if (call->purpose == MCP_GOODBYE || (call->purpose == MCP_LISTEN && !is_busy)) {
		call->proxy->session.has_no_stream = reply->status == 405;
		mcp_call_free(call);
		return;
	}
	/* A server that stops says so before it closes its door. */
	if (reply->status == 503 && mcp_server_wait(call->proxy, call, false, &why)) {
		again(call);
		return;
	}
	if (take_message(call, buf_str(&reply->body))) {
		mcp_call_free(call);
		return;
	}
	text = refusal_text(call, reply, &code);
	mcp_proxy_fail(call->proxy, call, code, text, is_busy);
	if (call->purpose == MCP_RESUME)
		mcp_session_failed(call->proxy, text);
	mcp_call_free(call);
}

static void conclude(struct mcp_call *call)
{
	bool is_request = call->message.kind == MCP_REQUEST || call->message.kind == MCP_BATCH;

	if (!call->is_stream && call->body.len && call->purpose != MCP_GOODBYE &&
	    !take_message(call, buf_str(&call->body))) {
		fail(call, "what the server answered is no message of JSON-RPC, or not the answer to this request",
		     false);
		return;
	}
	if (call->purpose == MCP_LISTEN || (is_request && !call->is_answered && call->purpose != MCP_REPEAT)) {
		lose(call, true, "it ended without one");
		return;
	}
	mcp_session_continue(call->proxy, call);
	mcp_call_free(call);
}

static void give_back(struct mcp_proxy *p, struct client *client)
{
	if (p->idle_count < MCP_IDLE_MAX && strcmp(client_url(client), p->url) == 0)
		p->idle[p->idle_count++] = client;
	else
		client_free(client);
}

static void on_done(void *arg, enum client_status status, const struct client_reply *reply)
{
	static const char *const phrases[] = {
		[CLIENT_UNREACHABLE] = "the connection broke", [CLIENT_TIMED_OUT] = "it took too long",
		[CLIENT_BAD_REPLY] = "it is too large, or not HTTP/1.1", [CLIENT_STOPPED] = "stopped",
	};
	struct mcp_call *call = arg;
	bool was_sent = client_was_sent(call->client);

	give_back(call->proxy, call->client);
	call->client = NULL;
	if (status == CLIENT_INSECURE) {
		fail(call, arena_printf(&call->arena, "no secure connection to the Memory Spine server at %s could be "
					"made; \"spine status --url %s\" says why", call->proxy->url,
					call->proxy->url).p, false);
		return;
	}
	if (status != CLIENT_OK) {
		lose(call, was_sent, phrases[status]);
		return;
	}
	if (reply->status != 503)
		mcp_server_reached(call->proxy);
	if (reply->status / 100 == 2)
		conclude(call);
	else
		refuse(call, reply);
}

/* --- Its life --- */

static struct client *take_client(struct mcp_proxy *p)
{
	struct client_config config = cli_client_config(p->cli);
	struct client *client;
	struct buf error;

	if (p->idle_count)
		return p->idle[--p->idle_count];
	config.url = p->url;
	config.timeout_ms = CLIENT_TIMEOUT_MS;
	config.max_reply_bytes = REFUSAL_MAX_BYTES;
	buf_init(&error, ERROR_MAX_BYTES);
	client = client_new(&config, &error);
	if (client == NULL)
		cli_error(p->cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return client;
}

/* True where the line is a message; otherwise the host is told. */
static bool read_line(struct mcp_call *call)
{
	struct mcp_refusal refusal;
	struct buf error;

	if (mcp_message_read(call->line, &call->arena, &call->message, &refusal))
		return true;
	buf_init(&error, REFUSAL_MAX_BYTES);
	mcp_put_error(&error, refusal.id, refusal.code, str_of(refusal.text), false);
	mcp_proxy_say(call->proxy, buf_str(&error));
	buf_release(&error);
	return false;
}

/* So that the server carries it out once, however often it is sent. */
static void make_key(struct mcp_call *call)
{
	unsigned char bytes[MCP_KEY_BYTES];

	if (getentropy(bytes, sizeof(bytes)) != 0)
		return;		/* it is not repeated, then */
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(call->key + 2 * i, 3, "%02x", bytes[i]);
	call->request.idempotency_key = call->key;
}

struct mcp_call *mcp_call_new(struct mcp_proxy *p, enum mcp_purpose purpose, const char *method, struct str line)
{
	struct mcp_call *call = mem_zalloc(sizeof(*call));

	call->proxy = p;
	call->purpose = purpose;
	arena_init(&call->arena);
	arena_init(&call->header_arena);
	sse_init(&call->stream, MCP_MESSAGE_MAX_BYTES);
	buf_init(&call->body, MCP_MESSAGE_MAX_BYTES);
	list_init(&call->link);
	list_add(&p->calls, &call->link);
	p->call_count++;
	call->line = arena_str(&call->arena, line);
	call->message.kind = MCP_NOTIFICATION;
	call->request = (struct client_request){
		.method = method, .path = "/mcp", .on_header = on_header, .data_arg = call, .silence_ms = SILENCE_MS,
		.accept = purpose == MCP_LISTEN ? "text/event-stream" : "application/json, text/event-stream",
		.body = line.n ? call->line : STR_NULL, .headers = call->headers,
		.on_data = purpose == MCP_GOODBYE ? NULL : on_data,
	};
	if (line.n == 0 || read_line(call)) {
		if (purpose == MCP_FORWARD && str_is(call->message.method, "tools/call"))
			make_key(call);
		return call;
	}
	mcp_call_free(call);
	return NULL;
}

void mcp_call_send(struct mcp_call *call)
{
	struct mcp_proxy *p = call->proxy;
	struct client *client = take_client(p);

	if (client == NULL) {
		fail(call, "the server's address cannot be used", false);
		return;
	}
	sse_restart(&call->stream);
	buf_clear(&call->body);
	call->is_stream = false;
	arena_release(&call->header_arena);
	arena_init(&call->header_arena);
	mcp_session_headers(&p->session, call);
	call->client = client;
	client_many_start(p->many, client, &call->request, on_done, call);
}

void mcp_call_postpone(struct mcp_call *call, int64_t ms)
{
	call->send_at_ns = clock_mono_ns() + ms * 1000000;
}

void mcp_call_free(struct mcp_call *call)
{
	struct mcp_proxy *p = call->proxy;

	if (call->client) {
		client_many_cancel(p->many, call->client);
		client_free(call->client);
	}
	if (p->barrier == call)
		p->barrier = NULL;
	list_remove(&call->link);
	p->call_count--;
	sse_release(&call->stream);
	buf_release(&call->body);
	arena_release(&call->header_arena);
	arena_release(&call->arena);
	free(call);
}
