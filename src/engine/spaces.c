#include "engine/spaces.h"

#include "base/mem.h"
#include "base/rwlock.h"

#include <pthread.h>
#include <stdlib.h>

struct space_entry {
	char name[SPACE_NAME_MAX];
	size_t len;
	int64_t id;		/* 0: not known, or removed */
};

/* A table with open addressing, at most half full. */
struct spaces {
	pthread_rwlock_t lock;
	struct space_entry *slots;
	size_t mask;
	size_t count;
	int64_t *gone;		/* those that were removed */
	size_t gone_count;
};

bool space_name_is_valid(struct str name)
{
	if (name.n < 1 || name.n > SPACE_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!letter && (i == 0 || (c != '_' && c != '-')))
			return false;
	}
	return true;
}

struct spaces *spaces_new(void)
{
	struct spaces *s = mem_zalloc(sizeof(*s));

	rwlock_init(&s->lock);
	s->mask = 15;
	s->slots = mem_calloc(s->mask + 1, sizeof(*s->slots));
	return s;
}

void spaces_free(struct spaces *s)
{
	if (s == NULL)
		return;
	pthread_rwlock_destroy(&s->lock);
	free(s->slots);
	free(s->gone);
	free(s);
}

/* The slot of the name, or the empty one where it belongs. FNV-1a: names are short, and only a writer can add one. */
static struct space_entry *slot_of(struct space_entry *slots, size_t mask, struct str name)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t at;

	for (size_t i = 0; i < name.n; i++)
		hash = (hash ^ (unsigned char)name.p[i]) * UINT64_C(1099511628211);
	for (at = hash & mask; slots[at].len; at = (at + 1) & mask)
		if (str_eq((struct str){slots[at].name, slots[at].len}, name))
			break;
	return &slots[at];
}

static void grow(struct spaces *s)
{
	size_t mask = s->mask * 2 + 1;
	struct space_entry *slots = mem_calloc(mask + 1, sizeof(*slots));

	for (size_t i = 0; i <= s->mask; i++)
		if (s->slots[i].len)
			*slot_of(slots, mask, (struct str){s->slots[i].name, s->slots[i].len}) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->mask = mask;
}

enum store_status spaces_find(struct spaces *s, struct store_conn *c, struct str name, int64_t *ret_id)
{
	enum store_status status;
	int64_t id;

	pthread_rwlock_rdlock(&s->lock);
	id = slot_of(s->slots, s->mask, name)->id;
	pthread_rwlock_unlock(&s->lock);
	if (id == 0) {
		status = store_space_find(c, name, &id);
		if (status != STORE_OK)
			return status;
		/* On the writing connection it may have been made by a transaction that is not committed yet; that one
		 * is remembered when it is. */
		if (store_is_reader(c))
			spaces_remember(s, name, id);
	}
	*ret_id = id;
	return STORE_OK;
}

/* Ids grow, and so does the list. */
static bool is_gone(const struct spaces *s, int64_t id)
{
	size_t from = 0, to = s->gone_count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->gone[mid] == id)
			return true;
		if (s->gone[mid] < id)
			from = mid + 1;
		else
			to = mid;
	}
	return false;
}

void spaces_remember(struct spaces *s, struct str name, int64_t id)
{
	struct space_entry *slot;

	pthread_rwlock_wrlock(&s->lock);
	slot = slot_of(s->slots, s->mask, name);
	if (slot->len == 0 && !is_gone(s, id)) {
		memcpy(slot->name, name.p, name.n);
		slot->len = name.n;
		slot->id = id;
		if (++s->count * 2 > s->mask)
			grow(s);
	} else if (slot->id == 0 && !is_gone(s, id)) {
		slot->id = id;
	}
	pthread_rwlock_unlock(&s->lock);
}

/* The slot stays, for the same name: other names may have been put behind it. */
void spaces_forget(struct spaces *s, struct str name, int64_t id)
{
	struct space_entry *slot;
	size_t at;

	pthread_rwlock_wrlock(&s->lock);
	slot = slot_of(s->slots, s->mask, name);
	if (slot->id == id)
		slot->id = 0;
	if (!is_gone(s, id)) {
		s->gone = mem_reallocarray(s->gone, s->gone_count + 1, sizeof(*s->gone));
		for (at = s->gone_count++; at > 0 && s->gone[at - 1] > id; at--)
			s->gone[at] = s->gone[at - 1];
		s->gone[at] = id;
	}
	pthread_rwlock_unlock(&s->lock);
}

bool spaces_is_gone(struct spaces *s, int64_t id)
{
	bool gone;

	pthread_rwlock_rdlock(&s->lock);
	gone = is_gone(s, id);
	pthread_rwlock_unlock(&s->lock);
	return gone;
}
