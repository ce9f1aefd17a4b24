/* Envelopes, tasks and receipts on PostgreSQL. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#define ENVELOPE_COLUMNS \
	"SELECT e.id, t.name, e.parent, e.hop, e.created_at, e.digest, e.body, e.texts, e.body_digest "
#define OF_TASK \
	"FROM task t JOIN envelope e ON e.shard = $1 AND e.task = t.id " \
	"WHERE t.shard = $1 AND t.space = $2 AND t.name = $3 "

/* --- Writing --- */

/* All of it in one statement, whose parts see what was there before it. "free" has a row where the envelope may come:
 * its number is not taken, and its task may be begun or is there. A task has the key of the envelope that began it,
 * which may be gone while the task goes on: then that key is taken. What the task is known by is what its newest
 * envelope says. */
static const char insert_sql[] =
	"WITH known AS (SELECT id FROM task WHERE shard = $1 AND space = $3 AND name = $4), "
	"free AS (SELECT coalesce((SELECT id FROM known), $2) AS task "
	"  WHERE NOT EXISTS (SELECT 1 FROM envelope WHERE shard = $1 AND id = $2) "
	"  AND CASE WHEN EXISTS (SELECT 1 FROM known) THEN $5 = 0 "
	"  ELSE NOT EXISTS (SELECT 1 FROM task WHERE shard = $1 AND id = $2) END), "
	"made AS (INSERT INTO task (shard, id, space, name, created_at, hops, tokens, intent, summary) "
	"  SELECT $1, $2, $3, $4::bytea, $8, $7, $13, $14::bytea, $15::bytea FROM free "
	"  WHERE NOT EXISTS (SELECT 1 FROM known)), "
	"renewed AS (UPDATE task SET hops = greatest(hops, $7), tokens = tokens + $13, intent = $14::bytea, "
	"  summary = $15::bytea WHERE shard = $1 AND id = (SELECT k.id FROM known k, free)), "
	"cited AS (INSERT INTO citation (shard, envelope, memory) SELECT $1, $2, m FROM free, "
	"  unnest($16::bigint[]) m ON CONFLICT DO NOTHING), "
	"counted AS (UPDATE space SET bytes = bytes + length($10::bytea) WHERE shard = $1 AND id = $3 "
	"  AND EXISTS (SELECT 1 FROM free)) "
	"INSERT INTO envelope (shard, id, task, parent, hop, created_at, digest, body, texts, body_digest, considered) "
	"SELECT $1, $2, task, $6, $7, $8, $9::bytea, $10::bytea, $11, $12::bytea, $17::bytea FROM free RETURNING task";

static struct str keys_of_results(const struct envelope_row *row, struct arena *arena)
{
	int64_t *keys = arena_alloc(arena, row->result_count * sizeof(*keys) + 1);

	for (size_t i = 0; i < row->result_count; i++)
		keys[i] = postgres_key(row->space, row->results[i]);
	return postgres_ints(arena, keys, row->result_count);
}

/* Nothing is known of its number, or of its task: the database says whether it may come. */
static enum store_status insert_now(struct store_conn *c, const struct envelope_row *row)
{
	struct postgres_query q;
	enum store_status status;
	struct arena arena;
	int64_t task;

	arena_init(&arena);
	postgres_query(&q, c, insert_sql);
	postgres_bind_int(&q, 2, postgres_key(row->space, row->num));
	postgres_bind_int(&q, 3, row->space);
	postgres_bind_str(&q, 4, row->task);
	postgres_bind_int(&q, 5, row->begins_task);
	postgres_bind_int(&q, 6, (int64_t)row->parent);
	postgres_bind_int(&q, 7, row->hop);
	postgres_bind_int(&q, 8, row->created_at_ms);
	postgres_bind_digest(&q, 9, row->digest);
	postgres_bind_str(&q, 10, row->body);
	postgres_bind_int(&q, 11, row->texts);
	postgres_bind_str(&q, 12, row->has_body_digest ? (struct str){(const char *)row->body_digest, 32} : STR_NULL);
	postgres_bind_int(&q, 13, row->tokens);
	postgres_bind_str(&q, 14, row->intent);
	postgres_bind_str(&q, 15, row->summary);
	postgres_bind_str(&q, 16, keys_of_results(row, &arena));
	postgres_bind_str(&q, 17, row->considered);
	status = postgres_read_int(&q, &task);
	arena_release(&arena);
	if (status == STORE_OK) {
		postgres_kept_space_changed(c, row->space);
		postgres_cache_add(c, &row_task, row->space, row->task, &task);
	}
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

/* What is written of it and not read again is not kept. One whose number was free is handed to nobody yet. */
static void keep_envelope(struct store_conn *c, const struct envelope_row *row, bool is_free)
{
	struct envelope_row kept = *row;
	int64_t key = postgres_key(row->space, row->num);

	kept.begins_task = false;
	kept.considered = kept.intent = kept.summary = STR_NULL;
	kept.results = NULL;
	kept.result_count = 0;
	kept.tokens = 0;
	postgres_cache_add(c, &row_envelope, key, STR_NULL, &kept);
	if (is_free)
		postgres_cache_add(c, &row_handed, key, STR_NULL, &(struct row_handed){.is_there = true});
	else
		postgres_cache_change(c, &row_handed, key, STR_NULL);
}

/* Goes out with all others of the transaction. The task of a name that nobody knows is begun: see postgres_kept.h. */
static enum store_status insert_known(struct store_conn *c, const struct envelope_row *row, bool is_new, int64_t task)
{
	enum store_status status = postgres_kept_space_grows(c, row->space, (int64_t)row->body.n, 0);

	if (status == STORE_NOT_FOUND)
		return insert_now(c, row);
	if (status == STORE_OK)
		status = postgres_kept_envelope(c, row, task, is_new);
	if (status == STORE_OK)
		postgres_cache_add(c, &row_task, row->space, row->task, &task);
	return status;
}

enum store_status postgres_envelope_insert(struct store_conn *c, const struct envelope_row *row)
{
	int64_t task = postgres_key(row->space, row->num);
	bool is_free = false, is_known;
	enum store_status status;

	if (row->task.p == NULL || row->body.p == NULL)
		return STORE_REFUSED;
	if (row->num > MEMORY_NUM_MAX)
		return STORE_EXISTS;
	status = postgres_kept_may_write(c);
	if (status == STORE_OK)
		status = postgres_kept_envelope_is_free(c, row->space, row->num, &is_free);
	if (status != STORE_OK)
		return status;
	is_known = postgres_cache_get(c, &row_task, row->space, row->task, NULL, &task);
	if (is_free && is_known && row->begins_task)
		return STORE_EXISTS;
	if (is_free && (is_known || (row->begins_task && !postgres_kept_is_careful(c))))
		status = insert_known(c, row, !is_known, task);
	else
		status = insert_now(c, row);
	if (status == STORE_OK) {
		postgres_kept_envelope_given(c, row->space, row->num);
		keep_envelope(c, row, is_free);
	}
	return status;
}

/* --- Reading --- */

/* Reads a row of ENVELOPE_COLUMNS. */
static void read_envelope(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct envelope_row *row = ret;
	uint64_t key = (uint64_t)postgres_column_int(r, 0);

	*row = (struct envelope_row){
		.space = (int64_t)(key >> 40),
		.num = key & MEMORY_NUM_MAX,
		.task = postgres_column_str(r, 1, arena),
		.parent = (uint64_t)postgres_column_int(r, 2),
		.hop = postgres_column_int(r, 3),
		.created_at_ms = postgres_column_int(r, 4),
		.body = postgres_column_str(r, 6, arena),
		.texts = postgres_column_int(r, 7),
		.has_body_digest = !postgres_column_is_null(r, 8),
	};
	postgres_column_digest(r, 5, row->digest);
	postgres_column_digest(r, 8, row->body_digest);
}

enum store_status postgres_envelope_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
					struct envelope_row *ret)
{
	static const char sql[] =
		ENVELOPE_COLUMNS
		"FROM envelope e JOIN task t ON t.shard = $1 AND t.id = e.task WHERE e.shard = $1 AND e.id = $2";
	int64_t key = postgres_key(space, num);
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_envelope, key, STR_NULL, arena, ret))
		return STORE_OK;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, key);
	status = postgres_read_one(&q, read_envelope, arena, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_envelope, seen, key, STR_NULL, ret);
	return status;
}

enum store_status postgres_envelope_considered(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
					       struct str *ret)
{
	static const char sql[] = "SELECT considered FROM envelope WHERE shard = $1 AND id = $2";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, num));
	return postgres_read_one(&q, postgres_read_str, arena, ret);
}

enum store_status postgres_envelope_last(struct store_conn *c, int64_t space, uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT greatest((SELECT max(id) FROM envelope WHERE shard = $1 AND id > $2 AND id <= $3), "
		"(SELECT max(id) FROM pruned_envelope WHERE shard = $1 AND id > $2 AND id <= $3))";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, 0));
	postgres_bind_int(&q, 3, postgres_key(space, MEMORY_NUM_MAX));
	return postgres_read_num(&q, ret_num);
}

/* Of a statement with OF_TASK; then come numbers above after, at most max. */
static void of_task(struct postgres_query *q, struct store_conn *c, const char *sql, int64_t space, struct str task,
		    uint64_t after, size_t max)
{
	postgres_query(q, c, sql);
	postgres_bind_int(q, 2, space);
	postgres_bind_str(q, 3, task);
	postgres_bind_int(q, 4, postgres_key(space, after));
	postgres_bind_int(q, 5, (int64_t)max);
}

enum store_status postgres_envelope_next(struct store_conn *c, int64_t space, uint64_t after, uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT coalesce(min(id), 0) FROM (SELECT min(id) AS id FROM envelope WHERE shard = $1 AND id > $2 AND "
		"id < $3 UNION ALL SELECT min(id) FROM pruned_envelope WHERE shard = $1 AND id > $2 AND id < $3) "
		"both_of";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, after));
	postgres_bind_int(&q, 3, postgres_key(space + 1, 0));
	return postgres_read_num(&q, ret_num);
}

enum store_status postgres_task_envelopes(struct store_conn *c, int64_t space, struct str task, uint64_t after,
					  size_t max, struct arena *arena, struct envelope_row *ret, size_t *ret_count)
{
	static const char sql[] = ENVELOPE_COLUMNS OF_TASK "AND e.id > $4 ORDER BY e.id LIMIT $5";
	struct postgres_query q;

	of_task(&q, c, sql, space, task, after, max);
	return postgres_read_list(&q, read_envelope, arena, ret, sizeof(*ret), max, ret_count);
}

static void read_link(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct envelope_link *)ret = (struct envelope_link){(uint64_t)postgres_column_int(r, 0) & MEMORY_NUM_MAX,
							      (uint64_t)postgres_column_int(r, 1)};
}

enum store_status postgres_task_links(struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max,
				      struct envelope_link *ret, size_t *ret_count)
{
	static const char sql[] = "SELECT e.id, e.parent " OF_TASK "AND e.id > $4 ORDER BY e.id LIMIT $5";
	struct postgres_query q;

	of_task(&q, c, sql, space, task, after, max);
	return postgres_read_list(&q, read_link, NULL, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_task_find(struct store_conn *c, int64_t space, struct str task)
{
	static const char sql[] = "SELECT id FROM task WHERE shard = $1 AND space = $2 AND name = $3";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;
	int64_t id;

	if (postgres_cache_get(c, &row_task, space, task, NULL, &id))
		return STORE_OK;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, task);
	status = postgres_read_int(&q, &id);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_task, seen, space, task, &id);
	return status;
}

enum store_status postgres_task_last(struct store_conn *c, int64_t space, struct str task, struct arena *arena,
				     struct envelope_row *ret)
{
	static const char sql[] = ENVELOPE_COLUMNS OF_TASK "AND e.id > $4 ORDER BY e.id DESC LIMIT $5";
	struct postgres_query q;

	of_task(&q, c, sql, space, task, 0, 1);
	return postgres_read_one(&q, read_envelope, arena, ret);
}

/* --- Receipts --- */

enum store_status postgres_receipt_put(struct store_conn *c, int64_t space, uint64_t envelope,
				       const struct receipt_row *receipt)
{
	static const char sql[] =
		"INSERT INTO receipt (shard, envelope, memory, agent, at) VALUES ($1, $2, $3, $4, $5) "
		"ON CONFLICT DO NOTHING";
	struct postgres_query q;

	if (receipt->agent.p == NULL)
		return STORE_REFUSED;
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, envelope));
	postgres_bind_int(&q, 3, (int64_t)receipt->memory);
	postgres_bind_str(&q, 4, receipt->agent);
	postgres_bind_int(&q, 5, receipt->at_ms);
	return postgres_run(&q);
}

static void read_receipt(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct receipt_row *)ret = (struct receipt_row){(uint64_t)postgres_column_int(r, 0),
							  postgres_column_str(r, 1, arena), postgres_column_int(r, 2)};
}

enum store_status postgres_receipts(struct store_conn *c, int64_t space, uint64_t envelope, size_t max,
				    struct arena *arena, struct receipt_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT memory, agent, at FROM receipt WHERE shard = $1 AND envelope = $2 "
		"ORDER BY at, memory, agent LIMIT $3";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, envelope));
	postgres_bind_int(&q, 3, (int64_t)max);
	return postgres_read_list(&q, read_receipt, arena, ret, sizeof(*ret), max, ret_count);
}
