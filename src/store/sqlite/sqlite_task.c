/* Lists of tasks in SQLite. Nothing is kept for them but what a task is known by: how it stands follows from its
 * handoffs, and when it was last changed from the history. */
#include "store/sqlite/sqlite_internal.h"

#include "store/task_work.h"
#include "store/text_holds.h"

_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_DELAYED == 1 && HANDOFF_LEASED == 2, "state = 0, state = 1, state > 1");
_Static_assert(HANDOFF_ACKED == 4 && HANDOFF_PARKED == 6, "state < 4, state = 6");
_Static_assert(EVENT_ROW_PACKED == 28, "kind = 28");

#define TASK_COLUMNS \
	"SELECT t.id, t.name, t.created_at, (SELECT count(*) FROM envelope e WHERE e.task = t.id), t.hops, t.tokens, " \
	"t.intent, t.summary FROM task t "

static void read_task(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct task_row *)ret = (struct task_row){
		.id = sqlite3_column_int64(s, 0),
		.name = sqlite_column_str(s, 1, arena),
		.created_at_ms = sqlite3_column_int64(s, 2),
		.envelopes = sqlite3_column_int64(s, 3),
		.hops = sqlite3_column_int64(s, 4),
		.tokens = sqlite3_column_int64(s, 5),
		.intent = sqlite_column_str(s, 6, arena),
		.summary = sqlite_column_str(s, 7, arena),
	};
}

enum store_status sqlite_tasks(struct store_conn *c, int64_t space, int64_t before, size_t max, struct arena *arena,
			       struct task_row *ret, size_t *ret_count)
{
	static const char sql[] = TASK_COLUMNS "WHERE t.id > ?1 AND t.id < ?2 ORDER BY t.id DESC LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, before ? before : sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_task, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_task_get(struct store_conn *c, int64_t id, struct arena *arena, struct task_row *ret)
{
	static const char sql[] = TASK_COLUMNS "WHERE t.id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, id);
	return sqlite_read_one(c, s, read_task, arena, ret);
}

enum store_status sqlite_task_work(struct store_conn *c, int64_t id, struct arena *arena, struct task_work *ret)
{
	static const char sql[] =
		"SELECT h.id, h.agent, h.state, h.changed_at FROM envelope e INDEXED BY envelope_task "
		"CROSS JOIN handoff h INDEXED BY handoff_envelope WHERE e.task = ?1 AND h.envelope = e.id";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;
	int rc;

	*ret = (struct task_work){0};
	sqlite3_bind_int64(s, 1, id);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW)
		task_work_add(ret, (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX, sqlite3_column_int64(s, 1),
			      (enum handoff_state)sqlite3_column_int(s, 2), sqlite3_column_int64(s, 3));
	sqlite3_reset(s);
	status = sqlite_status(c, rc);
	return status == STORE_OK && ret->handoff ? sqlite_agent_name(c, ret->agent, arena, &ret->agent_name) : status;
}

/* --- By their newest change --- */

static bool is_listed(const struct task_place *list, size_t count, int64_t id)
{
	for (size_t i = count; i > 0; i--)
		if (list[i - 1].id == id)
			return true;
	return false;
}

/* Is the event the newest of its task? Those up to `before`, which are behind it, were looked at already. */
static enum store_status is_newest(struct store_conn *c, int64_t space, int64_t task, int64_t before, bool *ret)
{
	static const char sql[] =
		/* In this order: from the task to its few handoffs, and from each to its events. */
		"SELECT 1 FROM envelope e INDEXED BY envelope_task CROSS JOIN handoff h INDEXED BY handoff_envelope "
		"CROSS JOIN event v INDEXED BY event_handoff WHERE e.task = ?1 AND h.envelope = e.id "
		"AND v.space = ?2 AND v.handoff = h.id & 1099511627775 AND v.handoff > 0 AND +v.number >= ?3 LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	int64_t found;
	enum store_status status;

	sqlite3_bind_int64(s, 1, task);
	sqlite3_bind_int64(s, 2, space);
	sqlite3_bind_int64(s, 3, before);
	status = sqlite_read_int(c, s, &found);
	*ret = status == STORE_NOT_FOUND;
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

/* Is the envelope the newest of a task that was never handed to anybody? */
static enum store_status is_newest_unsent(struct store_conn *c, int64_t task, int64_t envelope, bool *ret)
{
	static const char sql[] =
		"SELECT 1 WHERE ?2 = (SELECT max(id) FROM envelope INDEXED BY envelope_task WHERE task = ?1) "
		"AND NOT EXISTS (SELECT 1 FROM envelope e INDEXED BY envelope_task "
		"CROSS JOIN handoff h INDEXED BY handoff_envelope WHERE e.task = ?1 AND h.envelope = e.id)";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	int64_t found;
	enum store_status status;

	sqlite3_bind_int64(s, 1, task);
	sqlite3_bind_int64(s, 2, envelope);
	status = sqlite_read_int(c, s, &found);
	*ret = status == STORE_OK;
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static enum store_status is_made_until(struct store_conn *c, int64_t task, int64_t until_ms, bool *ret)
{
	static const char sql[] =
		"SELECT created_at <= ?2 OR EXISTS (SELECT 1 FROM envelope e INDEXED BY envelope_task "
		"CROSS JOIN handoff h INDEXED BY handoff_envelope WHERE e.task = ?1 AND h.envelope = e.id) "
		"FROM envelope WHERE id = (SELECT max(id) FROM envelope INDEXED BY envelope_task WHERE task = ?1)";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	int64_t is_so = 0;
	enum store_status status;

	sqlite3_bind_int64(s, 1, task);
	sqlite3_bind_int64(s, 2, until_ms);
	status = sqlite_read_int(c, s, &is_so);
	*ret = is_so != 0;
	return status;
}

enum store_status sqlite_task_is_quiet(struct store_conn *c, int64_t space, int64_t id, int64_t since,
				       int64_t until_ms, bool *ret)
{
	enum store_status status = sqlite_events_flush(c);

	if (status == STORE_OK)
		status = is_newest(c, space, id, since + 1, ret);
	if (status == STORE_OK && *ret)
		status = is_made_until(c, id, until_ms, ret);
	return status;
}

enum store_status sqlite_tasks_changed(struct store_conn *c, int64_t space, int64_t before, int64_t after, size_t max,
				       struct task_place *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT v.number, v.handoff, e.id, e.task FROM event v "
		"JOIN envelope e ON e.id = (?1 << 40) + v.envelope WHERE v.space = ?1 AND v.number > ?2 "
		"AND v.number < ?3 AND v.envelope > 0 "
		"AND (v.handoff > 0 OR v.kind = 28) ORDER BY v.number DESC";
	enum store_status status = sqlite_events_flush(c);
	sqlite3_stmt *s = sqlite_statement(c, sql);
	size_t count = 0;
	int rc = SQLITE_DONE;

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, after);
	sqlite3_bind_int64(s, 3, before ? before : INT64_MAX);
	while (status == STORE_OK && count < max && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t task = sqlite3_column_int64(s, 3);
		bool is_wanted = true;

		if (is_listed(ret, count, task))
			continue;
		if (sqlite3_column_int64(s, 1) == 0)
			status = is_newest_unsent(c, task, sqlite3_column_int64(s, 2), &is_wanted);
		else if (before)
			status = is_newest(c, space, task, before, &is_wanted);
		if (status == STORE_OK && is_wanted)
			ret[count++] = (struct task_place){task, sqlite3_column_int64(s, 0)};
	}
	sqlite3_reset(s);
	*ret_count = count;
	return status == STORE_OK && rc != SQLITE_ROW ? sqlite_status(c, rc) : status;
}

/* --- By what they wait for, and by their words --- */

static void read_place(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct task_place *)ret = (struct task_place){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
}

/* ?1 and ?2: the bounds of the space; ?3 the states, ?4 the agent, ?5 and ?6 the place to go on behind. Each of the
 * three is read by its index, and only where it is asked for. */
static const char tasks_open_sql[] =
	"SELECT task, at FROM (SELECT e.task AS task, max(h.changed_at) AS at FROM ("
	"SELECT envelope, changed_at FROM handoff INDEXED BY handoff_parked WHERE ?3 & 1 AND state = 6 "
	"AND id > ?1 AND id < ?2 AND (?4 = 0 OR agent = ?4) "
	"UNION ALL SELECT envelope, changed_at FROM handoff INDEXED BY handoff_flight WHERE ?3 & 10 AND state > 0 "
	"AND state < 4 AND ?3 & (CASE WHEN state > 1 THEN 2 ELSE 8 END) AND id > ?1 AND id < ?2 "
	"AND (?4 = 0 OR agent = ?4) "
	"UNION ALL SELECT envelope, changed_at FROM handoff INDEXED BY handoff_queue WHERE ?3 & 12 AND state = 0 "
	"AND ?3 & (CASE WHEN passes = 0 AND agent IN (SELECT agent FROM target WHERE open_until > 0 "
	"AND (failures > 0 OR open_until > 0)) THEN 12 ELSE 8 END) AND id > ?1 AND id < ?2 AND (?4 = 0 OR agent = ?4)"
	") h JOIN envelope e ON e.id = h.envelope GROUP BY e.task) "
	"WHERE at < ?5 OR (at = ?5 AND task < ?6) ORDER BY at DESC, task DESC LIMIT ?7";

_Static_assert(TASK_PARKED == 0 && TASK_WORKING == 1 && TASK_HELD == 2 && TASK_WAITING == 3, "?3 & 1, 2, 4, 8");

enum store_status sqlite_tasks_open(struct store_conn *c, int64_t space, unsigned states, int64_t agent,
				    const struct task_place *behind, size_t max, struct task_place *ret,
				    size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, tasks_open_sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, states);
	sqlite3_bind_int64(s, 4, agent);
	sqlite3_bind_int64(s, 5, behind ? behind->at : INT64_MAX);
	sqlite3_bind_int64(s, 6, behind ? behind->id : INT64_MAX);
	sqlite3_bind_int64(s, 7, (int64_t)max);
	return sqlite_read_list(c, s, read_place, NULL, ret, sizeof(*ret), max, ret_count);
}

/* When it was last changed. */
static enum store_status changed_at(struct store_conn *c, int64_t task, int64_t *ret_ms)
{
	static const char sql[] =
		"SELECT coalesce((SELECT max(h.changed_at) FROM envelope e INDEXED BY envelope_task "
		"CROSS JOIN handoff h INDEXED BY handoff_envelope WHERE e.task = t.id AND h.envelope = e.id), "
		"t.created_at) FROM task t WHERE t.id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, task);
	return sqlite_read_int(c, s, ret_ms);
}

static bool column_holds(sqlite3_stmt *s, int column, struct str part)
{
	/* As text it would be copied, to end it with a NUL. */
	const char *text = sqlite3_column_blob(s, column);

	return text_holds((struct str){text, (size_t)sqlite3_column_bytes(s, column)}, part);
}

/* The rows are gone through here, and not by functions of SQL: that takes less than half the time. */
enum store_status sqlite_tasks_matching(struct store_conn *c, int64_t space, struct str text, size_t look, size_t max,
					struct task_place *ret, size_t *ret_count, bool *ret_more)
{
	static const char sql[] =
		"SELECT id, name, summary, intent FROM task WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status = STORE_OK;
	size_t count = 0, looked = 0;
	int rc = SQLITE_DONE;

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)look + 1);
	*ret_more = false;
	while (status == STORE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		*ret_more = looked++ == look || count == max;
		if (*ret_more)
			break;
		if (!column_holds(s, 1, text) && !column_holds(s, 2, text) && !column_holds(s, 3, text))
			continue;
		ret[count].id = sqlite3_column_int64(s, 0);
		status = changed_at(c, ret[count].id, &ret[count].at);
		count++;
	}
	sqlite3_reset(s);
	*ret_count = count;
	return status == STORE_OK && rc != SQLITE_ROW ? sqlite_status(c, rc) : status;
}
