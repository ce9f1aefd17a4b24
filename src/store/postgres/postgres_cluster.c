/* The session of a node, with which it renews its lease and sees who owns what: store/cluster.h. */
#include "store/cluster.h"

#include "base/clock.h"
#include "store/postgres/postgres_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The lease is five seconds long, and renewed each second: an answer that takes longer comes too late. */
enum { CLUSTER_ANSWER_MAX_MS = 3000 };
/* Readers do not wait any longer than this. */
enum { SILENT_MS = 1500 };

struct store_cluster {
	char *url;
	char *id, *node_url, *version;
	char protocol[24], schema[12], keys[24];
	struct postgres_session *session;	/* NULL: it broke */
	struct postgres_pool *pool;		/* is told whether the database answers */
	void (*on_silence)(void *ctx);
	void *ctx;
	bool is_leaving;
	bool has_asked;			/* the renewal had a session */
	bool lacks_standby;
	char error[256];
};

const char *store_cluster_error(const struct store_cluster *c)
{
	return c->error;
}

bool store_cluster_lacks_standby(const struct store_cluster *c)
{
	return c->lacks_standby;
}

static char *copy(struct str text)
{
	char *copy = mem_alloc(text.n + 1);

	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	return copy;
}

/* --- The session --- */

static enum store_status lost(struct store_cluster *c)
{
	if (c->session)
		snprintf(c->error, sizeof(c->error), "the connection to PostgreSQL broke: %.180s",
			 *PQerrorMessage(c->session->db) ? postgres_words(PQerrorMessage(c->session->db)).text :
			 "it does not answer");
	postgres_session_close(c->session);
	c->session = NULL;
	return STORE_BUSY;
}

/* It is committed, and the wait for a standby was ended. */
static enum store_status unheld(struct store_cluster *c)
{
	snprintf(c->error, sizeof(c->error), "no standby has the renewal, because the wait for one was ended");
	postgres_session_close(c->session);
	c->session = NULL;
	return STORE_BUSY;
}

static bool listens(struct store_cluster *c)
{
	PGresult *result = postgres_ask(c->session->db, "LISTEN spine", 0, NULL, CLUSTER_ANSWER_MAX_MS);
	bool is_done = postgres_is_good(result);

	PQclear(result);
	return is_done;
}

static bool connect_now(struct store_cluster *c, struct buf *error)
{
	c->session = postgres_session_open(c->url, error);
	if (c->session && listens(c))
		return true;
	postgres_session_close(c->session);
	c->session = NULL;
	return false;
}

static enum store_status ready(struct store_cluster *c)
{
	struct buf error;

	if (c->session)
		return STORE_OK;
	buf_init(&error, 4096);
	if (!connect_now(c, &error))
		snprintf(c->error, sizeof(c->error), "%.*s", (int)sizeof(c->error) - 1, buf_str(&error).p);
	buf_release(&error);
	return c->session ? STORE_OK : STORE_BUSY;
}

/* What was asked for did not work. A session that says so may be tried again, unless its server takes no writes. */
static enum store_status refused(struct store_cluster *c, const PGresult *result)
{
	const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (result == NULL || code == NULL)
		return lost(c);
	snprintf(c->error, sizeof(c->error), "%.200s (PostgreSQL code %.5s)", words ? words : "no answer", code);
	postgres_session_close(c->session);
	c->session = NULL;
	return STORE_BUSY;
}

/* A function of the schema, for this node. */
static enum store_status call(struct store_cluster *c, const char *sql, const char *const *values, int count, bool *ret)
{
	enum store_status status = ready(c);
	PGresult *result;

	if (status != STORE_OK)
		return status;
	result = postgres_ask(c->session->db, sql, count, values, CLUSTER_ANSWER_MAX_MS);
	if (!postgres_is_good(result))
		status = refused(c, result);
	else
		*ret = PQntuples(result) == 1 && strcmp(PQgetvalue(result, 0, 0), "t") == 0;
	PQclear(result);
	return status;
}

/* --- The view --- */

static int64_t int_of(const PGresult *r, int row, int column)
{
	return strtoll(PQgetvalue(r, row, column), NULL, 10);
}

static struct str str_at(const PGresult *r, int row, int column, struct arena *arena)
{
	struct str text = {PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column)};

	return PQgetisnull(r, row, column) ? STR_NULL : arena_str(arena, text);
}

static void read_shards(const PGresult *r, struct arena *arena, struct cluster_view *ret)
{
	for (int i = 0; i < STORE_SHARDS; i++)
		ret->shards[i] = (struct cluster_shard_row){.shard = i};
	for (int i = 0; i < PQntuples(r); i++) {
		int shard = (int)int_of(r, i, 0);

		ret->shards[shard] = (struct cluster_shard_row){
			.shard = shard, .epoch = int_of(r, i, 1), .owner = str_at(r, i, 2, arena),
			.has_spaces = *PQgetvalue(r, i, 3) == 't',
		};
	}
}

static void read_nodes(const PGresult *r, struct arena *arena, struct cluster_view *ret)
{
	size_t count = (size_t)PQntuples(r);

	ret->nodes = arena_calloc(arena, count ? count : 1, sizeof(*ret->nodes));
	ret->node_count = count;
	for (int i = 0; i < (int)count; i++) {
		int64_t left_ms = int_of(r, i, 3);

		ret->nodes[i] = (struct cluster_node_row){
			.id = str_at(r, i, 0, arena), .url = str_at(r, i, 1, arena),
			.version = str_at(r, i, 2, arena), .is_live = left_ms > 0,
			.lease_left_ms = left_ms > 0 ? left_ms : 0, .is_leaving = *PQgetvalue(r, i, 4) == 't',
			.started_at_ms = int_of(r, i, 5), .clock_offset_ms = int_of(r, i, 6),
			.protocol = int_of(r, i, 7), .keys_version = int_of(r, i, 8),
		};
	}
}

/* "0aff…": bytes. */
static struct str bytes_of(const char *hex, struct arena *arena)
{
	size_t n = strlen(hex) / 2;
	char *bytes = arena_alloc(arena, n + 1);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(str_hex_digit(hex[2 * i]) << 4 | str_hex_digit(hex[2 * i + 1]));
	return (struct str){bytes, n};
}

static void read_cluster(const PGresult *r, struct arena *arena, struct cluster_view *ret)
{
	if (PQntuples(r) != 1)
		return;
	ret->db_now_ms = int_of(r, 0, 0);
	ret->keys_version = int_of(r, 0, 1);
	ret->secret = bytes_of(PQgetvalue(r, 0, 2), arena);
}

static void read_needs(const PGresult *r, struct arena *arena, struct cluster_view *ret)
{
	if (PQntuples(r) == 1)
		ret->needs = str_at(r, 0, 0, arena);
}

static void ignore_answer(const PGresult *r, struct arena *arena, struct cluster_view *ret)
{
	(void)r;
	(void)arena;
	(void)ret;
}

/* What leaves together, as one transaction. The lease is renewed before anything is read: from then on its row is
 * locked. Not where the server is too old: whoever raises what is needed (finish in postgres_migrate.c) locks out all
 * renewals, so that each is either seen there or sees what was done. */
static const struct question {
	const char *sql;
	int parameters;			/* so many of send_questions' */
	void (*read)(const PGresult *r, struct arena *arena, struct cluster_view *ret);
} questions[] = {
	{"SELECT pg_advisory_xact_lock_shared(1297305678, -2)", 0, ignore_answer},
	{"SELECT oldest_name FROM version WHERE oldest > $1", 1, read_needs},
	{"SELECT renew($2, $3, $4, $5, $6, $7, $8) FROM version WHERE oldest <= $1", 8, ignore_answer},
	{"SELECT s.shard, s.epoch, s.owner, EXISTS (SELECT FROM space p WHERE p.shard = s.shard) FROM shard s "
	 "WHERE s.shard BETWEEN 0 AND 63", 0, read_shards},
	{"SELECT id, url, version, lease_until - now_ms(), is_leaving, started_at, clock_offset, protocol, "
	 "keys_version FROM node ORDER BY id COLLATE \"C\" LIMIT 1024", 0, read_nodes},
	{"SELECT now_ms(), m.version, encode(c.secret, 'hex') FROM cluster c, access_mode m WHERE m.shard = 0", 0,
	 read_cluster},
};
enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };
_Static_assert(STORE_SHARDS == 64 && STORE_NODES_MAX == 1024, "BETWEEN 0 AND 63, LIMIT 1024");

static bool send_questions(struct store_cluster *c, int64_t clock_offset_ms)
{
	PGconn *db = c->session->db;
	char offset[24];
	const char *const values[] = {
		c->schema, c->id, c->node_url, c->version, c->protocol, c->is_leaving ? "t" : "f", offset,
		c->keys,
	};
	bool is_sent = PQenterPipelineMode(db);

	c->session->has_warned = false;
	snprintf(offset, sizeof(offset), "%lld", (long long)clock_offset_ms);
	for (int i = 0; is_sent && i < QUESTIONS; i++)
		is_sent = PQsendQueryParams(db, questions[i].sql, questions[i].parameters, NULL, values, NULL,
					    NULL, 0);
	return is_sent && PQpipelineSync(db);
}

static void be_silent(struct store_cluster *c)
{
	postgres_pool_set_silent(c->pool, true);
	snprintf(c->error, sizeof(c->error), "no answer for %d ms", SILENT_MS);
	if (c->on_silence)
		c->on_silence(c->ctx);
}

/* The next result; what ends it is taken off, too. Owned, may be NULL. */
static PGresult *next_result(struct store_cluster *c)
{
	PGconn *db = c->session->db;
	bool is_there = postgres_wait(db, SILENT_MS);
	PGresult *result;

	if (!is_there) {
		be_silent(c);
		is_there = postgres_wait(db, CLUSTER_ANSWER_MAX_MS - SILENT_MS);
	}
	result = is_there ? PQgetResult(db) : NULL;
	if (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC && postgres_wait(db, CLUSTER_ANSWER_MAX_MS))
		PQclear(PQgetResult(db));
	return result;
}

static enum store_status read_answers(struct store_cluster *c, struct arena *arena, struct cluster_view *ret)
{
	enum store_status status = STORE_OK;
	PGresult *result;

	for (int i = 0; status == STORE_OK && i < QUESTIONS; i++) {
		result = next_result(c);
		if (postgres_is_good(result))
			questions[i].read(result, arena, ret);
		else
			status = refused(c, result);
		PQclear(result);
	}
	if (status != STORE_OK)
		return status;
	/* It is committed with this; a failover may take it back where no standby has it. */
	result = next_result(c);
	if (PQresultStatus(result) != PGRES_PIPELINE_SYNC || !PQexitPipelineMode(c->session->db))
		status = lost(c);
	else if (c->session->has_warned)
		status = unheld(c);
	PQclear(result);
	return status;
}

static enum store_status renew_once(struct store_cluster *c, int64_t clock_offset_ms, struct arena *arena,
				    struct cluster_view *ret)
{
	struct cluster_view view = {0};
	enum store_status status = ready(c);

	c->has_asked = status == STORE_OK;
	if (status == STORE_OK && !send_questions(c, clock_offset_ms))
		status = lost(c);
	if (status == STORE_OK)
		status = read_answers(c, arena, &view);
	/* Then the rest may be gone, or mean something else. */
	if (view.needs.p) {
		*ret = (struct cluster_view){.needs = view.needs};
		return STORE_OK;
	}
	if (status == STORE_OK)
		*ret = view;
	return status;
}

/* A commit that waits for a standby looks like a database that stands still. It goes on waiting when its client has
 * gone, and another session can see it. */
static bool waits_for_standby(struct store_cluster *c)
{
	static const char sql[] =
		"SELECT current_setting('synchronous_standby_names') FROM pg_stat_activity "
		"WHERE usename = current_user AND datname = current_database() AND wait_event = 'SyncRep' "
		"AND state_change < clock_timestamp() - interval '1 second' LIMIT 1";
	PGresult *result;

	if (ready(c) != STORE_OK)
		return false;
	result = postgres_ask(c->session->db, sql, 0, NULL, CLUSTER_ANSWER_MAX_MS);
	c->lacks_standby = PQntuples(result) == 1;
	if (c->lacks_standby)
		snprintf(c->error, sizeof(c->error), "commits wait for a standby that is not there; "
			 "synchronous_standby_names is %.120s", PQgetvalue(result, 0, 0));
	else if (!postgres_is_good(result))
		refused(c, result);
	PQclear(result);
	return c->lacks_standby;
}

/* A session that has broken since the last time is replaced at once: the lease goes on. */
enum store_status store_cluster_renew(struct store_cluster *c, int64_t clock_offset_ms, struct arena *arena,
				      struct cluster_view *ret)
{
	bool may_be_broken = c->session;
	enum store_status status;

	c->lacks_standby = false;
	status = renew_once(c, clock_offset_ms, arena, ret);
	if (status == STORE_BUSY && c->has_asked && !waits_for_standby(c) && may_be_broken)
		status = renew_once(c, clock_offset_ms, arena, ret);
	if (status == STORE_OK)
		postgres_pool_set_silent(c->pool, false);
	return status;
}

void store_cluster_know_keys(struct store_cluster *c, int64_t version)
{
	snprintf(c->keys, sizeof(c->keys), "%lld", (long long)version);
}

/* --- Coming and going --- */

enum store_status store_cluster_give(struct store_cluster *c, int shard)
{
	char number[24];
	const char *const values[] = {number, c->id};
	bool was_ours = false;
	enum store_status status;

	snprintf(number, sizeof(number), "%d", shard);
	status = call(c, "SELECT give($1, $2)", values, 2, &was_ours);
	return status == STORE_OK && !was_ours ? STORE_NOT_FOUND : status;
}

enum store_status store_cluster_leave(struct store_cluster *c)
{
	const char *const values[] = {c->id};
	bool ignored;

	c->is_leaving = true;
	return call(c, "SELECT leave($1)", values, 1, &ignored);
}

void store_cluster_remove(struct store_cluster *c)
{
	const char *const values[] = {c->id};
	bool ignored;

	(void)call(c, "SELECT remove($1)", values, 1, &ignored);
}

void store_cluster_retire(struct store_cluster *c, struct str id)
{
	char *text = copy(id);
	const char *const values[] = {text};
	bool ignored;

	(void)call(c, "SELECT remove($1)", values, 1, &ignored);
	free(text);
}

/* Something was told since, and is forgotten with that. */
static bool was_told(struct store_cluster *c)
{
	PGnotify *notice;
	bool was = false;

	while (c->session && (notice = PQnotifies(c->session->db))) {
		was = true;
		PQfreemem(notice);
	}
	return was;
}

void store_cluster_wait(struct store_cluster *c, int wake_fd, int64_t timeout_ms)
{
	struct pollfd fds[2] = {{wake_fd, POLLIN, 0}, {c->session ? PQsocket(c->session->db) : -1, POLLIN, 0}};
	int64_t until_ns = clock_mono_ns() + timeout_ms * 1000000, left_ms = timeout_ms;

	while (!was_told(c) && left_ms > 0) {
		int count = poll(fds, 2, (int)left_ms);

		if ((count < 0 && errno != EINTR) || fds[0].revents)
			return;
		/* It broke: the next renewal finds another. */
		if (count > 0 && c->session && fds[1].revents && !PQconsumeInput(c->session->db)) {
			lost(c);
			return;
		}
		left_ms = (until_ns - clock_mono_ns() + 999999) / 1000000;
	}
}

/* --- Standbys --- */

static int64_t lag_of(const PGresult *r, int row, int column)
{
	return PQgetisnull(r, row, column) ? -1 : int_of(r, row, column);
}

/* Who may not see them sees that they are there, and NULL of each. */
static enum store_status read_standbys(const PGresult *r, struct arena *arena, struct cluster_standby_row *ret,
				       size_t *ret_count)
{
	*ret_count = (size_t)PQntuples(r);
	for (int i = 0; i < PQntuples(r); i++) {
		if (PQgetisnull(r, i, 1))
			return STORE_REFUSED;
		ret[i] = (struct cluster_standby_row){
			str_at(r, i, 0, arena), str_at(r, i, 1, arena), str_at(r, i, 2, arena), lag_of(r, i, 3),
			lag_of(r, i, 4),
		};
	}
	return STORE_OK;
}

/* PostgreSQL forgets the time where nothing is written: then nothing is behind. */
static const char standbys_sql[] =
	"SELECT application_name, state, sync_state, coalesce((extract(epoch FROM replay_lag) * 1000)::bigint, "
	"  CASE WHEN replay_lsn >= pg_current_wal_lsn() THEN 0 END), "
	"  greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint "
	"FROM pg_stat_replication ORDER BY 1, 5 DESC NULLS LAST, pid LIMIT 16";
_Static_assert(STORE_STANDBYS_MAX == 16, "LIMIT 16");

enum store_status store_cluster_standbys(struct store_cluster *c, struct arena *arena,
					 struct cluster_standby_row ret[STORE_STANDBYS_MAX], size_t *ret_count)
{
	enum store_status status = ready(c);
	PGresult *result;

	*ret_count = 0;
	if (status != STORE_OK)
		return status;
	result = postgres_ask(c->session->db, standbys_sql, 0, NULL, CLUSTER_ANSWER_MAX_MS);
	if (postgres_is_good(result))
		status = read_standbys(result, arena, ret, ret_count);
	else
		status = result ? STORE_BUSY : lost(c);
	PQclear(result);
	return status;
}

/* --- Opening --- */

static bool has_schema(struct store_cluster *c, struct buf *error)
{
	PGconn *db = postgres_dial(c->url);
	bool is_there = PQstatus(db) == CONNECTION_OK;

	if (!is_there)
		buf_printf(error, "PostgreSQL cannot be reached: %s", postgres_words(PQerrorMessage(db)).text);
	is_there = is_there && postgres_schema_migrate(db, error);
	PQfinish(db);
	return is_there;
}

struct store_cluster *store_cluster_open(const char *address, const struct cluster_self *self, struct buf *error)
{
	struct store_cluster *c;

	if (!str_has_prefix(str_of(address), STR("postgres://")) &&
	    !str_has_prefix(str_of(address), STR("postgresql://"))) {
		buf_printf(error, "several servers share a database of PostgreSQL, postgres://…; %s is none", address);
		return NULL;
	}
	if (!postgres_library_open(error))
		return NULL;
	c = mem_zalloc(sizeof(*c));
	c->url = postgres_url(address);
	c->pool = postgres_pool_use(c->url);
	c->id = copy(self->id);
	c->node_url = copy(self->url);
	c->version = copy(self->version);
	c->on_silence = self->on_silence;
	c->ctx = self->ctx;
	snprintf(c->protocol, sizeof(c->protocol), "%lld", (long long)self->protocol);
	snprintf(c->schema, sizeof(c->schema), "%d", POSTGRES_SCHEMA_NOW);
	store_cluster_know_keys(c, 0);
	if (has_schema(c, error) && connect_now(c, error))
		return c;
	store_cluster_close(c);
	return NULL;
}

void store_cluster_close(struct store_cluster *c)
{
	if (c == NULL)
		return;
	postgres_session_close(c->session);
	postgres_pool_release(c->pool);
	free(c->version);
	free(c->node_url);
	free(c->id);
	free(c->url);
	free(c);
}
