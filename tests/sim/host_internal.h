/* What the files of the host share. */
#ifndef SPINE_TESTS_SIM_HOST_INTERNAL_H
#define SPINE_TESTS_SIM_HOST_INTERNAL_H

#include "engine/delivery/decide.h"
#include "engine/engine.h"
#include "engine/retention.h"
#include "engine/delivery/handoff_get.h"
#include "engine/delivery/join.h"
#include "engine/delivery/publish.h"
#include "engine/delivery/receive.h"
#include "engine/delivery/reset.h"
#include "engine/delivery/send.h"
#include "engine/delivery/settle.h"
#include "engine/delivery/shrink.h"
#include "host.h"
#include "random.h"
#include "store/verbs.h"

enum { REQUEST_ROOM = 16384, HOST_KEYS = 16384, HOST_KEY_TTL_MS = 60000 };

struct request {
	struct list link;			/* of those that the engine has */
	struct request *next_free;
	struct request *next;			/* of all */
	struct host *host;
	struct step step;
	void *ctx;
	uint64_t serial;
	bool is_with_engine;
	bool is_gone;				/* its caller has */
	bool is_committed;			/* its last run was, in a transaction */
	bool has_waited;
	struct part *part;			/* in a cluster: whose engine has it */
	struct arena arena;
	void *room;
	const struct op_kind *real;
	struct op_kind kind;			/* the same, with the runs recorded */
	union {
		struct op op;
		struct send send;
		struct publish publish;
		struct receive receive;
		struct settle settle;
		struct decide decide;
		struct shrink shrink;
		struct pack pack;
		struct reset reset;
		struct join join;
		struct handoff_get get;
	} u;
};

/* What those who follow were told of a change. */
struct told {
	int64_t space, agent, due_ms, leases, attempt;
	uint64_t num;
	enum handoff_state state;
};

/* An answer that is kept for a key. */
struct kept_key {
	uint64_t hash;				/* 0: free */
	int64_t at_ms;
};

/* Something that the engine wants to have done on its owner's thread. */
struct post {
	struct op *op;
	void (*fn)(void *op);
};

struct host {
	struct host_world world;
	struct check *check;
	struct trace *trace;
	struct tally *tally;
	struct host_faults faults;
	uint64_t random;			/* of the faults */
	uint64_t seed;				/* of the engine */
	char address[64];
	const char *shard_address;		/* NULL: alone */
	struct str spaces[4];			/* their names, from 1 on */
	const struct host_cluster *cluster;	/* NULL: the engine is the host's own */
	struct log log;
	struct store_conn *store;		/* that the store stays, and to look at it */
	struct engine *engine;			/* NULL: it is down */
	struct engine_reader *reader;
	struct listener listener;
	int64_t now_ms;
	uint64_t serials;
	struct request *all_requests;
	struct request *free_requests;
	struct list requests;			/* that the engine has */
	struct post *posts;
	size_t post_count, post_cap;
	size_t submitted;			/* since the last tick */
	bool is_behind;				/* it was down, or could not do all that was due */
	struct envelope_row templates[4];	/* by space; the body is owned */
	bool has_failed;			/* the last run ended badly */
	struct space_keep keep;			/* how long what has ended stays; 0: for ever */
	int64_t follower_at;			/* the cursor, which survives */
	struct retention_hold follower_hold;	/* and holds pruning back */
	bool follower_is_woken;
	struct event_row *follower_page;

	/* The transaction under way. */
	const struct store_verbs *real_verbs;
	struct store_verbs verbs;		/* with its ends recorded */
	bool is_killed, commit_is_kept, due_is_noted;
	enum store_status planned;		/* how the store may fail */
	size_t events_begun;
	bool has_committed;			/* in this tick */
	size_t rollbacks, refused;		/* so many in this tick; so many answers told of a full disk */
	struct kept_key *keys;			/* answers that were kept, by key */
	struct record *records;
	struct ram_change *changes;
	struct step_target *targets;
	struct told *told;
	struct check_pruned *pruned;
	size_t pruned_count;
	struct request **by;			/* whose record it is; NULL: of time */
	size_t record_count, change_count, target_count, told_count;
};

/* host_record.c */

/* Has the ends of the transactions of c recorded. */
void record_begin(struct host *h, struct store_conn *c);
void record_init(struct host *h);
void record_release(struct host *h);
/* Another host's transactions come next. */
void record_enter(struct host *h);
/* In a cluster: the transaction of the host is in the database. */
void record_committed(struct host *h);
/* For the operation's kind. */
enum problem_code record_run(struct op *op, struct store_conn *c);
enum problem_code record_undo(struct op *op, struct store_conn *c);

/* host_owner.c */

/* The engine at hand takes it up. */
void host_take_up(struct host *h, struct request *q);
/* What the engine wants to have done. */
void host_run_posts(struct host *h);
/* An answer that was kept is about the same envelope. */
void host_check_replay(struct host *h, const struct request *q);

/* host.c */

/* The engine at hand looks in time for what is due. */
void host_check_clock(struct host *h);
/* Whoever of them has no answer waits, and for something that has not happened. */
void host_check_waiting(struct host *h, struct list *requests);

/* host_request.c */

/* Makes the operation that the step asks for. */
void request_fill(struct request *q);
/* Puts what came of it into the step. */
void request_read(struct request *q);
/* What a kept answer says. */
struct str request_write(struct request *q);
/* May the operation wait? Then how long; -1: it decides itself. */
int64_t request_wait_ms(const struct request *q);

#endif
