/* Sends spans to a collector of traces, as OTLP over HTTP with JSON. Off unless an endpoint is configured.
 *
 * A follower (follower.h). It reads the events behind its cursor from the store, makes spans of them
 * (core/watch/span.h) and posts them, a batch at a time. The writer only wakes it, and pays for no more than that: what
 * is still to be sent is in the store, so a collector that is slow, or gone, holds up nothing and costs no memory. What
 * it cannot be sent within reason is dropped, and counted by reason.
 *
 * The cursor is in memory only. A server that stops sends what is left, for two seconds at most, and counts the rest as
 * dropped; one that is killed loses the spans of its last seconds. The next one begins with what happens then.
 */
#ifndef SPINE_OUTBOUND_EXPORTER_H
#define SPINE_OUTBOUND_EXPORTER_H

#include "engine/retention.h"
#include "base/log.h"
#include "outbound/follower.h"

struct exporter;

/* Why a span was dropped; reason, its name on the wire. */
#define EXPORTER_DROPS(X) \
	X(REFUSED, "refused")		/* the collector answered that it does not take the batch */ \
	X(REJECTED, "rejected")		/* it took the batch but for some of its spans */ \
	X(BEHIND, "behind")		/* it lay further back than it may, before the collector would take it */ \
	X(STOPPED, "stopped")		/* the server stopped, and the collector did not take it in time */

enum exporter_drop {
#define EXPORTER_DROP(reason, name) EXPORTER_##reason,
	EXPORTER_DROPS(EXPORTER_DROP)
#undef EXPORTER_DROP
	EXPORTER_DROP_COUNT
};

/* All borrowed. */
struct exporter_config {
	struct followers *followers;
	const struct log *log;
	const char *endpoint;		/* "http://127.0.0.1:4318": /v1/traces is added unless it ends so */
	int64_t interval_ms;		/* how long spans gather before they are sent */
	int64_t behind_max;		/* events; what lies further back is not sent any more */
	struct retention_hold *hold;	/* is told how far it is; may be NULL */
};

/* False with a sentence where spans cannot be sent there, whatever listens. */
bool exporter_endpoint_is_valid(const char *endpoint, struct buf *error);
/* Sends what happens from now on, when the followers run. Returns owned; NULL with a sentence where the endpoint cannot
 * be used, or the store cannot be read. */
struct exporter *exporter_new(const struct exporter_config *config, struct buf *error);
/* After a commit. Any thread. NULL-safe. */
void exporter_wake(struct exporter *x);
/* After the writer has ended: sends what is left, for two seconds at most, and frees. NULL-safe. */
void exporter_stop(struct exporter *x);

struct exporter_counts {
	uint64_t exported;		/* spans that the collector took */
	uint64_t dropped;		/* spans that it did not get, for whichever reason */
	uint64_t dropped_by[EXPORTER_DROP_COUNT];
	uint64_t failed_posts;
};

/* Any thread. NULL-safe: nothing is exported. */
void exporter_counts(struct exporter *x, struct exporter_counts *ret);
const char *exporter_drop_name(enum exporter_drop reason);

#endif
