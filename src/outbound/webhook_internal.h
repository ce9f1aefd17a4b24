/* What the files of webhooks share. Nobody else includes this. */
#ifndef SPINE_OUTBOUND_WEBHOOK_INTERNAL_H
#define SPINE_OUTBOUND_WEBHOOK_INTERNAL_H

#include "outbound/webhook.h"
#include "base/list.h"

#include <curl/curl.h>
#include <pthread.h>

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
	struct list queued;		/* of those that the transaction under way has queued something for */
	/* Under the lock. */
	struct list pending;		/* of those that there may be something for */
	/* The own thread's. */
	int under_way;			/* taken, or being taken, and not settled yet */
	bool is_taking;
	bool may_have_left;		/* a server before this one may have left leases */
};

struct webhook {
	struct api *api;
	struct webhook_config config;
	CURLM *multi;
	struct store_conn *reader;	/* the own thread's */
	pthread_t thread;
	bool is_running;		/* the starting thread's */
	_Atomic int64_t drain_until_ns;	/* 0: not draining */
	/* The writer's thread's own. */
	struct list buckets[WEBHOOK_BUCKETS];
	struct list queued;
	/* Shared. */
	pthread_mutex_t lock;
	struct list pending;
	struct list back;		/* errands that the writer has done */
	/* The own thread's. */
	struct list posts;		/* being posted */
	int under_way;
	size_t errands;			/* that the writer has */
};

/* webhook_agents.c */

/* Before the thread runs: the agents of the store that have a webhook. */
enum store_status webhook_add_stored(struct webhook *w, struct store_conn *c);
void webhook_free_agents(struct webhook *w);
/* There may be something for it. From any thread. */
void webhook_add_pending(struct webhook *w, struct webhook_target *t);
/* On the own thread: the next that may have something taken for it, and is off the list then; NULL where there is
 * none. */
struct webhook_target *webhook_next_pending(struct webhook *w);

#endif
