/* Channels, their subscribers, and routes, on PostgreSQL. */
#include "store/postgres/postgres_internal.h"

#define CHANNEL_COLUMNS \
	"SELECT id, name, description, created_at, (SELECT count(*) FROM subscriber s " \
	"WHERE s.shard = $1 AND s.channel = channel.id) FROM channel "

/* --- Channels --- */

enum store_status postgres_channel_put(struct store_conn *c, int64_t space, struct str name, struct str description,
				       int64_t now_ms)
{
	static const char sql[] =
		"INSERT INTO channel (shard, id, space, name, description, created_at) "
		"VALUES ($1, " POSTGRES_NEXT_ID("channel") ", $2, $3, $4, $5) ON CONFLICT (shard, space, name) "
		"DO UPDATE SET description = excluded.description";
	struct postgres_query q;

	if (name.p == NULL)
		return STORE_REFUSED;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	postgres_bind_str(&q, 4, description);
	postgres_bind_int(&q, 5, now_ms);
	return postgres_run(&q);
}

static void read_channel(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct channel_row *)ret = (struct channel_row){
		.id = postgres_column_int(r, 0),
		.name = postgres_column_str(r, 1, arena),
		.description = postgres_column_str(r, 2, arena),
		.created_at_ms = postgres_column_int(r, 3),
		.subscribers = postgres_column_int(r, 4),
	};
}

enum store_status postgres_channel_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				       struct channel_row *ret)
{
	static const char sql[] = CHANNEL_COLUMNS "WHERE shard = $1 AND space = $2 AND name = $3";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	return postgres_read_one(&q, read_channel, arena, ret);
}

enum store_status postgres_channels(struct store_conn *c, int64_t space, struct str after, size_t max,
				    struct arena *arena, struct channel_row *ret, size_t *ret_count)
{
	static const char sql[] =
		CHANNEL_COLUMNS
		"WHERE shard = $1 AND space = $2 AND name > $3 ORDER BY name LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, after.p ? after : STR(""));
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_channel, arena, ret, sizeof(*ret), max, ret_count);
}

/* It never changes. */
enum store_status postgres_channel_name(struct store_conn *c, int64_t channel, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT name FROM channel WHERE shard = $1 AND id = $2";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_channel_name, channel, STR_NULL, arena, ret))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, channel);
	status = postgres_read_one(&q, postgres_read_str, arena, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_channel_name, seen, channel, STR_NULL, ret);
	return status;
}

/* --- Subscribers --- */

enum store_status postgres_subscriber_put(struct store_conn *c, int64_t channel, int64_t agent, int64_t now_ms)
{
	static const char sql[] =
		"INSERT INTO subscriber (shard, channel, agent, created_at) VALUES ($1, $2, $3, $4) "
		"ON CONFLICT DO NOTHING";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, channel);
	postgres_bind_int(&q, 3, agent);
	postgres_bind_int(&q, 4, now_ms);
	return postgres_run(&q);
}

enum store_status postgres_subscriber_delete(struct store_conn *c, int64_t channel, int64_t agent)
{
	static const char sql[] = "DELETE FROM subscriber WHERE shard = $1 AND channel = $2 AND agent = $3";

	return postgres_run_on(c, sql, channel, agent);
}

enum store_status postgres_subscribers(struct store_conn *c, int64_t channel, size_t max, struct arena *arena,
				       struct str *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT a.name FROM subscriber s JOIN agent a ON a.shard = $1 AND a.id = s.agent "
		"WHERE s.shard = $1 AND s.channel = $2 ORDER BY a.name LIMIT $3";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, channel);
	postgres_bind_int(&q, 3, (int64_t)max);
	return postgres_read_list(&q, postgres_read_str, arena, ret, sizeof(*ret), max, ret_count);
}

/* --- Routes --- */

enum store_status postgres_route_put(struct store_conn *c, int64_t space, const struct route_row *route)
{
	static const char sql[] =
		"INSERT INTO route (shard, space, name, settings, created_at, updated_at) "
		"VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (shard, space, name) DO UPDATE "
		"SET settings = excluded.settings, updated_at = excluded.updated_at";
	struct postgres_query q;

	if (route->name.p == NULL || route->settings.p == NULL)
		return STORE_REFUSED;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, route->name);
	postgres_bind_str(&q, 4, route->settings);
	postgres_bind_int(&q, 5, route->created_at_ms);
	postgres_bind_int(&q, 6, route->updated_at_ms);
	return postgres_run(&q);
}

enum store_status postgres_route_delete(struct store_conn *c, int64_t space, struct str name)
{
	static const char sql[] = "DELETE FROM route WHERE shard = $1 AND space = $2 AND name = $3";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	return postgres_run_change(&q);
}

static void read_route(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct route_row *)ret = (struct route_row){
		postgres_column_str(r, 0, arena), postgres_column_str(r, 1, arena), postgres_column_int(r, 2),
		postgres_column_int(r, 3),
	};
}

enum store_status postgres_routes(struct store_conn *c, int64_t space, struct str after, size_t max,
				  struct arena *arena, struct route_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT name, settings, created_at, updated_at FROM route "
		"WHERE shard = $1 AND space = $2 AND name > $3 ORDER BY name LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, after.p ? after : STR(""));
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_route, arena, ret, sizeof(*ret), max, ret_count);
}
