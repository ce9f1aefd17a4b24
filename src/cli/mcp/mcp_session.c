/* What the versions before 2026-07-28 keep between calls: the session, its subscriptions, and the stream on which the
 * server speaks first. The host knows nothing of it. So where the server forgets a session, because it was restarted, a
 * new one is made with the host's own initialize, and knows what the old one knew. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/mcp/mcp_proxy.h"

#include <stdlib.h>

enum {
	ID_MAX_BYTES = 1024,
	RESUMES_MAX = 2,			/* of one call */
	RESUME_PAUSE_MS = 5000,			/* between two that no call of the host asked for */
};

void mcp_session_init(struct mcp_session *s)
{
	*s = (struct mcp_session){0};
	buf_init(&s->id, ID_MAX_BYTES);
	buf_init(&s->version, ID_MAX_BYTES);
	buf_init(&s->initialize, MCP_MESSAGE_MAX_BYTES);
}

void mcp_session_release(struct mcp_session *s)
{
	for (size_t i = 0; i < s->subscription_count; i++)
		free((void *)(uintptr_t)s->subscriptions[i]);
	buf_release(&s->id);
	buf_release(&s->version);
	buf_release(&s->initialize);
}

/* --- What is kept --- */

static size_t find(const struct mcp_session *s, struct str uri)
{
	size_t i = 0;

	while (i < s->subscription_count && !str_is(uri, s->subscriptions[i]))
		i++;
	return i;
}

static void set_subscription(struct mcp_session *s, struct str uri, bool is_on)
{
	size_t i = find(s, uri);

	if (uri.n == 0 || memchr(uri.p, '\0', uri.n))
		return;
	if (is_on && i == s->subscription_count && i < MCP_SUBSCRIPTIONS_MAX) {
		s->subscriptions[s->subscription_count++] = mem_strndup(uri.p, uri.n);
	} else if (!is_on && i < s->subscription_count) {
		free((void *)(uintptr_t)s->subscriptions[i]);
		s->subscriptions[i] = s->subscriptions[--s->subscription_count];
	}
}

void mcp_session_note(struct mcp_session *s, const struct mcp_call *call)
{
	const struct mcp_message *m = &call->message;

	if (m->version.n)
		return;
	if (str_is(m->method, "initialize")) {
		buf_clear(&s->id);
		buf_clear(&s->version);
		buf_clear(&s->initialize);
		buf_put(&s->initialize, call->line);
	} else if (str_is(m->method, "resources/subscribe") || str_is(m->method, "resources/unsubscribe")) {
		set_subscription(s, mcp_text(m->params, "uri"), str_is(m->method, "resources/subscribe"));
	}
}

void mcp_session_agreed(struct mcp_session *s, const struct mcp_message *response)
{
	struct str version = mcp_text(json_get(&response->tree, "result"), "protocolVersion");

	buf_clear(&s->version);
	buf_put(&s->version, version);
}

/* A message that carries its version says all there is to say. Others have the version and the session that were
 * agreed on. */
void mcp_session_headers(const struct mcp_session *s, struct mcp_call *call)
{
	const struct mcp_message *m = &call->message;
	struct arena *arena = &call->header_arena;
	bool begins = call->purpose == MCP_RESUME || str_is(m->method, "initialize");
	size_t n = 0;

	/* So that a tool may wait longer than clients over HTTP would. */
	call->headers[n++] = "Spine-Transport: stdio";
	if (m->version.n) {
		call->headers[n++] = mcp_header(arena, "MCP-Protocol-Version", m->version);
		call->headers[n++] = mcp_header(arena, "Mcp-Method", m->method);
		if (m->name.n)
			call->headers[n++] = mcp_header(arena, "Mcp-Name", m->name);
	} else if (!begins) {
		if (s->version.len)
			call->headers[n++] = mcp_header(arena, "MCP-Protocol-Version", buf_str(&s->version));
		if (s->id.len)
			call->headers[n++] = mcp_header(arena, "Mcp-Session-Id", buf_str(&s->id));
	}
	if (call->purpose == MCP_LISTEN && call->stream.id.len)
		call->headers[n++] = mcp_header(arena, "Last-Event-ID", buf_str(&call->stream.id));
	call->headers[n] = NULL;
}

/* --- What goes on --- */

static bool has_listener(const struct mcp_proxy *p)
{
	for (const struct list *l = p->calls.next; l != &p->calls; l = l->next)
		if (LIST_ELEMENT(l, struct mcp_call, link)->purpose == MCP_LISTEN)
			return true;
	return false;
}

static void listen_to_server(struct mcp_proxy *p)
{
	if (!has_listener(p) && !p->session.has_no_stream && p->close_by_ns == 0)
		mcp_call_send(mcp_call_new(p, MCP_LISTEN, "GET", STR("")));
}

static void repeat(struct mcp_proxy *p, const char *line)
{
	struct mcp_call *call = mcp_call_new(p, MCP_REPEAT, "POST", str_of(line));

	if (call)
		mcp_call_send(call);
}

/* The answers go nowhere. The server tells on the stream what waits already. */
static void subscribe_again(struct mcp_proxy *p)
{
	for (size_t i = 0; i < p->session.subscription_count; i++) {
		struct json_writer w;
		struct buf line;

		buf_init(&line, MCP_MESSAGE_MAX_BYTES);
		buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":\"spine-%zu\",\"method\":\"resources/subscribe\","
			   "\"params\":{\"uri\":", i);
		json_writer_init(&w, &line);
		json_put_cstr(&w, p->session.subscriptions[i]);
		buf_puts(&line, "}}");
		repeat(p, buf_str(&line).p);
		buf_release(&line);
	}
}

/* A server that was restarted knows the session by its name, and nothing of its subscriptions. */
void mcp_session_catch_up(struct mcp_proxy *p)
{
	if (!p->session.has_new_stream)
		return;
	p->session.has_new_stream = false;
	subscribe_again(p);
}

void mcp_session_continue(struct mcp_proxy *p, struct mcp_call *call)
{
	bool is_ready = str_is(call->message.method, "notifications/initialized");

	if (call->purpose == MCP_RESUME) {
		p->session.is_resuming = false;
		repeat(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	} else if (call->purpose == MCP_REPEAT && is_ready) {
		subscribe_again(p);
		listen_to_server(p);
	} else if (call->purpose == MCP_FORWARD && is_ready && call->message.version.n == 0) {
		listen_to_server(p);
	}
}

static void resume(struct mcp_proxy *p)
{
	struct mcp_session *s = &p->session;
	struct mcp_call *call;

	if (s->is_resuming)
		return;
	s->is_resuming = true;
	s->resumed_ns = clock_mono_ns();
	buf_clear(&s->id);
	call = mcp_call_new(p, MCP_RESUME, "POST", buf_str(&s->initialize));
	if (call)
		mcp_call_send(call);
}

bool mcp_session_lost(struct mcp_proxy *p, struct mcp_call *call)
{
	struct mcp_session *s = &p->session;
	bool is_recent = s->resumed_ns && (clock_mono_ns() - s->resumed_ns) / 1000000 < RESUME_PAUSE_MS;

	if ((s->id.len == 0 && !s->is_resuming) || s->initialize.len == 0 || call->message.version.n ||
	    call->purpose == MCP_RESUME || call->purpose == MCP_GOODBYE || call->resumes >= RESUMES_MAX)
		return false;
	if (call->purpose != MCP_FORWARD) {
		mcp_call_free(call);
		if (is_recent)
			return true;
	} else {
		call->resumes++;
		mcp_call_postpone(call, 0);
	}
	resume(p);
	return true;
}

void mcp_session_failed(struct mcp_proxy *p, const char *why)
{
	struct list *next;

	p->session.is_resuming = false;
	for (struct list *l = p->calls.next; l != &p->calls; l = next) {
		struct mcp_call *call = LIST_ELEMENT(l, struct mcp_call, link);

		next = l->next;
		if (call->purpose != MCP_FORWARD || !mcp_call_is_waiting(call) || call->resumes == 0)
			continue;
		mcp_proxy_fail(p, call, MCP_INTERNAL_ERROR, why, true);
		mcp_call_free(call);
	}
}
