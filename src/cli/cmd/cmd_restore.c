/* spine restore: puts a backup in the place of the store. */
#include "admin/admin.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "codec/json.h"

static const struct option restore_options[] = {
	{.name = "replace", .type = OPTION_FLAG,
	 .help = "also where there is a store already, which is kept beside under another name"},
};

static const struct option_table restore_table = {"Restoring", restore_options, OPTION_COUNT(restore_options)};

static void print_done(const struct cli *cli, struct str kept)
{
	const char *data = options_text(&cli->options, "data");
	struct json_writer w;
	struct buf out;

	if (!cli_is_json(cli)) {
		cli_note(cli, "restored into %s%s%.*s", data, kept.n ? "; the old store is " : "", STR_ARG(kept));
		return;
	}
	buf_init(&out, 65536);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_str(&w, "data", term_line(cli->arena, str_of(data)));
	json_key(&w, "kept");
	if (kept.n)
		json_put_str(&w, term_line(cli->arena, kept));
	else
		json_put_null(&w);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static int exec_restore(struct cli *cli)
{
	struct buf kept, error;
	int code = CLI_OK;

	buf_init(&kept, 8192);
	buf_init(&error, 8192);
	if (admin_restore(options_text(&cli->options, "data"), cli->options.args[0],
			  options_flag(&cli->options, "replace"), &kept, &error)) {
		print_done(cli, buf_str(&kept));
	} else {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	}
	buf_release(&kept);
	buf_release(&error);
	return code;
}

const struct command cmd_restore = {
	.name = "restore",
	.summary = "Puts a backup in the place of the store",
	.usage = "FILE", .min_args = 1, .max_args = 1,
	.about = "No server may run on the data directory. The backup is checked first, and a store that is there "
		 "already is not touched without --replace.",
	.examples = {"spine restore ./spine-backup.db --data ./restored"},
	.tables = {&restore_table, &data_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_restore,
};
