/* spine demo: shows in twenty seconds what the product does. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/demo/demo.h"
#include "cli/demo/demo_server.h"
#include "cli/shared_options.h"

#include <unistd.h>

static const struct option demo_options[] = {
	{.name = "fast", .type = OPTION_FLAG, .help = "without the pauses for reading"},
	{.name = "private", .type = OPTION_FLAG, .help = "on a server of its own even where one is running"},
	{.name = "keep", .type = OPTION_FLAG, .help = "keep the data of the server of its own, and say where they are"},
};

static const struct option_table demo_table = {"The demonstration", demo_options, OPTION_COUNT(demo_options)};

/* A space that nobody uses. */
static const char *own_space(struct arena *arena)
{
	return arena_printf(arena, "demo-%08x", (unsigned)(clock_wall_ms() ^ (int64_t)getpid() << 20)).p;
}

/* Is there a server at the address? One that was named must be. */
static bool find_server(struct cli *cli, int *ret_code)
{
	struct ask ask;
	bool found;

	if (options_flag(&cli->options, "private"))
		return false;
	ask_make_get(cli, "/v1/status", &ask);
	found = ask.exit == CLI_OK;
	if (!found && (options_is_given(&cli->options, "url") || cli->client == NULL)) {
		ask_report(cli, &ask);
		*ret_code = ask.exit;
	}
	ask_release(&ask);
	return found;
}

static void introduce(struct demo *d)
{
	struct arena *arena = d->cli->arena;

	if (cli_is_json(d->cli))
		return;
	cli_write(arena_printf(arena, "%sFour agents, one task, and three things that go wrong.%s\n\n",
			       term_on(&d->cli->out, TERM_BOLD), term_off(&d->cli->out, TERM_BOLD)));
	if (d->is_private)
		cli_write(arena_printf(arena, "On a server of its own at %s, %s.\n", d->url,
				       d->kept_dir ? "whose data are kept" : "whose data go away with it"));
	else
		cli_write(arena_printf(arena, "On the server at %s, in a space of its own: %s\n", d->url, d->space));
	cli_write(STR("The user says: \"Customers are charged twice when the network is slow. Stop that,\n"
		      "and leave the public API as it is.\"\n"));
	demo_pause(d, d->is_fast ? 0 : 1500);
}

/* A command, and what it is for. */
static void suggest(const struct demo *d, struct str command, const char *what)
{
	enum { WHAT_COLUMN = 54 };

	cli_write(arena_printf(d->cli->arena, "  %-*s %s%s%s\n", WHAT_COLUMN, command.p,
			       term_on(&d->cli->out, TERM_DIM), what,
			       term_off(&d->cli->out, TERM_DIM)));
}

static void say_what_next(const struct demo *d)
{
	struct arena *arena = d->cli->arena;

	if (cli_is_json(d->cli))
		return;
	cli_write(STR("\nWhat next:\n"));
	if (d->kept_dir)
		suggest(d, arena_printf(arena, "spine serve --data %s/data", d->kept_dir),
			"what was kept, served again");
	else if (d->is_private)
		suggest(d, STR("spine serve"), "a server of your own");
	if (d->kept_dir || !d->is_private) {
		suggest(d, arena_printf(arena, "spine envelope %s --prompt --space %s", d->envelopes[2], d->space),
			"what the reviewer read");
		suggest(d, arena_printf(arena, "spine trace %s --space %s", d->task, d->space), "what happened");
	}
	suggest(d, STR("spine send --to coder \"Say hello.\" --from me"), "work for an agent");
	suggest(d, STR("spine receive coder --loop --exec 'your-model --stdin'"), "any program is an agent");
	suggest(d, STR("spine help"), "the rest");
}

static int play(struct cli *cli, struct stop *stop, struct demo_server *server, bool is_private)
{
	/* Where a person works usually is not where this is played; only who says so here and now means it. */
	const struct option_value *space = options_value(&cli->options, "space");
	struct demo d = {
		.cli = cli, .stop = stop, .url = is_private ? server->url : client_url(cli->client),
		.space = space->source == OPTION_FROM_ARGS ? space->text : own_space(cli->arena),
		.is_private = is_private,
		.kept_dir = is_private && options_flag(&cli->options, "keep") ? server->data_dir : NULL,
		.is_fast = options_flag(&cli->options, "fast"),
	};

	if (demo_init(&d)) {
		introduce(&d);
		demo_story(&d);
	}
	if (d.code == CLI_OK)
		say_what_next(&d);
	else if (stop_count(stop))
		cli_note(cli, "(stopped)");
	demo_release(&d);
	return d.code;
}

static int exec_demo(struct cli *cli)
{
	struct demo_server server = {0};
	struct stop stop;
	int code = CLI_OK;
	bool found = find_server(cli, &code);

	if (code != CLI_OK)
		return code;
	if (!stop_init(&stop, cli))
		return CLI_FAILED;
	if (!found && !options_flag(&cli->options, "private") && !cli_is_json(cli))
		cli_note(cli, "No server runs at %s: starting one for this.", options_text(&cli->options, "url"));
	if (!found && !demo_server_start(&server, cli, stop.fd))
		code = CLI_FAILED;
	if (code == CLI_OK)
		code = play(cli, &stop, &server, !found);
	demo_server_stop(&server, options_flag(&cli->options, "keep"));
	if (server.data_dir[0] && options_flag(&cli->options, "keep"))
		cli_note(cli, "The data are in %s", server.data_dir);
	stop_release(&stop);
	return code;
}

const struct command cmd_demo = {
	.name = "demo",
	.summary = "Shows in twenty seconds what this is good for",
	.usage = "",
	.about = "Four agents are played: a researcher, an analyst, a coder and a reviewer. An ack gets lost, an agent "
		 "crashes in the middle of its work, and somebody tries to drop a constraint; at the end nothing is "
		 "missing.\n\n"
		 "It plays in a space of its own on the server that runs (or in the one that --space names here), and "
		 "touches nothing else. Where none runs it starts one on a free port with a temporary data directory, "
		 "and removes both afterwards. The exit code is 0 only where everything went as it must.",
	.examples = {"spine demo --fast"},
	.tables = {&demo_table, &client_table},
	.exec = exec_demo,
};
