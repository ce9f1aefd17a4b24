/* Agents, and how delivery to them goes, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

_Static_assert(HANDOFF_QUEUED == 0, "state = 0");
_Static_assert(HANDOFF_DELAYED == 1, "state = 1, state <> 1");
_Static_assert(HANDOFF_LEASED == 2 && HANDOFF_WORKING == 3, "state = 2, state = 3");
_Static_assert(HANDOFF_ACKED == 4, "state > 0 AND state < 4: under way, not queued");
_Static_assert(HANDOFF_PARKED == 6, "state = 6");

/* Of an agent: also in the texts of SQL, as status < 2. */
enum { STATUS_USED = 0, STATUS_REGISTERED = 1, STATUS_DELETED = 2 };

_Static_assert(STATUS_USED == 0 && STATUS_REGISTERED == 1 && STATUS_DELETED == 2, "status = 0, 1, 2; status < 2");

static void read_agent(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct agent_row *)ret = (struct agent_row){sqlite_column_str(s, 0, arena), sqlite_column_str(s, 1, arena),
						      sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3),
						      sqlite3_column_int(s, 4) == STATUS_REGISTERED};
}

/* That there is none is kept, too, as a row without a name: whoever is handed something need not be registered. */
enum store_status sqlite_agent_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				   struct agent_row *ret)
{
	static const char sql[] =
		"SELECT name, settings, created_at, updated_at, status FROM agent "
		"WHERE space = ?1 AND name = ?2 AND status < 2";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status = STORE_OK;
	struct agent_row row = {0};
	sqlite3_stmt *s;

	if (!sqlite_cache_get(c, &row_agent, space, name, arena, &row)) {
		s = sqlite_statement(c, sql);
		sqlite3_bind_int64(s, 1, space);
		sqlite_bind_str(s, 2, name);
		status = sqlite_read_one(c, s, read_agent, arena, &row);
		if (status == STORE_OK || status == STORE_NOT_FOUND)
			sqlite_cache_put(c, &row_agent, seen, space, name, &row);
	}
	if (status == STORE_OK && row.name.p == NULL)
		status = STORE_NOT_FOUND;
	if (status == STORE_OK)
		*ret = row;
	return status;
}

enum store_status sqlite_agent_put(struct store_conn *c, int64_t space, const struct agent_row *agent)
{
	static const char sql[] =
		"INSERT INTO agent (id, space, name, settings, created_at, updated_at, status) "
		"VALUES (" SQLITE_NEXT_ID("agent") ", ?1, ?2, ?3, ?4, ?5, 1) ON CONFLICT (space, name) DO UPDATE "
		"SET settings = excluded.settings, updated_at = excluded.updated_at, status = 1, "
		"created_at = CASE WHEN status = 2 THEN excluded.created_at ELSE created_at END";
	int64_t known;
	enum store_status status = sqlite_agent_id(c, space, agent->name, false, 0, &known);
	sqlite3_stmt *s = sqlite_statement(c, sql);

	if (status == STORE_NOT_FOUND)
		status = sqlite_tally_add(c, space, 0, 1);
	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, agent->name);
	sqlite_bind_str(s, 3, agent->settings);
	sqlite3_bind_int64(s, 4, agent->created_at_ms);
	sqlite3_bind_int64(s, 5, agent->updated_at_ms);
	sqlite_cache_change(c, &row_agent, space, agent->name);
	sqlite_cache_change(c, &row_agent_id, space, agent->name);
	return sqlite_run(c, s);
}

enum store_status sqlite_agents(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
				struct agent_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT name, settings, created_at, updated_at, status FROM agent "
		"WHERE space = ?1 AND name > ?2 AND status < 2 ORDER BY name LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, after.p ? after : STR(""));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_agent, arena, ret, sizeof(*ret), max, ret_count);
}

static void read_place(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct agent_place *)ret = (struct agent_place){
		.id = sqlite3_column_int64(s, 0),
		.space = sqlite3_column_int64(s, 1),
		.space_name = sqlite_column_str(s, 2, arena),
		.name = sqlite_column_str(s, 3, arena),
		.settings = sqlite_column_str(s, 4, arena),
	};
}

enum store_status sqlite_agents_holding(struct store_conn *c, struct str text, int64_t after, size_t max,
					struct arena *arena, struct agent_place *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT a.id, a.space, s.name, a.name, a.settings FROM agent a JOIN space s ON s.id = a.space "
		"WHERE s.removed_at = 0 AND a.id > ?1 AND a.status < 2 AND instr(a.settings, ?2) > 0 "
		"ORDER BY a.id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, after);
	sqlite_bind_str(s, 2, text);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_place, arena, ret, sizeof(*ret), max, ret_count);
}

static enum store_status make_agent(struct store_conn *c, int64_t space, struct str name, int64_t now_ms, int64_t *ret)
{
	static const char sql[] =
		"INSERT INTO agent (id, space, name, settings, created_at, updated_at) "
		"VALUES (" SQLITE_NEXT_ID("agent") ", ?1, ?2, '{}', ?3, ?3) ON CONFLICT (space, name) DO UPDATE "
		"SET created_at = excluded.created_at, updated_at = excluded.updated_at, status = 0";
	static const char id_sql[] = "SELECT id FROM agent WHERE space = ?1 AND name = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	sqlite3_bind_int64(s, 3, now_ms);
	sqlite_cache_change(c, &row_agent, space, name);
	sqlite_cache_change(c, &row_agent_id, space, name);
	status = sqlite_run(c, s);
	if (status == STORE_OK)
		status = sqlite_tally_add(c, space, 0, 1);
	if (status != STORE_OK)
		return status;
	/* One that was deleted has its id already. */
	s = sqlite_statement(c, id_sql);
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	return sqlite_read_int(c, s, ret);
}

enum store_status sqlite_agent_id(struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms,
				  int64_t *ret)
{
	static const char sql[] = "SELECT id FROM agent WHERE space = ?1 AND name = ?2 AND status < 2";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &row_agent_id, space, name, NULL, ret))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	status = sqlite_read_int(c, s, ret);
	if (status == STORE_OK)
		sqlite_cache_put(c, &row_agent_id, seen, space, name, ret);
	return status == STORE_NOT_FOUND && make ? make_agent(c, space, name, now_ms, ret) : status;
}

/* One that was deleted is found, too: handoffs still name it. */
enum store_status sqlite_agent_name(struct store_conn *c, int64_t agent, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT name FROM agent WHERE id = ?1";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &row_agent_name, agent, STR_NULL, arena, ret))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, agent);
	status = sqlite_read_one(c, s, sqlite_read_str, arena, ret);
	if (status == STORE_OK)
		sqlite_cache_put(c, &row_agent_name, seen, agent, STR_NULL, ret);
	if (status == STORE_NOT_FOUND)
		*ret = STR_NULL;
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum store_status sqlite_agent_delete(struct store_conn *c, int64_t space, struct str name)
{
	static const char sql[] = "UPDATE agent SET settings = '{}', status = 2 WHERE id = ?1";
	int64_t id = 0;
	enum store_status status = sqlite_agent_id(c, space, name, false, 0, &id);

	if (status != STORE_OK)
		return status;
	sqlite_cache_change(c, &row_agent, space, name);
	sqlite_cache_change(c, &row_agent_id, space, name);
	sqlite_cache_change(c, &row_target, id, STR_NULL);
	status = sqlite_run_on(c, sql, id, 0);
	if (status == STORE_OK)
		status = sqlite_tally_add(c, space, 0, -1);
	/* It may have neither. */
	if (status == STORE_OK)
		status = sqlite_run_on(c, "DELETE FROM target WHERE agent = ?1", id, 0);
	if (status == STORE_OK || status == STORE_NOT_FOUND)
		status = sqlite_run_on(c, "DELETE FROM subscriber WHERE agent = ?1", id, 0);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

/* --- Targets --- */

#define TARGET_COLUMNS \
	"t.seen_at, t.failures, t.open_until, t.probe, t.failing_since, t.has_opened, t.redrive_from, t.redrive_to, " \
	"t.due"

static void read_target(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct target_row *)ret = (struct target_row){
		.seen_at_ms = sqlite3_column_int64(s, 0),
		.failures = sqlite3_column_int64(s, 1),
		.open_until_ms = sqlite3_column_int64(s, 2),
		.probe = (uint64_t)sqlite3_column_int64(s, 3),
		.failing_since_ms = sqlite3_column_int64(s, 4),
		.has_opened = sqlite3_column_int(s, 5),
		.redrive_from_ms = sqlite3_column_int64(s, 6),
		.redrive_to_ms = sqlite3_column_int64(s, 7),
		.due_ms = sqlite3_column_int64(s, 8),
	};
}

enum store_status sqlite_target_get(struct store_conn *c, int64_t agent, struct target_row *ret)
{
	static const char sql[] = "SELECT " TARGET_COLUMNS " FROM target t WHERE t.agent = ?1";
	uint64_t seen = sqlite_cache_seen(c);
	struct target_row row = {0};
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &row_target, agent, STR_NULL, NULL, ret))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, agent);
	status = sqlite_read_one(c, s, read_target, NULL, &row);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return status;
	sqlite_cache_put(c, &row_target, seen, agent, STR_NULL, &row);
	*ret = row;
	return STORE_OK;
}

enum store_status sqlite_target_put(struct store_conn *c, int64_t agent, const struct target_row *target)
{
	static const char sql[] =
		"INSERT INTO target (agent, seen_at, failures, open_until, probe, failing_since, has_opened, "
		"redrive_from, redrive_to, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
		"ON CONFLICT (agent) DO UPDATE SET seen_at = excluded.seen_at, failures = excluded.failures, "
		"open_until = excluded.open_until, probe = excluded.probe, failing_since = excluded.failing_since, "
		"has_opened = excluded.has_opened, redrive_from = excluded.redrive_from, "
		"redrive_to = excluded.redrive_to, due = excluded.due";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, target->seen_at_ms);
	sqlite3_bind_int64(s, 3, target->failures);
	sqlite3_bind_int64(s, 4, target->open_until_ms);
	sqlite3_bind_int64(s, 5, (int64_t)target->probe);
	sqlite3_bind_int64(s, 6, target->failing_since_ms);
	sqlite3_bind_int(s, 7, target->has_opened);
	sqlite3_bind_int64(s, 8, target->redrive_from_ms);
	sqlite3_bind_int64(s, 9, target->redrive_to_ms);
	sqlite3_bind_int64(s, 10, target->due_ms);
	sqlite_cache_change(c, &row_target, agent, STR_NULL);
	return sqlite_run(c, s);
}

static void read_due(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct target_due *due = ret;

	read_target(s, arena, &due->target);
	due->agent = sqlite3_column_int64(s, 9);
	due->space = sqlite3_column_int64(s, 10);
	due->name = sqlite_column_str(s, 11, arena);
}

enum store_status sqlite_target_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct target_due *ret)
{
	static const char sql[] =
		"SELECT " TARGET_COLUMNS ", a.id, a.space, a.name FROM target t JOIN agent a ON a.id = t.agent "
		"WHERE t.due > 0 AND t.due <= ?1 ORDER BY t.due LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, now_ms);
	return sqlite_read_one(c, s, read_due, arena, ret);
}

enum store_status sqlite_targets_failing(struct store_conn *c, int64_t space, size_t max, struct arena *arena,
					 struct target_due *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT " TARGET_COLUMNS ", a.id, a.space, a.name FROM target t INDEXED BY target_failing CROSS "
		"JOIN agent a ON a.id = t.agent WHERE (t.failures > 0 OR t.open_until > 0) AND a.space = ?1 "
		"ORDER BY t.agent LIMIT ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	return sqlite_read_list(c, s, read_due, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_target_next_due(struct store_conn *c, int64_t *ret_ms)
{
	static const char sql[] = "SELECT min(due) FROM target WHERE due > 0";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	return sqlite_read_int(c, s, ret_ms);
}

static void read_counts(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct target_counts *)ret = (struct target_counts){
		.queued = sqlite3_column_int64(s, 0) + sqlite3_column_int64(s, 1),
		.leased = sqlite3_column_int64(s, 2),
		.working = sqlite3_column_int64(s, 3),
		.parked = sqlite3_column_int64(s, 4),
	};
}

enum store_status sqlite_target_counts(struct store_conn *c, int64_t agent, struct target_counts *ret)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM handoff WHERE agent = ?1 AND state = 0), (SELECT count(*) "
		"FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 AND state = 1), (SELECT count(*) "
		"FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 AND state = 2), (SELECT count(*) "
		"FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 AND state = 3), (SELECT count(*) "
		"FROM handoff WHERE agent = ?1 AND state = 6)";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	return sqlite_read_one(c, s, read_counts, NULL, ret);
}

enum store_status sqlite_target_busy_until(struct store_conn *c, int64_t agent, int64_t *ret_ms)
{
	static const char sql[] =
		"SELECT coalesce(max(due), 0) FROM (SELECT due FROM handoff "
		"WHERE agent = ?1 AND state > 0 AND state < 4 AND state <> 1 LIMIT 64)";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	return sqlite_read_int(c, s, ret_ms);
}

enum store_status sqlite_queues(struct store_conn *c, void (*fn)(void *ctx, const struct queue_row *row), void *ctx)
{
	static const char sql[] =
		"SELECT a.id, a.space, a.name, q.queued, q.leased, q.working, q.parked, coalesce(t.seen_at, 0), "
		"coalesce(t.failures, 0), coalesce(t.open_until, 0), coalesce(t.probe, 0), "
		"coalesce(t.failing_since, 0), coalesce(t.has_opened, 0), coalesce(t.redrive_from, 0), "
		"coalesce(t.redrive_to, 0), coalesce(t.due, 0) "
		"FROM (SELECT agent, sum(queued) AS queued, sum(leased) AS leased, sum(working) AS working, "
		"sum(parked) AS parked FROM (SELECT agent, count(*) AS queued, 0 AS leased, 0 AS working, 0 AS "
		"parked FROM handoff WHERE state = 0 GROUP BY agent UNION ALL SELECT agent, sum(state = 1), "
		"sum(state = 2), sum(state = 3), 0 FROM handoff WHERE state > 0 "
		"AND state < 4 GROUP BY agent UNION ALL SELECT agent, 0, 0, 0, count(*) "
		"FROM handoff WHERE state = 6 GROUP BY agent UNION ALL SELECT agent, 0, 0, 0, 0 "
		"FROM target WHERE failures > 0 OR open_until > 0) GROUP BY agent) q JOIN agent a ON a.id = q.agent "
		"JOIN space s ON s.id = a.space AND s.removed_at = 0 LEFT JOIN target t ON t.agent = q.agent "
		"ORDER BY q.agent";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct queue_row row = {
			.agent = sqlite3_column_int64(s, 0),
			.space = sqlite3_column_int64(s, 1),
			.name = {(const char *)sqlite3_column_text(s, 2), (size_t)sqlite3_column_bytes(s, 2)},
			.counts = {sqlite3_column_int64(s, 3), sqlite3_column_int64(s, 4), sqlite3_column_int64(s, 5),
				   sqlite3_column_int64(s, 6)},
			.target = {sqlite3_column_int64(s, 7), sqlite3_column_int64(s, 8), sqlite3_column_int64(s, 9),
				   (uint64_t)sqlite3_column_int64(s, 10), sqlite3_column_int64(s, 11),
				   sqlite3_column_int(s, 12), sqlite3_column_int64(s, 13), sqlite3_column_int64(s, 14),
				   sqlite3_column_int64(s, 15)},
		};

		fn(ctx, &row);
	}
	sqlite3_reset(s);
	return sqlite_status(c, rc);
}
