/* The server as a whole: builds every object, runs until told to stop, takes everything down again. */
#ifndef SPINE_SERVE_SERVE_H
#define SPINE_SERVE_SERVE_H

#include "base/log.h"
#include "net/tls.h"
#include "store/records.h"

/* When alerts fire; see core/watch/alerts.h. Shares are in hundredths of a per cent. */
struct serve_alerts {
	const char *webhook;		/* NULL: none */
	const char *window;		/* "1m", "5m", "1h" */
	int64_t min_samples;
	int64_t completeness_low;
	int64_t completeness_critical;
	int64_t failure_rate_warning;
	int64_t failure_rate_critical;
	int64_t latency_p99_ms;
	int64_t pinned_share;
	int64_t low_share;
	int64_t hop_factor;		/* of the usual */
};

struct serve_config {
	const char *listen;		/* "ADDRESS:PORT", IPv6 in brackets; only loopback addresses are accepted */
	struct tls_files tls;		/* what HTTPS is spoken with; cert NULL: plain HTTP */
	const char *data_dir;		/* made if absent, 0700 */
	const char *store;		/* address of the store; NULL: it is in the data directory */
	const char *program;		/* what a person calls this program by, for a shell */
	const char *advertise;		/* where the other nodes of a cluster reach this one; NULL: its own URL */
	int64_t keep_handoffs_ms;	/* of spaces that do not say it themselves; 0: for ever */
	int64_t keep_events_ms;
	int64_t keep_idle_ms;		/* the spaces themselves */
	struct space_quota quota;	/* of spaces that do not say it themselves; 0: none */
	int http_threads;
	enum log_level log_level;
	enum log_format log_format;
	/* that webhooks may be on beside this machine, separated by commas; NULL: none */
	const char *webhook_hosts;
	/* of pages that may call beside those of this machine, separated by commas; NULL: none */
	const char *allow_origins;
	/* the server's own origins beside those of this machine, separated by commas; NULL: none */
	const char *public_urls;
	bool insecure;			/* beyond loopback also without keys and TLS */
	bool strict_origins;		/* those of this machine may not, either, unless they are named */
	bool resets_clock;		/* the server's time begins as the wall clock, whatever was known */
	bool no_sandbox;		/* no fences of its own (sandbox.h) */
	bool quiet;			/* no "what to do next" on standard output */

	int64_t max_connections;
	int64_t max_header_bytes;
	int64_t max_uri_bytes;
	int64_t max_body_bytes;
	int64_t max_body_total_bytes;
	int64_t max_reply_total_bytes;
	int64_t cache_bytes;		/* of rows that are kept in memory */
	int64_t max_json_depth;
	int64_t max_batch;
	int64_t max_queue;		/* writes waiting for the writer; beyond it 503 */
	int64_t header_timeout_ms;
	int64_t body_timeout_ms;
	int64_t idle_timeout_ms;
	int64_t write_timeout_ms;
	int64_t drain_timeout_ms;
	int64_t webhook_timeout_ms;
	int64_t heartbeat_ms;
	const char *ca_file;		/* of authorities that are trusted over https; NULL: the system's */
	const char *otlp_endpoint;	/* of a collector of traces; NULL: no spans are exported */
	int64_t otlp_interval_ms;
	int64_t otlp_behind;		/* events */
	int64_t idempotency_ttl_s;
	int64_t breaker_open_ms;	/* how long a circuit breaker stays open until it lets one through */
	int64_t queue_timeout_ms;	/* how long nobody may take a handoff until it is parked */
	struct serve_alerts alerts;
};

/* Serves until SIGTERM or SIGINT, then drains. SIGHUP has the files of HTTPS read again. Returns the exit code:
 * 0 after a clean drain, 1 when it could not start, 2 when the configuration is wrong and nothing was done (the
 * reason is on standard error), 3 when the store failed while serving. */
int serve_run(const struct serve_config *config);

#endif
