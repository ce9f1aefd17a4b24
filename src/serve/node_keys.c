/* The keys of all nodes: they are in the database, and each node has them in memory.
 *
 * A node extends its lease only when it goes by all keys that were committed before the renewal. So a change of keys
 * holds everywhere when each node that lives has said that it has it, and at the latest when a lease has passed since:
 * who has not heard of it by then serves nothing. Whoever makes a change is answered then.
 */
#include "serve/node_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/access/keyring.h"

#include <stdlib.h>

bool node_read_keys(struct node *n, int64_t version, bool *ret_is_new)
{
	struct buf error;
	bool is_read;

	*ret_is_new = version != n->keys_version && n->shared->keyring;
	if (!*ret_is_new)
		return true;
	is_read = keyring_replace(n->shared->keyring, n->keys, db_clock_now_ms(&n->clock)) == STORE_OK;
	if (is_read) {
		n->keys_version = version;
		store_cluster_know_keys(n->cluster, version);
	} else if (!n->lacks_keys) {
		buf_init(&error, 1024);
		buf_puts(&error, store_error(n->keys));
		log_write(n->log, LOG_WARN, "the keys cannot be read again: this node serves until its lease is over",
			  LOG_SLICE("error", buf_str(&error)));
		buf_release(&error);
	}
	n->lacks_keys = !is_read;
	return is_read;
}

/* --- Changes --- */

void node_spread_keys(void *node, void (*then)(void *arg), void *arg)
{
	struct node *n = node;
	struct node_spread *s = mem_alloc(sizeof(*s));
	bool is_over;

	pthread_mutex_lock(&n->lock);
	*s = (struct node_spread){n->spreads, clock_boot_ns(), -1, then, arg};
	is_over = n->is_stopping;
	if (!is_over)
		n->spreads = s;
	pthread_mutex_unlock(&n->lock);
	if (is_over) {
		free(s);
		then(arg);
		return;
	}
	node_wake(n);
}

/* This node has changed them itself. */
static bool is_known_to_all(const struct node_view *v, int64_t version)
{
	for (size_t i = 0; i < v->all.node_count; i++)
		if ((int)i != v->me && v->all.nodes[i].is_live && v->all.nodes[i].keys_version < version)
			return false;
	return true;
}

void node_look_at_spreads(struct node *n, const struct node_view *v)
{
	int64_t now_ns = clock_boot_ns();
	struct node_spread **at = &n->spreads;

	while (*at) {
		struct node_spread *s = *at;

		if (v && s->version < 0 && v->asked_ns > s->since_ns)
			s->version = v->all.keys_version;
		if ((v == NULL || s->version < 0 || !is_known_to_all(v, s->version)) &&
		    now_ns - s->since_ns < LEASE_MS * NODE_MS_NS) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		s->then(s->arg);
		free(s);
	}
}

void node_end_spread(struct node *n)
{
	while (n->spreads) {
		struct node_spread *s = n->spreads;

		n->spreads = s->next;
		s->then(s->arg);
		free(s);
	}
}
