/* spine verify: checks an envelope and the chain before it. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"

static const char *meaning(struct str verdict)
{
	if (str_is(verdict, "intact"))
		return "every digest and every link matches";
	if (str_is(verdict, "forgotten"))
		return "the text of a memory was forgotten since, what is left matches";
	if (str_is(verdict, "damaged"))
		return "does not match its digest";
	return "is not there, or not what the next one continued";
}

static void print_verdict(const struct cli *cli, const struct json *answer)
{
	struct str id = term_line(cli->arena, ask_str(answer, "id")), verdict = ask_str(answer, "verdict");
	struct str bad = term_line(cli->arena, ask_str(answer, "first_bad"));
	bool ok = ask_bool(answer, "ok");
	enum term_style style = ok ? TERM_GREEN : TERM_RED;
	long long checked = (long long)ask_int(answer, "checked", 0);
	struct str word = term_line(cli->arena, verdict);

	cli_write(arena_printf(cli->arena, "%.*s: %s%.*s%s, ", STR_ARG(id), term_on(&cli->out, style), STR_ARG(word),
			       term_off(&cli->out, style)));
	if (ok)
		cli_write(arena_printf(cli->arena, "%lld envelope%s to the root: %s\n", checked,
				       checked == 1 ? "" : "s", meaning(verdict)));
	else
		cli_write(arena_printf(cli->arena, "first at %.*s, which %s\n", STR_ARG(bad), meaning(verdict)));
}

static int exec_verify(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/envelopes/", cli->options.args[0], "/verify"),
		.repeatable = true,
	};
	struct ask ask;
	int code = ask_run(cli, &request, &ask);

	if (code == CLI_OK) {
		if (cli_is_json(cli))
			cli_write_json(cli, buf_str(&ask.reply.body));
		else
			print_verdict(cli, &ask.json);
		code = ask_bool(&ask.json, "ok") ? CLI_OK : CLI_DAMAGED;
	}
	ask_release(&ask);
	return code;
}

const struct command cmd_verify = {
	.name = "verify",
	.summary = "Checks an envelope and the chain before it, to the root",
	.usage = "ENV",
	.about = "The exit code is 0 where all is intact, also where the text of a memory was forgotten since; 6 where "
		 "an envelope does not match its digest or the chain, and the first such one is named.",
	.examples = {"spine verify env-2"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_verify,
};
