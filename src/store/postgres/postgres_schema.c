/* The schema on PostgreSQL, and how a database gets from one to the next.
 *
 * All of it stands in the schema "spine"; its number is in the table "version", with the oldest binary that may use it.
 * To change the schema: append a step and raise POSTGRES_SCHEMA_NOW; never edit a step that was released. A step only
 * adds, because older servers may be at work beside the new one. Steps run under a lock, each in a transaction
 * together with its number: ten servers may start at once.
 *
 * Every table begins with the shard, and a space is a range of keys in it: space << 40 | number, as on SQLite. Texts
 * are bytes: PostgreSQL's own text cannot hold a NUL, and sorts as the machine's language does.
 */
#include "store/postgres/postgres_cluster_schema.h"
#include "store/postgres/postgres_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* The conditions of the indexes. */
_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_ACKED == 4 && HANDOFF_PARKED == 6, "state = 0, state < 4, state = 6");
_Static_assert(RESULT_KEPT == 0 && TRUST_EXTERNAL == 3, "defaults");
_Static_assert(STORE_SHARDS == 64, "rows from 0 to 63");

static const char step_1[] =
	/* Who writes a shard: the one with this epoch. It only grows. owner: a node; NULL: none. since: the epoch with
	 * which its writer began; one whose connection broke goes on with another epoch. */
	"CREATE TABLE shard (shard bigint PRIMARY KEY, epoch bigint NOT NULL, owner text, since bigint NOT NULL) "
	"  WITH (fillfactor = 10);"
	/* The number of the last transaction of an epoch that was committed. */
	"CREATE TABLE marker (shard bigint, epoch bigint, number bigint NOT NULL, PRIMARY KEY (shard, epoch)) "
	"  WITH (fillfactor = 10);"
	/* Begins every transaction that writes. Whoever raises the epoch waits for it, or it fails. */
	"CREATE FUNCTION fence(bigint, bigint, bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
	"  PERFORM 1 FROM spine.shard s WHERE s.shard = $1 AND s.epoch = $2 FOR SHARE;"
	"  IF NOT FOUND THEN RAISE EXCEPTION 'shard % has another owner', $1 USING ERRCODE = 'SP001'; END IF;"
	"  UPDATE spine.marker m SET number = $3 WHERE m.shard = $1 AND m.epoch = $2;"
	"END $$;"
	/* The highest id that was ever given: rows may go, their ids are not given again. */
	"CREATE TABLE sequence (shard bigint, name text, last bigint NOT NULL, PRIMARY KEY (shard, name));"
	"CREATE TABLE space ("
	"  shard bigint, id bigint, name bytea NOT NULL, next_memory bigint NOT NULL, memories bigint NOT NULL,"
	"  created_at bigint NOT NULL, guard bigint NOT NULL DEFAULT 0, locked bytea, "
	"  removed_at bigint NOT NULL DEFAULT 0,"
	"  keep_events bigint NOT NULL DEFAULT -1, keep_handoffs bigint NOT NULL DEFAULT -1,"
	"  keep_idle bigint NOT NULL DEFAULT -1, events_pruned bigint NOT NULL DEFAULT 0,"
	"  handoffs_pruned bigint NOT NULL DEFAULT 0, quota_memories bigint NOT NULL DEFAULT -1,"
	"  quota_bytes bigint NOT NULL DEFAULT -1, quota_handoffs bigint NOT NULL DEFAULT -1,"
	"  quota_waiting bigint NOT NULL DEFAULT -1, quota_agents bigint NOT NULL DEFAULT -1,"
	"  bytes bigint NOT NULL DEFAULT 0, agents bigint NOT NULL DEFAULT 0, trust_floor bigint NOT NULL DEFAULT 3,"
	"  PRIMARY KEY (shard, id)) WITH (fillfactor = 50);"
	"CREATE UNIQUE INDEX space_name ON space (shard, name);"
	"CREATE INDEX space_removed ON space (shard, id) WHERE removed_at > 0;"
	"CREATE TABLE memory ("
	"  shard bigint, id bigint, version bigint NOT NULL, pinned bigint NOT NULL, created_at bigint NOT NULL,"
	"  supersedes bigint NOT NULL DEFAULT 0, superseded_by bigint NOT NULL DEFAULT 0,"
	"  forgotten_at bigint NOT NULL DEFAULT 0, quarantined_at bigint NOT NULL DEFAULT 0, PRIMARY KEY (shard, id));"
	"CREATE INDEX memory_quarantined ON memory (shard, id) WHERE quarantined_at > 0;"
	"CREATE TABLE memory_version ("
	"  shard bigint, memory bigint, version bigint, updated_at bigint NOT NULL, expires_at bigint NOT NULL,"
	"  importance bigint NOT NULL, trust bigint NOT NULL, content bytea NOT NULL, summary bytea, "
	"  kind bytea NOT NULL,"
	"  tags bytea NOT NULL, agent bytea, task bytea, metadata bytea NOT NULL, digest bytea NOT NULL, origin bytea,"
	"  PRIMARY KEY (shard, memory, version));"
	"CREATE TABLE reply ("
	"  shard bigint, space bigint, key bytea, digest bytea NOT NULL, status bigint NOT NULL, etag bytea, "
	"  location bytea,"
	"  body bytea NOT NULL, at bigint NOT NULL, place bigint NOT NULL, PRIMARY KEY (shard, space, key));"
	/* In the order in which they were kept; clocks go back, too. */
	"CREATE INDEX reply_place ON reply (shard, place);"
	/* Whose text is in the body of a reply. */
	"CREATE TABLE reply_memory (shard bigint, space bigint, key bytea, memory bigint, "
	"  PRIMARY KEY (shard, space, key, memory));"
	"CREATE INDEX reply_memory_memory ON reply_memory (shard, memory);"
	/* A task has the key of the envelope that began it. */
	"CREATE TABLE task ("
	"  shard bigint, id bigint, space bigint NOT NULL, name bytea NOT NULL, created_at bigint NOT NULL,"
	"  hops bigint NOT NULL DEFAULT 0, tokens bigint NOT NULL DEFAULT 0, intent bytea, summary bytea,"
	"  PRIMARY KEY (shard, id));"
	"CREATE UNIQUE INDEX task_name ON task (shard, space, name);"
	"CREATE TABLE envelope ("
	"  shard bigint, id bigint, task bigint NOT NULL, parent bigint NOT NULL, hop bigint NOT NULL,"
	"  created_at bigint NOT NULL, texts bigint NOT NULL, digest bytea NOT NULL, body_digest bytea,"
	"  body bytea NOT NULL, considered bytea, PRIMARY KEY (shard, id));"
	"CREATE INDEX envelope_task ON envelope (shard, task, id);"
	"CREATE TABLE receipt (shard bigint, envelope bigint, memory bigint, agent bytea, at bigint NOT NULL,"
	"  PRIMARY KEY (shard, envelope, memory, agent));"
	"CREATE TABLE waiver (shard bigint, id bigint, task bigint NOT NULL, key bytea NOT NULL, reason bytea NOT NULL,"
	"  author bytea NOT NULL, at bigint NOT NULL, access_key bigint NOT NULL DEFAULT 0, PRIMARY KEY (shard, id));"
	"CREATE INDEX waiver_task ON waiver (shard, task, id);"
	/* status 0: somebody has used its name, 1: it was registered, 2: it was deleted. */
	"CREATE TABLE agent ("
	"  shard bigint, id bigint, space bigint NOT NULL, name bytea NOT NULL, settings bytea NOT NULL,"
	"  created_at bigint NOT NULL, updated_at bigint NOT NULL, status bigint NOT NULL DEFAULT 0,"
	"  PRIMARY KEY (shard, id));"
	"CREATE UNIQUE INDEX agent_name ON agent (shard, space, name);"
	"CREATE TABLE target ("
	"  shard bigint, agent bigint, seen_at bigint NOT NULL, failures bigint NOT NULL, open_until bigint NOT NULL,"
	"  probe bigint NOT NULL, failing_since bigint NOT NULL DEFAULT 0, has_opened bigint NOT NULL DEFAULT 0,"
	"  redrive_from bigint NOT NULL DEFAULT 0, redrive_to bigint NOT NULL DEFAULT 0, due bigint NOT NULL DEFAULT 0,"
	"  PRIMARY KEY (shard, agent)) WITH (fillfactor = 50);"
	"CREATE INDEX target_failing ON target (shard, agent) WHERE failures > 0 OR open_until > 0;"
	"CREATE INDEX target_due ON target (shard, due, agent) WHERE due > 0;"
	/* flags 1: exhausted, 2: told, 4: retried; marks 1: came back after an outage, 2: touched by a person. */
	"CREATE TABLE handoff ("
	"  shard bigint, id bigint, envelope bigint NOT NULL, target bigint NOT NULL, agent bigint NOT NULL,"
	"  channel bigint NOT NULL, created_at bigint NOT NULL, sender bytea, state bigint NOT NULL,"
	"  priority bigint NOT NULL, attempt bigint NOT NULL, max_attempts bigint NOT NULL, leases bigint NOT NULL,"
	"  due bigint NOT NULL, expires_at bigint NOT NULL, ack_timeout bigint NOT NULL, lease_ms bigint NOT NULL,"
	"  changed_at bigint NOT NULL, acked_at bigint NOT NULL, flags bigint NOT NULL, receiver bytea, "
	"  fallbacks bytea,"
	"  reason bytea, progress bytea, place bigint NOT NULL, not_before bigint NOT NULL, "
	"  queue_timeout bigint NOT NULL,"
	"  queue_until bigint NOT NULL, passes bigint NOT NULL, outage bigint NOT NULL, marks bigint NOT NULL,"
	"  PRIMARY KEY (shard, id)) WITH (fillfactor = 70);"
	"CREATE UNIQUE INDEX handoff_envelope ON handoff (shard, envelope, target);"
	"CREATE INDEX handoff_queue ON handoff (shard, agent, priority DESC, place, id) WHERE state = 0;"
	"CREATE INDEX handoff_passing ON handoff (shard, agent, priority DESC, place, id) "
	"  WHERE state = 0 AND passes = 1;"
	"CREATE INDEX handoff_flight ON handoff (shard, agent, id) WHERE state > 0 AND state < 4;"
	"CREATE INDEX handoff_due ON handoff (shard, due, id) WHERE due > 0;"
	"CREATE INDEX handoff_parked ON handoff (shard, agent, id) WHERE state = 6;"
	"CREATE INDEX handoff_untold ON handoff (shard, sender, id) WHERE state = 6 AND flags < 2;"
	"CREATE INDEX handoff_channel ON handoff (shard, channel, id) WHERE channel > 0;"
	"CREATE INDEX handoff_outage ON handoff (shard, agent, changed_at, id) WHERE outage = 1;"
	"CREATE TABLE result ("
	"  shard bigint, handoff bigint, result bytea, gaps bytea, input_tokens bigint NOT NULL,"
	"  form bigint NOT NULL DEFAULT 0, memory bigint NOT NULL DEFAULT 0, then_handoff bigint NOT NULL DEFAULT 0,"
	"  then_digest bytea, PRIMARY KEY (shard, handoff));"
	"CREATE TABLE alert ("
	"  shard bigint, id bigint, space bigint NOT NULL, name bytea NOT NULL, agent bytea, severity bigint NOT NULL,"
	"  value double precision NOT NULL, threshold double precision NOT NULL, summary bytea NOT NULL,"
	"  since bigint NOT NULL, resolved_at bigint NOT NULL, acked_by bytea, acked_at bigint NOT NULL,"
	"  silenced_until bigint NOT NULL, silenced_by bytea, silenced_why bytea, untold bigint NOT NULL,"
	"  PRIMARY KEY (shard, id));"
	"CREATE INDEX alert_subject ON alert (shard, space, name, agent, id);"
	"CREATE INDEX alert_firing ON alert (shard, id) WHERE resolved_at = 0;"
	"CREATE INDEX alert_untold ON alert (shard, id) WHERE untold = 1;"
	"CREATE TABLE event ("
	"  shard bigint, id bigint, space bigint NOT NULL, at bigint NOT NULL, kind bigint NOT NULL,"
	"  handoff bigint NOT NULL, envelope bigint NOT NULL, memory bigint NOT NULL, attempt bigint NOT NULL,"
	"  value_1 double precision NOT NULL, value_2 double precision NOT NULL, agent bytea, actor bytea, note bytea,"
	"  access_key bigint NOT NULL DEFAULT 0, number bigint NOT NULL,"
	"  PRIMARY KEY (shard, id));"
	"CREATE INDEX event_handoff ON event (shard, space, handoff, id) WHERE handoff > 0;"
	"CREATE UNIQUE INDEX event_number ON event (shard, space, number);"
	"CREATE TABLE channel (shard bigint, id bigint, space bigint NOT NULL, name bytea NOT NULL, description bytea,"
	"  created_at bigint NOT NULL, PRIMARY KEY (shard, id));"
	"CREATE UNIQUE INDEX channel_name ON channel (shard, space, name);"
	"CREATE TABLE subscriber (shard bigint, channel bigint, agent bigint, created_at bigint NOT NULL,"
	"  PRIMARY KEY (shard, channel, agent));"
	"CREATE TABLE route (shard bigint, space bigint, name bytea, settings bytea NOT NULL, "
	"  created_at bigint NOT NULL,"
	"  updated_at bigint NOT NULL, PRIMARY KEY (shard, space, name));"
	/* What is left of what was pruned; lasted: milliseconds, from its creation to its last change. */
	"CREATE TABLE pruned_envelope (shard bigint, id bigint, parent bigint NOT NULL, created_at bigint NOT NULL,"
	"  digest bytea NOT NULL, PRIMARY KEY (shard, id));"
	"CREATE TABLE pruned_handoff (shard bigint, id bigint, envelope bigint NOT NULL, created_at bigint NOT NULL,"
	"  lasted bigint NOT NULL, state bigint NOT NULL, PRIMARY KEY (shard, id));"
	/* Which envelopes refer to a memory that is a result; results whose handoff was pruned. */
	"CREATE TABLE citation (shard bigint, envelope bigint, memory bigint, PRIMARY KEY (shard, envelope, memory));"
	"CREATE INDEX citation_memory ON citation (shard, memory, envelope);"
	"CREATE TABLE left_result (shard bigint, memory bigint, PRIMARY KEY (shard, memory));"
	"CREATE TABLE access_key ("
	"  shard bigint, id bigint, name bytea NOT NULL, space bytea, agent bytea, scopes bigint NOT NULL,"
	"  trust bigint NOT NULL, created_at bigint NOT NULL, created_by bytea, expires_at bigint NOT NULL,"
	"  revoked_at bigint NOT NULL, revoked_why bytea, hash bytea NOT NULL CHECK (length(hash) = 32),"
	"  old_hash bytea NOT NULL CHECK (length(old_hash) = 32), old_until bigint NOT NULL, PRIMARY KEY (shard, id));"
	/* needs_key 1: every request needs a key. version grows with each change of a key; whoever reads or changes
	 * keys in a transaction locks the row first. Keys are of the database: shard 0 has them. */
	"CREATE TABLE access_mode (shard bigint PRIMARY KEY, needs_key bigint NOT NULL, "
	"  version bigint NOT NULL DEFAULT 0);"
	"INSERT INTO access_mode VALUES (0, 0);"
	"INSERT INTO shard SELECT s, 0, NULL, 0 FROM generate_series(0, 63) s;"
	"INSERT INTO sequence SELECT s, n, 0 FROM generate_series(0, 63) s, unnest(ARRAY['space', 'agent', 'channel', "
	"  'alert', 'event', 'waiver', 'access_key']) n;"
	POSTGRES_CLUSTER_SCHEMA;

/* What is forgotten keeps the numbers of the keys that wrote it. */
static const char step_2[] = "ALTER TABLE memory ADD COLUMN keys bytea;";

static const char *const steps[POSTGRES_SCHEMA_NOW] = {step_1, step_2};

/* What the schema of a binary must be at least, for it to use the database after the step. Steps only add, and keep it.
 * What they leave behind is taken away by "spine migrate --finish" (postgres_migrate.c), once no older server lives:
 * that raises it. */
static const int oldest[POSTGRES_SCHEMA_NOW] = {1, 1};

/* --- Reading and migrating --- */

static bool run(PGconn *db, const char *sql, struct buf *error)
{
	PGresult *result = PQexec(db, sql);
	ExecStatusType status = PQresultStatus(result);
	bool is_done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;

	if (!is_done)
		postgres_put_error(error, result);
	PQclear(result);
	return is_done;
}

/* One integer of one row; -1: there is none, or NULL. */
static int read_number(PGconn *db, const char *sql, bool *ret_ok, struct buf *error)
{
	PGresult *result = PQexec(db, sql);
	int number = -1;

	*ret_ok = PQresultStatus(result) == PGRES_TUPLES_OK;
	if (!*ret_ok)
		postgres_put_error(error, result);
	else if (PQntuples(result) == 1 && !PQgetisnull(result, 0, 0))
		number = atoi(PQgetvalue(result, 0, 0));
	PQclear(result);
	return number;
}

bool postgres_schema_read(PGconn *db, int *ret_version, struct buf *error)
{
	bool ok;
	int is_there = read_number(db, "SELECT (to_regclass('spine.version') IS NOT NULL)::int", &ok, error);

	*ret_version = 0;
	if (!ok || is_there < 1)
		return ok;
	*ret_version = read_number(db, "SELECT schema FROM spine.version", &ok, error);
	return ok;
}

/* A newer server may have been here: what it has added does no harm, so that both run side by side. */
bool postgres_schema_allows(PGconn *db, struct buf *error)
{
	static const char sql[] = "SELECT schema, oldest, oldest_name FROM spine.version";
	PGresult *result = PQexec(db, sql);
	bool is_read = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
	bool is_allowed = is_read && atoi(PQgetvalue(result, 0, 1)) <= POSTGRES_SCHEMA_NOW;

	if (!is_read)
		postgres_put_error(error, result);
	else if (!is_allowed)
		buf_printf(error, "the database (schema %s) is for servers of version %s or later; this is %s, which "
			   "knows schemas up to %d: install a newer one", PQgetvalue(result, 0, 0),
			   PQgetvalue(result, 0, 2), SPINE_VERSION, POSTGRES_SCHEMA_NOW);
	PQclear(result);
	return is_allowed;
}

static bool step(PGconn *db, int version, struct buf *error)
{
	char note[200];

	assert(version >= 0 && version < POSTGRES_SCHEMA_NOW);
	snprintf(note, sizeof(note), "UPDATE spine.version SET schema = %d, oldest = greatest(oldest, %d), "
		 "oldest_name = CASE WHEN oldest < %d THEN '%s' ELSE oldest_name END", version + 1, oldest[version],
		 oldest[version], SPINE_VERSION);
	return run(db, steps[version], error) && run(db, note, error);
}

/* The first of several that start makes it, the others wait and find it there. */
static bool migrate(PGconn *db, struct buf *error)
{
	int version;

	if (!postgres_schema_read(db, &version, error))
		return false;
	if (version == 0 && !run(db, "CREATE SCHEMA spine; CREATE TABLE spine.version (schema int NOT NULL, "
				 "oldest int NOT NULL, oldest_name text NOT NULL); "
				 "INSERT INTO spine.version VALUES (0, 0, '')", error))
		return false;
	if (!postgres_schema_allows(db, error) || !run(db, "SET LOCAL search_path TO spine", error))
		return false;
	if (version < 0) {
		buf_puts(error, "PostgreSQL: the table spine.version of this database does not say its schema");
		return false;
	}
	if (version == POSTGRES_SCHEMA_NOW)
		return true;
	for (; version < POSTGRES_SCHEMA_NOW; version++)
		if (!step(db, version, error))
			return false;
	return postgres_statistics_make(db, error);
}

bool postgres_schema_migrate(PGconn *db, struct buf *error)
{
	bool is_done = run(db, "BEGIN; SELECT pg_advisory_xact_lock(1297305678, -1)", error) && migrate(db, error);

	return run(db, is_done ? "COMMIT" : "ROLLBACK", error) && is_done;
}
