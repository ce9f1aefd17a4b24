/* Agents, and how delivery to them goes, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

static void read_agent(sqlite3_stmt *s, struct arena *arena, struct agent_row *ret)
{
	*ret = (struct agent_row){sqlite_column_str(s, 0, arena), sqlite_column_str(s, 1, arena),
				  sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3)};
}

/* That there is none is kept, too, as a row without a name: whoever is handed something need not be registered. */
enum store_status sqlite_agent_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				  struct agent_row *ret)
{
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &sqlite_agent_shape, space, name, arena, ret))
		return ret->name.p ? STORE_OK : STORE_NOT_FOUND;
	s = sqlite_statement(c, SQL_AGENT_GET);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		read_agent(s, arena, ret);
	if (status == STORE_OK || status == STORE_NOT_FOUND)
		sqlite_cache_put(c, &sqlite_agent_shape, seen, space, name,
				 status == STORE_OK ? ret : &(struct agent_row){0});
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_agent_put(struct store_conn *c, int64_t space, const struct agent_row *agent)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_AGENT_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, agent->name);
	sqlite_bind_str(s, 3, agent->settings);
	sqlite3_bind_int64(s, 4, agent->created_at_ms);
	sqlite3_bind_int64(s, 5, agent->updated_at_ms);
	sqlite_cache_change(c, &sqlite_agent_shape, space, agent->name);
	sqlite_cache_change(c, &sqlite_agent_id_shape, space, agent->name);
	return sqlite_run(c, s);
}

enum store_status sqlite_agents(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			       struct agent_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_AGENTS);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, after.p ? after : STR(""));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_agent(s, arena, &ret[count++]);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

enum store_status sqlite_agents_holding(struct store_conn *c, struct str text, int64_t after, size_t max,
				       struct arena *arena, struct agent_place *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_AGENTS_HOLDING);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, after);
	sqlite_bind_str(s, 2, text);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		ret[count++] = (struct agent_place){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
						    sqlite_column_str(s, 2, arena), sqlite_column_str(s, 3, arena),
						    sqlite_column_str(s, 4, arena)};
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

static enum store_status make_agent(struct store_conn *c, int64_t space, struct str name, int64_t now_ms, int64_t *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_AGENT_MAKE);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	sqlite3_bind_int64(s, 3, now_ms);
	sqlite_cache_change(c, &sqlite_agent_shape, space, name);
	sqlite_cache_change(c, &sqlite_agent_id_shape, space, name);
	status = sqlite_run(c, s);
	if (status == STORE_OK)
		*ret = sqlite3_last_insert_rowid(sqlite_of(c)->db);
	return status;
}

enum store_status sqlite_agent_id(struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms,
				 int64_t *ret)
{
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &sqlite_agent_id_shape, space, name, NULL, ret))
		return STORE_OK;
	s = sqlite_statement(c, SQL_AGENT_ID);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	status = sqlite_read_int(c, s, ret);
	if (status == STORE_OK)
		sqlite_cache_put(c, &sqlite_agent_id_shape, seen, space, name, ret);
	return status == STORE_NOT_FOUND && make ? make_agent(c, space, name, now_ms, ret) : status;
}

/* --- Targets --- */

enum store_status sqlite_target_get(struct store_conn *c, int64_t agent, struct target_row *ret)
{
	uint64_t seen = sqlite_cache_seen(c);
	struct target_row row = {0};
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &sqlite_target_shape, agent, STR_NULL, NULL, ret))
		return STORE_OK;
	s = sqlite_statement(c, SQL_TARGET_GET);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		row = (struct target_row){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
					  sqlite3_column_int64(s, 2), (uint64_t)sqlite3_column_int64(s, 3)};
	sqlite3_reset(s);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return status;
	sqlite_cache_put(c, &sqlite_target_shape, seen, agent, STR_NULL, &row);
	*ret = row;
	return STORE_OK;
}

enum store_status sqlite_target_put(struct store_conn *c, int64_t agent, const struct target_row *target)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TARGET_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, target->seen_at_ms);
	sqlite3_bind_int64(s, 3, target->failures);
	sqlite3_bind_int64(s, 4, target->open_until_ms);
	sqlite3_bind_int64(s, 5, (int64_t)target->probe);
	sqlite_cache_change(c, &sqlite_target_shape, agent, STR_NULL);
	return sqlite_run(c, s);
}

enum store_status sqlite_target_counts(struct store_conn *c, int64_t agent, struct target_counts *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TARGET_COUNTS);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		*ret = (struct target_counts){sqlite3_column_int64(s, 0) + sqlite3_column_int64(s, 1),
					      sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3),
					      sqlite3_column_int64(s, 4)};
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_target_busy_until(struct store_conn *c, int64_t agent, int64_t *ret_ms)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TARGET_BUSY);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	return sqlite_read_int(c, s, ret_ms);
}

enum store_status sqlite_queues(struct store_conn *c, void (*fn)(void *ctx, const struct queue_row *row), void *ctx)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_QUEUES);
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct queue_row row = {
			.agent = sqlite3_column_int64(s, 0),
			.space = sqlite3_column_int64(s, 1),
			.name = {(const char *)sqlite3_column_text(s, 2), (size_t)sqlite3_column_bytes(s, 2)},
			.counts = {sqlite3_column_int64(s, 3), sqlite3_column_int64(s, 4), sqlite3_column_int64(s, 5),
				   sqlite3_column_int64(s, 6)},
			.target = {sqlite3_column_int64(s, 7), sqlite3_column_int64(s, 8), sqlite3_column_int64(s, 9),
				   (uint64_t)sqlite3_column_int64(s, 10)},
		};

		fn(ctx, &row);
	}
	sqlite3_reset(s);
	return sqlite_status(c, rc);
}
