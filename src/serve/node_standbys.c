/* PostgreSQL's standbys, as the primary tells of them: for whoever watches. Nothing is decided by it. */
#include "serve/node_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json_member.h"

#include <stdio.h>
#include <stdlib.h>

/* KNOWN_MS: what was told longer ago is not told as if it were so. */
enum { ASK_MS = 2000, KNOWN_MS = LEASE_MS };

struct node_standbys {
	struct arena arena;
	enum store_status status;	/* STORE_OK, or nobody knows */
	struct cluster_standby_row rows[STORE_STANDBYS_MAX];
	size_t count;
	int64_t asked_ns;
};

void node_free_standbys(struct node_standbys *s)
{
	if (s)
		arena_release(&s->arena);
	free(s);
}

void node_read_standbys(struct node *n)
{
	struct node_standbys *s, *before;
	int64_t now_ns = clock_boot_ns();

	if (now_ns < n->standbys_next_ns)
		return;
	n->standbys_next_ns = now_ns + ASK_MS * NODE_MS_NS;
	s = mem_zalloc(sizeof(*s));
	arena_init(&s->arena);
	s->asked_ns = now_ns;
	s->status = store_cluster_standbys(n->cluster, &s->arena, s->rows, &s->count);
	pthread_mutex_lock(&n->lock);
	before = n->standbys;
	n->standbys = s;
	pthread_mutex_unlock(&n->lock);
	node_free_standbys(before);
}

/* --- Telling: with the lock held --- */

static bool is_known(const struct node_standbys *s)
{
	return s && s->status == STORE_OK && clock_boot_ns() - s->asked_ns < KNOWN_MS * NODE_MS_NS;
}

static void put_lag(struct json_writer *w, const char *key, int64_t lag)
{
	if (lag < 0)
		json_member_null(w, key);
	else
		json_member_int(w, key, lag);
}

void node_put_standbys(const struct node *n, struct json_writer *w)
{
	const struct node_standbys *s = n->standbys;

	if (!is_known(s)) {
		json_member_null(w, "standbys");
		return;
	}
	json_key(w, "standbys");
	json_begin_array(w);
	for (size_t i = 0; i < s->count; i++) {
		json_begin_object(w);
		json_member_str(w, "name", s->rows[i].name);
		json_member_str(w, "state", s->rows[i].state);
		json_member_str(w, "sync_state", s->rows[i].sync_state);
		put_lag(w, "lag_ms", s->rows[i].lag_ms);
		put_lag(w, "lag_bytes", s->rows[i].lag_bytes);
		json_end_object(w);
	}
	json_end_array(w);
}

/* Several may have one name: then the first, which is furthest behind. */
void node_count_standbys(const struct node *n, struct cluster_figures *ret)
{
	const struct node_standbys *s = n->standbys;

	for (size_t i = 0; is_known(s) && i < s->count; i++) {
		const struct cluster_standby_row *row = &s->rows[i];
		struct cluster_standby_figures *f = &ret->standbys[ret->standby_count];

		if (i > 0 && str_eq(row->name, s->rows[i - 1].name))
			continue;
		snprintf(f->name, sizeof(f->name), "%.*s", STR_ARG(row->name));
		f->lag_ms = row->lag_ms;
		f->lag_bytes = row->lag_bytes;
		ret->standby_count++;
	}
}
