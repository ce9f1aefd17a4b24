/* A space that goes: first its name, in one step, then its rows, a few at a time.
 *
 * The row of the space stays until nothing else of it is left. So a server that was killed in the midst of it finds
 * where to go on.
 */
#include "store/sqlite/sqlite_internal.h"

/* The names of spaces never begin like this. */
#define REMOVED_NAME "'#' || id"

/* Of rows that hold a text of any length fewer are taken at a time: each may be hundreds of pages. */
enum { TEXTS_PART = 8 };

enum store_status sqlite_space_remove(struct store_conn *c, int64_t space, int64_t now_ms)
{
	static const char sql[] =
		"UPDATE space SET name = " REMOVED_NAME ", removed_at = ?2, events_pruned = 0 WHERE id = ?1 AND "
		"removed_at = 0";
	enum store_status status = sqlite_tally_flush(c);

	return status == STORE_OK ? sqlite_run_on(c, sql, space, now_ms) : status;
}

enum store_status sqlite_space_removed(struct store_conn *c, int64_t *ret_id)
{
	static const char sql[] = "SELECT id FROM space WHERE removed_at > 0 ORDER BY id LIMIT 1";

	return sqlite_read_int(c, sqlite_statement(c, sql), ret_id);
}

/* What belongs to a space. ?1 is its id, ?2 and ?3 are the keys below and above its rows, ?4 is how many go. Handoffs
 * go first: nothing is to happen to them any more. Those that others need to be found go behind them. */
#define OF_KEYS(table) \
	"DELETE FROM " table " WHERE id IN (SELECT id FROM " table " WHERE id > ?2 AND id < ?3 LIMIT ?4)"
#define OF_SPACE(table) "DELETE FROM " table " WHERE id IN (SELECT id FROM " table " WHERE space = ?1 LIMIT ?4)"

#define PLAIN(has_texts) has_texts, NULL, NULL

static const struct part {
	const char *sql;
	bool has_texts;
	/* Of rows that are kept in memory, too: their kind, and the keys of those that go. */
	const struct row_shape *shape;
	const char *keys;
} parts[] = {
	{"DELETE FROM result WHERE handoff IN (SELECT handoff FROM result WHERE handoff > ?2 AND handoff < ?3 "
	 "LIMIT ?4)",
	 true, &row_result, "SELECT handoff FROM result WHERE handoff > ?2 AND handoff < ?3 LIMIT ?4"},
	{OF_KEYS("handoff"), false, &row_handoff,
	 "SELECT id FROM handoff WHERE id > ?2 AND id < ?3 LIMIT ?4"},
	{"DELETE FROM receipt WHERE (envelope, memory, agent) IN (SELECT envelope, memory, agent FROM receipt "
	 "WHERE envelope > ?2 AND envelope < ?3 LIMIT ?4)", PLAIN(false)},
	{"DELETE FROM citation WHERE (envelope, memory) IN (SELECT envelope, memory FROM citation "
	 "WHERE envelope > ?2 AND envelope < ?3 LIMIT ?4)", PLAIN(false)},
	{OF_KEYS("envelope"), true, &row_envelope,
	 "SELECT id FROM envelope WHERE id > ?2 AND id < ?3 LIMIT ?4"},
	{"DELETE FROM waiver WHERE id IN (SELECT id FROM waiver WHERE task > ?2 AND task < ?3 LIMIT ?4)", PLAIN(true)},
	{OF_KEYS("task"), PLAIN(false)},
	{OF_KEYS("pruned_envelope"), PLAIN(false)},
	{OF_KEYS("pruned_handoff"), PLAIN(false)},
	{"DELETE FROM left_result WHERE memory IN (SELECT memory FROM left_result WHERE memory > ?2 AND memory < ?3 "
	 "LIMIT ?4)", PLAIN(false)},
	{"DELETE FROM reply_memory WHERE (reply, memory) IN (SELECT reply, memory FROM reply_memory "
	 "WHERE memory > ?2 AND memory < ?3 LIMIT ?4)", PLAIN(false)},
	{OF_SPACE("reply"), PLAIN(true)},
	{"DELETE FROM memory_version WHERE id IN (SELECT id FROM memory_version WHERE memory > ?2 AND memory < ?3 "
	 "LIMIT ?4)", PLAIN(true)},
	{OF_KEYS("memory"), false, &row_memory, "SELECT id FROM memory WHERE id > ?2 AND id < ?3 LIMIT ?4"},
	{"DELETE FROM subscriber WHERE (channel, agent) IN (SELECT s.channel, s.agent FROM channel c "
	 "JOIN subscriber s ON s.channel = c.id WHERE c.space = ?1 LIMIT ?4)", PLAIN(false)},
	{OF_SPACE("channel"), PLAIN(false)},
	{OF_SPACE("route"), PLAIN(true)},
	{"DELETE FROM target WHERE agent IN (SELECT t.agent FROM agent a JOIN target t ON t.agent = a.id "
	 "WHERE a.space = ?1 LIMIT ?4)", PLAIN(false)},
	{OF_SPACE("agent"), PLAIN(true)},
	{OF_SPACE("alert"), PLAIN(true)},
};

static sqlite3_stmt *of_part(struct store_conn *c, const struct part *part, const char *sql, int64_t space, size_t max)
{
	size_t most = part->has_texts && max > TEXTS_PART ? max / TEXTS_PART : max;
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 3, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 4, (int64_t)most);
	return s;
}

static enum store_status forget_kept(struct store_conn *c, const struct part *part, int64_t space, size_t max)
{
	sqlite3_stmt *s = of_part(c, part, part->keys, space, max);
	int rc = s ? SQLITE_ROW : SQLITE_ERROR;

	while (rc == SQLITE_ROW && (rc = sqlite3_step(s)) == SQLITE_ROW)
		sqlite_cache_change(c, part->shape, sqlite3_column_int64(s, 0), STR_NULL);
	sqlite3_reset(s);
	return sqlite_status(c, rc);
}

static enum store_status purge_part(struct store_conn *c, const struct part *part, int64_t space, size_t max,
				    size_t *ret_count)
{
	enum store_status status = part->shape ? forget_kept(c, part, space, max) : STORE_OK;

	if (status == STORE_OK)
		status = sqlite_run(c, of_part(c, part, part->sql, space, max));
	if (status == STORE_OK)
		*ret_count = (size_t)sqlite3_changes(sqlite_of(c)->db);
	return status;
}

/* Ids of rows that go are not given again. */
static enum store_status keep_ids(struct store_conn *c)
{
	static const char *const all[] = {
		SQLITE_KEEP_ID("space"), SQLITE_KEEP_ID("agent"), SQLITE_KEEP_ID("channel"), SQLITE_KEEP_ID("alert"),
		SQLITE_KEEP_ID("waiver"),
	};
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < sizeof(all) / sizeof(all[0]); i++)
		status = sqlite_run(c, sqlite_statement(c, all[i]));
	return status;
}

static enum store_status purge_events(struct store_conn *c, int64_t space, size_t max, size_t *ret_count)
{
	static const char remove[] =
		"DELETE FROM event WHERE id IN (SELECT id FROM event WHERE space = ?1 ORDER BY number LIMIT ?2)";
	enum store_status status = sqlite_events_flush(c);
	sqlite3_stmt *s;

	if (status == STORE_OK)
		status = sqlite_run(c, sqlite_statement(c, SQLITE_KEEP_ID("event")));
	s = sqlite_statement(c, remove);
	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	if (status == STORE_OK)
		status = sqlite_run(c, s);
	*ret_count = status == STORE_OK ? (size_t)sqlite3_changes(sqlite_of(c)->db) : 0;
	return status;
}

enum store_status sqlite_space_purge(struct store_conn *c, int64_t space, size_t max, size_t *ret_count)
{
	enum store_status status = keep_ids(c);
	size_t count = 0;

	sqlite_of(c)->last_space = 0;
	for (size_t i = 0; status == STORE_OK && count == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		status = purge_part(c, &parts[i], space, max, &count);
	if (status == STORE_OK && count == 0)
		status = purge_events(c, space, max, &count);
	if (status == STORE_OK && count == 0) {
		status = sqlite_run_on(c, "DELETE FROM space WHERE id = ?1 AND removed_at > 0", space, 0);
		/* Its texts are overwritten in the file by now; the log is emptied once. */
		sqlite_of(c)->forgot = true;
	}
	if (status == STORE_OK)
		*ret_count = count;
	return status;
}
