/* What came out of handoffs, on PostgreSQL. */
#include "store/postgres/postgres_internal.h"

/* The numbers are in the rows of all stores, so none of them may ever change its meaning. */
_Static_assert(RESULT_KEPT == 0 && RESULT_TEXT == 1 && RESULT_JSON == 2 && RESULT_LARGE == 3, "stored");

enum store_status postgres_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				      const struct result_row *result)
{
	static const char sql[] =
		"INSERT INTO result (shard, handoff, result, gaps, input_tokens, form, memory) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (shard, handoff) DO UPDATE SET "
		"result = excluded.result, gaps = excluded.gaps, input_tokens = excluded.input_tokens, "
		"form = excluded.form, memory = excluded.memory";
	const struct row_result_place place = {result->form, result->memory};
	struct postgres_query q;

	postgres_cache_add(c, &row_result, postgres_key(space, handoff), STR_NULL, &place);
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, handoff));
	postgres_bind_str(&q, 3, result->result);
	postgres_bind_str(&q, 4, result->gaps);
	postgres_bind_int(&q, 5, result->input_tokens);
	postgres_bind_int(&q, 6, result->form);
	postgres_bind_int(&q, 7, (int64_t)result->memory);
	return postgres_run(&q);
}

enum store_status postgres_result_hand_on(struct store_conn *c, int64_t space, uint64_t handoff, uint64_t then,
					  const uint8_t digest[32])
{
	static const char sql[] =
		"INSERT INTO result (shard, handoff, input_tokens, then_handoff, then_digest) VALUES ($1, $2, -1, $3, "
		"$4) "
		"ON CONFLICT (shard, handoff) DO UPDATE SET then_handoff = excluded.then_handoff, "
		"then_digest = excluded.then_digest";
	struct postgres_query q;

	/* It may be made by this. */
	postgres_cache_change(c, &row_result, postgres_key(space, handoff), STR_NULL);
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, handoff));
	postgres_bind_int(&q, 3, (int64_t)then);
	postgres_bind_digest(&q, 4, digest);
	return postgres_run(&q);
}

static void read_result(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct result_row *row = ret;

	*row = (struct result_row){
		.result = postgres_column_str(r, 0, arena),
		.gaps = postgres_column_str(r, 1, arena),
		.input_tokens = postgres_column_int(r, 2),
		.form = (enum result_form)postgres_column_int(r, 3),
		.memory = (uint64_t)postgres_column_int(r, 4),
		.then = (uint64_t)postgres_column_int(r, 5),
	};
	if (row->then)
		postgres_column_digest(r, 6, row->then_digest);
}

enum store_status postgres_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				      struct result_row *ret)
{
	static const char sql[] =
		"SELECT result, gaps, input_tokens, form, memory, then_handoff, then_digest FROM result "
		"WHERE shard = $1 AND handoff = $2";
	struct postgres_query q;

	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, handoff));
	return postgres_read_one(&q, read_result, arena, ret);
}

static void read_place(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct result_row *)ret = (struct result_row){.form = (enum result_form)postgres_column_int(r, 0),
							.memory = (uint64_t)postgres_column_int(r, 1)};
}

enum store_status postgres_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret)
{
	static const char sql[] = "SELECT form, memory FROM result WHERE shard = $1 AND handoff = $2";
	int64_t key = postgres_key(space, handoff);
	uint64_t seen = postgres_cache_seen(c);
	struct row_result_place place;
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_result, key, STR_NULL, NULL, &place)) {
		*ret = (struct result_row){.form = (enum result_form)place.form, .memory = place.memory};
		return STORE_OK;
	}
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, key);
	status = postgres_read_one(&q, read_place, NULL, ret);
	if (status == STORE_OK) {
		place = (struct row_result_place){ret->form, ret->memory};
		postgres_cache_put(c, &row_result, seen, key, STR_NULL, &place);
	}
	return status;
}
