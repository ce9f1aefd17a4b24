/* What retention takes away, and what stays of it, on PostgreSQL. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

static void with_key(struct postgres_query *q, struct store_conn *c, const char *sql, int64_t space, uint64_t num)
{
	postgres_query(q, c, sql);
	postgres_bind_int(q, 2, postgres_key(space, num));
}

/* --- Envelopes and handoffs --- */

enum store_status postgres_envelope_ended(struct store_conn *c, int64_t space, uint64_t num, unsigned states,
					  int64_t before_ms, bool *ret)
{
	static const char sql[] =
		"SELECT coalesce(bool_and((($3 >> state::int) & 1) = 1 AND changed_at < $4), false) "
		"FROM handoff WHERE shard = $1 AND envelope = $2";
	struct postgres_query q;
	enum store_status status;
	int64_t ended = 0;

	with_key(&q, c, sql, space, num);
	postgres_bind_int(&q, 3, states);
	postgres_bind_int(&q, 4, before_ms);
	status = postgres_read_int(&q, &ended);
	if (status == STORE_OK)
		*ret = ended != 0;
	return status;
}

/* The key of the task is that of the envelope which began it: nobody else may have it. */
static const char prune_sql[] =
	"WITH gone AS (DELETE FROM envelope WHERE shard = $1 AND id = $2 "
	"  RETURNING id, task, parent, created_at, digest, length(body) AS bytes), "
	"left_envelope AS (INSERT INTO pruned_envelope (shard, id, parent, created_at, digest) "
	"  SELECT $1, id, parent, created_at, digest FROM gone), "
	"handoffs AS (DELETE FROM handoff WHERE shard = $1 AND envelope = (SELECT id FROM gone) "
	"  RETURNING id, created_at, changed_at, state), "
	"left_handoffs AS (INSERT INTO pruned_handoff (shard, id, envelope, created_at, lasted, state) "
	"  SELECT $1, id, $2 & 1099511627775, created_at, changed_at - created_at, state FROM handoffs), "
	"results AS (DELETE FROM result r USING handoffs h WHERE r.shard = $1 AND r.handoff = h.id), "
	"receipts AS (DELETE FROM receipt WHERE shard = $1 AND envelope = (SELECT id FROM gone)), "
	"citations AS (DELETE FROM citation WHERE shard = $1 AND envelope = (SELECT id FROM gone)), "
	"task_gone AS (DELETE FROM task t WHERE t.shard = $1 AND t.id = (SELECT task FROM gone) "
	"  AND NOT EXISTS (SELECT 1 FROM envelope e WHERE e.shard = $1 AND e.task = t.id AND e.id <> $2) "
	"  RETURNING t.name), "
	"counted AS (UPDATE space SET handoffs_pruned = handoffs_pruned + (SELECT count(*) FROM handoffs), "
	"  bytes = bytes - (SELECT bytes FROM gone) WHERE shard = $1 AND id = $3 AND EXISTS (SELECT 1 FROM gone)) "
	"SELECT h.id, (SELECT name FROM task_gone) FROM gone LEFT JOIN handoffs h ON true";

_Static_assert(MEMORY_NUM_MAX == 1099511627775, "& 1099511627775");

/* What went is not kept any more either. A row for each handoff, or one without where there was none. */
static void forget_gone(struct store_conn *c, int64_t space, uint64_t num, const PGresult *result,
			int64_t *ret_handoffs)
{
	const struct postgres_row first = {result, 0};

	*ret_handoffs = 0;
	for (int i = 0; i < PQntuples(result); i++) {
		const struct postgres_row r = {result, i};

		if (postgres_column_is_null(&r, 0))
			continue;
		postgres_handoff_gone(c, postgres_column_int(&r, 0));
		++*ret_handoffs;
	}
	if (!postgres_column_is_null(&first, 1))
		postgres_cache_change(c, &row_task, space, (struct str){PQgetvalue(result, 0, 1),
									(size_t)PQgetlength(result, 0, 1)});
	postgres_cache_change(c, &row_envelope, postgres_key(space, num), STR_NULL);
	postgres_cache_change(c, &row_handed, postgres_key(space, num), STR_NULL);
	postgres_kept_space_changed(c, space);
}

enum store_status postgres_envelope_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t *ret_handoffs)
{
	struct postgres_query q;
	PGresult *result = NULL;
	enum store_status status;

	with_key(&q, c, prune_sql, space, num);
	postgres_bind_int(&q, 3, space);
	status = postgres_read_all(&q, &result);
	if (status == STORE_OK && PQntuples(result) == 0)
		status = STORE_NOT_FOUND;
	if (status == STORE_OK)
		forget_gone(c, space, num, result, ret_handoffs);
	PQclear(result);
	return status;
}

static void read_pruned_envelope(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct pruned_envelope *row = ret;

	(void)arena;
	*row = (struct pruned_envelope){
		.num = (uint64_t)postgres_column_int(r, 0) & MEMORY_NUM_MAX,
		.parent = (uint64_t)postgres_column_int(r, 1),
		.created_at_ms = postgres_column_int(r, 2),
	};
	postgres_column_digest(r, 3, row->digest);
}

enum store_status postgres_pruned_envelope(struct store_conn *c, int64_t space, uint64_t num,
					   struct pruned_envelope *ret)
{
	static const char sql[] =
		"SELECT id, parent, created_at, digest FROM pruned_envelope WHERE shard = $1 AND id = $2";
	struct row_handed of;
	struct postgres_query q;

	/* Who sends an envelope asks whether it is kept: mostly it was made just now. */
	if (postgres_cache_get(c, &row_handed, postgres_key(space, num), STR_NULL, NULL, &of) && of.is_there)
		return STORE_NOT_FOUND;
	with_key(&q, c, sql, space, num);
	return postgres_read_one(&q, read_pruned_envelope, NULL, ret);
}

static void read_pruned_handoff(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct pruned_handoff *)ret = (struct pruned_handoff){
		.num = (uint64_t)postgres_column_int(r, 0) & MEMORY_NUM_MAX,
		.envelope = (uint64_t)postgres_column_int(r, 1),
		.state = (enum handoff_state)postgres_column_int(r, 2),
		.created_at_ms = postgres_column_int(r, 3),
		.changed_at_ms = postgres_column_int(r, 3) + postgres_column_int(r, 4),
	};
}

enum store_status postgres_pruned_handoff(struct store_conn *c, int64_t space, uint64_t num, struct pruned_handoff *ret)
{
	static const char sql[] =
		"SELECT id, envelope, state, created_at, lasted FROM pruned_handoff WHERE shard = $1 AND id = $2";
	struct postgres_query q;

	with_key(&q, c, sql, space, num);
	return postgres_read_one(&q, read_pruned_handoff, NULL, ret);
}

/* --- What was left elsewhere --- */

enum store_status postgres_pruned_envelope_put(struct store_conn *c, int64_t space, const struct pruned_envelope *left)
{
	static const char sql[] =
		"INSERT INTO pruned_envelope (shard, id, parent, created_at, digest) SELECT $1, $2, $3, $4, $5::bytea "
		"WHERE NOT EXISTS (SELECT 1 FROM envelope WHERE shard = $1 AND id = $2) ON CONFLICT DO NOTHING";
	struct postgres_query q;
	enum store_status status;

	with_key(&q, c, sql, space, left->num);
	postgres_bind_int(&q, 3, (int64_t)left->parent);
	postgres_bind_int(&q, 4, left->created_at_ms);
	postgres_bind_digest(&q, 5, left->digest);
	status = postgres_run_change(&q);
	postgres_kept_space_changed(c, space);
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

enum store_status postgres_pruned_handoff_put(struct store_conn *c, int64_t space, const struct pruned_handoff *left)
{
	static const char sql[] =
		"WITH put AS (INSERT INTO pruned_handoff (shard, id, envelope, created_at, lasted, state) "
		"SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS (SELECT 1 FROM handoff WHERE shard = $1 AND id = $2) "
		"ON CONFLICT DO NOTHING RETURNING id), "
		"counted AS (UPDATE space SET handoffs_pruned = handoffs_pruned + 1 WHERE shard = $1 AND id = $7 "
		"AND EXISTS (SELECT 1 FROM put)) SELECT id FROM put";
	struct postgres_query q;
	enum store_status status;
	int64_t id;

	with_key(&q, c, sql, space, left->num);
	postgres_bind_int(&q, 3, (int64_t)left->envelope);
	postgres_bind_int(&q, 4, left->created_at_ms);
	postgres_bind_int(&q, 5, left->changed_at_ms - left->created_at_ms);
	postgres_bind_int(&q, 6, left->state);
	postgres_bind_int(&q, 7, space);
	status = postgres_read_int(&q, &id);
	postgres_kept_space_changed(c, space);
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

/* --- Results --- */

static void read_key_num(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(uint64_t *)ret = (uint64_t)postgres_column_int(r, 0) & MEMORY_NUM_MAX;
}

enum store_status postgres_citations(struct store_conn *c, int64_t space, uint64_t envelope, size_t max, uint64_t *ret,
				     size_t *ret_count)
{
	static const char sql[] =
		"SELECT memory FROM citation WHERE shard = $1 AND envelope = $2 ORDER BY memory LIMIT $3";
	struct postgres_query q;

	with_key(&q, c, sql, space, envelope);
	postgres_bind_int(&q, 3, (int64_t)max);
	return postgres_read_list(&q, read_key_num, NULL, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_cited_by(struct store_conn *c, int64_t space, uint64_t memory, uint64_t but,
				    uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT envelope FROM citation WHERE shard = $1 AND memory = $2 AND envelope <> $3 ORDER BY envelope "
		"LIMIT 1";
	struct postgres_query q;

	with_key(&q, c, sql, space, memory);
	postgres_bind_int(&q, 3, postgres_key(space, but));
	return postgres_read_num(&q, ret_num);
}

enum store_status postgres_result_leave(struct store_conn *c, int64_t space, uint64_t memory)
{
	static const char sql[] = "INSERT INTO left_result (shard, memory) VALUES ($1, $2) ON CONFLICT DO NOTHING";
	struct postgres_query q;

	with_key(&q, c, sql, space, memory);
	return postgres_run(&q);
}

enum store_status postgres_result_left(struct store_conn *c, int64_t space, uint64_t memory)
{
	static const char sql[] = "SELECT memory FROM left_result WHERE shard = $1 AND memory = $2";
	struct postgres_query q;
	int64_t key;

	with_key(&q, c, sql, space, memory);
	return postgres_read_int(&q, &key);
}

/* --- Events --- */

enum store_status postgres_events_prune(struct store_conn *c, int64_t space, const int64_t *numbers, size_t count)
{
	static const char sql[] =
		"WITH kept AS (" POSTGRES_KEEP_ID("event") "), "
		"raised AS (UPDATE space SET events_pruned = greatest(events_pruned, $3) WHERE shard = $1 AND id = $2 "
		"RETURNING id) "
		"DELETE FROM event WHERE shard = $1 AND space = (SELECT id FROM raised) "
		"AND number = ANY ($4::bigint[])";
	struct postgres_query q;
	enum store_status status;
	struct arena arena;
	int64_t gone = 0;

	if (count == 0)
		return STORE_OK;
	arena_init(&arena);
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, numbers[count - 1]);
	postgres_bind_str(&q, 4, postgres_ints(&arena, numbers, count));
	status = postgres_run_count(&q, &gone);
	postgres_kept_space_changed(c, space);
	arena_release(&arena);
	return status == STORE_OK && gone < (int64_t)count ? STORE_NOT_FOUND : status;
}
