/* spine export: all memories of a space as JSON Lines.
 *
 * The memories come in pages, ordered by id. One that supersedes a memory with a higher id (ids can be chosen) is
 * held back until that one was written, so that an import, which goes through the file from top to bottom, finds
 * everything that is referred to.
 */
#include "cli/ask.h"
#include "cli/cmd/export_all.h"
#include "cli/cmd/export_whole.h"
#include "cli/commands.h"
#include "cli/id_map.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "client/url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A page of so many memories of the largest size, with every byte escaped, is within what the client takes. */
enum { EXPORT_PAGE = 200, LINE_MAX_BYTES = 64 * 1024 * 1024, HELD_MAX = 1000, HELD_MAX_BYTES = 64 * 1024 * 1024 };

struct held {
	struct held *next;
	uint64_t waits_for;
	uint64_t id;
	struct str line;	/* in the cli's arena */
};

struct export {
	struct cli *cli;
	FILE *out;
	bool is_shown;		/* on a terminal: then the lines are the progress, and must be safe to print */
	struct held *held;
	size_t held_count;
	size_t held_bytes;	/* ever */
	int64_t count;
	struct progress progress;
};

static void write_one(struct export *e, struct str line)
{
	if (e->is_shown) {
		struct buf safe;

		buf_init(&safe, line.n * 6 + 1);
		term_put_json(&safe, line);
		fwrite(safe.data, 1, safe.len, e->out);
		buf_release(&safe);
	} else {
		fwrite(line.p, 1, line.n, e->out);
	}
	e->count++;
}

/* Moves those that wait for the id from the held ones to *ready. */
static void release_held(struct export *e, uint64_t id, struct held **ready)
{
	for (struct held **at = &e->held; *at;) {
		struct held *held = *at;

		if (held->waits_for != id) {
			at = &held->next;
			continue;
		}
		*at = held->next;
		held->next = *ready;
		*ready = held;
		e->held_count--;
	}
}

static void write_line(struct export *e, uint64_t id, struct str line)
{
	struct held *ready = NULL;

	write_one(e, line);
	release_held(e, id, &ready);
	while (ready) {
		struct held *held = ready;

		ready = held->next;
		write_one(e, held->line);
		release_held(e, held->id, &ready);
	}
}

static void export_one(struct export *e, const struct json *memory)
{
	uint64_t id = id_number(ask_str(memory, "id")), target = id_number(ask_str(memory, "supersedes"));
	struct json_writer w;
	struct buf line;

	buf_init(&line, LINE_MAX_BYTES);
	json_writer_init(&w, &line);
	json_put(&w, memory);
	buf_putc(&line, '\n');
	if (target > id && e->held_count < HELD_MAX && e->held_bytes + line.len <= HELD_MAX_BYTES) {
		struct held *held = arena_zalloc(e->cli->arena, sizeof(*held));

		*held = (struct held){e->held, target, id, arena_str(e->cli->arena, buf_str(&line))};
		e->held = held;
		e->held_bytes += line.len;
		e->held_count++;
	} else {
		write_line(e, id, buf_str(&line));
	}
	buf_release(&line);
}

/* One page; *token becomes that of the next one, or NULL after the last. */
static int export_page(struct export *e, const char **token)
{
	struct client_request request = {.method = "GET", .repeatable = true};
	const struct json *memories;
	struct arena arena;
	struct str next;
	struct ask ask;
	struct buf path;

	arena_init(&arena);
	buf_init(&path, 64 * 1024);
	buf_puts(&path, "/v1/memories?state=any&order=oldest");
	url_add_int(&path, "page_size", EXPORT_PAGE);
	if (*token)
		url_add(&path, "page_token", str_of(*token));
	request.path = buf_str(&path).p;
	ask_make(e->cli, &request, &arena, &ask);
	if (ask.exit != CLI_OK) {
		progress_end(&e->progress);
		ask_report(e->cli, &ask);
	} else {
		memories = ask_array(&ask.json, "memories");
		for (uint32_t i = 0; i < memories->count; i++)
			export_one(e, &memories->items[i]);
		next = ask_str(&ask.json, "next_page_token");
		*token = next.n ? arena_cstr(e->cli->arena, next) : NULL;
		if (!e->is_shown)
			progress_show(&e->progress, e->count, 0);
	}
	ask_release(&ask);
	buf_release(&path);
	arena_release(&arena);
	return ask.exit;
}

static int export_all(struct cli *cli, FILE *out, int64_t *ret_count)
{
	struct export e = {.cli = cli, .out = out, .is_shown = out == stdout && cli->out.is_terminal};
	const char *token = NULL;
	int code;

	progress_init(&e.progress, cli, "memories", 0);
	do {
		code = export_page(&e, &token);
	} while (code == CLI_OK && token && !ferror(out));
	/* What these wait for was forgotten, or is not there for another reason. */
	while (code == CLI_OK && e.held) {
		struct held *held = e.held;

		e.held = held->next;
		write_one(&e, held->line);
	}
	progress_end(&e.progress);
	*ret_count = e.count;
	return code;
}

/* --- To a file: beside it first, then in its place, so that there is the whole export or the old file --- */

static int fail_file(const struct cli *cli, const char *file)
{
	cli_error(cli, "cannot write %s: %s", file, strerror(errno));
	return CLI_FAILED;
}

static bool sync_directory(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash == file ? strdup("/") : slash ? strndup(file, (size_t)(slash - file)) : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool good = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	free(dir);
	return good;
}

static int export_file(struct cli *cli, const char *file, int (*write)(struct cli *cli, FILE *out, int64_t *ret_count),
		       int64_t *ret_count)
{
	char *temporary = arena_cstr(cli->arena, arena_printf(cli->arena, "%s.XXXXXX", file));
	int fd = mkostemp(temporary, O_CLOEXEC);	/* makes it 0600 */
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	int code;

	if (out == NULL)
		return fail_file(cli, file);
	code = write(cli, out, ret_count);
	if (code == CLI_OK && (fflush(out) != 0 || ferror(out) || fsync(fd) != 0))
		code = fail_file(cli, file);
	fclose(out);
	if (code == CLI_OK && (rename(temporary, file) != 0 || !sync_directory(file)))
		code = fail_file(cli, file);
	if (code != CLI_OK)
		unlink(temporary);
	return code;
}

static void print_done(const struct cli *cli, const char *file, const char *what, int64_t count)
{
	struct str shown = term_line(cli->arena, str_of(file));
	struct json_writer w;
	struct buf out;

	if (!cli_is_json(cli)) {
		cli_note(cli, "exported %lld %s to %.*s", (long long)count, what, STR_ARG(shown));
		return;
	}
	buf_init(&out, 65536);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_str(&w, "file", shown);
	json_member_int(&w, "exported", count);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static int exec_export(struct cli *cli)
{
	const char *file = cli->options.arg_count ? cli->options.args[0] : "-";
	bool resume = options_flag(&cli->options, "resume"), whole = options_flag(&cli->options, "whole");
	int64_t count;
	int code;

	if (whole && options_flag(&cli->options, "all"))
		return cli_usage(cli, "--all is for people to keep, --whole for spine import: choose one");

	if (options_flag(&cli->options, "all"))
		return export_all_run(cli, file, resume);
	if (resume)
		return cli_usage(cli, "--resume is for spine export --all");

	if (strcmp(file, "-") == 0)
		return whole ? export_whole(cli, stdout, &count) : export_all(cli, stdout, &count);
	code = export_file(cli, file, whole ? export_whole : export_all, &count);
	if (code == CLI_OK)
		print_done(cli, file, whole ? "lines" : "memories", count);
	return code;
}

static const struct option export_options[] = {
	{.name = "all", .type = OPTION_FLAG,
	 .help = "instead of memories: envelopes, handoffs with their results, and events; what retention takes away"},
	{.name = "whole", .type = OPTION_FLAG,
	 .help = "instead of memories: all of the space that spine import can bring back elsewhere, as rows"},
	{.name = "resume", .type = OPTION_FLAG,
	 .help = "with --all: go on with a file that was cut off, or add what has come since"},
};

static const struct option_table export_table = {"Exporting", export_options, OPTION_COUNT(export_options)};

const struct command cmd_export = {
	.name = "export",
	.summary = "Writes memories, or handoffs and events, as JSON Lines",
	.usage = "[FILE|-]", .max_args = 1,
	.about = "A line for each memory, in its newest version; superseded and expired ones, too. A file is replaced "
		 "only after all of it was written, and only its owner can read it. To save all spaces and all "
		 "versions, use spine backup.\n\n"
		 "With --all each line is an object with one member: envelope, handoff (with its events and result), "
		 "or event, as the server shows it. They are written as they come. What was pruned already is not "
		 "there, and import does not read them.\n\n"
		 "With --whole spine import brings the space back, on another server or in another kind of store: "
		 "settings, agents, channels, routes, memories with all versions, envelopes and handoffs, with their "
		 "numbers, digests, times and states. Not in it are events, receipts, waivers, breakers, alerts, "
		 "webhooks, and answers that are kept for keys. Stop the agents first: what is written "
		 "meanwhile may be in it or not.",
	.examples = {
		"spine export ./memories.jsonl",
		"spine export | jq -r .content",
		"spine export --all --resume ./history.jsonl",
		"spine export --whole ./whole.jsonl",
	},
	.tables = {&export_table, &client_table},
	.args = ARGS_FILES,
	.exec = exec_export,
};
