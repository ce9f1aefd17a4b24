/* Nodes that have left. One that stops waits for what it has passed on, and takes nothing more: so what waits here for
 * it is ended, as if this server stopped. It takes its row away when it begins to wait, and by that it is known.
 *
 * Requests may come after that which it had sent before: so the last ids are kept for a while. One that was only paused
 * for long comes back with its id. */
#include "serve/node_internal.h"

#include "api/http/held.h"

#include <stdio.h>

static bool is_in(const struct node_view *v, struct str id)
{
	for (size_t i = 0; i < v->all.node_count; i++)
		if (str_eq(v->all.nodes[i].id, id))
			return true;
	return false;
}

static void look_at_held(struct node *n)
{
	for (int i = 0; i < SHARDS; i++)
		if (n->shards[i].state == NODE_OPEN)
			held_look(n->shards[i].part->part->api.held);
}

void node_tell_left(struct node *n, const struct node_view *before, const struct node_view *now)
{
	bool is_any = false;

	for (size_t i = 0; i < NODE_LEFT_MAX; i++)
		if (is_in(now, str_of(n->left[i])))
			n->left[i][0] = '\0';
	for (size_t i = 0; before && i < before->all.node_count; i++) {
		struct str id = before->all.nodes[i].id;

		if (is_in(now, id) || id.n >= NODE_ID_SIZE)
			continue;
		snprintf(n->left[n->left_count++ % NODE_LEFT_MAX], NODE_ID_SIZE, "%.*s", STR_ARG(id));
		is_any = true;
	}
	if (is_any)
		look_at_held(n);
}

bool node_has_left(void *node, struct str id)
{
	struct node *n = node;
	bool has_left = false;

	pthread_mutex_lock(&n->lock);
	for (size_t i = 0; i < NODE_LEFT_MAX; i++)
		has_left |= str_is(id, n->left[i]);
	pthread_mutex_unlock(&n->lock);
	return has_left;
}
