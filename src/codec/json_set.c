#include "codec/json_set.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* 5 and 5.0 are equal, and so are 0 and -0. */
static uint64_t hash_number(const struct json *value, uint64_t seed)
{
	double d = value->type == JSON_INT ? (double)value->i : value->d;

	if (d == 0)
		d = 0;
	return hash_bytes(&d, sizeof(d), seed);
}

uint64_t json_hash(const struct json *value, uint64_t seed)
{
	uint64_t sum = 0;

	switch (value->type) {
	case JSON_INT:
	case JSON_DOUBLE:
		return hash_number(value, seed ^ JSON_DOUBLE);
	case JSON_STRING:
		return hash_bytes(value->s.p, value->s.n, seed ^ JSON_STRING);
	case JSON_ARRAY:
		for (uint32_t i = 0; i < value->count; i++)
			sum = hash_fold(sum ^ UINT64_C(0xd6e8feb86659fd93), json_hash(&value->items[i], seed ^ i) | 1);
		break;
	case JSON_OBJECT:
		/* A sum, because the order of the members does not count. */
		for (uint32_t i = 0; i < value->count; i++)
			sum += json_hash(&value->members[i].value,
					 hash_bytes(value->members[i].key.p, value->members[i].key.n, seed));
		break;
	case JSON_BOOL:
		sum = value->boolean;
		break;
	case JSON_NULL:
		break;
	}
	return hash_bytes(&sum, sizeof(sum), seed ^ (uint64_t)value->type ^ (uint64_t)value->count << 8);
}

/* The slot of the item that is equal to value, or the empty one where it would be. */
static size_t find_slot(const struct json_set *set, const struct json *value)
{
	size_t at = json_hash(value, set->seed) & set->mask;

	while (set->slots[at] && !json_equal(&set->list->items[set->slots[at] - 1], value))
		at = (at + 1) & set->mask;
	return at;
}

void json_set_init(struct json_set *set, const struct json *list)
{
	size_t slots = 4;

	assert(list->type == JSON_ARRAY);
	while (slots < (size_t)list->count * 2)
		slots *= 2;
	*set = (struct json_set){.list = list, .slots = mem_zalloc(slots * sizeof(*set->slots)), .mask = slots - 1};
	/* Where the slots are is nothing that anybody outside knows or can prepare for; what is found does not
	 * depend on it. */
	set->seed = (uintptr_t)set->slots;
	for (uint32_t i = 0; i < list->count; i++) {
		size_t at = find_slot(set, &list->items[i]);

		if (set->slots[at] == 0)
			set->slots[at] = i + 1;
	}
}

void json_set_release(struct json_set *set)
{
	free(set->slots);
	*set = (struct json_set){0};
}

uint32_t json_set_find(const struct json_set *set, const struct json *value)
{
	uint32_t slot = set->slots[find_slot(set, value)];

	return slot ? slot - 1 : set->list->count;
}

bool json_set_has(const struct json_set *set, const struct json *value)
{
	return json_set_find(set, value) < set->list->count;
}
