/* spine backup: copies the store into a file, and reads that. */
#include "cli/commands.h"
#include "cli/contents.h"
#include "cli/shared_options.h"

enum { PROBLEMS_MAX_BYTES = 16 * 1024 * 1024, TEXT_MAX_BYTES = 65536 };

static void print_done(const struct cli *cli, const char *file, const struct admin_check *found)
{
	struct str data = term_line(cli->arena, str_of(options_text(&cli->options, "data")));
	struct str shown = term_line(cli->arena, str_of(file));
	struct json_writer w;
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	if (!cli_is_json(cli)) {
		contents_put(&out, found);
		cli_note(cli, "saved the store of %.*s in %.*s: %s", STR_ARG(data), STR_ARG(shown), buf_str(&out).p);
	} else {
		json_writer_init(&w, &out);
		json_begin_object(&w);
		json_member_str(&w, "file", shown);
		json_member_str(&w, "data", data);
		contents_put_json(&w, found);
		json_member_int(&w, "problems", found->problems);
		json_end_object(&w);
		cli_write_json(cli, buf_str(&out));
	}
	buf_release(&out);
}

/* A store that is damaged is copied as it is; better to know that now than when the copy is needed. */
static int verify(const struct cli *cli, const char *file, struct buf *error)
{
	struct admin_check found = {0};
	struct buf problems;
	int code = CLI_FAILED;

	buf_init(&problems, PROBLEMS_MAX_BYTES);
	if (admin_check_file(file, &found, &problems, error)) {
		print_done(cli, file, &found);
		code = found.problems ? CLI_DAMAGED : CLI_OK;
	}
	if (found.problems)
		cli_error(cli, "the backup has %lld problem%s, as the store has: spine check %s",
			  (long long)found.problems, found.problems == 1 ? "" : "s", file);
	buf_release(&problems);
	return code;
}

static int exec_backup(struct cli *cli)
{
	const char *file = cli->options.args[0];
	struct buf error;
	int code = CLI_FAILED;

	buf_init(&error, 8192);
	if (admin_backup(options_text(&cli->options, "data"), file, &error))
		code = verify(cli, file, &error);
	if (error.len)
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return code;
}

const struct command cmd_backup = {
	.name = "backup",
	.summary = "Saves the whole store, of all spaces, in one file; also while the server runs",
	.usage = "FILE", .min_args = 1, .max_args = 1,
	.about = "The file must not exist; only its owner can read it. It is read and verified once it is written, as "
		 "by spine check FILE. Put it back with spine restore.",
	.examples = {"spine backup ./spine-backup.db"},
	.tables = {&data_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_backup,
};
