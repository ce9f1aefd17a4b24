#include "cli/mcp/mcp_proxy.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum {
	TURN_MS = 60000,
	AHEAD_BYTES = 64 * 1024,
	GOODBYE_MS = 500,
	LINGER_MS = 5000,		/* of a stream whose answer has come */
	ERROR_MAX_BYTES = 1 << 20,
};

#define MS_NS INT64_C(1000000)

/* --- To the host --- */

void mcp_proxy_say(struct mcp_proxy *p, struct str json)
{
	mcp_output_line(&p->out, json);
	if (p->out.pending.len == json.n + 1)
		mcp_output_flush(&p->out);
}

static void say_error(struct mcp_proxy *p, struct str id, int code, const char *text, bool is_retryable)
{
	struct buf out;

	buf_init(&out, ERROR_MAX_BYTES);
	mcp_put_error(&out, id, code, str_of(text), is_retryable);
	if (!buf_overflowed(&out))
		mcp_proxy_say(p, buf_str(&out));
	buf_release(&out);
}

void mcp_proxy_fail(struct mcp_proxy *p, const struct mcp_call *call, int code, const char *text, bool is_retryable)
{
	const struct json *one = &call->message.tree, *items = call->message.kind == MCP_BATCH ? one->items : one;
	uint32_t count = call->message.kind == MCP_BATCH ? one->count : 1;
	struct arena arena;

	arena_init(&arena);
	for (uint32_t i = 0; call->purpose == MCP_FORWARD && !call->is_answered && i < count; i++) {
		const struct json *id = json_get(&items[i], "id");

		if (id && mcp_text(&items[i], "method").p)
			say_error(p, mcp_json(&arena, id), code, text, is_retryable);
	}
	if (call->message.kind == MCP_NOTIFICATION || call->message.kind == MCP_RESPONSE)
		cli_note(p->cli, "spine mcp: %s", text);
	arena_release(&arena);
}

/* --- From the host --- */

static struct mcp_call *find_call(struct mcp_proxy *p, const struct json *id)
{
	for (struct list *l = p->calls.next; id && l != &p->calls; l = l->next) {
		struct mcp_call *call = LIST_ELEMENT(l, struct mcp_call, link);

		if (call->purpose == MCP_FORWARD && call->message.kind == MCP_REQUEST && !call->is_answered &&
		    json_equal(call->message.id, id))
			return call;
	}
	return NULL;
}

/* Closing the connection is how 2026-07-28 cancels; before that the server is told, too. True where it is not. */
static bool cancel(struct mcp_proxy *p, const struct mcp_call *notice)
{
	struct mcp_call *call = find_call(p, json_get(notice->message.params, "requestId"));
	bool says_it_all = call ? call->message.version.n > 0 || mcp_call_is_waiting(call) :
			   p->session.version.len == 0;

	if (call)
		mcp_call_free(call);
	return says_it_all;
}

static void take_line(struct mcp_proxy *p, struct str line)
{
	struct mcp_call *call;

	if (str_trim(line).n == 0 || str_is(line, "\r"))
		return;
	call = mcp_call_new(p, MCP_FORWARD, "POST", line);
	if (call == NULL)
		return;
	if (str_is(call->message.method, "notifications/cancelled") && cancel(p, call)) {
		mcp_call_free(call);
		return;
	}
	if (p->call_count > MCP_CALLS_MAX) {
		mcp_proxy_fail(p, call, MCP_INTERNAL_ERROR, "too many calls at a time (256): wait for one of them, or "
			       "cancel it", true);
		mcp_call_free(call);
		return;
	}
	mcp_session_note(&p->session, call);
	if (str_is(call->message.method, "initialize") || str_is(call->message.method, "notifications/initialized"))
		p->barrier = call;
	mcp_call_send(call);
}

static void take_lines(struct mcp_proxy *p)
{
	struct str line;

	while (p->barrier == NULL && !mcp_output_is_full(&p->out)) {
		switch (mcp_input_next(&p->in, &line)) {
		case MCP_LINE:
			take_line(p, line);
			break;
		case MCP_LINE_TOO_LONG:
			say_error(p, STR(""), MCP_INVALID_REQUEST, "a line is longer than 32 MiB: it was not read",
				  false);
			break;
		default:
			return;
		}
	}
}

/* --- The clock --- */

/* What waits is sent. Returns when to look again. */
static int64_t send_due(struct mcp_proxy *p)
{
	int64_t now_ns = clock_mono_ns(), next_ns = now_ns + TURN_MS * MS_NS;
	struct list *next;

	for (struct list *l = p->calls.next; l != &p->calls; l = next) {
		struct mcp_call *call = LIST_ELEMENT(l, struct mcp_call, link);
		int64_t at_ns = call->send_at_ns;

		next = l->next;
		if (!mcp_call_is_waiting(call)) {
			at_ns = call->answered_ns ? call->answered_ns + LINGER_MS * MS_NS : INT64_MAX;
			if (at_ns <= now_ns) {
				mcp_call_free(call);
				continue;
			}
		} else if (p->session.is_resuming && call->purpose != MCP_RESUME && call->message.version.n == 0) {
			continue;
		} else if (at_ns <= now_ns) {
			mcp_call_send(call);
			next = p->calls.next;	/* others may have gone with it */
			continue;
		}
		next_ns = at_ns < next_ns ? at_ns : next_ns;
	}
	return next_ns;
}

static bool is_stream(const struct mcp_call *call)
{
	return call->purpose == MCP_LISTEN || mcp_call_is_subscription(call);
}

static void end_calls(struct mcp_proxy *p, bool only_streams)
{
	struct list *next;

	for (struct list *l = p->calls.next; l != &p->calls; l = next) {
		struct mcp_call *call = LIST_ELEMENT(l, struct mcp_call, link);

		next = l->next;
		if (only_streams && !is_stream(call))
			continue;
		if (call->message.kind == MCP_REQUEST && !is_stream(call))
			mcp_proxy_fail(p, call, MCP_INTERNAL_ERROR, "the input ended before the answer was there",
				       false);
		mcp_call_free(call);
	}
}

/* The host has gone, or is going. What would go on for ever ends now; what is under way has a moment, unless it is
 * hurried. */
static void begin_to_close(struct mcp_proxy *p, bool is_hurried)
{
	end_calls(p, true);
	if (p->close_by_ns == 0)
		p->close_by_ns = clock_mono_ns() + MCP_CLOSE_MS * MS_NS;
	p->is_hurried = p->is_hurried || is_hurried;
}

/* A server that is being started is waited for: its time is bounded, too. */
static bool is_late(const struct mcp_proxy *p)
{
	bool is_goodbye = p->has_said_goodbye;

	return (p->is_hurried && !is_goodbye) ||
	       (clock_mono_ns() >= p->close_by_ns && (is_goodbye || !p->is_started));
}

/* True where all is done. Before that the server is told that the session is over. */
static bool is_closed(struct mcp_proxy *p)
{
	bool is_busy = p->call_count || p->in.at < p->in.pending.len;

	if (p->close_by_ns == 0 || (is_busy && !is_late(p)))
		return false;
	end_calls(p, false);
	if (p->has_said_goodbye || p->session.id.len == 0)
		return true;
	p->has_said_goodbye = true;
	p->close_by_ns = clock_mono_ns() + GOODBYE_MS * MS_NS;
	mcp_call_send(mcp_call_new(p, MCP_GOODBYE, "DELETE", STR("")));
	return false;
}

/* --- The loop --- */

static int pause_ms(struct mcp_proxy *p, int64_t next_ns)
{
	int64_t left_ns, left_ms;

	if (p->close_by_ns && p->close_by_ns < next_ns && !(p->is_started && p->call_count))
		next_ns = p->close_by_ns;
	left_ns = next_ns - clock_mono_ns();
	left_ms = left_ns < 0 ? 0 : (left_ns + MS_NS - 1) / MS_NS;
	/* While the host does not read, libcurl's clock waits, too. */
	return mcp_output_is_full(&p->out) ? (int)left_ms : client_many_pause_ms(p->many, left_ms);
}

/* While a session begins no line is taken. What follows is read a little ahead, so that the end of input is seen. */
static bool is_held_up(const struct mcp_proxy *p)
{
	return p->barrier && p->in.pending.len - p->in.at >= AHEAD_BYTES;
}

static void turn(struct mcp_proxy *p, int64_t next_ns)
{
	bool is_full = mcp_output_is_full(&p->out);
	bool is_open = !p->in.has_ended && p->close_by_ns == 0 && !is_full && !is_held_up(p);
	struct pollfd fds[] = {
		{.fd = p->stop.fd, .events = POLLIN},
		{.fd = p->out.fd, .events = p->out.pending.len ? POLLOUT : 0},
		{.fd = is_open ? p->in.fd : -1, .events = POLLIN},
		{.fd = is_full ? -1 : client_many_fd(p->many), .events = POLLIN},
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), pause_ms(p, next_ns)) < 0 && errno != EINTR)
		p->out.is_broken = true;
	if (stop_count(&p->stop))
		begin_to_close(p, true);
	if (fds[1].revents & (POLLERR | POLLNVAL))
		p->out.is_broken = true;
	mcp_output_flush(&p->out);
	if (fds[2].revents)
		mcp_input_read(&p->in);
	if (!is_full)
		client_many_run(p->many, 0);
	mcp_session_catch_up(p);
}

static void run(struct mcp_proxy *p)
{
	while (!is_closed(p)) {
		take_lines(p);
		if (p->in.has_ended && p->close_by_ns == 0)
			begin_to_close(p, false);
		if (p->out.is_broken)
			begin_to_close(p, true);
		turn(p, send_due(p));
	}
	mcp_output_flush(&p->out);
}

int mcp_proxy_run(struct cli *cli)
{
	struct mcp_proxy p = {.cli = cli, .url = client_url(cli->client)};

	/* A host that has gone is told by an error of the write. */
	signal(SIGPIPE, SIG_IGN);
	list_init(&p.calls);
	if (!stop_init(&p.stop, cli))
		return CLI_FAILED;
	p.many = client_many_new(MCP_IDLE_MAX, -1);
	if (p.many == NULL) {
		cli_error(cli, "cannot wait for connections: %s", strerror(errno));
		stop_release(&p.stop);
		return CLI_FAILED;
	}
	mcp_session_init(&p.session);
	mcp_input_init(&p.in, STDIN_FILENO);
	mcp_output_init(&p.out, STDOUT_FILENO);
	run(&p);
	end_calls(&p, false);
	while (p.idle_count)
		client_free(p.idle[--p.idle_count]);
	client_many_free(p.many);
	mcp_session_release(&p.session);
	mcp_input_release(&p.in);
	mcp_output_release(&p.out);
	stop_release(&p.stop);
	return CLI_OK;
}
