/* spine check: reads the whole store, or a backup, and verifies it. */
#include "admin/admin.h"
#include "cli/commands.h"
#include "cli/contents.h"
#include "cli/shared_options.h"
#include "codec/json.h"

enum { PROBLEMS_MAX_BYTES = 16 * 1024 * 1024 };

static void print_json(const struct cli *cli, const char *store, const struct admin_check *found, struct str problems)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, 8 * (size_t)PROBLEMS_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_bool(&w, "ok", found->problems == 0);
	json_member_str(&w, "store", term_line(cli->arena, str_of(store)));
	contents_put_json(&w, found);
	json_key(&w, "problems");
	json_begin_array(&w);
	while (problems.p && problems.n) {
		struct str line = term_line(cli->arena, str_cut(&problems, '\n'));

		if (line.n)
			json_put_str(&w, line);
	}
	json_end_array(&w);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static void print_text(const struct cli *cli, const char *store, const struct admin_check *found, struct str problems)
{
	struct buf out;

	buf_init(&out, 8 * (size_t)PROBLEMS_MAX_BYTES);
	term_put_text(&out, problems);
	term_put_line(&out, str_of(store), SIZE_MAX);
	buf_puts(&out, ": ");
	contents_put(&out, found);
	buf_puts(&out, ": ");
	if (found->problems == 0)
		buf_printf(&out, "%sall well%s\n", term_on(&cli->out, TERM_GREEN), term_off(&cli->out, TERM_GREEN));
	else
		buf_printf(&out, "%s%lld problem%s%s\n", term_on(&cli->out, TERM_RED), (long long)found->problems,
			   found->problems == 1 ? "" : "s", term_off(&cli->out, TERM_RED));
	cli_write_buf(&out);
}

static int exec_check(struct cli *cli)
{
	const char *file = cli->options.arg_count ? cli->options.args[0] : NULL;
	const char *data = options_text(&cli->options, "data");
	struct admin_check found = {0};
	struct buf problems, error;
	bool ok;
	int code;

	if (file && options_value(&cli->options, "data")->source == OPTION_FROM_ARGS)
		return cli_usage(cli, "check reads a backup or the store of --data, not both");
	buf_init(&problems, PROBLEMS_MAX_BYTES);
	buf_init(&error, 8192);
	ok = file ? admin_check_file(file, &found, &problems, &error) : admin_check(data, &found, &problems, &error);
	if (!ok) {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	} else {
		if (cli_is_json(cli))
			print_json(cli, file ? file : data, &found, buf_str(&problems));
		else
			print_text(cli, file ? file : data, &found, buf_str(&problems));
		code = found.problems ? CLI_DAMAGED : CLI_OK;
	}
	buf_release(&problems);
	buf_release(&error);
	return code;
}

const struct command cmd_check = {
	.name = "check",
	.summary = "Reads the whole store and verifies it; also while the server runs",
	.usage = "[FILE]", .max_args = 1,
	.about = "With a file, that backup is read instead, where it lies; nothing is restored. Each problem is a "
		 "line. The exit code is 6 where there are any.",
	.examples = {"spine check", "spine check ./spine-backup.db"},
	.tables = {&data_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_check,
};
