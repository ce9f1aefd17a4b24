#include "cli/show/show_event.h"

#include "cli/ask.h"
#include "cli/show/show.h"

enum { LINE_MAX_BYTES = 1 << 20, WHAT_COLUMNS = 20, OBJECT_COLUMNS = 10, TYPE_DOTS = 2 };

/* "handoff.acked" of "com.memoryspine.handoff.acked". */
static struct str short_type(struct str type)
{
	struct str rest = type;

	for (int i = 0; i < TYPE_DOTS && rest.p; i++)
		str_cut(&rest, '.');
	return rest.p ? rest : type;
}

static enum term_style style_of(struct str what)
{
	static const char *const bad[] = {"nacked", "rejected", "timeout", "lost", "expired", "parked", "opened",
					  "fired", NULL};

	for (const char *const *word = bad; *word; word++)
		if (str_has_suffix(what, str_of(*word)))
			return TERM_YELLOW;
	return str_has_suffix(what, STR("acked")) || str_has_suffix(what, STR("completed")) ? TERM_GREEN : TERM_PLAIN;
}

/* A text from outside, padded so that what follows stands in a column. */
static void put_cell(struct buf *out, struct str text, size_t columns)
{
	size_t start = out->len, taken;

	term_put_line(out, text, SIZE_MAX);
	taken = term_columns(str_sub(buf_str(out), start, out->len));
	for (; taken < columns; taken++)
		buf_putc(out, ' ');
	buf_puts(out, "  ");
}

/* "2026-01-30 12:00:00.123": the day is needed where one looks back. */
static void put_time(struct buf *out, struct str time)
{
	size_t start = out->len;

	term_put_line(out, time, SIZE_MAX);
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] == 'T' || (out->data[i] == 'Z' && i + 1 == out->len))
			out->data[i] = ' ';
	buf_putc(out, ' ');
}

/* Each part with what divides it from the one before. */
static void put_data(struct buf *out, const struct json *data)
{
	show_fact(out, " for ", ask_str(data, "agent"));
	if (!str_eq(ask_str(data, "agent"), ask_str(data, "actor")))
		show_fact(out, " by ", ask_str(data, "actor"));
	/* Who has no other name than the key's is called "key-7 root". */
	if (!str_has_prefix(ask_str(data, "actor"), ask_str(data, "key")))
		show_fact(out, " with ", ask_str(data, "key"));
	if (ask_int(data, "attempt", 0) > 1)
		buf_printf(out, ", attempt %lld", (long long)ask_int(data, "attempt", 0));
	if (json_get(data, "latency_ms"))
		buf_printf(out, ", %lld ms after it was sent", (long long)ask_int(data, "latency_ms", 0));
	if (json_get(data, "hop"))
		buf_printf(out, ", hop %lld, %.0f %% of the references, %.0f %% of the budget",
			   (long long)ask_int(data, "hop", 0),
			   100 * ask_number(data, "completeness"), 100 * ask_number(data, "utilization"));
	show_fact(out, ": ", ask_str(data, "note"));
}

void show_event_line(const struct cli *cli, const struct json *event)
{
	struct str what = short_type(ask_str(event, "type")), facts;
	enum term_style style = style_of(what);
	struct buf out, data;

	buf_init(&out, LINE_MAX_BYTES);
	put_time(&out, ask_str(event, "time"));
	buf_puts(&out, term_on(&cli->out, style));
	put_cell(&out, what, WHAT_COLUMNS);
	buf_puts(&out, term_off(&cli->out, style));
	put_cell(&out, ask_str(event, "subject"), OBJECT_COLUMNS);
	buf_init(&data, LINE_MAX_BYTES);
	put_data(&data, json_get(event, "data"));
	facts = buf_str(&data);
	while (facts.n && strchr(" ,:", facts.p[0]))
		facts = str_sub(facts, 1, facts.n);
	buf_put(&out, facts);
	while (out.len && out.data[out.len - 1] == ' ')
		out.len--;
	buf_putc(&out, '\n');
	cli_write(buf_str(&out));
	buf_release(&data);
	buf_release(&out);
}

static struct str cell_actor(const struct column_item *item, const char *key)
{
	struct str actor = ask_str(item->json, key);

	return term_line(item->arena, actor.p ? actor : STR("-"));
}

const struct column audit_columns[] = {
	{"AT", "at", .style = TERM_DIM},
	{"BY", "actor", cell_actor, TERM_CYAN, .may_cut = true},
	{"KEY", "key", .style = TERM_DIM, .may_omit = true},
	{"ACTION", "action", .style = TERM_PLAIN},
	{"OBJECT", "object", .style = TERM_CYAN},
	{"AGENT", "agent", .may_cut = true, .may_omit = true},
	{"NOTE", "note", .style = TERM_PLAIN},
	{0},
};
