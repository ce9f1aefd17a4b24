/* What the files of webhooks share. Nobody else includes this. */
#ifndef SPINE_OUTBOUND_WEBHOOK_INTERNAL_H
#define SPINE_OUTBOUND_WEBHOOK_INTERNAL_H

#include "outbound/webhook.h"

enum {
	WEBHOOK_AGENT_MAX = 4,		/* under way at a time for one agent */
	WEBHOOK_ALL_MAX = 64,		/* for all together */
	WEBHOOK_BUCKETS = 1024,
};

/* An agent that has a webhook, or had one since the server started. */
struct webhook_target {
	int64_t agent;
	int64_t space;
	char *name;
	char *space_name;
	atomic_bool is_on;		/* it has one now */
	/* The writer's thread's own. */
	struct list same;		/* of its bucket */
	/* Under the lock. */
	struct list pending;		/* of those that there may be something for */
	/* The followers' thread's. */
	int under_way;			/* taken, or being taken, and not settled yet */
	bool is_taking;
	bool may_have_left;		/* a server before this one may have left leases */
};

struct webhook {
	struct follower follower;
	struct webhook_config config;
	_Atomic int64_t drain_until_ns;	/* set before it is told to stop */
	/* The writer's thread's own. */
	struct list buckets[WEBHOOK_BUCKETS];
	/* Shared. */
	pthread_mutex_t lock;
	struct list pending;
	/* The followers' thread's. */
	struct list posts;		/* being posted */
	int under_way;			/* of all targets together */
};

/* webhook_agents.c */

/* Before the followers run: the agents of the store that have a webhook. */
enum store_status webhook_add_stored(struct webhook *w, struct store_conn *c);
void webhook_free_agents(struct webhook *w);
/* There may be something for it. Any thread. */
void webhook_add_pending(struct webhook *w, struct webhook_target *t);
/* On the followers' thread: the next that may have something taken for it. It is off the list then. NULL: none. */
struct webhook_target *webhook_next_pending(struct webhook *w);

#endif
