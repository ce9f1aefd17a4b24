/* Transactions of a writer.
 *
 * What a transaction writes is gathered (postgres_kept.h), and most ask the database nothing: then it hears of the
 * transaction at the commit, with those of other shards (postgres_group.h). A statement that needs an answer begins it
 * earlier; such a transaction is committed alone.
 */
#include "store/postgres/postgres_gather.h"
#include "store/postgres/postgres_group.h"
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include <assert.h>

/* --- The beginning --- */

/* The fence is an error where the shard is not ours any more. */
enum store_status postgres_begin_now(struct store_conn *base)
{
	static const char fence[] = "SELECT fence($1, $2, $3)";
	struct postgres_conn *c = postgres_of(base);
	struct postgres_query q;
	enum store_status status = postgres_ready(base);

	if (status != STORE_OK || !c->in_transaction || c->is_begun)
		return status;
	if (!postgres_send_plain(c, "BEGIN"))
		return postgres_lost(base);
	c->is_begun = true;
	postgres_query_apart(&q, base, fence);
	postgres_bind_int(&q, 2, c->epoch);
	postgres_bind_int(&q, 3, c->batch);
	status = postgres_run(&q);
	return status == STORE_OK ? postgres_kept_begun(base) : status;
}

enum store_status postgres_begin(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	enum store_status status;

	if (base->is_failed)
		return STORE_FAILED;
	assert(!c->in_transaction);
	if (c->session && !postgres_session_is_alive(c->session))
		postgres_disconnect(c);
	status = postgres_ready(base);
	c->in_transaction = true;
	c->batch++;
	postgres_kept_begin(base);
	return status;
}

/* --- The end --- */

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

/* The database has heard of it, and hears that it is not to be. */
static void take_back(struct postgres_conn *c)
{
	PGresult *result = NULL;

	/* What was refused is over first. */
	if (c->session->sent_count || c->is_broken)
		postgres_sync(c, &result);
	PQclear(result);
	result = NULL;
	c->is_broken = c->session == NULL;
	if (c->session && postgres_send_plain(c, "ROLLBACK"))
		postgres_sync(c, &result);
	PQclear(result);
}

void postgres_rollback(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);

	if (c->is_begun && c->session)
		take_back(c);
	postgres_kept_rollback(base);
	ended(c);
}

/* Sends COMMIT, and waits. True: it was sent, and has no answer that can be relied on: the connection broke behind it,
 * or the standbys were not waited for. The session is over then. */
static bool commit_is_open(struct postgres_conn *c, enum store_status *ret_status)
{
	PGresult *result = NULL;

	c->session->has_warned = false;
	if (!postgres_send_plain(c, "COMMIT")) {
		*ret_status = postgres_lost(&c->base);
		return false;
	}
	*ret_status = postgres_sync(c, &result);
	if (c->session && c->session->has_warned)
		postgres_disconnect(c);
	/* Of a transaction that the database has given up COMMIT says that it is rolled back, and that is no error. */
	if (*ret_status == STORE_OK && strcmp(PQcmdStatus(result), "COMMIT") != 0)
		*ret_status = postgres_broken(c, STORE_BUSY);
	PQclear(result);
	return c->session == NULL;
}

/* What was read until it is known what came of the commit is not kept either. */
static enum store_status settle(struct postgres_conn *c)
{
	enum store_status status = postgres_settle(c);

	postgres_kept_forget(&c->base);
	return status;
}

/* One without any writes, too: only the fence says that what was read is still so. */
static bool alone_is_open(struct store_conn *base, enum store_status *ret_status)
{
	struct postgres_conn *c = postgres_of(base);

	*ret_status = postgres_begin_now(base);
	if (*ret_status == STORE_OK)
		*ret_status = postgres_kept_send(base);
	if (c->is_broken)
		*ret_status = c->why_broken;
	return *ret_status == STORE_OK && commit_is_open(c, ret_status);
}

static enum store_status commit_alone(struct store_conn *base)
{
	enum store_status status;

	return alone_is_open(base, &status) ? settle(postgres_of(base)) : status;
}

/* --- Several together --- */

/* By their shards, as everybody who takes more than one. */
static enum store_status fence_all(struct postgres_conn *c, const struct postgres_turn *turns)
{
	static const char sql[] =
		"SELECT fence(u.shard, u.epoch, u.batch) FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) "
		"u(shard, epoch, batch) WHERE $1::bigint >= 0";
	int64_t shards[GROUP_MAX] = {0}, epochs[GROUP_MAX] = {0}, batches[GROUP_MAX] = {0};
	struct postgres_query q;
	struct arena arena;
	enum store_status status;
	size_t count = 0;

	for (; turns; turns = turns->next) {
		size_t at = count++;

		for (; at > 0 && shards[at - 1] > turns->conn->shard; at--) {
			shards[at] = shards[at - 1];
			epochs[at] = epochs[at - 1];
			batches[at] = batches[at - 1];
		}
		shards[at] = turns->conn->shard;
		epochs[at] = turns->conn->epoch;
		batches[at] = turns->conn->batch;
	}
	arena_init(&arena);
	postgres_query_apart(&q, &c->base, sql);
	postgres_bind_str(&q, 2, postgres_ints(&arena, shards, count));
	postgres_bind_str(&q, 3, postgres_ints(&arena, epochs, count));
	postgres_bind_str(&q, 4, postgres_ints(&arena, batches, count));
	status = postgres_run(&q);
	arena_release(&arena);
	return status;
}

/* Statements that have waited stand before rows, as they would in each of them. */
static enum store_status send_all(struct postgres_conn *c, const struct postgres_turn *turns)
{
	struct postgres_gather all;
	enum store_status status = STORE_OK;

	postgres_gather_init(&all, c->shard);
	for (; status == STORE_OK && turns; turns = turns->next) {
		struct postgres_gather *one = postgres_kept_make(&turns->conn->base);

		postgres_gather_append(&all, one);
		status = postgres_gather_send_statements(one, &c->base);
	}
	if (status == STORE_OK)
		status = postgres_gather_send_rows(&all, &c->base);
	postgres_gather_release(&all);
	return status;
}

/* Over the session of the first. What it is refused for may be another's: nothing is concluded from it. */
static enum group_outcome commit_group(const struct postgres_turn *turns)
{
	struct postgres_conn *c = turns->conn;
	enum store_status status = STORE_OK;
	bool is_open = false;

	/* One that has gone meanwhile need not take the others along. */
	if (!postgres_session_is_alive(c->session))
		return GROUP_REFUSED;
	c->sends_group = true;
	if (!postgres_send_plain(c, "BEGIN"))
		status = postgres_lost(&c->base);
	c->is_begun = true;
	if (status == STORE_OK)
		status = fence_all(c, turns);
	if (status == STORE_OK)
		status = send_all(c, turns);
	if (status == STORE_OK)
		is_open = commit_is_open(c, &status);
	c->sends_group = false;
	if (is_open)
		return GROUP_UNKNOWN;
	if (status == STORE_OK)
		return GROUP_COMMITTED;
	if (c->session) {
		take_back(c);
		c->is_begun = c->was_wrong = false;
	}
	return GROUP_REFUSED;
}

/* A transaction that is the only one in its turn goes the way of one that stands apart. */
static enum store_status commit_in_turn(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	struct postgres_turn turn = {.conn = c, .bytes = postgres_kept_bytes(base)};
	enum store_status status;

	if (postgres_group_enter(c->group, &turn)) {
		if (turn.next == NULL) {
			bool is_open = alone_is_open(base, &status);

			postgres_group_end(c->group, &turn, GROUP_REFUSED);
			return is_open ? settle(c) : status;
		}
		turn.outcome = commit_group(&turn);
		postgres_group_end(c->group, &turn, turn.outcome);
	} else if (turn.outcome == GROUP_UNKNOWN) {
		/* The next session raises the epoch, and waits for what is under way. */
		postgres_disconnect(c);
	}
	if (turn.outcome == GROUP_UNKNOWN)
		return settle(c);
	return turn.outcome == GROUP_COMMITTED ? STORE_OK : commit_alone(base);
}

enum store_status postgres_commit(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);
	enum store_status status;

	if (c->is_broken)
		status = c->why_broken;
	else
		status = c->group && !c->is_begun ? commit_in_turn(base) : commit_alone(base);
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

/* --- Parts --- */

/* The same name again hides the one before: they nest. */
static enum store_status part(struct store_conn *base, const char *sql)
{
	struct postgres_conn *c = postgres_of(base);

	if (c->is_broken)
		return c->why_broken;
	return postgres_send_plain(c, sql) ? STORE_OK : postgres_lost(base);
}

enum store_status postgres_savepoint(struct store_conn *base)
{
	enum store_status status = postgres_begin_now(base);

	if (status == STORE_OK)
		status = postgres_kept_send(base);
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
		postgres_sync(c, &result);
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
