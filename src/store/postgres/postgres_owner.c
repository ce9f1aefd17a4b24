/* Who writes a shard: the row of the shard has an epoch, and whoever takes the shard raises it. */
#include "store/postgres/postgres_internal.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Advisory locks are one table for all programs of a database: this is ours. "MSPN" */
#define LOCK_CLASS "1297305678"

/* How long a taking may take; locks are waited for less long. */
enum { TAKE_MAX_MS = 10000 };

/* Afterwards the session says whether a standby was waited for: what is concluded from a commit that none has, a
 * failover takes back. */
static PGresult *ask(struct postgres_conn *c, const char *sql, int count)
{
	char shard[24], first[24];
	const char *const values[] = {shard, c->node, first};

	snprintf(shard, sizeof(shard), "%lld", (long long)c->shard);
	snprintf(first, sizeof(first), "%lld", (long long)c->first_epoch);
	c->session->has_warned = false;
	return postgres_ask(c->session->db, sql, count, values, TAKE_MAX_MS);
}

static bool has_epoch(struct postgres_conn *c, PGresult *result, struct buf *error)
{
	const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	bool is_taken = PQntuples(result) == 1, is_ours = is_taken && !c->session->has_warned;

	if (is_ours) {
		c->epoch = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
		c->first_epoch = c->first_epoch ? c->first_epoch : c->epoch;
	} else {
		buf_printf(error, "shard %lld cannot be taken: %s", (long long)c->shard,
			   is_taken ? "no standby has it, because the wait for one was ended" :
			   words ? words : result ? "another server writes to this database" : "no answer");
	}
	PQclear(result);
	return is_ours;
}

/* --- Without a node: by a lock that goes with the session --- */

/* A session that was closed or killed a moment ago has it until the database notices: it is waited for. */
static bool has_lock(struct postgres_conn *c)
{
	PGresult *result = ask(c, "SELECT pg_advisory_lock(" LOCK_CLASS ", $1::int)", 1);
	bool has = postgres_is_good(result);

	PQclear(result);
	return has;
}

/* Of tests there are more shards than a database has. */
static const char rows_sql[] =
	"WITH new AS (INSERT INTO shard VALUES ($1::bigint, 0, NULL, 0) ON CONFLICT DO NOTHING) "
	"INSERT INTO sequence SELECT $1::bigint, name, 0 FROM sequence s WHERE s.shard = 0 ON CONFLICT DO NOTHING";

/* Not while a node lives, whichever shards it has. */
static const char alone_sql[] =
	"SELECT raise_epoch($1, NULL, 0) FROM shard WHERE shard = $1 "
	"AND NOT EXISTS (SELECT FROM node WHERE lease_until > now_ms())";

static bool take_alone(struct postgres_conn *c, struct buf *error)
{
	if (!has_lock(c)) {
		buf_printf(error, "another server writes to shard %lld of this database", (long long)c->shard);
		return false;
	}
	PQclear(ask(c, rows_sql, 1));
	return has_epoch(c, ask(c, alone_sql, 1), error);
}

/* --- As a node: by its lease --- */

static bool is_code(const PGresult *result, const char *code)
{
	const char *is = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return is && strcmp(is, code) == 0;
}

/* Waits for what the former owner has under way; where that stands still, its session is ended. */
static bool take_as_node(struct postgres_conn *c, struct buf *error)
{
	static const char sql[] = "SELECT take($1, $2, $3)";
	PGresult *result = ask(c, sql, 3);

	if (is_code(result, "55P03")) {				/* lock_timeout */
		PQclear(result);
		PQclear(ask(c, "SELECT end_holder($1)", 1));
		result = ask(c, sql, 3);
	}
	if (c->first_epoch && is_code(result, "SP001"))
		postgres_set_lost(c);
	return has_epoch(c, result, error);
}

void postgres_set_lost(struct postgres_conn *c)
{
	if (c->node)
		c->base.is_lost = true;
}

bool postgres_take(struct postgres_conn *c, struct buf *error)
{
	return c->node ? take_as_node(c, error) : take_alone(c, error);
}

/* --- A commit that was not answered --- */

/* How long the outcome of a commit is looked for: an answer that nobody knows it is better than none. */
enum { SETTLE_SECONDS = 60, SETTLE_PAUSE_MS = 100 };

/* A new session raises the epoch, which waits for what the old one has under way, or fences it. So the marker of the
 * old epoch does not change any more. */
static enum store_status look(struct postgres_conn *c, int64_t epoch, int64_t batch)
{
	static const char sql[] = "SELECT number FROM marker WHERE shard = $1 AND epoch = $2";
	struct postgres_query q;
	int64_t number = 0;
	enum store_status status;

	postgres_query(&q, &c->base, sql);
	postgres_bind_int(&q, 2, epoch);
	status = postgres_read_int(&q, &number);
	if (status != STORE_OK)
		return STORE_UNKNOWN;
	return number == batch ? STORE_OK : STORE_BUSY;
}

/* The same where another has taken the shard: that has waited for the old transaction, too, but maybe for no standby.
 * So the marker is written as it is: the commit of that waits for one, and for all that stands before it. */
static enum store_status look_back(const struct postgres_conn *c, int64_t of_epoch, int64_t batch)
{
	static const char sql[] = "UPDATE marker SET number = number WHERE shard = $1 AND epoch = $2 RETURNING number";
	char shard[24], epoch[24];
	const char *const values[] = {shard, epoch};
	enum store_status status = STORE_UNKNOWN;
	struct postgres_session *s;
	struct buf ignored;

	buf_init(&ignored, 4096);
	snprintf(shard, sizeof(shard), "%lld", (long long)c->shard);
	snprintf(epoch, sizeof(epoch), "%lld", (long long)of_epoch);
	s = postgres_session_open(c->url, &ignored);
	if (s) {
		PGresult *result;

		s->has_warned = false;
		result = postgres_ask(s->db, sql, 2, values, TAKE_MAX_MS);
		if (PQntuples(result) == 1 && !s->has_warned)
			status = strtoll(PQgetvalue(result, 0, 0), NULL, 10) == batch ? STORE_OK : STORE_BUSY;
		PQclear(result);
	}
	postgres_session_close(s);
	buf_release(&ignored);
	return status;
}

enum store_status postgres_settle(struct postgres_conn *c)
{
	int64_t epoch = c->epoch, batch = c->batch, until = clock_mono_ns() + SETTLE_SECONDS * INT64_C(1000000000);
	enum store_status status = STORE_UNKNOWN;

	c->in_transaction = c->is_begun = c->is_broken = false;
	while (status == STORE_UNKNOWN && clock_mono_ns() < until) {
		if (postgres_ready(&c->base) == STORE_OK)
			status = look(c, epoch, batch);
		else if (c->base.is_lost)
			status = look_back(c, epoch, batch);
		if (status == STORE_UNKNOWN)
			nanosleep(&(struct timespec){.tv_nsec = SETTLE_PAUSE_MS * 1000000L}, NULL);
	}
	return status;
}
