/* A session of PostgreSQL, and the transactions in it. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>

/* Between two attempts to reach a database that cannot be reached. */
enum { CONNECT_PAUSE_MS = 100 };

/* --- What errors mean --- */

/* The first two characters of an error's code are its class. */
static bool is_class(const char *code, const char *class)
{
	return strncmp(code, class, 2) == 0;
}

enum store_status postgres_status(struct store_conn *c, const PGresult *result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	snprintf(c->error, sizeof(c->error), "%s (PostgreSQL code %s)", words ? words : "no answer",
		 code ? code : "none");
	if (code == NULL)
		return STORE_BUSY;
	if (strcmp(code, "25006") == 0 && postgres_of(c)->session)	/* it is a standby now */
		postgres_of(c)->session->is_stale = true;
	if (strcmp(code, "SP001") == 0)				/* the fence */
		postgres_set_lost(postgres_of(c));
	if (strcmp(code, "53100") == 0)				/* disk full */
		return STORE_FULL;
	if (strcmp(code, "23505") == 0)				/* unique */
		return STORE_EXISTS;
	if (is_class(code, "22") || is_class(code, "23"))	/* what was asked for cannot be stored */
		return STORE_REFUSED;
	if (is_class(code, "XX"))				/* its files are damaged */
		return STORE_DAMAGED;
	/* It stops, is full of clients, waits for a lock, is a standby, or the shard is somebody else's: nothing
	 * happened, and it may work later, here or there. */
	if (is_class(code, "08") || is_class(code, "25") || is_class(code, "40") || is_class(code, "53") ||
	    is_class(code, "55") || is_class(code, "57") || is_class(code, "58") || is_class(code, "SP"))
		return STORE_BUSY;
	return STORE_FAILED;
}

static enum store_status broken(struct postgres_conn *c, enum store_status why)
{
	if (!c->is_broken)
		c->why_broken = why;
	c->is_broken = true;
	return c->why_broken;
}

enum store_status postgres_lost(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);

	if (c->session)
		snprintf(base->error, sizeof(base->error), "the connection to PostgreSQL broke: %.180s",
			 *PQerrorMessage(c->session->db) ? PQerrorMessage(c->session->db) : "it does not answer");
	postgres_disconnect(c);
	c->was_lost = true;
	return c->in_transaction && c->is_begun ? broken(c, STORE_BUSY) : STORE_BUSY;
}

/* --- Sending and answers --- */

static bool send_plain(struct postgres_conn *c, const char *sql)
{
	struct postgres_session *s = c->session;

	if (!PQsendQueryParams(s->db, sql, 0, NULL, NULL, NULL, NULL, 1))
		return false;
	s->sent[(s->sent_at + s->sent_count++) % POSTGRES_PENDING] = (struct postgres_sent){false, false};
	return true;
}

/* NULL is an end, or no answer for too long. */
static PGresult *await(PGconn *db)
{
	return postgres_wait(db, POSTGRES_ANSWER_MAX_MS) ? PQgetResult(db) : NULL;
}

/* One answer is taken off. Owned; NULL: the session is over. Behind each stands an end, unless it was the last words of
 * the server. */
static PGresult *next_answer(struct postgres_conn *c)
{
	PGresult *result = await(c->session->db), *end = result ? await(c->session->db) : NULL;

	PQclear(end);
	return result;
}

static enum store_status judge(struct postgres_conn *c, PGresult *result, struct postgres_sent what)
{
	enum store_status status = STORE_OK;

	if (PQresultStatus(result) == PGRES_PIPELINE_ABORTED)
		return broken(c, STORE_BUSY);
	if (!postgres_is_good(result)) {
		status = postgres_status(&c->base, result);
		/* No answer to the verb that is under way: something that was kept, or guessed, is not so. */
		if (what.is_gathered && store_is_answer(status)) {
			c->was_wrong = true;
			status = STORE_REFUSED;
		}
	} else if (what.is_needed && strcmp(PQcmdTuples(result), "0") == 0) {
		snprintf(c->base.error, sizeof(c->base.error), "a row that must be there is not");
		status = STORE_FAILED;
	}
	return status == STORE_OK ? status : broken(c, status);
}

/* All that was sent is answered; the last answer is given back. */
static enum store_status take_answers(struct postgres_conn *c, PGresult **ret)
{
	enum store_status status = STORE_OK;
	PGresult *result = NULL;

	c->waits++;
	while (c->session->sent_count) {
		struct postgres_session *s = c->session;
		struct postgres_sent what = s->sent[s->sent_at];

		PQclear(result);
		result = next_answer(c);
		if (result == NULL)
			return postgres_lost(&c->base);
		s->sent_at = (s->sent_at + 1) % POSTGRES_PENDING;
		s->sent_count--;
		status = judge(c, result, what);
	}
	if (c->is_broken)
		status = c->why_broken;
	if (status == STORE_OK) {
		*ret = result;
	} else {
		PQclear(result);
	}
	return status;
}

/* The end of a part of the pipeline: an error reaches up to here. */
static enum store_status sync(struct postgres_conn *c, PGresult **ret)
{
	enum store_status status;
	PGresult *end;

	if (!PQpipelineSync(c->session->db))
		return postgres_lost(&c->base);
	status = take_answers(c, ret);
	if (c->session == NULL)
		return status;
	end = await(c->session->db);
	if (PQresultStatus(end) != PGRES_PIPELINE_SYNC) {
		PQclear(end);
		return postgres_lost(&c->base);
	}
	PQclear(end);
	return status;
}

enum store_status postgres_answer(struct store_conn *base, PGresult **ret)
{
	struct postgres_conn *c = postgres_of(base);
	enum store_status status;

	if (c->is_begun) {
		if (!PQsendFlushRequest(c->session->db) || PQflush(c->session->db) < 0)
			return postgres_lost(base);
		return take_answers(c, ret);
	}
	status = sync(c, ret);
	c->is_broken = false;
	postgres_end_use(c);
	return status;
}

enum store_status postgres_ready(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	struct buf error;

	if (c->is_broken)
		return c->why_broken;
	if (base->is_lost)
		return STORE_BUSY;
	if (c->session)
		return STORE_OK;
	/* Whoever asks meanwhile hears at once that there is none. */
	if (c->failed_at_ns && clock_mono_ns() - c->failed_at_ns < CONNECT_PAUSE_MS * INT64_C(1000000))
		return STORE_BUSY;
	buf_init(&error, 4 * sizeof(base->error));
	c->failed_at_ns = 0;
	if (!postgres_connect(c, &error)) {
		snprintf(base->error, sizeof(base->error), "%.*s", (int)sizeof(base->error) - 1, buf_str(&error).p);
		c->failed_at_ns = clock_mono_ns();
	}
	buf_release(&error);
	return c->session ? STORE_OK : STORE_BUSY;
}

/* --- Transactions --- */

/* The database learns of it, together with what fences it: an error where the shard is not ours any more. */
static enum store_status begin_now(struct store_conn *base)
{
	static const char fence[] = "SELECT fence($1, $2, $3)";
	struct postgres_conn *c = postgres_of(base);
	struct postgres_query q;
	enum store_status status = postgres_ready(base);

	if (status != STORE_OK || c->is_begun)
		return status;
	if (!send_plain(c, "BEGIN"))
		return postgres_lost(base);
	c->is_begun = true;
	postgres_query(&q, base, fence);
	postgres_bind_int(&q, 2, c->epoch);
	postgres_bind_int(&q, 3, c->batch);
	return postgres_run(&q);
}

enum store_status postgres_begin(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);

	if (base->is_failed)
		return STORE_FAILED;
	assert(!c->in_transaction);
	if (c->session && !postgres_session_is_alive(c->session))
		postgres_disconnect(c);
	c->in_transaction = true;
	c->batch++;
	postgres_kept_begin(base);
	return begin_now(base);
}

static void ended(struct postgres_conn *c)
{
	c->in_transaction = c->is_begun = c->is_broken = false;
	c->depth = 0;
	if (c->was_wrong)
		postgres_kept_be_careful(&c->base);
	c->was_wrong = false;
	if (c->session && c->session->is_stale)
		postgres_disconnect(c);
}

void postgres_rollback(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	PGresult *result = NULL;

	if (c->is_begun && c->session) {
		/* What was refused is over first. */
		if (c->session->sent_count || c->is_broken)
			sync(c, &result);
		PQclear(result);
		result = NULL;
		c->is_broken = false;
		if (c->session && send_plain(c, "ROLLBACK"))
			sync(c, &result);
		PQclear(result);
	}
	postgres_kept_rollback(base);
	ended(c);
}

/* Of a transaction that the database has given up COMMIT says that it is rolled back, and that is no error. */
static enum store_status judge_commit(struct postgres_conn *c, PGresult *result)
{
	bool is_committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;

	PQclear(result);
	return is_committed ? STORE_OK : broken(c, STORE_BUSY);
}

/* The connection broke behind COMMIT, or it did not wait for the standbys. What was read until it is known what came of
 * it is not kept either. */
static enum store_status settle(struct postgres_conn *c, PGresult *result)
{
	enum store_status status;

	PQclear(result);
	status = postgres_settle(c);
	postgres_kept_forget(&c->base);
	return status;
}

enum store_status postgres_commit(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	enum store_status status = STORE_OK;
	PGresult *result = NULL;
	bool is_sent = false;

	if (!c->is_begun) {
		status = c->is_broken ? c->why_broken : STORE_OK;
		ended(c);
		return status;
	}
	status = postgres_kept_send(base);
	if (c->is_broken)
		status = c->why_broken;
	if (status == STORE_OK) {
		c->session->has_warned = false;
		is_sent = send_plain(c, "COMMIT");
		status = is_sent ? sync(c, &result) : postgres_lost(base);
	}
	if (c->session && c->session->has_warned && is_sent)
		postgres_disconnect(c);
	if (is_sent && c->session == NULL)
		status = settle(c, result);
	else if (status == STORE_OK)
		status = judge_commit(c, result);
	if (status == STORE_OK) {
		postgres_kept_commit(base);
		ended(c);
	} else {
		postgres_rollback(base);
	}
	if (status == STORE_FAILED || status == STORE_UNKNOWN)
		base->is_failed = true;
	return status;
}

/* The same name again hides the one before: they nest. */
static enum store_status part(struct store_conn *base, const char *sql)
{
	struct postgres_conn *c = postgres_of(base);

	if (c->is_broken)
		return c->why_broken;
	return send_plain(c, sql) ? STORE_OK : postgres_lost(base);
}

enum store_status postgres_savepoint(struct store_conn *base)
{
	enum store_status status = postgres_kept_send(base);

	if (status == STORE_OK)
		status = part(base, "SAVEPOINT part");
	postgres_of(base)->depth += status == STORE_OK;
	if (status == STORE_OK)
		postgres_kept_mark(base);
	return status;
}

enum store_status postgres_release(struct store_conn *base)
{
	postgres_of(base)->depth--;
	postgres_kept_release(base);
	return part(base, "RELEASE part");
}

enum store_status postgres_rollback_to(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	enum store_status status;
	PGresult *result = NULL;

	postgres_kept_undo(base);
	/* What the database refused since is undone with it. */
	if (c->is_broken && c->session) {
		sync(c, &result);
		PQclear(result);
		c->is_broken = c->session == NULL;
	}
	status = part(base, "ROLLBACK TO part");
	return status == STORE_OK ? postgres_release(base) : status;
}

/* Nothing is held for a snapshot: a reader sees none older than its beginning. */
bool postgres_snapshot_begin(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);

	if (c->in_snapshot || c->in_transaction)
		return false;
	c->in_snapshot = true;
	return true;
}

void postgres_snapshot_end(struct store_conn *base)
{
	postgres_of(base)->in_snapshot = false;
}
