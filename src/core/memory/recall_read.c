/* Reading a whole space into an index, on two threads: one reads the store and takes the texts apart, the other, the
 * caller's, adds the documents to the index. Both take about as long.
 *
 * Between them go two batches of documents, in turn: while one is being filled, the other is being emptied. Whose turn
 * it is with a batch is said by two counters; apart from these nothing is shared. The documents are added in the order
 * of their numbers, as one thread would.
 */
#include "core/memory/recall_internal.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
	BATCH = 128,	/* documents: together they should stay in the cache */
	BATCHES = 2,
};

struct slot {
	struct index_document doc;
	struct termbag bag;		/* of doc */
	struct arena arena;		/* of doc's labels */
};

struct batch {
	struct arena arena;		/* of the memories */
	struct memory memories[BATCH];
	struct slot slots[BATCH];
	size_t count;			/* 0: the end, or a failure */
	size_t slot_count;		/* of them, those that can be recalled */
	enum store_status status;
};

struct reading {
	/* Of the thread that reads. */
	struct store_conn *c;
	int64_t space;
	uint64_t after;			/* number of the last memory read */
	struct recall_maker maker;

	bool alone;			/* there is no second thread */
	struct batch batches[BATCHES];
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t changed;
	uint64_t filled;		/* batches so far */
	uint64_t emptied;
};

/* Makes the document, then swaps what it borrows from the maker for what the slot had before. */
static void fill_slot(struct recall_maker *maker, const struct memory *m, struct slot *slot)
{
	struct termbag bag = slot->bag;
	struct arena arena = slot->arena;

	recall_maker_run(maker, m, &slot->doc);
	slot->bag = maker->bag;
	slot->arena = maker->arena;
	slot->doc.terms = &slot->bag;
	maker->bag = bag;
	maker->arena = arena;
}

static void fill_batch(struct reading *r, struct batch *b)
{
	b->count = 0;
	arena_release(&b->arena);
	b->status = store_memory_scan(r->c, r->space, r->after, BATCH, &b->arena, b->memories, &b->count);
	if (b->status != STORE_OK)
		b->count = 0;
	if (b->count > 0)
		r->after = b->memories[b->count - 1].num;
	b->slot_count = 0;
	for (size_t i = 0; i < b->count; i++)
		if (b->memories[i].quarantined_at_ms == 0)
			fill_slot(&r->maker, &b->memories[i], &b->slots[b->slot_count++]);
}

static void *fill_all(void *arg)
{
	struct reading *r = arg;
	size_t count;

	for (uint64_t n = 0;; n++) {
		struct batch *b = &r->batches[n % BATCHES];

		pthread_mutex_lock(&r->lock);
		while (n - r->emptied == BATCHES)
			pthread_cond_wait(&r->changed, &r->lock);
		pthread_mutex_unlock(&r->lock);
		fill_batch(r, b);
		count = b->count;
		/* From here on the batch is the other thread's. */
		pthread_mutex_lock(&r->lock);
		r->filled++;
		pthread_cond_signal(&r->changed);
		pthread_mutex_unlock(&r->lock);
		if (count == 0)
			return NULL;
	}
}

/* The batch with this number, once it is filled. */
static struct batch *wait_for_batch(struct reading *r, uint64_t n)
{
	struct batch *b = &r->batches[n % BATCHES];

	if (r->alone) {
		fill_batch(r, b);
		return b;
	}
	pthread_mutex_lock(&r->lock);
	while (r->filled == n)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return b;
}

static void give_batch_back(struct reading *r)
{
	pthread_mutex_lock(&r->lock);
	r->emptied++;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static struct reading *reading_new(struct store_conn *c, int64_t space, uint64_t seed)
{
	struct reading *r = mem_zalloc(sizeof(*r));

	r->c = c;
	r->space = space;
	recall_maker_init(&r->maker, seed);
	for (size_t i = 0; i < BATCHES; i++) {
		arena_init(&r->batches[i].arena);
		for (size_t j = 0; j < BATCH; j++) {
			termbag_init(&r->batches[i].slots[j].bag, seed);
			arena_init(&r->batches[i].slots[j].arena);
		}
	}
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	return r;
}

static void reading_free(struct reading *r)
{
	for (size_t i = 0; i < BATCHES; i++) {
		arena_release(&r->batches[i].arena);
		for (size_t j = 0; j < BATCH; j++) {
			termbag_release(&r->batches[i].slots[j].bag);
			arena_release(&r->batches[i].slots[j].arena);
		}
	}
	recall_maker_release(&r->maker);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

enum store_status recall_read(struct store_conn *c, int64_t space, uint64_t seed, struct index *index)
{
	struct reading *r = reading_new(c, space, seed);
	enum store_status status;
	pthread_t thread;
	struct batch *b;

	/* Without a second thread it only takes longer. */
	r->alone = pthread_create(&thread, NULL, fill_all, r) != 0;
	for (uint64_t n = 0; (b = wait_for_batch(r, n))->count > 0; n++) {
		for (size_t i = 0; i < b->slot_count; i++)
			index_add(index, &b->slots[i].doc);
		give_batch_back(r);
	}
	status = b->status;
	if (!r->alone)
		pthread_join(thread, NULL);
	reading_free(r);
	return status;
}
