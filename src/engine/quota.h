/* What a space may have at most: memories, bytes, handoffs a minute, receivers that wait, agents. By the space's own
 * word, or else the server's; 0 is no limit.
 *
 * What a space has is counted by the store as it is written, so nothing is counted anew: memories, bytes and agents
 * stand in the row of the space, and handoffs have numbers without gaps. Of the numbers of the last minute one is
 * remembered for each second; after a start they are read from the handoffs themselves. Receivers are counted as they
 * begin and end to wait.
 *
 * New work is refused, never what was accepted before: deliveries, settling, and what is handed on with it.
 *
 *     owner's thread    quota_may_begin: a space that is full refuses before the writer is asked
 *     writer's thread   quota_begin, the run, quota_end: what went beyond a limit is undone, and refused
 *
 * A space without limits pays for none of it but a look into a table.
 */
#ifndef SPINE_ENGINE_QUOTA_H
#define SPINE_ENGINE_QUOTA_H

#include "engine/op.h"

enum quota_kind { QUOTA_MEMORIES, QUOTA_BYTES, QUOTA_HANDOFFS, QUOTA_WAITING, QUOTA_AGENTS, QUOTA_KINDS };

struct quota;
struct spaces;

struct quota_state {
	int64_t used[QUOTA_KINDS];
	int64_t limit[QUOTA_KINDS];	/* 0: none */
};

/* Borrows spaces, which says whether one was removed. */
struct quota *quota_new(const struct space_quota *server, struct spaces *spaces);
/* NULL-safe. */
void quota_free(struct quota *q);
/* "memories", "handoffs_per_minute": as the protocol calls it. */
const char *quota_name(enum quota_kind kind);

/* Has the space a limit of its own, or the word that it has none, instead of the server's? */
bool quota_is_own(const struct space_quota *quota);

/* After the commit that set the limits of the space. Any thread. */
void quota_forget(struct quota *q, int64_t space);
/* After the commit that removed it, and after spaces_forget. Any thread. */
void quota_remove(struct quota *q, int64_t space);
/* Any thread. */
enum store_status quota_read(struct quota *q, struct store_conn *c, int64_t space, int64_t now_ms, struct arena *arena,
			     struct quota_state *ret);

/* The ids of the spaces that are known to have a limit, in order, in the arena; returns how many there are. Any thread.
 */
size_t quota_limited(struct quota *q, struct arena *arena, int64_t **ret);
/* How many requests were refused since the start, by quota. Any thread. */
void quota_refusals(struct quota *q, int64_t space, int64_t ret[QUOTA_KINDS]);

/* Before the operation is prepared or submitted. P_OK, or the refusal. */
enum problem_code quota_may_begin(struct op *op, struct store_conn *c);
/* Around a run. */
struct quota_run {
	bool is_limited;
	struct quota_state before;
};
enum problem_code quota_begin(struct op *op, struct store_conn *c, struct quota_run *ret);
enum problem_code quota_end(struct op *op, struct store_conn *c, const struct quota_run *run, enum problem_code code);

/* On the writer's thread: so many receivers more wait in the space, or fewer. */
void quota_count_waiting(struct quota *q, int64_t space, int more);
/* Before something is done that makes an agent of a name that nobody knows yet, by an operation that is not OP_ADDS. */
enum problem_code quota_may_name(struct op *op, struct store_conn *c, struct str agent);
/* Within a run that is about to wait. */
enum problem_code quota_may_wait(struct op *op, struct store_conn *c);

#endif
