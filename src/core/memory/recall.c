/* Building the indexes and keeping them current. */
#include "core/memory/recall.h"

#include "base/mem.h"
#include "base/rwlock.h"
#include "core/memory/recall_internal.h"

#include <stdlib.h>
#include <string.h>

struct recall *recall_new(uint64_t seed)
{
	struct recall *r = mem_zalloc(sizeof(*r));

	r->seed = seed;
	rwlock_init(&r->lock);
	recall_maker_init(&r->maker, seed);
	return r;
}

void recall_free(struct recall *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->space_count; i++)
		recall_space_leave(r->spaces[i]);
	recall_maker_release(&r->maker);
	pthread_rwlock_destroy(&r->lock);
	free(r->spaces);
	free(r);
}

/* --- The list of spaces --- */

/* Sorted by number, so that the search can halve. */
static size_t place_of(const struct recall *r, int64_t space)
{
	size_t from = 0, to = r->space_count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (r->spaces[mid]->space < space)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static struct recall_space *use(struct recall *r, int64_t space)
{
	size_t at = place_of(r, space);

	if (at == r->space_count || r->spaces[at]->space != space)
		return NULL;
	atomic_fetch_add(&r->spaces[at]->users, 1);
	return r->spaces[at];
}

struct recall_space *recall_space_find(struct recall *r, int64_t space)
{
	struct recall_space *s;

	pthread_rwlock_rdlock(&r->lock);
	s = use(r, space);
	pthread_rwlock_unlock(&r->lock);
	return s;
}

void recall_space_leave(struct recall_space *s)
{
	if (s == NULL || atomic_fetch_sub(&s->users, 1) > 1)
		return;
	index_free(s->index);
	free(s->pending);
	pthread_rwlock_destroy(&s->lock);
	free(s);
}

/* To be given back, too. */
static struct recall_space *add_space(struct recall *r, int64_t space)
{
	struct recall_space *s;
	size_t at;

	pthread_rwlock_wrlock(&r->lock);
	s = use(r, space);
	if (s == NULL) {
		s = mem_zalloc(sizeof(*s));
		s->space = space;
		atomic_init(&s->users, 2);
		rwlock_init(&s->lock);
		at = place_of(r, space);
		r->spaces = mem_reallocarray(r->spaces, r->space_count + 1, sizeof(struct recall_space *));
		memmove(r->spaces + at + 1, r->spaces + at, (r->space_count - at) * sizeof(struct recall_space *));
		r->spaces[at] = s;
		r->space_count++;
	}
	pthread_rwlock_unlock(&r->lock);
	return s;
}

bool recall_is_ready(struct recall *r, int64_t space)
{
	struct recall_space *s = recall_space_find(r, space);
	bool ready;

	if (s == NULL)
		return false;
	pthread_rwlock_rdlock(&s->lock);
	ready = s->state == SPACE_READY;
	pthread_rwlock_unlock(&s->lock);
	recall_space_leave(s);
	return ready;
}

/* --- Building --- */

/* Brings one memory of the index up to what the store says now. */
static enum store_status read_again(struct store_conn *c, int64_t space, uint64_t num, struct recall_maker *maker,
				    struct index *index)
{
	struct index_document doc;
	struct memory m;
	struct arena arena;
	enum store_status status;

	arena_init(&arena);
	status = store_memory_get(c, space, num, 0, &arena, &m);
	if (status == STORE_OK && m.forgotten_at_ms == 0 && m.quarantined_at_ms == 0) {
		recall_maker_run(maker, &m, &doc);
		index_add(index, &doc);
	} else if (status == STORE_OK || status == STORE_NOT_FOUND) {
		index_remove(index, num);
		status = STORE_OK;
	}
	arena_release(&arena);
	return status;
}

/* What changed while the index was being built, until nothing is left; then the index is shown. */
static enum store_status catch_up(struct recall_space *s, struct store_conn *c, struct recall_maker *maker,
				  struct index *index, size_t *ret_count)
{
	enum store_status status = STORE_OK;
	uint64_t *pending;
	size_t count;

	for (;;) {
		pthread_rwlock_wrlock(&s->lock);
		pending = s->pending;
		count = s->pending_count;
		s->pending = NULL;
		s->pending_count = s->pending_cap = 0;
		if (count == 0 && s->is_gone)
			status = STORE_NOT_FOUND;
		if (count == 0 && status == STORE_OK) {
			*ret_count = (size_t)index_documents(index);
			s->index = index;
			s->state = SPACE_READY;
		}
		pthread_rwlock_unlock(&s->lock);
		for (size_t i = 0; status == STORE_OK && i < count; i++)
			status = read_again(c, s->space, pending[i], maker, index);
		free(pending);
		if (count == 0 || status != STORE_OK)
			return status;
	}
}

enum store_status recall_build(struct recall *r, struct store_conn *c, int64_t space, size_t *ret_count)
{
	struct recall_space *s = add_space(r, space);
	struct index_config config = index_config_default;
	struct recall_maker maker;
	enum store_status status;
	struct index *index;

	/* From here on the writer notes its changes; what it committed before is seen by the reads below. */
	pthread_rwlock_wrlock(&s->lock);
	s->state = SPACE_BUILDING;
	pthread_rwlock_unlock(&s->lock);

	config.seed = r->seed;
	index = index_new(&config);
	recall_maker_init(&maker, r->seed);
	status = recall_read(c, space, r->seed, index);
	if (status == STORE_OK)
		status = catch_up(s, c, &maker, index, ret_count);
	if (status != STORE_OK) {
		pthread_rwlock_wrlock(&s->lock);
		s->state = SPACE_COLD;
		pthread_rwlock_unlock(&s->lock);
		index_free(index);
	}
	recall_space_leave(s);
	recall_maker_release(&maker);
	return status;
}

/* --- Changes, on the writer's thread --- */

static void note_pending(struct recall_space *s, uint64_t num)
{
	if (s->pending_count == s->pending_cap) {
		s->pending_cap = s->pending_cap ? s->pending_cap * 2 : 64;
		s->pending = mem_reallocarray(s->pending, s->pending_cap, sizeof(*s->pending));
	}
	s->pending[s->pending_count++] = num;
}

/* Locks the space for a change and returns true where its index is there to be changed. Otherwise the change is noted
 * or not needed, and nothing is locked. */
static bool begin_change(struct recall_space *s, uint64_t num)
{
	if (s == NULL)
		return false;
	pthread_rwlock_wrlock(&s->lock);
	if (s->state == SPACE_READY)
		return true;
	if (s->state == SPACE_BUILDING)
		note_pending(s, num);
	pthread_rwlock_unlock(&s->lock);
	return false;
}

void recall_put(struct recall *r, const struct memory *m)
{
	struct recall_space *s = recall_space_find(r, m->space);
	struct index_document doc;

	if (s == NULL)
		return;
	if (m->quarantined_at_ms) {
		recall_space_leave(s);
		recall_remove(r, m->space, m->num);
		return;
	}
	/* The long part, reading the text, is done before the searches are kept out. */
	recall_maker_run(&r->maker, m, &doc);
	if (begin_change(s, m->num)) {
		index_add(s->index, &doc);
		pthread_rwlock_unlock(&s->lock);
	}
	recall_space_leave(s);
}

void recall_set_superseded(struct recall *r, int64_t space, uint64_t num)
{
	struct recall_space *s = recall_space_find(r, space);

	if (begin_change(s, num)) {
		index_set_hidden(s->index, num, true);
		pthread_rwlock_unlock(&s->lock);
	}
	recall_space_leave(s);
}

void recall_remove(struct recall *r, int64_t space, uint64_t num)
{
	struct recall_space *s = recall_space_find(r, space);

	if (begin_change(s, num)) {
		index_remove(s->index, num);
		pthread_rwlock_unlock(&s->lock);
	}
	recall_space_leave(s);
}

/* Takes the space out of the list; NULL where it is not there. */
static struct recall_space *take_out(struct recall *r, int64_t space)
{
	struct recall_space *s = NULL;
	size_t at;

	pthread_rwlock_wrlock(&r->lock);
	at = place_of(r, space);
	if (at < r->space_count && r->spaces[at]->space == space) {
		s = r->spaces[at];
		r->space_count--;
		memmove(r->spaces + at, r->spaces + at + 1, (r->space_count - at) * sizeof(struct recall_space *));
	}
	pthread_rwlock_unlock(&r->lock);
	return s;
}

void recall_forget(struct recall *r, int64_t space)
{
	struct recall_space *s = take_out(r, space);
	struct index *index;

	if (s == NULL)
		return;
	pthread_rwlock_wrlock(&s->lock);
	index = s->index;
	s->index = NULL;
	s->is_gone = true;
	if (s->state == SPACE_READY)
		s->state = SPACE_COLD;
	pthread_rwlock_unlock(&s->lock);
	index_free(index);
	recall_space_leave(s);
}

void recall_usage(struct recall *r, size_t *ret_bytes, size_t *ret_memories)
{
	size_t bytes = 0, memories = 0;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < r->space_count; i++) {
		struct recall_space *s = r->spaces[i];

		pthread_rwlock_rdlock(&s->lock);
		if (s->index) {
			bytes += index_bytes(s->index);
			memories += (size_t)index_documents(s->index);
		}
		pthread_rwlock_unlock(&s->lock);
	}
	pthread_rwlock_unlock(&r->lock);
	*ret_bytes = bytes;
	*ret_memories = memories;
}
