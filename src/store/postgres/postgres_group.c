#include "store/postgres/postgres_group.h"

/* A transaction of more bytes than this goes alone: others would wait for it. */
enum { GROUP_BYTES = 1 << 20 };

void postgres_group_init(struct postgres_group *g)
{
	*g = (struct postgres_group){.is_busy = false};
	pthread_mutex_init(&g->lock, NULL);
	g->last = &g->first;
}

void postgres_group_release(struct postgres_group *g)
{
	pthread_mutex_destroy(&g->lock);
}

/* As many as fit go with the first one. */
static void take(struct postgres_group *g)
{
	struct postgres_turn *end = g->first;
	size_t bytes = end->bytes, count = 1;

	while (end->next && count++ < GROUP_MAX && bytes + end->next->bytes <= GROUP_BYTES) {
		end = end->next;
		bytes += end->bytes;
	}
	g->first = end->next;
	if (g->first == NULL)
		g->last = &g->first;
	end->next = NULL;
}

/* Who has been told to send may find more behind itself when it begins to. */
bool postgres_group_enter(struct postgres_group *g, struct postgres_turn *t)
{
	t->next = NULL;
	t->state = TURN_WAITS;
	pthread_cond_init(&t->changed, NULL);
	pthread_mutex_lock(&g->lock);
	*g->last = t;
	g->last = &t->next;
	if (!g->is_busy)
		t->state = TURN_SENDS;
	g->is_busy = true;
	while (t->state == TURN_WAITS)
		pthread_cond_wait(&t->changed, &g->lock);
	if (t->state == TURN_SENDS)
		take(g);
	pthread_mutex_unlock(&g->lock);
	pthread_cond_destroy(&t->changed);
	return t->state == TURN_SENDS;
}

static void tell(struct postgres_turn *t, int state)
{
	t->state = state;
	pthread_cond_signal(&t->changed);
}

/* Who is told may be gone at once: nothing of it is looked at behind that. */
void postgres_group_end(struct postgres_group *g, struct postgres_turn *t, enum group_outcome outcome)
{
	struct postgres_turn *next = t->next;

	t->next = NULL;
	pthread_mutex_lock(&g->lock);
	while ((t = next) != NULL) {
		next = t->next;
		t->outcome = outcome;
		tell(t, TURN_IS_TOLD);
	}
	g->is_busy = g->first;
	if (g->first)
		tell(g->first, TURN_SENDS);
	pthread_mutex_unlock(&g->lock);
}
