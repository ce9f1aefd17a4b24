/* What the files of the engine in memory share.
 *
 * Rows are plain data in one arena, and stand in indexes: arrays of pointers, in order. Each text is kept once. All of
 * it lives until the store is cleared or goes. What a transaction changes is noted in a log, as it was: a rollback
 * plays the log backwards.
 */
#ifndef SPINE_STORE_RAM_INTERNAL_H
#define SPINE_STORE_RAM_INTERNAL_H

#include "base/arena.h"
#include "base/heap.h"
#include "store/ram/ram.h"
#include "store/ram/ram_database.h"
#include "store/ram/ram_faults.h"
#include "store/verbs.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- Rows --- */

struct ram_space {
	struct space_row row;		/* without its policy */
	int64_t guard;
	struct str locked;
	uint64_t next_memory;
	int64_t last_event;		/* the highest number of its events; 0: there was none */
	int64_t removed_at_ms;		/* 0: it was not */
	bool is_purged;			/* nothing is left of it but this row, which has its place by the id */
};

struct ram_version {
	struct memory row;
	struct ram_version *older;
};

/* What all versions share is in `state`; its other half is not used. */
struct ram_memory {
	struct memory state;
	struct ram_version *newest;	/* NULL: forgotten */
};

struct ram_task {
	int64_t space;
	struct task_row row;
};

struct ram_envelope {
	struct envelope_row row;
	struct ram_task *task;
};

/* An envelope refers to a result. */
struct ram_citation {
	int64_t envelope, memory;	/* keys */
};

/* What is left of what was pruned. */
struct ram_pruned_envelope {
	int64_t key;
	struct pruned_envelope row;
};

struct ram_pruned_handoff {
	int64_t key;
	struct pruned_handoff row;
};

struct ram_left {
	int64_t memory;			/* a key */
};

struct ram_receipt {
	int64_t envelope;		/* a key */
	struct receipt_row row;
};

struct ram_waiver {
	int64_t task;			/* its id */
	struct waiver_row row;
};

/* The rows of an index, in its order. */
struct ram_index {
	void **rows;
	size_t count, cap;
	int (*compare)(const void *a, const void *b);
};

struct ram_agent {
	int64_t id, space;
	struct agent_row row;
	struct target_row target;
	int64_t counts[HANDOFF_STATES];
	struct ram_index queue;		/* the next first */
	struct ram_index flight;	/* open, and not queued; by number */
	struct ram_index passing;	/* of the queue, those that pass */
	struct ram_index outage;	/* what an outage has parked, by when */
	bool is_deleted;
	uint64_t mark;			/* see ram_inspect.h */
};

struct ram_handoff {
	struct handoff_row row;		/* first: the log of changes counts on it */
	struct result_row result;
	bool has_result;
	size_t due_pos;
	uint64_t mark;
};

struct ram_channel {
	int64_t space;
	struct channel_row row;
};

struct ram_subscriber {
	int64_t channel, agent;
};

struct ram_route {
	int64_t space;
	struct route_row row;
};

struct ram_reply {
	int64_t id, space;
	struct str key;
	struct kept_reply row;
	const int64_t *memories;	/* keys: when one of them is forgotten the body is empty */
	size_t memory_count;
};

/* --- The store --- */

enum ram_undo_kind {
	RAM_BYTES, RAM_TARGET, RAM_ADDED, RAM_REMOVED, RAM_HANDOFF, RAM_HANDOFF_ADDED, RAM_HANDOFF_REMOVED,
	RAM_EVENT_REMOVED,		/* its size is the place of the event */
	RAM_EVENT_UNNAMED,		/* what was saved is the event; `place` says which */
};

/* How something was before. */
struct ram_undo {
	enum ram_undo_kind kind;
	void *at;			/* what was changed, or the index */
	size_t place;			/* in an array that may have moved since */
	void *row;			/* that was put in or taken out; of a target, its agent */
	size_t size;			/* of the bytes that were saved */
	size_t saved;			/* where in the store's `saved` they are */
};

/* Who may write. A store that is no shard of a database has one, too. */
struct ram_shard {
	char owner[RAM_NODE_NAME];	/* a node; empty: nobody, or a writer that is none */
	int64_t epoch;
	int64_t *markers;		/* by epoch: the last batch that was committed in it */
	size_t marker_count;
	unsigned broken;		/* see ram_faults.h */
};

struct ram_store {
	struct ram_store *next;
	char *name;			/* empty: nobody else finds it */
	size_t connections;
	size_t writers;
	bool has_writer;		/* that is no node: it has the store to itself */
	struct ram_database *db;	/* NULL: it is no shard */
	struct ram_shard *shard, alone;
	pthread_rwlock_t lock;		/* held for writing from store_begin to the transaction's end */
	_Atomic(uintptr_t) owner;	/* the thread that holds it for writing; 0: none does */

	/* By id, where not said otherwise. Of those with an s behind the name ids are 1, 2, 3 and so on. */
	struct ram_index spaces, space_names;
	struct ram_index memories;				/* by key */
	struct ram_index tasks_by_id, task_names;
	struct ram_index envelopes, task_envelopes, receipts;	/* by key; by task; by envelope and time */
	struct ram_index waivers;				/* by task and id */
	int64_t last_waiver;					/* the highest id that was given */
	struct ram_index agents, agent_names;
	struct ram_index handoffs, envelope_handoffs;		/* by key; by envelope and target */
	struct ram_index channels, channel_names, subscribers, route_names;
	struct ram_index replies_by_id, reply_keys;
	struct ram_index alerts_by_id;
	struct ram_index access_keys;				/* by number */
	uint64_t last_access_key;				/* the highest number that was given */
	bool needs_key;
	struct ram_index pruned_envelopes, pruned_handoffs, left_results;	/* by key */
	struct ram_index citations;						/* by envelope and memory */
	struct heap due;
	struct event_row *events;				/* by id - 1; one whose id is 0 was pruned */
	size_t event_count, event_cap;

	struct arena arena;
	struct str *texts;		/* a hash table */
	size_t text_count, text_cap;

	struct ram_undo *undo;
	size_t undo_count, undo_cap;
	char *saved;
	size_t saved_len, saved_cap;
	size_t *savepoints;		/* where the log stood */
	size_t savepoint_count, savepoint_cap;
	bool in_transaction;
	struct ram_conn *writing;	/* whose transaction it is */

	size_t mark_at;			/* see ram_inspect.h */
	uint64_t mark;

	enum store_status fail_status;	/* see ram_faults.h */
	uint64_t fail_after, fail_more;
	bool fail_commit, fail_is_kept, fail_is_settled;
	struct ram_hooks hooks;
};

struct ram_conn {
	struct store_conn base;
	struct ram_store *store;
	bool in_snapshot;
	/* Of a writer. */
	char node[RAM_NODE_NAME];	/* empty: it is none */
	int64_t epoch, batch;
	bool in_transaction;		/* as it believes */
	bool is_broken;			/* the database has ended its session, and the transaction in it */
	bool is_cut;			/* it does not reach the database */
	bool is_lost;			/* another has taken its shard */
};

static inline struct ram_store *ram_of(const struct store_conn *c)
{
	return ((const struct ram_conn *)c)->store;
}

#define RAM_VERB(kind, type, name, params, args) type ram_##name params;
STORE_VERBS(RAM_VERB)
#undef RAM_VERB

/* --- ram_index.c --- */

/* Sets up every index of the store, empty. */
void ram_indexes_init(struct ram_store *s);
/* The position of the first row that is not before `key`, which is a row that has what the order looks at. */
size_t ram_index_from(const struct ram_index *index, const void *key);
/* The row that is equal to key in the order; NULL: there is none. */
void *ram_index_find(const struct ram_index *index, const void *key);
/* The one with that id; NULL: there is none. Ids are 1, 2, 3 and so on. */
void *ram_index_at(const struct ram_index *index, int64_t id);
/* Without a note for a rollback. */
void ram_index_add(struct ram_store *s, struct ram_index *index, void *row);
void ram_index_remove(struct ram_index *index, const void *row);

int ram_compare_queue(const void *a, const void *b);
int ram_compare_changes(const void *a, const void *b);
int ram_compare_handoffs(const void *a, const void *b);

static inline int ram_compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* The key of a memory, an envelope or a handoff: its space above its number. */
static inline int64_t ram_key(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

/* --- ram_undo.c --- */

/* The bytes at `at` are about to change. The note is borrowed until the next one. */
struct ram_undo *ram_save(struct ram_store *s, enum ram_undo_kind kind, void *at, size_t size);
/* Puts a row in, takes one out. */
void ram_insert(struct ram_store *s, struct ram_index *index, void *row);
void ram_remove(struct ram_store *s, struct ram_index *index, void *row);
/* Room for a row, zeroed. */
void *ram_new(struct ram_store *s, size_t size);
/* Undoes what was noted since the log stood there. */
void ram_undo_to(struct ram_store *s, size_t count);
struct ram_undo *ram_note(struct ram_store *s, enum ram_undo_kind kind);

/* --- ram_text.c --- */

/* The one copy of a text. p == NULL stays. */
struct str ram_text(struct ram_store *s, struct str text);

/* --- ram_conn.c --- */

/* Of a verb that writes, or of one of the writer that does not: is it to fail? */
enum store_status ram_enter(struct store_conn *c, bool writes);
/* The database ends c's transaction, without a word to it. */
void ram_end_session(struct ram_conn *c);
/* Is the transaction over that the writer believes to be in? Then nothing of it is there. */
bool ram_is_over(struct store_conn *c);

/* --- ram_database.c --- */

/* A store that was just made is a shard, or stands alone. */
void ram_shard_attach(struct ram_store *s);
void ram_shard_detach(struct ram_store *s);
/* c becomes the one that writes; or false, and why in *error. */
bool ram_shard_take(struct ram_conn *c, struct buf *error);
/* May c begin a transaction? A broken session is made anew. */
bool ram_shard_holds(struct ram_conn *c);
/* c's batch is committed. */
void ram_shard_mark(struct ram_conn *c);
/* What became of a commit whose answer did not come: STORE_OK, STORE_BUSY, or, where nobody can say, STORE_UNKNOWN. */
enum store_status ram_shard_settle(struct ram_conn *c);

/* --- Others --- */

/* The one that is due first; NULL: none is. */
const struct ram_agent *ram_first_due(const struct ram_store *s);
struct ram_agent *ram_agent_at(const struct ram_store *s, int64_t id);
struct ram_memory *ram_memory_at(const struct ram_store *s, int64_t key);
struct ram_envelope *ram_envelope_at(const struct ram_store *s, int64_t space, uint64_t num);
struct ram_handoff *ram_handoff_at(const struct ram_store *s, int64_t space, uint64_t num);
/* The highest number in the space; 0: it has none. */
uint64_t ram_last_handoff(const struct ram_store *s, int64_t space);
void ram_due_init(struct ram_store *s);
/* A handoff becomes as it was, or goes again. */
void ram_handoff_restore(struct ram_store *s, struct ram_handoff *h, const struct handoff_row *row);
void ram_handoff_withdraw(struct ram_store *s, struct ram_handoff *h);
void ram_handoff_readmit(struct ram_store *s, struct ram_handoff *h);
/* It goes, and a rollback brings it back. */
void ram_handoff_remove(struct ram_store *s, struct ram_handoff *h);
void ram_event_remove(struct ram_store *s, size_t at);
/* The space, unless it was removed. */
struct ram_space *ram_space_at(const struct ram_store *s, int64_t id);
/* What the space has becomes more, or less. */
void ram_count_bytes(struct ram_store *s, int64_t space, int64_t bytes);
void ram_count_agents(struct ram_store *s, int64_t space, int64_t agents);
/* Of an envelope: the position of its first handoff in envelope_handoffs. */
size_t ram_handoffs_from(const struct ram_store *s, int64_t space, uint64_t envelope);

#endif
