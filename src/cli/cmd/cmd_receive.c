/* spine receive: takes what is queued for an agent, prints it or has a program do it. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/receive_exec.h"
#include "cli/request/body.h"
#include "cli/request/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/stop.h"

#include <stdio.h>
#include <unistd.h>

enum { POLL_MAX_MS = 60000, HOST_MAX = 64, BODY_MAX_BYTES = 64 * 1024 };

static const char *const format_choices[] = {"prompt", "json", NULL};

static const struct option receive_options[] = {
	{.name = "wait", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .fallback = "0", .min = 0,
	 .max = 30 * 86400000LL, .help = "how long to wait for something; with --loop it is for ever"},
	{.name = "max", .letter = 'n', .arg = "N", .type = OPTION_INT, .fallback = "1", .min = 1, .max = 100,
	 .help = "take up to so many; with a program one after the other"},
	{.name = "lease", .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
	 .help = "how long nobody else gets it while it is not answered; the sender's ack timeout or 15s"},
	{.name = "instance", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "which of several receivers of this agent it is; host and process where it is not given"},
	{.name = "format", .letter = 'f', .arg = "FORMAT", .type = OPTION_CHOICE, .fallback = "prompt",
	 .choices = format_choices,
	 .help = "what is printed, or given to the program: the prompt for a model, or a line of JSON for each"},
	{.name = "ack", .type = OPTION_FLAG,
	 .help = "ack what was printed; with a program it is acked anyway, when the work begins"},
	{.name = "no-ack", .type = OPTION_FLAG,
	 .help = "with a program: do not ack before the work is done; a sender that waits, waits for that"},
};

static const struct option_table receive_table = {"Receiving", receive_options, OPTION_COUNT(receive_options)};

static const struct option exec_options[] = {
	{.name = "exec", .letter = 'x', .arg = "COMMAND", .type = OPTION_TEXT,
	 .help = "run this in the shell for each, with the prompt on its standard input; a program without a shell is "
		 "given behind --"},
	{.name = "loop", .letter = 'l', .type = OPTION_FLAG,
	 .help = "go on for ever; Ctrl-C or SIGTERM stops after the current one, a second one at once"},
	{.name = "work-lease", .arg = "TIME", .type = OPTION_DURATION, .fallback = "60s", .min = 300, .max = 86400000,
	 .help = "hand the work to somebody else where this program is not heard of for so long; renewed while "
		 "it runs"},
	{.name = "grace", .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 86400000,
	 .help = "after a signal the program may go on for so long; then the work is given back. Without it the work "
		 "is finished"},
};

static const struct option_table exec_table = {"Having it done", exec_options, OPTION_COUNT(exec_options)};

struct receiver {
	const char *agent;
	const char *path;
	const char *instance;
	bool is_loop;
	bool with_program;
	bool was_reached;		/* the server has answered at least once */
	int64_t left;			/* how many may still be taken */
	int64_t deadline_ns;		/* of waiting; not with is_loop */
	int64_t pause_ms;		/* before it is tried again */
	struct receive_exec exec;
	struct stop stop;
};

/* --- Taking --- */

static void put_request(const struct cli *cli, const struct receiver *r, int64_t wait_ms, struct buf *body)
{
	bool is_json = cli_is_json(cli) || strcmp(options_text(&cli->options, "format"), "json") == 0;
	struct json_writer w;

	json_writer_init(&w, body);
	json_begin_object(&w);
	body_put_seconds(&w, "wait_s", wait_ms);
	json_member_int(&w, "max", r->with_program ? 1 : r->left);
	if (options_is_given(&cli->options, "lease"))
		body_put_seconds(&w, "lease_s", options_int(&cli->options, "lease"));
	json_member_cstr(&w, "instance", r->instance);
	json_member_cstr(&w, "format", is_json || r->with_program ? "both" : "prompt");
	json_end_object(&w);
}

/* The server waits for a minute at most; whoever wants to wait longer asks again. */
static void take(struct cli *cli, struct receiver *r, struct ask *ret)
{
	struct client_request request = {
		.method = "POST", .path = r->path, .is_stopped = stop_is_asked, .stop_arg = &r->stop,
	};
	struct buf body;

	buf_init(&body, BODY_MAX_BYTES);
	for (;;) {
		int64_t left_ms = r->is_loop ? POLL_MAX_MS : (r->deadline_ns - clock_mono_ns()) / 1000000;

		request.wait_ms = left_ms < 0 ? 0 : left_ms > POLL_MAX_MS ? POLL_MAX_MS : left_ms;
		buf_clear(&body);
		put_request(cli, r, request.wait_ms, &body);
		request.body = buf_str(&body);
		ask_make(cli, &request, cli->arena, ret);
		r->was_reached = r->was_reached || ret->exit == CLI_OK;
		if (ret->exit != CLI_OK || ask_array(&ret->json, "handoffs")->count || left_ms <= POLL_MAX_MS ||
		    stop_count(&r->stop))
			break;
		ask_release(ret);
	}
	buf_release(&body);
}

/* --- Printing --- */

static int ack(struct cli *cli, struct str lease)
{
	struct client_request request = {
		.method = "POST", .path = settle_path(cli->arena, lease, "ack"), .repeatable = true,
		.body = arena_printf(cli->arena, "{\"lease\":\"%.*s\"}", STR_ARG(lease)),
	};
	struct ask ask;
	int code;

	if (request.path == NULL) {
		cli_error(cli, "the answer of %s has no lease in it", client_url(cli->client));
		return CLI_FAILED;
	}
	ask_make(cli, &request, cli->arena, &ask);
	code = ask.exit;
	if (code != CLI_OK)
		cli_error(cli, "%.*s", STR_ARG(ask_sentence(cli, &ask)));
	ask_release(&ask);
	return code;
}

static void print_one(struct cli *cli, const struct json *handoff)
{
	struct str lease = ask_str(handoff, "lease"), prompt = ask_str(handoff, "prompt");

	if (strcmp(options_text(&cli->options, "format"), "json") == 0) {
		ask_write_value(cli, handoff);
		return;
	}
	if (ask_str(handoff, "problem").n)
		cli_error(cli, "%.*s: %.*s", STR_ARG(lease), STR_ARG(ask_str(handoff, "problem")));
	show_text(cli, prompt);
	if (prompt.n && prompt.p[prompt.n - 1] != '\n')
		cli_write(STR("\n"));
	cli_note(cli, "(%.*s: %.*s from %.*s, attempt %lld of %lld, leased until %.*s)", STR_ARG(lease),
		 STR_ARG(ask_str(handoff, "envelope_id")), STR_ARG(ask_str(handoff, "from")),
		 (long long)ask_int(handoff, "attempt", 0), (long long)ask_int(handoff, "max_attempts", 0),
		 STR_ARG(ask_str(handoff, "lease_expires_at")));
	if (!options_flag(&cli->options, "ack"))
		cli_note(cli, "(answer it: spine ack %.*s, complete, nack, release or reject)", STR_ARG(lease));
}

/* Acked only when it has been printed: what went into a closed pipe comes back. */
static int print_taken(struct cli *cli, const struct ask *taken)
{
	const struct json *handoffs = ask_array(&taken->json, "handoffs");
	int code = CLI_OK;

	if (cli_is_json(cli))
		cli_write_json(cli, buf_str(&taken->reply.body));
	else
		for (uint32_t i = 0; i < handoffs->count; i++)
			print_one(cli, &handoffs->items[i]);
	if (!options_flag(&cli->options, "ack") || fflush(stdout) != 0)
		return CLI_OK;
	for (uint32_t i = 0; i < handoffs->count; i++) {
		int one = ack(cli, ask_str(&handoffs->items[i], "lease"));

		code = code == CLI_OK ? one : code;
	}
	return code;
}

/* --- Going on --- */

/* A server that was there a moment ago is being restarted. */
static bool try_again(struct cli *cli, struct receiver *r, const struct ask *ask)
{
	if (!r->is_loop || !r->was_reached || ask->exit != CLI_UNREACHABLE)
		return false;
	if (r->pause_ms == 0)
		cli_error(cli, "%.*s; waiting for it", STR_ARG(ask_sentence(cli, ask)));
	stop_pause_longer(&r->stop, &r->pause_ms);
	return true;
}

/* Takes and handles once. *ret_more: whether there is reason to do so again. */
static int receive_once(struct cli *cli, struct receiver *r, bool *ret_more)
{
	const struct json *handoffs;
	struct ask taken;
	int code;

	*ret_more = false;
	take(cli, r, &taken);
	code = taken.exit;
	handoffs = ask_array(&taken.json, "handoffs");
	if (str_is(taken.code, "stopped")) {
		code = CLI_OK;
	} else if (code != CLI_OK) {
		*ret_more = try_again(cli, r, &taken);
		if (!*ret_more)
			ask_report(cli, &taken);
	} else if (handoffs->count == 0) {
		*ret_more = r->is_loop;
		r->pause_ms = 0;
		code = r->is_loop ? CLI_OK : CLI_NOT_FOUND;
		if (!r->is_loop && cli_is_json(cli) && !r->with_program)
			cli_write_json(cli, buf_str(&taken.reply.body));
	} else {
		r->pause_ms = 0;
		code = r->with_program ? receive_exec_run(cli, &r->exec, &handoffs->items[0]) :
			print_taken(cli, &taken);
		r->left -= handoffs->count;
		*ret_more = r->is_loop || (r->with_program && r->left > 0);
	}
	ask_release(&taken);
	return code;
}

/* What nobody took in time is not waiting any more: whoever comes late is told where it went. */
static int64_t count_parked(struct cli *cli, const char *agent)
{
	struct ask ask;
	int64_t count = 0;

	ask_make_get(cli, ask_path(cli->arena, "/v1/agents/", agent, ""), &ask);
	if (ask.exit == CLI_OK)
		count = ask_int(json_get(&ask.json, "queue"), "parked", 0);
	ask_release(&ask);
	return count;
}

static void tell_nothing(struct cli *cli, const char *agent)
{
	const char *nothing = options_int(&cli->options, "wait") ? "nothing came" : "nothing is waiting";
	int64_t parked = count_parked(cli, agent);

	if (parked)
		cli_note(cli, "(%s for %s; %lld %s parked: spine parked --to %s)", nothing, agent, (long long)parked,
			 parked == 1 ? "is" : "are", agent);
	else if (options_int(&cli->options, "wait"))
		cli_note(cli, "(%s for %s)", nothing, agent);
	else
		cli_note(cli, "(%s for %s; --wait TIME waits for it)", nothing, agent);
}

/* Every round has memory of its own, so that a loop can go on for years. */
static int receive_all(struct cli *cli, struct receiver *r)
{
	int code = CLI_OK, first = CLI_OK;
	bool more = true, any = false;

	while (more && !stop_count(&r->stop) && !r->exec.is_broken) {
		struct arena arena;
		struct cli round = *cli;

		arena_init(&arena);
		round.arena = &arena;
		code = receive_once(&round, r, &more);
		arena_release(&arena);
		fflush(stdout);
		/* Having had some, nothing more is no failure. */
		if (code == CLI_NOT_FOUND && any)
			code = CLI_OK;
		any = any || code == CLI_OK || code == CLI_FAILED;
		first = first == CLI_OK ? code : first;
		if (r->is_loop && more)
			first = CLI_OK;
	}
	if (r->exec.is_broken) {
		cli_error(cli, "stopped, because the program cannot be run: everything that is queued would fail");
		return CLI_FAILED;
	}
	if (first == CLI_NOT_FOUND)
		tell_nothing(cli, r->agent);
	return first;
}

/* "host:1234" */
static const char *default_instance(struct arena *arena)
{
	char host[HOST_MAX];

	if (gethostname(host, sizeof(host)) != 0)
		return arena_printf(arena, "%ld", (long)getpid()).p;
	host[sizeof(host) - 1] = '\0';
	return arena_printf(arena, "%s:%ld", str_is_utf8(str_of(host)) ? host : "host", (long)getpid()).p;
}

static int check(const struct cli *cli, bool with_program)
{
	const struct options *o = &cli->options;
	const char *instance = options_text(o, "instance");

	if (options_text(o, "exec") && o->arg_count > 1)
		return cli_usage(cli, "a program is given by --exec or behind --, not by both");
	if (options_flag(o, "ack") && options_flag(o, "no-ack"))
		return cli_usage(cli, "--ack and --no-ack cannot be given together");
	if (!with_program && options_flag(o, "no-ack"))
		return cli_usage(cli, "--no-ack is for a program (--exec); without one nothing is acked unless --ack "
				      "is given");
	if (!with_program && options_is_given(o, "work-lease"))
		return cli_usage(cli, "--work-lease is for a program (--exec)");
	if (!with_program && options_is_given(o, "grace"))
		return cli_usage(cli, "--grace is for a program (--exec)");
	if (!with_program && options_flag(o, "loop") && cli_is_json(cli))
		return cli_usage(cli, "--loop prints a line of JSON for each with --format json, not with --json");
	if (instance && !str_is_utf8(str_of(instance)))
		return cli_usage(cli, "--instance is not UTF-8 text");
	return CLI_OK;
}

static void set_program(struct cli *cli, struct receiver *r)
{
	const struct options *o = &cli->options;
	const char *command = options_text(o, "exec");
	const char **argv = arena_calloc(cli->arena, o->arg_count + 4, sizeof(*argv));

	if (command) {
		argv[0] = "/bin/sh";
		argv[1] = "-c";
		argv[2] = command;
	} else {
		memcpy(argv, o->args + 1, (o->arg_count - 1) * sizeof(*argv));
	}
	r->exec = (struct receive_exec){
		.agent = r->agent, .argv = argv, .json_input = strcmp(options_text(o, "format"), "json") == 0,
		.ack_first = !options_flag(o, "no-ack"), .work_lease_ms = options_int(o, "work-lease"),
		.grace_ms = options_is_given(o, "grace") ? options_int(o, "grace") : -1, .stop = &r->stop,
	};
}

static int exec_receive(struct cli *cli)
{
	const struct options *o = &cli->options;
	const char *instance = options_text(o, "instance");
	struct receiver r = {
		.agent = o->args[0], .path = ask_path(cli->arena, "/v1/agents/", o->args[0], "/receive"),
		.instance = instance ? instance : default_instance(cli->arena), .is_loop = options_flag(o, "loop"),
		.with_program = options_text(o, "exec") || o->arg_count > 1, .left = options_int(o, "max"),
		.deadline_ns = clock_mono_ns() + options_int(o, "wait") * 1000000,
	};
	int code = check(cli, r.with_program);

	if (code != CLI_OK)
		return code;
	if (r.with_program)
		set_program(cli, &r);
	/* The calls of the rounds share one client. */
	if (cli_client(cli) == NULL)
		return CLI_USAGE;
	if (!stop_init(&r.stop, cli))
		return CLI_FAILED;
	code = receive_all(cli, &r);
	stop_release(&r.stop);
	return code;
}

const struct command cmd_receive = {
	.name = "receive",
	.summary = "Takes what is queued for an agent, and prints it or has a program do it",
	.usage = "AGENT [-- PROGRAM [ARG...]]", .min_args = 1, .max_args = COMMAND_ARGS_ANY,
	.about = "Without a program the prompt is printed, and the lease on standard error: answer it with spine ack, "
		 "complete, nack, release or reject before the lease ends, or it is handed out again. Where there is "
		 "nothing the exit code is 3.\n\n"
		 "With --exec, or a program behind --, any program becomes an agent. It gets the prompt on its "
		 "standard input. Exit code 0 completes the handoff with its standard output as the result (as JSON "
		 "where it can be read as that, else as text), which is not printed: spine get ho-1 "
		 "shows it; 65 rejects it for good; any other gives it back for "
		 "another attempt. The reason is the last line of standard error. A program that cannot be run (126, "
		 "127) ends the loop.\n\n"
		 "The program's environment has SPINE_HANDOFF, SPINE_ENVELOPE, SPINE_LEASE, SPINE_ATTEMPT, "
		 "SPINE_REDELIVERED, SPINE_FROM, SPINE_TASK, SPINE_URL, SPINE_SPACE and SPINE_AGENT, so that spine "
		 "commands within it speak as the agent: spine handoff reviewer \"Review it.\" --parent "
		 "\"$SPINE_ENVELOPE\". What it stores with spine store belongs to the task of the handoff.\n\n"
		 "While the program runs the lease is renewed. Where this receiver dies the lease ends, and the work "
		 "comes back, to this or another receiver of the agent. SIGTERM or Ctrl-C lets the program end, for as "
		 "long as --grace says; after that, or with a second signal, it is ended, and the work is given back "
		 "without using an attempt. So is work whose program was ended by the same signal.",
	.examples = {
		"spine send --to coder \"Say hello.\" --from analyst && spine receive coder --ack",
		"spine send --to coder \"Count this.\" --from analyst && spine receive coder --exec 'wc -w' --wait 5s",
		"spine send --to coder \"Go.\" --from analyst && spine receive coder -- grep --count Go",
		"timeout --preserve-status 2 spine receive coder --loop --exec 'my-model --stdin' --work-lease 5m",
	},
	.tables = {&receive_table, &exec_table, &client_table},
	.exec = exec_receive,
};
