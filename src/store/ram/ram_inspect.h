/* What a checker sees of a store in memory, without a verb. c is the writer's connection. */
#ifndef SPINE_STORE_RAM_INSPECT_H
#define SPINE_STORE_RAM_INSPECT_H

#include "store/store.h"

struct ram_change {
	struct handoff_row before;		/* num 0: it is new */
	struct handoff_row after;
};

/* A step begins: what follows is about the changes since, in the transaction under way. */
void ram_mark(struct store_conn *c);
/* The next handoff that was changed since the mark, in the order of the first change, as it was and as it is; false
 * where there is none. *at is 0 at first. */
bool ram_changed(struct store_conn *c, size_t *at, struct ram_change *ret);
/* The same for agents whose target row was written. */
bool ram_target_changed(struct store_conn *c, size_t *at, int64_t *ret_agent);

/* Agents have the ids from 1 to this. */
size_t ram_agent_count(const struct store_conn *c);
struct str ram_agent_name(const struct store_conn *c, int64_t agent);
struct target_row ram_target(const struct store_conn *c, int64_t agent);
int64_t ram_agent_space(const struct store_conn *c, int64_t agent);
/* Handoffs of the space are numbered from 1 to this. */
uint64_t ram_handoff_count(const struct store_conn *c, int64_t space);
/* Borrowed until the next verb. NULL: it was pruned. */
const struct handoff_row *ram_handoff(const struct store_conn *c, int64_t space, uint64_t num);
bool ram_has_result(const struct store_conn *c, int64_t space, uint64_t num);
/* The memory that the result is; 0: none. */
uint64_t ram_result_then(const struct store_conn *c, int64_t space, uint64_t num);
uint64_t ram_result_memory(const struct store_conn *c, int64_t space, uint64_t num);
/* How many are not forgotten. */
uint64_t ram_memory_count(const struct store_conn *c, int64_t space);
/* When the first handoff or agent is due; 0: none is. */
int64_t ram_next_due(const struct store_conn *c);
size_t ram_event_total(const struct store_conn *c);
/* By its place, from 0. Borrowed until the next verb. Its id is 0 where it was pruned. */
const struct event_row *ram_event(const struct store_conn *c, size_t index);

#endif
