/* What the writers and readers of one database of PostgreSQL share: its schema, its keys, and sessions. */
#include "temp_postgres.h"

#include "base/clock.h"
#include "base/thread.h"
#include "store/postgres/postgres_internal.h"

#include <sched.h>
#include <signal.h>

/* --- The schema --- */

enum { AT_ONCE = 10 };

struct starter {
	struct temp_postgres *f;
	int number;
	pthread_t thread;
	bool has_started;
};

static void *start_node(void *arg)
{
	struct starter *s = arg;
	char id[16];
	size_t length = (size_t)snprintf(id, sizeof(id), "node-%d", s->number);
	struct cluster_self self = {.id = {id, length}, .url = STR("u"), .version = STR("1"), .protocol = 1};
	struct store_cluster *c;
	struct cluster_view view;
	struct arena arena;
	struct buf error;

	buf_init(&error, 4096);
	arena_init(&arena);
	c = store_cluster_open(s->f->address, &self, &error);
	s->has_started = c && store_cluster_renew(c, 0, &arena, &view) == STORE_OK;
	if (!s->has_started)
		print_error("%s %s\n", buf_str(&error).p, c ? store_cluster_error(c) : "");
	store_cluster_close(c);
	arena_release(&arena);
	buf_release(&error);
	return NULL;
}

static void ten_nodes_may_start_at_once(void **state)
{
	struct temp_postgres *f = *state;
	struct starter starters[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++) {
		starters[i] = (struct starter){.f = f, .number = i};
		thread_start(&starters[i].thread, start_node, &starters[i]);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		pthread_join(starters[i].thread, NULL);
		assert_true(starters[i].has_started);
	}
	assert_int_equal(sql_int(f->sql, "SELECT count(*) FROM spine.node"), AT_ONCE);
	assert_int_equal(sql_int(f->sql, "SELECT count(*) FROM spine.shard"), STORE_SHARDS);
	assert_int_equal(sql_int(f->sql, "SELECT schema FROM spine.version"), POSTGRES_SCHEMA_NOW);
}

static void assert_refused(struct temp_postgres *f, const char *because)
{
	struct cluster_self self = {.id = STR("node-b"), .url = STR("u"), .version = STR("1"), .protocol = 1};
	char address[600];

	buf_clear(&f->error);
	assert_null(store_cluster_open(f->address, &self, &f->error));
	assert_non_null(strstr(buf_str(&f->error).p, because));
	snprintf(address, sizeof(address), "%s#3", f->address);
	for (enum store_mode mode = STORE_WRITE; mode <= STORE_READ; mode++) {
		buf_clear(&f->error);
		assert_null(store_open(address, mode, &f->error));
		assert_non_null(strstr(buf_str(&f->error).p, because));
	}
}

static void a_newer_schema_is_used_unless_it_says_that_this_binary_is_too_old(void **state)
{
	struct temp_postgres *f = *state;
	char address[600];

	store_cluster_close(temp_node_join(f, "node-a"));
	snprintf(address, sizeof(address), "%s#3", f->address);
	run_sql(f->sql, "UPDATE spine.version SET schema = 1000");
	store_cluster_close(temp_node_join(f, "node-a"));
	store_close(store_open(address, STORE_READ, &f->error));
	assert_int_equal(sql_int(f->sql, "SELECT schema FROM spine.version"), 1000);
	run_sql(f->sql, "UPDATE spine.version SET oldest = 1000, oldest_name = '77.3.0'");
	assert_refused(f, "for servers of version 77.3.0 or later; this is " SPINE_VERSION);
}

static void only_a_database_has_nodes(void **state)
{
	struct temp_postgres *f = *state;
	struct cluster_self self = {.id = STR("node-a"), .url = STR("u"), .version = STR("1"), .protocol = 1};

	assert_null(store_cluster_open("/tmp", &self, &f->error));
	assert_non_null(strstr(buf_str(&f->error).p, "/tmp is none"));
}

/* --- Keys --- */

static struct access_key_row key_of(uint64_t num, struct str space)
{
	return (struct access_key_row){.num = num, .name = STR("key"), .space = space, .created_at_ms = 1};
}

enum { KEYS_EACH = 30 };

struct maker {
	struct store_conn *c;
	pthread_t thread;
	int busy;
};

static enum store_status make_key(struct store_conn *c)
{
	struct access_key_row row = key_of(0, STR_NULL);
	bool needs_key;
	enum store_status status = store_begin(c);

	if (status == STORE_OK)
		status = store_access_mode(c, &needs_key);
	if (status == STORE_OK)
		status = store_access_key_next(c, &row.num);
	if (status == STORE_OK)
		status = store_access_key_insert(c, &row);
	if (status == STORE_OK)
		status = store_access_set_mode(c, true);
	if (status == STORE_OK)
		return store_commit(c);
	store_rollback(c);
	return status;
}

static void *make_keys(void *arg)
{
	struct maker *m = arg;

	for (int i = 0; i < KEYS_EACH; i++)
		m->busy += make_key(m->c) != STORE_OK;
	return NULL;
}

static void shards_give_each_number_to_one_key(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct maker makers[4] = {{0}};
	int64_t before = temp_node_renew(f, a).keys_version;

	for (int i = 0; i < 4; i++) {
		makers[i].c = temp_take(f, i, "node-a");
		thread_start(&makers[i].thread, make_keys, &makers[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(makers[i].thread, NULL);
		assert_int_equal(makers[i].busy, 0);
		store_close(makers[i].c);
	}
	assert_int_equal(sql_int(f->sql, "SELECT max(id) FROM spine.access_key WHERE shard = 0"), 4 * KEYS_EACH);
	assert_int_equal(sql_int(f->sql, "SELECT count(*) FROM spine.access_key"), 4 * KEYS_EACH);
	assert_true(temp_node_renew(f, a).keys_version >= before + 4 * KEYS_EACH);
	store_cluster_close(a);
}

static void a_change_of_a_key_wakes_the_nodes(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a"), *b = temp_node_join(f, "node-b");
	struct store_conn *at_a = temp_take(f, 3, "node-a");
	int64_t before, begun_ns = clock_mono_ns();

	before = temp_node_renew(f, b).keys_version;
	store_cluster_wait(b, -1, 60000);
	store_cluster_wait(b, -1, 50);
	must(make_key(at_a));
	store_cluster_wait(b, -1, 60000);
	assert_true(temp_node_renew(f, b).keys_version > before);
	assert_true(clock_mono_ns() - begun_ns < INT64_C(60000000000));
	store_close(at_a);
	store_cluster_close(a);
	store_cluster_close(b);
}

/* Reads key 1 and writes it with another end. */
static void *prolong(void *arg)
{
	struct maker *m = arg;
	struct access_key_row row;
	struct arena arena;

	arena_init(&arena);
	assert_int_equal(store_begin(m->c), STORE_OK);
	assert_int_equal(store_access_key_get(m->c, 1, &arena, &row), STORE_OK);
	row.expires_at_ms = 99;
	assert_int_equal(store_access_key_put(m->c, &row), STORE_OK);
	assert_int_equal(store_commit(m->c), STORE_OK);
	arena_release(&arena);
	return NULL;
}

static void nobody_writes_over_what_another_has_changed_meanwhile(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *a = temp_node_join(f, "node-a");
	struct store_conn *c = temp_take(f, 3, "node-a");
	struct maker other = {.c = temp_take(f, 4, "node-a")};
	struct access_key_row row;

	must(make_key(c));
	must(store_begin(c));
	must(store_access_key_get(c, 1, &f->arena, &row));
	thread_start(&other.thread, prolong, &other);
	while (sql_int(f->sql, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 0)
		sched_yield();
	row.revoked_at_ms = 7;
	row.revoked_why = STR("lost");
	must(store_access_key_put(c, &row));
	must(store_commit(c));
	pthread_join(other.thread, NULL);
	must(store_access_key_get(c, 1, &f->arena, &row));
	assert_int_equal(row.revoked_at_ms, 7);
	assert_int_equal(row.expires_at_ms, 99);
	store_close(other.c);
	store_close(c);
	store_cluster_close(a);
}

/* --- Sessions of readers --- */

enum { READERS = 24, READS = 40 };

struct reader {
	struct store_conn *c;
	pthread_t thread;
	int failures;
};

static void *read_often(void *arg)
{
	struct reader *r = arg;
	int64_t id;

	for (int i = 0; i < READS; i++)
		r->failures += store_space_find(r->c, STR("team"), &id) != STORE_OK;
	return NULL;
}

static void open_readers(struct temp_postgres *f, struct reader *readers)
{
	char address[600];

	for (int i = 0; i < READERS; i++) {
		snprintf(address, sizeof(address), "%s#%d", f->address, i % 2 + 3);
		readers[i] = (struct reader){.c = store_open(address, STORE_READ, &f->error)};
		assert_non_null(readers[i].c);
	}
}

static int64_t sessions(struct temp_postgres *f)
{
	return sql_int(f->sql, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
		       "AND application_name = 'memory-spine' AND pid <> pg_backend_pid()");
}

static void make_team(struct temp_postgres *f, int shard)
{
	struct store_conn *c;
	char address[600];
	int64_t id = 0;

	snprintf(address, sizeof(address), "%s#%d", f->address, shard);
	c = store_open(address, STORE_WRITE, &f->error);
	must(store_begin(c));
	must(store_space_create(c, STR("team"), 1, &id));
	must(store_commit(c));
	store_close(c);
}

static void readers_share_a_few_sessions(void **state)
{
	struct temp_postgres *f = *state;
	struct reader readers[READERS];
	int64_t id = 0;

	make_team(f, 3);
	make_team(f, 4);
	open_readers(f, readers);
	for (int i = 0; i < READERS; i++)
		thread_start(&readers[i].thread, read_often, &readers[i]);
	for (int i = 0; i < READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		assert_int_equal(readers[i].failures, 0);
	}
	assert_in_range(sessions(f), 1, POSTGRES_POOL_MAX);
	/* What was broken while it lay there is noticed by nobody. */
	temp_postgres_break(f);
	assert_int_equal(sessions(f), 0);
	for (int i = 0; i < READERS; i++)
		must(store_space_find(readers[i].c, STR("team"), &id));
	for (int i = 0; i < READERS; i++)
		store_close(readers[i].c);
	while (sessions(f) > 0)
		sched_yield();
}

static void *read_once(void *arg)
{
	struct reader *r = arg;
	int64_t id;

	r->failures = store_space_find(r->c, STR("team"), &id) == STORE_BUSY;
	return NULL;
}

/* Its server stands still, and keeps its connections. */
static void nobody_goes_on_waiting_for_a_database_that_has_fallen_silent(void **state)
{
	struct temp_postgres *f = *state;
	struct store_cluster *node;
	int64_t before, begun_ns = clock_mono_ns(), id = 0;
	struct reader r = {0};
	struct postgres_pool *pool;
	pid_t server;
	char address[600];

	make_team(f, 3);
	node = temp_node_join(f, "node-a");
	snprintf(address, sizeof(address), "%s#3", f->address);
	r.c = store_open(address, STORE_READ, &f->error);
	must(store_space_find(r.c, STR("team"), &id));
	pool = postgres_of(r.c)->pool;
	server = (pid_t)sql_int(f->sql, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
				"AND query LIKE 'SELECT id FROM space%'");
	before = postgres_of(r.c)->waits;
	assert_int_equal(kill(server, SIGSTOP), 0);
	thread_start(&r.thread, read_once, &r);
	while (postgres_of(r.c)->waits == before)
		sched_yield();
	postgres_pool_set_silent(pool, true);
	pthread_join(r.thread, NULL);
	assert_int_equal(r.failures, 1);
	assert_int_equal(kill(server, SIGCONT), 0);
	/* Nobody begins to wait either, until the node has had an answer. */
	assert_int_equal(store_space_find(r.c, STR("team"), &id), STORE_BUSY);
	assert_true(clock_mono_ns() - begun_ns < POSTGRES_ANSWER_MAX_MS * INT64_C(1000000));
	temp_node_renew(f, node);
	assert_false(postgres_pool_is_silent(pool));
	while (store_space_find(r.c, STR("team"), &id) == STORE_BUSY)
		sched_yield();
	store_close(r.c);
	store_cluster_close(node);
}

static void an_address_may_name_hosts_that_are_away(void **state)
{
	struct temp_postgres *f = *state;
	const char *host = strchr(f->address, '@') + 1;
	char address[600];
	struct store_conn *c;
	int64_t id = 0;

	make_team(f, 3);
	/* Nobody listens at port 1. */
	snprintf(address, sizeof(address), "%.*s127.0.0.1:1,%s#3", (int)(host - f->address), f->address, host);
	c = store_open(address, STORE_READ, &f->error);
	assert_non_null(c);
	must(store_space_find(c, STR("team"), &id));
	store_close(c);
}

static void a_server_that_takes_no_writes_is_not_used(void **state)
{
	struct temp_postgres *f = *state;
	char sql[120], address[600];

	make_team(f, 3);
	snprintf(sql, sizeof(sql), "ALTER DATABASE %s SET default_transaction_read_only TO on", f->name);
	run_sql(f->admin, sql);
	snprintf(address, sizeof(address), "%s#3", f->address);
	assert_null(store_open(address, STORE_READ, &f->error));
	assert_non_null(strstr(buf_str(&f->error).p, "PostgreSQL cannot be reached"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_database(ten_nodes_may_start_at_once),
		with_database(a_newer_schema_is_used_unless_it_says_that_this_binary_is_too_old),
		with_database(only_a_database_has_nodes),
		with_database(shards_give_each_number_to_one_key),
		with_database(a_change_of_a_key_wakes_the_nodes),
		with_database(nobody_writes_over_what_another_has_changed_meanwhile),
		with_database(readers_share_a_few_sessions),
		with_database(nobody_goes_on_waiting_for_a_database_that_has_fallen_silent),
		with_database(an_address_may_name_hosts_that_are_away),
		with_database(a_server_that_takes_no_writes_is_not_used),
	};

	/* scripts/with-postgres says where there is a PostgreSQL. */
	if (getenv("SPINE_TEST_POSTGRES") == NULL)
		return 0;
	return cmocka_run_group_tests_name("what is shared on PostgreSQL", tests, NULL, NULL);
}
