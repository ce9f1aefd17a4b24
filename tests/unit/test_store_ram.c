/* The engine in memory: its addresses, its readers, its faults. What it shares with others is the conformance suite. */
#include "temp_store.h"

#include "store/ram/ram_faults.h"

#include <pthread.h>

struct open_store {
	struct store_conn *c;
	struct buf error;
	int64_t space;
};

static void open_store(struct open_store *s, const char *address)
{
	buf_init(&s->error, 4096);
	s->c = store_open(address, STORE_WRITE, &s->error);
	assert_non_null(s->c);
	must(store_begin(s->c));
	must(store_space_create(s->c, STR("default"), T0, &s->space));
	must(store_commit(s->c));
}

static void close_store(struct open_store *s)
{
	store_close(s->c);
	buf_release(&s->error);
}

static int64_t memories(struct store_conn *c, int64_t space)
{
	int64_t n = -1;

	must(store_space_count(c, space, &n));
	return n;
}

static void several_stores_live_beside_each_other(void **state)
{
	struct open_store a, b, first, second;
	struct memory m;

	(void)state;
	open_store(&a, "ram:a");
	open_store(&b, "ram:b");
	open_store(&first, "ram:");
	open_store(&second, "ram:");
	m = temp_memory(a.space, "text");
	must(store_begin(a.c));
	must(store_memory_insert(a.c, &m));
	must(store_commit(a.c));
	assert_int_equal(memories(a.c, a.space), 1);
	assert_int_equal(memories(b.c, b.space) + memories(first.c, 1) + memories(second.c, 1), 0);
	close_store(&second);
	close_store(&first);
	close_store(&b);
	close_store(&a);
}

static void a_store_is_gone_with_its_last_connection(void **state)
{
	struct open_store s;
	struct store_conn *reader;

	(void)state;
	assert_true(store_is_missing("ram:a"));
	open_store(&s, "ram:a");
	assert_false(store_is_missing("ram:a"));
	reader = store_open("ram:a", STORE_READ, &s.error);
	assert_non_null(reader);
	store_close(s.c);
	assert_int_equal(memories(reader, s.space), 0);
	s.c = store_open("ram:a", STORE_WRITE, &s.error);
	assert_int_equal(memories(s.c, s.space), 0);
	store_close(reader);
	close_store(&s);
	assert_true(store_is_missing("ram:a"));
}

static void an_address_of_no_engine_is_refused_by_name(void **state)
{
	struct buf error;

	(void)state;
	buf_init(&error, 4096);
	assert_null(store_open("postgres://host/db", STORE_WRITE, &error));
	assert_non_null(strstr(buf_str(&error).p, "postgres://host/db"));
	assert_false(store_is_missing("postgres://host/db"));
	assert_int_not_equal(access("postgres:", F_OK), 0);
	buf_release(&error);
}

static void *count_memories(void *arg)
{
	struct store_conn *reader = arg;

	return (void *)(uintptr_t)memories(reader, 1);
}

static void a_reader_on_another_thread_sees_a_transaction_when_it_is_over(void **state)
{
	struct open_store s;
	struct store_conn *reader;
	struct memory m;
	pthread_t thread;
	void *seen;

	(void)state;
	open_store(&s, "ram:a");
	reader = store_open("ram:a", STORE_READ, &s.error);
	for (int i = 0; i < 2; i++) {
		m = temp_memory(s.space, "text");
		must(store_begin(s.c));
		must(store_memory_insert(s.c, &m));
		assert_int_equal(pthread_create(&thread, NULL, count_memories, reader), 0);
		m.num = 0;
		must(store_memory_insert(s.c, &m));
		if (i == 0)
			store_rollback(s.c);
		else
			must(store_commit(s.c));
		pthread_join(thread, &seen);
		assert_int_equal((uintptr_t)seen, i == 0 ? 0 : 2);
	}
	store_close(reader);
	close_store(&s);
}

static void verbs_and_commits_fail_when_they_are_told_to(void **state)
{
	struct open_store s;

	(void)state;
	open_store(&s, "ram:");
	must(store_begin(s.c));
	ram_fail(s.c, STORE_FULL, 2, 0);
	must(store_space_set_guard(s.c, s.space, 1));
	assert_int_equal(memories(s.c, s.space), 0);	/* a disk that is full can be read */
	assert_int_equal(store_space_set_guard(s.c, s.space, 2), STORE_FULL);
	must(store_space_set_guard(s.c, s.space, 2));
	ram_fail_commit(s.c, false);
	assert_int_equal(store_commit(s.c), STORE_UNKNOWN);
	assert_true(store_is_failed(s.c));
	assert_int_equal(store_begin(s.c), STORE_FAILED);
	ram_heal(s.c);
	must(store_begin(s.c));
	must(store_commit(s.c));
	close_store(&s);
}

int main(void)
{
	const struct CMUnitTest store_ram[] = {
		cmocka_unit_test(several_stores_live_beside_each_other),
		cmocka_unit_test(a_store_is_gone_with_its_last_connection),
		cmocka_unit_test(an_address_of_no_engine_is_refused_by_name),
		cmocka_unit_test(a_reader_on_another_thread_sees_a_transaction_when_it_is_over),
		cmocka_unit_test(verbs_and_commits_fail_when_they_are_told_to),
	};

	return cmocka_run_group_tests(store_ram, NULL, NULL);
}
