/* Alerts in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#define ALERT_COLUMNS \
	"SELECT id, space, name, agent, severity, value, threshold, summary, since, resolved_at, acked_by, " \
	"acked_at, silenced_until, silenced_by, silenced_why, untold FROM alert "

enum { ALERTS_KEPT = 10000 };

static enum store_status prune(struct store_conn *c, int64_t newest)
{
	static const char sql[] = "DELETE FROM alert WHERE id <= ?1 AND resolved_at > 0 AND untold = 0";
	enum store_status status = sqlite_run_on(c, sql, newest - ALERTS_KEPT, 0);

	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static const char alert_insert_sql[] =
	"INSERT INTO alert (id, space, name, agent, severity, value, threshold, summary, since, resolved_at, acked_by, "
	"acked_at, silenced_until, silenced_by, silenced_why, untold) VALUES (" SQLITE_NEXT_ID("alert") ", ?2, "
	"?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
static const char alert_update_sql[] =
	"UPDATE alert SET severity = ?5, value = ?6, threshold = ?7, summary = ?8, resolved_at = ?10, acked_by = "
	"?11, acked_at = ?12, silenced_until = ?13, silenced_by = ?14, silenced_why = ?15, untold = ?16 WHERE id = ?1";

enum store_status sqlite_alert_put(struct store_conn *c, struct alert_row *alert)
{
	bool is_new = alert->id == 0;
	sqlite3_stmt *s = sqlite_statement(c, is_new ? alert_insert_sql : alert_update_sql);
	enum store_status status;

	if (is_new) {
		sqlite3_bind_int64(s, 2, alert->space);
		sqlite_bind_str(s, 3, alert->name);
		sqlite_bind_str(s, 4, alert->agent);
		sqlite3_bind_int64(s, 9, alert->since_ms);
	} else {
		sqlite3_bind_int64(s, 1, alert->id);
	}
	sqlite3_bind_int(s, 5, alert->severity);
	sqlite3_bind_double(s, 6, alert->value);
	sqlite3_bind_double(s, 7, alert->threshold);
	sqlite_bind_str(s, 8, alert->summary);
	sqlite3_bind_int64(s, 10, alert->resolved_at_ms);
	sqlite_bind_str(s, 11, alert->acknowledged_by);
	sqlite3_bind_int64(s, 12, alert->acknowledged_at_ms);
	sqlite3_bind_int64(s, 13, alert->silenced_until_ms);
	sqlite_bind_str(s, 14, alert->silenced_by);
	sqlite_bind_str(s, 15, alert->silenced_why);
	sqlite3_bind_int(s, 16, alert->is_untold);
	status = sqlite_run(c, s);
	if (status != STORE_OK || !is_new)
		return status;
	alert->id = sqlite_last_id(c);
	return prune(c, alert->id);
}

static void read_alert(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct alert_row *)ret = (struct alert_row){
		.id = sqlite3_column_int64(s, 0),
		.space = sqlite3_column_int64(s, 1),
		.name = sqlite_column_str(s, 2, arena),
		.agent = sqlite_column_str(s, 3, arena),
		.severity = sqlite3_column_int(s, 4),
		.value = sqlite3_column_double(s, 5),
		.threshold = sqlite3_column_double(s, 6),
		.summary = sqlite_column_str(s, 7, arena),
		.since_ms = sqlite3_column_int64(s, 8),
		.resolved_at_ms = sqlite3_column_int64(s, 9),
		.acknowledged_by = sqlite_column_str(s, 10, arena),
		.acknowledged_at_ms = sqlite3_column_int64(s, 11),
		.silenced_until_ms = sqlite3_column_int64(s, 12),
		.silenced_by = sqlite_column_str(s, 13, arena),
		.silenced_why = sqlite_column_str(s, 14, arena),
		.is_untold = sqlite3_column_int(s, 15) != 0,
	};
}

enum store_status sqlite_alert_get(struct store_conn *c, int64_t id, struct arena *arena, struct alert_row *ret)
{
	static const char sql[] = ALERT_COLUMNS "WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, id);
	return sqlite_read_one(c, s, read_alert, arena, ret);
}

enum store_status sqlite_alert_last(struct store_conn *c, int64_t space, struct str name, struct str agent,
				    struct arena *arena, struct alert_row *ret)
{
	static const char sql[] =
		ALERT_COLUMNS
		"WHERE space = ?1 AND name = ?2 AND agent IS ?3 ORDER BY id DESC LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	sqlite_bind_str(s, 3, agent);
	return sqlite_read_one(c, s, read_alert, arena, ret);
}

#define ALERT_PAGE "id < ?2 AND (?1 = 0 OR space = ?1) ORDER BY id DESC LIMIT ?3"

enum store_status sqlite_alerts(struct store_conn *c, int64_t space, enum alerts_wanted wanted, int64_t before,
				size_t max, struct arena *arena, struct alert_row *ret, size_t *ret_count)
{
	static const char *const statements[] = {
		[ALERTS_ALL] = ALERT_COLUMNS "WHERE " ALERT_PAGE,
		[ALERTS_FIRING] = ALERT_COLUMNS "WHERE resolved_at = 0 AND " ALERT_PAGE,
		[ALERTS_RESOLVED] = ALERT_COLUMNS "WHERE resolved_at > 0 AND " ALERT_PAGE,
		[ALERTS_UNTOLD] = ALERT_COLUMNS "WHERE untold = 1 AND " ALERT_PAGE,
	};
	sqlite3_stmt *s = sqlite_statement(c, statements[wanted]);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, before ? before : INT64_MAX);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_alert, arena, ret, sizeof(*ret), max, ret_count);
}
