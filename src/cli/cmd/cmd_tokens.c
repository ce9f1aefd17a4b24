/* spine tokens: counts tokens, without a server. */
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/shared_options.h"
#include "cli/table.h"
#include "codec/json.h"
#include "token/token.h"

enum { FILE_MAX_BYTES = 1024 * 1024 * 1024, OUTPUT_MAX_BYTES = 64 * 1024 * 1024 };

static const struct option tokens_options[] = {
	{.name = "tokenizer", .arg = "NAME", .env = "SPINE_TOKENIZER", .key = "tokenizer", .type = OPTION_CHOICE,
	 .fallback = TOKENIZER_DEFAULT, .choices = tokenizer_choices, .help = "whose tokens to count"},
};

static const struct option_table tokens_table = {"Counting", tokens_options, OPTION_COUNT(tokens_options)};

struct count {
	const char *file;
	size_t tokens;
};

static bool count_file(const struct cli *cli, const struct tokenizer *tokenizer, struct count *count)
{
	bool is_stdin = strcmp(count->file, "-") == 0;
	struct buf text, error;
	bool good;

	buf_init(&text, FILE_MAX_BYTES);
	buf_init(&error, 8192);
	good = is_stdin ? input_read_stdin(cli, &text, &error) : input_read_file(count->file, &text, &error);
	if (good)
		count->tokens = tokenizer_count(tokenizer, buf_str(&text));
	else
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&text);
	buf_release(&error);
	return good;
}

static void print_json(const struct cli *cli, const struct tokenizer *tokenizer, const struct count *counts,
		       size_t count)
{
	struct json_writer w;
	struct buf out;
	size_t total = 0;

	buf_init(&out, OUTPUT_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_key(&w, "files");
	json_begin_array(&w);
	for (size_t i = 0; i < count; i++) {
		json_begin_object(&w);
		/* A file's name need not be UTF-8; JSON must be. */
		json_member_str(&w, "file", term_line(cli->arena, str_of(counts[i].file)));
		json_member_int(&w, "tokens", (int64_t)counts[i].tokens);
		json_end_object(&w);
		total += counts[i].tokens;
	}
	json_end_array(&w);
	json_member_int(&w, "tokens", (int64_t)total);
	json_member_cstr(&w, "tokenizer", tokenizer_name(tokenizer));
	json_member_bool(&w, "estimate", tokenizer_is_estimate(tokenizer));
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

/* As wc prints: the number, the file; a total where there are several. Just the number for standard input. */
static void print_table(const struct cli *cli, const struct count *counts, size_t count, bool named)
{
	static const struct table_column columns[] = {
		{"", true, TERM_PLAIN}, {"", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	struct table table;
	struct buf out;
	size_t total = 0;

	table_init(&table, columns, cli->arena);
	for (size_t i = 0; i <= count; i++) {
		struct table_row *row;

		if (i == count && count == 1)
			break;
		row = table_add(&table);
		row->cells[0] = arena_printf(cli->arena, "%zu", i < count ? counts[i].tokens : total);
		if (named)
			table_set(&table, row, 1, i < count ? str_of(counts[i].file) : STR("total"));
		total += i < count ? counts[i].tokens : 0;
	}
	buf_init(&out, OUTPUT_MAX_BYTES);
	table_print(&table, &cli->out, &out);
	cli_write_buf(&out);
}

static int exec_tokens(struct cli *cli)
{
	const struct tokenizer *tokenizer = tokenizer_find(str_of(options_text(&cli->options, "tokenizer")));
	size_t given = cli->options.arg_count, count = 0;
	struct count *counts = arena_calloc(cli->arena, given + 1, sizeof(*counts));
	int code = CLI_OK;

	if (tokenizer == NULL)
		return cli_usage(cli, "this program does not have the tokenizer %s",
				 options_text(&cli->options, "tokenizer"));
	for (size_t i = 0; i < (given ? given : 1); i++) {
		counts[count].file = given ? cli->options.args[i] : "-";
		if (count_file(cli, tokenizer, &counts[count]))
			count++;
		else
			code = CLI_FAILED;
	}
	if (cli_is_json(cli))
		print_json(cli, tokenizer, counts, count);
	else if (count)
		print_table(cli, counts, count, given > 0);
	return code;
}

const struct command cmd_tokens = {
	.name = "tokens",
	.summary = "Counts the tokens of files or of standard input, without a server",
	.usage = "[FILE|-]...", .max_args = COMMAND_ARGS_ANY,
	.about = "o200k_base and cl100k_base count exactly as the models' own tokenizers do; estimate divides the "
		 "characters by a fixed number.",
	.examples = {
		"echo \"How long is this?\" | spine tokens",
		"spine tokens --tokenizer cl100k_base /etc/hostname /etc/passwd",
	},
	.tables = {&tokens_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_tokens,
};
