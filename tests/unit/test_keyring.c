/* engine/access/keyring.h: who is let in, told from memory; what has ended is told when its time has come. */
#include "temp_store.h"

#include "engine/access/keyring.h"

static int told;

static void count(void *ctx)
{
	(void)ctx;
	told++;
}

static struct access_key_row row(uint64_t num, char *ret_text)
{
	uint8_t random[ACCESS_KEY_RANDOM] = {(uint8_t)num};
	struct access_key_row r = {
		.num = num, .name = STR("a"), .space = STR("team"), .scopes = ACCESS_READ, .trust = TRUST_AGENT,
		.created_at_ms = T0,
	};

	access_key_text(num, random, ret_text);
	access_key_hash(str_of(ret_text), r.hash);
	return r;
}

static void insert(struct temp_store *t, const struct access_key_row *r)
{
	must(store_begin(t->c));
	must(store_access_key_insert(t->c, r));
	must(store_access_set_mode(t->c, true));
	must(store_commit(t->c));
}

static struct keyring *open_ring(struct temp_store *t)
{
	struct keyring *k;
	struct buf error;

	buf_init(&error, 4096);
	k = keyring_open(t->c, T0, &error);
	buf_release(&error);
	return k;
}

static void an_empty_store_needs_no_key_and_the_first_one_ends_that(void **state)
{
	struct temp_store *t = *state;
	struct keyring *k = open_ring(t);
	struct access *access = NULL;
	char text[ACCESS_KEY_TEXT_SIZE];
	struct access_key_row r = row(1, text);

	assert_false(keyring_needs_key(k));
	assert_true(keyring_is_welcome(k, NULL, T0));
	assert_int_equal(keyring_check(k, str_of(text), T0, &t->arena, &access), ACCESS_KEY_WRONG);
	keyring_tell(k, count, NULL);
	told = 0;
	keyring_put(k, &r, T0);
	assert_int_equal(told, 1);
	assert_true(keyring_needs_key(k));
	assert_false(keyring_is_welcome(k, NULL, T0));
	assert_int_equal(keyring_check(k, str_of(text), T0, &t->arena, &access), ACCESS_KEY_VALID);
	assert_true(access->key == 1 && access->scopes == ACCESS_READ && str_is(access->space, "team"));
	keyring_free(k);
}

static void keys_are_read_from_the_store_and_one_that_is_none_lets_nobody_in(void **state)
{
	struct temp_store *t = *state;
	struct access *access = NULL;
	char text[ACCESS_KEY_TEXT_SIZE], other[ACCESS_KEY_TEXT_SIZE];
	struct access_key_row r = row(3, text), bad = row(4, other);
	struct keyring *k;

	insert(t, &r);
	k = open_ring(t);
	assert_true(keyring_needs_key(k) && keyring_count(k) == 1);
	assert_int_equal(keyring_check(k, str_of(text), T0, &t->arena, &access), ACCESS_KEY_VALID);
	assert_int_equal(keyring_check(k, str_of(other), T0, &t->arena, &access), ACCESS_KEY_WRONG);
	keyring_free(k);
	bad.scopes = 64;
	insert(t, &bad);
	assert_null(open_ring(t));
}

static void an_end_is_told_when_its_time_has_come(void **state)
{
	struct temp_store *t = *state;
	struct keyring *k = open_ring(t);
	struct access *access = NULL;
	char text[ACCESS_KEY_TEXT_SIZE];
	struct access_key_row r = row(1, text);

	r.expires_at_ms = T0 + 100;
	keyring_put(k, &r, T0);
	keyring_tell(k, count, NULL);
	told = 0;
	assert_int_equal(keyring_check(k, str_of(text), T0, &t->arena, &access), ACCESS_KEY_VALID);
	assert_int_equal(keyring_wake_at(k), T0 + 100);
	keyring_pass(k, T0 + 99);
	assert_true(told == 0 && keyring_is_welcome(k, access, T0 + 99));
	keyring_pass(k, T0 + 100);
	assert_true(told == 1 && !keyring_is_welcome(k, access, T0 + 100));
	assert_int_equal(keyring_wake_at(k), 0);
	assert_int_equal(keyring_check(k, str_of(text), T0 + 100, &t->arena, &access), ACCESS_KEY_EXPIRED);
	assert_int_equal(keyring_grant(k, 1, access->secret, T0 + 100, &t->arena, &access), ACCESS_KEY_EXPIRED);
	keyring_prune(k, T0 + 101);
	assert_int_equal(keyring_count(k), 0);
	assert_true(keyring_needs_key(k));
	keyring_free(k);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_store_setup, temp_store_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_store_needs_no_key_and_the_first_one_ends_that),
		TEST(keys_are_read_from_the_store_and_one_that_is_none_lets_nobody_in),
		TEST(an_end_is_told_when_its_time_has_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
