/* spine serve: runs the server. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local_server.h"
#include "cli/shared_options.h"
#include "serve/serve.h"

#include <unistd.h>

enum { THREADS_BY_DEFAULT_MAX = 4, SERVE_STORE_FAILED = 3 };

static const char *const level_choices[] = {"debug", "info", "warn", "error", NULL};
static const char *const format_choices[] = {"auto", "text", "json", NULL};

static const struct option serve_options[] = {
	{.name = "listen", .letter = 'l', .arg = "ADDRESS:PORT", .env = "SPINE_LISTEN", .key = "listen",
	 .type = OPTION_TEXT, .fallback = "127.0.0.1:8788",
	 .help = "where to listen: usually on loopback; port 0 takes a free one"},
	{.name = "threads", .arg = "N", .env = "SPINE_THREADS", .key = "threads", .type = OPTION_INT, .fallback = "0",
	 .min = 0, .max = 256, .help = "threads that serve HTTP; 0: one for each core, at most 4"},
	{.name = "log-level", .arg = "LEVEL", .env = "SPINE_LOG_LEVEL", .key = "log_level", .type = OPTION_CHOICE,
	 .fallback = "info", .choices = level_choices, .help = "the least that is logged"},
	{.name = "log-format", .arg = "FORMAT", .env = "SPINE_LOG_FORMAT", .key = "log_format", .type = OPTION_CHOICE,
	 .fallback = "auto", .choices = format_choices,
	 .help = "how it is logged; auto is text on a terminal and JSON otherwise"},
	{.name = "allow-origin", .arg = "URL", .env = "SPINE_ALLOW_ORIGIN", .key = "allow_origin", .type = OPTION_LIST,
	 .help = "an origin whose pages may call, such as https://app.example; may be given several times, and as a "
		 "list with commas. Pages of this machine may call anyway"},
	{.name = "public-url", .arg = "URL", .env = "SPINE_PUBLIC_URL", .key = "public_url", .type = OPTION_LIST,
	 .help = "what the server is called behind a proxy or on a network, such as https://spine.example: Host and "
		 "Origin may then name it; needs keys, or --insecure; may be given several times, and as a list with "
		 "commas"},
	{.name = "insecure", .env = "SPINE_INSECURE", .key = "insecure", .type = OPTION_FLAG,
	 .help = "listen on an address that others can reach also without keys and without TLS, and take a "
		 "--public-url also without keys"},
	{.name = "strict-origins", .env = "SPINE_STRICT_ORIGINS", .key = "strict_origins", .type = OPTION_FLAG,
	 .help = "pages of other programs of this machine may not call, either, unless --allow-origin names them"},
	{.name = "no-sandbox", .env = "SPINE_NO_SANDBOX", .key = "no_sandbox", .type = OPTION_FLAG,
	 .help = "no fences: without it the server gives up, where the kernel has Landlock and seccomp, all files but "
		 "its own and the right to start programs"},
	{.name = "webhook-hosts", .arg = "HOSTS", .env = "SPINE_WEBHOOK_HOSTS", .key = "webhook_hosts",
	 .type = OPTION_TEXT,
	 .help = "hosts that webhooks may be on beside this machine, separated by commas; *.example.com is every host "
		 "below it, * every host"},
	{.name = "ca-file", .arg = "FILE", .env = "SPINE_CA_FILE", .key = "ca_file", .type = OPTION_TEXT,
	 .help = "certificates (PEM) of the authorities that webhooks, the collector of traces and other nodes are "
		 "trusted by over https, instead of those of the system"},
	{.name = "otlp-endpoint", .arg = "URL", .env = "SPINE_OTLP_ENDPOINT", .key = "otlp_endpoint",
	 .type = OPTION_TEXT,
	 .help = "a collector that spans of the handoffs are sent to, as OTLP over HTTP with JSON: "
		 "http://127.0.0.1:4318; none where it is not given"},
	{.name = "otlp-interval", .arg = "TIME", .env = "SPINE_OTLP_INTERVAL", .key = "otlp_interval",
	 .type = OPTION_DURATION, .fallback = "1s", .min = 1, .max = 60 * 1000,
	 .help = "how long spans gather before they are sent"},
	{.name = "otlp-behind", .arg = "EVENTS", .env = "SPINE_OTLP_BEHIND", .key = "otlp_behind", .type = OPTION_INT,
	 .fallback = "100000", .min = 1, .max = 100000000,
	 .help = "how many events the spans may lie behind while the collector takes none; those of older ones are "
		 "dropped, and counted"},
	{.name = "store", .arg = "URL", .env = "SPINE_STORE", .key = "store", .type = OPTION_TEXT,
	 .help = "keep everything in PostgreSQL, postgres://user@host/name, instead of the data directory, which then "
		 "holds only notes of this server; the password comes from PGPASSWORD or a file (~/.pgpass, "
		 "PGPASSFILE)"},
	{.name = "advertise", .arg = "URL", .env = "SPINE_ADVERTISE", .key = "advertise", .type = OPTION_TEXT,
	 .help = "several servers over one PostgreSQL: where the others reach this one; its own URL otherwise"},
	{.name = "reset-clock", .env = "SPINE_RESET_CLOCK", .key = "reset_clock", .type = OPTION_FLAG,
	 .help = "begin with the time of the wall clock, though the server's own time is known to be later: for once, "
		 "after the wall clock was far ahead by mistake"},
	{.name = "quiet", .letter = 'q', .env = "SPINE_QUIET", .key = "quiet", .type = OPTION_FLAG,
	 .help = "do not print what to do next"},
};

static const char *const client_choices[] = {"required", "optional", NULL};

static const struct option tls_options[] = {
	{.name = "tls-cert", .arg = "FILE", .env = "SPINE_TLS_CERT", .key = "tls_cert", .type = OPTION_TEXT,
	 .help = "serve HTTPS with this certificate (PEM, followed by those that lead to its authority); SIGHUP has it "
		 "and its key read again"},
	{.name = "tls-key", .arg = "FILE", .env = "SPINE_TLS_KEY", .key = "tls_key", .type = OPTION_TEXT,
	 .help = "its key (PEM, without a passphrase); refused where every user of the machine can read it"},
	{.name = "tls-client-ca", .arg = "FILE", .env = "SPINE_TLS_CLIENT_CA", .key = "tls_client_ca",
	 .type = OPTION_TEXT,
	 .help = "take only clients that have a certificate of one of these authorities (PEM); nodes of a cluster show "
		 "each other that of --tls-cert"},
	{.name = "tls-client", .arg = "HOW", .env = "SPINE_TLS_CLIENT", .key = "tls_client", .type = OPTION_CHOICE,
	 .fallback = "required", .choices = client_choices,
	 .help = "whether a client may also come without a certificate; needs --tls-client-ca"},
};

static const struct option_table tls_table = {"HTTPS", tls_options, OPTION_COUNT(tls_options)};

static struct tls_files tls_options_read(const struct options *o)
{
	return (struct tls_files){
		.cert = options_text(o, "tls-cert"),
		.key = options_text(o, "tls-key"),
		.client_ca = options_text(o, "tls-client-ca"),
		.client_required = strcmp(options_text(o, "tls-client"), "required") == 0,
	};
}

static const struct option_table serve_table = {"Serving", serve_options, OPTION_COUNT(serve_options)};

#define MINUTE_MS 60000
#define DAY_MS 86400000
#define MIB (1 << 20)

#define QUOTA(option, variable, setting, text) \
	{.name = option, .arg = "N", .env = variable, .key = setting, .type = OPTION_INT, .fallback = "0", \
	 .max = (INT64_C(1) << 53) - 1, \
	 .help = "how many " text ", where the space does not say it itself; 0: any number"}

static const struct option limit_options[] = {
	{.name = "max-connections", .arg = "N", .env = "SPINE_MAX_CONNECTIONS", .key = "max_connections",
	 .type = OPTION_INT, .fallback = "15000", .min = 1, .max = 1000000,
	 .help = "connections at a time; beyond it 503"},
	{.name = "max-header", .arg = "SIZE", .env = "SPINE_MAX_HEADER", .key = "max_header", .type = OPTION_SIZE,
	 .fallback = "36k", .min = 1024, .max = 16 * MIB, .help = "head of a request; beyond it 431"},
	{.name = "max-uri", .arg = "SIZE", .env = "SPINE_MAX_URI", .key = "max_uri", .type = OPTION_SIZE,
	 .fallback = "32k", .min = 256, .max = 16 * MIB,
	 .help = "address of a request, a part of its head; beyond it 414"},
	{.name = "max-body", .arg = "SIZE", .env = "SPINE_MAX_BODY", .key = "max_body", .type = OPTION_SIZE,
	 .fallback = "8m", .min = 1024, .max = 1024 * MIB, .help = "body of a request; beyond it 413"},
	{.name = "max-body-total", .arg = "SIZE", .env = "SPINE_MAX_BODY_TOTAL", .key = "max_body_total",
	 .type = OPTION_SIZE, .fallback = "256m", .min = 1024, .max = 1024LL * 1024 * MIB,
	 .help = "bodies of all requests being received together; beyond it 503"},
	{.name = "max-reply-total", .arg = "SIZE", .env = "SPINE_MAX_REPLY_TOTAL", .key = "max_reply_total",
	 .type = OPTION_SIZE, .fallback = "256m", .min = MIB, .max = 1024LL * 1024 * MIB,
	 .help = "answers that clients have not read yet, together; a large one beyond it is 503"},
	{.name = "cache", .arg = "SIZE", .env = "SPINE_CACHE", .key = "cache", .type = OPTION_SIZE, .fallback = "128m",
	 .min = 0, .max = 1024LL * 1024 * MIB, .help = "rows of the store kept in memory; 0: none"},
	{.name = "max-json-depth", .arg = "N", .env = "SPINE_MAX_JSON_DEPTH", .key = "max_json_depth",
	 .type = OPTION_INT, .fallback = "64", .min = 4, .max = 1000, .help = "depth of the JSON of a request"},
	{.name = "max-batch", .arg = "N", .env = "SPINE_MAX_BATCH", .key = "max_batch", .type = OPTION_INT,
	 .fallback = "1000", .min = 1, .max = 100000, .help = "memories stored by one request"},
	{.name = "max-queue", .arg = "N", .env = "SPINE_MAX_QUEUE", .key = "max_queue", .type = OPTION_INT,
	 .fallback = "10000", .min = 1, .max = 1000000, .help = "writes waiting for the disk; beyond it 503"},
	{.name = "header-timeout", .arg = "TIME", .env = "SPINE_HEADER_TIMEOUT", .key = "header_timeout",
	 .type = OPTION_DURATION, .fallback = "10s", .min = 1, .max = DAY_MS,
	 .help = "for the head of a request, and for a TLS handshake, to arrive; afterwards 408"},
	{.name = "body-timeout", .arg = "TIME", .env = "SPINE_BODY_TIMEOUT", .key = "body_timeout",
	 .type = OPTION_DURATION, .fallback = "30s", .min = 1, .max = DAY_MS,
	 .help = "for the body of a request to arrive; afterwards 408"},
	{.name = "idle-timeout", .arg = "TIME", .env = "SPINE_IDLE_TIMEOUT", .key = "idle_timeout",
	 .type = OPTION_DURATION, .fallback = "75s", .min = 1, .max = DAY_MS,
	 .help = "how long a connection without a request is kept"},
	{.name = "write-timeout", .arg = "TIME", .env = "SPINE_WRITE_TIMEOUT", .key = "write_timeout",
	 .type = OPTION_DURATION, .fallback = "30s", .min = 1, .max = DAY_MS,
	 .help = "for an answer to be taken by the client"},
	{.name = "heartbeat", .arg = "TIME", .env = "SPINE_HEARTBEAT", .key = "heartbeat", .type = OPTION_DURATION,
	 .fallback = "15s", .min = 10, .max = 10 * MINUTE_MS,
	 .help = "how often a stream of events that nothing happens on says that it is there; less than what proxies "
		 "in between wait for"},
	{.name = "drain-timeout", .arg = "TIME", .env = "SPINE_DRAIN_TIMEOUT", .key = "drain_timeout",
	 .type = OPTION_DURATION, .fallback = "10s", .min = 1, .max = 60 * MINUTE_MS,
	 .help = "for the requests in progress to be answered after SIGTERM"},
	{.name = "webhook-timeout", .arg = "TIME", .env = "SPINE_WEBHOOK_TIMEOUT", .key = "webhook_timeout",
	 .type = OPTION_DURATION, .fallback = "30s", .min = 1, .max = 60 * MINUTE_MS,
	 .help = "for a webhook to answer; afterwards the attempt has failed"},
	{.name = "idempotency-ttl", .arg = "TIME", .env = "SPINE_IDEMPOTENCY_TTL", .key = "idempotency_ttl",
	 .type = OPTION_DURATION, .fallback = "24h", .min = 1000, .max = 365LL * DAY_MS,
	 .help = "how long the answer to an Idempotency-Key is kept"},
	{.name = "queue-timeout", .arg = "TIME", .env = "SPINE_QUEUE_TIMEOUT", .key = "queue_timeout",
	 .type = OPTION_DURATION, .fallback = "24h", .min = 1, .max = 366LL * DAY_MS,
	 .help = "how long nobody may take a handoff from its queue until it is parked, where neither its sender nor "
		 "its agent says"},
	{.name = "breaker-reset", .arg = "TIME", .env = "SPINE_BREAKER_RESET", .key = "breaker_reset",
	 .type = OPTION_DURATION, .fallback = "60s", .min = 1, .max = DAY_MS,
	 .help = "how long the circuit breaker of an agent holds its work until it lets one handoff through"},
	QUOTA("quota-memories", "SPINE_QUOTA_MEMORIES", "quota_memories", "memories each space may have"),
	QUOTA("quota-bytes", "SPINE_QUOTA_BYTES", "quota_bytes",
	      "bytes the memories and envelopes of each space may have"),
	QUOTA("quota-handoffs", "SPINE_QUOTA_HANDOFFS", "quota_handoffs",
	      "handoffs may be sent in a minute in each space"),
	QUOTA("quota-waiting", "SPINE_QUOTA_WAITING", "quota_waiting", "receivers may wait at a time in each space"),
	QUOTA("quota-agents", "SPINE_QUOTA_AGENTS", "quota_agents", "agents each space may know"),
};

static const struct option keep_options[] = {
	{.name = "keep", .arg = "TIME", .env = "SPINE_KEEP", .key = "keep", .type = OPTION_DURATION, .fallback = "0s",
	 .min = 0, .max = 36600LL * DAY_MS,
	 .help = "how long spaces that do not say it themselves keep ended handoffs (with their envelopes and results) "
		 "and events, such as 90d; 0: for ever"},
	{.name = "keep-handoffs", .arg = "TIME", .env = "SPINE_KEEP_HANDOFFS", .key = "keep_handoffs",
	 .type = OPTION_DURATION, .min = 0, .max = 36600LL * DAY_MS, .help = "the same for ended handoffs alone"},
	{.name = "keep-events", .arg = "TIME", .env = "SPINE_KEEP_EVENTS", .key = "keep_events",
	 .type = OPTION_DURATION, .min = 0, .max = 36600LL * DAY_MS, .help = "the same for events alone"},
	{.name = "keep-idle", .arg = "TIME", .env = "SPINE_KEEP_IDLE", .key = "keep_idle", .type = OPTION_DURATION,
	 .fallback = "0s", .min = 0, .max = 36600LL * DAY_MS,
	 .help = "how long spaces that do not say it themselves are kept when nothing is written in them, such as "
		 "365d; then they are deleted with everything in them; 0: for ever"},
};

static const struct option_table keep_table = {"Keeping", keep_options, OPTION_COUNT(keep_options)};

/* What is not said of one kind is what is said of all. */
static int64_t keep_ms(const struct options *o, const char *name)
{
	const struct option_value *value = options_value(o, name);

	return value && value->source != OPTION_UNSET ? value->number : options_int(o, "keep");
}

static const struct option_table limit_table = {"Limits", limit_options, OPTION_COUNT(limit_options)};

static const char *const window_choices[] = {"1m", "5m", "1h", NULL};

static const struct option alert_options[] = {
	{.name = "alert-webhook", .arg = "URL", .env = "SPINE_ALERT_WEBHOOK", .key = "alert_webhook",
	 .type = OPTION_TEXT,
	 .help = "where alerts are posted to, in the format of Alertmanager's webhook receiver; on this machine, or "
		 "on a host of --webhook-hosts"},
	{.name = "alert-window", .arg = "WINDOW", .env = "SPINE_ALERT_WINDOW", .key = "alert_window",
	 .type = OPTION_CHOICE, .fallback = "5m", .choices = window_choices,
	 .help = "how far back the figures go that alerts are judged by"},
	{.name = "alert-min-samples", .arg = "N", .env = "SPINE_ALERT_MIN_SAMPLES", .key = "alert_min_samples",
	 .type = OPTION_INT, .fallback = "20", .min = 1, .max = 1000000,
	 .help = "handoffs or envelopes of the window from which on rates, means and percentiles are judged"},
	{.name = "alert-completeness", .arg = "PERCENT", .env = "SPINE_ALERT_COMPLETENESS", .key = "alert_completeness",
	 .type = OPTION_PERCENT, .fallback = "95%", .min = 0, .max = 10000,
	 .help = "completeness_low fires below it, for an agent"},
	{.name = "alert-completeness-critical", .arg = "PERCENT", .env = "SPINE_ALERT_COMPLETENESS_CRITICAL",
	 .key = "alert_completeness_critical", .type = OPTION_PERCENT, .fallback = "80%", .min = 0, .max = 10000,
	 .help = "completeness_critical fires below it, over all handoffs of a space"},
	{.name = "alert-failure-rate", .arg = "PERCENT", .env = "SPINE_ALERT_FAILURE_RATE", .key = "alert_failure_rate",
	 .type = OPTION_PERCENT, .fallback = "0.5%", .min = 0, .max = 10000,
	 .help = "failure_rate_high fires above it, as a warning"},
	{.name = "alert-failure-rate-critical", .arg = "PERCENT", .env = "SPINE_ALERT_FAILURE_RATE_CRITICAL",
	 .key = "alert_failure_rate_critical", .type = OPTION_PERCENT, .fallback = "2%", .min = 0, .max = 10000,
	 .help = "failure_rate_high is critical above it"},
	{.name = "alert-latency", .arg = "TIME", .env = "SPINE_ALERT_LATENCY", .key = "alert_latency",
	 .type = OPTION_DURATION, .fallback = "15s", .min = 1, .max = 86400000,
	 .help = "latency_high fires where the 99th percentile from initiating to ack is above it"},
	{.name = "alert-pinned", .arg = "PERCENT", .env = "SPINE_ALERT_PINNED", .key = "alert_pinned",
	 .type = OPTION_PERCENT, .fallback = "50%", .min = 0, .max = 10000,
	 .help = "utilization_pinned fires where more of the envelopes use all of their budget"},
	{.name = "alert-low", .arg = "PERCENT", .env = "SPINE_ALERT_LOW", .key = "alert_low", .type = OPTION_PERCENT,
	 .fallback = "90%", .min = 0, .max = 10000,
	 .help = "utilization_low fires where more of the envelopes use less than 30% of their budget"},
	{.name = "alert-hops", .arg = "PERCENT", .env = "SPINE_ALERT_HOPS", .key = "alert_hops", .type = OPTION_PERCENT,
	 .fallback = "150%", .min = 10000, .max = 1000000,
	 .help = "hop_depth_high fires where the mean hop is above so much of the usual, and one hop above it at "
		 "least"},
};

static const struct option_table alert_table = {"Alerts", alert_options, OPTION_COUNT(alert_options)};

static struct serve_alerts alert_options_read(const struct options *o)
{
	return (struct serve_alerts){
		.webhook = options_text(o, "alert-webhook"),
		.window = options_text(o, "alert-window"),
		.min_samples = options_int(o, "alert-min-samples"),
		.completeness_low = options_int(o, "alert-completeness"),
		.completeness_critical = options_int(o, "alert-completeness-critical"),
		.failure_rate_warning = options_int(o, "alert-failure-rate"),
		.failure_rate_critical = options_int(o, "alert-failure-rate-critical"),
		.latency_p99_ms = options_int(o, "alert-latency"),
		.pinned_share = options_int(o, "alert-pinned"),
		.low_share = options_int(o, "alert-low"),
		.hop_factor = options_int(o, "alert-hops"),
	};
}

static int thread_count(int64_t wanted)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (wanted > 0)
		return (int)wanted;
	return cores < 1 ? 1 : cores > THREADS_BY_DEFAULT_MAX ? THREADS_BY_DEFAULT_MAX : (int)cores;
}

static enum log_format format_of(const char *name)
{
	return strcmp(name, "json") == 0 ? LOG_JSON : strcmp(name, "text") == 0 ? LOG_TEXT : LOG_AUTO;
}

/* The usual reason why a server does not start is that one runs already. */
static void say_where_the_other_is(const struct cli *cli, const char *data_dir)
{
	const char *url = local_server_url(cli->arena, data_dir);

	if (url)
		cli_note(cli, "It %s", local_server_hint(cli->arena, url));
}

/* "A,B" of --allow-origin A --allow-origin B; NULL where there is none. */
static const char *joined(struct cli *cli, const char *name)
{
	const struct option_value *v = options_value(&cli->options, name);
	struct buf all;
	const char *text;

	if (v->list_count == 0)
		return NULL;
	buf_init(&all, SIZE_MAX / 2);
	for (size_t i = 0; i < v->list_count; i++)
		buf_printf(&all, "%s%s", i ? "," : "", v->list[i]);
	text = arena_cstr(cli->arena, buf_str(&all));
	buf_release(&all);
	return text;
}

static int exec_serve(struct cli *cli)
{
	const struct options *o = &cli->options;
	struct serve_config config = {
		.listen = options_text(o, "listen"),
		.data_dir = options_text(o, "data"),
		.store = options_text(o, "store"),
		.program = cli_called(cli),
		.advertise = options_text(o, "advertise"),
		.tls = tls_options_read(o),
		.keep_handoffs_ms = keep_ms(o, "keep-handoffs"),
		.keep_events_ms = keep_ms(o, "keep-events"),
		.keep_idle_ms = options_int(o, "keep-idle"),
		.http_threads = thread_count(options_int(o, "threads")),
		.log_level = LOG_INFO,
		.log_format = format_of(options_text(o, "log-format")),
		.webhook_hosts = options_text(o, "webhook-hosts"),
		.allow_origins = joined(cli, "allow-origin"),
		.public_urls = joined(cli, "public-url"), .insecure = options_flag(o, "insecure"),
		.strict_origins = options_flag(o, "strict-origins"),
		.no_sandbox = options_flag(o, "no-sandbox"), .quiet = options_flag(o, "quiet"),
		.resets_clock = options_flag(o, "reset-clock"),
		.max_connections = options_int(o, "max-connections"),
		.max_header_bytes = options_int(o, "max-header"),
		.max_uri_bytes = options_int(o, "max-uri"),
		.max_body_bytes = options_int(o, "max-body"),
		.max_body_total_bytes = options_int(o, "max-body-total"),
		.max_reply_total_bytes = options_int(o, "max-reply-total"),
		.cache_bytes = options_int(o, "cache"),
		.max_json_depth = options_int(o, "max-json-depth"),
		.max_batch = options_int(o, "max-batch"),
		.max_queue = options_int(o, "max-queue"),
		.header_timeout_ms = options_int(o, "header-timeout"),
		.body_timeout_ms = options_int(o, "body-timeout"),
		.idle_timeout_ms = options_int(o, "idle-timeout"),
		.write_timeout_ms = options_int(o, "write-timeout"),
		.drain_timeout_ms = options_int(o, "drain-timeout"),
		.webhook_timeout_ms = options_int(o, "webhook-timeout"),
		.otlp_endpoint = options_text(o, "otlp-endpoint"),
		.otlp_interval_ms = options_int(o, "otlp-interval"),
		.otlp_behind = options_int(o, "otlp-behind"),
		.ca_file = options_text(o, "ca-file"),
		.heartbeat_ms = options_int(o, "heartbeat"),
		.idempotency_ttl_s = options_int(o, "idempotency-ttl") / 1000,
		.queue_timeout_ms = options_int(o, "queue-timeout"),
		.breaker_open_ms = options_int(o, "breaker-reset"),
		.quota = {options_int(o, "quota-memories"), options_int(o, "quota-bytes"),
			  options_int(o, "quota-handoffs"), options_int(o, "quota-waiting"),
			  options_int(o, "quota-agents")},
		.alerts = alert_options_read(o),
	};
	int code;

	log_level_parse(str_of(options_text(o, "log-level")), &config.log_level);
	if (config.max_body_total_bytes < config.max_body_bytes)
		return cli_usage(cli, "--max-body-total is smaller than --max-body: the largest request could never "
				 "be received");
	if (options_value(o, "tls-client")->source > OPTION_FROM_DEFAULT && config.tls.client_ca == NULL)
		return cli_usage(cli, "--tls-client says what of certificates of clients, and --tls-client-ca is "
				 "missing, so none would be asked for: name the file of their authorities "
				 "(--tls-client-ca FILE), or leave --tls-client out");
	mem_tune();
	code = serve_run(&config);
	if (code == CLI_FAILED)
		say_where_the_other_is(cli, config.data_dir);
	return code == SERVE_STORE_FAILED ? CLI_DAMAGED : code;
}

const struct command cmd_serve = {
	.name = "serve",
	.summary = "Runs the server until SIGTERM or Ctrl-C",
	.usage = "",
	.about = "Everything is kept in the data directory, which is made where it does not exist. Only one server "
		 "can run on it. On SIGTERM no new work is taken, what was accepted is finished and answered, and the "
		 "exit code is 0.\n\n"
		 "Without keys whoever can connect may read and change everything, and only loopback addresses are "
		 "served; spine key makes them. Another address needs keys and TLS, or --insecure.",
	.examples = {
		"spine serve",
		"spine serve --listen 127.0.0.1:0 --data ./spine-data",
		"SPINE_MAX_BODY=32m spine serve --log-format json",
		"spine serve --tls-cert server.pem --tls-key server.key",
	},
	.tables = {&serve_table, &tls_table, &data_table, &keep_table, &limit_table, &alert_table},
	.exec = exec_serve,
};
