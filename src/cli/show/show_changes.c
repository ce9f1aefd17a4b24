#include "cli/show/show_changes.h"

#include "cli/ask.h"
#include "cli/show/show.h"
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

void show_changes(const struct cli *cli, const struct json *changes)
{
	static const struct table_column columns[] = {
		{"FATE", false, TERM_YELLOW}, {"KIND", false, TERM_PLAIN}, {"WHAT", false, TERM_CYAN},
		{"DETAIL", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	struct table table;
	struct buf text;

	buf_init(&text, TEXT_MAX_BYTES);
	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct json *change = &changes->items[i];
		struct table_row *row = table_add(&table);

		table_set(&table, row, 0, ask_str(change, "fate"));
		table_set(&table, row, 1, ask_str(change, "kind"));
		buf_clear(&text);
		term_put_line(&text, ask_str(change, "key"), KEY_COLUMNS);
		row->cells[2] = arena_str(cli->arena, buf_str(&text));
		buf_clear(&text);
		put_detail(&text, change);
		row->cells[3] = arena_str(cli->arena, buf_str(&text));
	}
	show_rows(cli, &table);
	buf_release(&text);
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
static struct str constraints_text(const struct cli *cli, const struct json *changes)
{
	static const char *const fates[] = {"added", "narrowed", "waived", "changed", "dropped", NULL};
	struct str text;
	struct buf out;

	buf_init(&out, 4096);
	for (const char *const *fate = fates; *fate; fate++) {
		uint32_t count = count_changes(changes, "constraint", *fate);

		if (count)
			buf_printf(&out, "%s%u %s", out.len ? ", " : "", count, *fate);
	}
	text = arena_str(cli->arena, buf_str(&out));
	buf_release(&out);
	return text;
}

/* What was added to the work needs no explaining; what was done to a constraint and what was lost does. */
static bool is_told(const struct json *change)
{
	return str_is(ask_str(change, "kind"), "constraint") || !str_is(ask_str(change, "fate"), "added");
}

static struct str told_changes(const struct cli *cli, const struct json *hop)
{
	const struct json *changes = ask_array(hop, "changes");
	uint32_t told = 0;
	struct str text;
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	buf_puts(&out, term_on(&cli->out, TERM_DIM));
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
	buf_puts(&out, term_off(&cli->out, TERM_DIM));
	text = told ? arena_str(cli->arena, buf_str(&out)) : STR("");
	buf_release(&out);
	return text;
}

static struct str percent(const struct cli *cli, double share)
{
	return arena_printf(cli->arena, "%.1f %%", share * 100);
}

/* What is left of everything after so many hops that each lose a tenth of what they got. */
static double left_at_ten_percent_loss(int64_t hops)
{
	double left = 1;

	for (int64_t i = 0; i < hops && i < 1000; i++)
		left *= 0.9;
	return left;
}

enum { COL_HOP, COL_ENVELOPE, COL_ROUTE, COL_SCORE, COL_KEPT, COL_ROOT, COL_LOSS, COL_DROPPED, COL_CONSTRAINTS };

static void add_hop(const struct cli *cli, struct table *table, const struct json *hop, bool compare)
{
	const struct json *changes = ask_array(hop, "changes"), *root = json_get(hop, "against_root");
	struct table_row *row = table_add(table);
	uint32_t dropped = count_changes(changes, "memory", "dropped");
	int64_t number = ask_int(hop, "hop", 0);

	row->cells[COL_HOP] = arena_printf(cli->arena, "%lld", (long long)number);
	table_set(table, row, COL_ENVELOPE, ask_str(hop, "envelope"));
	row->cells[COL_ROUTE] = show_envelope_route(cli, hop);
	/* The first has nothing before it that it could have kept. */
	row->cells[COL_SCORE] = json_get(hop, "score") ? percent(cli, ask_number(hop, "score")) : STR("-");
	row->cells[COL_KEPT] = json_get(hop, "total") ?
		arena_printf(cli->arena, "%lld/%lld", (long long)ask_int(hop, "kept", 0),
			     (long long)ask_int(hop, "total", 0)) : STR("-");
	row->cells[COL_ROOT] = percent(cli, root ? ask_number(root, "score") : 1);
	if (compare)
		row->cells[COL_LOSS] = percent(cli, left_at_ten_percent_loss(number));
	row->cells[COL_CONSTRAINTS] = constraints_text(cli, changes);
	if (dropped)
		row->cells[COL_DROPPED] = arena_printf(cli->arena, "%u", dropped);
	row->below = told_changes(cli, hop);
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

static void print_fidelity(const struct cli *cli, const struct json *fidelity, bool compare)
{
	static const struct table_column columns[] = {
		[COL_HOP] = {"HOP", true, TERM_PLAIN},
		[COL_ENVELOPE] = {"ENVELOPE", false, TERM_CYAN},
		[COL_ROUTE] = {"FROM -> TO", false, TERM_PLAIN},
		[COL_SCORE] = {"SCORE", true, TERM_PLAIN},
		[COL_KEPT] = {"KEPT", true, TERM_PLAIN},
		[COL_ROOT] = {"OF FIRST", true, TERM_GREEN},
		[COL_LOSS] = {"10 % LOSS", true, TERM_DIM},
		[COL_DROPPED] = {"DROPPED", true, TERM_YELLOW},
		[COL_CONSTRAINTS] = {"CONSTRAINTS", false, TERM_PLAIN},
		{NULL, false, TERM_PLAIN},
	};
	const struct json *hops = ask_array(fidelity, "hops");
	struct table table;
	int64_t last = 0;

	table_init(&table, columns, cli->arena);
	table_may_cut(&table, COL_ROUTE);
	/* Each of them has a line of its own below. */
	table_may_omit(&table, COL_CONSTRAINTS);
	for (uint32_t i = 0; i < hops->count; i++) {
		add_hop(cli, &table, &hops->items[i], compare);
		last = ask_int(&hops->items[i], "hop", 0);
	}
	show_rows(cli, &table);
	if (hops->count && json_get(fidelity, "score"))
		print_sums(cli, fidelity, last, compare);
}

void show_fidelity(const struct cli *cli, const struct json *fidelity)
{
	print_fidelity(cli, fidelity, false);
}

void show_fidelity_compared(const struct cli *cli, const struct json *fidelity)
{
	print_fidelity(cli, fidelity, true);
}
