/* A database of its own for each test, and the nodes that share it. scripts/with-postgres names the server. */
#ifndef SPINE_TESTS_TEMP_POSTGRES_H
#define SPINE_TESTS_TEMP_POSTGRES_H

#include "temp_store.h"

#include "store/cluster.h"
#include "store/postgres/postgres_session.h"

#include <unistd.h>

struct temp_postgres {
	PGconn *admin;			/* in the database that is always there */
	PGconn *sql;			/* in the test's */
	char name[64];
	char address[512];
	struct arena arena;
	struct buf error;
};

static inline void run_sql(PGconn *db, const char *sql)
{
	PGresult *result = PQexec(db, sql);

	if (!postgres_is_good(result))
		fail_msg("%s: %s", sql, PQerrorMessage(db));
	PQclear(result);
}

static inline int64_t sql_int(PGconn *db, const char *sql)
{
	PGresult *result = PQexec(db, sql);
	int64_t number;

	if (!postgres_is_good(result) || PQntuples(result) != 1)
		fail_msg("%s: %s", sql, PQerrorMessage(db));
	number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
	PQclear(result);
	return number;
}

static inline int temp_postgres_setup(void **state)
{
	static int count;
	struct temp_postgres *f = mem_zalloc(sizeof(*f));
	const char *address = getenv("SPINE_TEST_POSTGRES");
	const char *end = strrchr(address, '/');
	char sql[128];

	buf_init(&f->error, 4096);
	arena_init(&f->arena);
	assert_true(postgres_library_open(&f->error));
	f->admin = postgres_dial(address);
	snprintf(f->name, sizeof(f->name), "cluster_%d_%d", (int)getpid(), ++count);
	snprintf(sql, sizeof(sql), "CREATE DATABASE %s", f->name);
	run_sql(f->admin, sql);
	snprintf(f->address, sizeof(f->address), "%.*s/%s", (int)(end - address), address, f->name);
	f->sql = postgres_dial(f->address);
	*state = f;
	return 0;
}

static inline int temp_postgres_teardown(void **state)
{
	struct temp_postgres *f = *state;
	char sql[128];

	PQfinish(f->sql);
	snprintf(sql, sizeof(sql), "DROP DATABASE %s (FORCE)", f->name);
	run_sql(f->admin, sql);
	PQfinish(f->admin);
	buf_release(&f->error);
	arena_release(&f->arena);
	free(f);
	return 0;
}

/* Every session of this database but the test's own. */
static inline void temp_postgres_break(struct temp_postgres *f)
{
	run_sql(f->sql, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
		"WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

/* --- Nodes --- */

static inline struct store_cluster *temp_node_open(struct temp_postgres *f, const char *id)
{
	char url[64];
	struct cluster_self self = {.id = str_of(id), .url = {url, 0}, .version = STR("1.0"), .protocol = 3};
	struct store_cluster *c;

	self.url.n = (size_t)snprintf(url, sizeof(url), "http://%s", id);
	c = store_cluster_open(f->address, &self, &f->error);
	if (c == NULL)
		fail_msg("%s", buf_str(&f->error).p);
	return c;
}

static inline struct cluster_view temp_node_renew(struct temp_postgres *f, struct store_cluster *c)
{
	struct cluster_view view = {0};

	if (store_cluster_renew(c, -7, &f->arena, &view) != STORE_OK)
		fail_msg("%s", store_cluster_error(c));
	return view;
}

static inline struct store_cluster *temp_node_join(struct temp_postgres *f, const char *id)
{
	struct store_cluster *c = temp_node_open(f, id);

	temp_node_renew(f, c);
	return c;
}

static inline struct store_conn *temp_try_take(struct temp_postgres *f, int shard, const char *id)
{
	char address[600];

	snprintf(address, sizeof(address), "%s#%d@%s", f->address, shard, id);
	buf_clear(&f->error);
	return store_open(address, STORE_WRITE, &f->error);
}

static inline struct store_conn *temp_take(struct temp_postgres *f, int shard, const char *id)
{
	struct store_conn *c = temp_try_take(f, shard, id);

	if (c == NULL)
		fail_msg("%s", buf_str(&f->error).p);
	return c;
}

#define with_database(test) cmocka_unit_test_setup_teardown(test, temp_postgres_setup, temp_postgres_teardown)

#endif
