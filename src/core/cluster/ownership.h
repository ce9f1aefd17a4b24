/* Which server should own a shard, and what this one has to do next.
 *
 * Rendezvous hashing: every server has a number for every shard, and the highest among those that live owns it. All
 * come to the same result without asking each other, and when one comes or goes only its own part moves.
 *
 * Nothing here is what keeps two owners apart: that is the database's fence. Servers that see different lists may plan
 * differently for a moment, and then one of them is refused.
 */
#ifndef SPINE_CORE_CLUSTER_OWNERSHIP_H
#define SPINE_CORE_CLUSTER_OWNERSHIP_H

#include "base/str.h"

struct cluster_node {
	struct str id;
	bool is_live;			/* its lease has not ended */
	bool is_leaving;		/* it stops, and owns nothing any more as soon as it can */
};

struct cluster_shard {
	int shard;
	struct str owner;		/* a node's id; p == NULL: nobody */
};

enum cluster_action {
	CLUSTER_TAKE,			/* nobody who lives has it, and it should be ours */
	CLUSTER_GIVE,			/* it is ours, and should be somebody else's */
};

struct cluster_step {
	int shard;
	enum cluster_action action;
};

/* The index of the node that should own the shard; -1: there is none that lives and stays. */
int cluster_owner_of(int shard, const struct cluster_node *nodes, size_t count);

/* What `me` has to do, in the order of the shards: ret has room for shard_count steps. Of those that others should have
 * at most max_give are given away at a time, so that a new server takes its part over bit by bit; a server that leaves
 * gives everything. Returns how many steps. */
size_t cluster_plan(struct str me, const struct cluster_node *nodes, size_t count, const struct cluster_shard *shards,
		    size_t shard_count, size_t max_give, struct cluster_step *ret);

#endif
