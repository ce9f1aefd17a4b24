/* What keeps everything: an interface of domain verbs, implemented once per engine.
 *
 * A connection is used by one thread at a time. There is one connection that writes (engine/writer.h owns it)
 * and any number that only read, each on its own thread. Verbs that write must stand between store_begin and
 * store_commit; nothing of a transaction is visible to readers before store_commit has returned STORE_OK, and then it
 * is on disk. Nothing above this file knows SQL; nothing below it decides anything. store/verbs.h is the table through
 * which the verbs reach their engine.
 *
 * Results that hold text are put into the caller's arena.
 */
#ifndef SPINE_STORE_STORE_H
#define SPINE_STORE_STORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/records.h"

enum store_status {
	STORE_OK,
	STORE_NOT_FOUND,	/* no such row; nothing changed */
	STORE_EXISTS,		/* the key is taken; nothing changed */
	STORE_REFUSED,		/* what is stored does not allow it, or is not what it must be: roll back */
	STORE_FULL,		/* no room on the disk: roll back; may work later */
	STORE_BUSY,		/* another process holds the lock for writing: nothing happened; may work later */
	STORE_DAMAGED,		/* what is needed is on the disk, but is not what was written there: roll back. Other
				 * rows may be well */
	STORE_FAILED,		/* the disk or the file failed: roll back, and acknowledge nothing any more. Only an
				 * engine says so: it ends all writes until the server is restarted */
	STORE_UNKNOWN,		/* of store_commit alone: the disk failed as above, and what the transaction wrote may
				 * be there after a restart, whole, or may not */
};

/* What is stored is the reason, and not how it is stored: that is an answer to whoever asked, and of no concern to
 * anybody else. */
static inline bool store_is_answer(enum store_status status)
{
	return status == STORE_NOT_FOUND || status == STORE_EXISTS || status == STORE_REFUSED;
}

struct store_conn;

enum store_mode {
	STORE_WRITE,		/* make or migrate the store, hold its lock: one per store */
	STORE_READ,		/* never writes, also beside a server */
};

/* Opens a connection. The address says of which engine: a data directory is SQLite's, "ram:NAME" is a store in the
 * memory of this process (store/ram/README.md), "postgres://…#12" is a shard of a database, and "…#12@NODE" is the same
 * for a node (store/cluster.h). STORE_WRITE makes the store, or migrates it, and keeps every other
 * writer away. On failure returns NULL and a sentence for a person in *error. Returns owned. */
struct store_conn *store_open(const char *address, enum store_mode mode, struct buf *error);
/* Is it the address of a database that servers share, and can it be read? Connects to nobody. Where not, *error says
 * what to do, and has no part of the address: a password may be in it. */
bool store_address_is_good(const char *address, struct buf *error);
/* There is no store at this address. */
bool store_is_missing(const char *address);
/* Files outside of a data directory that the engine reads while it is open, such as those with a password; also such as
 * are not there. */
void store_files(const char *address, void (*each)(const char *path, void *arg), void *arg);
/* NULL-safe. An open transaction is rolled back. */
void store_close(struct store_conn *c);
/* Opened with STORE_READ. */
bool store_is_reader(const struct store_conn *c);
/* The disk has failed: what is committed so far is safe, and no transaction is begun on this connection any more. */
bool store_is_failed(const struct store_conn *c);
/* The store is in a database that others serve, and may be away for a while. */
bool store_is_served(const struct store_conn *c);
/* Of a node's writer: another node has its shard now, and every verb answers STORE_BUSY from here on. May be asked from
 * any thread. */
bool store_is_lost(const struct store_conn *c);
/* What the last failure was, for the log. Borrowed until the next call. */
const char *store_error(const struct store_conn *c);

struct store_info {
	const char *engine;	/* "sqlite", "ram" */
	int schema;		/* 0: the engine has none */
	int64_t bytes;		/* on disk; 0: it is on none */
	int64_t free_bytes;	/* of these, what is not used, and can be given back; 0 where it cannot */
};

enum store_status store_info(struct store_conn *c, struct store_info *ret);

/* --- Transactions (the writing connection only) --- */

/* STORE_FAILED once the connection is failed. STORE_BUSY after some seconds of waiting for somebody who should not
 * write here at all, such as a person with SQLite's shell. */
enum store_status store_begin(struct store_conn *c);
/* Durable when it returns STORE_OK; rolled back otherwise, and after STORE_FAILED the connection is failed. It may be
 * failed after STORE_OK, too: this transaction is safe, but moving it to its final place did not work. After
 * STORE_UNKNOWN it is failed, and nobody sees the transaction; whether it is there, only a restart tells. */
enum store_status store_commit(struct store_conn *c);
void store_rollback(struct store_conn *c);
/* A part of a transaction that can be undone alone. They nest. */
enum store_status store_savepoint(struct store_conn *c);
enum store_status store_release(struct store_conn *c);
enum store_status store_rollback_to(struct store_conn *c);

/* --- Several reads of one state --- */

/* Reads between the two see the same state of the store, or, of a reader that shares (store_share), none older than the
 * call of store_snapshot_begin; and they take less time than each on its own. For short work only: it holds up the
 * checkpoints. Returns false, and nothing is to be ended, where a transaction is open anyhow, or where it does not
 * work; the reads then say so themselves. */
bool store_snapshot_begin(struct store_conn *c);
void store_snapshot_end(struct store_conn *c);

/* --- Spaces --- */

enum store_status store_space_find(struct store_conn *c, struct str name, int64_t *ret_id);
enum store_status store_space_create(struct store_conn *c, struct str name, int64_t now_ms, int64_t *ret_id);
/* Memories that are not forgotten. */
enum store_status store_space_count(struct store_conn *c, int64_t space, int64_t *ret_memories);
/* With ids above after, in the order in which they were made, at most max. */
enum store_status store_spaces(struct store_conn *c, int64_t after, size_t max, struct arena *arena,
			       struct space_row *ret, size_t *ret_count);

/* One of them, also where it is not the first that is asked for. */
enum store_status store_space_get(struct store_conn *c, int64_t space, struct arena *arena, struct space_row *ret);
enum store_status store_space_set_keep(struct store_conn *c, int64_t space, const struct space_keep *keep);
enum store_status store_space_set_quota(struct store_conn *c, int64_t space, const struct space_quota *quota);
enum store_status store_space_set_floor(struct store_conn *c, int64_t space, enum trust floor);

/* The space is not there any more for the verbs above, and its name is free: who makes it again gets another id, and an
 * empty space. What was in it goes by store_space_purge; until then whoever knows the id still finds it. */
enum store_status store_space_remove(struct store_conn *c, int64_t space, int64_t now_ms);
/* The lowest id of a space that was removed, and something of it is left. */
enum store_status store_space_removed(struct store_conn *c, int64_t *ret_id);
/* Of a space that was removed: takes about max rows of it away, and says how many. 0: nothing is left of it. */
enum store_status store_space_purge(struct store_conn *c, int64_t space, size_t max, size_t *ret_count);

/* The space's policy about credentials, a number that the core gives a meaning. */
enum store_status store_space_guard(struct store_conn *c, int64_t space, int64_t *ret_guard);
enum store_status store_space_set_guard(struct store_conn *c, int64_t space, int64_t guard);
/* The keys of constraints that the space locks, a JSON array; p == NULL: none was ever set. */
enum store_status store_space_locked(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret);
enum store_status store_space_set_locked(struct store_conn *c, int64_t space, struct str locked);

/* --- Memories --- */

/* The number that a memory without one gets next: it is above all that were ever given. */
enum store_status store_memory_next(struct store_conn *c, int64_t space, uint64_t *ret);
/* Stores version 1. m->num 0 takes the next number of the space, and sets it (STORE_EXISTS where the sequence is at its
 * end: the highest number was given to a memory); another one is taken where it is free (STORE_EXISTS), and the
 * sequence goes on above the highest. */
enum store_status store_memory_insert(struct store_conn *c, struct memory *m);
/* Stores m as the newest version of m->num; m->version is one more than the version before. */
enum store_status store_memory_add_version(struct store_conn *c, const struct memory *m);
enum store_status store_memory_set_pinned(struct store_conn *c, int64_t space, uint64_t num, bool pinned);
enum store_status store_memory_set_superseded(struct store_conn *c, int64_t space, uint64_t num, uint64_t by);
/* at_ms 0: it is in quarantine no longer. */
enum store_status store_memory_set_quarantined(struct store_conn *c, int64_t space, uint64_t num, int64_t at_ms);
/* The newest versions of those that are in quarantine, with numbers above after, in order, at most max. */
enum store_status store_memories_quarantined(struct store_conn *c, int64_t space, uint64_t after, size_t max,
					     struct arena *arena, struct memory *ret, size_t *ret_count);
/* Removes the content of all versions, and the body of the kept reply that holds it; what stays is number, version,
 * times. Once it is committed no file of the store holds the content any more, or soon: while a reader is at work, some
 * later commit sees to it. */
enum store_status store_memory_forget(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms);
/* What stays of who wrote a memory that is forgotten; p == NULL: nothing. STORE_NOT_FOUND where none is forgotten. */
enum store_status store_memory_set_keys(struct store_conn *c, int64_t space, uint64_t num, struct str keys);

/* version 0 is the newest. A forgotten memory is found, with forgotten_at_ms set and without content. */
enum store_status store_memory_get(struct store_conn *c, int64_t space, uint64_t num, uint32_t version,
				   struct arena *arena, struct memory *ret);
/* Versions below `below` (0: all), the newest first, at most max of them. *ret_count is set also where it is 0. */
enum store_status store_memory_versions(struct store_conn *c, int64_t space, uint64_t num, uint32_t below, size_t max,
					struct arena *arena, struct memory *ret, size_t *ret_count);
/* The newest versions of the memories with numbers above after, in order, at most max of them, the forgotten left out.
 * Short reads: a reader that goes through a whole space calls it again and again. */
enum store_status store_memory_scan(struct store_conn *c, int64_t space, uint64_t after, size_t max,
				    struct arena *arena, struct memory *ret, size_t *ret_count);
/* The same, and among them those that are forgotten and have keys. */
enum store_status store_memories_traced(struct store_conn *c, int64_t space, uint64_t after, size_t max,
					struct arena *arena, struct memory *ret, size_t *ret_count);

/* --- Envelopes --- */

/* STORE_EXISTS where the number is taken or above MEMORY_NUM_MAX, or the task that it begins is there; then nothing is
 * written. */
enum store_status store_envelope_insert(struct store_conn *c, const struct envelope_row *row);
enum store_status store_envelope_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				     struct envelope_row *ret);
/* What was kept beside it; p == NULL where nothing was. */
enum store_status store_envelope_considered(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
					    struct str *ret);
/* The highest number in the space; 0 where there is none. */
enum store_status store_envelope_last(struct store_conn *c, int64_t space, uint64_t *ret_num);
/* The lowest number above after, of an envelope or of what is left of one; 0 where there is none. So all are gone
 * through in as many steps as there are, however far apart their numbers. */
enum store_status store_envelope_next(struct store_conn *c, int64_t space, uint64_t after, uint64_t *ret_num);
/* The envelopes of a task with numbers above after, in order, at most max of them. */
enum store_status store_task_envelopes(struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max,
				       struct arena *arena, struct envelope_row *ret, size_t *ret_count);
/* STORE_NOT_FOUND where no envelope is of that task. */
enum store_status store_task_find(struct store_conn *c, int64_t space, struct str task);
/* The newest envelope of a task. */
enum store_status store_task_last(struct store_conn *c, int64_t space, struct str task, struct arena *arena,
				  struct envelope_row *ret);
/* The numbers of the envelopes of a task above after, in order, at most max of them, and what each continues. */
enum store_status store_task_links(struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max,
				   struct envelope_link *ret, size_t *ret_count);
/* Sets waiver->id. STORE_NOT_FOUND where there is no such task. */
enum store_status store_waiver_add(struct store_conn *c, int64_t space, struct str task, struct waiver_row *waiver);
/* What was waived for a task, in order, at most max of them. */
enum store_status store_waivers(struct store_conn *c, int64_t space, struct str task, size_t max, struct arena *arena,
				struct waiver_row *ret, size_t *ret_count);
/* The tasks, the newest first, of those with ids below `before` (0: all). */
enum store_status store_tasks(struct store_conn *c, int64_t space, int64_t before, size_t max, struct arena *arena,
			      struct task_row *ret, size_t *ret_count);
/* The task with that id. */
enum store_status store_task_get(struct store_conn *c, int64_t id, struct arena *arena, struct task_row *ret);
/* How its handoffs stand. Costs a step for each of them. */
enum store_status store_task_work(struct store_conn *c, int64_t id, struct arena *arena, struct task_work *ret);
/* The tasks in the order of their newest events of handoffs, the newest first: of those whose newest is below `before`
 * (0: all) and above `after`, at most max; `at` is that event. A task that was never handed to anybody has its newest
 * packing instead. Goes through no event beyond these bounds. */
enum store_status store_tasks_changed(struct store_conn *c, int64_t space, int64_t before, int64_t after, size_t max,
				      struct task_place *ret, size_t *ret_count);
/* The tasks with a handoff in one of these states (a set of 1 << enum task_state, without TASK_DONE), where it is with
 * that agent (0: any), in the order of when the last of these handoffs came into its state, the latest first; behind
 * that place (NULL: from the first), at most max. What is queued for an agent whose breaker is not closed may be held,
 * or may be waiting: it is taken for both. */
enum store_status store_tasks_open(struct store_conn *c, int64_t space, unsigned states, int64_t agent,
				   const struct task_place *behind, size_t max, struct task_place *ret,
				   size_t *ret_count);
/* Has none of its handoffs an event with a number above `since`? Of a task that was never handed to anybody: was its
 * newest envelope made at until_ms, or before? */
enum store_status store_task_is_quiet(struct store_conn *c, int64_t space, int64_t id, int64_t since, int64_t until_ms,
				      bool *ret);
/* The tasks whose name, intent or summary holds the text, whatever the case of its ASCII letters: the newest first, at
 * most max, of the newest `look`. `at` is when the last of its handoffs was changed, or else when it was made.
 * *ret_more: there are tasks that were not looked at. */
enum store_status store_tasks_matching(struct store_conn *c, int64_t space, struct str text, size_t look, size_t max,
				       struct task_place *ret, size_t *ret_count, bool *ret_more);
/* Once for each memory and agent; again changes nothing. */
enum store_status store_receipt_put(struct store_conn *c, int64_t space, uint64_t envelope,
				    const struct receipt_row *receipt);
enum store_status store_receipts(struct store_conn *c, int64_t space, uint64_t envelope, size_t max,
				 struct arena *arena, struct receipt_row *ret, size_t *ret_count);

/* --- What retention takes away --- */

/* Are all handoffs of the envelope, of which there is one at least, in one of these states (a set of 1 << enum
 * handoff_state), and have not changed since before_ms? */
enum store_status store_envelope_ended(struct store_conn *c, int64_t space, uint64_t num, unsigned states,
				       int64_t before_ms, bool *ret);
/* Removes the envelope, its handoffs and their results, receipts, and the task where that was its last envelope. What
 * is left is below. *ret_handoffs: how many there were. */
enum store_status store_envelope_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t *ret_handoffs);
enum store_status store_pruned_envelope(struct store_conn *c, int64_t space, uint64_t num, struct pruned_envelope *ret);
enum store_status store_pruned_handoff(struct store_conn *c, int64_t space, uint64_t num, struct pruned_handoff *ret);
/* What was left of one in another store. STORE_EXISTS where the number is taken, by one that is there or is left. */
enum store_status store_pruned_envelope_put(struct store_conn *c, int64_t space, const struct pruned_envelope *left);
enum store_status store_pruned_handoff_put(struct store_conn *c, int64_t space, const struct pruned_handoff *left);
/* The results that the envelope refers to (envelope_row.results), in the order of their numbers. */
enum store_status store_citations(struct store_conn *c, int64_t space, uint64_t envelope, size_t max, uint64_t *ret,
				  size_t *ret_count);
/* Another envelope than `but` that refers to the result. */
enum store_status store_cited_by(struct store_conn *c, int64_t space, uint64_t memory, uint64_t but, uint64_t *ret_num);
/* The handoff whose result the memory is was pruned, and the memory stays for now; it is asked for again, and goes,
 * with store_memory_prune. */
enum store_status store_result_leave(struct store_conn *c, int64_t space, uint64_t memory);
enum store_status store_result_left(struct store_conn *c, int64_t space, uint64_t memory);
/* Like store_memory_forget, but that the disk keeps traces until other rows are written over them. */
enum store_status store_memory_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms);
/* Gives some free bytes back to the disk: a small part. *ret: so many, about. */
enum store_status store_give_back(struct store_conn *c, int64_t *ret_bytes);
/* Removes these events of the space; their numbers grow. */
enum store_status store_events_prune(struct store_conn *c, int64_t space, const int64_t *numbers, size_t count);

/* --- Agents --- */

enum store_status store_agent_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				  struct agent_row *ret);
/* Makes it or replaces its settings. */
enum store_status store_agent_put(struct store_conn *c, int64_t space, const struct agent_row *agent);
/* It is not known any more: without settings, breaker and subscriptions, and in no list. Its id stays, for the handoffs
 * that it had, and is given again with its name. STORE_NOT_FOUND where there is none. */
enum store_status store_agent_delete(struct store_conn *c, int64_t space, struct str name);
/* In the order of their names, those behind `after`. */
enum store_status store_agents(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			       struct agent_row *ret, size_t *ret_count);

/* Of all spaces: the agents with ids above after whose settings hold this text, in the order of their ids. */
enum store_status store_agents_holding(struct store_conn *c, struct str text, int64_t after, size_t max,
				       struct arena *arena, struct agent_place *ret, size_t *ret_count);

/* The id of an agent, which never changes. Where nobody knows it yet: make registers it with settings of its own
 * defaults, otherwise STORE_NOT_FOUND. */
enum store_status store_agent_id(struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms,
				 int64_t *ret);
/* An agent that nothing was delivered to has a row of zeros. */
enum store_status store_target_get(struct store_conn *c, int64_t agent, struct target_row *ret);
enum store_status store_target_put(struct store_conn *c, int64_t agent, const struct target_row *target);
/* When the last of the leases and work leases ends that are out of the agent's handoffs; 0: none is. Where there are
 * very many it is the last of some of them. */
enum store_status store_target_busy_until(struct store_conn *c, int64_t agent, int64_t *ret_ms);
/* Of all spaces: the agent that was due first, at the latest now. */
enum store_status store_target_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct target_due *ret);
/* When store_target_due has something next; 0: never. */
enum store_status store_target_next_due(struct store_conn *c, int64_t *ret_ms);
/* The agents of the space that fail, or whose breaker is not closed; in the order of their ids, at most max. Costs as
 * many steps as agents fail in all spaces. */
enum store_status store_targets_failing(struct store_conn *c, int64_t space, size_t max, struct arena *arena,
					struct target_due *ret, size_t *ret_count);
enum store_status store_target_counts(struct store_conn *c, int64_t agent, struct target_counts *ret);

/* --- Handoffs --- */

/* Sets the number, one more than the highest of the space, and the place where that is 0. STORE_EXISTS where the
 * envelope was handed to the target before, or no number is left. */
enum store_status store_handoff_insert(struct store_conn *c, struct handoff_row *h);
/* Writes all that may change. */
enum store_status store_handoff_put(struct store_conn *c, const struct handoff_row *h);
enum store_status store_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				    struct handoff_row *ret);
/* The one handoff of an envelope to a target. */
enum store_status store_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
				     struct arena *arena, struct handoff_row *ret);
/* The number of another handoff of the envelope than `but` that the agent has, as its target or as a fallback. Costs as
 * many steps as the envelope has handoffs. */
enum store_status store_handoff_of_agent(struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent,
					 uint64_t but, uint64_t *ret_num);
/* Of those queued for the agent, or of these only those that pass: the highest priority, of these the lowest place, of
 * these the lowest number. */
enum store_status store_handoff_next(struct store_conn *c, int64_t agent, bool passing, struct arena *arena,
				     struct handoff_row *ret);
/* The highest number of the space; 0: there is none. */
enum store_status store_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret_num);
/* What an outage has parked (is_outage) of the agent from one time to another, both included: in the order of that
 * time, of these of their numbers, at most max. */
enum store_status store_handoffs_outage(struct store_conn *c, int64_t agent, int64_t from_ms, int64_t to_ms, size_t max,
					struct arena *arena, struct handoff_row *ret, size_t *ret_count);
/* Of those leased from the agent: what this receiver holds, in the order of their numbers, at most max. */
enum store_status store_handoffs_held(struct store_conn *c, int64_t agent, struct str receiver, size_t max,
				      struct arena *arena, struct handoff_row *ret, size_t *ret_count);
/* Of all spaces: the one that was due first, at the latest now. */
enum store_status store_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret);
/* When store_handoff_due has something next; 0: never. */
enum store_status store_handoff_next_due(struct store_conn *c, int64_t *ret_ms);
/* With numbers above after, in order, at most max; the newest first: with numbers below after (0: all). */
enum store_status store_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max,
				 struct arena *arena, struct handoff_row *ret, size_t *ret_count);
/* How many fit. Not with untold. */
enum store_status store_handoffs_count(struct store_conn *c, const struct handoff_filter *filter, int64_t *ret);
/* What is queued for the agent, the next first, behind the place that this one has or had (NULL: all); at most max. */
enum store_status store_handoffs_queued(struct store_conn *c, int64_t agent, const struct handoff_row *behind,
					size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count);
/* What is open with the agent and not queued, in those states (a set of 1 << enum handoff_state), with numbers above
 * after, in order, at most max. */
enum store_status store_handoffs_flight(struct store_conn *c, int64_t agent, unsigned states, uint64_t after,
					size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count);
/* Replaces what was there. */
enum store_status store_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				   const struct result_row *result);
enum store_status store_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				   struct result_row *ret);
/* Notes what was handed on with the settling of a handoff; the rest of its result stays as it is, or is empty. */
enum store_status store_result_hand_on(struct store_conn *c, int64_t space, uint64_t handoff, uint64_t then,
				       const uint8_t digest[32]);
/* The same without its texts: only where it is. */
enum store_status store_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret);

/* --- Events --- */

/* An event has an id, by which it stands in the history of the store, and a number, by which it stands in that of its
 * space: 1, 2, 3 and so on from a first one that is above all that spaces of before have had under the same name, for
 * it is the time at which the space was made (EVENT_NUMBERS_A_MS for each millisecond). A space is told of numbers
 * alone, so that it does not learn how much others write.
 *
 * Below, "places" are numbers where a space is named, and ids where all spaces are meant (space 0). */

/* Sets the id and the number. */
enum store_status store_event_add(struct store_conn *c, struct event_row *event);
/* With places above after, in order, at most max; handoff 0: all of the space, space 0: of all spaces. */
enum store_status store_events(struct store_conn *c, int64_t space, uint64_t handoff, int64_t after, size_t max,
			       struct arena *arena, struct event_row *ret, size_t *ret_count);
/* The highest place that was given, also where that event was pruned. Of a space without any: the one before its first.
 * 0: there is no event, or no such space. */
enum store_status store_event_last(struct store_conn *c, int64_t space, int64_t *ret_place);
/* Those of the filter with places above after, up to until, in its order, at most max. Places are dense: what the read
 * costs is bounded by until - after, but for a filter by handoff, which has an index. */
enum store_status store_event_page(struct store_conn *c, const struct event_filter *filter, int64_t after,
				   int64_t until, size_t max, struct arena *arena, struct event_row *ret,
				   size_t *ret_count);
/* Those with numbers above after, up to until, that the filter's space, kinds, memory and range_kinds name lose their
 * actor: that memory is forgotten. Nothing else of an event ever changes, its key neither. */
enum store_status store_events_unname(struct store_conn *c, const struct event_filter *filter, int64_t after,
				      int64_t until);
/* How many events tell of a handoff. */
enum store_status store_event_count(struct store_conn *c, int64_t space, uint64_t handoff, int64_t *ret);
/* The place of the last event before that time; 0 where there is none. */
enum store_status store_event_before(struct store_conn *c, int64_t space, int64_t at_ms, int64_t *ret_place);

/* fn is called for every event that is added through the connection from now on, within its transaction: that may be
 * rolled back, and a savepoint, too. The event is borrowed for the call. NULL: nobody is. */
void store_event_listen(struct store_conn *c, void (*fn)(void *ctx, const struct event_row *event), void *ctx);

/* --- Watching --- */

/* Of all spaces: every agent that there is something to say of, in the order of their ids. Rows are borrowed for the
 * call of fn. Costs as many steps as handoffs are open or parked. */
enum store_status store_queues(struct store_conn *c, void (*fn)(void *ctx, const struct queue_row *row), void *ctx);
/* The name of a space. */
enum store_status store_space_name(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret);

/* Makes it where the id is 0, and sets that; otherwise writes all that may change, or nothing where it is not kept any
 * more. Of those that were resolved the newest ten thousand or so are kept. */
enum store_status store_alert_put(struct store_conn *c, struct alert_row *alert);
enum store_status store_alert_get(struct store_conn *c, int64_t id, struct arena *arena, struct alert_row *ret);
/* The newest of that name and subject (agent.p == NULL: the space as a whole). */
enum store_status store_alert_last(struct store_conn *c, int64_t space, struct str name, struct str agent,
				   struct arena *arena, struct alert_row *ret);

enum alerts_wanted { ALERTS_ALL, ALERTS_FIRING, ALERTS_RESOLVED, ALERTS_UNTOLD };

/* With ids below before (0: all), the newest first, at most max; space 0: of all spaces. */
enum store_status store_alerts(struct store_conn *c, int64_t space, enum alerts_wanted wanted, int64_t before,
			       size_t max, struct arena *arena, struct alert_row *ret, size_t *ret_count);

/* --- Channels and routes --- */

/* Makes it, or changes its description. */
enum store_status store_channel_put(struct store_conn *c, int64_t space, struct str name, struct str description,
				    int64_t now_ms);
enum store_status store_channel_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				    struct channel_row *ret);
enum store_status store_channels(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
				 struct channel_row *ret, size_t *ret_count);
/* Again changes nothing. */
enum store_status store_subscriber_put(struct store_conn *c, int64_t channel, int64_t agent, int64_t now_ms);
enum store_status store_subscriber_delete(struct store_conn *c, int64_t channel, int64_t agent);
/* Names, in their order. */
enum store_status store_subscribers(struct store_conn *c, int64_t channel, size_t max, struct arena *arena,
				    struct str *ret, size_t *ret_count);
/* Makes it or replaces its settings. */
enum store_status store_route_put(struct store_conn *c, int64_t space, const struct route_row *route);
enum store_status store_route_delete(struct store_conn *c, int64_t space, struct str name);
/* In the order of their names, those behind `after` (p == NULL: all). */
enum store_status store_routes(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			       struct route_row *ret, size_t *ret_count);

/* --- Replies kept for Idempotency-Key --- */

enum store_status store_reply_get(struct store_conn *c, int64_t space, struct str key, struct arena *arena,
				  struct kept_reply *ret);
/* Replaces the one that was kept for the key before. The reply holds the text of these memories of the space: when one
 * of them is forgotten, or has been already, the body is emptied; while one is in quarantine the reply says so. */
enum store_status store_reply_put(struct store_conn *c, int64_t space, struct str key, const struct kept_reply *reply,
				  const uint64_t *memories, size_t memory_count);
/* When the one was kept that was kept first. */
enum store_status store_reply_oldest(struct store_conn *c, int64_t *ret_ms);
/* Removes up to max replies kept before before_ms. */
enum store_status store_reply_prune(struct store_conn *c, int64_t before_ms, int max);

/* --- Keys that let their holders in --- */

/* Does every request need a key? STORE_NOT_FOUND: the store does not say; then nobody may come in. */
enum store_status store_access_mode(struct store_conn *c, bool *ret_needs_key);
enum store_status store_access_set_mode(struct store_conn *c, bool needs_key);
/* The number that the next key has. */
enum store_status store_access_key_next(struct store_conn *c, uint64_t *ret);
/* STORE_EXISTS where the number was given before. */
enum store_status store_access_key_insert(struct store_conn *c, const struct access_key_row *key);
/* Writes when it ends, and its hashes; the rest never changes. */
enum store_status store_access_key_put(struct store_conn *c, const struct access_key_row *key);
enum store_status store_access_key_get(struct store_conn *c, uint64_t num, struct arena *arena,
				       struct access_key_row *ret);
/* Those with numbers above after, in their order; of one space where space.p is not NULL. */
enum store_status store_access_keys(struct store_conn *c, struct str space, uint64_t after, size_t max,
				    struct arena *arena, struct access_key_row *ret, size_t *ret_count);
/* Revokes those of a space that are not yet; *ret_count: how many were neither revoked nor expired. */
enum store_status store_access_keys_revoke(struct store_conn *c, struct str space, int64_t at_ms, struct str why,
					   int64_t *ret_count);
/* Removes those that were revoked, or expired, before that. */
enum store_status store_access_keys_prune(struct store_conn *c, int64_t before_ms);
/* Removes all of them, and no request needs one any more. */
enum store_status store_access_reset(struct store_conn *c);

/* What only some engines can do. Whoever uses it may include it by itself. */
#include "store/embedded.h"

#endif
