/* Channels, their subscribers, and routes, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#define CHANNEL_COLUMNS \
	"SELECT id, name, description, created_at, (SELECT count(*) FROM subscriber s " \
	"WHERE s.channel = channel.id) FROM channel "

/* --- Channels --- */

enum store_status sqlite_channel_put(struct store_conn *c, int64_t space, struct str name, struct str description,
				     int64_t now_ms)
{
	static const char sql[] =
		"INSERT INTO channel (id, space, name, description, created_at) "
		"VALUES (" SQLITE_NEXT_ID("channel") ", ?1, ?2, ?3, ?4) ON CONFLICT (space, name) DO UPDATE SET "
		"description = excluded.description";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	sqlite_bind_str(s, 3, description);
	sqlite3_bind_int64(s, 4, now_ms);
	return sqlite_run(c, s);
}

static void read_channel(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct channel_row *)ret = (struct channel_row){
		.id = sqlite3_column_int64(s, 0),
		.name = sqlite_column_str(s, 1, arena),
		.description = sqlite_column_str(s, 2, arena),
		.created_at_ms = sqlite3_column_int64(s, 3),
		.subscribers = sqlite3_column_int64(s, 4),
	};
}

enum store_status sqlite_channel_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				     struct channel_row *ret)
{
	static const char sql[] = CHANNEL_COLUMNS "WHERE space = ?1 AND name = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	return sqlite_read_one(c, s, read_channel, arena, ret);
}

enum store_status sqlite_channels(struct store_conn *c, int64_t space, struct str after, size_t max,
				  struct arena *arena, struct channel_row *ret, size_t *ret_count)
{
	static const char sql[] = CHANNEL_COLUMNS "WHERE space = ?1 AND name > ?2 ORDER BY name LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, after.p ? after : STR(""));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_channel, arena, ret, sizeof(*ret), max, ret_count);
}

/* --- Subscribers --- */

enum store_status sqlite_subscriber_put(struct store_conn *c, int64_t channel, int64_t agent, int64_t now_ms)
{
	static const char sql[] =
		"INSERT INTO subscriber (channel, agent, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, channel);
	sqlite3_bind_int64(s, 2, agent);
	sqlite3_bind_int64(s, 3, now_ms);
	return sqlite_run(c, s);
}

enum store_status sqlite_subscriber_delete(struct store_conn *c, int64_t channel, int64_t agent)
{
	return sqlite_run_on(c, "DELETE FROM subscriber WHERE channel = ?1 AND agent = ?2", channel, agent);
}

enum store_status sqlite_subscribers(struct store_conn *c, int64_t channel, size_t max, struct arena *arena,
				     struct str *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT a.name FROM subscriber s JOIN agent a ON a.id = s.agent "
		"WHERE s.channel = ?1 ORDER BY a.name LIMIT ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, channel);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	return sqlite_read_list(c, s, sqlite_read_str, arena, ret, sizeof(*ret), max, ret_count);
}

/* --- Routes --- */

enum store_status sqlite_route_put(struct store_conn *c, int64_t space, const struct route_row *route)
{
	static const char sql[] =
		"INSERT INTO route (space, name, settings, created_at, updated_at) "
		"VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (space, name) DO UPDATE "
		"SET settings = excluded.settings, updated_at = excluded.updated_at";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, route->name);
	sqlite_bind_str(s, 3, route->settings);
	sqlite3_bind_int64(s, 4, route->created_at_ms);
	sqlite3_bind_int64(s, 5, route->updated_at_ms);
	return sqlite_run(c, s);
}

enum store_status sqlite_route_delete(struct store_conn *c, int64_t space, struct str name)
{
	static const char sql[] = "DELETE FROM route WHERE space = ?1 AND name = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	return sqlite_run_change(c, s);
}

static void read_route(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct route_row *)ret = (struct route_row){sqlite_column_str(s, 0, arena), sqlite_column_str(s, 1, arena),
						      sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3)};
}

enum store_status sqlite_routes(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
				struct route_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT name, settings, created_at, updated_at FROM route "
		"WHERE space = ?1 AND name > ?2 ORDER BY name LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, after.p ? after : STR(""));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_route, arena, ret, sizeof(*ret), max, ret_count);
}
