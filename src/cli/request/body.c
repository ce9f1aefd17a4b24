#include "cli/request/body.h"

#include "base/clock.h"
#include "cli/input.h"
#include "cli/when.h"
#include "client/url.h"

enum { TEXT_MAX_BYTES = 8 * 1024 * 1024 };

void body_put_seconds(struct json_writer *w, const char *name, int64_t ms)
{
	json_member_double(w, name, (double)ms / 1000);
}

int body_check_text(const struct cli *cli, const char *what, struct str text)
{
	return str_is_utf8(text) ? CLI_OK : cli_usage(cli, "%s is not UTF-8 text", what);
}

int body_read_text(const struct cli *cli, const char *arg, struct buf *ret)
{
	struct buf error;
	int code = CLI_OK;

	buf_init(&error, 4096);
	if (!input_text(cli, arg, ret, &error)) {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	}
	buf_release(&error);
	return code;
}

int body_put_content(const struct cli *cli, const char *arg, const char *none, struct json_writer *w)
{
	struct buf text;
	int code;

	buf_init(&text, TEXT_MAX_BYTES);
	code = body_read_text(cli, arg, &text);
	if (code == CLI_OK && text.len == 0)
		code = cli_usage(cli, "%s", none);
	if (code == CLI_OK)
		code = body_check_text(cli, "the text", buf_str(&text));
	if (code == CLI_OK)
		json_member_str(w, "content", buf_str(&text));
	buf_release(&text);
	return code;
}

void body_join_arguments(const struct cli *cli, struct buf *ret)
{
	for (size_t i = 0; i < cli->options.arg_count; i++) {
		buf_puts(ret, i ? " " : "");
		buf_puts(ret, cli->options.args[i]);
	}
}

bool body_any_given(const struct cli *cli, const struct option_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (options_is_given(&cli->options, table->options[i].name))
			return true;
	return false;
}

/* --- Members --- */

/* False where one of them is not UTF-8. */
static bool put_texts(const char *const *texts, size_t count, const char *name, struct json_writer *w)
{
	bool good = true;

	json_key(w, name);
	json_begin_array(w);
	for (size_t i = 0; i < count && good; i++) {
		good = str_is_utf8(str_of(texts[i]));
		if (good)
			json_put_cstr(w, texts[i]);
	}
	json_end_array(w);
	return good;
}

int body_put_ids(struct cli *cli, const char *name, size_t first, const char *expected, struct json_writer *w)
{
	cli->listed = name;
	cli->listed_from = first;
	if (!put_texts(cli->options.args + first, cli->options.arg_count - first, name, w))
		return cli_usage(cli, "an id is not UTF-8 text%s", expected);
	return CLI_OK;
}

static int refuse_option(const struct cli *cli, const char *option)
{
	return cli_usage(cli, "--%s is not UTF-8 text", option);
}

static int put_text(const struct cli *cli, const struct option_value *v, const char *name, struct json_writer *w)
{
	if (!str_is_utf8(str_of(v->text)))
		return refuse_option(cli, v->option->name);
	json_member_cstr(w, name, v->text);
	return CLI_OK;
}

int body_put(const struct cli *cli, const char *option, const char *name, struct json_writer *w)
{
	const struct option_value *v = options_value(&cli->options, option);

	if (v->source == OPTION_UNSET)
		return CLI_OK;
	switch (v->option->type) {
	case OPTION_TEXT:
	case OPTION_PATH:
	case OPTION_CHOICE:
		return put_text(cli, v, name, w);
	case OPTION_LIST:
		return put_texts(v->list, v->list_count, name, w) ? CLI_OK : refuse_option(cli, option);
	case OPTION_DURATION:
		body_put_seconds(w, name, v->number);
		return CLI_OK;
	case OPTION_FLAG:
		json_member_bool(w, name, v->boolean);
		return CLI_OK;
	default:
		json_member_int(w, name, v->number);
		return CLI_OK;
	}
}

int body_put_members(const struct cli *cli, const struct call_member *members, struct json_writer *w)
{
	int code = CLI_OK;

	for (const struct call_member *m = members; m->option && code == CLI_OK; m++)
		code = body_put(cli, m->option, m->name, w);
	return code;
}

/* --- Parameters --- */

static void add_parameter(const struct option_value *v, const char *name, struct buf *path)
{
	if (v->source == OPTION_UNSET)
		return;
	if (v->option->type == OPTION_FLAG)
		url_add(path, name, v->boolean ? STR("true") : STR("false"));
	else if (v->option->type == OPTION_INT)
		url_add_int(path, name, v->number);
	else if (v->option->type != OPTION_LIST)
		url_add(path, name, str_of(v->text));
	for (size_t i = 0; i < v->list_count; i++)
		url_add(path, name, str_of(v->list[i]));
}

void body_add_parameters(const struct cli *cli, const struct call_member *members, struct buf *path)
{
	for (const struct call_member *m = members; m->option; m++)
		add_parameter(options_value(&cli->options, m->option), m->name, path);
}

/* Empty where the option was not given. */
static int read_time(const struct cli *cli, const char *option, char ret[CLOCK_TEXT_SIZE])
{
	const char *text = options_text(&cli->options, option);
	int64_t ms;

	ret[0] = '\0';
	if (text == NULL)
		return CLI_OK;
	if (!when_parse(str_of(text), clock_wall_ms(), &ms))
		return cli_usage(cli, "--%s is \"%.80s\"; expected " WHEN_EXPECTED, option, text);
	clock_format(ms, ret);
	return CLI_OK;
}

int body_add_time(const struct cli *cli, const char *option, const char *name, struct buf *path)
{
	char time[CLOCK_TEXT_SIZE];
	int code = read_time(cli, option, time);

	if (time[0])
		url_add(path, name, str_of(time));
	return code;
}

int body_put_time(const struct cli *cli, const char *option, const char *name, struct json_writer *w)
{
	char time[CLOCK_TEXT_SIZE];
	int code = read_time(cli, option, time);

	if (time[0])
		json_member_cstr(w, name, time);
	return code;
}
