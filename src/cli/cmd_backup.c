/* spine backup: copies the store into a file. */
#include "admin/admin.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "codec/json.h"

static void print_done(const struct cli *cli, const char *file)
{
	struct str shown = term_line(cli->arena, str_of(file));
	struct json_writer w;
	struct buf out;

	if (!cli_is_json(cli)) {
		cli_note(cli, "saved %.*s", STR_ARG(shown));
		return;
	}
	buf_init(&out, 65536);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_str(&w, "file", shown);
	json_end_object(&w);
	cli_write_json(cli, buf_str(&out));
	buf_release(&out);
}

static int exec_backup(struct cli *cli)
{
	const char *file = cli->options.args[0];
	struct buf error;
	int code = CLI_OK;

	buf_init(&error, 8192);
	if (admin_backup(options_text(&cli->options, "data"), file, &error)) {
		print_done(cli, file);
	} else {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	}
	buf_release(&error);
	return code;
}

const struct command cmd_backup = {
	.name = "backup",
	.summary = "Saves the whole store, of all spaces, in one file; also while the server runs",
	.usage = "FILE",
	.about = "The file must not exist; only its owner can read it. Put it back with spine restore.",
	.examples = {"spine backup ./spine-backup.db"},
	.tables = {&data_table, &json_table},
	.min_args = 1,
	.max_args = 1,
	.args = ARGS_FILES,
	.exec = exec_backup,
};
