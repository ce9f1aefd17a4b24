/* Replies kept for Idempotency-Key, in memory. */
#include "store/ram/ram_internal.h"

static struct ram_reply *reply_for(const struct ram_store *s, int64_t space, struct str key)
{
	return ram_index_find(&s->reply_keys, &(struct ram_reply){.space = space, .key = key});
}

static void remove_reply(struct ram_store *s, struct ram_reply *r)
{
	ram_remove(s, &s->replies_by_id, r);
	ram_remove(s, &s->reply_keys, r);
}

/* One of the memories that the reply tells of is not there, or not any more. */
static bool tells_of_nothing(const struct ram_store *s, const struct ram_reply *r)
{
	for (size_t i = 0; i < r->memory_count; i++) {
		const struct ram_memory *m = ram_memory_at(s, r->memories[i]);

		if (m == NULL || m->state.forgotten_at_ms)
			return true;
	}
	return false;
}

static bool tells_of_quarantined(const struct ram_store *s, const struct ram_reply *r)
{
	for (size_t i = 0; i < r->memory_count; i++) {
		const struct ram_memory *m = ram_memory_at(s, r->memories[i]);

		if (m && m->state.quarantined_at_ms)
			return true;
	}
	return false;
}

enum store_status ram_reply_get(struct store_conn *c, int64_t space, struct str key, struct arena *arena,
				struct kept_reply *ret)
{
	const struct ram_reply *r = reply_for(ram_of(c), space, key);

	(void)arena;
	if (r == NULL)
		return STORE_NOT_FOUND;
	*ret = r->row;
	if (tells_of_nothing(ram_of(c), r))
		ret->body = STR("");
	ret->is_quarantined = ret->body.n && tells_of_quarantined(ram_of(c), r);
	return STORE_OK;
}

static struct ram_reply *make_reply(struct ram_store *s, int64_t space, struct str key, const struct kept_reply *reply)
{
	const struct ram_index *replies = &s->replies_by_id;
	const struct ram_reply *last = replies->count ? replies->rows[replies->count - 1] : NULL;
	struct ram_reply *r = ram_new(s, sizeof(*r));

	*r = (struct ram_reply){.id = last ? last->id + 1 : 1, .space = space, .key = ram_text(s, key), .row = *reply};
	r->row.etag = ram_text(s, reply->etag);
	r->row.location = ram_text(s, reply->location);
	r->row.body = ram_text(s, reply->body);
	return r;
}

enum store_status ram_reply_put(struct store_conn *c, int64_t space, struct str key, const struct kept_reply *reply,
				const uint64_t *memories, size_t memory_count)
{
	struct ram_store *s = ram_of(c);
	struct ram_reply *old = reply_for(s, space, key), *r;
	int64_t *keys;

	if (key.p == NULL || reply->body.p == NULL)
		return STORE_REFUSED;
	r = make_reply(s, space, key, reply);
	keys = arena_calloc(&s->arena, memory_count, sizeof(*keys));
	for (size_t i = 0; i < memory_count; i++)
		keys[i] = ram_key(space, memories[i]);
	r->memories = keys;
	r->memory_count = memory_count;
	/* A memory that is made later under that number is another one. */
	if (tells_of_nothing(s, r)) {
		r->row.body = ram_text(s, STR(""));
		r->memory_count = 0;
	}
	if (old)
		remove_reply(s, old);
	ram_insert(s, &s->replies_by_id, r);
	ram_insert(s, &s->reply_keys, r);
	return STORE_OK;
}

enum store_status ram_reply_oldest(struct store_conn *c, int64_t *ret_ms)
{
	struct ram_store *s = ram_of(c);

	if (s->replies_by_id.count == 0)
		return STORE_NOT_FOUND;
	*ret_ms = ((const struct ram_reply *)s->replies_by_id.rows[0])->row.at_ms;
	return STORE_OK;
}

enum store_status ram_reply_prune(struct store_conn *c, int64_t before_ms, int max)
{
	struct ram_store *s = ram_of(c);
	size_t at = 0;

	/* The oldest max of them are looked at. */
	for (int i = 0; i < max && at < s->replies_by_id.count; i++) {
		struct ram_reply *r = s->replies_by_id.rows[at];

		if (r->row.at_ms < before_ms)
			remove_reply(s, r);
		else
			at++;
	}
	return STORE_OK;
}
