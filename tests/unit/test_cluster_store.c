/* store/cluster.h on PostgreSQL: several nodes in one process share a database (scripts/with-postgres names it).
 *
 * Nobody waits for a lease to end: the tests end it, by SQL.
 */
#include "temp_postgres.h"

#include "base/clock.h"
#include "core/cluster/lease.h"
#include "core/cluster/shard.h"
#include "store/postgres/postgres_internal.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

_Static_assert((int)SHARDS == (int)STORE_SHARDS && (int)LEASE_MS == (int)STORE_LEASE_MS, "as in the core");

static void end_lease(struct temp_postgres *f, const char *id)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "UPDATE spine.node SET lease_until = spine.now_ms() - 1000 WHERE id = '%s'", id);
	run_sql(f->sql, sql);
}

static enum store_status make_space(struct store_conn *c, const char *name)
{
	int64_t id = 0;
	enum store_status status = store_begin(c);

	if (status == STORE_OK)
		status = store_space_create(c, str_of(name), 1, &id);
	if (status == STORE_OK)
		return store_commit(c);
	store_rollback(c);
	return status;
}

/* --- Tests --- */

static void a_node_sees_itself_and_the_others(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct cluster_view view = temp_node_renew(f, a), other = temp_node_renew(f, b);

	assert_int_equal(view.node_count, 2);
	assert_true(str_is(view.nodes[0].id, "node-a") && str_is(view.nodes[1].id, "node-b"));
	assert_true(str_is(view.nodes[1].url, "http://node-b") && str_is(view.nodes[1].version, "1.0"));
	assert_true(view.nodes[1].is_live && !view.nodes[1].is_leaving);
	assert_in_range(view.nodes[1].lease_left_ms, 1, STORE_LEASE_MS);
	assert_int_equal(view.nodes[1].clock_offset_ms, -7);
	assert_int_equal(view.nodes[1].protocol, 3);
	assert_true(view.nodes[1].started_at_ms <= view.db_now_ms && view.nodes[1].started_at_ms > 0);
	for (int i = 0; i < STORE_SHARDS; i++) {
		assert_int_equal(view.shards[i].shard, i);
		assert_null(view.shards[i].owner.p);
		assert_false(view.shards[i].has_spaces);
	}
	assert_int_equal(view.secret.n, 32);
	assert_true(str_eq(view.secret, other.secret));
	assert_int_equal(view.nodes[0].keys_version, 0);
	store_cluster_know_keys(a, 7);
	view = temp_node_renew(f, a);
	assert_int_equal(view.nodes[0].keys_version, 7);
	assert_int_equal(view.nodes[1].keys_version, 0);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void a_shard_is_taken_given_and_taken_by_another(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = temp_take(f, 12, "node-a"), *at_b;
	struct cluster_view view = temp_node_renew(f, b);

	assert_true(str_is(view.shards[12].owner, "node-a"));
	assert_int_equal(view.shards[12].epoch, 1);
	assert_int_equal(make_space(at_a, "team"), STORE_OK);
	assert_null(temp_try_take(f, 12, "node-b"));
	assert_non_null(strstr(buf_str(&f->error).p, "node-a, which lives"));
	assert_int_equal(store_cluster_give(b, 12), STORE_NOT_FOUND);
	assert_int_equal(store_cluster_give(a, 12), STORE_OK);
	at_b = temp_take(f, 12, "node-b");
	assert_int_equal(make_space(at_a, "other"), STORE_BUSY);
	assert_true(store_is_lost(at_a) && !store_is_lost(at_b));
	assert_int_equal(make_space(at_b, "other"), STORE_OK);
	view = temp_node_renew(f, a);
	assert_true(str_is(view.shards[12].owner, "node-b") && view.shards[12].has_spaces);
	assert_false(view.shards[11].has_spaces);
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void the_shard_of_a_node_whose_lease_has_ended_is_taken(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = temp_take(f, 3, "node-a"), *at_b;
	struct cluster_view view;

	end_lease(f, "node-a");
	view = temp_node_renew(f, b);
	assert_false(view.nodes[0].is_live);
	assert_int_equal(view.nodes[0].lease_left_ms, 0);
	at_b = temp_take(f, 3, "node-b");
	/* It wakes up, and does not know yet. */
	assert_int_equal(make_space(at_a, "team"), STORE_BUSY);
	view = temp_node_renew(f, a);
	assert_true(view.nodes[0].is_live && str_is(view.shards[3].owner, "node-b"));
	assert_int_equal(make_space(at_a, "team"), STORE_BUSY);
	assert_int_equal(make_space(at_b, "team"), STORE_OK);
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void a_node_without_a_lease_takes_nothing(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_open(f, "node-a");

	assert_null(temp_try_take(f, 3, "node-a"));
	temp_node_renew(f, a);
	end_lease(f, "node-a");
	assert_null(temp_try_take(f, 3, "node-a"));
	assert_non_null(strstr(buf_str(&f->error).p, "node-a has no lease"));
	temp_node_renew(f, a);
	store_close(temp_take(f, 3, "node-a"));
	/* It is its own already. */
	store_close(temp_take(f, 3, "node-a"));
	assert_null(temp_try_take(f, 64, "node-a"));
	store_cluster_close(a);
}

static void who_leaves_says_so_and_leaves_nothing_behind(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = temp_take(f, 3, "node-a");
	struct cluster_view view;

	assert_int_equal(store_cluster_leave(a), STORE_OK);
	view = temp_node_renew(f, a);
	assert_true(view.nodes[0].is_leaving && view.nodes[0].is_live && !view.nodes[1].is_leaving);
	store_cluster_remove(a);
	view = temp_node_renew(f, b);
	assert_int_equal(view.node_count, 1);
	assert_null(view.shards[3].owner.p);
	assert_int_equal(make_space(at_a, "team"), STORE_BUSY);
	/* Removed by somebody else it comes back, and still leaves. */
	view = temp_node_renew(f, a);
	assert_true(view.node_count == 2 && view.nodes[0].is_leaving);
	store_close(at_a);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void a_node_whose_row_was_removed_owns_nothing(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *at_a = temp_take(f, 3, "node-a");

	run_sql(f->sql, "DELETE FROM spine.node");
	assert_null(temp_node_renew(f, a).shards[3].owner.p);
	assert_int_equal(make_space(at_a, "team"), STORE_BUSY);
	store_close(at_a);
	store_cluster_close(a);
}

/* --- Waiting --- */

static void a_wait_ends_with_news_with_a_byte_and_with_its_time(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	int64_t begun_ns = clock_mono_ns();
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	/* What there was before. */
	store_cluster_wait(a, ends[0], 60000);
	store_cluster_wait(a, ends[0], 50);
	store_close(temp_take(f, 3, "node-b"));
	store_cluster_wait(a, ends[0], 60000);
	store_cluster_wait(a, ends[0], 50);
	assert_int_equal(store_cluster_give(b, 3), STORE_OK);
	store_cluster_wait(a, ends[0], 60000);
	store_cluster_wait(a, ends[0], 50);
	assert_int_equal(write(ends[1], "x", 1), 1);
	store_cluster_wait(a, ends[0], 60000);
	assert_true(clock_mono_ns() - begun_ns < INT64_C(60000000000));
	close(ends[0]);
	close(ends[1]);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void a_session_that_broke_is_replaced(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *at_a = temp_take(f, 3, "node-a");
	struct cluster_view view;

	assert_int_equal(make_space(at_a, "one"), STORE_OK);
	temp_postgres_break(f);
	view = temp_node_renew(f, a);
	assert_int_equal(view.shards[3].epoch, 1);
	temp_postgres_break(f);
	store_cluster_wait(a, -1, 60000);
	store_cluster_wait(a, -1, 50);
	view = temp_node_renew(f, a);
	assert_int_equal(view.shards[3].epoch, 1);
	assert_int_equal(make_space(at_a, "two"), STORE_OK);
	view = temp_node_renew(f, a);
	assert_int_equal(view.shards[3].epoch, 2);
	assert_true(str_is(view.shards[3].owner, "node-a") && !store_is_lost(at_a));
	store_close(at_a);
	store_cluster_close(a);
}

/* Its session broke before it heard that it has the shard again. */
static void a_taking_without_an_answer_is_no_loss(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *at_a = temp_take(f, 3, "node-a");

	run_sql(f->sql, "SET search_path TO spine; SELECT raise_epoch(3, 'node-a', since) FROM shard WHERE shard = 3");
	temp_postgres_break(f);
	assert_int_equal(make_space(at_a, "two"), STORE_OK);
	assert_int_equal(temp_node_renew(f, a).shards[3].epoch, 3);
	store_close(at_a);
	store_cluster_close(a);
}

static void a_second_writer_of_the_same_node_ends_the_first(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *first = temp_take(f, 3, "node-a"), *second = temp_take(f, 3, "node-a");

	temp_postgres_break(f);
	assert_int_equal(make_space(second, "two"), STORE_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(make_space(first, "two"), STORE_BUSY);
	assert_true(store_is_lost(first) && !store_is_lost(second));
	store_close(first);
	store_close(second);
	store_cluster_close(a);
}

/* --- What was sent meanwhile --- */

static void put_reply(struct store_conn *c, int64_t space, int i)
{
	struct kept_reply reply = {.status = 200, .body = STR("{}"), .at_ms = 1};
	char key[16];

	snprintf(key, sizeof(key), "k%d", i);
	store_reply_put(c, space, str_of(key), &reply, NULL, 0);
}

static int64_t count_replies(struct temp_postgres *f)
{
	return sql_int(f->sql, "SELECT count(*) FROM spine.reply");
}

static void a_whole_batch_behind_a_lost_epoch_is_refused(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = temp_take(f, 3, "node-a"), *at_b;

	assert_int_equal(make_space(at_a, "team"), STORE_OK);
	end_lease(f, "node-a");
	at_b = temp_take(f, 3, "node-b");
	/* All of it is on its way before the first answer is looked at. */
	assert_int_equal(store_begin(at_a), STORE_OK);
	for (int i = 0; i < 100; i++)
		put_reply(at_a, 1, i);
	assert_int_equal(store_commit(at_a), STORE_BUSY);
	assert_int_equal(count_replies(f), 0);
	assert_int_equal(sql_int(f->sql, "SELECT number FROM spine.marker WHERE shard = 3 AND epoch = 1"), 1);
	assert_true(store_is_lost(at_a));
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

struct taker {
	struct temp_postgres *f;
	pthread_t thread;
	struct store_conn *c;
	struct buf error;
};

static void *take_3_as_b(void *arg)
{
	struct taker *t = arg;
	char address[600];

	snprintf(address, sizeof(address), "%s#3@node-b", t->f->address);
	t->c = store_open(address, STORE_WRITE, &t->error);
	return NULL;
}

static void start_taking(struct taker *t, struct temp_postgres *f)
{
	t->f = f;
	buf_init(&t->error, 4096);
	assert_int_equal(pthread_create(&t->thread, NULL, take_3_as_b, t), 0);
	while (sql_int(f->sql, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 0)
		sched_yield();
}

static struct store_conn *taken(struct taker *t)
{
	assert_int_equal(pthread_join(t->thread, NULL), 0);
	if (t->c == NULL)
		fail_msg("%s", buf_str(&t->error).p);
	buf_release(&t->error);
	return t->c;
}

/* Of a, whose lease has ended, is a transaction under way that the database knows of. */
static struct store_conn *begin_at_a(struct temp_postgres *f)
{
	struct store_conn *c = temp_take(f, 3, "node-a");
	int64_t space = 0;

	assert_int_equal(make_space(c, "team"), STORE_OK);
	end_lease(f, "node-a");
	assert_int_equal(store_begin(c), STORE_OK);
	put_reply(c, 1, 1);
	assert_int_equal(store_space_find(c, STR("team"), &space), STORE_OK);
	return c;
}

static void whoever_takes_a_shard_waits_for_what_is_under_way(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = begin_at_a(f), *at_b;
	struct taker taker;

	start_taking(&taker, f);
	assert_int_equal(store_commit(at_a), STORE_OK);
	at_b = taken(&taker);
	assert_int_equal(count_replies(f), 1);
	assert_int_equal(make_space(at_a, "late"), STORE_BUSY);
	assert_int_equal(make_space(at_b, "next"), STORE_OK);
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void a_server_that_stands_still_in_a_transaction_is_not_waited_for(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = begin_at_a(f), *at_b = temp_take(f, 3, "node-b");

	assert_int_equal(store_commit(at_a), STORE_BUSY);
	assert_true(store_is_lost(at_a));
	assert_int_equal(count_replies(f), 0);
	assert_int_equal(make_space(at_b, "next"), STORE_OK);
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

/* COMMIT goes out, and its answer is not read. */
static void cut_off(struct store_conn *c)
{
	assert_int_equal(shutdown(PQsocket(postgres_of(c)->session->db), SHUT_RD), 0);
}

static void a_commit_without_an_answer_is_looked_up(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *at_a = begin_at_a(f);

	cut_off(at_a);
	assert_int_equal(store_commit(at_a), STORE_OK);
	assert_int_equal(count_replies(f), 1);
	assert_false(store_is_lost(at_a));
	assert_int_equal(make_space(at_a, "next"), STORE_OK);
	store_close(at_a);
	store_cluster_close(a);
}

static void a_commit_that_did_not_happen_is_known_too(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *at_a = begin_at_a(f);
	char sql[80];

	snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%d, 60000)",
		 PQbackendPID(postgres_of(at_a)->session->db));
	run_sql(f->sql, sql);
	assert_int_equal(store_commit(at_a), STORE_BUSY);
	assert_int_equal(count_replies(f), 0);
	assert_false(store_is_lost(at_a));
	assert_int_equal(make_space(at_a, "next"), STORE_OK);
	store_close(at_a);
	store_cluster_close(a);
}

static void a_commit_without_an_answer_is_looked_up_where_the_shard_was_taken(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = begin_at_a(f), *at_b;
	struct taker taker;

	/* It stands in line before a comes back; which of them is first then is PostgreSQL's to say. */
	start_taking(&taker, f);
	cut_off(at_a);
	assert_int_equal(store_commit(at_a), STORE_OK);
	at_b = taken(&taker);
	assert_int_equal(count_replies(f), 1);
	assert_int_equal(make_space(at_a, "late"), STORE_BUSY);
	assert_true(store_is_lost(at_a));
	assert_int_equal(make_space(at_b, "next"), STORE_OK);
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void a_lost_transaction_is_known_where_the_shard_was_taken(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = begin_at_a(f), *at_b;
	struct taker taker;
	char sql[80];

	start_taking(&taker, f);
	snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%d, 60000)",
		 PQbackendPID(postgres_of(at_a)->session->db));
	run_sql(f->sql, sql);
	assert_int_equal(store_commit(at_a), STORE_BUSY);
	at_b = taken(&taker);
	assert_int_equal(make_space(at_a, "late"), STORE_BUSY);
	assert_true(store_is_lost(at_a));
	assert_int_equal(count_replies(f), 0);
	store_close(at_a);
	store_close(at_b);
	store_cluster_close(a);
	store_cluster_close(b);
}

static void raise_oldest(struct temp_postgres *f)
{
	run_sql(f->sql, "UPDATE spine.version SET schema = 1000, oldest = 1000, oldest_name = '9.9'");
}

static void who_has_become_too_old_gets_no_lease_and_no_shard(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct cluster_view view;

	end_lease(f, "node-a");
	raise_oldest(f);
	view = temp_node_renew(f, a);
	assert_true(str_is(view.needs, "9.9"));
	assert_int_equal(view.node_count, 0);
	assert_int_equal(sql_int(f->sql, "SELECT count(*) FROM spine.node WHERE lease_until > spine.now_ms()"), 0);
	assert_null(temp_try_take(f, 3, "node-a"));
	run_sql(f->sql, "UPDATE spine.version SET oldest = 1");
	view = temp_node_renew(f, a);
	assert_null(view.needs.p);
	assert_int_equal(view.node_count, 1);
	store_cluster_close(a);
}

/* Between opening and the first renewal nobody sees a server. */
static void who_starts_while_the_oldest_is_raised_is_seen_or_sees_it(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_open(f, "node-a");

	raise_oldest(f);
	assert_true(str_is(temp_node_renew(f, a).needs, "9.9"));
	assert_int_equal(sql_int(f->sql, "SELECT count(*) FROM spine.node"), 0);
	store_cluster_close(a);
}

struct renewal {
	struct temp_postgres *f;
	struct store_cluster *c;
	struct cluster_view view;
};

static void *renew_once(void *arg)
{
	struct renewal *r = arg;

	r->view = temp_node_renew(r->f, r->c);
	return NULL;
}

static void a_renewal_waits_for_who_raises_the_oldest(void **state)
{
	struct temp_postgres *f = *state;
	struct renewal r = {.f = f, .c = temp_node_open(f, "node-a")};
	pthread_t thread;

	/* As spine migrate --finish: nobody was seen. */
	run_sql(f->sql, "BEGIN");
	run_sql(f->sql, "SELECT pg_advisory_xact_lock(1297305678, -2)");
	assert_int_equal(pthread_create(&thread, NULL, renew_once, &r), 0);
	while (sql_int(f->admin, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == 0)
		sched_yield();
	raise_oldest(f);
	run_sql(f->sql, "COMMIT");
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(str_is(r.view.needs, "9.9"));
	store_cluster_close(r.c);
}

static void what_a_paused_server_still_writes_is_refused_when_the_oldest_was_raised(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *at_a = temp_take(f, 3, "node-a");
	struct store_schema schema;

	assert_int_equal(make_space(at_a, "team"), STORE_OK);
	assert_false(store_migrate(f->address, true, &schema, &f->error));
	end_lease(f, "node-a");
	if (!store_migrate(f->address, true, &schema, &f->error))
		fail_msg("%s", buf_str(&f->error).p);
	assert_int_equal(make_space(at_a, "late"), STORE_BUSY);
	assert_true(store_is_lost(at_a));
	store_close(at_a);
	store_cluster_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_database(a_node_sees_itself_and_the_others),
		with_database(a_shard_is_taken_given_and_taken_by_another),
		with_database(the_shard_of_a_node_whose_lease_has_ended_is_taken),
		with_database(a_node_without_a_lease_takes_nothing),
		with_database(who_leaves_says_so_and_leaves_nothing_behind),
		with_database(a_node_whose_row_was_removed_owns_nothing),
		with_database(a_wait_ends_with_news_with_a_byte_and_with_its_time),
		with_database(a_session_that_broke_is_replaced),
		with_database(a_taking_without_an_answer_is_no_loss),
		with_database(a_second_writer_of_the_same_node_ends_the_first),
		with_database(a_whole_batch_behind_a_lost_epoch_is_refused),
		with_database(whoever_takes_a_shard_waits_for_what_is_under_way),
		with_database(a_server_that_stands_still_in_a_transaction_is_not_waited_for),
		with_database(a_commit_without_an_answer_is_looked_up),
		with_database(a_commit_that_did_not_happen_is_known_too),
		with_database(a_commit_without_an_answer_is_looked_up_where_the_shard_was_taken),
		with_database(a_lost_transaction_is_known_where_the_shard_was_taken),
		with_database(who_has_become_too_old_gets_no_lease_and_no_shard),
		with_database(who_starts_while_the_oldest_is_raised_is_seen_or_sees_it),
		with_database(a_renewal_waits_for_who_raises_the_oldest),
		with_database(what_a_paused_server_still_writes_is_refused_when_the_oldest_was_raised),
	};

	/* scripts/with-postgres says where there is a PostgreSQL. */
	if (getenv("SPINE_TEST_POSTGRES") == NULL)
		return 0;
	return cmocka_run_group_tests_name("nodes on PostgreSQL", tests, NULL, NULL);
}
