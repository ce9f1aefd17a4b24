#include "cli/show/show_stats.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/show/columns.h"
#include "cli/when.h"

enum { SUMMARY_COLUMNS = 200, BARS_INDENT = 10 };

/* "12 ms", "1.24 s"; "-" where there is none. */
static void put_ms(struct buf *out, const char *before, const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);
	double ms = ask_number(obj, key);

	buf_puts(out, before);
	if (value == NULL || value->type == JSON_NULL)
		buf_puts(out, "-");
	else if (ms < 1000)
		buf_printf(out, "%.0f ms", ms);
	else
		buf_printf(out, "%.*f s", ms < 10000 ? 2 : 1, ms / 1000);
}

static void put_percent(struct buf *out, const char *before, const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);
	double percent = ask_number(obj, key) * 100;

	buf_puts(out, before);
	if (value == NULL || value->type == JSON_NULL)
		buf_puts(out, "-");
	else
		buf_printf(out, "%.*f %%", percent > 0 && percent < 9.95 ? 1 : 0, percent);
}

static void put_title(const struct cli *cli, struct buf *out, const char *title)
{
	buf_printf(out, "%s%-*s%s", term_on(&cli->out, TERM_DIM), BARS_INDENT, title, term_off(&cli->out, TERM_DIM));
}

/* "2 of 5 (40 %)": of the handoffs, or of those that were settled where these are more. */
static void put_failed(struct buf *out, const struct json *all)
{
	int64_t failed = ask_int(all, "failed", 0), handoffs = ask_int(all, "handoffs", 0);
	int64_t settled = ask_int(all, "acked", 0) + failed;

	buf_printf(out, "failed %lld", (long long)failed);
	if (failed == 0)
		return;
	buf_printf(out, " of %lld", (long long)(handoffs > settled ? handoffs : settled));
	put_percent(out, " (", all, "failure_rate");
	buf_putc(out, ')');
}

void show_stats_overall(const struct cli *cli, const struct json *stats, struct buf *out)
{
	const struct json *all = json_get(stats, "overall"), *latency = json_get(all, "latency_ms");
	const struct json *complete = json_get(all, "completeness"), *used = json_get(all, "utilization"),
			  *hops = json_get(all, "hops");
	const struct json *queue = json_get(all, "queue");
	bool fails = ask_int(all, "failed", 0) > 0;

	put_title(cli, out, "handoffs");
	buf_printf(out, "%lld  acked %lld  completed %lld  ", (long long)ask_int(all, "handoffs", 0),
		   (long long)ask_int(all, "acked", 0), (long long)ask_int(all, "completed", 0));
	buf_puts(out, term_on(&cli->out, fails ? TERM_RED : TERM_PLAIN));
	put_failed(out, all);
	buf_printf(out, "%s  retries %lld  leases lost %lld  waivers %lld\n",
		   term_off(&cli->out, fails ? TERM_RED : TERM_PLAIN), (long long)ask_int(all, "retries", 0),
		   (long long)ask_int(all, "leases_lost", 0), (long long)ask_int(all, "waivers", 0));
	put_title(cli, out, "to ack");
	put_ms(out, "p50 ", latency, "p50");
	put_ms(out, "  p95 ", latency, "p95");
	put_ms(out, "  p99 ", latency, "p99");
	put_ms(out, "  max ", latency, "max");
	buf_puts(out, "\n");
	put_title(cli, out, "envelopes");
	put_percent(out, "completeness ", complete, "mean");
	put_percent(out, " (min ", complete, "min");
	put_percent(out, ")  budget used ", used, "mean");
	put_percent(out, " (all of it: ", used, "pinned");
	put_percent(out, ", under 30 %: ", used, "low");
	buf_printf(out, ")  hop %.1f (max %lld)\n", ask_number(hops, "mean"), (long long)ask_int(hops, "max", 0));
	put_title(cli, out, "now");
	buf_printf(out, "queued %lld  leased %lld  at work %lld  %sparked %lld%s\n",
		   (long long)ask_int(queue, "queued", 0), (long long)ask_int(queue, "leased", 0),
		   (long long)ask_int(queue, "working", 0),
		   term_on(&cli->out, ask_int(queue, "parked", 0) ? TERM_YELLOW : TERM_PLAIN),
		   (long long)ask_int(queue, "parked", 0),
		   term_off(&cli->out, ask_int(queue, "parked", 0) ? TERM_YELLOW : TERM_PLAIN));
}

/* The newest at the right, as many as there is room for. */
static void put_bars(const struct cli *cli, const struct json *points, const char *title, const char *key,
		     const char *unit, struct buf *out)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t room = cli->out.width > BARS_INDENT + 20 ? cli->out.width - BARS_INDENT - 20 : 10;
	uint32_t from = points->count > room ? points->count - (uint32_t)room : 0;
	double most = 0;

	for (uint32_t i = from; i < points->count; i++)
		if (ask_number(&points->items[i], key) > most)
			most = ask_number(&points->items[i], key);
	put_title(cli, out, title);
	for (uint32_t i = from; i < points->count; i++) {
		double value = ask_number(&points->items[i], key);
		int height = most > 0 && value > 0 ? (int)(value / most * 7.999) + 1 : 0;

		buf_puts(out, bars[height > 8 ? 8 : height]);
	}
	buf_printf(out, " %s%.0f%s at most%s\n", term_on(&cli->out, TERM_DIM), most, unit,
		   term_off(&cli->out, TERM_DIM));
}

void show_stats_bars(const struct cli *cli, const struct json *stats, struct buf *out)
{
	const struct json *points = ask_array(json_get(stats, "series"), "points");

	put_bars(cli, points, "handoffs", "handoffs", "", out);
	put_bars(cli, points, "p99", "p99", " ms", out);
}

static struct str cell_latency(const struct column_item *item, const char *key)
{
	struct buf text;

	buf_init(&text, 256);
	put_ms(&text, "", json_get(item->json, "latency_ms"), key);
	return cli_keep(item->arena, &text);
}

static struct str cell_mean(const struct column_item *item, const char *key)
{
	struct buf text;

	buf_init(&text, 256);
	put_percent(&text, "", json_get(item->json, key), "mean");
	return cli_keep(item->arena, &text);
}

static struct str cell_queue(const struct column_item *item, const char *key)
{
	const struct json *queue = json_get(item->json, key);

	return arena_printf(item->arena, "%lld/%lld/%lld", (long long)ask_int(queue, "queued", 0),
			    (long long)(ask_int(queue, "leased", 0) + ask_int(queue, "working", 0)),
			    (long long)ask_int(queue, "parked", 0));
}

static struct str cell_breaker(const struct column_item *item, const char *key)
{
	struct str breaker = ask_str(item->json, key);

	return str_is(breaker, "closed") ? STR("") : term_line(item->arena, breaker);
}

void show_stats_targets(const struct cli *cli, struct arena *arena, const struct json *stats, struct buf *out)
{
	static const struct column columns[] = {
		{"AGENT", "agent", NULL, TERM_CYAN, .may_cut = true},
		{"HANDOFFS", "handoffs", cell_number, .right = true},
		{"ACKED", "acked", cell_number, .right = true},
		{"FAILED", "failed", cell_count, TERM_RED, .right = true},
		{"P50", "p50", cell_latency, .right = true, .may_omit = true},
		{"P99", "p99", cell_latency, .right = true},
		{"COMPLETE", "completeness", cell_mean, .right = true},
		{"BUDGET", "utilization", cell_mean, .right = true, .may_omit = true},
		{"QUEUED/AT WORK/PARKED", "queue", cell_queue, .right = true},
		{"BREAKER", "breaker", cell_breaker, .style = TERM_RED},
		{0},
	};

	columns_put(cli, arena, ask_array(stats, "targets"), columns, out);
}

void show_stats_alert_list(const struct cli *cli, struct arena *arena, const struct json *list, struct buf *out)
{
	int64_t now_ms = clock_wall_ms();

	for (uint32_t i = 0; i < list->count; i++) {
		const struct json *alert = &list->items[i];
		struct str severity = ask_str(alert, "severity"),
			   age = when_age(arena, ask_str(alert, "since"), now_ms);
		struct str by = ask_str(alert, "acknowledged_by");
		enum term_style style = str_is(severity, "critical")  ? TERM_RED
					: str_is(severity, "warning") ? TERM_YELLOW
								      : TERM_CYAN;

		buf_puts(out, term_on(&cli->out, style));
		term_put_line(out, severity, 10);
		buf_printf(out, "%*s%s", severity.n < BARS_INDENT ? (int)(BARS_INDENT - severity.n) : 1, "",
			   term_off(&cli->out, style));
		term_put_line(out, ask_str(alert, "summary"), SUMMARY_COLUMNS);
		buf_printf(out, "  %s(", term_on(&cli->out, TERM_DIM));
		term_put_line(out, ask_str(alert, "id"), 24);
		buf_puts(out, " ");
		term_put_line(out, ask_str(alert, "name"), 40);
		buf_printf(out, ", %.*s%s", STR_ARG(age), by.n ? ", seen by " : "");
		term_put_line(out, by, 40);
		if (str_is(ask_str(alert, "state"), "resolved"))
			buf_puts(out, ", over");
		buf_printf(out, ")%s\n", term_off(&cli->out, TERM_DIM));
	}
}

void show_stats_alerts(const struct cli *cli, struct arena *arena, const struct json *alerts, struct buf *out)
{
	const struct json *list = ask_array(alerts, "alerts");

	if (list->count == 0) {
		put_title(cli, out, "alerts");
		buf_puts(out, "none\n");
	}
	show_stats_alert_list(cli, arena, list, out);
}

/* "above 2 %", "at least 3 handoffs"; "above the usual" where what is usual is not known yet. */
static struct str cell_limit(const struct column_item *item, const char *key)
{
	struct arena *arena = item->arena;
	const struct json *rule = item->json;
	struct str comparison = ask_str(rule, "comparison"), unit = term_line(arena, ask_str(rule, "unit"));
	const struct json *threshold = json_get(rule, key);
	bool is_below = str_is(comparison, "below");
	const char *words = str_is(comparison, "at_least") ? "at least" : is_below ? "below" : "above";
	double value = ask_number(rule, key);

	if (threshold == NULL || threshold->type == JSON_NULL)
		return arena_printf(arena, "%s the usual", words);
	if (str_is(unit, "share"))
		return arena_printf(arena, "%s %.4g %%", words, value * 100);
	if (str_is(unit, "ms") && value >= 1000)
		return arena_printf(arena, "%s %.4g s", words, value / 1000);
	if (value == 1 && str_has_suffix(unit, STR("s")) && !str_is(unit, "ms"))
		unit.n--;
	return arena_printf(arena, "%s %.4g %.*s", words, value, STR_ARG(unit));
}

static struct str cell_severity(const struct column_item *item, const char *key)
{
	struct str severity = term_line(item->arena, ask_str(item->json, key));

	return arena_printf(item->arena, "%.*s%s", STR_ARG(severity), ask_bool(item->json, "pages") ? ", pages" : "");
}

static struct str cell_window(const struct column_item *item, const char *key)
{
	int64_t window_s = ask_int(item->json, key, 0);

	return window_s ? arena_printf(item->arena, "%lld min", (long long)(window_s / 60)) : STR("");
}

static struct str cell_samples(const struct column_item *item, const char *key)
{
	return ask_int(item->json, key, 1) > 1 ? cell_number(item, key) : STR("");
}

void show_stats_rules(const struct cli *cli, const struct json *alerts)
{
	static const struct column columns[] = {
		{"RULE", "name", .style = TERM_CYAN},
		{"SEVERITY", "severity", cell_severity, .style = TERM_PLAIN},
		{"FIRES", "threshold", cell_limit, .style = TERM_PLAIN},
		{"WINDOW", "window_s", cell_window, .right = true},
		{"SAMPLES", "min_samples", cell_samples, .right = true},
		{"MEASURES", "measures", .style = TERM_DIM},
		{0},
	};

	columns_show(cli, ask_array(alerts, "rules"), columns);
}
