/* What answers are made from: the engine, and the parts of the server that calls ask about. */
#ifndef SPINE_API_API_H
#define SPINE_API_API_H

#include "api/clients.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"

struct cluster_node_api;
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
	struct clients *clients;	/* that have called */
	struct held_all *held;		/* requests that last */
	struct sessions *sessions;	/* of people who have signed in */
	const struct cluster_node_api *node;	/* what it is a part of; NULL: the server is no node of a cluster */
	const _Atomic int64_t *lease_until_ns;	/* CLOCK_BOOTTIME: api_may_answer; NULL: for ever */
	atomic_bool is_lost;		/* the spaces are somebody else's by now */
	_Atomic uint64_t refusals;	/* of who had no valid key */
	_Atomic int64_t refusal_told_ms;	/* in the log, last */
	int threads;			/* of HTTP */
	struct engine_reader **readers;	/* one per HTTP thread: api_reader */
};

/* May an answer leave that is not of a commit? A node answers from what it remembers only while its lease lasts. */
static inline bool api_may_answer(const struct api *api)
{
	return api->lease_until_ns == NULL ||
	       (!atomic_load(&api->is_lost) && clock_boot_ns() < atomic_load(api->lease_until_ns));
}

/* The server stops, or the spaces go to another node: what lasts ends. */
bool api_is_ending(const struct api *api);

/* On the HTTP thread of that number: what it reads with, opened when it is wanted first. NULL where that does not work,
 * and then the log says so. */
struct engine_reader *api_reader(struct api *api, int thread);
/* On that thread: it reads no more. */
void api_reader_close(struct api *api, int thread);

#endif
