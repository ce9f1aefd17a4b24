/* Sends spans to a collector of traces, as OTLP over HTTP with JSON. Off unless an endpoint is configured.
 *
 * A thread of its own reads the events behind its position from the store, on a connection of its own, makes spans of
 * them (core/span.h) and posts them, a batch at a time. The writer only wakes it, and pays for no more than that:
 * what is still to be sent is in the store, so a collector that is slow, or gone, holds up nothing and costs no
 * memory. What it cannot be sent within reason is dropped, and counted: a batch that the collector refuses, and what
 * lies further back than EXPORTER_BEHIND_MAX events.
 */
#ifndef SPINE_API_EXPORTER_H
#define SPINE_API_EXPORTER_H

#include "base/buf.h"
#include "base/log.h"

struct exporter;

enum { EXPORTER_BEHIND_MAX = 100000 };

struct exporter_config {
	const char *endpoint;		/* "http://127.0.0.1:4318": /v1/traces is added unless it ends so */
	int64_t interval_ms;		/* how long spans gather before they are sent */
	const char *data_dir;
	const struct log *log;		/* both borrowed */
};

/* Starts with what happens from now on. Returns owned; NULL with a sentence where the endpoint cannot be used. */
struct exporter *exporter_start(const struct exporter_config *config, struct buf *error);
/* On the writer's thread, after a commit. NULL-safe. */
void exporter_wake(struct exporter *x);
/* After the writer has ended: sends what is left, for a moment at most, and frees. NULL-safe. */
void exporter_stop(struct exporter *x);

struct exporter_counts {
	uint64_t exported;		/* spans that the collector took */
	uint64_t dropped;		/* spans that it did not get */
	uint64_t failed_posts;
};

/* Any thread. */
void exporter_counts(struct exporter *x, struct exporter_counts *ret);
/* Where to; borrowed. */
const char *exporter_url(const struct exporter *x);

#endif
