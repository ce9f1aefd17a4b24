#include "cli/cli.h"

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/help/help.h"
#include "cli/input.h"
#include "cli/own_key.h"
#include "cli/shared_options.h"
#include "cli/subcommand.h"
#include "client/client.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

enum {
	CONFIG_MAX_BYTES = 64 * 1024,
	MESSAGE_MAX_BYTES = 64 * 1024,
	REPLY_MAX_BYTES = 512 * 1024 * 1024,
};

const struct cli_exit_text cli_exits[] = {
	{CLI_OK, "done"},
	{CLI_FAILED, "refused by the server, or failed for a reason that the message gives"},
	{CLI_USAGE, "the command line, the environment or the configuration file is wrong; nothing was done"},
	{CLI_NOT_FOUND, "something that was named does not exist, or was forgotten; or nothing is there to receive"},
	{CLI_CONFLICT, "in conflict with what is there: an id is taken, a version has moved on, or was replaced"},
	{CLI_UNREACHABLE,
	 "the server cannot be reached, did not answer in time, or is busy, or a receiver is: trying again "
	 "may help"},
	{CLI_DAMAGED, "the store failed, or a check found something wrong with it"},
	{0, NULL},
};

/* --- Messages --- */

static void put_message(const char *prefix, const char *suffix, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void put_message(const char *prefix, const char *suffix, const char *format, va_list args)
{
	struct buf message, safe;

	buf_init(&message, MESSAGE_MAX_BYTES);
	buf_init(&safe, MESSAGE_MAX_BYTES * 6);
	buf_vprintf(&message, format, args);
	if (buf_overflowed(&message)) {
		buf_clear(&message);
		buf_puts(&message, "(the message is too long to be printed)");
	}
	buf_puts(&safe, prefix);
	term_put_text(&safe, buf_str(&message));
	buf_putc(&safe, '\n');
	buf_puts(&safe, suffix);
	fflush(stdout);
	fwrite(safe.data, 1, safe.len, stderr);
	buf_release(&message);
	buf_release(&safe);
}

void cli_error(const struct cli *cli, const char *format, ...)
{
	va_list args;

	(void)cli;
	va_start(args, format);
	put_message("spine: ", "", format, args);
	va_end(args);
}

const char *cli_person(const struct cli *cli)
{
	const char *by = options_text(&cli->options, "by"), *user = getenv("USER");
	const struct passwd *entry;

	if (by || options_text(&cli->options, "agent") || own_key_is_there(cli))
		return by;
	if (user == NULL || user[0] == '\0') {
		entry = getpwuid(getuid());
		user = entry ? entry->pw_name : NULL;
	}
	return user && str_is_utf8(str_of(user)) ? user : NULL;
}

int cli_usage(const struct cli *cli, const char *format, ...)
{
	struct str hint = cli->command ? arena_printf(cli->arena, "Try: spine %s --help\n", cli->command->name) :
			  STR("Try: spine --help\n");
	va_list args;

	va_start(args, format);
	put_message("spine: ", hint.p, format, args);
	va_end(args);
	return CLI_USAGE;
}

void cli_note(const struct cli *cli, const char *format, ...)
{
	va_list args;

	(void)cli;
	va_start(args, format);
	put_message("", "", format, args);
	va_end(args);
}

bool cli_is_json(const struct cli *cli)
{
	const struct option_value *json = options_find(&cli->options, "json");

	return json && json->boolean;
}

void cli_write(struct str bytes)
{
	/* A failure stays with the stream and is reported once, at the end. */
	if (bytes.n)
		fwrite(bytes.p, 1, bytes.n, stdout);
}

void cli_write_buf(struct buf *bytes)
{
	cli_write(buf_str(bytes));
	buf_release(bytes);
}

const char *cli_program(struct arena *arena)
{
#ifdef __linux__
	(void)arena;
	return "/proc/self/exe";	/* the same one, also where its file was replaced by an update */
#else
	char path[PATH_MAX] = "spine";
	size_t size = sizeof(path);

	uv_exepath(path, &size);
	return arena_cstr(arena, str_of(path));
#endif
}

const char *cli_called(const struct cli *cli)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
	const char *called = cli->called;

	/* What a shell would read otherwise, or a terminal, is not worth a quotation. */
	return called && called[0] && called[0] != '-' && called[strspn(called, plain)] == '\0' ? called : "spine";
}

struct str cli_keep(struct arena *arena, struct buf *text)
{
	struct str copy = arena_str(arena, buf_str(text));

	buf_release(text);
	return copy;
}

void cli_write_json_buf(const struct cli *cli, struct buf *json)
{
	cli_write_json(cli, buf_str(json));
	buf_release(json);
}

void cli_write_json(const struct cli *cli, struct str json)
{
	while (json.n > 0 && json.p[json.n - 1] == '\n')
		json.n--;
	if (cli->out.is_terminal) {
		struct buf safe;

		buf_init(&safe, json.n * 6 + 1);
		term_put_json(&safe, json);
		cli_write_buf(&safe);
	} else {
		cli_write(json);
	}
	cli_write(STR("\n"));
}

int64_t cli_timeout_ms(const struct cli *cli)
{
	const struct option_value *timeout = options_find(&cli->options, "timeout");

	return cli->timeout_ms ? cli->timeout_ms : timeout ? timeout->number : 0;
}

struct client_config cli_client_config(const struct cli *cli)
{
	const struct options *o = &cli->options;

	return (struct client_config){
		.url = options_text(o, "url"),
		.space = cli->is_nowhere ? NULL : cli->space ? cli->space : options_text(o, "space"),
		.agent = cli->is_anonymous ? NULL : options_text(o, "agent"),
		.key_file = own_key_file(cli),
		.ca_file = options_text(o, "ca-file"),
		.cert_file = options_text(o, "cert-file"),
		.cert_key_file = options_text(o, "cert-key-file"),
		.timeout_ms = cli_timeout_ms(cli),
		.max_reply_bytes = REPLY_MAX_BYTES, .is_told_at_once = cli->is_told_at_once,
	};
}

struct client *cli_client(struct cli *cli)
{
	struct client_config config = cli_client_config(cli);
	struct buf error;

	if (cli->client)
		return cli->client;
	buf_init(&error, 4096);
	cli->client = client_new(&config, &error);
	if (cli->client == NULL)
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return cli->client;
}

/* --- From the command line to the command --- */

/* Some commands have nothing that could be configured; a mistake in the file is no reason for them to fail. */
static bool is_configurable(const struct options *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->values[i].option->key)
			return true;
	return false;
}

/* The configuration file: a given one must be there, the default one may be missing. */
static bool read_config(struct options *o, struct arena *arena, struct buf *error)
{
	const struct option_value *config = options_value(o, "config");
	const char *file = config->text;
	bool good = false;
	struct buf text;

	buf_init(&text, CONFIG_MAX_BYTES);
	if (!is_configurable(o))
		return true;
	if (file == NULL && !option_expand_path(config->option->fallback, arena, &file))
		return true;
	if (config->source == OPTION_UNSET && access(file, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return true;
	if (input_read_file(file, &text, error))
		good = options_parse_config(o, command_all_tables(arena), file, buf_str(&text), error);
	buf_release(&text);
	return good;
}

const char *cli_data_dir(const struct cli *cli)
{
	static const struct option_table *const tables[] = {&data_table, &common_table, NULL};
	const struct option_value *config = options_value(&cli->options, "config");
	const char *dir = NULL;
	struct options o;
	struct buf error;

	buf_init(&error, MESSAGE_MAX_BYTES);
	options_init(&o, tables, cli->arena);
	for (size_t i = 0; i < o.count; i++)
		if (o.values[i].option == config->option && options_is_given(&cli->options, "config"))
			o.values[i] = *config;
	if (options_parse_env(&o, &error) && read_config(&o, cli->arena, &error) && options_apply_defaults(&o, &error))
		dir = options_text(&o, "data");
	buf_release(&error);
	return dir;
}

static int parse_options(struct cli *cli, int argc, char *const *argv, bool *ret_help)
{
	const struct command *command = cli->command;
	struct options *o = &cli->options;
	struct buf error;
	int code = CLI_OK;

	buf_init(&error, MESSAGE_MAX_BYTES);
	*ret_help = false;
	if (!options_parse_args(o, argc, argv, &error)) {
		code = cli_usage(cli, "%s", buf_str(&error).p);
	} else if (options_flag(o, "help")) {
		*ret_help = true;
	} else if (!options_parse_env(o, &error) || !read_config(o, cli->arena, &error) ||
		   !options_apply_defaults(o, &error)) {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_USAGE;
	} else if (o->arg_count < command->min_args || o->arg_count > command->max_args) {
		code = cli_usage(cli, "%s %s; usage: spine %s [options] %s", command->name,
				 o->arg_count < command->min_args ? "needs more arguments" : "has too many arguments",
				 command->name, command->usage);
	}
	buf_release(&error);
	return code;
}

static void offer_name(const struct command *command, void *arg)
{
	nearest_offer(arg, command->name);
	if (command->alias)
		nearest_offer(arg, command->alias);
}

int cli_unknown_command(const struct cli *cli, const char *name)
{
	struct cli none = *cli;
	struct nearest near;

	/* The help of "spine help" does not list the commands; that of spine does. */
	none.command = NULL;
	nearest_init(&near, str_of(name));
	command_each(offer_name, &near);
	if (near.best)
		return cli_usage(&none, "unknown command \"%.80s\"; did you mean \"%s\"?", name, near.best);
	return cli_usage(&none, "unknown command \"%.80s\"", name);
}

static int refuse_command(const struct cli *cli, const char *name)
{
	if (name[0] == '-')
		return cli_usage(cli, "unknown option %.80s; options of a command stand after its name", name);
	return cli_unknown_command(cli, name);
}

/* What was written must have arrived: a full disk behind a pipe is a failure, too. */
static int flush_output(const struct cli *cli, int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	cli_error(cli, "cannot write to standard output: %s", strerror(errno));
	return code == CLI_OK ? CLI_FAILED : code;
}

static int execute(struct cli *cli)
{
	const struct command *command = cli->command;

	if (command->exec)
		return command->exec(cli);
	return command->subs ? subcommand_run(cli, command->subs) : one_call_run(cli, &command->call, 0);
}

static int run_command(struct cli *cli, int argc, char *const *argv)
{
	bool help;
	int code;

	options_init(&cli->options, command_tables(cli->command, cli->arena), cli->arena);
	code = parse_options(cli, argc, argv, &help);
	if (code != CLI_OK)
		return cli->command->usage_exit ? (int)cli->command->usage_exit : code;
	if (help)
		help_command(cli, cli->command);
	else
		code = execute(cli);
	client_free(cli->client);
	return flush_output(cli, code);
}

int cli_run(struct arena *arena, int argc, char *const *argv)
{
	struct cli cli = {.arena = arena, .called = argc > 0 ? argv[0] : NULL};
	const char *name = argc > 1 ? argv[1] : NULL;

	term_init(&cli.out, STDOUT_FILENO);
	term_init(&cli.err, STDERR_FILENO);
	if (name == NULL) {
		help_brief(&cli);
		return CLI_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	cli.command = command_find(str_of(name));
	if (cli.command == NULL)
		return refuse_command(&cli, name);
	return run_command(&cli, argc - 2, argv + 2);
}
