/* spine import: stores the memories of a JSON Lines file. */
#include "cli/cmd/export_whole.h"
#include "cli/commands.h"
#include "cli/import_batch.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/shared_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A memory of the largest size, with every byte escaped, is a line of less than 2 MiB; a row with a result of the
 * largest size is longer. A batch stays below what a server takes. */
enum {
	MEMORY_LINE_MAX_BYTES = 4 * 1024 * 1024, LINE_MAX_BYTES = 16 * 1024 * 1024,
	BATCH_MAX_BYTES = 4 * 1024 * 1024, LINE_DEPTH = 1000,
};

static const struct option import_options[] = {
	{.name = "new-ids", .type = OPTION_FLAG,
	 .help = "give the memories new ids, and let what they supersede follow"},
	{.name = "batch", .arg = "N", .type = OPTION_INT, .fallback = "500", .min = 1, .max = 1000,
	 .help = "memories stored by one request, all of them or none"},
};

static const struct option_table import_table = {"Importing", import_options, OPTION_COUNT(import_options)};

struct reading {
	struct import import;
	struct import_batch batch;
	struct lines lines;
	struct progress progress;
	struct import_whole *whole;	/* NULL: the lines are memories */
};

static int fail_line(struct import *import, uint64_t line, struct str detail)
{
	import->failed_line = line;
	import->failed_code = STR("bad_line");
	import->failed_detail = detail;
	return CLI_FAILED;
}

static int flush_batch(struct reading *r)
{
	int code = r->batch.count ? import_batch_send(&r->import, &r->batch) : CLI_OK;

	import_batch_clear(&r->batch);
	progress_show(&r->progress, r->import.counts.imported + r->import.counts.unchanged, r->lines.bytes);
	return code;
}

/* A line of spine export --all: an object with one member, which is an object itself. */
static bool is_history(const struct json *line)
{
	static const char *const kinds[] = {"envelope", "handoff", "event"};
	const struct json *value;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		value = json_get(line, kinds[i]);
		if (line->count == 1 && value && value->type == JSON_OBJECT)
			return true;
	}
	return false;
}

/* What a line must be, before the server is asked about it. */
static int check_line(struct reading *r, const struct json *memory)
{
	struct arena *arena = r->import.cli->arena;
	uint64_t number = r->lines.number, id, first;

	if (memory->type != JSON_OBJECT)
		return fail_line(&r->import, number, arena_printf(arena, "it is %s; expected an object, a memory",
								  json_type_name(memory->type)));
	if (is_history(memory))
		return fail_line(&r->import, number,
				 STR("it is of spine export --all: envelopes, handoffs and events have numbers, "
				     "digests and times that only the server gives. Import a file of spine export, or "
				     "of spine export --whole"));
	id = id_number(ask_str(memory, "id"));
	if (id && id_map_get(&r->import.lines, id, &first))
		return fail_line(&r->import, number, arena_printf(arena, "ms-%llu stands in line %llu already",
								  (unsigned long long)id, (unsigned long long)first));
	return CLI_OK;
}

/* A file of spine export --whole says so in its first line. */
static int begin_whole(struct reading *r, const struct json *line)
{
	int64_t format = ask_int(line, WHOLE_FORMAT, 0);

	if (format != WHOLE_FORMAT_NOW)
		return fail_line(&r->import, r->lines.number,
				 arena_printf(r->import.cli->arena, "the file has format %lld of spine export --whole, "
					      "and this spine knows %d", (long long)format, WHOLE_FORMAT_NOW));
	r->whole = import_whole_new(r->import.cli);
	return CLI_OK;
}

static int add_whole_line(struct reading *r, const struct json *line)
{
	int code;

	if (line->type != JSON_OBJECT)
		return fail_line(&r->import, r->lines.number, STR("expected an object"));
	code = import_whole_add(r->whole, line, r->lines.number);
	import_batch_clear(&r->batch);
	return code;
}

static int add_line(struct reading *r, struct str line)
{
	struct json *memory = arena_zalloc(&r->batch.arena, sizeof(*memory));
	struct json_error error;
	uint64_t target;
	int code;

	if (!json_parse(line, LINE_DEPTH, &r->batch.arena, memory, &error))
		return fail_line(&r->import, r->lines.number, arena_str(r->import.cli->arena, str_of(error.detail)));
	if (r->whole)
		return add_whole_line(r, memory);
	if (r->import.counts.imported == 0 && r->batch.count == 0 && json_get(memory, WHOLE_FORMAT))
		return begin_whole(r, memory);
	code = check_line(r, memory);
	if (code != CLI_OK)
		return code;
	if (str_is(ask_str(memory, "state"), "forgotten")) {
		r->import.counts.forgotten++;
		return CLI_OK;
	}
	/* With new ids, what is superseded must have got its own before this one can name it. */
	target = id_number(ask_str(memory, "supersedes"));
	if (r->import.new_ids && target && import_batch_holds(&r->batch, target)) {
		code = flush_batch(r);
		return code == CLI_OK ? add_line(r, line) : code;
	}
	import_batch_add(&r->batch, memory, r->lines.number, line.n);
	if (id_number(ask_str(memory, "id")))
		id_map_put(&r->import.lines, id_number(ask_str(memory, "id")), r->lines.number);
	return CLI_OK;
}

static int read_lines(struct reading *r)
{
	enum lines_status status;
	struct str line;
	int code = CLI_OK;

	while (code == CLI_OK && (status = lines_next(&r->lines, &line)) == LINES_OK) {
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (str_trim(line).n == 0)
			continue;
		if (r->batch.count == r->batch.room || (r->batch.count && r->batch.bytes + line.n > BATCH_MAX_BYTES))
			code = flush_batch(r);
		if (code == CLI_OK && r->whole == NULL && line.n > MEMORY_LINE_MAX_BYTES)
			code = fail_line(&r->import, r->lines.number, STR("it is longer than any memory can be"));
		if (code == CLI_OK)
			code = add_line(r, line);
	}
	if (code == CLI_OK && status == LINES_TOO_LONG)
		code = fail_line(&r->import, r->lines.number + 1, STR("it is longer than any memory can be"));
	if (code == CLI_OK && status == LINES_FAILED)
		code = fail_line(&r->import, 0, arena_printf(r->import.cli->arena, "cannot read the file: %s",
							     strerror(errno)));
	/* What stands before a bad line is stored all the same: running it again finds it there. */
	if (code == CLI_OK)
		code = flush_batch(r);
	return code;
}

static void count_reactivated(struct reading *r)
{
	uint64_t line;

	for (size_t i = 0; i < r->import.successors.room; i++)
		if (r->import.successors.keys[i] && !id_map_get(&r->import.lines, r->import.successors.keys[i], &line))
			r->import.counts.reactivated++;
}

/* --- Telling --- */

static void put_counts(struct json_writer *w, const struct import_counts *c)
{
	json_member_int(w, "imported", c->imported);
	json_member_int(w, "unchanged", c->unchanged);
	json_member_int(w, "forgotten_skipped", c->forgotten);
	json_member_int(w, "links_dropped", c->unlinked);
	json_member_int(w, "reactivated", c->reactivated);
}

static void print_json(const struct cli *cli, const struct import *import, int code)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, 1 << 20);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	if (code != CLI_OK) {
		json_member_cstr(&w, "type", "about:blank");
		json_member_cstr(&w, "title", "The import stopped");
		json_member_str(&w, "code", import->failed_code);
		json_member_str(&w, "detail", import->failed_detail);
		if (import->failed_line)
			json_member_int(&w, "line", (int64_t)import->failed_line);
	}
	put_counts(&w, &import->counts);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static void print_counts(const struct cli *cli, const struct import_counts *c)
{
	cli_write(arena_printf(cli->arena, "imported %lld memories\n", (long long)c->imported));
	if (c->unchanged)
		cli_write(arena_printf(cli->arena, "%lld were there already\n", (long long)c->unchanged));
	if (c->forgotten)
		cli_write(arena_printf(cli->arena, "%lld forgotten ones were skipped\n", (long long)c->forgotten));
	if (c->unlinked)
		cli_write(arena_printf(cli->arena, "%lld superseded what does not exist any more: that is left out\n",
				       (long long)c->unlinked));
	if (c->reactivated)
		cli_write(arena_printf(cli->arena, "%lld were superseded by what does not exist any more: they are "
				       "active again\n", (long long)c->reactivated));
}

static void print_failure(const struct cli *cli, const struct import *import)
{
	int64_t stored = import->counts.imported + import->counts.unchanged;
	char line[40] = "";

	if (import->failed_detail.n == 0)
		return;
	if (import->failed_line)
		snprintf(line, sizeof(line), "line %llu: ", (unsigned long long)import->failed_line);
	cli_error(cli, "%s%.*s", line, STR_ARG(import->failed_detail));
	if (stored)
		cli_note(cli, "%lld memories before it are stored; importing the file again finds them there.",
			 (long long)stored);
}

static int run(struct cli *cli, int fd)
{
	struct reading r = {.import = {
		.cli = cli,
		.new_ids = options_flag(&cli->options, "new-ids"),
		.agent = options_text(&cli->options, "agent"),
	}};
	struct stat st;
	int code;

	import_batch_init(&r.batch, (size_t)options_int(&cli->options, "batch"));
	lines_init(&r.lines, fd, LINE_MAX_BYTES);
	progress_init(&r.progress, cli, "memories", fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0);
	code = read_lines(&r);
	progress_end(&r.progress);
	if (r.whole && (code == CLI_OK || r.import.failed_detail.n == 0)) {
		code = code == CLI_OK ? import_whole_end(r.whole) : code;
		goto out;
	}
	if (code == CLI_OK)
		count_reactivated(&r);
	if (cli_is_json(cli))
		print_json(cli, &r.import, code);
	else if (code == CLI_OK)
		print_counts(cli, &r.import.counts);
	if (code != CLI_OK)
		print_failure(cli, &r.import);
out:
	import_whole_free(r.whole);
	import_batch_release(&r.batch);
	lines_release(&r.lines);
	id_map_release(&r.import.lines);
	id_map_release(&r.import.renamed);
	id_map_release(&r.import.successors);
	return code;
}

static int exec_import(struct cli *cli)
{
	const char *file = cli->options.arg_count ? cli->options.args[0] : "-";
	int fd = STDIN_FILENO, code;

	/* A line that says "agent": null must not become the importer's. */
	cli->is_anonymous = true;
	if (cli_client(cli) == NULL)
		return CLI_USAGE;
	if (strcmp(file, "-") != 0)
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		cli_error(cli, "cannot read %s: %s", file, strerror(errno));
		return CLI_FAILED;
	}
	code = run(cli, fd);
	if (fd != STDIN_FILENO)
		close(fd);
	return code;
}

const struct command cmd_import = {
	.name = "import",
	.summary = "Stores the memories of a JSON Lines file, such as an export",
	.usage = "[FILE|-]", .max_args = 1,
	.about = "Each line is a memory. Ids are kept, and an id that is taken by another memory stops the import and "
		 "names the line; --new-ids gives new ones. What the server computes (version, state, digest, "
		 "updated_at, superseded_by, origin) is not taken over, and forgotten memories are skipped.\n\n"
		 "A file of spine export --whole is known by its first line: it brings back the settings of the space, "
		 "its agents, channels and routes, its memories with all versions, envelopes and handoffs, with their "
		 "numbers, digests, times and states. The space must be empty, or hold a part of the same.\n\n"
		 "The same import can be run again, also after it was interrupted: what is stored already is found "
		 "and left alone (with --new-ids only within a day).",
	.examples = {
		"spine import ./memories.jsonl --space copy",
		"spine import ./memories.jsonl --new-ids",
		"spine export --whole ./whole.jsonl && spine import ./whole.jsonl --space moved",
		"echo '{\"content\":\"Deploys happen on Tuesdays.\",\"tags\":[\"ops\"]}' | spine import",
	},
	.tables = {&import_table, &client_table},
	.args = ARGS_FILES,
	.exec = exec_import,
};
