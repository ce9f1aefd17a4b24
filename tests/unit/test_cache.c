/* base/cache.h. */
#include "base/cache.h"
#include "base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct str text(const char *s)
{
	return str_of(s);
}

/* The value of a key as the reader with that number sees it; "" where it sees none. */
static const char *got(struct cache *c, uint64_t seen, const char *key, char *room)
{
	struct arena arena;
	struct str rest;
	char head[1];

	arena_init(&arena);
	room[0] = '\0';
	if (cache_get(c, seen, text(key), head, 1, &arena, &rest))
		snprintf(room, 64, "%c%.*s", head[0], (int)rest.n, rest.p);
	arena_release(&arena);
	return room;
}

static void put(struct cache *c, uint64_t seen, const char *key, const char *value)
{
	struct str parts[2] = {{value, 1}, {value + 1, strlen(value) - 1}};

	cache_put(c, seen, text(key), parts, 2);
}

static void add(struct cache *c, const char *key, const char *value)
{
	struct str whole = text(value);

	cache_add(c, text(key), &whole, 1);
}

static void test_what_was_put_is_given_back(void **state)
{
	struct cache *c = cache_new(1 << 20, 1);
	char room[64];

	(void)state;
	assert_string_equal(got(c, 0, "a", room), "");
	put(c, 0, "a", "alpha");
	put(c, 0, "b", "b");
	assert_string_equal(got(c, 0, "a", room), "alpha");
	assert_string_equal(got(c, 0, "b", room), "b");
	assert_string_equal(got(c, 0, "c", room), "");
	put(c, 0, "a", "other");	/* it is there, and must be the same */
	assert_string_equal(got(c, 0, "a", room), "alpha");
	cache_free(c);
	cache_free(NULL);
}

static void test_a_change_is_seen_by_nobody_before_its_end_and_the_old_row_by_nobody_from_its_beginning(void **state)
{
	struct cache *c = cache_new(1 << 20, 1);
	char room[64];

	(void)state;
	put(c, cache_now(c), "a", "old");
	cache_change(c, text("a"));
	assert_string_equal(got(c, cache_now(c), "a", room), "");
	put(c, cache_now(c), "a", "old");	/* a reader that began before the end, and may have read before it */
	assert_string_equal(got(c, cache_now(c), "a", room), "");
	cache_commit(c);
	assert_int_equal(cache_now(c), 1);
	assert_string_equal(got(c, 1, "a", room), "");
	put(c, 0, "a", "old");			/* the same, late */
	assert_string_equal(got(c, 1, "a", room), "");
	put(c, 1, "a", "new");
	assert_string_equal(got(c, 1, "a", room), "new");
	assert_string_equal(got(c, 0, "a", room), "");	/* a snapshot of before has its own rows */
	cache_free(c);
}

static void test_what_a_transaction_adds_is_given_from_its_end_on(void **state)
{
	struct cache *c = cache_new(1 << 20, 1);
	char room[64];

	(void)state;
	add(c, "a", "first");
	assert_string_equal(got(c, cache_now(c), "a", room), "");
	cache_commit(c);
	assert_string_equal(got(c, cache_now(c), "a", room), "first");
	add(c, "a", "never");
	cache_change(c, text("a"));	/* rolled back */
	cache_commit(c);		/* of the next one */
	assert_string_equal(got(c, cache_now(c), "a", room), "");
	cache_free(c);
}

static void test_it_stays_within_its_bytes_and_keeps_what_is_used(void **state)
{
	enum { MAX_BYTES = 1 << 20 };
	struct cache *c = cache_new(MAX_BYTES, 7);
	char key[32], room[64], *large = mem_zalloc(MAX_BYTES);
	size_t kept = 0;

	(void)state;
	put(c, 0, "used", "always");
	for (int i = 0; i < 50000; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		put(c, 0, key, "some value that takes a little room");
		assert_string_equal(got(c, 0, "used", room), "always");
		assert_true(cache_bytes(c) <= MAX_BYTES);
	}
	for (int i = 0; i < 50000; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		kept += got(c, 0, key, room)[0] != '\0';
	}
	assert_in_range(kept, 2000, 20000);
	memset(large, 'x', MAX_BYTES - 1);
	put(c, 0, "large", large);
	assert_string_equal(got(c, 0, "large", room), "");
	assert_string_equal(got(c, 0, "used", room), "always");
	free(large);
	cache_free(c);
}

/* --- With threads: a table of rows, one that writes them, several that read --- */

enum { ROWS = 64, READERS = 3, TRANSACTIONS = 20000 };

struct table {
	struct cache *cache;
	_Atomic uint64_t rows[ROWS];	/* what is committed: the number of the transaction that wrote it */
	_Atomic uint64_t committed;	/* as the store itself would say */
	atomic_bool over;
	atomic_int wrong;
	atomic_size_t hits;
};

static void *read_rows(void *arg)
{
	struct table *t = arg;
	uint64_t dice = (uintptr_t)&dice | 1;

	while (!atomic_load(&t->over)) {
		uint64_t seen = cache_now(t->cache), value, truth;
		struct str rest, part = {(const char *)&value, sizeof(value)};
		char key[8];
		size_t row;

		dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
		row = dice >> 33 & (ROWS - 1);
		snprintf(key, sizeof(key), "%zu", row);
		truth = atomic_load(&t->rows[row]);
		if (cache_get(t->cache, seen, text(key), &value, sizeof(value), NULL, &rest)) {
			/* Not older than what was committed when it began, and not newer than what is committed now. */
			if (value < truth && truth <= seen)
				atomic_fetch_add(&t->wrong, 1);
			if (value > atomic_load(&t->committed))
				atomic_fetch_add(&t->wrong, 1);
			atomic_fetch_add(&t->hits, 1);
		} else {
			value = atomic_load(&t->rows[row]);
			cache_put(t->cache, seen, text(key), &part, 1);
		}
	}
	return NULL;
}

static void test_readers_beside_a_writer_never_get_an_old_row(void **state)
{
	struct table t = {.cache = cache_new(1 << 20, 3)};
	pthread_t threads[READERS];
	uint64_t dice = 9;

	(void)state;
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_rows, &t), 0);
	for (uint64_t n = 1; n <= TRANSACTIONS; n++) {
		size_t rows[3];
		char key[8];

		for (int i = 0; i < 3; i++) {
			dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
			rows[i] = dice >> 33 & (ROWS - 1);
			snprintf(key, sizeof(key), "%zu", rows[i]);
			cache_change(t.cache, text(key));
		}
		atomic_store(&t.committed, n);
		for (int i = 0; i < 3; i++)
			atomic_store(&t.rows[rows[i]], n);
		cache_commit(t.cache);
	}
	while (atomic_load(&t.hits) == 0)
		sched_yield();
	atomic_store(&t.over, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&t.wrong), 0);
	cache_free(t.cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_put_is_given_back),
		cmocka_unit_test(
			test_a_change_is_seen_by_nobody_before_its_end_and_the_old_row_by_nobody_from_its_beginning),
		cmocka_unit_test(test_what_a_transaction_adds_is_given_from_its_end_on),
		cmocka_unit_test(test_it_stays_within_its_bytes_and_keeps_what_is_used),
		cmocka_unit_test(test_readers_beside_a_writer_never_get_an_old_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
