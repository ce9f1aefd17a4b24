/* A space that goes: first its name, in one step, then its rows, a few at a time.
 *
 * The row of the space stays until nothing else of it is left. So a server that was killed in the midst of it finds
 * where to go on.
 */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

/* Of rows that hold a text of any length fewer are taken at a time. */
enum { TEXTS_PART = 8 };

/* The names of spaces never begin like this. */
enum store_status postgres_space_remove(struct store_conn *c, int64_t space, int64_t now_ms)
{
	static const char sql[] =
		"UPDATE space SET name = convert_to('#' || id, 'UTF8'), removed_at = $3, events_pruned = 0 "
		"WHERE shard = $1 AND id = $2 AND removed_at = 0";

	enum store_status status = postgres_run_on(c, sql, space, now_ms);

	postgres_kept_space_changed(c, space);
	return status;
}

enum store_status postgres_space_removed(struct store_conn *c, int64_t *ret_id)
{
	static const char sql[] = "SELECT id FROM space WHERE shard = $1 AND removed_at > 0 ORDER BY id LIMIT 1";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	return postgres_read_int(&q, ret_id);
}

/* --- The rows --- */

/* What belongs to a space. $2 is its id, $3 and $4 are the keys below and above its rows, $5 is how many go. A row is
 * taken away where it lies: not every table has an id. Handoffs go first: nothing is to happen to them any more. Those
 * that others need to be found go behind them. */
#define PART(table, rows, what) \
	"DELETE FROM " table " WHERE ctid = ANY (ARRAY(SELECT " rows " LIMIT $5)) RETURNING " what
#define OF_KEYS(table, key) \
	PART(table, "ctid FROM " table " WHERE shard = $1 AND " key " > $3 AND " key " < $4", key)
#define OF_SPACE(table, what) PART(table, "ctid FROM " table " WHERE shard = $1 AND space = $2", what)

/* Of what goes: its key or its name, by which it may be kept. */
static const struct part {
	const char *sql;
	bool has_texts;
	const struct row_shape *by_key, *by_name;
} parts[] = {
	{OF_KEYS("result", "handoff"), true, &row_result, NULL},
	{OF_KEYS("handoff", "id"), false, &row_handoff, NULL},
	{OF_KEYS("receipt", "envelope"), false, NULL, NULL},
	{OF_KEYS("citation", "envelope"), false, NULL, NULL},
	{OF_KEYS("envelope", "id"), true, &row_envelope, NULL},
	{OF_KEYS("waiver", "task"), true, NULL, NULL},
	{PART("task", "ctid FROM task WHERE shard = $1 AND id > $3 AND id < $4", "id, name"), false, NULL, &row_task},
	{OF_KEYS("pruned_envelope", "id"), false, NULL, NULL},
	{OF_KEYS("pruned_handoff", "id"), false, NULL, NULL},
	{OF_KEYS("left_result", "memory"), false, NULL, NULL},
	{OF_SPACE("reply_memory", "memory"), false, NULL, NULL},
	{OF_SPACE("reply", "place"), true, NULL, NULL},
	{OF_KEYS("memory_version", "memory"), true, &row_memory, NULL},
	{OF_KEYS("memory", "id"), false, &row_memory, NULL},
	{PART("subscriber", "s.ctid FROM channel c JOIN subscriber s ON s.shard = $1 AND s.channel = c.id "
	 "WHERE c.shard = $1 AND c.space = $2", "channel"), false, NULL, NULL},
	{OF_SPACE("channel", "id"), false, &row_channel_name, NULL},
	{OF_SPACE("route", "created_at"), true, NULL, NULL},
	{PART("target", "t.ctid FROM agent a JOIN target t ON t.shard = $1 AND t.agent = a.id "
	 "WHERE a.shard = $1 AND a.space = $2", "agent"), false, &row_target, NULL},
	{OF_SPACE("agent", "id, name"), true, &row_agent_name, &row_agent},
	{OF_SPACE("alert", "id"), true, NULL, NULL},
};

static void forget_row(struct store_conn *c, const struct part *part, int64_t space, const struct postgres_row *r)
{
	int64_t key = postgres_column_int(r, 0);
	struct str name;

	if (part->by_key == &row_handoff)
		postgres_handoff_gone(c, key);
	if (part->by_key == &row_envelope)
		postgres_cache_change(c, &row_handed, key, STR_NULL);
	if (part->by_key)
		postgres_cache_change(c, part->by_key, key, STR_NULL);
	if (part->by_name == NULL)
		return;
	name = (struct str){PQgetvalue(r->result, r->at, 1), (size_t)PQgetlength(r->result, r->at, 1)};
	postgres_cache_change(c, part->by_name, space, name);
	if (part->by_name == &row_agent)
		postgres_cache_change(c, &row_agent_id, space, name);
}

static enum store_status purge_part(struct store_conn *c, const struct part *part, int64_t space, size_t max,
				    int64_t *ret_count)
{
	struct postgres_query q;
	PGresult *result = NULL;
	enum store_status status;

	postgres_query(&q, c, part->sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, postgres_key(space, 0));
	postgres_bind_int(&q, 4, postgres_key(space + 1, 0));
	postgres_bind_int(&q, 5, (int64_t)(part->has_texts && max > TEXTS_PART ? max / TEXTS_PART : max));
	status = postgres_read_all(&q, &result);
	if (status == STORE_OK)
		*ret_count = PQntuples(result);
	for (int i = 0; status == STORE_OK && i < PQntuples(result); i++)
		forget_row(c, part, space, &(struct postgres_row){result, i});
	PQclear(result);
	return status;
}

/* Ids of rows that go are not given again. */
static enum store_status keep_ids(struct store_conn *c)
{
	static const char *const all[] = {
		POSTGRES_KEEP_ID("space"), POSTGRES_KEEP_ID("agent"), POSTGRES_KEEP_ID("channel"),
		POSTGRES_KEEP_ID("alert"), POSTGRES_KEEP_ID("waiver"), POSTGRES_KEEP_ID("event"),
	};
	enum store_status status = STORE_OK;
	struct postgres_query q;

	for (size_t i = 0; status == STORE_OK && i < sizeof(all) / sizeof(all[0]); i++) {
		postgres_query(&q, c, all[i]);
		status = postgres_run(&q);
	}
	return status;
}

/* --- Its events --- */

static enum store_status purge_events(struct store_conn *c, int64_t space, size_t max, int64_t *ret_count)
{
	static const char sql[] =
		"WITH gone AS (DELETE FROM event WHERE shard = $1 AND space = $2 AND number = ANY (ARRAY("
		"SELECT e.number FROM event e WHERE e.shard = $1 AND e.space = $2 ORDER BY e.number LIMIT $3)) "
		"RETURNING id) SELECT count(*) FROM gone";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, (int64_t)max);
	return postgres_read_int(&q, ret_count);
}

enum store_status postgres_space_purge(struct store_conn *c, int64_t space, size_t max, size_t *ret_count)
{
	static const char last[] = "DELETE FROM space WHERE shard = $1 AND id = $2 AND removed_at > 0";
	enum store_status status = keep_ids(c);
	int64_t count = 0;

	for (size_t i = 0; status == STORE_OK && count == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		status = purge_part(c, &parts[i], space, max, &count);
	if (status == STORE_OK && count == 0)
		status = purge_events(c, space, max, &count);
	if (status == STORE_OK && count == 0)
		status = postgres_run_on(c, last, space, 0);
	postgres_kept_space_changed(c, space);
	postgres_kept_target_due_changed(c);
	if (status == STORE_OK)
		*ret_count = (size_t)count;
	return status;
}

/* PostgreSQL uses again what is free, by itself. */
enum store_status postgres_give_back(struct store_conn *c, int64_t *ret_bytes)
{
	(void)c;
	*ret_bytes = 0;
	return STORE_OK;
}
