/* Channels, their subscribers, and routes, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

/* --- Channels --- */

enum store_status sqlite_channel_put(struct store_conn *c, int64_t space, struct str name, struct str description,
				    int64_t now_ms)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_CHANNEL_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	sqlite_bind_str(s, 3, description);
	sqlite3_bind_int64(s, 4, now_ms);
	return sqlite_run(c, s);
}

static void read_channel(sqlite3_stmt *s, struct arena *arena, struct channel_row *ret)
{
	*ret = (struct channel_row){sqlite3_column_int64(s, 0), sqlite_column_str(s, 1, arena),
				    sqlite_column_str(s, 2, arena), sqlite3_column_int64(s, 3),
				    sqlite3_column_int64(s, 4)};
}

enum store_status sqlite_channel_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				    struct channel_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_CHANNEL_GET);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		read_channel(s, arena, ret);
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_channels(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
				 struct channel_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_CHANNELS);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, after.p ? after : STR(""));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_channel(s, arena, &ret[count++]);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

/* --- Subscribers --- */

enum store_status sqlite_subscriber_put(struct store_conn *c, int64_t channel, int64_t agent, int64_t now_ms)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_SUBSCRIBER_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, channel);
	sqlite3_bind_int64(s, 2, agent);
	sqlite3_bind_int64(s, 3, now_ms);
	return sqlite_run(c, s);
}

enum store_status sqlite_subscriber_delete(struct store_conn *c, int64_t channel, int64_t agent)
{
	return sqlite_run_on(c, SQL_SUBSCRIBER_DELETE, channel, agent);
}

enum store_status sqlite_subscribers(struct store_conn *c, int64_t channel, size_t max, struct arena *arena,
				    struct str *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_SUBSCRIBERS);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, channel);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		ret[count++] = sqlite_column_str(s, 0, arena);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

/* --- Routes --- */

enum store_status sqlite_route_put(struct store_conn *c, int64_t space, const struct route_row *route)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ROUTE_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, route->name);
	sqlite_bind_str(s, 3, route->settings);
	sqlite3_bind_int64(s, 4, route->created_at_ms);
	sqlite3_bind_int64(s, 5, route->updated_at_ms);
	return sqlite_run(c, s);
}

enum store_status sqlite_route_delete(struct store_conn *c, int64_t space, struct str name)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ROUTE_DELETE);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	status = sqlite_run(c, s);
	return status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0 ? STORE_NOT_FOUND : status;
}

enum store_status sqlite_routes(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			       struct route_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ROUTES);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, after.p ? after : STR(""));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		ret[count++] = (struct route_row){sqlite_column_str(s, 0, arena), sqlite_column_str(s, 1, arena),
						  sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3)};
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}
