#include "engine/spaces.h"

#include "base/mem.h"
#include "base/rwlock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 16 };

struct space_entry {
	char name[SPACE_NAME_MAX];
	size_t len;
	int64_t id;		/* 0: not known, or removed */
};

/* From the first to the last all were removed. */
struct gone_range {
	int64_t first;
	int64_t last;
};

/* A table with open addressing, at most half full. Ids are given one after the other, so those that were removed are
 * runs between those that are there: the list of them is no longer than that of the spaces, however many come and go.
 */
struct spaces {
	pthread_rwlock_t lock;
	struct space_entry *slots;
	size_t mask;
	size_t count;		/* of slots with a name, removed or not */
	struct gone_range *gone;
	size_t gone_count;
	size_t gone_cap;
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
	s->mask = SLOTS_MIN - 1;
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

/* The table anew, at most a quarter full, without the names of spaces that were removed. */
static void make_room(struct spaces *s)
{
	size_t live = 0, mask = SLOTS_MIN - 1;
	struct space_entry *slots;

	for (size_t i = 0; i <= s->mask; i++)
		live += s->slots[i].id != 0;
	while (live * 4 > mask)
		mask = mask * 2 + 1;
	slots = mem_calloc(mask + 1, sizeof(*slots));
	for (size_t i = 0; i <= s->mask; i++)
		if (s->slots[i].id)
			*slot_of(slots, mask, (struct str){s->slots[i].name, s->slots[i].len}) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->mask = mask;
	s->count = live;
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

/* The first range that does not end before the id. */
static size_t range_at(const struct spaces *s, int64_t id)
{
	size_t from = 0, to = s->gone_count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->gone[mid].last < id)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static bool is_gone(const struct spaces *s, int64_t id)
{
	size_t at = range_at(s, id);

	return at < s->gone_count && s->gone[at].first <= id;
}

static void insert_range(struct spaces *s, size_t at, int64_t id)
{
	if (s->gone_count == s->gone_cap) {
		s->gone_cap = 2 * s->gone_cap + 8;
		s->gone = mem_reallocarray(s->gone, s->gone_cap, sizeof(*s->gone));
	}
	memmove(s->gone + at + 1, s->gone + at, (s->gone_count - at) * sizeof(*s->gone));
	s->gone[at] = (struct gone_range){id, id};
	s->gone_count++;
}

static void note_gone(struct spaces *s, int64_t id)
{
	size_t at = range_at(s, id);
	bool joins_before = at > 0 && s->gone[at - 1].last == id - 1;
	bool joins_after = at < s->gone_count && s->gone[at].first == id + 1;

	if (is_gone(s, id))
		return;
	if (joins_before && joins_after) {
		s->gone[at - 1].last = s->gone[at].last;
		s->gone_count--;
		memmove(s->gone + at, s->gone + at + 1, (s->gone_count - at) * sizeof(*s->gone));
	} else if (joins_before) {
		s->gone[at - 1].last = id;
	} else if (joins_after) {
		s->gone[at].first = id;
	} else {
		insert_range(s, at, id);
	}
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
			make_room(s);
	} else if (slot->id == 0 && !is_gone(s, id)) {
		slot->id = id;
	}
	pthread_rwlock_unlock(&s->lock);
}

/* The slot stays until the table is made anew: other names may have been put behind it. */
void spaces_forget(struct spaces *s, struct str name, int64_t id)
{
	struct space_entry *slot;

	pthread_rwlock_wrlock(&s->lock);
	slot = slot_of(s->slots, s->mask, name);
	if (slot->id == id)
		slot->id = 0;
	note_gone(s, id);
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
