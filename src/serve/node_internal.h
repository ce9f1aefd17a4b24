/* What the files of the node share. Nobody else includes this. */
#ifndef SPINE_SERVE_NODE_INTERNAL_H
#define SPINE_SERVE_NODE_INTERNAL_H

#include "api/http/cluster_front.h"
#include "core/cluster/lease.h"
#include "core/cluster/ownership.h"
#include "core/cluster/shard.h"
#include "serve/db_clock.h"
#include "serve/node.h"
#include "store/cluster.h"

#include <pthread.h>

/* JOBS: parts that are opened or closed at a time. GIVE: that are given away at a time to a node that joins.
 * CLOSE_MS: how long a part that closes waits for its requests; those that take longer find it lost.
 * WAIT_MS: how long a request waits for its shard. RETRY_MS: until a shard that could not be opened is tried again.
 * LEFT: of so many nodes that have left it is known. */
enum {
	NODE_JOBS = 6, NODE_GIVE_MAX = 4, NODE_CLOSE_MS = 2000, NODE_WAIT_MS = 3000, NODE_RETRY_MS = 500,
	NODE_ID_SIZE = 24, NODE_LEFT_MAX = 16,
};

#define NODE_MS_NS INT64_C(1000000)

enum node_shard_state {
	NODE_NONE,			/* no part is open */
	NODE_OPENING,
	NODE_OPEN,
	NODE_CLOSING,			/* and then it may have to be given */
};

/* A part of a shard, with those who use it. */
struct node_part {
	struct node *node;
	struct part *part;
	int shard;
	int64_t opened_ns;		/* CLOCK_BOOTTIME */
	size_t requests;		/* that it has; guarded by the node's lock */
	bool is_given_away;		/* it closes because the shard goes elsewhere, and the node must say so */
	const char *why_lost;		/* for the log; NULL: it is not */
	struct node_part *next;		/* of those that linger */
};

/* A request that waits for its shard; in its arena. */
struct node_waiter {
	struct node_waiter *next;
	struct node *node;
	int thread;
	int64_t until_ns;
	void (*go_on)(void *arg, bool is_open);
	void *arg;
	bool is_open;
};

/* Somebody who has changed keys, and waits until that holds everywhere. */
struct node_spread {
	struct node_spread *next;
	int64_t since_ns;		/* CLOCK_BOOTTIME; it was committed before */
	int64_t version;		/* of the keys, not before it; below 0: no renewal was asked for since */
	void (*then)(void *arg);
	void *arg;
};

struct node_shard {
	enum node_shard_state state;
	struct node_part *part;
	struct node_waiter *waiters;
	int64_t not_before_ns;		/* it could not be opened: tried again then */
	int failures;			/* to open it, one after the other */
	bool is_to_give;		/* closed, and still ours */
	int best;			/* which node of the view should own it; -1: none */
	int owner;			/* which one does; -1: nobody who is in the view */
};

/* How everything was when it was seen last. */
struct node_view {
	struct arena arena;
	struct cluster_view all;
	int64_t asked_ns;
	int me;				/* its place among the nodes; -1: it is not there */
};

struct node_job {
	struct node_job *next;
	int shard;
	struct node_part *part;		/* to be closed; NULL: the shard is to be opened */
	bool is_end;			/* it has lingered, and nobody uses it any more */
};

struct node {
	struct node_config config;
	const struct log *log;
	char id[NODE_ID_SIZE];
	struct part_shared *shared;
	struct cluster_node_api api;
	struct http_pass_files files;
	struct cluster_front *front;
	struct part *own;		/* about no space */
	struct db_clock clock;
	_Atomic int64_t lease_until_ns;	/* when answers from memory must not leave any more */
	_Atomic bool is_unreachable;	/* the database did not answer the last time, or keeps a renewal waiting; the
					 * log says so */
	_Atomic bool is_too_old;	/* for the database; the log says so */

	/* The control thread's own. */
	struct store_cluster *cluster;
	struct store_conn *keys;	/* what keys are read with; NULL: it could not be opened yet */
	int64_t keys_version;
	struct lease lease;
	int64_t standbys_next_ns;	/* when they are asked for again */
	bool is_doubtful, has_twin, lacks_standby, lacks_keys;	/* the log says so */
	char needs[32];			/* is_too_old: which version is old enough for the database */
	bool has_left;
	pthread_t control;
	int wake_fd;

	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t changed;		/* a shard's state, a part's requests, a job */
	struct node_shard shards[SHARDS];
	struct node_view *view;		/* NULL: nothing was seen yet */
	struct node_standbys *standbys;	/* NULL: never asked for */
	char left[NODE_LEFT_MAX][NODE_ID_SIZE];	/* nodes that have left, a ring; "": nobody */
	size_t left_count;
	struct node_part *lingering;	/* given or lost, but still used by requests */
	struct node_job *jobs, **jobs_end;
	struct node_spread *spreads;
	uint64_t losses;		/* grows whenever everything is lost: what was begun before counts no more */
	uint64_t leases_lost;		/* how often the lease passed from held to not held */
	bool has_lost;			/* it is not held since, or was never */
	uint64_t opened;		/* how many parts were */
	bool is_started, is_leaving, is_stopping;
	pthread_t workers[NODE_JOBS];
};

/* Any thread: reads what is committed in the shard, whoever owns it. Returns owned; NULL and a sentence in *error. */
struct store_conn *node_open_to_read(const struct node *n, int shard, struct buf *error);
/* Any thread: the control thread looks at once. */
void node_wake(struct node *n);
/* Any thread: answers from memory may leave now. */
bool node_has_lease(const struct node *n);

/* --- node_control.c --- */

void *node_control_main(void *node);
/* Within a renewal: the database keeps it waiting. */
void node_on_silence(void *node);
/* Before the thread runs: the first renewal. */
bool node_join(struct node *n, struct buf *error);
/* NULL-safe. */
void node_free_view(struct node_view *v);

/* --- node_jobs.c --- */

void *node_jobs_main(void *node);
/* All with the lock held. */
void node_begin_open(struct node *n, int shard);
/* why_lost: somebody else has it, or may have; NULL: it is given away. */
void node_begin_close(struct node *n, int shard, const char *why_lost);
/* The lease is over, or of no use: everything is lost, what is being opened included. May be said again and again. */
void node_lose_all(struct node *n, const char *why);
/* Those who wait go on. */
void node_go_on(struct node *n, struct node_shard *s, bool is_open);
/* What has lingered and is used by nobody any more is ended. */
void node_end_lingering(struct node *n);
/* When no thread runs any more. */
void node_free_parts(struct node *n);

/* --- node_keys.c --- */

/* On the control thread, without the lock: the keys are those of that version, or later ones. False: they cannot be
 * read. *ret_is_new: they were not before. */
bool node_read_keys(struct node *n, int64_t version, bool *ret_is_new);
/* struct engine_spread; any thread. */
void node_spread_keys(void *node, void (*then)(void *arg), void *arg);
/* With the lock held. v: how everything is by now; NULL: not known. */
void node_look_at_spreads(struct node *n, const struct node_view *v);
/* When the control thread has ended: nobody waits any more. */
void node_end_spread(struct node *n);

/* --- node_left.c --- */

/* With the lock held: which nodes have left, between the two; before may be NULL. What they had passed on ends. */
void node_tell_left(struct node *n, const struct node_view *before, const struct node_view *now);
bool node_has_left(void *node, struct str id);

/* --- node_standbys.c --- */

/* On the control thread, without the lock: asks for them, where it is time. */
void node_read_standbys(struct node *n);
/* With the lock held. */
void node_put_standbys(const struct node *n, struct json_writer *w);
void node_count_standbys(const struct node *n, struct cluster_figures *ret);
/* NULL-safe. */
void node_free_standbys(struct node_standbys *s);

/* --- node_place.c --- */

/* With the lock held: should this node have the shard, as far as it knows? */
bool node_is_mine(const struct node *n, int shard);
/* Another node that lives at the same URL; NULL: none does. One that was killed and started anew is none. */
const struct cluster_node_row *node_twin(const struct node_view *v, int place);
void node_find(void *node, int shard, struct http_req *req, void (*go_on)(void *arg, bool is_open), void *arg,
	       struct cluster_place *ret);
size_t node_hold(void *node, struct cluster_part ret[CLUSTER_PARTS_MAX]);
void node_release(void *node, const struct cluster_part *part);
uint64_t node_shards_with_spaces(void *node);
struct store_conn *node_read_shard(void *node, int shard);
const char *node_trouble(void *node);
void node_count(void *node, struct cluster_figures *ret);
void node_put(void *node, struct json_writer *w);

#endif
