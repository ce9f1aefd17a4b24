/* Keys that let their holders in. */
#include "conformance.h"

static struct access_key_row key(uint64_t num, const char *space)
{
	struct access_key_row row = {
		.num = num, .name = STR("Ann's key"), .space = str_of(space), .agent = STR("ann"), .scopes = 5,
		.trust = TRUST_EXTERNAL, .created_at_ms = T0, .created_by = STR("root"), .expires_at_ms = T0 + 9,
	};

	memset(row.hash, (int)num, sizeof(row.hash));
	return row;
}

static enum store_status insert(struct temp_store *t, const struct access_key_row *row)
{
	enum store_status status;

	must(store_begin(t->c));
	status = store_access_key_insert(t->c, row);
	must(store_commit(t->c));
	return status;
}

static void add(struct temp_store *t, uint64_t num, const char *space)
{
	struct access_key_row row = key(num, space);

	must(insert(t, &row));
}

static void assert_mode(struct temp_store *t, bool needs_key)
{
	bool is = !needs_key;

	must(store_access_mode(t->c, &is));
	assert_true(is == needs_key);
}

static const char *list(struct temp_store *t, struct str space, uint64_t after, size_t max)
{
	struct access_key_row rows[8];
	struct buf text;
	const char *result;
	size_t n = 99;

	buf_init(&text, 4096);
	must(store_access_keys(t->c, space, after, max, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%llu", i ? " " : "", (unsigned long long)rows[i].num);
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

static void a_new_store_needs_no_key_and_what_was_set_stays(void **state)
{
	struct temp_store *t = *state;

	assert_mode(t, false);
	must(store_begin(t->c));
	must(store_access_set_mode(t->c, true));
	store_rollback(t->c);
	assert_mode(t, false);
	must(store_begin(t->c));
	must(store_access_set_mode(t->c, true));
	must(store_commit(t->c));
	conformance_reopen(t);
	assert_mode(t, true);
}

static void a_key_is_kept_as_it_was_made(void **state)
{
	struct temp_store *t = *state;
	struct access_key_row row = key(1, "team"), r = {.num = 77};
	uint64_t next = 0;

	must(store_access_key_next(t->c, &next));
	assert_int_equal(next, 1);
	assert_int_equal(store_access_key_get(t->c, 1, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(r.num, 77);
	must(insert(t, &row));
	assert_int_equal(insert(t, &row), STORE_EXISTS);
	conformance_reopen(t);
	must(store_access_key_get(t->c, 1, &t->arena, &r));
	assert_true(r.num == 1 && r.scopes == 5 && r.trust == TRUST_EXTERNAL && r.created_at_ms == T0);
	assert_true(r.expires_at_ms == T0 + 9 && r.revoked_at_ms == 0 && r.old_until_ms == 0);
	assert_str(r.name, "Ann's key");
	assert_str(r.space, "team");
	assert_str(r.agent, "ann");
	assert_str(r.created_by, "root");
	assert_null(r.revoked_why.p);
	assert_memory_equal(r.hash, row.hash, sizeof(r.hash));
}

static void only_the_end_of_a_key_and_its_hashes_change(void **state)
{
	struct temp_store *t = *state;
	struct access_key_row row = key(1, "team"), other = key(9, NULL), r;

	must(insert(t, &row));
	other.num = 1;
	other.scopes = 8;
	other.name = STR("other");
	other.expires_at_ms = T0 + 20;
	other.revoked_at_ms = T0 + 21;
	other.revoked_why = STR("lost");
	other.old_until_ms = T0 + 22;
	memset(other.old_hash, 7, sizeof(other.old_hash));
	must(store_begin(t->c));
	must(store_access_key_put(t->c, &other));
	other.num = 5;
	assert_int_equal(store_access_key_put(t->c, &other), STORE_NOT_FOUND);
	must(store_commit(t->c));
	must(store_access_key_get(t->c, 1, &t->arena, &r));
	assert_str(r.name, "Ann's key");
	assert_str(r.space, "team");
	assert_str(r.revoked_why, "lost");
	assert_true(r.scopes == 5 && r.expires_at_ms == T0 + 20 && r.revoked_at_ms == T0 + 21);
	assert_true(r.old_until_ms == T0 + 22 && r.hash[0] == 9 && r.old_hash[31] == 7);
}

static void keys_are_listed_in_their_order_of_one_space_or_all(void **state)
{
	struct temp_store *t = *state;

	add(t, 1, NULL);
	add(t, 2, "a");
	add(t, 3, "b");
	add(t, 4, "a");
	assert_string_equal(list(t, STR_NULL, 0, 8), "1 2 3 4");
	assert_string_equal(list(t, STR_NULL, 1, 2), "2 3");
	assert_string_equal(list(t, STR("a"), 0, 8), "2 4");
	assert_string_equal(list(t, STR("a"), 2, 8), "4");
	assert_string_equal(list(t, STR("c"), 0, 8), "");
}

static void all_keys_of_a_space_are_revoked_and_no_others(void **state)
{
	struct temp_store *t = *state;
	struct access_key_row lost = key(5, "a"), over = key(6, "a"), r;
	int64_t count = 99;

	add(t, 1, NULL);
	add(t, 2, "a");
	add(t, 3, "b");
	add(t, 4, "a");
	lost.revoked_at_ms = T0 + 1;
	lost.revoked_why = STR("lost");
	must(insert(t, &lost));
	over.expires_at_ms = T0 + 2;
	must(insert(t, &over));
	must(store_begin(t->c));
	must(store_access_keys_revoke(t->c, STR("a"), T0 + 3, STR("gone"), &count));
	store_rollback(t->c);
	must(store_access_key_get(t->c, 2, &t->arena, &r));
	assert_int_equal(r.revoked_at_ms, 0);
	must(store_begin(t->c));
	must(store_access_keys_revoke(t->c, STR("a"), T0 + 3, STR("gone"), &count));
	must(store_commit(t->c));
	conformance_reopen(t);
	assert_int_equal(count, 2);
	for (uint64_t num = 1; num <= 6; num++) {
		must(store_access_key_get(t->c, num, &t->arena, &r));
		assert_int_equal(r.revoked_at_ms, num == 5 ? T0 + 1 : num == 1 || num == 3 ? 0 : T0 + 3);
		if (r.revoked_at_ms)
			assert_str(r.revoked_why, num == 5 ? "lost" : "gone");
	}
	must(store_begin(t->c));
	must(store_access_keys_revoke(t->c, STR("a"), T0 + 4, STR("again"), &count));
	must(store_commit(t->c));
	assert_int_equal(count, 0);
}

static void keys_that_ended_go_and_their_numbers_do_not_come_back(void **state)
{
	struct temp_store *t = *state;
	struct access_key_row row;
	uint64_t next = 0;

	for (uint64_t i = 1; i <= 4; i++) {
		row = key(i, NULL);
		row.expires_at_ms = i == 2 ? T0 + 100 : 0;
		row.revoked_at_ms = i >= 3 ? T0 + 50 + (int64_t)i : 0;
		must(insert(t, &row));
	}
	must(store_begin(t->c));
	must(store_access_keys_prune(t->c, T0 + 54));
	must(store_commit(t->c));
	assert_string_equal(list(t, STR_NULL, 0, 8), "1 2 4");
	must(store_begin(t->c));
	must(store_access_keys_prune(t->c, T0 + 101));
	must(store_commit(t->c));
	assert_string_equal(list(t, STR_NULL, 0, 8), "1");
	must(store_access_key_next(t->c, &next));
	assert_int_equal(next, 5);
}

static void a_reset_removes_all_and_opens(void **state)
{
	struct temp_store *t = *state;
	struct access_key_row row = key(2, NULL);
	uint64_t next = 0;

	add(t, 1, NULL);
	add(t, 2, "a");
	must(store_begin(t->c));
	must(store_access_set_mode(t->c, true));
	must(store_access_reset(t->c));
	must(store_commit(t->c));
	assert_mode(t, false);
	assert_string_equal(list(t, STR_NULL, 0, 8), "");
	assert_int_equal(insert(t, &row), STORE_EXISTS);
	must(store_access_key_next(t->c, &next));
	assert_int_equal(next, 3);
	conformance_check(t);
}

static const struct CMUnitTest access_keys[] = {
	with_engine(a_new_store_needs_no_key_and_what_was_set_stays),
	with_engine(a_key_is_kept_as_it_was_made),
	with_engine(only_the_end_of_a_key_and_its_hashes_change),
	with_engine(keys_are_listed_in_their_order_of_one_space_or_all),
	with_engine(all_keys_of_a_space_are_revoked_and_no_others),
	with_engine(keys_that_ended_go_and_their_numbers_do_not_come_back),
	with_engine(a_reset_removes_all_and_opens),
};

CONFORMANCE_PART(access_keys);
