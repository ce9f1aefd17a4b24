/* The engine in memory: its addresses, its readers, its faults. What it shares with others is the conformance suite. */
#include "temp_store.h"

#include "store/ram/ram_database.h"
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
	assert_null(store_open("mysql://host/db", STORE_WRITE, &error));
	assert_non_null(strstr(buf_str(&error).p, "postgres://"));
	assert_null(strstr(buf_str(&error).p, "host"));		/* there may be a password beside it */
	assert_false(store_is_missing("mysql://host/db"));
	assert_int_not_equal(access("mysql:", F_OK), 0);
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

/* --- Shards of a database, and who has them --- */

struct nodes {
	struct ram_database *db;
	struct store_conn *a, *b;
	struct buf error;
	int64_t space;
};

enum { LEASE_MS = 5000, SHARD = 12 };

/* Two nodes, of which the first has taken the shard. */
static void open_nodes(struct nodes *n)
{
	*n = (struct nodes){.db = ram_database_open("d")};
	buf_init(&n->error, 4096);
	ram_database_set_time(n->db, T0);
	ram_database_renew(n->db, "node-a", LEASE_MS, false);
	ram_database_renew(n->db, "node-b", LEASE_MS, false);
	n->a = store_open("ram:d#12@node-a", STORE_WRITE, &n->error);
	assert_non_null(n->a);
	must(store_begin(n->a));
	must(store_space_create(n->a, STR("default"), T0, &n->space));
	must(store_commit(n->a));
}

static void take(struct nodes *n)
{
	n->b = store_open("ram:d#12@node-b", STORE_WRITE, &n->error);
	assert_non_null(n->b);
	assert_string_equal(ram_database_owner(n->db, SHARD), "node-b");
}

static void close_nodes(struct nodes *n)
{
	store_close(n->a);
	store_close(n->b);
	ram_database_close(n->db);
	buf_release(&n->error);
	assert_true(store_is_missing("ram:d#12"));
}

/* The lease of the first ends, the second's goes on. */
static void let_lease_end(struct nodes *n)
{
	ram_database_set_time(n->db, T0 + LEASE_MS);
	ram_database_renew(n->db, "node-b", LEASE_MS, false);
}

static enum store_status store_one(struct store_conn *c, int64_t space)
{
	struct memory m = temp_memory(space, "text");
	enum store_status status = store_begin(c);

	if (status == STORE_OK)
		status = store_memory_insert(c, &m);
	if (status != STORE_OK)
		store_rollback(c);
	return status == STORE_OK ? store_commit(c) : status;
}

static void a_shard_is_taken_when_its_owners_lease_is_over_and_not_before(void **state)
{
	struct nodes n;

	(void)state;
	open_nodes(&n);
	assert_null(store_open("ram:d#12@node-b", STORE_WRITE, &n.error));
	assert_null(store_open("ram:d#13@node-c", STORE_WRITE, &n.error));
	ram_database_set_time(n.db, T0 + LEASE_MS - 1);
	assert_null(store_open("ram:d#12@node-b", STORE_WRITE, &n.error));
	let_lease_end(&n);
	must(store_one(n.a, n.space));		/* the epoch counts, not the lease */
	take(&n);
	must(store_one(n.b, n.space));
	assert_int_equal(store_one(n.a, n.space), STORE_BUSY);
	assert_false(store_is_failed(n.a));
	assert_int_equal(memories(n.b, n.space), 2);
	close_nodes(&n);
}

static void a_shard_that_is_given_back_can_be_taken_at_once(void **state)
{
	struct nodes n;

	(void)state;
	open_nodes(&n);
	ram_database_give(n.db, SHARD, "node-b");
	assert_string_equal(ram_database_owner(n.db, SHARD), "node-a");
	ram_database_give(n.db, SHARD, "node-a");
	assert_int_equal(store_one(n.a, n.space), STORE_BUSY);
	take(&n);
	close_nodes(&n);
}

static void who_takes_a_shard_ends_the_transaction_under_way(void **state)
{
	struct memory m;
	struct nodes n;

	(void)state;
	open_nodes(&n);
	m = temp_memory(n.space, "text");
	must(store_begin(n.a));
	must(store_memory_insert(n.a, &m));
	let_lease_end(&n);
	take(&n);
	assert_int_equal(memories(n.b, n.space), 0);
	m.num = 0;
	assert_int_equal(store_memory_insert(n.a, &m), STORE_BUSY);
	assert_int_equal(store_commit(n.a), STORE_BUSY);
	assert_int_equal(store_one(n.a, n.space), STORE_BUSY);
	must(store_one(n.b, n.space));
	close_nodes(&n);
}

static void a_commit_whose_answer_is_lost_is_settled_by_its_marker(void **state)
{
	struct nodes n;
	int64_t epoch;

	(void)state;
	open_nodes(&n);
	epoch = ram_epoch(n.a);
	ram_break_commit(n.a, true);
	must(store_one(n.a, n.space));
	ram_break_commit(n.a, false);
	assert_int_equal(store_one(n.a, n.space), STORE_BUSY);
	must(store_one(n.a, n.space));
	assert_int_equal(memories(n.a, n.space), 2);
	assert_int_equal(ram_epoch(n.a), epoch + 2);	/* each new session raises it */
	close_nodes(&n);
}

static void take_in_between(void *ctx, struct store_conn *c)
{
	(void)c;
	take(ctx);
}

static void the_marker_is_there_when_another_has_taken_the_shard(void **state)
{
	struct nodes n;

	(void)state;
	open_nodes(&n);
	let_lease_end(&n);
	ram_set_hooks(n.a, &(struct ram_hooks){.settling = take_in_between, .ctx = &n});
	ram_break_commit(n.a, true);
	must(store_one(n.a, n.space));
	assert_int_equal(store_one(n.a, n.space), STORE_BUSY);
	assert_int_equal(memories(n.b, n.space), 1);
	close_nodes(&n);
}

static void cut_off(void *ctx, struct store_conn *c)
{
	(void)ctx;
	ram_cut(c, true);
}

static void nobody_guesses_where_the_marker_cannot_be_read(void **state)
{
	struct nodes n;

	(void)state;
	open_nodes(&n);
	ram_set_hooks(n.a, &(struct ram_hooks){.settling = cut_off});
	ram_break_commit(n.a, true);
	assert_int_equal(store_one(n.a, n.space), STORE_UNKNOWN);
	assert_true(store_is_failed(n.a));
	close_nodes(&n);
}

static void who_does_not_reach_the_database_goes_on_when_it_does(void **state)
{
	struct nodes n;

	(void)state;
	open_nodes(&n);
	must(store_begin(n.a));
	ram_cut(n.a, true);
	assert_int_equal(store_space_set_guard(n.a, n.space, 1), STORE_BUSY);
	store_rollback(n.a);
	assert_int_equal(store_one(n.a, n.space), STORE_BUSY);
	ram_cut(n.a, false);
	must(store_one(n.a, n.space));
	close_nodes(&n);
}

int main(void)
{
	const struct CMUnitTest store_ram[] = {
		cmocka_unit_test(several_stores_live_beside_each_other),
		cmocka_unit_test(a_store_is_gone_with_its_last_connection),
		cmocka_unit_test(an_address_of_no_engine_is_refused_by_name),
		cmocka_unit_test(a_reader_on_another_thread_sees_a_transaction_when_it_is_over),
		cmocka_unit_test(verbs_and_commits_fail_when_they_are_told_to),
		cmocka_unit_test(a_shard_is_taken_when_its_owners_lease_is_over_and_not_before),
		cmocka_unit_test(a_shard_that_is_given_back_can_be_taken_at_once),
		cmocka_unit_test(who_takes_a_shard_ends_the_transaction_under_way),
		cmocka_unit_test(a_commit_whose_answer_is_lost_is_settled_by_its_marker),
		cmocka_unit_test(the_marker_is_there_when_another_has_taken_the_shard),
		cmocka_unit_test(nobody_guesses_where_the_marker_cannot_be_read),
		cmocka_unit_test(who_does_not_reach_the_database_goes_on_when_it_does),
	};

	return cmocka_run_group_tests(store_ram, NULL, NULL);
}
