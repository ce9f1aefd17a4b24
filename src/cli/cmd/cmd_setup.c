/* spine setup: connects a host to the server, by a change of its configuration that is shown first. */
#include "cli/commands.h"
#include "cli/setup/setup_hosts.h"
#include "cli/shared_options.h"
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT_MAX_BYTES = 1 << 20, ANSWER_MAX_BYTES = 16 };

static const struct option setup_options[] = {
	{.name = "project", .type = OPTION_FLAG,
	 .help = "for this project: the file in the current directory (the default, but for codex)"},
	{.name = "user", .type = OPTION_FLAG, .help = "for all projects: the file in the home directory"},
	{.name = "stdio", .type = OPTION_FLAG,
	 .help = "the host starts spine mcp, which starts a server where none runs, instead of connecting to the URL"},
	{.name = "token-env", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "the environment variable with the key that the host sends, such as SPINE_KEY; it is written nowhere"},
	{.name = "no-hooks", .type = OPTION_FLAG, .help = "without the hook that wakes an idle agent"},
	{.name = "undo", .type = OPTION_FLAG, .help = "take out what setup has put in"},
	{.name = "yes", .letter = 'y', .type = OPTION_FLAG, .help = "do not ask"},
};

static const struct option_table setup_table = {"Setting up", setup_options, OPTION_COUNT(setup_options)};

static const char *const host_words[] = {"claude-code", "cursor", "vscode", "codex", NULL};

struct change {
	struct setup_file files[SETUP_FILES_MAX];
	size_t count;
};

static const struct setup_host *find_host(const char *name)
{
	const struct setup_host *host = setup_hosts;

	while (host->name && strcmp(host->name, name) != 0)
		host++;
	return host->name ? host : NULL;
}

/* --- This program, as the host is to call it --- */

static bool is_in_path(const char *program)
{
	char *list = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = list, *dir, file[4096], *real;
	bool found = false;

	while (!found && (dir = strsep(&rest, ":"))) {
		snprintf(file, sizeof(file), "%s/spine", dir);
		real = realpath(file, NULL);
		found = real && strcmp(real, program) == 0;
		free(real);
	}
	free(list);
	return found;
}

/* A file that is shared with others names no path of this machine, where it can be helped. */
static void find_program(const struct cli *cli, struct setup_wish *wish)
{
	char *real = realpath(cli_program(cli->arena), NULL);

	wish->program_path = real ? arena_cstr(cli->arena, str_of(real)) : "spine";
	wish->program = !wish->is_user && is_in_path(wish->program_path) ? "spine" : wish->program_path;
	free(real);
}

/* --- The change --- */

static const char *what_to_paste(const struct cli *cli, const struct setup_wish *wish,
				 bool (*change)(struct arena *, const struct setup_wish *, struct buf *))
{
	struct buf text;

	buf_init(&text, TEXT_MAX_BYTES);
	if (wish->is_undone || !change(cli->arena, wish, &text))
		buf_puts(&text, "(the entry " SETUP_SERVER ")\n");
	return cli_keep(cli->arena, &text).p;
}

static bool is_nothing_left(struct str text)
{
	struct str rest = str_trim(text);

	while (rest.n && strchr("{} \t\r\n", rest.p[0]))
		rest = str_sub(rest, 1, rest.n);
	return rest.n == 0;
}

static int plan(const struct cli *cli, const struct setup_wish *wish, struct change *all, const char *path,
		bool (*change)(struct arena *, const struct setup_wish *, struct buf *))
{
	struct setup_file *f = &all->files[all->count++];
	struct buf error;
	int code = CLI_OK;

	buf_init(&error, TEXT_MAX_BYTES);
	if (path == NULL) {
		*f = (struct setup_file){0};
		code = CLI_FAILED;
		cli_error(cli, "where the file is cannot be told: HOME is not set");
	} else if (!setup_file_read(f, path, &error)) {
		code = CLI_FAILED;
		cli_error(cli, "%s", buf_str(&error).p);
	} else if (wish->is_undone && !f->exists) {
		code = CLI_OK;
	} else if (!change(cli->arena, wish, &f->after)) {
		code = CLI_CONFLICT;
		cli_error(cli, "%s has a form that this command does not change, so that nothing of it is lost. "
			  "%s\n\n%s", path, wish->is_undone ? "Take this out by hand:" : "Put this in by hand:",
			  what_to_paste(cli, wish, change));
	}
	f->is_gone = wish->is_undone && f->exists && is_nothing_left(buf_str(&f->after));
	buf_release(&error);
	return code;
}

static bool is_changed(const struct change *all)
{
	bool changed = false;

	for (size_t i = 0; i < all->count; i++)
		changed = changed || setup_file_is_changed(&all->files[i]);
	return changed;
}

static void show(const struct cli *cli, const struct change *all)
{
	struct buf out, safe;

	buf_init(&out, TEXT_MAX_BYTES);
	buf_init(&safe, TEXT_MAX_BYTES * 6);
	for (size_t i = 0; i < all->count; i++)
		if (setup_file_is_changed(&all->files[i]))
			setup_file_diff(&all->files[i], &out);
	if (buf_overflowed(&out))
		buf_puts(&safe, "(the change is too long to be shown)\n");
	else if (cli->out.is_terminal)
		term_put_text(&safe, buf_str(&out));
	else
		buf_put(&safe, buf_str(&out));
	cli_write_buf(&safe);
	buf_release(&out);
	fflush(stdout);
}

static bool is_agreed(const struct cli *cli)
{
	char answer[ANSWER_MAX_BYTES] = "";

	if (options_flag(&cli->options, "yes"))
		return true;
	if (!isatty(STDIN_FILENO)) {
		cli_error(cli, "nothing was written: there is nobody to ask. --yes writes it");
		return false;
	}
	fprintf(stderr, "Write it? [y/N] ");
	if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	cli_note(cli, "Nothing was written.");
	return false;
}

static int carry_out(const struct cli *cli, const struct change *all)
{
	struct buf error;
	int code = CLI_OK;

	buf_init(&error, TEXT_MAX_BYTES);
	for (size_t i = 0; code == CLI_OK && i < all->count; i++) {
		if (!setup_file_is_changed(&all->files[i]) || setup_file_write(&all->files[i], &error))
			continue;
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	}
	buf_release(&error);
	return code;
}

static int finish(const struct cli *cli, const struct setup_host *host, const struct setup_wish *wish,
		  const struct change *all)
{
	int code;

	if (!is_changed(all)) {
		cli_note(cli, wish->is_undone ? "%s: there is nothing to undo." : "%s: all is as it should be.",
			 host->title);
		return CLI_OK;
	}
	show(cli, all);
	if (!is_agreed(cli))
		return CLI_FAILED;
	code = carry_out(cli, all);
	if (code == CLI_OK && !wish->is_undone)
		cli_note(cli, "%s%s", host->next, wish->is_stdio ? "" : " A server must run: spine serve");
	return code;
}

/* The host starts programs where it likes, so that paths must be whole. NULL where the option was not given. */
static const char *whole_path(const struct cli *cli, const char *option)
{
	const char *path = options_text(&cli->options, option);
	char *real = path ? realpath(path, NULL) : NULL;

	if (real)
		path = arena_cstr(cli->arena, str_of(real));
	free(real);
	return path;
}

static int read_wish(struct cli *cli, const struct setup_host *host, struct setup_wish *ret)
{
	const struct options *o = &cli->options;
	bool is_project = options_flag(o, "project"), is_user = options_flag(o, "user");

	*ret = (struct setup_wish){
		.is_user = is_user || (host->is_user_by_default && !is_project), .is_stdio = options_flag(o, "stdio"),
		.is_undone = options_flag(o, "undo"), .has_hooks = !options_flag(o, "no-hooks"),
		.url = options_text(o, "url"), .is_url_given = options_is_given(o, "url"),
		.agent = options_text(o, "agent"), .space = options_text(o, "space"),
		.token_env = options_text(o, "token-env"),
		.key_file = whole_path(cli, "key-file"), .ca_file = whole_path(cli, "ca-file"),
		.cert_file = whole_path(cli, "cert-file"), .cert_key_file = whole_path(cli, "cert-key-file"),
	};
	if (is_project && is_user)
		return cli_usage(cli, "--project and --user exclude each other");
	if (ret->is_stdio && ret->token_env)
		return cli_usage(cli, "--token-env is for hosts that connect to the URL; spine mcp has its key from "
				 "SPINE_KEY, or from --key-file FILE");
	/* The address and the names must be such as can be sent. */
	cli->timeout_ms = 1;
	return cli_client(cli) ? CLI_OK : CLI_USAGE;
}

static int exec_setup(struct cli *cli)
{
	const struct setup_host *host = find_host(cli->options.args[0]);
	struct change all = {.count = 0};
	struct setup_wish wish;
	int code;

	if (host == NULL)
		return cli_usage(cli, "unknown host \"%.80s\"; there are claude-code, cursor, vscode and codex",
				 cli->options.args[0]);
	code = read_wish(cli, host, &wish);
	if (code != CLI_OK)
		return code;
	find_program(cli, &wish);
	code = plan(cli, &wish, &all, host->file(cli->arena, wish.is_user), host->change);
	if (code == CLI_OK && host->hook_file && (wish.is_undone || (wish.has_hooks && wish.agent)))
		code = plan(cli, &wish, &all, host->hook_file(cli->arena, wish.is_user), host->change_hook);
	if (code == CLI_OK)
		code = finish(cli, host, &wish, &all);
	for (size_t i = 0; i < all.count; i++)
		setup_file_release(&all.files[i]);
	return code;
}

const struct command cmd_setup = {
	.name = "setup",
	.summary = "Connects Claude Code, Cursor, VS Code or Codex to the server",
	.usage = "claude-code|cursor|vscode|codex", .min_args = 1, .max_args = 1,
	.about = "Writes the entry \"memory-spine\" into the file that the host reads: .mcp.json, .cursor/mcp.json, "
		 ".vscode/mcp.json, or the config.toml of Codex. The change is shown first, and asked about. What else "
		 "stands in the file stays as it is, with its comments; done again it changes nothing; --undo takes it "
		 "out.\n\n"
		 "With --agent the host calls under that name. For Claude Code there is a hook then, too, in "
		 ".claude/settings.local.json: after each turn it waits for work (spine wait), and work wakes the "
		 "agent.",
	.examples = {
		"spine setup claude-code --agent coder --yes",
		"spine setup codex --agent reviewer --stdio --yes",
		"spine setup claude-code --undo --yes",
	},
	.tables = {&setup_table, &where_table},
	.args = ARGS_WORDS, .words = host_words,
	.exec = exec_setup,
};
