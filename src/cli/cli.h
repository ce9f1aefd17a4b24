/* The command line: `spine COMMAND [options] [arguments]`.
 *
 * Each command is one `const struct command`, listed once, in commands.c: a row of cmd/rows_SUBJECT.c where it makes
 * one call and shows the answer, else a file cmd/cmd_NAME.c. Help, manual page and shell completion follow from the
 * struct. README.md says how to add one.
 *
 * Standard output carries results and nothing else: with --json exactly one JSON document, the server's own wherever
 * the server has one (a problem document where the command failed). Sentences for people, warnings and progress go to
 * standard error.
 */
#ifndef SPINE_CLI_CLI_H
#define SPINE_CLI_CLI_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/options.h"
#include "cli/one_call.h"
#include "cli/term.h"

/* What scripts may rely on; cli_exits says it in words. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_NOT_FOUND = 3,
	CLI_CONFLICT = 4,
	CLI_UNREACHABLE = 5,
	CLI_DAMAGED = 6,
};

struct cli_exit_text {
	enum cli_exit code;
	const char *meaning;	/* NULL ends the list */
};

extern const struct cli_exit_text cli_exits[];

struct cli;
struct client;
struct subcommand;

/* What may stand in the place of an argument, for completion in the shell. */
enum command_args { ARGS_OTHER, ARGS_FILES, ARGS_COMMANDS, ARGS_WORDS };

enum { COMMAND_TABLES_MAX = 8, COMMAND_EXAMPLES_MAX = 5, COMMAND_ARGS_ANY = 100000 };

struct command {
	const char *name;
	const char *alias;		/* another name of it, which its help mentions; NULL for none */
	const char *summary;		/* what it does, in a line; no full stop */
	const char *usage;		/* its arguments: "ID [TEXT|-]"; "" for none */
	const char *about;		/* more about it, paragraphs divided by an empty line; may be NULL */
	const char *examples[COMMAND_EXAMPLES_MAX];	/* command lines that work, ended by NULL */
	const struct option_table *tables[COMMAND_TABLES_MAX];	/* ended by NULL; what all have is added */
	size_t min_args;
	size_t max_args;
	enum command_args args;
	const char *const *words;	/* of ARGS_WORDS, ended by NULL */
	/* What it does, one of the three; of exec and another, exec is run. Each returns an enum cli_exit. */
	int (*exec)(struct cli *cli);
	const struct subcommand *subs;	/* ended by one without a name; their names are the words of the arguments */
	struct one_call call;		/* where it has a path */
	enum cli_exit usage_exit;	/* of a wrong command line, where 2 means something else; 0: CLI_USAGE */
};

struct cli {
	struct arena *arena;		/* borrowed */
	const char *called;		/* as what the program was called: argv[0]; may be NULL */
	const struct command *command;
	struct options options;
	struct term out;		/* standard output */
	struct term err;		/* standard error */
	struct client *client;		/* NULL until cli_client() */
	const char *space;		/* set before cli_client(): the space, instead of what --space says */
	bool is_anonymous;		/* set before cli_client(): calls do not name the agent */
	bool is_nowhere;		/* set before cli_client(): nor the space */
	int64_t timeout_ms;		/* set before cli_client(): of a call; 0: that of --timeout */
	bool is_told_at_once;		/* set before cli_client(): a call is not repeated by itself */
	/* Set where the arguments from listed_from on are a list of the request, to its name: what the server says of
	 * "ids[2]" is said of the argument. */
	const char *listed;
	size_t listed_from;
};

/* Runs the command that argv names, argv[0] being the program. Returns the exit code. */
int cli_run(struct arena *arena, int argc, char *const *argv);

/* --- For the commands --- */

/* "spine: …" on standard error; format without a line break at its end. */
void cli_error(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Who decides something (--by): where nothing was said the person at the keyboard; NULL where --agent or a key
 * says who is calling, which the server is told anyhow. */
const char *cli_person(const struct cli *cli);
/* An error, with where to read more; returns CLI_USAGE. */
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a command that does not exist, with the one that may have been meant. */
int cli_unknown_command(const struct cli *cli, const char *name);
/* A line on standard error that is not about a failure. */
void cli_note(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --json was given. False for commands that do not have it. */
bool cli_is_json(const struct cli *cli);
/* To standard output, as it is. */
void cli_write(struct str bytes);
/* The same of a buffer, which is released. */
void cli_write_buf(struct buf *bytes);
/* What a person types to have this program again, as it can be shown: as it was called, or "spine". Borrowed. */
const char *cli_called(const struct cli *cli);
/* What to execute to have this program again. In the arena, or constant. */
const char *cli_program(struct arena *arena);
/* The text of a buffer, copied into the arena; the buffer is released. */
struct str cli_keep(struct arena *arena, struct buf *text);
/* A JSON document to standard output, with a line break. */
void cli_write_json(const struct cli *cli, struct str json);
/* The same of a buffer, which is released. */
void cli_write_json_buf(const struct cli *cli, struct buf *json);
/* The data directory that a server started by this person has, for commands without --data. NULL where that cannot be
 * told. */
const char *cli_data_dir(const struct cli *cli);
/* How long a call may take, beside what the server was asked to wait. */
int64_t cli_timeout_ms(const struct cli *cli);
/* What a client is made with, by the options of the command, for those that make clients of their own: address, space,
 * agent, time, and what it proves itself with. Borrows from the options. */
struct client_config cli_client_config(const struct cli *cli);
/* The client for the options of the command. NULL, with the reason on standard error, where they are of no use. */
struct client *cli_client(struct cli *cli);

#endif
