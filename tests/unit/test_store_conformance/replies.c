/* Replies kept for Idempotency-Key. */
#include "conformance.h"

static void put_reply(struct temp_store *t, int64_t space, const char *key, const char *body, int64_t at_ms,
		      const uint64_t *nums, size_t num_count)
{
	struct kept_reply reply = {.status = 201, .etag = STR("\"e\""), .body = str_of(body), .at_ms = at_ms};

	memset(reply.request_digest, 7, sizeof(reply.request_digest));
	must(store_begin(t->c));
	must(store_reply_put(t->c, space, str_of(key), &reply, nums, num_count));
	must(store_commit(t->c));
}

static bool has_reply(struct temp_store *t, int64_t space, const char *key)
{
	struct kept_reply reply;
	enum store_status status = store_reply_get(t->c, space, str_of(key), &t->arena, &reply);

	assert_true(status == STORE_OK || status == STORE_NOT_FOUND);
	return status == STORE_OK;
}

static void a_kept_reply_comes_back_as_it_was(void **state)
{
	struct temp_store *t = *state;
	struct kept_reply r;
	uint8_t digest[32];

	put_reply(t, t->space, "key", "{\"id\":\"ms-1\"}", T0 + 3, NULL, 0);
	conformance_reopen(t);
	must(store_reply_get(t->c, t->space, STR("key"), &t->arena, &r));
	memset(digest, 7, sizeof(digest));
	assert_memory_equal(r.request_digest, digest, sizeof(digest));
	assert_int_equal(r.status, 201);
	assert_str(r.etag, "\"e\"");
	assert_null(r.location.p);
	assert_str(r.body, "{\"id\":\"ms-1\"}");
	assert_int_equal(r.at_ms, T0 + 3);
}

static void a_reply_is_kept_for_its_space_and_its_very_key(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");

	put_reply(t, t->space, "key", "a", T0, NULL, 0);
	assert_true(has_reply(t, t->space, "key"));
	assert_false(has_reply(t, t->space, "Key"));
	assert_false(has_reply(t, t->space, "key "));
	assert_false(has_reply(t, other, "key"));
	put_reply(t, other, "key", "b", T0, NULL, 0);
	assert_true(has_reply(t, other, "key"));
}

static void a_reply_put_again_replaces_the_old_one(void **state)
{
	struct temp_store *t = *state;
	struct kept_reply r;

	put_reply(t, t->space, "key", "old", T0, NULL, 0);
	put_reply(t, t->space, "key", "new", T0 + 1, NULL, 0);
	must(store_reply_get(t->c, t->space, STR("key"), &t->arena, &r));
	assert_str(r.body, "new");
	assert_int_equal(r.at_ms, T0 + 1);
}

static void old_replies_are_pruned_the_oldest_first_and_a_few_at_a_time(void **state)
{
	struct temp_store *t = *state;

	put_reply(t, t->space, "a", "a", T0 + 1, NULL, 0);
	put_reply(t, t->space, "b", "b", T0 + 2, NULL, 0);
	put_reply(t, t->space, "c", "c", T0 + 3, NULL, 0);
	put_reply(t, t->space, "d", "d", T0 + 4, NULL, 0);
	put_reply(t, t->space, "a", "again", T0 + 5, NULL, 0);
	must(store_begin(t->c));
	must(store_reply_prune(t->c, T0 + 4, 1));
	assert_false(has_reply(t, t->space, "b"));
	assert_true(has_reply(t, t->space, "c"));
	must(store_reply_prune(t->c, T0 + 4, 10));
	assert_false(has_reply(t, t->space, "c"));
	assert_true(has_reply(t, t->space, "d"));
	must(store_reply_prune(t->c, T0 + 4, 10));
	must(store_commit(t->c));
	assert_true(has_reply(t, t->space, "d"));
	assert_true(has_reply(t, t->space, "a"));
}

static void the_oldest_reply_is_the_one_that_was_kept_first(void **state)
{
	struct temp_store *t = *state;
	int64_t at_ms = 77;

	assert_int_equal(store_reply_oldest(t->c, &at_ms), STORE_NOT_FOUND);
	assert_int_equal(at_ms, 77);
	put_reply(t, t->space, "a", "a", T0 + 1, NULL, 0);
	put_reply(t, temp_space(t, "other"), "b", "b", T0 + 2, NULL, 0);
	must(store_reply_oldest(t->c, &at_ms));
	assert_int_equal(at_ms, T0 + 1);
	put_reply(t, t->space, "a", "again", T0 + 3, NULL, 0);
	must(store_reply_oldest(t->c, &at_ms));
	assert_int_equal(at_ms, T0 + 2);
	must(store_begin(t->c));
	must(store_reply_prune(t->c, T0 + 9, 10));
	assert_int_equal(store_reply_oldest(t->c, &at_ms), STORE_NOT_FOUND);
	must(store_commit(t->c));
}

/* A clock may go back. Of the first ones only those that are old enough go. */
static void replies_go_in_the_order_in_which_they_were_kept(void **state)
{
	struct temp_store *t = *state;
	int64_t at_ms;

	put_reply(t, t->space, "a", "a", T0 + 5, NULL, 0);
	put_reply(t, t->space, "b", "b", T0 + 9, NULL, 0);
	put_reply(t, t->space, "c", "c", T0 + 1, NULL, 0);
	put_reply(t, t->space, "d", "d", T0 + 2, NULL, 0);
	must(store_reply_oldest(t->c, &at_ms));
	assert_int_equal(at_ms, T0 + 5);
	must(store_begin(t->c));
	must(store_reply_prune(t->c, T0 + 6, 3));
	must(store_commit(t->c));
	assert_false(has_reply(t, t->space, "a"));
	assert_true(has_reply(t, t->space, "b"));
	assert_false(has_reply(t, t->space, "c"));
	assert_true(has_reply(t, t->space, "d"));
	must(store_reply_oldest(t->c, &at_ms));
	assert_int_equal(at_ms, T0 + 9);
}

static void forgetting_a_memory_empties_the_reply_that_told_of_it(void **state)
{
	struct temp_store *t = *state;
	uint64_t a = temp_insert(t, t->space, "a"), b = temp_insert(t, t->space, "b"), c = temp_insert(t, t->space,
			"c");
	int64_t other = temp_space(t, "other");
	struct kept_reply r;

	assert_int_equal(temp_insert(t, other, "x"), a);
	put_reply(t, t->space, "one", "tells of a", T0, &a, 1);
	put_reply(t, t->space, "two", "tells of b and c", T0, (uint64_t[]){b, c}, 2);
	put_reply(t, other, "one", "tells of the other a", T0, &a, 1);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, c, T0 + 5));
	must(store_commit(t->c));
	must(store_reply_get(t->c, t->space, STR("two"), &t->arena, &r));
	assert_int_equal(r.body.n, 0);
	assert_int_equal(r.status, 201);
	must(store_reply_get(t->c, t->space, STR("one"), &t->arena, &r));
	assert_str(r.body, "tells of a");
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, a, T0 + 5));
	must(store_memory_forget(t->c, t->space, b, T0 + 5));
	must(store_commit(t->c));
	must(store_reply_get(t->c, t->space, STR("one"), &t->arena, &r));
	assert_int_equal(r.body.n, 0);
	must(store_reply_get(t->c, other, STR("one"), &t->arena, &r));
	assert_str(r.body, "tells of the other a");
}

static bool is_withheld(struct temp_store *t, const char *key)
{
	struct kept_reply r;

	must(store_reply_get(t->c, t->space, str_of(key), &t->arena, &r));
	assert_str(r.body, key);
	return r.is_quarantined;
}

static void set_quarantined(struct temp_store *t, uint64_t num, int64_t at_ms)
{
	must(store_begin(t->c));
	must(store_memory_set_quarantined(t->c, t->space, num, at_ms));
	must(store_commit(t->c));
}

static void a_reply_says_while_a_memory_that_it_tells_of_is_in_quarantine(void **state)
{
	struct temp_store *t = *state;
	uint64_t a = temp_insert(t, t->space, "a"), b = temp_insert(t, t->space, "b");

	put_reply(t, t->space, "both", "both", T0, (uint64_t[]){a, b}, 2);
	put_reply(t, t->space, "b", "b", T0, &b, 1);
	put_reply(t, t->space, "none", "none", T0, NULL, 0);
	assert_false(is_withheld(t, "both"));
	set_quarantined(t, a, T0 + 5);
	assert_true(is_withheld(t, "both"));
	assert_false(is_withheld(t, "b"));
	assert_false(is_withheld(t, "none"));
	put_reply(t, t->space, "later", "later", T0, &a, 1);
	assert_true(is_withheld(t, "later"));
	set_quarantined(t, a, 0);
	assert_false(is_withheld(t, "both"));
	assert_false(is_withheld(t, "later"));
}

/* The answer was being made while the memory was forgotten. */
static void a_reply_that_tells_of_the_forgotten_is_kept_empty(void **state)
{
	struct temp_store *t = *state;
	uint64_t a = temp_insert(t, t->space, "a"), b = temp_insert(t, t->space, "b");
	struct kept_reply r;

	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, b, T0 + 5));
	must(store_commit(t->c));
	put_reply(t, t->space, "key", "tells of a and b", T0, (uint64_t[]){a, b}, 2);
	must(store_reply_get(t->c, t->space, STR("key"), &t->arena, &r));
	assert_int_equal(r.body.n, 0);
}

static void several_replies_may_tell_of_a_memory(void **state)
{
	struct temp_store *t = *state;
	uint64_t a = temp_insert(t, t->space, "a"), b = temp_insert(t, t->space, "b");
	struct kept_reply r;

	put_reply(t, t->space, "one", "tells of a", T0, &a, 1);
	put_reply(t, t->space, "two", "tells of a twice, and of b", T0, (uint64_t[]){a, a, b}, 3);
	put_reply(t, t->space, "three", "told of a", T0, &a, 1);
	put_reply(t, t->space, "three", "tells of b", T0, &b, 1);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, a, T0 + 5));
	must(store_commit(t->c));
	must(store_reply_get(t->c, t->space, STR("one"), &t->arena, &r));
	assert_int_equal(r.body.n, 0);
	must(store_reply_get(t->c, t->space, STR("two"), &t->arena, &r));
	assert_int_equal(r.body.n, 0);
	must(store_reply_get(t->c, t->space, STR("three"), &t->arena, &r));
	assert_str(r.body, "tells of b");
}

/* A reply's place must not be given to another one that a forgotten memory would then empty. */
static void a_pruned_reply_is_not_mistaken_for_a_later_one(void **state)
{
	struct temp_store *t = *state;
	uint64_t a = temp_insert(t, t->space, "a"), b = temp_insert(t, t->space, "b");
	struct kept_reply r;

	put_reply(t, t->space, "one", "tells of a", T0, &a, 1);
	must(store_begin(t->c));
	must(store_reply_prune(t->c, T0 + 1, 10));
	must(store_commit(t->c));
	put_reply(t, t->space, "two", "tells of b", T0 + 2, &b, 1);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, a, T0 + 5));
	must(store_commit(t->c));
	must(store_reply_get(t->c, t->space, STR("two"), &t->arena, &r));
	assert_str(r.body, "tells of b");
}

static const struct CMUnitTest replies[] = {
	with_engine(a_kept_reply_comes_back_as_it_was),
	with_engine(a_reply_is_kept_for_its_space_and_its_very_key),
	with_engine(a_reply_put_again_replaces_the_old_one),
	with_engine(old_replies_are_pruned_the_oldest_first_and_a_few_at_a_time),
	with_engine(the_oldest_reply_is_the_one_that_was_kept_first),
	with_engine(replies_go_in_the_order_in_which_they_were_kept),
	with_engine(forgetting_a_memory_empties_the_reply_that_told_of_it),
	with_engine(a_reply_says_while_a_memory_that_it_tells_of_is_in_quarantine),
	with_engine(a_reply_that_tells_of_the_forgotten_is_kept_empty),
	with_engine(several_replies_may_tell_of_a_memory),
	with_engine(a_pruned_reply_is_not_mistaken_for_a_later_one),
};

CONFORMANCE_PART(replies);
