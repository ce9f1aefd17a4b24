/* spine check: reads the whole store and verifies it. */
#include "admin/admin.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "codec/json.h"

enum { PROBLEMS_MAX_BYTES = 16 * 1024 * 1024 };

static void print_json(const struct cli *cli, const struct admin_check *found, struct str problems)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, 8 * (size_t)PROBLEMS_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_bool(&w, "ok", found->problems == 0);
	json_member_int(&w, "memories", found->memories);
	json_member_int(&w, "versions", found->versions);
	json_key(&w, "problems");
	json_begin_array(&w);
	while (problems.p && problems.n) {
		struct str line = term_line(cli->arena, str_cut(&problems, '\n'));

		if (line.n)
			json_put_str(&w, line);
	}
	json_end_array(&w);
	json_end_object(&w);
	cli_write_json(cli, buf_str(&out));
	buf_release(&out);
}

static void print_text(const struct cli *cli, const struct admin_check *found, struct str problems)
{
	struct buf out;

	buf_init(&out, 8 * (size_t)PROBLEMS_MAX_BYTES);
	term_put_text(&out, problems);
	buf_printf(&out, "%lld memories in %lld versions: ", (long long)found->memories, (long long)found->versions);
	if (found->problems == 0)
		buf_printf(&out, "%sall well%s\n", term_on(&cli->out, TERM_GREEN), term_off(&cli->out, TERM_GREEN));
	else
		buf_printf(&out, "%s%lld problems%s\n", term_on(&cli->out, TERM_RED), (long long)found->problems,
			   term_off(&cli->out, TERM_RED));
	cli_write(buf_str(&out));
	buf_release(&out);
}

static int exec_check(struct cli *cli)
{
	struct admin_check found = {0};
	struct buf problems, error;
	int code;

	buf_init(&problems, PROBLEMS_MAX_BYTES);
	buf_init(&error, 8192);
	if (!admin_check(options_text(&cli->options, "data"), &found, &problems, &error)) {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	} else {
		if (cli_is_json(cli))
			print_json(cli, &found, buf_str(&problems));
		else
			print_text(cli, &found, buf_str(&problems));
		code = found.problems ? CLI_DAMAGED : CLI_OK;
	}
	buf_release(&problems);
	buf_release(&error);
	return code;
}

const struct command cmd_check = {
	.name = "check",
	.summary = "Reads the whole store and verifies it; also while the server runs",
	.usage = "",
	.about = "Each problem is a line. The exit code is 6 where there are any.",
	.examples = {"spine check"},
	.tables = {&data_table, &json_table},
	.exec = exec_check,
};
