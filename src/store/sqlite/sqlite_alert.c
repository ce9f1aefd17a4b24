/* Alerts in SQLite. */
#include "store/sqlite/sqlite_internal.h"

enum { ALERTS_KEPT = 10000 };

static enum store_status prune(struct store_conn *c, int64_t newest)
{
	enum store_status status = sqlite_run_on(c, SQL_ALERT_PRUNE, newest - ALERTS_KEPT, 0);

	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum store_status sqlite_alert_put(struct store_conn *c, struct alert_row *alert)
{
	bool is_new = alert->id == 0;
	sqlite3_stmt *s = sqlite_statement(c, is_new ? SQL_ALERT_INSERT : SQL_ALERT_UPDATE);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
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
	alert->id = sqlite3_last_insert_rowid(sqlite_of(c)->db);
	return prune(c, alert->id);
}

static void read_alert(sqlite3_stmt *s, struct arena *arena, struct alert_row *ret)
{
	*ret = (struct alert_row){
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

static enum store_status read_one(struct store_conn *c, sqlite3_stmt *s, struct arena *arena, struct alert_row *ret)
{
	enum store_status status = sqlite_step_row(c, s);

	if (status == STORE_OK)
		read_alert(s, arena, ret);
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_alert_get(struct store_conn *c, int64_t id, struct arena *arena, struct alert_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ALERT_GET);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, id);
	return read_one(c, s, arena, ret);
}

enum store_status sqlite_alert_last(struct store_conn *c, int64_t space, struct str name, struct str agent,
				   struct arena *arena, struct alert_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ALERT_LAST);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	sqlite_bind_str(s, 3, agent);
	return read_one(c, s, arena, ret);
}

enum store_status sqlite_alerts(struct store_conn *c, int64_t space, enum alerts_wanted wanted, int64_t before,
			       size_t max, struct arena *arena, struct alert_row *ret, size_t *ret_count)
{
	static const enum sqlite_statement statements[] = {
		[ALERTS_ALL] = SQL_ALERTS, [ALERTS_FIRING] = SQL_ALERTS_FIRING, [ALERTS_RESOLVED] = SQL_ALERTS_RESOLVED,
		[ALERTS_UNTOLD] = SQL_ALERTS_UNTOLD,
	};
	sqlite3_stmt *s = sqlite_statement(c, statements[wanted]);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, before ? before : INT64_MAX);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_alert(s, arena, &ret[count++]);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}
