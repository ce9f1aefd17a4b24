#include "cli/show/show_trace.h"

#include "cli/ask.h"
#include "cli/show/show.h"
#include "cli/show/show_handoff.h"
#include "codec/rfc3339.h"

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

	row->cells[EVENT_COL_TIME] = show_event_time(cli, ask_str(e, "created_at"), start_ms);
	table_set(table, row, EVENT_COL_ID, ask_str(e, "id"));
	row->cells[EVENT_COL_WHAT] = STR("packed for");
	table_set(table, row, EVENT_COL_AGENT, ask_str(e, "to"));
	table_set(table, row, EVENT_COL_BY, ask_str(e, "from"));
	row->cells[EVENT_COL_NOTE] = arena_printf(cli->arena, "hop %lld, %lld tokens%s%.*s",
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
	table_init(&table, show_event_columns, cli->arena);
	while (e < envelopes->count || v < events->count) {
		bool is_envelope = v == events->count ||
				   (e < envelopes->count && time_of(&envelopes->items[e], "created_at") <=
							    time_of(&events->items[v], "at"));

		if (is_envelope) {
			end_ms = time_of(&envelopes->items[e], "created_at");
			add_envelope(cli, &table, &envelopes->items[e++], start_ms);
		} else {
			end_ms = time_of(&events->items[v], "at");
			show_event_add(cli, &table, &events->items[v++], start_ms);
		}
	}
	print_sums(cli, trace, start_ms, end_ms);
	show_rows(cli, &table);
}
