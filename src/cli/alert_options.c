#include "cli/alert_options.h"

#include "cli/shared_options.h"

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

const struct option_table alert_table = {"Alerts", alert_options, OPTION_COUNT(alert_options)};

struct serve_alerts alert_options_read(const struct options *o)
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
