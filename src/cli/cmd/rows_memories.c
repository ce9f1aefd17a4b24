/* Memories that are there: list, search, get, versions, pin, unpin, forget. */
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/filters.h"
#include "cli/request/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_handoff.h"
#include "client/url.h"

#include <stdio.h>
#include <unistd.h>

enum { WORDS_MAX_BYTES = 64 * 1024, IDS_MAX = 1000 };

/* --- Finding --- */

static const char *const order_choices[] = {"newest", "oldest", NULL};

static const struct option list_options[] = {
	{.name = "order", .arg = "ORDER", .type = OPTION_CHOICE, .choices = order_choices, .fallback = "newest",
	 .help = "which come first"},
};

static const struct option_table list_table = {"Listing", list_options, OPTION_COUNT(list_options)};

const struct command cmd_list = {
	.name = "list",
	.summary = "Lists memories, the newest first",
	.usage = "",
	.examples = {
		"spine list",
		"spine list --pinned --state any",
		"spine list --author researcher --after 2026-01-30 --order oldest -n 100",
	},
	.tables = {&list_table, &filters_table, &client_table},
	.call = {
		.path = "/v1/memories", .members = {{"order", "order"}}, .query = filters_put, .is_paged = true,
		.list = "memories", .columns = memory_columns, .none = "(nothing found)",
	},
};

static const struct option search_options[] = {
	{.name = "explain", .letter = 'x', .type = OPTION_FLAG, .help = "show what each score is made of"},
};

static const struct option_table search_table = {"Searching", search_options, OPTION_COUNT(search_options)};

static int put_words(struct cli *cli, struct buf *path)
{
	struct buf words;

	buf_init(&words, WORDS_MAX_BYTES);
	body_join_arguments(cli, &words);
	url_add(path, "query", buf_str(&words));
	if (options_flag(&cli->options, "explain"))
		url_add(path, "explain", STR("true"));
	path->overflowed = path->overflowed || words.overflowed;
	buf_release(&words);
	return filters_put(cli, path);
}

const struct command cmd_search = {
	.name = "search",
	.summary = "Finds memories by words, the best first",
	.usage = "WORDS...", .min_args = 1, .max_args = COMMAND_ARGS_ANY,
	.about = "There is no syntax: any words will do. They are looked for in texts, summaries and tags, without "
		 "regard to case, accents and endings; names such as retryPolicy and paths are found by their parts.",
	.examples = {
		"spine search retry policy of the payment gateway",
		"spine search retry --tag gateway --after 7d --explain",
		"spine search retry --json -n 5 | jq -r '.memories[].id'",
	},
	.tables = {&search_table, &filters_table, &client_table},
	.call = {
		.path = "/v1/memories", .query = put_words, .is_paged = true,
		.list = "memories", .columns = memory_columns, .none = "(nothing found)",
	},
};

/* --- Reading --- */

static const struct option get_options[] = {
	{.name = "raw", .letter = 'r', .type = OPTION_FLAG,
	 .help = "only the text, byte for byte (on a terminal control characters are made visible all the same)"},
};

static const struct option_table get_table = {"Reading", get_options, OPTION_COUNT(get_options)};

static int put_ids(struct cli *cli, struct json_writer *w)
{
	return body_put_ids(cli, "ids", 0, BODY_ID_EXPECTED, w);
}

/* Of what is not a memory there is one at a time. */
static int exec_get(struct cli *cli)
{
	static const struct one_call envelope = {.path = "/v1/envelopes/{0}", .show = show_envelope};
	static const struct one_call handoff = {.path = "/v1/handoffs/{0}", .show = show_handoff};
	static const struct one_call memories = {
		.method = "POST", .path = "/v1/memories/fetch", .put = put_ids, .rest = "ids",
		.list = "memories", .show = show_memories, .judge = show_missing,
	};
	static const struct one_call texts = {
		.method = "POST", .path = "/v1/memories/fetch", .put = put_ids, .rest = "ids",
		.list = "memories", .show = show_texts, .judge = show_missing,
	};
	struct str id = str_of(cli->options.args[0]);
	bool raw = options_flag(&cli->options, "raw"), is_envelope = str_has_prefix(id, STR("env-"));

	if (!is_envelope && !str_has_prefix(id, STR("ho-")))
		return one_call_run(cli, raw ? &texts : &memories, 0);
	if (cli->options.arg_count > 1 || raw)
		return cli_usage(cli, "an envelope or a handoff is read alone, and without --raw");
	return one_call_run(cli, is_envelope ? &envelope : &handoff, 0);
}

const struct command cmd_get = {
	.name = "get",
	.summary = "Reads memories, an envelope or a handoff by their ids",
	.usage = "ID[@VERSION]...", .min_args = 1, .max_args = IDS_MAX,
	.about = "Memories that were superseded or have expired are read all the same, and say so. An id that does "
		 "not exist, was forgotten or is in quarantine is named on standard error, and the exit code is 3; "
		 "the others are printed. What one answer of the server has no room for is asked for again.\n\n"
		 "With --json the document has the members memories and missing, also for a single id.\n\n"
		 "An id such as env-1 or ho-1 shows that envelope or handoff.",
	.examples = {
		"spine get ms-1",
		"spine get --raw ms-1@1",
		"spine get --json ms-1 ms-2 | jq '.memories[].tags'",
	},
	.tables = {&get_table, &client_table},
	.exec = exec_get,
};

const struct command cmd_versions = {
	.name = "versions",
	.summary = "Lists the versions of a memory, the newest first",
	.usage = "ID", .min_args = 1, .max_args = 1,
	.examples = {"spine versions ms-1"},
	.tables = {&pages_table, &client_table},
	.call = {
		.path = "/v1/memories/{0}/versions", .is_paged = true, .list = "versions", .columns = version_columns,
	},
};

/* --- Changing --- */

const struct command cmd_pin = {
	.name = "pin",
	.summary = "Pins memories: they go with every handoff (of their task) and rank higher",
	.usage = "ID...", .min_args = 1, .max_args = COMMAND_ARGS_ANY,
	.about = "With --json the document has the member memories, and problems where some of the ids failed.",
	.examples = {"spine pin ms-1 ms-2"},
	.tables = {&client_table},
	.call = {
		.method = "POST", .path = "/v1/memories/{0}/pin", .is_for_each = true, .list = "memories",
		.done = "pinned",
	},
};

const struct command cmd_unpin = {
	.name = "unpin",
	.summary = "Takes the pins of memories away",
	.usage = "ID...", .min_args = 1, .max_args = COMMAND_ARGS_ANY,
	.about = "With --json the document has the member memories, and problems where some of the ids failed.",
	.examples = {"spine unpin ms-1"},
	.tables = {&client_table},
	.call = {
		.method = "POST", .path = "/v1/memories/{0}/unpin", .is_for_each = true, .list = "memories",
		.done = "unpinned",
	},
};

static const struct option forget_options[] = {
	{.name = "yes", .letter = 'y', .type = OPTION_FLAG,
	 .help = "do not ask; required where standard input is no terminal"},
};

static const struct option_table forget_table = {"Forgetting", forget_options, OPTION_COUNT(forget_options)};

/* Asks on standard error, so that standard output stays for the result. */
static bool is_confirmed(const struct cli *cli)
{
	size_t count = cli->options.arg_count;
	char answer[16];

	if (count == 1)
		cli_note(cli, "Forget %.80s? Its content is removed for good, all versions of it. [y/N]",
			 cli->options.args[0]);
	else
		cli_note(cli, "Forget these %zu memories? Their content is removed for good, all versions of it. [y/N]",
			 count);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int exec_forget(struct cli *cli)
{
	if (!options_flag(&cli->options, "yes")) {
		if (!isatty(STDIN_FILENO))
			return cli_usage(cli, "forgetting cannot be undone; confirm it with --yes");
		if (!is_confirmed(cli)) {
			cli_error(cli, "nothing was forgotten");
			return CLI_FAILED;
		}
	}
	return one_call_run(cli, &cli->command->call, 0);
}

const struct command cmd_forget = {
	.name = "forget",
	.summary = "Removes the content of memories for good",
	.usage = "ID...", .min_args = 1, .max_args = COMMAND_ARGS_ANY,
	.about = "Text, summary, tags, metadata, author and task of every version are removed; that there was a "
		 "memory of that id stays known. On a terminal it asks first.\n\n"
		 "With --json the document has the member memories, and problems where some of the ids failed.",
	.examples = {"spine forget --yes ms-2"},
	.tables = {&forget_table, &client_table},
	.exec = exec_forget,
	.call = {
		.method = "DELETE", .path = "/v1/memories/{0}", .is_for_each = true, .list = "memories",
		.done = "forgot",
	},
};
