/* GET /metrics: everything that Prometheus can watch, in its text format (0.0.4), names and units.
 *
 * Counters count since the start. The labels space and agent have as many values as core/watch/stats.h has series:
 * what is beyond is told as "_other". The same holds for the gauges of queues and breakers, which come from the store.
 */
#include "api/http/cluster_front.h"
#include "api/http/feed.h"
#include "api/http/reply.h"
#include "api/describe/descriptions.h"
#include "api/metrics_merge.h"
#include "api/routes.h"
#include "engine/watch/metrics_collect.h"
#include "outbound/alert_post.h"
#include "outbound/exporter.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* --- Writing --- */

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_label(struct buf *out, const char *name, struct str value)
{
	buf_printf(out, "%s=\"", name);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '\n') {
			buf_puts(out, "\\n");
			continue;
		}
		if (value.p[i] == '"' || value.p[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, value.p[i]);
	}
	buf_putc(out, '"');
}

static void put_labels(struct buf *out, const struct metrics_series *c)
{
	put_label(out, "space", c->space_name);
	if (c->agent.p) {
		buf_putc(out, ',');
		put_label(out, "agent", c->agent);
	}
}

static void put_plain(struct buf *out, const char *name, const char *type, const char *help, double value)
{
	head(out, name, type, help);
	buf_printf(out, "%s %.17g\n", name, value);
}

/* --- Of spaces and agents --- */

static void put_counters(struct buf *out, const struct metrics_collect *m)
{
	static const struct {
		const char *name;
		const char *help;
		size_t offset;
	} counters[] = {
		{"spine_handoffs_total", "Handoffs initiated.", offsetof(struct stats_counts, handoffs)},
		{"spine_handoffs_acked_total", "Handoffs accepted by their receiver.",
		 offsetof(struct stats_counts, acked)},
		{"spine_handoffs_completed_total", "Handoffs whose work was completed.",
		 offsetof(struct stats_counts, completed)},
		{"spine_handoffs_failed_total", "Handoffs that used up their attempts with the agent.",
		 offsetof(struct stats_counts, failed)},
		{"spine_handoff_retries_total", "Attempts after the first.", offsetof(struct stats_counts, retries)},
		{"spine_leases_lost_total", "Leases that ran out, of receivers and of workers.",
		 offsetof(struct stats_counts, leases_lost)},
		{"spine_envelopes_total", "Envelopes packed.", offsetof(struct stats_counts, packed)},
		{"spine_constraint_waivers_total", "Constraints waived in envelopes.",
		 offsetof(struct stats_counts, waivers)},
	};

	for (size_t k = 0; k < sizeof(counters) / sizeof(counters[0]); k++) {
		head(out, counters[k].name, "counter", counters[k].help);
		for (size_t i = 0; i < m->count; i++) {
			const struct metrics_series *c = &m->list[i];

			if (c->agent.p == NULL)
				continue;
			buf_printf(out, "%s{", counters[k].name);
			put_labels(out, c);
			buf_printf(out, "} %lld\n",
				   (long long)*(const int64_t *)((const char *)&c->totals.counts + counters[k].offset));
		}
	}
}

static void put_distribution(struct buf *out, const char *name, const struct metrics_series *c,
			     const struct stats_distribution *d, const double *bounds)
{
	uint64_t below = 0;

	for (int i = 0; bounds[i] != 0; i++) {
		below += d->counts[i];
		buf_printf(out, "%s_bucket{", name);
		put_labels(out, c);
		buf_printf(out, ",le=\"%g\"} %llu\n", bounds[i], (unsigned long long)below);
	}
	buf_printf(out, "%s_bucket{", name);
	put_labels(out, c);
	buf_printf(out, ",le=\"+Inf\"} %llu\n%s_sum{", (unsigned long long)d->total, name);
	put_labels(out, c);
	buf_printf(out, "} %.17g\n%s_count{", d->sum, name);
	put_labels(out, c);
	buf_printf(out, "} %llu\n", (unsigned long long)d->total);
}

/* Latency by agent; what envelopes are like by space, because a histogram has many lines. */
static void put_distributions(struct buf *out, const struct metrics_collect *m)
{
	static const struct {
		const char *name;
		const char *help;
		size_t offset;
		const double *bounds;
		bool is_by_agent;
	} kinds[] = {
		{"spine_handoff_ack_seconds", "Time from initiating a handoff to its ack.",
		 offsetof(struct stats_totals, latency_s), stats_latency_bounds_s, true},
		{"spine_envelope_completeness_ratio",
		 "Share of the requested memory references that an envelope holds.",
		 offsetof(struct stats_totals, completeness), stats_share_bounds, false},
		{"spine_envelope_token_utilization_ratio", "Share of its token budget that an envelope uses.",
		 offsetof(struct stats_totals, utilization), stats_share_bounds, false},
		{"spine_envelope_hops", "Hop of an envelope; the root is 1.", offsetof(struct stats_totals, hops),
		 stats_hop_bounds, false},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		head(out, kinds[k].name, "histogram", kinds[k].help);
		for (size_t i = 0; i < m->count; i++) {
			const struct metrics_series *c = &m->list[i];

			if ((c->agent.p != NULL) == kinds[k].is_by_agent)
				put_distribution(out, kinds[k].name, c,
						 (const void *)((const char *)&c->totals + kinds[k].offset),
						 kinds[k].bounds);
		}
	}
}

static void put_queue(struct buf *out, const struct metrics_series *c, const char *state, int64_t value)
{
	buf_puts(out, "spine_queue_handoffs{");
	put_labels(out, c);
	buf_printf(out, ",state=\"%s\"} %lld\n", state, (long long)value);
}

static void put_breakers(struct buf *out, const struct metrics_collect *m, bool is_half)
{
	const char *name = is_half ? "spine_breaker_half_open" : "spine_breaker_open";
	const char *help = is_half ? "Whether the circuit breaker of the agent is half-open: one is let through." :
				     "Whether the circuit breaker of the agent is open: nothing is sent to it.";

	head(out, name, "gauge", help);
	for (size_t i = 0; i < m->count; i++) {
		const struct metrics_series *c = &m->list[i];

		if (c->agent.p == NULL)
			continue;
		buf_printf(out, "%s{", name);
		put_labels(out, c);
		buf_printf(out, "} %d\n", is_half ? c->breaker_is_half_open : c->breaker_is_open);
	}
}

static void put_queues(struct buf *out, const struct metrics_collect *m)
{
	head(out, "spine_queue_handoffs", "gauge",
	     "Handoffs that are queued, leased, being worked on, or parked for a person.");
	for (size_t i = 0; i < m->count; i++) {
		const struct metrics_series *c = &m->list[i];

		if (c->agent.p == NULL)
			continue;
		put_queue(out, c, "queued", c->queue.queued);
		put_queue(out, c, "leased", c->queue.leased);
		put_queue(out, c, "working", c->queue.working);
		put_queue(out, c, "parked", c->queue.parked);
	}
	put_breakers(out, m, false);
	put_breakers(out, m, true);
}

static void put_quota(struct buf *out, const struct metrics_collect *m, const char *name, const char *type,
		      const char *help, size_t offset)
{
	head(out, name, type, help);
	for (size_t i = 0; i < m->quota_count; i++)
		for (int kind = 0; kind < QUOTA_KINDS; kind++) {
			const struct metrics_quota *q = &m->quotas[i];

			if (q->state.limit[kind] == 0)
				continue;
			buf_printf(out, "%s{", name);
			put_label(out, "space", q->space_name);
			buf_printf(out, ",quota=\"%s\"} %lld\n", quota_name((enum quota_kind)kind),
				   (long long)((const int64_t *)(const void *)((const char *)q + offset))[kind]);
		}
}

static void put_quotas(struct buf *out, const struct metrics_collect *m)
{
	put_quota(out, m, "spine_quota_used", "gauge", "What a space with a quota has.",
		  offsetof(struct metrics_quota, state.used));
	put_quota(out, m, "spine_quota_limit", "gauge", "What it may have at most.",
		  offsetof(struct metrics_quota, state.limit));
	put_quota(out, m, "spine_quota_refusals_total", "counter", "Requests that were refused because of it.",
		  offsetof(struct metrics_quota, refusals));
}

/* --- Of the server --- */

/* Where the system does not say it, nothing is told. */
static void put_process(struct buf *out, const struct api *api)
{
	struct timespec cpu;
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (f) {
		if (fscanf(f, "%*d %ld", &pages) == 1)
			put_plain(out, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
				  (double)pages * (double)sysconf(_SC_PAGESIZE));
		fclose(f);
	}
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		put_plain(out, "process_cpu_seconds_total", "counter",
			  "Total user and system CPU time spent in seconds.",
			  (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
	put_plain(out, "process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.",
		  (double)api->started_at_ms / 1000);
}

static void put_server(struct buf *out, const struct api *api, const struct metrics_collect *m)
{
	struct http_counts http;

	http_server_counts(api->http, &http);
	head(out, "spine_build_info", "gauge", "The version of the server.");
	buf_puts(out, "spine_build_info{version=\"" SPINE_VERSION "\"} 1\n");
	put_plain(out, "spine_http_connections", "gauge", "Open connections.", (double)http.connections);
	put_plain(out, "spine_http_requests_active", "gauge", "Requests being served, those that wait included.",
		  (double)http.requests_active);
	put_plain(out, "spine_http_requests_total", "counter", "Requests taken.", (double)http.requests);
	put_plain(out, "spine_http_refused_total", "counter", "Requests refused before they were read.",
		  (double)http.refused);
	put_plain(out, "spine_tls_handshakes_total", "counter", "TLS handshakes done.", (double)http.handshakes);
	put_plain(out, "spine_tls_handshakes_failed_total", "counter", "TLS handshakes that failed or were given up.",
		  (double)http.handshakes_failed);
	put_plain(out, "spine_waiting_calls", "gauge", "Receivers and senders that wait for something to happen.",
		  (double)m->waiting);
	put_plain(out, "spine_event_streams", "gauge", "Open streams of events.", (double)feed_count(api->feed));
	put_plain(out, "spine_writer_queue_jobs", "gauge", "Writes that wait for the writer.",
		  (double)m->writer.queued);
	put_plain(out, "spine_writer_jobs_total", "counter", "Writes taken by the writer.", (double)m->writer.jobs);
	put_plain(out, "spine_store_commits_total", "counter", "Transactions committed; each holds many writes.",
		  (double)m->writer.commits);
	put_plain(out, "spine_clock_offset_seconds", "gauge",
		  "So much is the server's time ahead of its machine's wall clock.",
		  (double)engine_clock_offset_ms(api->engine) / 1000);
	put_plain(out, "spine_store_bytes", "gauge", "Size of the store on disk.", (double)m->store.bytes);
	put_plain(out, "spine_store_cache_bytes", "gauge", "Memory taken by rows of the store that are kept there.",
		  (double)m->store_cache_bytes);
	put_plain(out, "spine_store_failed", "gauge",
		  "1 when the store has failed and nothing is acknowledged any more.", m->writer.failed);
}

static void put_alerts(struct buf *out, const struct metrics_collect *m, struct alert_post *post)
{
	uint64_t sent = 0, failed = 0;

	alert_post_counts(post, &sent, &failed);
	head(out, "spine_alerts_firing", "gauge", "Alerts of the server that are firing.");
	for (int severity = 0; severity <= ALERT_CRITICAL; severity++)
		buf_printf(out, "spine_alerts_firing{severity=\"%s\"} %zu\n", alert_severity_name(severity),
			   m->firing[severity]);
	put_plain(out, "spine_alert_notifications_total", "counter", "Alerts that the webhook has taken.",
		  (double)sent);
	put_plain(out, "spine_alert_notification_failures_total", "counter",
		  "Attempts to tell the webhook that failed.", (double)failed);
}

/* All zero where nothing is exported, so that a rule about them has something to look at. */
static void put_spans(struct buf *out, struct exporter *exporter)
{
	struct exporter_counts counts;

	exporter_counts(exporter, &counts);
	put_plain(out, "spine_spans_exported_total", "counter", "Spans that the collector of traces has taken.",
		  (double)counts.exported);
	head(out, "spine_spans_dropped_total", "counter", "Spans that the collector of traces did not get, by reason.");
	for (int reason = 0; reason < EXPORTER_DROP_COUNT; reason++)
		buf_printf(out, "spine_spans_dropped_total{reason=\"%s\"} %llu\n",
			   exporter_drop_name((enum exporter_drop)reason),
			   (unsigned long long)counts.dropped_by[reason]);
	put_plain(out, "spine_span_post_failures_total", "counter", "Attempts to send spans that failed.",
		  (double)counts.failed_posts);
}

/* Seconds where `unit` is 1000. */
static void put_lags(struct buf *out, const struct cluster_figures *f, const char *name, const char *help,
		     size_t offset, double unit)
{
	head(out, name, "gauge", help);
	for (size_t i = 0; i < f->standby_count; i++) {
		int64_t lag = *(const int64_t *)(const void *)((const char *)&f->standbys[i] + offset);

		if (lag < 0)
			continue;
		buf_printf(out, "%s{", name);
		put_label(out, "standby", str_of(f->standbys[i].name));
		buf_printf(out, "} %.17g\n", (double)lag / unit);
	}
}

static void put_cluster(struct buf *out, const struct cluster_node_api *node)
{
	struct cluster_figures f;

	node->count(node->ctx, &f);
	head(out, "spine_cluster_nodes", "gauge", "Servers that share the database, as this one sees them.");
	buf_printf(out, "spine_cluster_nodes{state=\"live\"} %lld\n", (long long)f.live);
	buf_printf(out, "spine_cluster_nodes{state=\"leaving\"} %lld\n", (long long)f.leaving);
	buf_printf(out, "spine_cluster_nodes{state=\"gone\"} %lld\n", (long long)f.gone);
	buf_printf(out, "spine_cluster_nodes{state=\"unknown\"} %lld\n", (long long)f.unknown);
	put_plain(out, "spine_cluster_shards_owned", "gauge", "Shards that this node owns.", (double)f.owned);
	put_plain(out, "spine_cluster_shards_moving", "gauge", "Shards on their way from one node to another.",
		  (double)f.moving);
	head(out, "spine_cluster_shards_without_owner", "gauge",
	     "Shards that have spaces and no owner: their requests are answered 503.");
	if (f.orphans >= 0)
		buf_printf(out, "spine_cluster_shards_without_owner %lld\n", (long long)f.orphans);
	put_plain(out, "spine_cluster_shards_opened_total", "counter", "Shards that this node has opened.",
		  (double)f.opened);
	put_plain(out, "spine_cluster_lease_seconds", "gauge",
		  "So long this node may answer without renewing its lease.", (double)f.lease_left_ms / 1000);
	put_plain(out, "spine_cluster_leases_lost_total", "counter",
		  "How often the lease of this node ran out, and all of its shards with it.", (double)f.losses);
	put_plain(out, "spine_cluster_clock_offset_seconds", "gauge",
		  "So much the database's clock is ahead of this machine's.", (double)f.clock_offset_ms / 1000);
	put_lags(out, &f, "spine_cluster_standby_lag_seconds", "So long ago was committed what a standby of PostgreSQL "
		 "replays.", offsetof(struct cluster_standby_figures, lag_ms), 1000);
	put_lags(out, &f, "spine_cluster_standby_lag_bytes", "So much of its log a standby of PostgreSQL has not "
		 "replayed.", offsetof(struct cluster_standby_figures, lag_bytes), 1);
}

static void put_all(struct buf *out, const struct api *api, const struct metrics_collect *m)
{
	put_counters(out, m);
	put_distributions(out, m);
	put_queues(out, m);
	put_quotas(out, m);
	put_alerts(out, m, api->alert_post);
	put_spans(out, api->exporter);
	put_server(out, api, m);
	put_process(out, api);
}

/* --- Of a node: all of its parts --- */

/* On a worker's thread. Nothing where it cannot be read: the next time, maybe. */
static void put_part(struct buf *out, const struct op *op, const struct api *api)
{
	struct metrics_collect m = {.op = *op};
	struct engine_reader *reader;
	struct buf error;

	buf_init(&error, 4096);
	reader = engine_reader_open(api->engine, &error);
	m.op.engine = api->engine;
	m.op.reader = reader;
	if (reader && metrics_collect_kind.read(&m.op, reader->conn) == P_OK)
		put_all(out, api, &m);
	engine_reader_close(reader);
	buf_release(&error);
}

static void put_parts(struct call *call, struct str own)
{
	const struct cluster_node_api *node = call->api->node;
	struct cluster_part parts[CLUSTER_PARTS_MAX];
	size_t count = node->hold(node->ctx, parts);
	struct metrics_text texts[CLUSTER_PARTS_MAX];
	struct buf bufs[CLUSTER_PARTS_MAX];

	for (size_t i = 0; i < count; i++) {
		buf_init(&bufs[i], REPLY_MAX);
		put_part(&bufs[i], call->op, parts[i].api);
		texts[i] = (struct metrics_text){parts[i].shard, buf_str(&bufs[i])};
	}
	metrics_merge(&call->reply, own, texts, count);
	for (size_t i = 0; i < count; i++) {
		buf_release(&bufs[i]);
		node->release(node->ctx, &parts[i]);
	}
}

/* A part's figures take a few questions to the database: a worker asks them. */
static enum problem_code read_own(struct op *op, struct store_conn *c)
{
	return metrics_collect_kind.read(op, c);
}

static const struct op_kind of_node_kind = {
	.name = "metrics_of_node", .size = sizeof(struct metrics_collect), .flags = OP_NO_SPACE | OP_ASIDE,
	.read = read_own,
};

static enum problem_code decode_metrics(struct call *call)
{
	if (call->api->node)
		call->op->kind = &of_node_kind;
	return P_OK;
}

static void encode_metrics(struct call *call)
{
	const struct metrics_collect *m = call_op(call);
	struct buf own;

	call->content_type = "text/plain; version=0.0.4; charset=utf-8";
	if (call->api->node == NULL) {
		put_all(&call->reply, call->api, m);
		return;
	}
	buf_init(&own, REPLY_MAX);
	put_all(&own, call->api, m);
	put_cluster(&own, call->api->node);
	put_parts(call, buf_str(&own));
	buf_release(&own);
}

const struct route metrics_routes[] = {
	{HTTP_GET, "/metrics", &metrics_collect_kind, &describe_metrics, decode_metrics, encode_metrics},
	{0},
};
