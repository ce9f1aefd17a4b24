#include "core/watch/alert_url.h"

#include "base/buf.h"
#include "core/watch/alerts.h"

/* The page where it is mended, by what it tells of. */
static const char *const pages[ALERT_KIND_COUNT] = {
	[ALERT_HANDOFF_FAILED] = "parked",
	[ALERT_CONSECUTIVE_FAILURES] = "agents",
	[ALERT_COMPLETENESS_LOW] = "agents",
	[ALERT_FAILURE_RATE_HIGH] = "parked",
	[ALERT_BREAKER_OPEN] = "agents",
	[ALERT_COMPLETENESS_CRITICAL] = "overview",
	[ALERT_LATENCY_HIGH] = "agents",
	[ALERT_UTILIZATION_PINNED] = "agents",
	[ALERT_UTILIZATION_LOW] = "agents",
	[ALERT_HOP_DEPTH_HIGH] = "tasks",
	[ALERT_HANDOFFS_PARKED] = "parked",
	[ALERT_QUEUE_STUCK] = "queues",
	[ALERT_ENVELOPE_REFUSED] = "tasks",
	[ALERT_CONSTRAINT_WAIVED] = "tasks",
	[ALERT_STORE_DAMAGED] = "alerts",
	[ALERT_QUOTA_NEAR] = "overview",
};

/* A name, as it may stand in a piece of an address or in its query (RFC 3986). */
static void put_name(struct buf *out, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
				c == '-' || c == '_' || c == '.' || c == '~';

		if (is_plain)
			buf_putc(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

struct str alert_url(const struct alert_row *alert, struct str space_name, struct arena *arena)
{
	enum { URL_MAX = 4096 };	/* both names may be 128 bytes, each of them escaped */
	enum alert_kind kind;
	struct buf out;
	struct str copy;

	buf_init(&out, URL_MAX);
	buf_puts(&out, "/#/");
	put_name(&out, space_name);
	/* Of a name that this version does not know, what it is about. */
	buf_printf(&out, "/%s", alert_kind_find(alert->name, &kind) ? pages[kind] : "alerts");
	if (alert->agent.p) {
		buf_puts(&out, "?agent=");
		put_name(&out, alert->agent);
	}
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}
