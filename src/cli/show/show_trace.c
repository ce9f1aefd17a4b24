#include "cli/show/show_trace.h"

#include "cli/ask.h"
#include "cli/show/show.h"
#include "codec/rfc3339.h"

/* --- A row for each event --- */

enum { COL_TIME, COL_ID, COL_TRY, COL_WHAT, COL_AGENT, COL_BY, COL_NOTE };

static const struct table_column event_columns[] = {
	[COL_TIME] = {"TIME", true, TERM_DIM},
	[COL_ID] = {"ID", false, TERM_CYAN},
	[COL_TRY] = {"TRY", true, TERM_PLAIN},
	[COL_WHAT] = {"WHAT", false, TERM_BOLD},
	[COL_AGENT] = {"AGENT", false, TERM_PLAIN},
	[COL_BY] = {"BY", false, TERM_PLAIN},
	[COL_NOTE] = {"WHY", false, TERM_PLAIN},
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
	{"handoff.cancelled", "cancelled, was for"},
	{"handoff.moved", "moved to"},
	{"handoff.rescheduled", "rescheduled for"},
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

/* "+0.012": seconds from the start; "" where time is not RFC 3339. */
static struct str time_text(const struct cli *cli, struct str time, int64_t start_ms)
{
	int64_t at_ms;

	if (!rfc3339_parse(time, &at_ms))
		return STR("");
	return arena_printf(cli->arena, "%+.3f", (double)(at_ms - start_ms) / 1000);
}

static void add_event(const struct cli *cli, struct table *table, const struct json *event, int64_t start_ms)
{
	struct table_row *row = table_add(table);
	struct str agent = ask_str(event, "agent"), actor = ask_str(event, "actor");

	row->cells[COL_TIME] = time_text(cli, ask_str(event, "at"), start_ms);
	table_set(table, row, COL_ID, ask_str(event, "handoff"));
	if (ask_int(event, "attempt", 0))
		row->cells[COL_TRY] = arena_printf(cli->arena, "%lld", (long long)ask_int(event, "attempt", 0));
	table_set(table, row, COL_WHAT, words_of(ask_str(event, "event")));
	table_set(table, row, COL_AGENT, agent);
	/* Who did it is worth a word only where it was somebody else. */
	if (!str_eq(agent, actor))
		table_set(table, row, COL_BY, actor);
	table_set(table, row, COL_NOTE, ask_str(event, "note"));
}

void show_trace_events(const struct cli *cli, const struct json *events)
{
	struct table table;
	int64_t start_ms = 0;

	if (events->count == 0)
		return;
	rfc3339_parse(ask_str(&events->items[0], "at"), &start_ms);
	table_init(&table, event_columns, cli->arena);
	for (uint32_t i = 0; i < events->count; i++)
		add_event(cli, &table, &events->items[i], start_ms);
	cli_write(STR("\n"));
	show_rows(cli, &table);
}

/* --- A whole task --- */

static int64_t time_of(const struct json *object, const char *key)
{
	int64_t ms = 0;

	rfc3339_parse(ask_str(object, key), &ms);
	return ms;
}

static void add_envelope(const struct cli *cli, struct table *table, const struct json *e, int64_t start_ms)
{
	struct table_row *row = table_add(table);
	struct str summary = term_line(cli->arena, ask_str(e, "summary"));

	row->cells[COL_TIME] = time_text(cli, ask_str(e, "created_at"), start_ms);
	table_set(table, row, COL_ID, ask_str(e, "id"));
	row->cells[COL_WHAT] = STR("packed for");
	table_set(table, row, COL_AGENT, ask_str(e, "to"));
	table_set(table, row, COL_BY, ask_str(e, "from"));
	row->cells[COL_NOTE] = arena_printf(cli->arena, "hop %lld, %lld tokens%s%.*s",
						  (long long)ask_int(e, "hop", 0),
						  (long long)ask_int(e, "token_count", 0), summary.n ? ": " : "",
						  STR_ARG(summary));
}

static int64_t earlier(int64_t a_ms, int64_t b_ms)
{
	return a_ms == 0 || (b_ms && b_ms < a_ms) ? b_ms : a_ms;
}

static void print_sums(const struct cli *cli, const struct json *trace, int64_t start_ms, int64_t end_ms)
{
	struct str task = term_line(cli->arena, ask_str(trace, "task"));
	uint32_t envelopes = ask_array(trace, "envelopes")->count, handoffs = ask_array(trace, "handoffs")->count;

	cli_write(arena_printf(cli->arena, "%s%.*s%s: %u envelope%s, %u handoff%s, %.3f s from the first step to the "
					   "last\n\n",
			       term_on(&cli->out, TERM_CYAN), STR_ARG(task), term_off(&cli->out, TERM_CYAN), envelopes,
			       envelopes == 1 ? "" : "s", handoffs, handoffs == 1 ? "" : "s",
			       (double)(end_ms - start_ms) / 1000));
}

/* Both lists are in the order of time; an envelope goes before what happened to it in the same moment. */
void show_trace(const struct cli *cli, const struct json *trace)
{
	const struct json *envelopes = ask_array(trace, "envelopes"), *events = ask_array(trace, "events");
	uint32_t e = 0, v = 0;
	int64_t start_ms = 0, end_ms = 0;
	struct table table;

	if (envelopes->count)
		start_ms = time_of(&envelopes->items[0], "created_at");
	if (events->count)
		start_ms = earlier(start_ms, time_of(&events->items[0], "at"));
	table_init(&table, event_columns, cli->arena);
	while (e < envelopes->count || v < events->count) {
		bool is_envelope = v == events->count ||
				   (e < envelopes->count && time_of(&envelopes->items[e], "created_at") <=
							    time_of(&events->items[v], "at"));

		if (is_envelope) {
			end_ms = time_of(&envelopes->items[e], "created_at");
			add_envelope(cli, &table, &envelopes->items[e++], start_ms);
		} else {
			end_ms = time_of(&events->items[v], "at");
			add_event(cli, &table, &events->items[v++], start_ms);
		}
	}
	print_sums(cli, trace, start_ms, end_ms);
	show_rows(cli, &table);
}
