/* spine handoff: packs an envelope for another agent. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/handoff_request.h"
#include "cli/input.h"
#include "cli/prompt.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"

enum { SUMMARY_MAX_BYTES = 8 * 1024 * 1024, BODY_MAX_BYTES = 64 * 1024 * 1024 };

static uint32_t count_left_out(const struct json *trimmed)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trimmed->count; i++)
		count += str_is(ask_str(&trimmed->items[i], "form"), "none");
	return count;
}

/* What each of the usual budgets would lose. */
static void print_budgets(const struct cli *cli, const struct json *budgets)
{
	static const struct table_column columns[] = {
		{"BUDGET", true, TERM_CYAN}, {"FITS", false, TERM_PLAIN}, {"TOKENS", true, TERM_PLAIN},
		{"MEMORIES", true, TERM_PLAIN}, {"SHRUNK", true, TERM_PLAIN}, {"LEFT OUT", true, TERM_PLAIN},
		{"NEEDS", true, TERM_YELLOW}, {NULL, false, TERM_PLAIN},
	};
	struct table table;

	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < budgets->count; i++) {
		const struct json *budget = &budgets->items[i], *trimmed = ask_array(budget, "trimmed");
		struct table_row *row = table_add(&table);
		uint32_t left_out = count_left_out(trimmed);
		bool fits = ask_bool(budget, "fits");

		row->cells[0] = arena_printf(cli->arena, "%lld", (long long)ask_int(budget, "max_tokens", 0));
		row->cells[1] = fits ? STR("yes") : STR("no");
		if (!fits) {
			row->cells[6] = arena_printf(cli->arena, "%lld", (long long)ask_int(budget, "minimum", 0));
			continue;
		}
		row->cells[2] = arena_printf(cli->arena, "%lld", (long long)ask_int(budget, "token_count", 0));
		row->cells[3] = arena_printf(cli->arena, "%lld", (long long)ask_int(budget, "kept", 0));
		row->cells[4] = arena_printf(cli->arena, "%u", trimmed->count - left_out);
		row->cells[5] = arena_printf(cli->arena, "%u", left_out);
	}
	cli_write(STR("\n"));
	show_rows(cli, &table);
}

/* The prompt goes to a model; whoever watches learns the id, and that something is not in it. */
static int print_prompt(struct cli *cli, const struct json *envelope)
{
	const struct json *budget = json_get(envelope, "budget"), *memory = json_get(envelope, "memory");
	struct str id = ask_str(envelope, "id");

	cli_note(cli, "(%.*s: %lld of %lld tokens, %u missing, %u trimmed)", STR_ARG(id),
		 (long long)ask_int(budget, "token_count", 0), (long long)ask_int(budget, "max_tokens", 0),
		 ask_array(memory, "missing")->count, ask_array(budget, "trimmed")->count);
	return prompt_print(cli, arena_cstr(cli->arena, id));
}

static int send_body(struct cli *cli, const struct buf *body)
{
	bool dry_run = options_flag(&cli->options, "dry-run");
	/* A dry run stores nothing: it may be repeated, and must not use up the key of the handoff that follows. */
	struct client_request request = {
		.method = "POST", .path = "/v1/envelopes", .body = buf_str(body), .creates = !dry_run,
		.repeatable = dry_run,
		.idempotency_key = dry_run ? NULL : options_text(&cli->options, "idempotency-key"),
	};
	struct ask ask;
	int code = ask_run(cli, &request, &ask);

	if (code == CLI_OK && cli_is_json(cli)) {
		cli_write_json(cli, buf_str(&ask.reply.body));
	} else if (code == CLI_OK && dry_run) {
		const struct json *envelope = json_get(&ask.json, "envelope");

		if (envelope)
			show_envelope_receipt(cli, envelope);
		print_budgets(cli, ask_array(&ask.json, "budgets"));
	} else if (code == CLI_OK && options_flag(&cli->options, "prompt")) {
		code = print_prompt(cli, &ask.json);
	} else if (code == CLI_OK) {
		show_envelope_receipt(cli, &ask.json);
	}
	ask_release(&ask);
	return code;
}

static int exec_handoff(struct cli *cli)
{
	const char *summary = cli->options.arg_count > 1 ? cli->options.args[1] : NULL;
	struct buf text, body, error;
	struct json_writer w;
	int code = CLI_FAILED;

	if (options_flag(&cli->options, "prompt") && (cli_is_json(cli) || options_flag(&cli->options, "dry-run")))
		return cli_usage(cli, "--prompt cannot be used with --json or --dry-run");
	buf_init(&text, SUMMARY_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	buf_init(&error, 4096);
	json_writer_init(&w, &body);
	if (!input_text(cli, summary, &text, &error))
		cli_error(cli, "%s", buf_str(&error).p);
	else if (text.len == 0)
		code = cli_usage(cli, "there is no summary; it says what %.80s is to do", cli->options.args[0]);
	else
		code = handoff_request_put(cli, cli->options.args[0], buf_str(&text),
					   options_flag(&cli->options, "dry-run"), &w);
	if (code == CLI_OK)
		code = send_body(cli, &body);
	buf_release(&text);
	buf_release(&body);
	buf_release(&error);
	return code;
}

const struct command cmd_handoff = {
	.name = "handoff",
	.summary = "Packs what another agent needs to go on, within its token budget",
	.usage = "TARGET [SUMMARY|-]",
	.about = "The summary says what the receiver is to accomplish; without one, or with \"-\", it is read from "
		 "standard input. Memories whose ids it mentions go along.\n\n"
		 "With --parent the intent, constraints, history, open decisions and memories of that envelope are "
		 "inherited; constraints can be narrowed or waived with a reason, never dropped.\n\n"
		 "What was not found and what did not fit is listed: nothing is left out silently.",
	.examples = {
		"spine handoff coder \"Add the retries of ms-1.\" --from analyst --intent \"No lost payments.\" "
		"-c max_retries=3",
		"spine handoff reviewer \"Review the patch.\" --from coder --parent env-1 -c max_retries=2",
		"spine handoff coder \"Fix it.\" --max-tokens 2000 --dry-run",
		"echo \"Write the tests.\" | spine handoff tester --parent env-2 --prompt",
	},
	.tables = {&handoff_task_table, &handoff_memory_table, &handoff_output_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_handoff,
};
