/* A node of a cluster: this server among others over one PostgreSQL (../shared/cluster.md). It owns some of the shards,
 * and has a part (part.h) open for each of those that have spaces or were asked for.
 *
 *     control thread   renews the lease each second and sees how everything is; says what is to be opened and closed
 *                      (node_control.c); decisions are made by core/cluster
 *     job threads      open parts and close them (node_jobs.c)
 *     HTTP threads     ask where a shard is (node_place.c)
 *
 * LIFE. node_open before anything is served; node_start; node_leave and node_stop before the HTTP server is stopped, so
 * that what waits can be answered; node_free when it was freed.
 *
 * A lease that ends closes all parts: nothing they remember counts any more. The node goes on by itself when the
 * database is back.
 */
#ifndef SPINE_SERVE_NODE_H
#define SPINE_SERVE_NODE_H

#include "base/buf.h"
#include "serve/part.h"

struct cluster_front;
struct node;

struct node_config {
	const char *address;		/* of the database */
	const char *url;		/* where the other nodes reach this one */
	struct part_shared *shared;	/* borrowed; the node fills in its keyring, clock and gate */
};

/* Is that the address of a database that nodes share, and not of one shard of it? */
bool node_is_address(const char *address);
/* Makes or migrates the schema, joins, and reads the keys. Returns owned; NULL and a sentence in *error. */
struct node *node_open(const struct node_config *config, struct buf *error);
/* The HTTP server is made: makes what answers what is about no space, and the front. */
bool node_make(struct node *n, struct buf *error);
/* Owned by the node; from node_make on. */
struct api *node_own_api(struct node *n);
struct cluster_front *node_front(struct node *n);
void node_start(struct node *n);

/* Gives everything away, for at most so long: the others take over at once. */
void node_leave(struct node *n, int64_t timeout_ms);
/* Ends the threads; the node's row goes, and what waits at other nodes for this one ends. NULL-safe, as the next. */
void node_stop(struct node *n);
/* After http_server_free. */
void node_free(struct node *n);
/* Has the node's own store failed? */
bool node_has_failed(const struct node *n);

#endif
