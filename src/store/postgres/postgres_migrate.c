/* Migrating a database by hand, beside the servers that use it or without them: store/cluster.h. */
#include "store/cluster.h"

#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_session.h"

#include <stdio.h>
#include <stdlib.h>

/* A migration may have to wait for another that a starting server makes. */
enum { MIGRATE_MAX_MS = 60000 };

static bool run(PGconn *db, const char *sql, struct buf *error)
{
	PGresult *result = postgres_ask(db, sql, 0, NULL, MIGRATE_MAX_MS);
	bool is_done = postgres_is_good(result);

	if (!is_done)
		postgres_put_error(error, result);
	PQclear(result);
	return is_done;
}

/* A server of another version may need what would be taken away. */
static bool is_nobody_older(PGconn *db, struct buf *error)
{
	static const char sql[] = "SELECT id, url, version FROM spine.node WHERE lease_until > spine.now_ms() "
				  "AND version <> $1 ORDER BY id LIMIT 1";
	const char *const values[] = {SPINE_VERSION};
	PGresult *result = postgres_ask(db, sql, 1, values, MIGRATE_MAX_MS);
	bool is_read = postgres_is_good(result), is_found = is_read && PQntuples(result) > 0;

	if (!is_read)
		postgres_put_error(error, result);
	else if (is_found)
		buf_printf(error, "%s at %s runs version %s, this is %s: upgrade it, or end it, and try again; nothing "
			   "was changed", PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1),
			   PQgetvalue(result, 0, 2), SPINE_VERSION);
	PQclear(result);
	return is_read && !is_found;
}

/* What a step leaves behind for older servers would be taken away here; no step has left anything yet. Who is older
 * than the schema is refused from here on: a server that starts finds it when it opens the store, and one that is
 * between that and its first renewal, or was paused, when it renews. Renewals are locked out meanwhile: one that came
 * before is waited for, and its server seen. Those whose lease is over have nothing any more, whatever their writers
 * still send. */
static bool finish(PGconn *db, struct buf *error)
{
	static const char *const steps[] = {
		"SELECT spine.disown(owner) FROM (SELECT DISTINCT owner FROM spine.shard WHERE owner IS NOT NULL) s "
		"WHERE NOT EXISTS (SELECT FROM spine.node n WHERE n.id = owner AND n.lease_until > spine.now_ms())",
		"UPDATE spine.version SET oldest_name = CASE WHEN oldest < schema THEN '" SPINE_VERSION
		"' ELSE oldest_name END, oldest = schema",
		"NOTIFY spine",
		"COMMIT",
	};
	bool is_done = run(db, "BEGIN", error) && run(db, "SELECT pg_advisory_xact_lock(1297305678, -1)", error) &&
		       run(db, "SELECT pg_advisory_xact_lock(1297305678, -2)", error) && is_nobody_older(db, error);
	struct buf ignored;

	for (size_t i = 0; is_done && i < sizeof(steps) / sizeof(steps[0]); i++)
		is_done = run(db, steps[i], error);
	if (is_done)
		return true;
	buf_init(&ignored, 4096);
	run(db, "ROLLBACK", &ignored);
	buf_release(&ignored);
	return false;
}

static bool read_schema(PGconn *db, struct store_schema *ret, struct buf *error)
{
	PGresult *result = postgres_ask(db, "SELECT schema, oldest, oldest_name FROM spine.version", 0, NULL,
					MIGRATE_MAX_MS);
	bool is_read = postgres_is_good(result) && PQntuples(result) == 1;

	if (is_read) {
		ret->schema = atoi(PQgetvalue(result, 0, 0));
		ret->oldest = atoi(PQgetvalue(result, 0, 1));
		snprintf(ret->oldest_name, sizeof(ret->oldest_name), "%s", PQgetvalue(result, 0, 2));
	} else {
		postgres_put_error(error, result);
	}
	PQclear(result);
	return is_read;
}

bool store_migrate(const char *address, bool is_finish, struct store_schema *ret, struct buf *error)
{
	struct postgres_session *s;
	char *url;
	bool is_done;

	if (!str_has_prefix(str_of(address), STR("postgres://")) &&
	    !str_has_prefix(str_of(address), STR("postgresql://"))) {
		buf_printf(error, "%s is no database of PostgreSQL, postgres://…; a server migrates the store in its "
			   "own data directory when it starts", address);
		return false;
	}
	if (!postgres_library_open(error))
		return false;
	url = postgres_url(address);
	s = postgres_session_open(url, error);
	if (s)
		s->has_warned = false;
	is_done = s && postgres_schema_migrate(s->db, error) && (!is_finish || finish(s->db, error)) &&
		  read_schema(s->db, ret, error);
	if (is_done && s->has_warned) {
		buf_puts(error, "what was done is in the database, but no standby may have it, because the wait for "
			 "one was ended: try again");
		is_done = false;
	}
	postgres_session_close(s);
	free(url);
	return is_done;
}

int store_cluster_living(const char *address, struct buf *ret_first)
{
	static const char sql[] = "SELECT id, url FROM node WHERE lease_until > now_ms() ORDER BY id";
	struct postgres_session *s;
	struct buf ignored;
	int count = 0;
	char *url;

	buf_init(&ignored, 4096);
	if (!postgres_library_open(&ignored)) {
		buf_release(&ignored);
		return 0;
	}
	url = postgres_url(address);
	s = postgres_session_open(url, &ignored);
	if (s) {
		PGresult *result = postgres_ask(s->db, sql, 0, NULL, POSTGRES_ANSWER_MAX_MS);

		count = PQntuples(result);
		if (count)
			buf_printf(ret_first, "%s at %s", PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1));
		PQclear(result);
	}
	postgres_session_close(s);
	free(url);
	buf_release(&ignored);
	return count;
}
