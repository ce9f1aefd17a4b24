/* A part of the server: one engine with the spaces of its store, the api that answers from it, and those who follow
 * what it commits. The embedded server has one; a node of a cluster has one for each shard that it has opened, and one
 * for what is about no space.
 *
 * LIFE. part_open, part_make, part_start; then part_drain, part_stop, part_free. What several parts share (the HTTP
 * server, keys, sessions, the clock) is not the part's.
 *
 * One that goes while the server runs: nothing leads a new request to it any more; part_drain, part_end_held; when no
 * request has it, part_stop, part_leave_threads, part_free.
 */
#ifndef SPINE_SERVE_PART_H
#define SPINE_SERVE_PART_H

#include "api/api.h"
#include "engine/retention.h"
#include "outbound/follower.h"
#include "serve/serve.h"

/* The time of a part. */
struct part_clock {
	int64_t (*now_ms)(void *ctx);
	void (*begin)(void *ctx, int64_t newest_ms);	/* NULL: it goes already */
	int64_t (*offset_ms)(void *ctx);
	void (*committed)(void *ctx);	/* after each commit, on the writer's thread; may be NULL */
	void *ctx;
};

/* What all parts of a server have in common. Borrowed. */
struct part_shared {
	const struct serve_config *config;
	const struct log *log;
	struct part_clock clock;
	struct keyring *keyring;	/* NULL: the part has its own */
	struct engine_spread spread;	/* of keys, to other servers */
	struct http_server *http;	/* set before part_make */
	const struct guard *guard;
	struct sessions *sessions;
	struct clients *clients;
	int64_t started_at_ms;		/* when the server began; 0: when its part was opened */
	const char *data_dir;		/* whole */
	const char *url;		/* of the server */
	size_t cache_bytes;		/* of rows, for each part */
	const struct cluster_node_api *node;	/* NULL: the embedded server */
	const _Atomic int64_t *lease_until_ns;	/* see api.h */
};

struct part {
	const struct part_shared *shared;
	char *address;			/* of its store */
	struct api api;
	struct followers *followers;
	struct retention_hold exporter_hold;
	struct listener listener;
	bool is_started;
};

/* Opens the engine, and no more. Borrows shared. Returns owned; NULL and a sentence in *error. */
struct part *part_open(const struct part_shared *shared, const char *address, struct buf *error);
/* Makes what answers and follows. On failure the part is to be freed. */
bool part_make(struct part *p, struct buf *error);
void part_start(struct part *p);

/* No operation waits any more. */
void part_drain(struct part *p);
/* Posts to webhooks that are under way may end, for so long. */
void part_drain_posts(struct part *p, int64_t timeout_ms);
/* Does what was accepted, then ends the threads: no request may submit anything from here on. NULL-safe. */
void part_stop(struct part *p);
/* After the HTTP threads have left it. NULL-safe. */
void part_free(struct part *p);

/* --- While the server runs --- */

/* Who waits at it is answered, and its streams end. From any thread, after part_drain. */
void part_end_held(struct part *p);
/* Waits until no HTTP thread is in it, and takes away what they read with. Not on an HTTP thread. */
void part_leave_threads(struct part *p);

#endif
