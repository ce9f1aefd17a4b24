/* Agents, and how delivery to them goes, on PostgreSQL. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

_Static_assert(HANDOFF_QUEUED == 0, "state = 0");
_Static_assert(HANDOFF_DELAYED == 1, "state = 1, state <> 1");
_Static_assert(HANDOFF_LEASED == 2 && HANDOFF_WORKING == 3, "state = 2, state = 3");
_Static_assert(HANDOFF_ACKED == 4, "state > 0 AND state < 4: under way, not queued");
_Static_assert(HANDOFF_PARKED == 6, "state = 6");

/* Of an agent: also in the texts of SQL, as status < 2. */
enum { STATUS_USED = 0, STATUS_REGISTERED = 1, STATUS_DELETED = 2 };

_Static_assert(STATUS_USED == 0 && STATUS_REGISTERED == 1 && STATUS_DELETED == 2, "status = 0, 1, 2; status < 2");

static void read_agent(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct agent_row *)ret = (struct agent_row){
		.name = postgres_column_str(r, 0, arena),
		.settings = postgres_column_str(r, 1, arena),
		.created_at_ms = postgres_column_int(r, 2),
		.updated_at_ms = postgres_column_int(r, 3),
		.is_registered = postgres_column_int(r, 4) == STATUS_REGISTERED,
	};
}

enum store_status postgres_agent_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				     struct agent_row *ret)
{
	static const char sql[] =
		"SELECT name, settings, created_at, updated_at, status FROM agent "
		"WHERE shard = $1 AND space = $2 AND name = $3 AND status < 2";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_agent, space, name, arena, ret))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	status = postgres_read_one(&q, read_agent, arena, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_agent, seen, space, name, ret);
	return status;
}

/* One that is not known yet, or not any more, is counted in the row of its space. */
#define COUNT_NEW_AGENT \
	"WITH counted AS (UPDATE space SET agents = agents + 1 WHERE shard = $1 AND id = $2 AND NOT EXISTS (SELECT 1 " \
	"FROM agent WHERE shard = $1 AND space = $2 AND name = $3 AND status < 2)) "

/* One of that name comes, goes or is another, and is counted in its space. */
static void changed(struct store_conn *c, int64_t space, struct str name)
{
	postgres_cache_change(c, &row_agent, space, name);
	postgres_cache_change(c, &row_agent_id, space, name);
	postgres_kept_space_changed(c, space);
}

enum store_status postgres_agent_put(struct store_conn *c, int64_t space, const struct agent_row *agent)
{
	static const char sql[] =
		COUNT_NEW_AGENT
		"INSERT INTO agent (shard, id, space, name, settings, created_at, updated_at, status) "
		"VALUES ($1, " POSTGRES_NEXT_ID("agent") ", $2, $3, $4, $5, $6, 1) ON CONFLICT (shard, space, name) "
		"DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at, status = 1, "
		"created_at = CASE WHEN agent.status = 2 THEN excluded.created_at ELSE agent.created_at END";
	struct postgres_query q;
	enum store_status status;

	if (agent->name.p == NULL || agent->settings.p == NULL)
		return STORE_REFUSED;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, agent->name);
	postgres_bind_str(&q, 4, agent->settings);
	postgres_bind_int(&q, 5, agent->created_at_ms);
	postgres_bind_int(&q, 6, agent->updated_at_ms);
	status = postgres_run(&q);
	changed(c, space, agent->name);
	return status;
}

enum store_status postgres_agents(struct store_conn *c, int64_t space, struct str after, size_t max,
				  struct arena *arena, struct agent_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT name, settings, created_at, updated_at, status FROM agent "
		"WHERE shard = $1 AND space = $2 AND name > $3 AND status < 2 ORDER BY name LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, after.p ? after : STR(""));
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_agent, arena, ret, sizeof(*ret), max, ret_count);
}

static void read_place(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct agent_place *)ret = (struct agent_place){
		.id = postgres_column_int(r, 0),
		.space = postgres_column_int(r, 1),
		.space_name = postgres_column_str(r, 2, arena),
		.name = postgres_column_str(r, 3, arena),
		.settings = postgres_column_str(r, 4, arena),
	};
}

enum store_status postgres_agents_holding(struct store_conn *c, struct str text, int64_t after, size_t max,
					  struct arena *arena, struct agent_place *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT a.id, a.space, s.name, a.name, a.settings FROM agent a JOIN space s ON s.shard = $1 "
		"AND s.id = a.space WHERE a.shard = $1 AND s.removed_at = 0 AND a.id > $2 AND a.status < 2 "
		"AND position($3::bytea IN a.settings) > 0 ORDER BY a.id LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, after);
	postgres_bind_str(&q, 3, text);
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_place, arena, ret, sizeof(*ret), max, ret_count);
}

/* One that was deleted has its id already. A publish makes thousands: each is counted in memory. */
static enum store_status make_agent(struct store_conn *c, int64_t space, struct str name, int64_t now_ms, int64_t *ret)
{
	static const char sql[] =
		"INSERT INTO agent (shard, id, space, name, settings, created_at, updated_at) "
		"VALUES ($1, " POSTGRES_NEXT_ID("agent") ", $2, $3, '{}', $4, $4) ON CONFLICT (shard, space, name) "
		"DO UPDATE SET created_at = excluded.created_at, updated_at = excluded.updated_at, status = 0 "
		"RETURNING id";
	struct agent_row row = {.name = name, .settings = STR("{}"), .created_at_ms = now_ms, .updated_at_ms = now_ms};
	struct postgres_query q;
	enum store_status status = postgres_kept_may_write(c);

	if (status == STORE_OK)
		status = postgres_kept_space_grows(c, space, 0, 1);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return status;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	postgres_bind_int(&q, 4, now_ms);
	status = postgres_read_int(&q, ret);
	if (status != STORE_OK)
		return status;
	postgres_cache_add(c, &row_agent_id, space, name, ret);
	postgres_cache_add(c, &row_agent, space, name, &row);
	return STORE_OK;
}

enum store_status postgres_agent_id(struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms,
				    int64_t *ret)
{
	static const char sql[] = "SELECT id FROM agent WHERE shard = $1 AND space = $2 AND name = $3 AND status < 2";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_agent_id, space, name, NULL, ret))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	status = postgres_read_int(&q, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_agent_id, seen, space, name, ret);
	return status == STORE_NOT_FOUND && make ? make_agent(c, space, name, now_ms, ret) : status;
}

enum store_status postgres_agent_name(struct store_conn *c, int64_t agent, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT name FROM agent WHERE shard = $1 AND id = $2";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_agent_name, agent, STR_NULL, arena, ret))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	status = postgres_read_one(&q, postgres_read_str, arena, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_agent_name, seen, agent, STR_NULL, ret);
	return status;
}

enum store_status postgres_agent_delete(struct store_conn *c, int64_t space, struct str name)
{
	static const char sql[] =
		"WITH gone AS (UPDATE agent SET settings = '{}', status = 2 WHERE shard = $1 AND space = $2 AND name = "
		"$3 "
		"AND status < 2 RETURNING id), "
		"target_gone AS (DELETE FROM target WHERE shard = $1 AND agent = (SELECT id FROM gone)), "
		"subscriber_gone AS (DELETE FROM subscriber WHERE shard = $1 AND agent = (SELECT id FROM gone)), "
		"counted AS (UPDATE space SET agents = agents - 1 WHERE shard = $1 AND id = $2 "
		"AND EXISTS (SELECT 1 FROM gone)) SELECT id FROM gone";
	struct postgres_query q;
	enum store_status status;
	int64_t id = 0;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	status = postgres_read_int(&q, &id);
	changed(c, space, name);
	postgres_cache_change(c, &row_target, id, STR_NULL);
	postgres_kept_target_due_changed(c);
	return status;
}

/* --- Targets --- */

#define TARGET_COLUMNS \
	"t.seen_at, t.failures, t.open_until, t.probe, t.failing_since, t.has_opened, t.redrive_from, t.redrive_to, " \
	"t.due"

/* From that column on; NULL stands for zero. */
static struct target_row target_at(const struct postgres_row *r, int column)
{
	return (struct target_row){
		.seen_at_ms = postgres_column_int(r, column),
		.failures = postgres_column_int(r, column + 1),
		.open_until_ms = postgres_column_int(r, column + 2),
		.probe = (uint64_t)postgres_column_int(r, column + 3),
		.failing_since_ms = postgres_column_int(r, column + 4),
		.has_opened = postgres_column_int(r, column + 5) != 0,
		.redrive_from_ms = postgres_column_int(r, column + 6),
		.redrive_to_ms = postgres_column_int(r, column + 7),
		.due_ms = postgres_column_int(r, column + 8),
	};
}

static void read_target(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct target_row *)ret = target_at(r, 0);
}

enum store_status postgres_target_get(struct store_conn *c, int64_t agent, struct target_row *ret)
{
	static const char sql[] = "SELECT " TARGET_COLUMNS " FROM target t WHERE t.shard = $1 AND t.agent = $2";
	uint64_t seen = postgres_cache_seen(c);
	struct target_row row = {0};
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_target, agent, STR_NULL, NULL, ret))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	status = postgres_read_one(&q, read_target, NULL, &row);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return status;
	postgres_cache_put(c, &row_target, seen, agent, STR_NULL, &row);
	*ret = row;
	return STORE_OK;
}

enum store_status postgres_target_put(struct store_conn *c, int64_t agent, const struct target_row *target)
{
	static const char sql[] =
		"INSERT INTO target (shard, agent, seen_at, failures, open_until, probe, failing_since, has_opened, "
		"redrive_from, redrive_to, due) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
		"ON CONFLICT (shard, agent) DO UPDATE SET seen_at = excluded.seen_at, failures = excluded.failures, "
		"open_until = excluded.open_until, probe = excluded.probe, failing_since = excluded.failing_since, "
		"has_opened = excluded.has_opened, redrive_from = excluded.redrive_from, "
		"redrive_to = excluded.redrive_to, due = excluded.due";
	struct target_row before;
	struct postgres_query q;

	/* One that was not due, and is not now, changes nothing about when the next one is. */
	if (target->due_ms || !postgres_cache_get(c, &row_target, agent, STR_NULL, NULL, &before) || before.due_ms)
		postgres_kept_target_due_changed(c);
	postgres_cache_add(c, &row_target, agent, STR_NULL, target);
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	postgres_bind_int(&q, 3, target->seen_at_ms);
	postgres_bind_int(&q, 4, target->failures);
	postgres_bind_int(&q, 5, target->open_until_ms);
	postgres_bind_int(&q, 6, (int64_t)target->probe);
	postgres_bind_int(&q, 7, target->failing_since_ms);
	postgres_bind_int(&q, 8, target->has_opened);
	postgres_bind_int(&q, 9, target->redrive_from_ms);
	postgres_bind_int(&q, 10, target->redrive_to_ms);
	postgres_bind_int(&q, 11, target->due_ms);
	return postgres_run(&q);
}

static void read_due(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct target_due *)ret = (struct target_due){
		.agent = postgres_column_int(r, 9),
		.space = postgres_column_int(r, 10),
		.name = postgres_column_str(r, 11, arena),
		.target = target_at(r, 0),
	};
}

enum store_status postgres_target_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct target_due *ret)
{
	static const char sql[] =
		"SELECT " TARGET_COLUMNS ", a.id, a.space, a.name FROM target t JOIN agent a ON a.shard = $1 "
		"AND a.id = t.agent WHERE t.shard = $1 AND t.due > 0 AND t.due <= $2 ORDER BY t.due, t.agent LIMIT 1";
	struct postgres_query q;
	int64_t due_ms;

	if (postgres_kept_target_due(c, &due_ms) && (due_ms == 0 || due_ms > now_ms))
		return STORE_NOT_FOUND;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, now_ms);
	return postgres_read_one(&q, read_due, arena, ret);
}

enum store_status postgres_targets_failing(struct store_conn *c, int64_t space, size_t max, struct arena *arena,
					   struct target_due *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT " TARGET_COLUMNS ", a.id, a.space, a.name FROM target t JOIN agent a ON a.shard = $1 "
		"AND a.id = t.agent WHERE t.shard = $1 AND (t.failures > 0 OR t.open_until > 0) AND a.space = $2 "
		"ORDER BY t.agent LIMIT $3";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, (int64_t)max);
	return postgres_read_list(&q, read_due, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_target_next_due(struct store_conn *c, int64_t *ret_ms)
{
	static const char sql[] = "SELECT min(due) FROM target WHERE shard = $1 AND due > 0";
	struct postgres_query q;
	enum store_status status;

	if (postgres_kept_target_due(c, ret_ms))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	status = postgres_read_int(&q, ret_ms);
	if (status == STORE_OK)
		postgres_kept_target_due_is(c, *ret_ms);
	return status;
}

static struct target_counts counts_at(const struct postgres_row *r, int column)
{
	return (struct target_counts){
		.queued = postgres_column_int(r, column),
		.leased = postgres_column_int(r, column + 1),
		.working = postgres_column_int(r, column + 2),
		.parked = postgres_column_int(r, column + 3),
	};
}

static void read_counts(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct target_counts *)ret = counts_at(r, 0);
}

enum store_status postgres_target_counts(struct store_conn *c, int64_t agent, struct target_counts *ret)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM handoff WHERE shard = $1 AND agent = $2 AND state = 0) + f.delayed, "
		"f.leased, "
		"f.working, (SELECT count(*) FROM handoff WHERE shard = $1 AND agent = $2 AND state = 6) "
		"FROM (SELECT count(*) FILTER (WHERE state = 1) AS delayed, count(*) FILTER (WHERE state = 2) AS "
		"leased, "
		"count(*) FILTER (WHERE state = 3) AS working FROM handoff "
		"WHERE shard = $1 AND agent = $2 AND state > 0 AND state < 4) f";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	return postgres_read_one(&q, read_counts, NULL, ret);
}

enum store_status postgres_target_busy_until(struct store_conn *c, int64_t agent, int64_t *ret_ms)
{
	static const char sql[] =
		"SELECT max(due) FROM (SELECT due FROM handoff WHERE shard = $1 AND agent = $2 AND state > 0 "
		"AND state < 4 AND state <> 1 LIMIT 64) f";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	return postgres_read_int(&q, ret_ms);
}

/* Each agent is looked up by its id: a plain join may be planned as one that goes through all queues for each agent. */
static const char queues_sql[] =
	"SELECT a.id, a.space, a.name, q.queued, q.leased, q.working, q.parked, " TARGET_COLUMNS " "
	"FROM (SELECT agent, sum(queued)::bigint AS queued, sum(leased)::bigint AS leased, "
	"  sum(working)::bigint AS working, sum(parked)::bigint AS parked FROM ("
	"  SELECT agent, count(*) AS queued, 0 AS leased, 0 AS working, 0 AS parked FROM handoff "
	"    WHERE shard = $1 AND state = 0 GROUP BY agent "
	"  UNION ALL SELECT agent, count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 2), "
	"    count(*) FILTER (WHERE state = 3), 0 FROM handoff "
	"    WHERE shard = $1 AND state > 0 AND state < 4 GROUP BY agent "
	"  UNION ALL SELECT agent, 0, 0, 0, count(*) FROM handoff WHERE shard = $1 AND state = 6 GROUP BY agent "
	"  UNION ALL SELECT agent, 0, 0, 0, 0 FROM target WHERE shard = $1 AND (failures > 0 OR open_until > 0)) h "
	"  GROUP BY agent) q "
	"CROSS JOIN LATERAL (SELECT id, space, name FROM agent WHERE shard = $1 AND id = q.agent OFFSET 0) a "
	"JOIN space s ON s.shard = $1 AND s.id = a.space AND s.removed_at = 0 "
	"LEFT JOIN target t ON t.shard = $1 AND t.agent = q.agent ORDER BY q.agent";

enum store_status postgres_queues(struct store_conn *c, void (*fn)(void *ctx, const struct queue_row *row), void *ctx)
{
	struct postgres_query q;
	PGresult *result = NULL;
	enum store_status status;

	postgres_query(&q, c, queues_sql);
	status = postgres_read_all(&q, &result);
	for (int i = 0; status == STORE_OK && i < PQntuples(result); i++) {
		struct postgres_row r = {result, i};
		struct queue_row row = {
			.agent = postgres_column_int(&r, 0),
			.space = postgres_column_int(&r, 1),
			.name = {PQgetvalue(result, i, 2), (size_t)PQgetlength(result, i, 2)},
			.counts = counts_at(&r, 3),
			.target = target_at(&r, 7),
		};

		fn(ctx, &row);
	}
	PQclear(result);
	return status;
}
