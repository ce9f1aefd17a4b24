/* What the load test has measured, and how that compares with what the original text calls healthy. */
#include "cli/bench/bench.h"
#include "cli/show/show.h"
#include "client/client.h"

#include <stdlib.h>

enum { REPORT_MAX_BYTES = 1 << 20 };

/* Of the original text, "Monitoring Handoff Health": a failure rate below 0.5 % is healthy, above 2 % a systemic issue;
 * completeness below 95 % is to be investigated, below 80 % an alert. It has no figure for latency, but an ack timeout
 * of typically 10 to 30 seconds: beyond that a handoff is sent again. */
#define FAILURES_HEALTHY 0.005
#define FAILURES_SYSTEMIC 0.02
#define COMPLETENESS_HEALTHY 0.95
#define COMPLETENESS_ALERT 0.80
#define LATENCY_HEALTHY_MS 10000.0
#define LATENCY_SICK_MS 30000.0

static const char *const health_names[] = {"healthy", "doubtful", "sick"};
static const enum term_style health_styles[] = {TERM_GREEN, TERM_YELLOW, TERM_RED};

/* --- Figures --- */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort(const struct bench_level *level)
{
	for (int stage = 0; stage < BENCH_STAGES; stage++)
		if (level->counts[stage])
			qsort(level->us[stage], level->counts[stage], sizeof(uint32_t), compare);
}

/* Of sorted samples, the nearest rank; in milliseconds. 0 where there are none. */
static double percentile(const struct bench_level *level, enum bench_stage stage, double share)
{
	size_t count = level->counts[stage], rank = (size_t)(share * (double)count + 0.999999);

	if (count == 0)
		return 0;
	rank = rank < 1 ? 1 : rank > count ? count : rank;
	return level->us[stage][rank - 1] / 1000.0;
}

static double failure_rate(const struct bench_level *level)
{
	int64_t ended = level->acked + level->failed;

	return ended ? (double)level->failed / (double)ended : 1;
}

static double completeness(const struct bench_level *level)
{
	return level->packed ? level->completeness_sum / (double)level->packed : 0;
}

enum bench_health bench_failure_health(const struct bench_level *level)
{
	double rate = failure_rate(level);

	return rate < FAILURES_HEALTHY ? BENCH_HEALTHY : rate <= FAILURES_SYSTEMIC ? BENCH_DOUBTFUL : BENCH_SICK;
}

enum bench_health bench_completeness_health(const struct bench_level *level)
{
	double mean = completeness(level);

	return mean >= COMPLETENESS_HEALTHY ? BENCH_HEALTHY : mean >= COMPLETENESS_ALERT ? BENCH_DOUBTFUL : BENCH_SICK;
}

enum bench_health bench_latency_health(const struct bench_level *level)
{
	double p99 = percentile(level, BENCH_WHOLE, 0.99);

	if (level->counts[BENCH_WHOLE] == 0)
		return BENCH_SICK;
	return p99 < LATENCY_HEALTHY_MS ? BENCH_HEALTHY : p99 <= LATENCY_SICK_MS ? BENCH_DOUBTFUL : BENCH_SICK;
}

static bool is_healthy(const struct bench_level *level)
{
	return bench_failure_health(level) == BENCH_HEALTHY && bench_completeness_health(level) == BENCH_HEALTHY &&
	       bench_latency_health(level) == BENCH_HEALTHY && !level->is_cut;
}

bool bench_is_healthy(const struct bench *b)
{
	bool all = b->level_count > 0;

	for (size_t i = 0; i < b->level_count; i++) {
		sort(&b->levels[i]);
		all = all && is_healthy(&b->levels[i]);
	}
	return all;
}

static double per_second(const struct bench_level *level)
{
	return level->ns ? (double)level->acked / ((double)level->ns / 1e9) : 0;
}

/* --- Text --- */

static void print_stages(const struct cli *cli, const struct bench_level *level)
{
	static const struct table_column columns[] = {
		{"STAGE", false, TERM_CYAN}, {"P50 MS", true, TERM_PLAIN}, {"P95 MS", true, TERM_PLAIN},
		{"P99 MS", true, TERM_PLAIN}, {"MAX MS", true, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	static const double shares[] = {0.50, 0.95, 0.99, 1};
	struct table table;

	table_init(&table, columns, cli->arena);
	for (int stage = 0; stage < BENCH_STAGES; stage++) {
		struct table_row *row = table_add(&table);

		row->cells[0] = str_of(bench_stage_names[stage]);
		for (size_t i = 0; i < 4; i++)
			row->cells[i + 1] = arena_printf(cli->arena, "%.1f",
							 percentile(level, (enum bench_stage)stage, shares[i]));
	}
	show_rows(cli, &table);
}

static void put_verdict(const struct cli *cli, struct buf *out, enum bench_health health, const char *what)
{
	buf_printf(out, "%s%-8s%s  %s\n", term_on(&cli->out, health_styles[health]), health_names[health],
		   term_off(&cli->out, health_styles[health]), what);
}

static void print_level(const struct bench *b, const struct bench_level *level)
{
	const struct cli *cli = b->cli;
	struct buf out;

	cli_write(arena_printf(cli->arena, "%s%lld at a time%s: %lld handoffs in %.1f s, %.0f a second\n",
			       term_on(&cli->out, TERM_BOLD), (long long)level->concurrent,
			       term_off(&cli->out, TERM_BOLD), (long long)level->acked, (double)level->ns / 1e9,
			       per_second(level)));
	print_stages(cli, level);
	buf_init(&out, REPORT_MAX_BYTES);
	put_verdict(cli, &out, bench_failure_health(level),
		    arena_printf(cli->arena, "%.2f %% failed (healthy: below 0.5 %%; above 2 %% something is systemic)",
				 failure_rate(level) * 100).p);
	put_verdict(cli, &out, bench_completeness_health(level),
		    arena_printf(cli->arena, "completeness %.1f %% (healthy: 95 %% or more)",
				 completeness(level) * 100).p);
	put_verdict(cli, &out, bench_latency_health(level),
		    arena_printf(cli->arena, "p99 from sending to the ack %.1f ms (healthy: below 10 s, the shortest "
				 "usual ack timeout)", percentile(level, BENCH_WHOLE, 0.99)).p);
	if (level->is_cut)
		buf_printf(&out, "%s after %.1f s: %lld of %lld handoffs had been begun\n",
			   b->is_stopped ? "stopped" : "its time was over", (double)level->ns / 1e9,
			   (long long)level->begun, (long long)level->planned);
	if (level->first_failure) {
		buf_puts(&out, "the first failure: ");
		term_put_line(&out, str_of(level->first_failure), 300);
		buf_putc(&out, '\n');
	}
	buf_putc(&out, '\n');
	cli_write_buf(&out);
}

/* --- JSON --- */

static void put_level(struct json_writer *w, const struct bench_level *level)
{
	json_begin_object(w);
	json_member_int(w, "concurrent", level->concurrent);
	json_member_int(w, "planned", level->planned);
	json_member_int(w, "acked", level->acked);
	json_member_int(w, "failed", level->failed);
	json_member_bool(w, "whole", !level->is_cut);
	json_member_double(w, "seconds", (double)level->ns / 1e9);
	json_member_double(w, "per_second", per_second(level));
	json_member_double(w, "failure_rate", failure_rate(level));
	json_member_double(w, "completeness", completeness(level));
	json_member_double(w, "completeness_min", level->completeness_min);
	json_key(w, "latency_ms");
	json_begin_object(w);
	for (int stage = 0; stage < BENCH_STAGES; stage++) {
		json_key(w, bench_stage_names[stage]);
		json_begin_object(w);
		json_member_int(w, "count", (int64_t)level->counts[stage]);
		json_member_double(w, "p50", percentile(level, (enum bench_stage)stage, 0.50));
		json_member_double(w, "p95", percentile(level, (enum bench_stage)stage, 0.95));
		json_member_double(w, "p99", percentile(level, (enum bench_stage)stage, 0.99));
		json_member_double(w, "max", percentile(level, (enum bench_stage)stage, 1));
		json_end_object(w);
	}
	json_end_object(w);
	json_key(w, "verdict");
	json_begin_object(w);
	json_member_cstr(w, "failure_rate", health_names[bench_failure_health(level)]);
	json_member_cstr(w, "completeness", health_names[bench_completeness_health(level)]);
	json_member_cstr(w, "latency", health_names[bench_latency_health(level)]);
	json_end_object(w);
	if (level->first_failure)
		json_member_cstr(w, "first_failure", level->first_failure);
	json_end_object(w);
}

static void report_json(const struct bench *b, bool healthy)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, REPORT_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_cstr(&w, "url", client_url(b->cli->client));
	json_member_cstr(&w, "space", b->space);
	json_member_bool(&w, "space_removed", b->is_removed);
	json_member_bool(&w, "healthy", healthy);
	json_key(&w, "levels");
	json_begin_array(&w);
	for (size_t i = 0; i < b->level_count; i++)
		put_level(&w, &b->levels[i]);
	json_end_array(&w);
	json_end_object(&w);
	cli_write_json_buf(b->cli, &out);
}

void bench_report(struct bench *b)
{
	bool healthy = bench_is_healthy(b);

	if (cli_is_json(b->cli)) {
		report_json(b, healthy);
		return;
	}
	for (size_t i = 0; i < b->level_count; i++)
		print_level(b, &b->levels[i]);
}
