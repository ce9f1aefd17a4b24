/* What is queued, at work and parked for each agent, and the breakers, as they are now: shared by everybody who asks.
 *
 * Counting costs a step for each open handoff. So the counts are kept until something is committed; and where there are
 * thousands, the next count waits for twenty times as long as the last one took: however many ask, and however long the
 * queues, counting them takes a twentieth of a core at most. Up to two thousand the counts are exact as of the last
 * commit. Any thread.
 */
#ifndef SPINE_ENGINE_QUEUES_H
#define SPINE_ENGINE_QUEUES_H

#include "engine/writer.h"

enum { QUEUES_AGENTS_MAX = 10000 };	/* agents beyond it count in the sums of their spaces only */

struct queues;

/* Returns owned. */
struct queues *queues_new(void);
/* NULL-safe. */
void queues_free(struct queues *q);

/* Sums, of one space or of all. */
struct queues_sum {
	int64_t space;
	struct target_counts counts;
	int64_t breakers_open;		/* not closed */
};

/* The agents of a space (0: of all), in the arena, and the sums of all spaces that there is something to say of; either
 * may be NULL. Reads through c where what is known is too old; commits is the writer's counter. */
enum store_status queues_read(struct queues *q, struct store_conn *c, uint64_t commits, int64_t space,
			      struct arena *arena, struct queue_row **ret, size_t *ret_count,
			      struct queues_sum **ret_sums, size_t *ret_sum_count);
/* The sum of a space, or of all (0), among those that queues_read gave. */
struct queues_sum queues_sum_of(const struct queues_sum *sums, size_t count, int64_t space);
/* Since when the first of the agent's queue wait; 0: nothing does. */
enum store_status queues_waiting_since(struct store_conn *c, int64_t agent, struct arena *arena, int64_t *ret_ms);
/* Adds more to what is there. */
void queues_add(struct target_counts *to, const struct target_counts *more);

#endif
