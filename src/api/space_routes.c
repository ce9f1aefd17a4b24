/* The settings of the space that the request is about; and the list of all spaces, for whoever runs the server. */
#include "api/describe/descriptions.h"
#include "api/gate.h"
#include "api/http/cluster_front.h"
#include "api/routes.h"
#include "core/cluster/shard.h"
#include "engine/space_delete.h"
#include "engine/space_settings.h"
#include "engine/watch/queues.h"

/* --- Of a node: the spaces of all shards, read from the database --- */

/* A position is a shard, and the id of a space in it. */
#define ID_BITS 40
#define ID_MASK ((UINT64_C(1) << ID_BITS) - 1)

/* Adds as many as there is room for. */
static enum problem_code add_shard(struct space_list *all, struct store_conn *c, int shard, uint64_t after)
{
	struct queues *queues = queues_new();
	struct space_list one = *all;
	enum problem_code code;

	one.page.position = after;
	one.page.size = all->page.size - all->count;
	code = space_list_read(&one, c, queues, 0);
	queues_free(queues);
	for (size_t i = 0; code == P_OK && i < one.count; i++)
		all->spaces[all->count++] = one.spaces[i];
	if (one.count)
		all->page.next = (uint64_t)shard << ID_BITS | one.page.next;
	all->page.has_more = one.page.has_more;
	all->op.problem = one.op.problem;
	return code;
}

static enum problem_code read_shards(struct op *op, struct store_conn *own)
{
	const struct cluster_node_api *node = ((const struct call *)op->ctx)->api->node;
	struct space_list *l = (struct space_list *)op;
	int first = (int)(l->page.position >> ID_BITS) % SHARDS;
	uint64_t shards = node->shards_with_spaces(node->ctx), after = l->page.position & ID_MASK;
	enum problem_code code = P_OK;

	(void)own;
	l->count = 0;
	l->spaces = arena_calloc(op->arena, l->page.size + 1, sizeof(*l->spaces));
	for (int i = first; code == P_OK && i < SHARDS && !l->page.has_more; i++, after = 0) {
		struct store_conn *c;

		if (!(shards >> i & 1))
			continue;
		if (l->count == l->page.size) {
			l->page.has_more = true;
			break;
		}
		c = node->read_shard(node->ctx, i);
		if (c == NULL)
			return gate_refuse(&op->problem, "the database cannot be read");
		code = add_shard(l, c, i, after);
		store_close(c);
	}
	return code;
}

static const struct op_kind list_of_node_kind = {
	.name = "space_list_of_node", .size = sizeof(struct space_list), .flags = OP_NO_SPACE | OP_ASIDE,
	.read = read_shards,
};

static enum problem_code decode_list(struct call *call)
{
	if (call->api->node)
		call->op->kind = &list_of_node_kind;
	return P_OK;
}

const struct route space_routes[] = {
	{HTTP_GET, "/v1/spaces", &space_list_kind, &describe_list_spaces, decode_list, NULL},
	{HTTP_GET, "/v1/space", &space_get_kind, &describe_read_space, NULL, NULL},
	{HTTP_PUT, "/v1/space", &space_set_kind, &describe_set_space, NULL, NULL},
	{HTTP_DELETE, "/v1/spaces/{}", &space_delete_kind, &describe_delete_space, NULL, NULL},
	{0},
};
