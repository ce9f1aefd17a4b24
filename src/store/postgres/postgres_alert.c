/* Alerts on PostgreSQL. */
#include "store/postgres/postgres_internal.h"

#define ALERT_COLUMNS \
	"SELECT id, space, name, agent, severity, value, threshold, summary, since, resolved_at, acked_by, " \
	"acked_at, silenced_until, silenced_by, silenced_why, untold FROM alert WHERE shard = $1 AND "

enum { ALERTS_KEPT = 10000 };

static enum store_status prune(struct store_conn *c, int64_t newest)
{
	static const char sql[] =
		"DELETE FROM alert WHERE shard = $1 AND id <= $2 AND resolved_at > 0 AND untold = 0";
	struct postgres_query q;

	if (newest <= ALERTS_KEPT)
		return STORE_OK;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, newest - ALERTS_KEPT);
	return postgres_run(&q);
}

/* What may change. */
static void bind_alert(struct postgres_query *q, const struct alert_row *alert)
{
	postgres_bind_int(q, 2, alert->severity);
	postgres_bind_real(q, 3, alert->value);
	postgres_bind_real(q, 4, alert->threshold);
	postgres_bind_str(q, 5, alert->summary);
	postgres_bind_int(q, 6, alert->resolved_at_ms);
	postgres_bind_str(q, 7, alert->acknowledged_by);
	postgres_bind_int(q, 8, alert->acknowledged_at_ms);
	postgres_bind_int(q, 9, alert->silenced_until_ms);
	postgres_bind_str(q, 10, alert->silenced_by);
	postgres_bind_str(q, 11, alert->silenced_why);
	postgres_bind_int(q, 12, alert->is_untold);
}

static enum store_status insert(struct store_conn *c, struct alert_row *alert)
{
	static const char sql[] =
		"INSERT INTO alert (shard, id, severity, value, threshold, summary, resolved_at, acked_by, acked_at, "
		"silenced_until, silenced_by, silenced_why, untold, space, name, agent, since) "
		"VALUES ($1, " POSTGRES_NEXT_ID("alert") ", $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
		"$15, $16) RETURNING id";
	struct postgres_query q;
	enum store_status status;

	postgres_query(&q, c, sql);
	bind_alert(&q, alert);
	postgres_bind_int(&q, 13, alert->space);
	postgres_bind_str(&q, 14, alert->name);
	postgres_bind_str(&q, 15, alert->agent);
	postgres_bind_int(&q, 16, alert->since_ms);
	status = postgres_read_int(&q, &alert->id);
	return status == STORE_OK ? prune(c, alert->id) : status;
}

enum store_status postgres_alert_put(struct store_conn *c, struct alert_row *alert)
{
	static const char sql[] =
		"UPDATE alert SET severity = $2, value = $3, threshold = $4, summary = $5, resolved_at = $6, "
		"acked_by = $7, acked_at = $8, silenced_until = $9, silenced_by = $10, silenced_why = $11, "
		"untold = $12 WHERE shard = $1 AND id = $13";
	struct postgres_query q;

	if (alert->summary.p == NULL)
		return STORE_REFUSED;
	if (alert->id == 0)
		return alert->name.p ? insert(c, alert) : STORE_REFUSED;
	postgres_query(&q, c, sql);
	bind_alert(&q, alert);
	postgres_bind_int(&q, 13, alert->id);
	return postgres_run(&q);
}

static void read_alert(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct alert_row *)ret = (struct alert_row){
		.id = postgres_column_int(r, 0),
		.space = postgres_column_int(r, 1),
		.name = postgres_column_str(r, 2, arena),
		.agent = postgres_column_str(r, 3, arena),
		.severity = (int)postgres_column_int(r, 4),
		.value = postgres_column_real(r, 5),
		.threshold = postgres_column_real(r, 6),
		.summary = postgres_column_str(r, 7, arena),
		.since_ms = postgres_column_int(r, 8),
		.resolved_at_ms = postgres_column_int(r, 9),
		.acknowledged_by = postgres_column_str(r, 10, arena),
		.acknowledged_at_ms = postgres_column_int(r, 11),
		.silenced_until_ms = postgres_column_int(r, 12),
		.silenced_by = postgres_column_str(r, 13, arena),
		.silenced_why = postgres_column_str(r, 14, arena),
		.is_untold = postgres_column_int(r, 15) != 0,
	};
}

enum store_status postgres_alert_get(struct store_conn *c, int64_t id, struct arena *arena, struct alert_row *ret)
{
	static const char sql[] = ALERT_COLUMNS "id = $2";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, id);
	return postgres_read_one(&q, read_alert, arena, ret);
}

/* An index finds NULL only where the statement says so. */
enum store_status postgres_alert_last(struct store_conn *c, int64_t space, struct str name, struct str agent,
				      struct arena *arena, struct alert_row *ret)
{
	static const char of_agent[] =
		ALERT_COLUMNS
		"space = $2 AND name = $3 AND agent = $4 ORDER BY id DESC LIMIT 1";
	static const char of_space[] =
		ALERT_COLUMNS
		"space = $2 AND name = $3 AND agent IS NULL ORDER BY id DESC LIMIT 1";
	struct postgres_query q;

	postgres_query(&q, c, agent.p ? of_agent : of_space);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, name);
	if (agent.p)
		postgres_bind_str(&q, 4, agent);
	return postgres_read_one(&q, read_alert, arena, ret);
}

#define ALERT_PAGE "id < $3 AND ($2 = 0 OR space = $2) ORDER BY id DESC LIMIT $4"

enum store_status postgres_alerts(struct store_conn *c, int64_t space, enum alerts_wanted wanted, int64_t before,
				  size_t max, struct arena *arena, struct alert_row *ret, size_t *ret_count)
{
	static const char *const statements[] = {
		[ALERTS_ALL] = ALERT_COLUMNS ALERT_PAGE,
		[ALERTS_FIRING] = ALERT_COLUMNS "resolved_at = 0 AND " ALERT_PAGE,
		[ALERTS_RESOLVED] = ALERT_COLUMNS "resolved_at > 0 AND " ALERT_PAGE,
		[ALERTS_UNTOLD] = ALERT_COLUMNS "untold = 1 AND " ALERT_PAGE,
	};
	struct postgres_query q;

	postgres_query(&q, c, statements[wanted]);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, before ? before : INT64_MAX);
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_alert, arena, ret, sizeof(*ret), max, ret_count);
}
