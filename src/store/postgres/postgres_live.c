#include "store/postgres/postgres_live.h"

#include "base/heap.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { BUCKETS_MIN = 64, SENDER_BUCKETS = 256 };

/* An agent that something is queued for, or was in this transaction. */
struct agent {
	struct agent *next;		/* in its bucket */
	int64_t id;
	struct heap queue;
	struct heap passing;		/* of the queue, those that pass */
};

struct handoff {
	struct handoff *next;
	struct live_row row;
	struct agent *agent;		/* NULL: it is not queued */
	size_t queue_pos, passing_pos, due_pos;
};

/* Somebody who is to be told of so many. */
struct sender {
	struct sender *next;
	uint64_t id;
	size_t count;
};

/* How a handoff stood before. */
struct note {
	struct live_row row;
	bool was_there;
};

struct postgres_live {
	struct handoff **handoffs;	/* buckets; a power of two */
	struct agent **agents;
	struct sender *senders[SENDER_BUCKETS];
	size_t handoff_buckets, agent_buckets;
	size_t handoff_count, agent_count;
	struct heap due;
	struct note *notes;
	size_t note_count, note_cap;
};

static size_t bucket_of(int64_t id, size_t buckets)
{
	return (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (buckets - 1);
}

/* --- Orders --- */

static bool queue_before(const void *a, const void *b)
{
	const struct live_row *x = &((const struct handoff *)a)->row, *y = &((const struct handoff *)b)->row;

	if (x->priority != y->priority)
		return x->priority > y->priority;
	return x->place != y->place ? x->place < y->place : x->key < y->key;
}

static bool due_before(const void *a, const void *b)
{
	const struct live_row *x = &((const struct handoff *)a)->row, *y = &((const struct handoff *)b)->row;

	return x->due_ms != y->due_ms ? x->due_ms < y->due_ms : x->key < y->key;
}

static void set_queue_pos(void *item, size_t pos)
{
	((struct handoff *)item)->queue_pos = pos;
}

static void set_passing_pos(void *item, size_t pos)
{
	((struct handoff *)item)->passing_pos = pos;
}

static void set_due_pos(void *item, size_t pos)
{
	((struct handoff *)item)->due_pos = pos;
}

/* --- Tables --- */

/* Both tables chain through their first member. */
struct link {
	struct link *next;
};

static int64_t handoff_id(const struct link *l)
{
	return ((const struct handoff *)(const void *)l)->row.key;
}

static int64_t agent_id(const struct link *l)
{
	return ((const struct agent *)(const void *)l)->id;
}

static struct link **grown(struct link **old, size_t *buckets, int64_t (*id_of)(const struct link *l))
{
	size_t count = *buckets * 2;
	struct link **new = mem_calloc(count, sizeof(struct link *));

	for (size_t i = 0; i < *buckets; i++)
		while (old[i]) {
			struct link *l = old[i], **at = &new[bucket_of(id_of(l), count)];

			old[i] = l->next;
			l->next = *at;
			*at = l;
		}
	free(old);
	*buckets = count;
	return new;
}

static struct handoff *find(const struct postgres_live *l, int64_t key)
{
	struct handoff *h = l->handoffs[bucket_of(key, l->handoff_buckets)];

	while (h && h->row.key != key)
		h = h->next;
	return h;
}

static struct agent *find_agent(const struct postgres_live *l, int64_t id)
{
	struct agent *a = l->agents[bucket_of(id, l->agent_buckets)];

	while (a && a->id != id)
		a = a->next;
	return a;
}

static struct agent *agent_of(struct postgres_live *l, int64_t id)
{
	struct agent *a = find_agent(l, id), **at;

	if (a)
		return a;
	if (l->agent_count >= l->agent_buckets)
		l->agents = (struct agent **)grown((struct link **)l->agents, &l->agent_buckets, agent_id);
	a = mem_zalloc(sizeof(*a));
	a->id = id;
	heap_init(&a->queue, queue_before, set_queue_pos);
	heap_init(&a->passing, queue_before, set_passing_pos);
	at = &l->agents[bucket_of(id, l->agent_buckets)];
	a->next = *at;
	*at = a;
	l->agent_count++;
	return a;
}

static void free_agent(struct agent *a)
{
	heap_release(&a->queue);
	heap_release(&a->passing);
	free(a);
}

/* One that nothing is queued for takes no memory. */
static void leave_agent(struct postgres_live *l, struct agent *a)
{
	struct agent **at = &l->agents[bucket_of(a->id, l->agent_buckets)];

	if (a->queue.len)
		return;
	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	l->agent_count--;
	free_agent(a);
}

/* --- Senders --- */

/* The place of the sender, or where it would be. */
static struct sender **place_of_sender(struct postgres_live *l, uint64_t id)
{
	struct sender **at = &l->senders[id >> 8 & (SENDER_BUCKETS - 1)];

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static void add_untold(struct postgres_live *l, uint64_t id)
{
	struct sender **at = place_of_sender(l, id);

	if (*at == NULL) {
		*at = mem_zalloc(sizeof(**at));
		(*at)->id = id;
	}
	(*at)->count++;
}

static void drop_untold(struct postgres_live *l, uint64_t id)
{
	struct sender **at = place_of_sender(l, id), *s = *at;

	assert(s);			/* it was added before */
	if (--s->count)
		return;
	*at = s->next;
	free(s);
}

size_t postgres_live_untold(const struct postgres_live *l, uint64_t sender)
{
	const struct sender *s = l->senders[sender >> 8 & (SENDER_BUCKETS - 1)];

	while (s && s->id != sender)
		s = s->next;
	return s ? s->count : 0;
}

/* --- In and out --- */

static void put_in(struct postgres_live *l, struct handoff *h)
{
	if (h->row.state == HANDOFF_QUEUED) {
		h->agent = agent_of(l, h->row.agent);
		heap_insert(&h->agent->queue, h);
		if (h->row.passes)
			heap_insert(&h->agent->passing, h);
	}
	if (h->row.due_ms > 0)
		heap_insert(&l->due, h);
	if (h->row.untold)
		add_untold(l, h->row.untold);
}

static void take_out(struct postgres_live *l, struct handoff *h)
{
	if (h->agent) {
		heap_remove(&h->agent->queue, h->queue_pos);
		if (h->passing_pos != HEAP_NONE)
			heap_remove(&h->agent->passing, h->passing_pos);
		leave_agent(l, h->agent);
		h->agent = NULL;
	}
	if (h->due_pos != HEAP_NONE)
		heap_remove(&l->due, h->due_pos);
	if (h->row.untold)
		drop_untold(l, h->row.untold);
}

static void add(struct postgres_live *l, const struct live_row *row)
{
	struct handoff *h = mem_zalloc(sizeof(*h)), **at;

	if (l->handoff_count >= l->handoff_buckets)
		l->handoffs = (struct handoff **)grown((struct link **)l->handoffs, &l->handoff_buckets, handoff_id);
	*h = (struct handoff){.row = *row, .queue_pos = HEAP_NONE, .passing_pos = HEAP_NONE, .due_pos = HEAP_NONE};
	at = &l->handoffs[bucket_of(row->key, l->handoff_buckets)];
	h->next = *at;
	*at = h;
	l->handoff_count++;
	put_in(l, h);
}

static void drop(struct postgres_live *l, struct handoff *h)
{
	struct handoff **at = &l->handoffs[bucket_of(h->row.key, l->handoff_buckets)];

	take_out(l, h);
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	l->handoff_count--;
	free(h);
}

static void set(struct postgres_live *l, struct handoff *h, const struct live_row *row)
{
	take_out(l, h);
	h->row = *row;
	put_in(l, h);
}

/* --- Notes --- */

static void note(struct postgres_live *l, const struct handoff *h, int64_t key)
{
	if (l->note_count == l->note_cap) {
		l->note_cap = l->note_cap ? l->note_cap * 2 : BUCKETS_MIN;
		l->notes = mem_reallocarray(l->notes, l->note_cap, sizeof(*l->notes));
	}
	l->notes[l->note_count++] = (struct note){h ? h->row : (struct live_row){.key = key}, h != NULL};
}

size_t postgres_live_mark(const struct postgres_live *l)
{
	return l->note_count;
}

void postgres_live_undo(struct postgres_live *l, size_t mark)
{
	while (l->note_count > mark) {
		const struct note *n = &l->notes[--l->note_count];
		struct handoff *h = find(l, n->row.key);

		if (h && n->was_there)
			set(l, h, &n->row);
		else if (h)
			drop(l, h);
		else if (n->was_there)
			add(l, &n->row);
	}
}

void postgres_live_keep(struct postgres_live *l)
{
	l->note_count = 0;
}

/* --- From outside --- */

static bool is_live(const struct live_row *row)
{
	return row->state < HANDOFF_ACKED || row->due_ms > 0 || row->untold;
}

void postgres_live_put(struct postgres_live *l, const struct live_row *row)
{
	struct handoff *h = find(l, row->key);

	if (h == NULL && !is_live(row))
		return;
	note(l, h, row->key);
	if (h == NULL)
		add(l, row);
	else if (is_live(row))
		set(l, h, row);
	else
		drop(l, h);
}

void postgres_live_drop(struct postgres_live *l, int64_t key)
{
	struct handoff *h = find(l, key);

	if (h == NULL)
		return;
	note(l, h, key);
	drop(l, h);
}

int64_t postgres_live_next(const struct postgres_live *l, int64_t agent, bool passing)
{
	const struct agent *a = find_agent(l, agent);
	const struct handoff *h = a ? heap_first(passing ? &a->passing : &a->queue) : NULL;

	return h ? h->row.key : 0;
}

int64_t postgres_live_due(const struct postgres_live *l, int64_t *ret_ms)
{
	const struct handoff *h = heap_first(&l->due);

	*ret_ms = h ? h->row.due_ms : 0;
	return h ? h->row.key : 0;
}

size_t postgres_live_count(const struct postgres_live *l)
{
	return l->handoff_count;
}

struct postgres_live *postgres_live_new(void)
{
	struct postgres_live *l = mem_zalloc(sizeof(*l));

	l->handoff_buckets = l->agent_buckets = BUCKETS_MIN;
	l->handoffs = mem_calloc(BUCKETS_MIN, sizeof(struct handoff *));
	l->agents = mem_calloc(BUCKETS_MIN, sizeof(struct agent *));
	heap_init(&l->due, due_before, set_due_pos);
	return l;
}

void postgres_live_free(struct postgres_live *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->handoff_buckets; i++)
		while (l->handoffs[i])
			drop(l, l->handoffs[i]);
	heap_release(&l->due);
	free(l->handoffs);
	free(l->agents);
	free(l->notes);
	free(l);
}
