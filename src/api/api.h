/* What answers are made from: the engine, and the parts of the server that calls ask about. */
#ifndef SPINE_API_API_H
#define SPINE_API_API_H

#include "api/clients.h"
#include "base/log.h"
#include "engine/engine.h"

struct feed;
struct guard;
struct held_all;
struct http_server;
struct mcp;
struct sessions;
struct exporter;
struct webhook;
struct alert_post;

struct api_limits {
	int max_json_depth;
	size_t max_batch;
	int64_t heartbeat_ms;		/* a stream that nothing happens on says so often that it is there */
};

/* main builds it and passes it on; all members are borrowed but the readers. */
struct api {
	struct http_server *http;
	struct engine *engine;
	struct feed *feed;		/* of events */
	struct mcp *mcp;		/* of what comes to /mcp */
	struct exporter *exporter;	/* of spans; NULL: none are exported */
	struct webhook *webhook;
	struct alert_post *alert_post;	/* NULL: alerts are not posted */
	const struct log *log;
	const char *data_dir;
	struct api_limits limits;
	const struct guard *guard;	/* of pages that may call */
	int64_t started_at_ms;
	struct clients clients;		/* that have called */
	struct held_all *held;		/* requests that last */
	struct sessions *sessions;	/* of people who have signed in */
	_Atomic uint64_t refusals;	/* of who had no valid key */
	_Atomic int64_t refusal_told_ms;	/* in the log, last */
	struct engine_reader **readers;	/* one per HTTP thread, opened and closed by that thread */
};

#endif
