#include "core/cluster/ownership.h"

#include "core/cluster/shard.h"

static bool may_own(const struct cluster_node *node)
{
	return node->is_live && !node->is_leaving;
}

/* The higher number; of equal ones, which never happens but must be decided, the name that sorts first. */
static bool beats(const struct cluster_node *a, const struct cluster_node *b, int shard)
{
	uint64_t x = shard_hash(a->id, (uint64_t)shard + 1), y = shard_hash(b->id, (uint64_t)shard + 1);

	return x != y ? x > y : str_cmp(a->id, b->id) < 0;
}

int cluster_owner_of(int shard, const struct cluster_node *nodes, size_t count)
{
	int best = -1;

	for (size_t i = 0; i < count; i++)
		if (may_own(&nodes[i]) && (best < 0 || beats(&nodes[i], &nodes[best], shard)))
			best = (int)i;
	return best;
}

static const struct cluster_node *node_of(struct str id, const struct cluster_node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (id.p && str_eq(nodes[i].id, id))
			return &nodes[i];
	return NULL;
}

size_t cluster_plan(struct str me, const struct cluster_node *nodes, size_t count, const struct cluster_shard *shards,
		    size_t shard_count, size_t max_give, struct cluster_step *ret)
{
	const struct cluster_node *own = node_of(me, nodes, count);
	size_t steps = 0, given = 0;

	for (size_t i = 0; i < shard_count; i++) {
		const struct cluster_node *owner = node_of(shards[i].owner, nodes, count);
		int best = cluster_owner_of(shards[i].shard, nodes, count);
		bool should_be_ours = best >= 0 && &nodes[best] == own;

		if (should_be_ours && (owner == NULL || !owner->is_live)) {
			ret[steps++] = (struct cluster_step){shards[i].shard, CLUSTER_TAKE};
		} else if (own && owner == own && !should_be_ours && (own->is_leaving || given < max_give)) {
			ret[steps++] = (struct cluster_step){shards[i].shard, CLUSTER_GIVE};
			given++;
		}
	}
	return steps;
}
