#include "cli/show/show_changes.h"

#include "cli/ask.h"
#include "cli/show/columns.h"
#include "cli/show/show_envelope.h"

enum {
	TEXT_MAX_BYTES = 16 * 1024 * 1024,
	KEY_COLUMNS = 60,
	VALUE_COLUMNS = 80,
	REASON_COLUMNS = 400,
	CHANGES_BELOW_MAX = 20,
};

/* "5 -> 3", "by analyst: the client asked for it", "budget": what there is to say beside the fate. */
static void put_detail(struct buf *out, const struct json *change)
{
	const struct json *before = json_get(change, "before"), *after = json_get(change, "after");
	struct str reason = ask_str(change, "reason"), by = ask_str(change, "by");
	size_t start = out->len;

	show_envelope_value(out, before, VALUE_COLUMNS);
	if (before && after)
		buf_puts(out, " -> ");
	show_envelope_value(out, after, VALUE_COLUMNS);
	if (by.n) {
		buf_puts(out, out->len > start ? ", by " : "by ");
		term_put_line(out, by, KEY_COLUMNS);
	}
	if (reason.n) {
		buf_puts(out, out->len > start ? ": " : "");
		term_put_line(out, reason, REASON_COLUMNS);
	}
}

static struct str cell_key(const struct column_item *item, const char *key)
{
	struct buf text;

	buf_init(&text, TEXT_MAX_BYTES);
	term_put_line(&text, ask_str(item->json, key), KEY_COLUMNS);
	return cli_keep(item->arena, &text);
}

static struct str cell_detail(const struct column_item *item, const char *key)
{
	struct buf text;

	(void)key;
	buf_init(&text, TEXT_MAX_BYTES);
	put_detail(&text, item->json);
	return cli_keep(item->arena, &text);
}

void show_diff(const struct cli *cli, const struct json *diff)
{
	static const struct column columns[] = {
		{"FATE", "fate", .style = TERM_YELLOW},
		{"KIND", "kind", .style = TERM_PLAIN},
		{"WHAT", "key", cell_key, .style = TERM_CYAN},
		{"DETAIL", NULL, cell_detail, .style = TERM_PLAIN},
		{0},
	};
	struct str from = term_line(cli->arena, ask_str(diff, "from")), to = term_line(cli->arena, ask_str(diff, "to"));

	cli_write(arena_printf(cli->arena, "%.*s -> %.*s: %.1f %% kept, %lld of %lld\n", STR_ARG(from), STR_ARG(to),
			       ask_number(diff, "score") * 100, (long long)ask_int(diff, "kept", 0),
			       (long long)ask_int(diff, "total", 0)));
	columns_show(cli, ask_array(diff, "changes"), columns);
}

/* --- Hop by hop --- */

static uint32_t count_changes(const struct json *changes, const char *kind, const char *fate)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < changes->count; i++)
		count += str_is(ask_str(&changes->items[i], "kind"), kind) &&
			 str_is(ask_str(&changes->items[i], "fate"), fate);
	return count;
}

/* "1 added, 2 waived" */
static struct str cell_constraints(const struct column_item *item, const char *key)
{
	static const char *const fates[] = {"added", "narrowed", "waived", "changed", "dropped", NULL};
	const struct json *changes = ask_array(item->json, key);
	struct buf out;

	buf_init(&out, 4096);
	for (const char *const *fate = fates; *fate; fate++) {
		uint32_t count = count_changes(changes, "constraint", *fate);

		if (count)
			buf_printf(&out, "%s%u %s", out.len ? ", " : "", count, *fate);
	}
	return cli_keep(item->arena, &out);
}

/* What was added to the work needs no explaining; what was done to a constraint and what was lost does. */
static bool is_told(const struct json *change)
{
	return str_is(ask_str(change, "kind"), "constraint") || !str_is(ask_str(change, "fate"), "added");
}

static struct str cell_told(const struct column_item *item, const char *key)
{
	const struct json *changes = ask_array(item->json, key);
	const struct term *term = &item->cli->out;
	uint32_t told = 0;
	struct str text;
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	buf_puts(&out, term_on(term, TERM_DIM));
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct json *change = &changes->items[i];
		size_t start;

		if (!is_told(change) || ++told > CHANGES_BELOW_MAX)
			continue;
		buf_puts(&out, "     ");
		term_put_line(&out, ask_str(change, "kind"), KEY_COLUMNS);
		buf_putc(&out, ' ');
		term_put_line(&out, ask_str(change, "key"), KEY_COLUMNS);
		buf_putc(&out, ' ');
		term_put_line(&out, ask_str(change, "fate"), KEY_COLUMNS);
		start = out.len;
		buf_puts(&out, ": ");
		put_detail(&out, change);
		if (out.len == start + 2)
			out.len = start;
		buf_putc(&out, '\n');
	}
	if (told > CHANGES_BELOW_MAX)
		buf_printf(&out, "     and %u more\n", told - CHANGES_BELOW_MAX);
	buf_puts(&out, term_off(term, TERM_DIM));
	text = told ? arena_str(item->arena, buf_str(&out)) : STR("");
	buf_release(&out);
	return text;
}

static struct str percent(const struct column_item *item, double share)
{
	return arena_printf(item->arena, "%.1f %%", share * 100);
}

/* What is left of everything after so many hops that each lose a tenth of what they got. */
static double left_at_ten_percent_loss(int64_t hops)
{
	double left = 1;

	for (int64_t i = 0; i < hops && i < 1000; i++)
		left *= 0.9;
	return left;
}

/* The first has nothing before it that it could have kept. */
static struct str cell_score(const struct column_item *item, const char *key)
{
	return json_get(item->json, key) ? percent(item, ask_number(item->json, key)) : STR("-");
}

static struct str cell_kept(const struct column_item *item, const char *key)
{
	if (json_get(item->json, "total") == NULL)
		return STR("-");
	return arena_printf(item->arena, "%lld/%lld", (long long)ask_int(item->json, key, 0),
			    (long long)ask_int(item->json, "total", 0));
}

static struct str cell_root(const struct column_item *item, const char *key)
{
	const struct json *root = json_get(item->json, key);

	return percent(item, root ? ask_number(root, "score") : 1);
}

static struct str cell_loss(const struct column_item *item, const char *key)
{
	return percent(item, left_at_ten_percent_loss(ask_int(item->json, key, 0)));
}

static struct str cell_dropped(const struct column_item *item, const char *key)
{
	uint32_t dropped = count_changes(ask_array(item->json, key), "memory", "dropped");

	return dropped ? arena_printf(item->arena, "%u", dropped) : STR("");
}

static void print_sums(const struct cli *cli, const struct json *fidelity, int64_t last_hop, bool compare)
{
	cli_write(arena_printf(cli->arena, "\nThe last envelope has %.1f %% of what the first had, and %.1f %% of its "
			       "intent and constraints.\n", ask_number(fidelity, "score") * 100,
			       ask_number(fidelity, "intent_and_constraints") * 100));
	if (compare)
		cli_write(arena_printf(cli->arena, "For comparison: at 10 %% loss a hop, %.1f %% would be left after "
				       "hop %lld.\n", left_at_ten_percent_loss(last_hop) * 100,
				       (long long)last_hop));
}

/* A column without content is left out, so what is not to be compared needs no list of its own. */
static struct str cell_nothing(const struct column_item *item, const char *key)
{
	(void)item, (void)key;
	return STR("");
}

void show_fidelity(const struct cli *cli, const struct json *fidelity, bool compare)
{
	const struct column columns[] = {
		{"HOP", "hop", cell_number, .right = true},
		{"ENVELOPE", "envelope", .style = TERM_CYAN},
		{"FROM -> TO", NULL, cell_from_to, .may_cut = true},
		{"SCORE", "score", cell_score, .right = true},
		{"KEPT", "kept", cell_kept, .right = true},
		{"OF FIRST", "against_root", cell_root, TERM_GREEN, .right = true},
		{"10 % LOSS", "hop", compare ? cell_loss : cell_nothing, TERM_DIM, .right = true},
		{"DROPPED", "changes", cell_dropped, TERM_YELLOW, .right = true},
		/* Each of them has a line of its own below. */
		{"CONSTRAINTS", "changes", cell_constraints, .may_omit = true},
		{"", "changes", cell_told, .is_below = true},
		{0},
	};
	const struct json *hops = ask_array(fidelity, "hops");

	columns_show(cli, hops, columns);
	if (hops->count && json_get(fidelity, "score"))
		print_sums(cli, fidelity, ask_int(&hops->items[hops->count - 1], "hop", 0), compare);
}
