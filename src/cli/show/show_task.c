#include "cli/show/show_task.h"

#include "cli/ask.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"

enum { ABOUT_MAX_BYTES = 1 << 20, ABOUT_COLUMNS = 200 };

/* --- All tasks --- */

/* The intent, or else the summary; not longer than a person reads in a list. */
static struct str cell_about(const struct column_item *item, const char *key)
{
	struct str intent = ask_str(item->json, key);
	struct buf out;

	buf_init(&out, ABOUT_MAX_BYTES);
	term_put_line(&out, intent.n ? intent : ask_str(item->json, "summary"), ABOUT_COLUMNS);
	return cli_keep(item->arena, &out);
}

const struct column task_columns[] = {
	{"CHANGED", "changed_at", cell_age, .right = true},
	{"TASK", "id", .style = TERM_CYAN},
	{"STATE", "state", .style = TERM_PLAIN},
	{"AGENT", "agent", .style = TERM_PLAIN},
	{"HOPS", "hops", cell_number, .right = true},
	{"ABOUT", "intent", cell_about, .style = TERM_PLAIN},
	{0},
};

/* --- One task --- */

/* Worth a word only where the chain branches. */
static struct str cell_parent(const struct column_item *item, const char *key)
{
	struct str parent = ask_str(item->json, key);

	if (str_eq(parent, item->before ? ask_str(item->before, "envelope") : STR("")))
		return STR("");
	return term_line(item->arena, parent);
}

static struct str cell_tokens(const struct column_item *item, const char *key)
{
	return arena_printf(item->arena, "%lld/%lld", (long long)ask_int(item->json, key, 0),
			    (long long)ask_int(item->json, "max_tokens", 0));
}

static const struct column chain_columns[] = {
	{"HOP", "hop", cell_number, .right = true},
	{"ENVELOPE", "envelope", .style = TERM_CYAN},
	{"CONTINUES", "parent", cell_parent, .style = TERM_YELLOW},
	{"FROM -> TO", NULL, cell_from_to, .may_cut = true},
	{"AGE", "created_at", cell_age, .right = true},
	{"TOKENS", "token_count", cell_tokens, .right = true},
	{"MEMORIES", "refs", cell_number, .right = true},
	{"MISSING", "missing", cell_number, .right = true},
	{"TRIMMED", "trimmed", cell_number, .right = true},
	{"STATE", "state", .style = TERM_PLAIN},
	{0},
};

void show_task(const struct cli *cli, const struct json *task)
{
	show_title(cli, ask_str(task, "id"), ask_str(task, "intent"));
	columns_show(cli, ask_array(task, "envelopes"), chain_columns);
}

/* --- What became of something --- */

static void put_place(const struct cli *cli, struct buf *out, const char *label, const struct json *place)
{
	if (place == NULL)
		return;
	buf_puts(out, label);
	term_put_line(out, ask_str(place, "envelope"), SIZE_MAX);
	buf_printf(out, ", hop %lld, ", (long long)ask_int(place, "hop", 0));
	buf_put(out, show_envelope_from_to(cli, place));
	show_fact(out, ", ", ask_str(place, "created_at"));
	show_fact(out, ", ", ask_str(place, "fate"));
	show_fact(out, " by ", ask_str(place, "by"));
	show_fact(out, ": ", ask_str(place, "reason"));
	buf_putc(out, '\n');
}

void show_blame(const struct cli *cli, const struct json *blame)
{
	struct buf out;

	buf_init(&out, ABOUT_MAX_BYTES);
	term_put_line(&out, ask_str(blame, "key"), SIZE_MAX);
	show_fact(&out, ": ", ask_str(blame, "verdict"));
	buf_putc(&out, '\n');
	put_place(cli, &out, "came in with  ", json_get(blame, "introduced"));
	put_place(cli, &out, "left out in   ", json_get(blame, "left_out"));
	put_place(cli, &out, "resolved in   ", json_get(blame, "resolved"));
	put_place(cli, &out, "lost in       ", json_get(blame, "lost"));
	cli_write_buf(&out);
}

int show_blame_exit(const struct cli *cli, const struct json *blame)
{
	(void)cli;
	return str_is(ask_str(blame, "verdict"), "never there") ? CLI_NOT_FOUND : CLI_OK;
}

/* --- Whether it is intact --- */

static const char *meaning(struct str verdict)
{
	if (str_is(verdict, "intact"))
		return "every digest and every link matches";
	if (str_is(verdict, "forgotten"))
		return "the text of a memory was forgotten since, what is left matches";
	if (str_is(verdict, "pruned"))
		return "some are not kept any more, the digests that are left match";
	if (str_is(verdict, "damaged"))
		return "does not match its digest";
	return "is not there, or not what the next one continued";
}

void show_verdict(const struct cli *cli, const struct json *answer)
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

int show_verdict_exit(const struct cli *cli, const struct json *answer)
{
	(void)cli;
	return ask_bool(answer, "ok") ? CLI_OK : CLI_DAMAGED;
}
