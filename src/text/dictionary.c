/* A shard is an open-addressed table with linear probing. The upper half of a hash says in which shard and at which
 * slot a string belongs; a slot keeps the lower half, so that a search looks at no entry but the right one, and the
 * entry keeps the upper half, so that from a number the slot is found again.
 */
#include "text/dictionary.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SHARD_BITS = 6 };

_Static_assert(DICTIONARY_SHARDS == 1 << SHARD_BITS, "a shard is chosen by the upper bits of the hash");

void dictionary_init(struct dictionary *d)
{
	*d = (struct dictionary){.free_entry = DICTIONARY_NONE};
}

void dictionary_release(struct dictionary *d)
{
	size_t i;

	for (i = 0; i < DICTIONARY_SHARDS; i++)
		free(d->shards[i].slots);
	free(d->entries);
	dictionary_init(d);
}

size_t dictionary_bytes(const struct dictionary *d)
{
	size_t i, bytes = d->entry_cap * sizeof(*d->entries);

	for (i = 0; i < DICTIONARY_SHARDS; i++)
		bytes += d->shards[i].slot_count * sizeof(struct dictionary_slot);
	return bytes;
}

static inline uint32_t shard_of(uint32_t upper)
{
	return upper >> (32 - SHARD_BITS);
}

static inline uint32_t home_slot(const struct dictionary_shard *shard, uint32_t upper)
{
	return (uint32_t)((uint64_t)(upper << SHARD_BITS) * shard->slot_count >> 32);
}

static inline uint32_t next_slot(const struct dictionary_shard *shard, uint32_t slot)
{
	return slot + 1 == shard->slot_count ? 0 : slot + 1;
}

uint32_t dictionary_find(const struct dictionary *d, uint64_t hash)
{
	uint32_t upper = (uint32_t)(hash >> 32), lower = (uint32_t)hash, at;
	const struct dictionary_shard *shard = &d->shards[shard_of(upper)];

	if (shard->used == 0)
		return DICTIONARY_NONE;
	for (at = home_slot(shard, upper); shard->slots[at].number != DICTIONARY_NONE; at = next_slot(shard, at))
		if (shard->slots[at].lower == lower && d->entries[shard->slots[at].number].upper == upper)
			return shard->slots[at].number;
	return DICTIONARY_NONE;
}

void dictionary_prefetch(const struct dictionary *d, uint64_t hash)
{
	const struct dictionary_shard *shard = &d->shards[shard_of((uint32_t)(hash >> 32))];

	if (shard->slots)
		mem_prefetch(&shard->slots[home_slot(shard, (uint32_t)(hash >> 32))]);
}

uint32_t dictionary_guess(const struct dictionary *d, uint64_t hash)
{
	uint32_t upper = (uint32_t)(hash >> 32), at;
	const struct dictionary_shard *shard = &d->shards[shard_of(upper)];

	if (shard->used == 0)
		return DICTIONARY_NONE;
	for (at = home_slot(shard, upper); shard->slots[at].number != DICTIONARY_NONE; at = next_slot(shard, at))
		if (shard->slots[at].lower == (uint32_t)hash) {
			mem_prefetch(&d->entries[shard->slots[at].number]);
			return shard->slots[at].number;
		}
	return DICTIONARY_NONE;
}

/* The slot that led to the number has the lower half. */
bool dictionary_is(const struct dictionary *d, uint32_t number, uint64_t hash)
{
	return number != DICTIONARY_NONE && d->entries[number].upper == (uint32_t)(hash >> 32);
}

static void put_slot(struct dictionary_shard *shard, uint32_t upper, struct dictionary_slot s)
{
	uint32_t at = home_slot(shard, upper);

	while (shard->slots[at].number != DICTIONARY_NONE)
		at = next_slot(shard, at);
	shard->slots[at] = s;
}

/* Grows at five sixths full, by three eighths: large steps would leave much of the table empty. */
static void make_room(const struct dictionary *d, struct dictionary_shard *shard)
{
	struct dictionary_slot *old = shard->slots;
	uint32_t i, old_count = shard->slot_count;

	if ((uint64_t)(shard->used + 1) * 6 <= (uint64_t)old_count * 5)
		return;
	shard->slot_count = old_count + old_count / 8 * 3 + 4;
	shard->slots = mem_reallocarray(NULL, shard->slot_count, sizeof(*shard->slots));
	memset(shard->slots, 0xff, shard->slot_count * sizeof(*shard->slots));
	for (i = 0; i < old_count; i++)
		if (old[i].number != DICTIONARY_NONE)
			put_slot(shard, d->entries[old[i].number].upper, old[i]);
	free(old);
}

static uint32_t new_entry(struct dictionary *d)
{
	uint32_t number = d->free_entry;

	if (number != DICTIONARY_NONE) {
		d->free_entry = d->entries[number].upper;
		return number;
	}
	if (d->entry_count == d->entry_cap) {
		d->entry_cap += d->entry_cap / 8 + 64;
		d->entries = mem_reallocarray(d->entries, d->entry_cap, sizeof(*d->entries));
	}
	assert(d->entry_count < DICTIONARY_NONE);
	return d->entry_count++;
}

uint32_t dictionary_intern(struct dictionary *d, uint64_t hash)
{
	uint32_t upper = (uint32_t)(hash >> 32), number = dictionary_find(d, hash);
	struct dictionary_shard *shard = &d->shards[shard_of(upper)];

	if (number != DICTIONARY_NONE)
		return number;
	number = new_entry(d);
	d->entries[number] = (struct dictionary_entry){.upper = upper};
	make_room(d, shard);
	put_slot(shard, upper, (struct dictionary_slot){(uint32_t)hash, number});
	shard->used++;
	return number;
}

/* Takes the slot at `gap` out; those behind it that may stand there move up, so that no search stops too early. */
static void remove_slot(const struct dictionary *d, struct dictionary_shard *shard, uint32_t gap)
{
	uint32_t at = gap;

	for (;;) {
		uint32_t home, from_home, from_gap;

		at = next_slot(shard, at);
		if (shard->slots[at].number == DICTIONARY_NONE)
			break;
		home = home_slot(shard, d->entries[shard->slots[at].number].upper);
		from_home = at >= home ? at - home : at + shard->slot_count - home;
		from_gap = at >= gap ? at - gap : at + shard->slot_count - gap;
		if (from_home < from_gap)
			continue;
		shard->slots[gap] = shard->slots[at];
		gap = at;
	}
	shard->slots[gap].number = DICTIONARY_NONE;
	shard->used--;
}

void dictionary_drop(struct dictionary *d, uint32_t number)
{
	struct dictionary_entry *e = &d->entries[number];
	struct dictionary_shard *shard = &d->shards[shard_of(e->upper)];
	uint32_t at;

	assert(number < d->entry_count && e->holders == 0);
	for (at = home_slot(shard, e->upper); shard->slots[at].number != number; at = next_slot(shard, at))
		assert(shard->slots[at].number != DICTIONARY_NONE);
	remove_slot(d, shard, at);
	e->upper = d->free_entry;
	d->free_entry = number;
}
