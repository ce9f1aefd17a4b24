/* A server that is not there: it is waited for where it was there before, and started where it is one of this machine.
 * Two of them cannot be: the data directory has a lock, and the second one ends. */
#include "base/clock.h"
#include "cli/local_server.h"
#include "cli/mcp/mcp_proxy.h"
#include "cli/server_start.h"

#include <errno.h>
#include <sys/wait.h>

enum {
	COMEBACK_MS = 5000,	/* a restart takes about a second */
	START_MS = 15000,	/* with a store whose log must be recovered */
	ERROR_MAX_BYTES = 4096,
};

void mcp_server_reached(struct mcp_proxy *p)
{
	if (p->is_started)
		cli_note(p->cli, "spine mcp: the server at %s is ready", p->url);
	/* The host's input may have ended meanwhile: now its calls have their time. */
	if (p->is_started && p->close_by_ns)
		p->close_by_ns = clock_mono_ns() + MCP_CLOSE_MS * INT64_C(1000000);
	p->was_reached = true;
	p->is_started = false;
	p->missing_ns = 0;
}

static bool is_local(const struct mcp_proxy *p)
{
	struct client_config config = {.url = p->url, .timeout_ms = 1, .max_reply_bytes = 1};
	struct client *client;
	struct buf error;
	bool local;

	buf_init(&error, ERROR_MAX_BYTES);
	client = client_new(&config, &error);
	local = client && client_is_local(client) && strncmp(p->url, "http://", 7) == 0;
	client_free(client);
	buf_release(&error);
	return local;
}

/* The server of the data directory listens elsewhere. Nobody who named an address is given another. */
static bool go_elsewhere(struct mcp_proxy *p, const char *data_dir, const char *there, const char **ret_why)
{
	if (options_is_given(&p->cli->options, "url")) {
		*ret_why = arena_printf(p->cli->arena, "nothing listens at %s; the server of %s %s", p->url, data_dir,
					local_server_hint(p->cli->arena, there)).p;
		return false;
	}
	cli_note(p->cli, "spine mcp: nothing listens at %s; going to the server of %s, at %s", p->url, data_dir, there);
	p->url = there;
	while (p->idle_count)
		client_free(p->idle[--p->idle_count]);
	return true;
}

/* localhost is 127.0.0.1. */
static bool is_same_address(struct arena *arena, const char *a, const char *b)
{
	return strcmp(server_start_address(arena, a), server_start_address(arena, b)) == 0;
}

static bool start(struct mcp_proxy *p, const char **ret_why)
{
	const char *data_dir = cli_data_dir(p->cli);
	const char *there = data_dir ? local_server_url(p->cli->arena, data_dir) : NULL;
	struct buf error;

	if (there && !is_same_address(p->cli->arena, there, p->url))
		return go_elsewhere(p, data_dir, there, ret_why);
	buf_init(&error, ERROR_MAX_BYTES);
	p->server_pid = data_dir ? server_start(p->cli, p->url, data_dir, &p->server_log, &error) : -1;
	if (p->server_pid > 0) {
		cli_note(p->cli, "spine mcp: no server runs at %s: starting one on %s (its log: %s)", p->url, data_dir,
			 p->server_log);
		p->is_started = true;
		p->missing_ns = clock_mono_ns();
	} else {
		*ret_why = arena_printf(p->cli->arena, "no Memory Spine server runs at %s, and none could be started: "
					"%s", p->url, error.len ? buf_str(&error).p : "no data directory is known").p;
	}
	buf_release(&error);
	return p->server_pid > 0;
}

/* A sentence for the one who asked. What was started is forgotten, so that the next call tries anew. */
static const char *give_up(struct mcp_proxy *p)
{
	const char *what = p->is_started ? "a server was started, but does not answer" :
			   "nothing answers, and the server does not come back";
	const char *todo = p->is_started ? arena_printf(p->cli->arena, "its log: %s", p->server_log).p :
			   "start it with: spine serve";

	p->is_started = false;
	p->missing_ns = 0;
	return arena_printf(p->cli->arena, "cannot reach the Memory Spine server at %s: %s; %s", p->url, what, todo).p;
}

bool mcp_server_wait(struct mcp_proxy *p, const struct mcp_call *call, bool is_refused, const char **ret_why)
{
	int64_t now_ns = clock_mono_ns(), waited_ms;

	if (p->missing_ns == 0)
		p->missing_ns = now_ns;
	waited_ms = (now_ns - p->missing_ns) / 1000000;
	/* One that has ended leaves no zombie behind; why it did is in its log. */
	if (p->server_pid > 0 && waitpid(p->server_pid, NULL, WNOHANG) == p->server_pid)
		p->server_pid = 0;
	if (p->is_started && waited_ms < START_MS)
		return true;
	if (!p->is_started && p->was_reached && waited_ms < COMEBACK_MS)
		return true;
	if (!p->is_started && is_refused && call->purpose == MCP_FORWARD && is_local(p))
		return start(p, ret_why);
	*ret_why = give_up(p);
	return false;
}
