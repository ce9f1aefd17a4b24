/* What the files of the cluster share. */
#ifndef SPINE_TESTS_SIM_CLUSTER_INTERNAL_H
#define SPINE_TESTS_SIM_CLUSTER_INTERNAL_H

#include "base/heap.h"
#include "cluster.h"
#include "core/cluster/lease.h"
#include "core/cluster/ownership.h"
#include "host_internal.h"
#include "pause.h"
#include "store/ram/ram_database.h"

enum {
	CLUSTER_NODES = 4,
	CLUSTER_SHARDS = 3,
	IDLE_MS = 2000,			/* the database ends a transaction that waits longer for its client */
	SERVED_WITHIN_MS = 15000,
};

enum cluster_errand_kind {
	AT_NODE_RENEWS,			/* it asks the database, or finds out that it cannot */
	AT_RENEWAL_ARRIVES,
	AT_RENEWAL_ANSWERED,
	AT_NODE_GOES_ON,		/* behind a pause */
	AT_NODE_STARTS,
	AT_NODE_DIES,
	AT_NODE_REACHES,		/* the database again */
	AT_IDLE,			/* the database looks at the transaction of a node that is paused */
	AT_FAULT,
	AT_CALL_ENTERS,
	AT_CALL_PASSED,			/* it is at the owner, as the entry knows it */
	AT_CALL_ENDS,			/* the answer is there, or nobody will answer */
	AT_CALL_GIVEN_UP,
	AT_NUDGE,			/* somebody has waited long enough, or has gone */
	AT_PROBE,
};

struct node;
struct shard;
struct part;

struct cluster_errand {
	int64_t at_ms;
	uint64_t seq;
	size_t pos;
	enum cluster_errand_kind kind;
	struct node *node;			/* NULL: of none */
	uint64_t life;				/* of the node: an older one's is dropped; 0: any */
	void *what;				/* a call, a request, a renewal */
	uint64_t serial;			/* NUDGE: of the request; IDLE: of the pause */
	bool flag;				/* NUDGE: has gone; CALL_ENDS: is known */
	struct cluster_errand *next_free;
};

/* What a renewal brings back. */
struct view {
	struct ram_node nodes[RAM_NODES];
	size_t node_count;
	char owners[CLUSTER_SHARDS][RAM_NODE_NAME];
	int64_t db_now_ms;
};

struct renewal {
	char node[RAM_NODE_NAME];
	bool is_leaving;
	int64_t asked_boot_ms, asked_wall_ms;
	struct view view;
};

/* A node's engine of a shard. */
struct part {
	struct node *node;
	struct shard *shard;
	char address[128 + RAM_NODE_NAME];
	struct engine *engine;			/* NULL: it has none */
	struct engine_reader *reader;
	struct listener listener;
	struct list requests;			/* that the engine has */
	struct post *posts;
	size_t post_count, post_cap;
	int64_t now_ms;				/* by the node's clock; never goes back */
	int64_t tick_at_ms;			/* 0: never */
	bool is_dormant;			/* lost, and kept on purpose: CLUSTER_KEEPS_CACHES */
};

struct node {
	struct cluster *cluster;
	int index;
	uint64_t life;				/* each start is another one */
	char name[RAM_NODE_NAME];
	bool is_up, is_leaving, is_cut;
	int64_t paused_until_ms;		/* 0: it is not */
	/* Its clocks. Since then the monotonic one has run so many millionths too fast. */
	int64_t since_ms, boot_base_ms, ppm;
	int64_t wall_off_ms, offset_ms;		/* of the wall clock from the other; of the database from it */
	struct lease lease;
	bool is_doubtful;			/* it does not know the time */
	struct view view;
	struct part parts[CLUSTER_SHARDS];
	/* The batch that is stopped in its middle. */
	struct pause pause;
	struct part *stuck;			/* NULL: none is */
	unsigned pause_in;			/* so many verbs; 0: not in this batch */
	uint64_t pauses;
	bool pauses_at_settling, breaks_kept;
};

struct shard {
	struct cluster *cluster;
	int index, number;			/* number: of the database */
	struct world *world;
	struct host *host;
	char address[128];
	struct str spaces[2];
	struct host_cluster host_cluster;
	/* The truth. */
	struct part *taker;			/* who has taken it last; NULL: it was given back */
	uint64_t taker_life;
	struct part *at_hand;
	int64_t served_ms;			/* first behind the last fault; 0: not yet */
};

struct call {
	struct shard *shard;
	struct request *asked;			/* the client's; NULL: it has given up, or is a probe */
	struct request *served;			/* the owner's; NULL: it is with none */
	struct node *node;			/* that serves it */
	struct call *next_free;
	bool is_probe, is_over;
	int under_way;				/* errands that know it */
};

struct cluster {
	struct trace *trace;
	struct tally *tally;
	struct arena arena;			/* of the run */
	struct ram_database *db;
	char name[64];
	uint64_t random;
	int64_t now_ms, newest_ms;		/* newest: that any node believed */
	enum cluster_broken broken;
	struct heap errands;
	struct cluster_errand *free_errands;
	struct call *free_calls;
	uint64_t seq;
	struct node nodes[CLUSTER_NODES];
	size_t node_count;
	struct shard shards[CLUSTER_SHARDS];
	size_t shard_count;
	unsigned scale;				/* of the faults; 0: none */
	bool is_calm;
	bool loses_at_end;			/* a node whose lease is over closes its engines at once */
	int64_t away_until_ms;			/* the database */
	int64_t apart_until_ms;			/* the nodes do not reach each other */
	int64_t last_fault_ms;
	struct space_keep keep;
	bool has_failed;
	struct log log;
};

/* cluster.c */

/* Node NULL: whatever becomes of the nodes. */
struct cluster_errand *cluster_later(struct cluster *c, int64_t after_ms, enum cluster_errand_kind kind,
				     struct node *node, void *what);
void cluster_note(struct cluster *c, struct shard *s, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* True in so many of a thousand cases, and never in the calm. */
bool cluster_fails(struct cluster *c, unsigned permille);

/* cluster_faults.c */

void faults_begin(struct cluster *c);
void faults_next(struct cluster *c);
/* From now on nothing goes wrong; what is wrong ends soon. */
void faults_end(struct cluster *c);
/* There is none any more, and somebody is awake: whoever is dead or paused may stay so for a while. */
bool faults_are_over(const struct cluster *c);
/* The node stops for so long, wherever it is. */
void faults_pause(struct node *n, int64_t for_ms);

/* cluster_node.c */

void node_init(struct cluster *c, int index);
void node_start(struct node *n);
/* Its process is gone. */
void node_die(struct node *n);
void node_end(struct node *n);
void node_go_on(struct node *n);
void node_set_cut(struct node *n, bool is_cut);
bool node_is_awake(const struct node *n);
bool node_reaches(const struct node *n);
int64_t node_boot_ms(const struct node *n);
/* The database's time, as the node believes. */
int64_t node_time_ms(const struct node *n);
void node_renews(struct node *n);
void node_renewal_arrives(struct cluster *c, struct node *n, uint64_t life, struct renewal *r);
void node_renewed(struct node *n, struct renewal *r);

/* cluster_part.c */

/* Takes the shard; false where that is not possible now. */
bool part_open(struct part *p);
/* Whoever has no answer gets none. */
void part_close(struct part *p);
/* The host of the shard works with this engine from here on, at its batch's time. */
void part_enter(struct part *p);
/* Time goes on for it. */
void part_look_at_clock(struct part *p);
void part_plan(struct part *p);
void part_tick(struct part *p);
/* The batch that was stopped goes on. */
void part_go_on(struct part *p);
void part_run_posts(struct part *p);

/* cluster_call.c */

void call_submit(void *ctx, struct request *q);
void call_probe(struct shard *s);
void call_enters(struct node *n, struct call *k);
void call_passed(struct node *n, struct call *k);
void call_ends(struct call *k, bool is_known);
void call_given_up(struct call *k);
void call_nudge(struct request *r, uint64_t serial, bool is_gone);
/* The engine of the request is gone. */
void call_lost(struct request *r);
extern const struct op_owner call_owner;

#endif
