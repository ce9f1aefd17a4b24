/* Keys that let their holders in, in memory. */
#include "store/ram/ram_internal.h"

static struct access_key_row *key_at(const struct ram_store *s, uint64_t num)
{
	return ram_index_find(&s->access_keys, &(struct access_key_row){.num = num});
}

enum store_status ram_access_mode(struct store_conn *c, bool *ret_needs_key)
{
	*ret_needs_key = ram_of(c)->needs_key;
	return STORE_OK;
}

enum store_status ram_access_set_mode(struct store_conn *c, bool needs_key)
{
	struct ram_store *s = ram_of(c);

	ram_save(s, RAM_BYTES, &s->needs_key, sizeof(s->needs_key));
	s->needs_key = needs_key;
	return STORE_OK;
}

enum store_status ram_access_key_next(struct store_conn *c, uint64_t *ret)
{
	*ret = ram_of(c)->last_access_key + 1;
	return STORE_OK;
}

enum store_status ram_access_key_insert(struct store_conn *c, const struct access_key_row *key)
{
	struct ram_store *s = ram_of(c);
	struct access_key_row *made;

	if (key->num <= s->last_access_key)
		return STORE_EXISTS;
	if (key->name.p == NULL)
		return STORE_REFUSED;
	ram_save(s, RAM_BYTES, &s->last_access_key, sizeof(s->last_access_key));
	s->last_access_key = key->num;
	made = ram_new(s, sizeof(*made));
	*made = *key;
	made->name = ram_text(s, key->name);
	made->space = ram_text(s, key->space);
	made->agent = ram_text(s, key->agent);
	made->created_by = ram_text(s, key->created_by);
	made->revoked_why = ram_text(s, key->revoked_why);
	ram_insert(s, &s->access_keys, made);
	return STORE_OK;
}

enum store_status ram_access_key_put(struct store_conn *c, const struct access_key_row *key)
{
	struct ram_store *s = ram_of(c);
	struct access_key_row *kept = key_at(s, key->num);

	if (kept == NULL)
		return STORE_NOT_FOUND;
	ram_save(s, RAM_BYTES, kept, sizeof(*kept));
	kept->expires_at_ms = key->expires_at_ms;
	kept->revoked_at_ms = key->revoked_at_ms;
	kept->revoked_why = ram_text(s, key->revoked_why);
	kept->old_until_ms = key->old_until_ms;
	memcpy(kept->hash, key->hash, sizeof(kept->hash));
	memcpy(kept->old_hash, key->old_hash, sizeof(kept->old_hash));
	return STORE_OK;
}

enum store_status ram_access_key_get(struct store_conn *c, uint64_t num, struct arena *arena,
				     struct access_key_row *ret)
{
	const struct access_key_row *found = key_at(ram_of(c), num);

	(void)arena;
	if (found == NULL)
		return STORE_NOT_FOUND;
	*ret = *found;
	return STORE_OK;
}

enum store_status ram_access_keys(struct store_conn *c, struct str space, uint64_t after, size_t max,
				  struct arena *arena, struct access_key_row *ret, size_t *ret_count)
{
	const struct ram_index *keys = &ram_of(c)->access_keys;
	size_t count = 0;

	(void)arena;
	for (size_t i = ram_index_from(keys, &(struct access_key_row){.num = after + 1});
	     i < keys->count && count < max; i++) {
		const struct access_key_row *key = keys->rows[i];

		if (space.p == NULL || (key->space.p && str_eq(key->space, space)))
			ret[count++] = *key;
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_access_keys_revoke(struct store_conn *c, struct str space, int64_t at_ms, struct str why,
					 int64_t *ret_count)
{
	struct ram_store *s = ram_of(c);

	*ret_count = 0;
	for (size_t i = 0; i < s->access_keys.count; i++) {
		struct access_key_row *key = s->access_keys.rows[i];

		if (key->space.p == NULL || !str_eq(key->space, space) || key->revoked_at_ms)
			continue;
		*ret_count += key->expires_at_ms == 0 || key->expires_at_ms > at_ms;
		ram_save(s, RAM_BYTES, key, sizeof(*key));
		key->revoked_at_ms = at_ms;
		key->revoked_why = ram_text(s, why);
	}
	return STORE_OK;
}

static bool ended_before(const struct access_key_row *key, int64_t ms)
{
	return (key->revoked_at_ms > 0 && key->revoked_at_ms < ms) ||
	       (key->expires_at_ms > 0 && key->expires_at_ms < ms);
}

enum store_status ram_access_keys_prune(struct store_conn *c, int64_t before_ms)
{
	struct ram_store *s = ram_of(c);
	size_t i = 0;

	while (i < s->access_keys.count)
		if (ended_before(s->access_keys.rows[i], before_ms))
			ram_remove(s, &s->access_keys, s->access_keys.rows[i]);
		else
			i++;
	return STORE_OK;
}

enum store_status ram_access_reset(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	while (s->access_keys.count)
		ram_remove(s, &s->access_keys, s->access_keys.rows[s->access_keys.count - 1]);
	return ram_access_set_mode(c, false);
}
