/* Handoffs in SQLite. */
#include "store/sqlite/sqlite_internal.h"

/* The numbers that the texts of SQL say: states and flags of handoffs. They are in the files of all stores and in the
 * indexes' conditions, so none of them may ever change its meaning; a new state gets a new number. */
_Static_assert(HANDOFF_QUEUED == 0, "state = 0");
_Static_assert(HANDOFF_LEASED == 2, "state = 2");
_Static_assert(HANDOFF_ACKED == 4, "state > 0 AND state < 4: under way, not queued");
_Static_assert(HANDOFF_PARKED == 6, "state = 6");
_Static_assert(HANDOFF_DELAYED == 1 && HANDOFF_WORKING == 3 && HANDOFF_COMPLETED == 5, "stored");
_Static_assert(HANDOFF_EXPIRED == 7 && HANDOFF_DISCARDED == 8 && HANDOFF_STATES == 9, "stored");

/* Of a handoff. The index of those untold counts on flags below FLAG_TOLD: nothing that is parked is retried. */
enum { FLAG_EXHAUSTED = 1, FLAG_TOLD = 2, FLAG_RETRIED = 4 };

_Static_assert(FLAG_EXHAUSTED < 2 && FLAG_TOLD == 2, "flags < 2: not told");

/* What became of it on the way. Apart from the flags, whose numbers an index counts on. */
enum { MARK_REDRIVEN = 1, MARK_TOUCHED = 2 };

/* What the moves of a handoff change. */
#define HANDOFF_SET \
	"attempt = ?10, max_attempts = ?11, leases = ?12, due = ?13, expires_at = ?14, ack_timeout = ?15, lease_ms " \
	"= ?16, changed_at = ?17, acked_at = ?18, flags = ?19, receiver = ?20, fallbacks = ?21, reason = ?22, " \
	"progress = ?23, place = ?24, not_before = ?25, queue_timeout = ?26, queue_until = ?27, passes = ?28, " \
	"outage = ?29, marks = ?30 "

/* --- Rows --- */

static void bind_handoff(sqlite3_stmt *s, const struct handoff_row *h)
{
	sqlite3_bind_int64(s, 1, sqlite_memory_key(h->space, h->num));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(h->space, h->envelope));
	sqlite3_bind_int64(s, 3, h->target);
	sqlite3_bind_int64(s, 4, h->agent);
	sqlite3_bind_int64(s, 5, h->channel);
	sqlite3_bind_int64(s, 6, h->created_at_ms);
	sqlite_bind_str(s, 7, h->from);
	sqlite3_bind_int(s, 8, (int)h->state);
	sqlite3_bind_int(s, 9, h->priority);
	sqlite3_bind_int64(s, 10, h->attempt);
	sqlite3_bind_int64(s, 11, h->max_attempts);
	sqlite3_bind_int64(s, 12, h->leases);
	sqlite3_bind_int64(s, 13, h->due_ms);
	sqlite3_bind_int64(s, 14, h->expires_at_ms);
	sqlite3_bind_int64(s, 15, h->ack_timeout_ms);
	sqlite3_bind_int64(s, 16, h->lease_ms);
	sqlite3_bind_int64(s, 17, h->changed_at_ms);
	sqlite3_bind_int64(s, 18, h->acked_at_ms);
	sqlite3_bind_int(s, 19, (h->is_exhausted ? FLAG_EXHAUSTED : 0) | (h->is_told ? FLAG_TOLD : 0) |
			 (h->is_retried ? FLAG_RETRIED : 0));
	sqlite_bind_str(s, 20, h->receiver);
	sqlite_bind_str(s, 21, h->fallbacks);
	sqlite_bind_str(s, 22, h->reason);
	sqlite_bind_str(s, 23, h->progress);
	sqlite3_bind_int64(s, 24, (int64_t)h->place);
	sqlite3_bind_int64(s, 25, h->not_before_ms);
	sqlite3_bind_int64(s, 26, h->queue_timeout_ms);
	sqlite3_bind_int64(s, 27, h->queue_until_ms);
	sqlite3_bind_int(s, 28, h->passes);
	sqlite3_bind_int(s, 29, h->is_outage);
	sqlite3_bind_int(s, 30, (h->is_redriven ? MARK_REDRIVEN : 0) | (h->is_touched ? MARK_TOUCHED : 0));
}

static void read_handoff(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct handoff_row *h = ret;
	uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);
	int flags = sqlite3_column_int(s, 18), marks = sqlite3_column_int(s, 30);

	*h = (struct handoff_row){
		.space = (int64_t)(key >> 40),
		.num = key & MEMORY_NUM_MAX,
		.envelope = (uint64_t)sqlite3_column_int64(s, 1) & MEMORY_NUM_MAX,
		.target = sqlite3_column_int64(s, 2),
		.agent = sqlite3_column_int64(s, 3),
		.channel = sqlite3_column_int64(s, 4),
		.created_at_ms = sqlite3_column_int64(s, 5),
		.from = sqlite_column_str(s, 6, arena),
		.state = (enum handoff_state)sqlite3_column_int(s, 7),
		.priority = sqlite3_column_int(s, 8),
		.attempt = sqlite3_column_int64(s, 9),
		.max_attempts = sqlite3_column_int64(s, 10),
		.leases = sqlite3_column_int64(s, 11),
		.due_ms = sqlite3_column_int64(s, 12),
		.expires_at_ms = sqlite3_column_int64(s, 13),
		.ack_timeout_ms = sqlite3_column_int64(s, 14),
		.lease_ms = sqlite3_column_int64(s, 15),
		.changed_at_ms = sqlite3_column_int64(s, 16),
		.acked_at_ms = sqlite3_column_int64(s, 17),
		.is_exhausted = flags & FLAG_EXHAUSTED,
		.is_told = flags & FLAG_TOLD,
		.is_retried = flags & FLAG_RETRIED,
		.receiver = sqlite_column_str(s, 19, arena),
		.fallbacks = sqlite_column_str(s, 20, arena),
		.reason = sqlite_column_str(s, 21, arena),
		.progress = sqlite_column_str(s, 22, arena),
		.channel_name = sqlite_column_str(s, 23, arena),
		.place = (uint64_t)sqlite3_column_int64(s, 24),
		.not_before_ms = sqlite3_column_int64(s, 25),
		.queue_timeout_ms = sqlite3_column_int64(s, 26),
		.queue_until_ms = sqlite3_column_int64(s, 27),
		.passes = sqlite3_column_int(s, 28),
		.is_outage = sqlite3_column_int(s, 29),
		.is_redriven = marks & MARK_REDRIVEN,
		.is_touched = marks & MARK_TOUCHED,
	};
}

/* Agents keep their names, and these are asked for again and again: they are not joined, but remembered. */
static enum store_status name_agents(struct store_conn *c, struct arena *arena, struct handoff_row *h)
{
	enum store_status status = sqlite_agent_name(c, h->agent, arena, &h->agent_name);

	h->target_name = h->agent_name;
	if (status == STORE_OK && h->target != h->agent)
		status = sqlite_agent_name(c, h->target, arena, &h->target_name);
	return status;
}

static enum store_status read_one(struct store_conn *c, sqlite3_stmt *s, struct arena *arena, struct handoff_row *ret)
{
	struct handoff_row h;
	enum store_status status = sqlite_read_one(c, s, read_handoff, arena, &h);

	if (status == STORE_OK)
		status = name_agents(c, arena, &h);
	if (status == STORE_OK)
		*ret = h;
	return status;
}

enum store_status sqlite_handoff_list(struct store_conn *c, sqlite3_stmt *s, size_t max, struct arena *arena,
				      struct handoff_row *ret, size_t *ret_count)
{
	enum store_status status = sqlite_read_list(c, s, read_handoff, arena, ret, sizeof(*ret), max, ret_count);

	for (size_t i = 0; status == STORE_OK && i < *ret_count; i++)
		status = name_agents(c, arena, &ret[i]);
	return status;
}

/* --- In memory ---
 *
 * A handoff is read when it is taken and when it is settled, each time before that by whoever prepares it, and behind
 * that by those who hand on: what came out of it? It is kept without its names. One of a channel is not kept: the
 * channel's name would have to be found, too. */

static int64_t key_of(const struct handoff_row *h)
{
	return sqlite_memory_key(h->space, h->num);
}

static bool is_kept(const struct handoff_row *h)
{
	return h->channel == 0;
}

static struct handoff_row nameless(const struct handoff_row *h)
{
	struct handoff_row kept = *h;

	kept.target_name = kept.agent_name = kept.channel_name = STR_NULL;
	kept.held_until_ms = 0;
	return kept;
}

/* The row is this one from now on, in all that is stored. What is acked is mostly not asked for again. */
static void keep(struct store_conn *c, const struct handoff_row *h)
{
	struct handoff_row kept = nameless(h);

	if (is_kept(h) && h->state != HANDOFF_ACKED)
		sqlite_cache_add(c, &row_handoff, key_of(h), &kept);
	else
		sqlite_cache_change(c, &row_handoff, key_of(h), STR_NULL);
}

/* An envelope of this very transaction has this one and no other. Of a root it is not kept yet: nobody may ever hand on
 * from it. */
static void keep_of_envelope(struct store_conn *c, const struct handoff_row *h)
{
	struct row_handed of = {.count = 1, .nums = {h->num}};
	int64_t envelope = sqlite_memory_key(h->space, h->envelope);

	if (sqlite_of(c)->new_envelope == envelope && !sqlite_of(c)->new_is_root)
		sqlite_cache_add(c, &row_handed, envelope, &of);
	else
		sqlite_cache_change(c, &row_handed, envelope, STR_NULL);
	sqlite_of(c)->new_envelope = 0;
}

static enum store_status get_kept(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret)
{
	struct handoff_row h;
	enum store_status status;

	if (!sqlite_cache_get(c, &row_handoff, key, STR_NULL, arena, &h))
		return STORE_NOT_FOUND;
	status = name_agents(c, arena, &h);
	if (status == STORE_OK)
		*ret = h;
	return status;
}

/* --- One --- */

enum store_status sqlite_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret)
{
	static const char sql[] =
		"SELECT max(coalesce((SELECT max(id) FROM handoff WHERE id > ?1 AND id < ?2), 0), "
		"coalesce((SELECT max(id) FROM pruned_handoff WHERE id > ?1 AND id < ?2), 0))";
	sqlite3_stmt *s;

	if (sqlite_of(c)->last_space == space) {
		*ret = sqlite_of(c)->last_handoff;
		return STORE_OK;
	}
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	return sqlite_read_num(c, s, ret);
}

enum store_status sqlite_handoff_insert(struct store_conn *c, struct handoff_row *h)
{
	static const char sql[] =
		"INSERT INTO handoff (id, envelope, target, agent, channel, created_at, sender, state, priority, "
		"attempt, max_attempts, leases, due, expires_at, ack_timeout, lease_ms, changed_at, acked_at, flags, "
		"receiver, fallbacks, reason, progress, place, not_before, queue_timeout, queue_until, passes, outage, "
		"marks) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
		"?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30) ON CONFLICT DO NOTHING";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	uint64_t last = 0;
	enum store_status status = sqlite_handoff_last(c, h->space, &last);

	if (status != STORE_OK)
		return status;
	if (last == MEMORY_NUM_MAX)
		return STORE_EXISTS;
	h->num = last + 1;
	h->place = h->place ? h->place : h->num;
	bind_handoff(s, h);
	status = sqlite_run(c, s);
	if (status == STORE_OK && !sqlite_changed(c))
		return STORE_EXISTS;
	if (status == STORE_OK) {
		sqlite_of(c)->last_space = h->space;
		sqlite_of(c)->last_handoff = h->num;
		keep(c, h);
		keep_of_envelope(c, h);
	}
	return status;
}

static enum store_status put_handoff(struct store_conn *c, const char *sql, const struct handoff_row *h)
{
	sqlite3_stmt *s = sqlite_statement(c, sql);

	bind_handoff(s, h);
	return sqlite_run_change(c, s);
}

static const char handoff_put_sql[] =
	"UPDATE handoff SET agent = ?4, state = ?8, priority = ?9, "
	HANDOFF_SET
	"WHERE id = ?1 AND target = ?3 AND channel = ?5 AND envelope = ?2 AND created_at = ?6 AND sender IS ?7";
static const char handoff_reroute_sql[] =
	"UPDATE handoff SET target = ?3, agent = ?4, channel = ?5, state = ?8, priority = ?9, "
	HANDOFF_SET
	"WHERE id = ?1";

/* Target and channel seldom change, and SQLite writes the indexes of each column that it is told to set, changed or
 * not. Where the first statement finds the row, that is what was given in all its columns. */
enum store_status sqlite_handoff_put(struct store_conn *c, const struct handoff_row *h)
{
	enum store_status status = put_handoff(c, handoff_put_sql, h);

	if (status == STORE_OK)
		keep(c, h);
	if (status != STORE_NOT_FOUND)
		return status;
	sqlite_cache_change(c, &row_handoff, key_of(h), STR_NULL);
	return put_handoff(c, handoff_reroute_sql, h);
}

enum store_status sqlite_handoff_at(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret)
{
	static const char sql[] = SQLITE_HANDOFF "WHERE h.id = ?1";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status = get_kept(c, key, arena, ret);
	struct handoff_row kept;
	sqlite3_stmt *s;

	if (status != STORE_NOT_FOUND)
		return status;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, key);
	status = read_one(c, s, arena, ret);
	if (status == STORE_OK && is_kept(ret)) {
		kept = nameless(ret);
		sqlite_cache_put(c, &row_handoff, seen, key, STR_NULL, &kept);
	}
	return status;
}

enum store_status sqlite_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				     struct handoff_row *ret)
{
	return sqlite_handoff_at(c, sqlite_memory_key(space, num), arena, ret);
}

enum store_status sqlite_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
				      struct arena *arena, struct handoff_row *ret)
{
	static const char sql[] = SQLITE_HANDOFF "WHERE h.envelope = ?1 AND h.target = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, target);
	return read_one(c, s, arena, ret);
}

enum store_status sqlite_handoff_of_agent(struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent,
					  uint64_t but, uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT id FROM handoff INDEXED BY handoff_envelope WHERE envelope = ?1 "
		"AND (agent = ?2 OR target = ?2) AND id <> ?3 LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, agent);
	sqlite3_bind_int64(s, 3, sqlite_memory_key(space, but));
	return sqlite_read_num(c, s, ret_num);
}

/* The index alone says which; the row is mostly in memory. */
static const char handoff_next_sql[] =
	"SELECT h.id FROM handoff h INDEXED BY handoff_queue WHERE h.agent = ?1 AND h.state = 0 "
	"ORDER BY h.priority DESC, h.place, h.id LIMIT 1";
static const char handoff_passing_sql[] =
	"SELECT h.id FROM handoff h INDEXED BY handoff_passing WHERE h.agent = ?1 AND h.state = 0 AND h.passes = 1 "
	"ORDER BY h.priority DESC, h.place, h.id LIMIT 1";

enum store_status sqlite_handoff_next(struct store_conn *c, int64_t agent, bool passing, struct arena *arena,
				      struct handoff_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, passing ? handoff_passing_sql : handoff_next_sql);
	enum store_status status;
	int64_t key;

	sqlite3_bind_int64(s, 1, agent);
	status = sqlite_read_int(c, s, &key);
	return status == STORE_OK ? sqlite_handoff_at(c, key, arena, ret) : status;
}

enum store_status sqlite_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret)
{
	static const char sql[] = SQLITE_HANDOFF "WHERE h.due > 0 AND h.due <= ?1 ORDER BY h.due LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, now_ms);
	return read_one(c, s, arena, ret);
}

enum store_status sqlite_handoff_next_due(struct store_conn *c, int64_t *ret_ms)
{
	static const char sql[] = "SELECT min(due) FROM handoff WHERE due > 0";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	return sqlite_read_int(c, s, ret_ms);
}
