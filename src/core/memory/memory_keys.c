#include "core/memory/memory_keys.h"

#include "base/buf.h"
#include "codec/json.h"

#include <inttypes.h>
#include <string.h>

enum { ORIGIN_BYTES_MAX = 4096, ORIGIN_DEPTH_MAX = 4, ONE_MAX = 32 };
#define KEY_PREFIX "key-"

uint64_t memory_keys_origin(struct str origin, struct arena *arena)
{
	const struct json *key;
	struct json told;
	struct json_error error;
	uint64_t num;

	if (origin.p == NULL || origin.n > ORIGIN_BYTES_MAX ||
	    !json_parse(origin, ORIGIN_DEPTH_MAX, arena, &told, &error) || told.type != JSON_OBJECT)
		return 0;
	key = json_get(&told, "key");
	if (key == NULL || key->type != JSON_STRING || !str_has_prefix(key->s, STR(KEY_PREFIX)))
		return 0;
	return str_to_u64(str_sub(key->s, sizeof(KEY_PREFIX) - 1, key->s.n), &num) ? num : 0;
}

void memory_keys_add(struct memory_keys *k, uint64_t key, uint32_t version, struct arena *arena)
{
	struct memory_key *more;

	for (size_t i = 0; i < k->count; i++)
		if (k->keys[i].key == key)
			return;
	if (key == 0)
		return;
	if (k->count == k->cap) {
		k->cap = 2 * k->cap + 4;
		more = arena_calloc(arena, k->cap, sizeof(*more));
		if (k->count)
			memcpy(more, k->keys, k->count * sizeof(*more));
		k->keys = more;
	}
	k->keys[k->count++] = (struct memory_key){key, version};
}

struct str memory_keys_text(const struct memory_keys *k, struct arena *arena)
{
	struct str text = STR_NULL;
	struct buf out;

	if (k->count == 0)
		return text;
	buf_init(&out, k->count * ONE_MAX);
	for (size_t i = 0; i < k->count; i++)
		buf_printf(&out, "%s%" PRIu64 "@%" PRIu32, i ? " " : "", k->keys[i].key, k->keys[i].version);
	text = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return text;
}

bool memory_keys_next(struct str *text, struct memory_key *ret)
{
	struct str version = str_cut(text, ' '), key = str_cut(&version, '@');
	uint64_t num = 0;

	*ret = (struct memory_key){0};
	if (!str_to_u64(key, &ret->key) || !str_to_u64(version, &num) || num > UINT32_MAX)
		return false;
	ret->version = (uint32_t)num;
	return true;
}
