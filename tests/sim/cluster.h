/* Several servers over one database: nodes that pause, die, leave and come back, whose clocks are off and whose leases
 * end, and shards that move between them, also in the middle of a batch.
 *
 * The engines, the leases (core/cluster/lease.h) and the plan of who owns what (core/cluster/ownership.h) are those of
 * the server; the database is one in memory (store/ram/ram_database.h). Each shard has a world of its own (world.h),
 * with senders, receivers and a checker: what they hold to be true of one server must be true of all of them together.
 * A request goes to any node, is passed on to the owner at most once, and may get no answer in time.
 *
 *     cluster.c          the run: worlds, errands, the end
 *     cluster_faults.c   what goes wrong
 *     cluster_node.c     a node: its clock, its lease, what it takes and gives away
 *     cluster_part.c     a node's engine of a shard: a batch, its pauses, its end
 *     cluster_call.c     the way of a request, and of its answer
 *
 * Beside what the checker of each shard knows: only the last who has taken a shard commits to it; an answer that is of
 * no commit leaves only from that one; who is told that nothing has happened is told the truth; and soon behind the
 * last fault every shard is served.
 */
#ifndef SPINE_TESTS_SIM_CLUSTER_H
#define SPINE_TESTS_SIM_CLUSTER_H

#include "world.h"

struct cluster;

/* What is left out on purpose, to see that it is found. */
enum cluster_broken {
	CLUSTER_WELL,
	CLUSTER_NO_FENCE,		/* the database takes commits of every epoch */
	CLUSTER_SAME_EPOCH,		/* taking a shard does not raise the epoch */
	CLUSTER_NO_MARKER,		/* a commit whose answer was lost is taken for one that was not made */
	CLUSTER_NO_GATE,		/* nobody looks at the lease before an answer */
	CLUSTER_KEEPS_CACHES,		/* who takes a shard once more goes on with the engine that it had */
	CLUSTER_BROKEN
};

/* Borrows both. Returns owned. */
struct cluster *cluster_new(struct tally *tally, struct trace *trace);
void cluster_free(struct cluster *c);
/* Plays a seed with about so many handoffs. What is wrong is printed. */
struct world_result cluster_run(struct cluster *c, uint64_t seed, size_t handoffs, enum cluster_broken broken);
/* "fence"; NULL: there is none of that number. */
const char *cluster_broken_name(enum cluster_broken broken);

#endif
