#include "cli/show/show_handoff.h"

#include "cli/ask.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_trace.h"

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

/* A key that may not read is told neither names nor attempts. */
static void put_attempt(const struct json *h, struct buf *text)
{
	if (json_get(h, "attempt"))
		buf_printf(text, ", attempt %lld of %lld", (long long)ask_int(h, "attempt", 0),
			   (long long)ask_int(h, "max_attempts", 0));
	buf_puts(text, ")");
}

void show_handoff_line(const struct cli *cli, const struct json *h)
{
	struct str id = term_line(cli->arena, ask_str(h, "id")), state = ask_str(h, "state"), to = ask_str(h, "to");
	struct buf text, out;

	buf_init(&text, LINE_MAX_BYTES);
	buf_init(&out, 2 * (size_t)LINE_MAX_BYTES);
	term_put_line(&text, state, SIZE_MAX);
	buf_puts(&text, to.p ? preposition(state) : "");
	show_fact(&text, " ", to);
	if (!str_eq(to, ask_str(h, "target")))
		show_fact(&text, " instead of ", ask_str(h, "target"));
	show_fact(&text, " (", ask_str(h, "envelope_id"));
	show_fact(&text, " from ", ask_str(h, "from"));
	put_attempt(h, &text);
	if (str_is(state, "queued")) {
		show_fact(&text, ", not before ", ask_str(h, "not_before"));
		show_fact(&text, ", held until ", ask_str(h, "held_until"));
	}
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
	{"TASK", "task", .may_cut = true, .may_omit = true},
	{"TRIES", "attempts", cell_number, .right = true},
	{"REASON", "reason", .style = TERM_YELLOW},
	{0},
};

static struct str cell_at_work(const struct column_item *item, const char *key)
{
	int64_t count = ask_int(item->json, "leased", 0) + ask_int(item->json, "working", 0);

	(void)key;
	return count ? arena_printf(item->arena, "%lld", (long long)count) : STR("");
}

const struct column queue_columns[] = {
	{"AGENT", "agent", .style = TERM_CYAN},
	{"QUEUED", "queued", cell_count, .right = true},
	{"AT WORK", NULL, cell_at_work, .right = true},
	{"PARKED", "parked", cell_count, TERM_YELLOW, .right = true},
	{"OLDEST", "oldest_at", cell_age, .right = true},
	{"WHY", "why", .style = TERM_YELLOW},
	{"UNTIL", "until", .may_omit = true},
	{"PRESENCE", "presence", .may_omit = true},
	{"SEEN", "last_seen_at", cell_age, .right = true},
	{0},
};

const struct column queue_entry_columns[] = {
	{"PLACE", "position", cell_number, .right = true},
	{"HANDOFF", "id", .style = TERM_CYAN},
	{"WAITS", "since", cell_age, .right = true},
	{"WHY", "why", .style = TERM_YELLOW},
	{"UNTIL", "until", .may_omit = true},
	{"FROM -> TO", NULL, cell_from_to, .may_cut = true},
	{"TRY", "attempt", cell_attempt, .right = true},
	{"TASK", "task", .may_cut = true, .may_omit = true},
	{"SUMMARY", "summary", .style = TERM_PLAIN},
	{0},
};

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

/* What may be known of it, and what people call that; NULL: the reason, whose name depends. */
static const struct {
	const char *fact, *label;
} facts[] = {
	{"envelope_id", "envelope"}, {"task", "task"}, {"summary", "summary"}, {"channel", "channel"},
	{"fallbacks", "fallbacks"}, {"not_before", "not before"}, {"held_until", "held until"},
	{"receiver", "receiver"}, {"progress", "progress"}, {"reason", NULL}, {"result", "result"},
	{"result_state", "result"}, {"result_memory", "memory"}, {"gaps", "gaps"}, {"input_tokens", "tokens"},
	{"replaces", "replaces"}, {NULL, NULL},
};

void show_handoff(const struct cli *cli, const struct json *h)
{
	const char *of_reason = is_stuck(ask_str(h, "state")) ? "reason" : "last failure";
	struct str due = ask_str(h, "due_at");
	struct buf out;

	show_handoff_line(cli, h);
	buf_init(&out, 16 * (size_t)LINE_MAX_BYTES);
	put_row(cli, &out, "route", show_envelope_from_to(cli, h));
	for (size_t i = 0; facts[i].fact; i++)
		put_value_row(cli, &out, facts[i].label ? facts[i].label : of_reason, json_get(h, facts[i].fact));
	put_row(cli, &out, "created", term_line(cli->arena, ask_str(h, "created_at")));
	put_row(cli, &out, "due", term_line(cli->arena, due));
	cli_write_buf(&out);
	show_trace_events(cli, ask_array(h, "events"));
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
