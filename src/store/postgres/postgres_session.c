#include "store/postgres/postgres_session.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* What every session begins with. A connection that is cut off is noticed within seconds, and waits for locks are
 * short. A transaction that waits for us is ended after two seconds; PostgreSQL counts them only behind a Sync, and not
 * within a pipeline: there whoever takes the shard over ends the session (end_holder). Every statement has an index; a
 * plan that was made while a table was small must use it, too, and in its order: bitmaps and hashes are made of all
 * rows first, where a page needs a few.
 * Plans are made for any shard: statistics do not know each. PostgreSQL's own way to compress took a third of what an
 * envelope of 4 KB costs it; lz4 is not in every build. */
static const char session_sql[] =
	"SET search_path TO spine; SET idle_in_transaction_session_timeout TO '2s'; "
	"SET lock_timeout TO '2500ms'; SET tcp_user_timeout TO '2s'; SET tcp_keepalives_idle TO 2; "
	"SET tcp_keepalives_interval TO 1; SET tcp_keepalives_count TO 3; "
	"SET enable_seqscan TO off; SET enable_bitmapscan TO off; SET enable_hashjoin TO off; "
	"SET enable_mergejoin TO off; SET plan_cache_mode TO force_generic_plan; SET jit TO off; "
	"SET client_min_messages TO warning; SET bytea_output TO hex; "
	"SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings "
	"WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)";

struct postgres_words postgres_words(const char *words)
{
	struct postgres_words line;
	size_t n = 0;

	for (; *words && n + 2 < sizeof(line.text); words++) {
		bool is_space = *words == ' ' || *words == '\n' || *words == '\t' || *words == '\r';

		if (!is_space && n > 0 && words[-1] <= ' ')
			line.text[n++] = ' ';
		if (!is_space)
			line.text[n++] = *words;
	}
	line.text[n] = '\0';
	return line;
}

void postgres_put_error(struct buf *error, const PGresult *result)
{
	buf_printf(error, "PostgreSQL: %s",
		   result ? postgres_words(PQresultErrorMessage(result)).text : "it does not answer");
}

static void ignore_notice(void *arg, const PGresult *result)
{
	(void)arg;
	(void)result;
}

/* What the address says goes before these. After a failover another host of the address takes the writes. */
PGconn *postgres_dial(const char *url)
{
	static const char *const names[] = {"fallback_application_name", "client_encoding", "connect_timeout",
					    "keepalives_idle", "keepalives_interval", "keepalives_count",
					    "tcp_user_timeout", "target_session_attrs", "dbname", NULL};
	const char *values[] = {"memory-spine", "UTF8", "2", "2", "1", "3", "2000", "read-write", url, NULL};
	PGconn *db = PQconnectdbParams(names, values, 1);

	PQsetNoticeReceiver(db, ignore_notice, NULL);
	return db;
}

bool postgres_is_good(const PGresult *result)
{
	return PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
}

bool postgres_wait(PGconn *db, int64_t limit_ms)
{
	int64_t until_ns = clock_mono_ns() + limit_ms * 1000000;

	while (PQisBusy(db)) {
		int flushed = PQflush(db);
		int64_t left_ms = (until_ns - clock_mono_ns()) / 1000000;
		struct pollfd fd = {PQsocket(db), (short)(POLLIN | (flushed > 0 ? POLLOUT : 0)), 0};

		if (left_ms <= 0)
			return false;
		/* What is broken is told by the next answer. */
		if (flushed < 0 || fd.fd < 0)
			return true;
		if (poll(&fd, 1, (int)left_ms) < 0 && errno != EINTR)
			return true;
		if (fd.revents & ~POLLOUT && !PQconsumeInput(db))
			return true;
	}
	return true;
}

static PGresult *last_result(PGconn *db, int64_t limit_ms)
{
	PGresult *last = NULL, *result;

	for (;;) {
		if (!postgres_wait(db, limit_ms)) {
			PQclear(last);
			return NULL;
		}
		result = PQgetResult(db);
		if (result == NULL)
			return last;
		PQclear(last);
		last = result;
	}
}

PGresult *postgres_ask(PGconn *db, const char *sql, int count, const char *const *values, int64_t limit_ms)
{
	return PQsendQueryParams(db, sql, count, NULL, values, NULL, NULL, 0) ? last_result(db, limit_ms) : NULL;
}

/* A COMMIT that did not wait for its standbys succeeds with a warning. */
static void note_warning(void *arg, const PGresult *result)
{
	(void)result;
	((struct postgres_session *)arg)->has_warned = true;
}

static bool set_up(PGconn *db, struct buf *error)
{
	PGresult *result = PQsendQuery(db, session_sql) ? last_result(db, POSTGRES_ANSWER_MAX_MS) : NULL;
	bool is_done = postgres_is_good(result);

	if (!is_done)
		postgres_put_error(error, result);
	PQclear(result);
	return is_done;
}

struct postgres_session *postgres_session_open(const char *url, struct buf *error)
{
	struct postgres_session *s = mem_zalloc(sizeof(*s));

	s->db = postgres_dial(url);
	PQsetNoticeReceiver(s->db, note_warning, s);
	if (PQstatus(s->db) != CONNECTION_OK)
		buf_printf(error, "PostgreSQL cannot be reached: %s", postgres_words(PQerrorMessage(s->db)).text);
	else if (PQsetnonblocking(s->db, 1) == 0 && set_up(s->db, error))
		return s;
	postgres_session_close(s);
	return NULL;
}

bool postgres_session_is_alive(struct postgres_session *s)
{
	struct pollfd fd = {PQsocket(s->db), POLLIN, 0};

	/* Its last words, and the end. */
	while (PQstatus(s->db) == CONNECTION_OK && poll(&fd, 1, 0) > 0)
		if (!PQconsumeInput(s->db))
			return false;
	return PQstatus(s->db) == CONNECTION_OK;
}

void postgres_session_close(struct postgres_session *s)
{
	if (s == NULL)
		return;
	PQfinish(s->db);
	free(s);
}
