#include "cli/show/show_handoff.h"

#include "cli/ask.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "codec/rfc3339.h"

enum { LINE_MAX_BYTES = 1 << 20, RESULT_COLUMNS = 2000, LABEL_COLUMNS = 14, LINE_INDENT = 6 };

/* --- How it stands --- */

/* Nothing will happen to it unless somebody decides so: then the reason is why it lies there. */
static bool is_stuck(struct str state)
{
	return str_is(state, "parked") || str_is(state, "expired") || str_is(state, "discarded");
}

/* What goes between the state and the agent: "queued for", "acked by". */
static const char *preposition(struct str state)
{
	return str_is(state, "queued") ? " for" : is_stuck(state) ? " on the way to" : " by";
}

/* The reason is of the last failure, and stays when that has been overcome. */
static bool is_overcome(struct str state)
{
	return str_is(state, "acked") || str_is(state, "completed");
}

void show_handoff_line(const struct cli *cli, const struct json *h)
{
	struct str id = term_line(cli->arena, ask_str(h, "id")), state = ask_str(h, "state"), to = ask_str(h, "to");
	struct buf text, out;

	buf_init(&text, LINE_MAX_BYTES);
	buf_init(&out, 2 * (size_t)LINE_MAX_BYTES);
	term_put_line(&text, state, SIZE_MAX);
	buf_puts(&text, preposition(state));
	show_fact(&text, " ", to);
	if (!str_eq(to, ask_str(h, "target")))
		show_fact(&text, " instead of ", ask_str(h, "target"));
	show_fact(&text, " (", ask_str(h, "envelope_id"));
	show_fact(&text, " from ", ask_str(h, "from"));
	buf_printf(&text, ", attempt %lld of %lld)", (long long)ask_int(h, "attempt", 0),
		   (long long)ask_int(h, "max_attempts", 0));
	if (!is_overcome(state))
		show_fact(&text, is_stuck(state) ? ": " : "; last failure: ", ask_str(h, "reason"));
	buf_printf(&out, "%s%.*s%s  ", term_on(&cli->out, TERM_CYAN), STR_ARG(id), term_off(&cli->out, TERM_CYAN));
	/* Programs read lines; a person's are as long as the terminal is wide. */
	if (cli->out.is_terminal)
		term_fill(&out, buf_str(&text), term_columns(id) + 2, LINE_INDENT, cli->out.width);
	else
		buf_put(&out, buf_str(&text));
	buf_putc(&out, '\n');
	cli_write(buf_str(&out));
	buf_release(&text);
	buf_release(&out);
}

struct str show_handoff_about(const struct cli *cli, const struct json *h)
{
	struct str state = ask_str(h, "state"), progress = ask_str(h, "progress"), reason = ask_str(h, "reason");

	if (progress.n || reason.n == 0 || is_overcome(state))
		return progress;
	return is_stuck(state) ? reason : arena_printf(cli->arena, "last failure: %.*s", STR_ARG(reason));
}

static struct str cell_attempt(const struct column_item *item, const char *key)
{
	return arena_printf(item->arena, "%lld/%lld", (long long)ask_int(item->json, key, 0),
			    (long long)ask_int(item->json, "max_attempts", 0));
}

static struct str cell_about(const struct column_item *item, const char *key)
{
	(void)key;
	return term_line(item->arena, show_handoff_about(item->cli, item->json));
}

const struct column handoff_columns[] = {
	{"HANDOFF", "id", .style = TERM_CYAN},
	{"STATE", "state", .style = TERM_YELLOW},
	{"AGE", "created_at", cell_age, .right = true},
	{"ENVELOPE", "envelope_id", .style = TERM_PLAIN},
	{"FROM -> TO", NULL, cell_from_to, .may_cut = true},
	{"CHANNEL", "channel", .may_omit = true},
	{"TRY", "attempt", cell_attempt, .right = true},
	{"ABOUT", NULL, cell_about, .style = TERM_PLAIN},
	{0},
};

const struct column parked_columns[] = {
	{"HANDOFF", "id", .style = TERM_CYAN},
	{"AGE", "changed_at", cell_age, .right = true},
	{"ENVELOPE", "envelope_id", .style = TERM_PLAIN},
	{"FROM -> TO", NULL, cell_from_to, .may_cut = true},
	{"TRIES", "attempts", cell_number, .right = true},
	{"REASON", "reason", .style = TERM_YELLOW},
	{0},
};

/* --- What happened --- */

const struct table_column show_event_columns[] = {
	[EVENT_COL_TIME] = {"TIME", true, TERM_DIM},
	[EVENT_COL_ID] = {"ID", false, TERM_CYAN},
	[EVENT_COL_TRY] = {"TRY", true, TERM_PLAIN},
	[EVENT_COL_WHAT] = {"WHAT", false, TERM_BOLD},
	[EVENT_COL_AGENT] = {"AGENT", false, TERM_PLAIN},
	[EVENT_COL_BY] = {"BY", false, TERM_PLAIN},
	[EVENT_COL_NOTE] = {"WHY", false, TERM_PLAIN},
	{NULL, false, TERM_PLAIN},
};

struct event_words {
	const char *event;
	const char *words;
};

static const struct event_words event_words[] = {
	{"handoff.queued", "queued for"},
	{"handoff.leased", "taken by"},
	{"handoff.released", "given back by"},
	{"handoff.acked", "acked by"},
	{"handoff.nacked", "nacked by"},
	{"handoff.rejected", "rejected by"},
	{"handoff.progress", "worked on by"},
	{"handoff.completed", "completed by"},
	{"handoff.ack_timeout", "not taken by"},
	{"handoff.lease_lost", "not answered by"},
	{"handoff.work_lost", "abandoned by"},
	{"handoff.expired", "withdrawn from"},
	{"handoff.fallback", "falls back to"},
	{"handoff.parked", "parked, was for"},
	{"handoff.redriven", "redriven to"},
	{"handoff.rerouted", "rerouted to"},
	{"handoff.shrunk", "shrunk, was for"},
	{"handoff.discarded", "discarded, was for"},
	{"breaker.opened", "breaker opened of"},
	{"breaker.closed", "breaker closed of"},
	{"breaker.reset", "breaker reset of"},
	{NULL, NULL},
};

static struct str words_of(struct str event)
{
	for (const struct event_words *e = event_words; e->event; e++)
		if (str_is(event, e->event))
			return str_of(e->words);
	return event;
}

struct str show_event_time(const struct cli *cli, struct str time, int64_t start_ms)
{
	int64_t at_ms;

	if (!rfc3339_parse(time, &at_ms))
		return STR("");
	return arena_printf(cli->arena, "%+.3f", (double)(at_ms - start_ms) / 1000);
}

void show_event_add(const struct cli *cli, struct table *table, const struct json *event, int64_t start_ms)
{
	struct table_row *row = table_add(table);
	struct str agent = ask_str(event, "agent"), actor = ask_str(event, "actor");

	row->cells[EVENT_COL_TIME] = show_event_time(cli, ask_str(event, "at"), start_ms);
	table_set(table, row, EVENT_COL_ID, ask_str(event, "handoff"));
	if (ask_int(event, "attempt", 0))
		row->cells[EVENT_COL_TRY] = arena_printf(cli->arena, "%lld", (long long)ask_int(event, "attempt", 0));
	table_set(table, row, EVENT_COL_WHAT, words_of(ask_str(event, "event")));
	table_set(table, row, EVENT_COL_AGENT, agent);
	/* Who did it is worth a word only where it was somebody else. */
	if (!str_eq(agent, actor))
		table_set(table, row, EVENT_COL_BY, actor);
	table_set(table, row, EVENT_COL_NOTE, ask_str(event, "note"));
}

static void print_events(const struct cli *cli, const struct json *events)
{
	struct table table;
	int64_t start_ms = 0;

	if (events->count == 0)
		return;
	rfc3339_parse(ask_str(&events->items[0], "at"), &start_ms);
	table_init(&table, show_event_columns, cli->arena);
	for (uint32_t i = 0; i < events->count; i++)
		show_event_add(cli, &table, &events->items[i], start_ms);
	cli_write(STR("\n"));
	show_rows(cli, &table);
}

/* --- All of one --- */

static void put_row(const struct cli *cli, struct buf *out, const char *label, struct str text)
{
	if (text.n == 0)
		return;
	buf_printf(out, "%s%-*s%s", term_on(&cli->out, TERM_DIM), LABEL_COLUMNS, label, term_off(&cli->out, TERM_DIM));
	term_fill(out, text, LABEL_COLUMNS, LABEL_COLUMNS, cli->out.width);
	buf_putc(out, '\n');
}

static void put_value_row(const struct cli *cli, struct buf *out, const char *label, const struct json *value)
{
	struct buf text;

	if (value == NULL || value->type == JSON_NULL || (value->type == JSON_ARRAY && value->count == 0))
		return;
	buf_init(&text, LINE_MAX_BYTES);
	show_envelope_value(&text, value, RESULT_COLUMNS);
	put_row(cli, out, label, buf_str(&text));
	buf_release(&text);
}

static const char *label_of(const char *fact, struct str state)
{
	if (strcmp(fact, "reason") == 0)
		return is_stuck(state) ? "reason" : "last failure";
	if (strcmp(fact, "result_state") == 0)
		return "result";
	if (strcmp(fact, "result_memory") == 0)
		return "memory";
	return strcmp(fact, "envelope_id") == 0 ? "envelope" : strcmp(fact, "input_tokens") == 0 ? "tokens" : fact;
}

void show_handoff(const struct cli *cli, const struct json *h)
{
	static const char *const facts[] = {
		"envelope_id", "channel", "fallbacks", "receiver", "progress", "reason", "result",
		"result_state", "result_memory", "gaps", "input_tokens", "replaces", NULL,
	};
	struct str due = ask_str(h, "due_at");
	struct buf out;

	show_handoff_line(cli, h);
	buf_init(&out, 16 * (size_t)LINE_MAX_BYTES);
	put_row(cli, &out, "route", show_envelope_from_to(cli, h));
	for (const char *const *fact = facts; *fact; fact++)
		put_value_row(cli, &out, label_of(*fact, ask_str(h, "state")), json_get(h, *fact));
	put_row(cli, &out, "created", term_line(cli->arena, ask_str(h, "created_at")));
	put_row(cli, &out, "due", term_line(cli->arena, due));
	cli_write_buf(&out);
	print_events(cli, ask_array(h, "events"));
}

void show_handoff_notices(const struct cli *cli, const struct json *answer)
{
	const struct json *notices = ask_array(answer, "notices");

	for (uint32_t i = 0; i < notices->count; i++) {
		const struct json *n = &notices->items[i];

		cli_note(cli, "spine: parked since the last call: %.*s to %.*s: %.*s", STR_ARG(ask_str(n, "handoff")),
			 STR_ARG(ask_str(n, "to")), STR_ARG(ask_str(n, "reason")));
	}
	if (notices->count)
		cli_note(cli, "spine: what can be done: spine parked --help");
}
