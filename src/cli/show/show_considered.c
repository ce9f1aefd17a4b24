#include "cli/show/show_considered.h"

#include "cli/ask.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>

enum { VIEW_MAX_BYTES = 64 * 1024 * 1024, COUNT_SIZE = 40, REASON_COLUMNS = 60 };

/* What the reasons are told with. */
struct view {
	const struct cli *cli;
	const struct json *considered;
	const struct json *budget;	/* of the envelope */
	bool with_why;
	struct buf out;
};

/* "4,000" */
static struct str count_text(const struct view *v, int64_t number)
{
	char digits[COUNT_SIZE], text[COUNT_SIZE + COUNT_SIZE / 3];
	int n = snprintf(digits, sizeof(digits), "%lld", (long long)(number > 0 ? number : 0));
	size_t at = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	return arena_str(v->cli->arena, (struct str){text, at});
}

static bool is_carried(const struct json *item)
{
	struct str fate = ask_str(item, "fate");

	return str_is(fate, "full") || str_is(fate, "summary") || str_is(fate, "ref");
}

static struct str form_text(const struct json *item)
{
	struct str fate = ask_str(item, "fate");

	return str_is(fate, "summary") ? STR("summary") : str_is(fate, "ref") ? STR("mention") : STR("");
}

/* "no room in 4,000 tokens" */
static struct str reason_text(const struct view *v, const struct json *item)
{
	struct arena *arena = v->cli->arena;
	struct str reason = ask_str(item, "reason"), repeats = term_line(arena, ask_str(item, "repeats"));

	if (str_is(reason, "budget") || str_is(reason, "room"))
		return arena_printf(arena, "no room in %.*s tokens",
				    STR_ARG(count_text(v, ask_int(v->budget, "max_tokens", 0))));
	if (str_is(reason, "repetition"))
		return arena_printf(arena, "no room, repeats %.*s", STR_ARG(repeats.n ? repeats : STR("another")));
	if (str_is(reason, "not_relevant"))
		return arena_printf(arena, "less relevant than %.3f", ask_number(v->considered, "floor"));
	if (str_is(reason, "not_asked_for"))
		return arena_printf(arena, "beyond include_recent %lld",
				    (long long)ask_int(v->considered, "include_recent", 0));
	if (str_is(reason, "lazy") || str_is(reason, "summary"))
		return arena_printf(arena, "by strategy %.*s", STR_ARG(reason));
	return reason.n ? term_line(arena, reason) : STR("");
}

static struct str missing_text(const struct view *v, struct str reason)
{
	if (str_is(reason, "unknown"))
		return STR("there is no such memory");
	if (str_is(reason, "forgotten"))
		return STR("was forgotten");
	if (str_is(reason, "expired"))
		return STR("had expired");
	return str_is(reason, "unavailable") ? STR("could not be read") : term_line(v->cli->arena, reason);
}

/* --- Rows --- */

static int compare(const void *a, const void *b)
{
	const struct json *const *one = a, *const *other = b;
	double first = ask_number(*one, "relevance"), second = ask_number(*other, "relevance");

	if (first != second)
		return first < second ? 1 : -1;
	return *one < *other ? -1 : *one > *other;
}

/* Those that are carried, or those that are not, the most relevant first; in the arena. */
static const struct json **select_items(const struct view *v, bool carried, size_t *ret_count)
{
	const struct json *all = ask_array(v->considered, "considered");
	const struct json **items = arena_calloc(v->cli->arena, all->count + 1, sizeof(const struct json *));

	*ret_count = 0;
	for (uint32_t i = 0; i < all->count; i++)
		if (is_carried(&all->items[i]) == carried)
			items[(*ret_count)++] = &all->items[i];
	qsort(items, *ret_count, sizeof(const struct json *), compare);
	return items;
}

enum { COL_RELEVANCE, COL_ID, COL_WHY, COL_FORM, COL_TOKENS, COL_REASON, COL_TEXT };

static const struct table_column columns[] = {
	[COL_RELEVANCE] = {"RELEVANCE", true, TERM_PLAIN},
	[COL_ID] = {"ID", false, TERM_CYAN},
	[COL_WHY] = {"WHY", false, TERM_PLAIN},
	[COL_FORM] = {"FORM", false, TERM_PLAIN},
	[COL_TOKENS] = {"TOKENS", true, TERM_PLAIN},
	[COL_REASON] = {"REASON", false, TERM_YELLOW},
	[COL_TEXT] = {"TEXT", false, TERM_PLAIN},
	{NULL, false, TERM_PLAIN},
};

/* That something was only relevant is told where it came along. */
static void add_row(const struct view *v, const struct json *item, struct table *table)
{
	struct table_row *row = table_add(table);
	struct str why = ask_str(item, "why"), text = ask_str(item, "text");
	int64_t tokens = ask_int(item, "tokens", 0);
	bool carried = is_carried(item);

	row->cells[COL_RELEVANCE] = arena_printf(v->cli->arena, "%.3f", ask_number(item, "relevance"));
	table_set(table, row, COL_ID, ask_str(item, "id"));
	table_set(table, row, COL_WHY, !carried && str_is(why, "relevant") ? STR("") : why);
	row->cells[COL_FORM] = form_text(item);
	if (tokens)
		row->cells[COL_TOKENS] = count_text(v, tokens);
	if (v->with_why)
		row->cells[COL_REASON] = reason_text(v, item);
	if (text.p == NULL && str_is(ask_str(item, "fate"), "full"))
		text = STR("(forgotten since)");
	table_set(table, row, COL_TEXT, text);
}

static void put_carried(struct view *v)
{
	size_t count;
	const struct json **items = select_items(v, true, &count);
	struct table table;

	table_init(&table, columns, v->cli->arena);
	for (size_t i = 0; i < count; i++)
		add_row(v, items[i], &table);
	if (count)
		buf_putc(&v->out, '\n');
	table_print(&table, &v->cli->out, &v->out);
}

static void put_left(struct view *v, const struct json *missing)
{
	size_t count;
	const struct json **items = select_items(v, false, &count);
	struct table table;

	if (count + missing->count == 0)
		return;
	buf_printf(&v->out, "\n%sNot carried%s\n", term_on(&v->cli->out, TERM_BOLD),
		   term_off(&v->cli->out, TERM_BOLD));
	table_init(&table, columns, v->cli->arena);
	for (size_t i = 0; i < count; i++)
		add_row(v, items[i], &table);
	for (uint32_t i = 0; i < missing->count; i++) {
		struct table_row *row = table_add(&table);

		table_set(&table, row, COL_ID, ask_str(&missing->items[i], "id"));
		row->cells[COL_REASON] = missing_text(v, ask_str(&missing->items[i], "reason"));
	}
	table_print(&table, &v->cli->out, &v->out);
}

/* --- Lines --- */

static void put_filled(struct view *v, struct str text)
{
	term_fill(&v->out, text, 0, 0, v->cli->out.width);
	buf_putc(&v->out, '\n');
}

/* "env-17 carries 5 memories in 412 of 4,000 tokens" */
static void put_head(struct view *v, const struct json *envelope)
{
	struct arena *arena = v->cli->arena;
	struct str id = term_line(arena, ask_str(envelope, "id")), to = term_line(arena, ask_str(envelope, "to"));
	struct str what = id.n ? arena_printf(arena, "%.*s carries", STR_ARG(id))
			       : arena_printf(arena, "a handoff to %.*s would carry", STR_ARG(to));
	size_t count;

	select_items(v, true, &count);
	put_filled(v, arena_printf(arena, "%.*s %zu memor%s in %.*s of %.*s tokens", STR_ARG(what), count,
				   count == 1 ? "y" : "ies",
				   STR_ARG(count_text(v, ask_int(v->budget, "token_count", 0))),
				   STR_ARG(count_text(v, ask_int(v->budget, "max_tokens", 0)))));
}

/* What was looked at, and how relevant it had to be. */
static void put_rules(struct view *v, const struct json *envelope)
{
	struct arena *arena = v->cli->arena;
	struct str id = term_line(arena, ask_str(envelope, "id"));
	bool whole = str_is(ask_str(v->considered, "scope"), "space");

	buf_printf(&v->out, "\n%s", term_on(&v->cli->out, TERM_DIM));
	if (!ask_bool(v->considered, "recorded"))
		put_filled(v, arena_printf(arena, "What was passed over is not known: %.*s was packed before that was "
					   "recorded.", STR_ARG(id)));
	else
		put_filled(v, arena_printf(arena, "floor %.3f: less is not carried unless it was named, decided, "
					   "opened or pinned; up to %lld come by relevance. scope %s: looked at %s.",
					   ask_number(v->considered, "floor"),
					   (long long)ask_int(v->considered, "include_recent", 0),
					   whole ? "space" : "task",
					   whole ? "the memories of all tasks"
						 : "the memories of its task and those without one; --scope space "
						   "looks at other tasks, too"));
	buf_puts(&v->out, term_off(&v->cli->out, TERM_DIM));
}

void show_considered(const struct cli *cli, const struct json *considered, const struct json *envelope, bool with_why)
{
	struct view v = {
		.cli = cli, .considered = considered, .budget = json_get(envelope, "budget"), .with_why = with_why,
	};
	size_t left;

	buf_init(&v.out, VIEW_MAX_BYTES);
	put_head(&v, envelope);
	put_carried(&v);
	if (with_why) {
		put_left(&v, ask_array(json_get(envelope, "memory"), "missing"));
		put_rules(&v, envelope);
	}
	cli_write(buf_str(&v.out));
	buf_release(&v.out);
	select_items(&v, false, &left);
	if (!with_why && left)
		cli_note(cli, "(%zu more %s considered; --why tells why %s not here)", left, left == 1 ? "was" : "were",
			 left == 1 ? "it is" : "they are");
}
