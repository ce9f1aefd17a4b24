/* spine handoff, or spine pack: packs an envelope for another agent. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/prompt.h"
#include "cli/request/pack.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show_envelope.h"

enum { SUMMARY_MAX_BYTES = 8 * 1024 * 1024, BODY_MAX_BYTES = 64 * 1024 * 1024 };

/* --- What each of the usual budgets would lose: one that is too small has only what it would need --- */

static uint32_t count_left_out(const struct json *trimmed)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trimmed->count; i++)
		count += str_is(ask_str(&trimmed->items[i], "form"), "none");
	return count;
}

static bool fits(const struct column_item *item)
{
	return ask_bool(item->json, "fits");
}

static struct str cell_fits(const struct column_item *item, const char *key)
{
	(void)key;
	return fits(item) ? STR("yes") : STR("no");
}

static struct str cell_if_fits(const struct column_item *item, const char *key)
{
	return fits(item) ? cell_number(item, key) : STR("");
}

static struct str cell_needs(const struct column_item *item, const char *key)
{
	return fits(item) ? STR("") : cell_number(item, key);
}

static struct str cell_shrunk(const struct column_item *item, const char *key)
{
	const struct json *trimmed = ask_array(item->json, key);

	return fits(item) ? arena_printf(item->arena, "%u", trimmed->count - count_left_out(trimmed)) : STR("");
}

static struct str cell_left_out(const struct column_item *item, const char *key)
{
	return fits(item) ? arena_printf(item->arena, "%u", count_left_out(ask_array(item->json, key))) : STR("");
}

static const struct column budget_columns[] = {
	{"BUDGET", "max_tokens", cell_number, TERM_CYAN, .right = true},
	{"FITS", NULL, cell_fits, .style = TERM_PLAIN},
	{"TOKENS", "token_count", cell_if_fits, .right = true},
	{"MEMORIES", "kept", cell_if_fits, .right = true},
	{"SHRUNK", "trimmed", cell_shrunk, .right = true},
	{"LEFT OUT", "trimmed", cell_left_out, .right = true},
	{"NEEDS", "minimum", cell_needs, TERM_YELLOW, .right = true},
	{0},
};

/* --- Packing --- */

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
		ask_write(cli, &ask);
	} else if (code == CLI_OK && dry_run) {
		const struct json *envelope = json_get(&ask.json, "envelope");

		if (envelope)
			show_envelope_receipt(cli, envelope);
		cli_write(STR("\n"));
		columns_show(cli, ask_array(&ask.json, "budgets"), budget_columns);
	} else if (code == CLI_OK && options_flag(&cli->options, "prompt")) {
		code = print_prompt(cli, &ask.json);
	} else if (code == CLI_OK) {
		show_envelope_receipt(cli, &ask.json);
	}
	ask_release(&ask);
	return code;
}

static int exec_pack(struct cli *cli)
{
	const char *target = cli->options.args[0], *summary = cli->options.arg_count > 1 ? cli->options.args[1] : NULL;
	bool dry_run = options_flag(&cli->options, "dry-run");
	struct buf text, body;
	struct json_writer w;
	int code;

	if (options_flag(&cli->options, "prompt") && (cli_is_json(cli) || dry_run))
		return cli_usage(cli, "--prompt cannot be used with --json or --dry-run");
	buf_init(&text, SUMMARY_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	code = pack_read_summary(cli, target, summary, &text);
	if (code == CLI_OK)
		code = pack_put(cli, target, buf_str(&text), dry_run, &w);
	if (code == CLI_OK)
		code = send_body(cli, &body);
	buf_release(&text);
	buf_release(&body);
	return code;
}

const struct command cmd_pack = {
	.name = "handoff",
	.alias = "pack",
	.summary = "Packs what another agent needs to go on, within its token budget",
	.usage = "TARGET [SUMMARY|-]", .min_args = 1, .max_args = 2,
	.about = "The summary says what the receiver is to accomplish; without one, or with \"-\", it is read from "
		 "standard input. Memories whose ids it mentions go along.\n\n"
		 "With --parent the intent, constraints, history, open decisions and memories of that envelope are "
		 "inherited; constraints can be narrowed or waived with a reason, never dropped.\n\n"
		 "What was not found and what did not fit is listed: nothing is left out silently.\n\n"
		 "spine pack is another name of this command: it makes an envelope, and spine send delivers it.",
	.examples = {
		"spine handoff coder \"Add the retries of ms-1.\" --from analyst --intent \"No lost payments.\" "
		"-c max_retries=3",
		"spine handoff reviewer \"Review the patch.\" --from coder --parent env-1 -c max_retries=2",
		"spine handoff coder \"Fix it.\" --max-tokens 2000 --dry-run",
		"echo \"Write the tests.\" | spine handoff tester --parent env-2 --prompt",
	},
	.tables = {&pack_task_table, &pack_memory_table, &pack_output_table, &client_table},
	.exec = exec_pack,
};
