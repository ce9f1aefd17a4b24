/* spine wait: blocks until there is work for an agent, and takes none of it. For hooks: the exit code is the answer. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/only_one.h"
#include "cli/shared_options.h"
#include "cli/stop.h"

#include <unistd.h>

enum {
	WAIT_WORK = 2,			/* the exit code that wakes */
	POLL_MAX_MS = 60000,		/* the server waits no longer */
	ERROR_MAX_BYTES = 4096,
	CALL_TIMEOUT_MS = 30000,	/* beyond the wait, as --timeout is for other commands */
};

static const struct option wait_options[] = {
	{.name = "timeout", .letter = 't', .arg = "TIME", .type = OPTION_DURATION, .fallback = "10m", .min = 0,
	 .max = 30 * INT64_C(86400000), .help = "how long to wait; 0 only looks"},
	{.name = "replace", .type = OPTION_FLAG,
	 .help = "end another spine wait --replace for the same agent: of a hook that runs after each turn, the newest "
		 "waits"},
};

static const struct option_table wait_table = {"Waiting", wait_options, OPTION_COUNT(wait_options)};

struct waiter {
	const char *agent;
	int64_t deadline_ns;
	int64_t pause_ms;	/* before the server is asked again; 0: it has answered */
	bool was_reached;
	bool is_only_one;	/* another may take its place */
	struct stop stop;
};

/* The first call does not wait: from its answer on it is known that there is a server. */
static void look(struct cli *cli, struct waiter *w, struct ask *ret)
{
	int64_t left_ms = w->was_reached ? (w->deadline_ns - clock_mono_ns()) / 1000000 : 0;
	int64_t wait_ms = left_ms < 0 ? 0 : left_ms > POLL_MAX_MS ? POLL_MAX_MS : left_ms;
	const char *how = arena_printf(cli->arena, "/peek?wait_s=%.3f", (double)wait_ms / 1000).p;
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/agents/", w->agent, how), .wait_ms = wait_ms,
		.is_stopped = stop_is_asked, .stop_arg = &w->stop,
	};

	ask_make(cli, &request, cli->arena, ret);
}

static void print_work(const struct cli *cli, const struct waiter *w, const struct ask *ask)
{
	const struct json *handoff = json_get(&ask->json, "handoff");

	if (cli_is_json(cli))
		ask_write(cli, ask);
	cli_note(cli, "%.*s (%.*s from %.*s) waits for %s; take it with the tool handoff_receive, or with: "
		 "spine receive %s",
		 STR_ARG(ask_str(handoff, "id")), STR_ARG(ask_str(handoff, "envelope_id")),
		 STR_ARG(ask_str(handoff, "from")), w->agent, w->agent);
}

/* A server that was there a moment ago is being restarted, or the space moves: there is time to ask again. */
static bool is_worth_waiting(struct waiter *w, const struct ask *ask)
{
	w->was_reached = w->was_reached || ask_bool(&ask->json, "retryable");
	if (ask->exit != CLI_UNREACHABLE || !w->was_reached || stop_count(&w->stop))
		return false;
	if (clock_mono_ns() >= w->deadline_ns)
		return false;
	stop_pause_longer(&w->stop, &w->pause_ms);
	return true;
}

/* One call. *ret_more: nothing is there yet, and there is time. */
static int look_once(struct cli *cli, struct waiter *w, bool *ret_more)
{
	const struct json *handoff;
	struct ask ask;
	int code;

	look(cli, w, &ask);
	handoff = json_get(&ask.json, "handoff");
	*ret_more = false;
	if (ask.exit == CLI_OK && handoff && handoff->type == JSON_OBJECT) {
		print_work(cli, w, &ask);
		code = WAIT_WORK;
	} else if (ask.exit == CLI_OK) {
		w->was_reached = true;
		w->pause_ms = 0;
		*ret_more = clock_mono_ns() < w->deadline_ns && stop_count(&w->stop) == 0;
		if (!*ret_more && cli_is_json(cli))
			ask_write(cli, &ask);
		code = CLI_OK;
	} else {
		*ret_more = is_worth_waiting(w, &ask);
		code = ask.exit == CLI_USAGE ? CLI_FAILED : ask.exit;
		if (w->is_only_one && stop_count(&w->stop))
			code = CLI_OK;	/* being replaced is how it usually ends */
		else if (!*ret_more)
			ask_report(cli, &ask);
	}
	ask_release(&ask);
	return code;
}

/* The same agent of the same space and server. */
static int replace_other(const struct cli *cli, const char *agent)
{
	struct str name = arena_printf(cli->arena, "wait\n%s\n%s\n%s", options_text(&cli->options, "url"),
				       ask_space(cli), agent);
	struct buf error;
	int fd;

	buf_init(&error, ERROR_MAX_BYTES);
	fd = only_one_be(name, &error);
	if (fd < 0)
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return fd;
}

static int exec_wait(struct cli *cli)
{
	struct waiter w = {
		.agent = cli->options.args[0], .is_only_one = options_flag(&cli->options, "replace"),
		.deadline_ns = clock_mono_ns() + options_int(&cli->options, "timeout") * 1000000,
	};
	bool more = true;
	int code = CLI_OK, fd = -1;

	cli->timeout_ms = CALL_TIMEOUT_MS;
	cli->is_told_at_once = true;	/* it asks again itself, with what is left of the time */
	if (!stop_init(&w.stop, cli))
		return CLI_FAILED;
	if (w.is_only_one && (fd = replace_other(cli, w.agent)) < 0) {
		code = CLI_FAILED;
		more = false;
	}
	while (more)
		code = look_once(cli, &w, &more);
	stop_release(&w.stop);
	if (fd >= 0)
		close(fd);
	return code;
}

const struct command cmd_wait = {
	.name = "wait",
	.summary = "Waits until there is work for an agent, and takes none of it",
	.usage = "AGENT", .min_args = 1, .max_args = 1,
	.about = "For hooks that wake an agent, such as Claude Code's asyncRewake. Its exit codes are its answer: 2 "
		 "where there is work, which a line on standard error names; 0 where there was none within --timeout; "
		 "1 where the command line is wrong or it was stopped; any other as of the other commands, 5 where "
		 "the server cannot be reached.\n\n"
		 "Nothing is taken: the work stays in the queue, uses no attempt, and another receiver may be faster. "
		 "It does not count as the agent's presence either. spine receive takes it.",
	.examples = {
		"spine wait tester --timeout 1s",
		"spine wait coder; test $? -eq 2 && spine receive coder",
	},
	.tables = {&wait_table, &untimed_client_table},
	.exec = exec_wait,
	.usage_exit = CLI_FAILED,
};
