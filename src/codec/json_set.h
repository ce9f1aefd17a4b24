/* The items of an array, to be asked whether a value is among them. It takes one look, whatever the number of items:
 * lists come from outside, and comparing each of one with each of another is how a request holds up all others. */
#ifndef SPINE_CODEC_JSON_SET_H
#define SPINE_CODEC_JSON_SET_H

#include "codec/json.h"

struct json_set {
	const struct json *list;	/* borrowed */
	uint32_t *slots;		/* 1 + the index of an item; 0: empty */
	size_t mask;
	uint64_t seed;
};

/* Borrows list, an array, until json_set_release. */
void json_set_init(struct json_set *set, const struct json *list);
void json_set_release(struct json_set *set);
/* Is there an item that is equal to value, as json_equal has it? */
bool json_set_has(const struct json_set *set, const struct json *value);
/* The index of the first that is; their count where there is none. */
uint32_t json_set_find(const struct json_set *set, const struct json *value);
/* The same for values that are equal. */
uint64_t json_hash(const struct json *value, uint64_t seed);

#endif
