/* Reads what is open, due or untold in a shard: when its owner first asks for it. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include "base/hash.h"

enum { LIVE_PAGE = 10000 };

uint64_t postgres_live_sender(int64_t space, struct str name)
{
	return hash_bytes(name.p, name.n, (uint64_t)space) | 1;
}

static void put_live(struct postgres_live *l, const struct postgres_row *r)
{
	int64_t key = postgres_column_int(r, 0);
	struct live_row row = {
		.key = key,
		.agent = postgres_column_int(r, 1),
		.state = (enum handoff_state)postgres_column_int(r, 2),
		.priority = (int)postgres_column_int(r, 3),
		.place = (uint64_t)postgres_column_int(r, 4),
		.due_ms = postgres_column_int(r, 5),
		.passes = postgres_column_int(r, 6) != 0,
	};

	if (!postgres_column_is_null(r, 7))
		row.untold = postgres_live_sender((int64_t)((uint64_t)key >> 40), (struct str){
			PQgetvalue(r->result, r->at, 7), (size_t)PQgetlength(r->result, r->at, 7)});
	postgres_live_put(l, &row);
}

/* A part of the conditions, so that each has its index. */
#define LIVE(condition, sender) \
	"SELECT id, agent, state, priority, place, due, passes, " sender " FROM handoff WHERE shard = $1 AND " condition

static const char declare_sql[] =
	"DECLARE live NO SCROLL CURSOR FOR " LIVE("state = 0", "NULL::bytea") " UNION ALL "
	LIVE("state > 0 AND state < 4", "NULL::bytea") " UNION ALL "
	LIVE("due > 0 AND state > 3", "NULL::bytea") " UNION ALL " LIVE("state = 6 AND flags < 2", "sender");
_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_WORKING == 3 && HANDOFF_PARKED == 6, "state = 0, state > 3, state = 6");

static enum store_status run_plain(struct store_conn *c, const char *sql)
{
	struct postgres_query q;

	postgres_query(&q, c, sql);
	q.count = 0;
	return postgres_run(&q);
}

enum store_status postgres_live_read(struct store_conn *c, struct postgres_live *l)
{
	static const char fetch[] = "FETCH 10000 FROM live", end[] = "CLOSE live";
	struct postgres_query q;
	enum store_status status;
	int count = LIVE_PAGE;

	postgres_query(&q, c, declare_sql);
	status = postgres_run(&q);
	while (status == STORE_OK && count == LIVE_PAGE) {
		PGresult *result = NULL;

		postgres_query(&q, c, fetch);
		q.count = 0;
		status = postgres_read_all(&q, &result);
		count = status == STORE_OK ? PQntuples(result) : 0;
		for (int i = 0; i < count; i++)
			put_live(l, &(struct postgres_row){result, i});
		PQclear(result);
	}
	return status == STORE_OK ? run_plain(c, end) : status;
}
