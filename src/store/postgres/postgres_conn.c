/* A session of PostgreSQL: what goes out, and what comes back. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>

/* Between two attempts to reach a database that cannot be reached. */
enum { CONNECT_PAUSE_MS = 100 };

/* How often a reader that waits looks whether it is in vain. */
enum { SLICE_MS = 100 };

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
	if (strcmp(code, "SP001") == 0 && !postgres_of(c)->sends_group)		/* the fence */
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

enum store_status postgres_broken(struct postgres_conn *c, enum store_status why)
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
			 *PQerrorMessage(c->session->db) ? postgres_words(PQerrorMessage(c->session->db)).text :
			 "it does not answer");
	postgres_disconnect(c);
	c->was_lost = true;
	return c->in_transaction ? postgres_broken(c, STORE_BUSY) : STORE_BUSY;
}

/* --- Sending and answers --- */

bool postgres_send_plain(struct postgres_conn *c, const char *sql)
{
	struct postgres_session *s = c->session;

	if (!PQsendQueryParams(s->db, sql, 0, NULL, NULL, NULL, NULL, 1))
		return false;
	s->sent[(s->sent_at + s->sent_count++) % POSTGRES_PENDING] = (struct postgres_sent){0};
	return true;
}

/* A reader looks now and then whether the database has fallen silent. */
static bool wait_for_answer(struct postgres_conn *c)
{
	int64_t slice_ms = c->base.is_reader ? SLICE_MS : POSTGRES_ANSWER_MAX_MS;

	for (int64_t waited_ms = 0; waited_ms < POSTGRES_ANSWER_MAX_MS; waited_ms += slice_ms)
		if (postgres_wait(c->session->db, slice_ms))
			return true;
		else if (c->base.is_reader && postgres_pool_is_silent(c->pool))
			return false;
	return false;
}

/* NULL is an end, or no answer for too long. */
static PGresult *await(struct postgres_conn *c)
{
	return wait_for_answer(c) ? PQgetResult(c->session->db) : NULL;
}

/* One answer is taken off. Owned; NULL: the session is over. Behind each stands an end, unless it was the last words of
 * the server. */
static PGresult *next_answer(struct postgres_conn *c)
{
	PGresult *result = await(c), *end = result ? await(c) : NULL;

	PQclear(end);
	return result;
}

static enum store_status judge(struct postgres_conn *c, PGresult *result, struct postgres_sent what)
{
	enum store_status status = STORE_OK;

	if (PQresultStatus(result) == PGRES_PIPELINE_ABORTED)
		return postgres_broken(c, STORE_BUSY);
	if (!postgres_is_good(result)) {
		status = postgres_status(&c->base, result);
		/* No answer to the verb that is under way: something that was kept, or guessed, is not so. */
		if (what.is_gathered && store_is_answer(status)) {
			c->was_wrong = true;
			status = STORE_REFUSED;
		}
	}
	return status == STORE_OK ? status : postgres_broken(c, status);
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
		/* The server has skipped it, or refused it: it does not know the statement. */
		if (what.prepares && !postgres_is_good(result)) {
			s->prepared[what.prepares - 1] = NULL;
			s->prepared_count--;
		}
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

enum store_status postgres_sync(struct postgres_conn *c, PGresult **ret)
{
	enum store_status status;
	PGresult *end;

	if (!PQpipelineSync(c->session->db))
		return postgres_lost(&c->base);
	status = take_answers(c, ret);
	if (c->session == NULL)
		return status;
	end = await(c);
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
	status = postgres_sync(c, ret);
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
	/* What was gathered has gone with the session. */
	if (c->in_transaction)
		return postgres_broken(c, STORE_BUSY);
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
