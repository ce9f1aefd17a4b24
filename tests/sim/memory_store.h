/* An engine for the simulation: the verbs of store/store.h that delivery uses, in memory, with transactions, and
 * with faults on demand.
 *
 * Texts are kept once each, so that rows can be copied and compared as plain data; they live until
 * memory_store_clear(). What a transaction changes is noted in a log of the rows as they were: a rollback, or the
 * end of the process, plays it backwards.
 */
#ifndef SPINE_TESTS_SIM_MEMORY_STORE_H
#define SPINE_TESTS_SIM_MEMORY_STORE_H

#include "store/store.h"

/* Returns owned. */
struct store_conn *memory_store_new(void);
void memory_store_free(struct store_conn *c);
/* Empty again, without faults; the memory is kept for the next run. */
void memory_store_clear(struct store_conn *c);

/* --- Faults --- */

/* The after-th verb from now on, and `more` verbs behind it, return status. STORE_FULL comes from verbs that write
 * only. */
void memory_store_fail(struct store_conn *c, enum store_status status, uint64_t after, uint64_t more);
/* The next commit returns STORE_FAILED; is_kept: although it got to the disk. */
void memory_store_fail_commit(struct store_conn *c, bool is_kept);
/* No fault that is still to come will. */
void memory_store_heal(struct store_conn *c);

/* --- What the checker sees --- */

struct memory_change {
	struct handoff_row before;		/* num 0: it is new */
	struct handoff_row after;
};

/* A step begins: what follows is about the changes since. */
void memory_store_mark(struct store_conn *c);
/* The next handoff that was changed since the mark, in the order of the first change, as it was and as it is; false
 * where there is none. *at is 0 at first. */
bool memory_store_changed(struct store_conn *c, size_t *at, struct memory_change *ret);
/* The same for agents whose target row was written. */
bool memory_store_target_changed(struct store_conn *c, size_t *at, int64_t *ret_agent);

size_t memory_store_agents(const struct store_conn *c);
struct str memory_store_agent_name(const struct store_conn *c, int64_t agent);
struct target_row memory_store_target(const struct store_conn *c, int64_t agent);
int64_t memory_store_agent_space(const struct store_conn *c, int64_t agent);
/* Handoffs of the space are numbered from 1 to this. */
uint64_t memory_store_handoffs(const struct store_conn *c, int64_t space);
/* Borrowed until the next verb. num must be one. */
const struct handoff_row *memory_store_handoff(const struct store_conn *c, int64_t space, uint64_t num);
bool memory_store_has_result(const struct store_conn *c, int64_t space, uint64_t num);
/* The memory that the result is; 0: none. Those of a space are numbered from 1 to memory_store_memories(). */
uint64_t memory_store_result_memory(const struct store_conn *c, int64_t space, uint64_t num);
uint64_t memory_store_memories(const struct store_conn *c, int64_t space);
size_t memory_store_events(const struct store_conn *c);
const struct event_row *memory_store_event(const struct store_conn *c, size_t index);
/* The one copy of a text. p == NULL stays. */
struct str memory_store_text(struct store_conn *c, struct str s);

#endif
