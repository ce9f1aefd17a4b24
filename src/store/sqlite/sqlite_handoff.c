/* Handoffs, and what came out of them, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>
#include <limits.h>

/* The numbers that the texts of SQL say: states and flags of handoffs, where a result is. They are in the files of all
 * stores and in the indexes' conditions, so none of them may ever change its meaning; a new state gets a new number. */
_Static_assert(HANDOFF_QUEUED == 0, "state = 0");
_Static_assert(HANDOFF_LEASED == 2, "state = 2");
_Static_assert(HANDOFF_ACKED == 4, "state > 0 AND state < 4: under way, not queued");
_Static_assert(HANDOFF_PARKED == 6, "state = 6");
_Static_assert(HANDOFF_DELAYED == 1 && HANDOFF_WORKING == 3 && HANDOFF_COMPLETED == 5, "stored");
_Static_assert(HANDOFF_EXPIRED == 7 && HANDOFF_DISCARDED == 8 && HANDOFF_STATES == 9, "stored");
_Static_assert(RESULT_KEPT == 0 && RESULT_TEXT == 1 && RESULT_JSON == 2 && RESULT_LARGE == 3, "stored");

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

#define HANDOFF_COLUMNS \
	"SELECT h.id, h.envelope, h.target, h.agent, h.channel, h.created_at, h.sender, h.state, h.priority, " \
	"h.attempt, h.max_attempts, h.leases, h.due, h.expires_at, h.ack_timeout, h.lease_ms, h.changed_at, " \
	"h.acked_at, h.flags, h.receiver, h.fallbacks, h.reason, h.progress, CASE WHEN h.target = h.agent THEN " \
	"NULL ELSE (SELECT name FROM agent WHERE id = h.target) END, (SELECT name " \
	"FROM agent WHERE id = h.agent), CASE WHEN h.channel = 0 THEN NULL ELSE (SELECT name " \
	"FROM channel WHERE id = h.channel) END, h.place, h.not_before, h.queue_timeout, h.queue_until, h.passes, " \
	"h.outage, h.marks FROM handoff h "

/* ?4: a set of states, ?5 agent, ?6 channel, ?7 sender, ?8 only the untold, ?10 a task's name, ?11 what the reason
 * holds, ?12 since when and ?13 before when it is in its state; 0 or NULL: whatever. */
#define HANDOFF_FILTER \
	" AND (?4 = 0 OR (?4 >> h.state) & 1) AND (?5 = 0 OR h.agent = ?5) AND (?6 = 0 OR h.channel = ?6) " \
	"AND (?7 IS NULL OR h.sender = ?7) AND (?8 = 0 OR h.flags < 2) AND (?12 = 0 OR h.changed_at >= ?12) " \
	"AND (?13 = 0 OR h.changed_at < ?13) AND (?11 IS NULL OR instr(lower(h.reason), lower(?11))) " \
	"AND (?10 IS NULL OR (SELECT task FROM envelope WHERE id = h.envelope) = (SELECT id FROM task " \
	"WHERE space = ?1 >> 40 AND name = ?10)) "

/* The same, but how many. */
#define HANDOFF_COUNT "SELECT count(*) FROM handoff h "

#define HANDOFFS_OF_ENVELOPE \
	HANDOFF_COLUMNS \
	OF_ENVELOPE
#define OF_ENVELOPE \
	"INDEXED BY handoff_envelope WHERE h.envelope = ?9 AND h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

#define HANDOFFS_PARKED \
	HANDOFF_COLUMNS \
	ALL_PARKED
#define ALL_PARKED \
	"INDEXED BY handoff_parked WHERE h.state = 6 AND h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

/* What is open has a time at which something happens. */
#define HANDOFFS_OPEN \
	HANDOFF_COLUMNS \
	ALL_OPEN
#define ALL_OPEN \
	"INDEXED BY handoff_due WHERE h.due > 0 AND h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

#define HANDOFFS \
	HANDOFF_COLUMNS \
	OF_SPACE
#define OF_SPACE \
	"WHERE h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

/* --- Handoffs --- */

/* The columns that inserting and changing have in common. */
static void bind_handoff(sqlite3_stmt *s, const struct handoff_row *h)
{
	sqlite3_bind_int64(s, 1, sqlite_memory_key(h->space, h->num));
	sqlite3_bind_int64(s, 3, h->target);
	sqlite3_bind_int64(s, 4, h->agent);
	sqlite3_bind_int64(s, 5, h->channel);
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
	int flags = sqlite3_column_int(s, 18), marks = sqlite3_column_int(s, 32);

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
		.target_name = sqlite_column_str(s, 23, arena),
		.agent_name = sqlite_column_str(s, 24, arena),
		.channel_name = sqlite_column_str(s, 25, arena),
		.place = (uint64_t)sqlite3_column_int64(s, 26),
		.not_before_ms = sqlite3_column_int64(s, 27),
		.queue_timeout_ms = sqlite3_column_int64(s, 28),
		.queue_until_ms = sqlite3_column_int64(s, 29),
		.passes = sqlite3_column_int(s, 30),
		.is_outage = sqlite3_column_int(s, 31),
		.is_redriven = marks & MARK_REDRIVEN,
		.is_touched = marks & MARK_TOUCHED,
	};
	if (h->target == h->agent)
		h->target_name = h->agent_name;
}

enum store_status sqlite_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret)
{
	static const char sql[] = "SELECT max(id) FROM handoff WHERE id > ?1 AND id < ?2";
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
	h->num = last + 1;
	h->place = h->place ? h->place : h->num;
	bind_handoff(s, h);
	sqlite3_bind_int64(s, 2, sqlite_memory_key(h->space, h->envelope));
	sqlite3_bind_int64(s, 6, h->created_at_ms);
	sqlite_bind_str(s, 7, h->from);
	status = sqlite_run(c, s);
	if (status == STORE_OK && !sqlite_changed(c))
		return STORE_EXISTS;
	if (status == STORE_OK) {
		sqlite_of(c)->last_space = h->space;
		sqlite_of(c)->last_handoff = h->num;
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
	"WHERE id = ?1 AND target = ?3 AND channel = ?5";
static const char handoff_reroute_sql[] =
	"UPDATE handoff SET target = ?3, agent = ?4, channel = ?5, state = ?8, priority = ?9, "
	HANDOFF_SET
	"WHERE id = ?1";

/* Target and channel seldom change, and SQLite writes the indexes of each column that it is told to set, changed or
 * not. */
enum store_status sqlite_handoff_put(struct store_conn *c, const struct handoff_row *h)
{
	enum store_status status = put_handoff(c, handoff_put_sql, h);

	return status == STORE_NOT_FOUND ? put_handoff(c, handoff_reroute_sql, h) : status;
}

enum store_status sqlite_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				     struct handoff_row *ret)
{
	static const char sql[] = HANDOFF_COLUMNS "WHERE h.id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	return sqlite_read_one(c, s, read_handoff, arena, ret);
}

enum store_status sqlite_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
				      struct arena *arena, struct handoff_row *ret)
{
	static const char sql[] = HANDOFF_COLUMNS "WHERE h.envelope = ?1 AND h.target = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, target);
	return sqlite_read_one(c, s, read_handoff, arena, ret);
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

static const char handoff_next_sql[] =
	HANDOFF_COLUMNS
	"INDEXED BY handoff_queue WHERE h.agent = ?1 AND h.state = 0 ORDER BY h.priority DESC, h.place, h.id LIMIT 1";
static const char handoff_passing_sql[] =
	HANDOFF_COLUMNS
	"INDEXED BY handoff_passing WHERE h.agent = ?1 AND h.state = 0 AND h.passes = 1 "
	"ORDER BY h.priority DESC, h.place, h.id LIMIT 1";

enum store_status sqlite_handoff_next(struct store_conn *c, int64_t agent, bool passing, struct arena *arena,
				      struct handoff_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, passing ? handoff_passing_sql : handoff_next_sql);

	sqlite3_bind_int64(s, 1, agent);
	return sqlite_read_one(c, s, read_handoff, arena, ret);
}

enum store_status sqlite_handoffs_outage(struct store_conn *c, int64_t agent, int64_t from_ms, int64_t to_ms,
					 size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		HANDOFF_COLUMNS
		"INDEXED BY handoff_outage WHERE h.agent = ?1 AND h.outage = 1 AND h.changed_at >= ?2 "
		"AND h.changed_at <= ?3 ORDER BY h.changed_at, h.id LIMIT ?4";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, from_ms);
	sqlite3_bind_int64(s, 3, to_ms);
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_read_list(c, s, read_handoff, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_handoffs_held(struct store_conn *c, int64_t agent, struct str receiver, size_t max,
				       struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		HANDOFF_COLUMNS
		"WHERE h.agent = ?1 AND h.state > 0 AND h.state < 4 AND h.state = 2 "
		"AND h.receiver = ?2 ORDER BY h.id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite_bind_str(s, 2, receiver);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_handoff, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret)
{
	static const char sql[] = HANDOFF_COLUMNS "WHERE h.due > 0 AND h.due <= ?1 ORDER BY h.due LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, now_ms);
	return sqlite_read_one(c, s, read_handoff, arena, ret);
}

enum store_status sqlite_handoff_next_due(struct store_conn *c, int64_t *ret_ms)
{
	static const char sql[] = "SELECT min(due) FROM handoff WHERE due > 0";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	return sqlite_read_int(c, s, ret_ms);
}

static const char handoffs_untold_sql[] =
	HANDOFF_COLUMNS
	"INDEXED BY handoff_untold WHERE h.state = 6 AND h.flags < 2 AND h.sender = ?7 AND h.id > ?1 "
	"AND h.id < ?2 ORDER BY h.id LIMIT ?3";
static const char handoffs_of_envelope_newest_sql[] = HANDOFFS_OF_ENVELOPE "ORDER BY h.id DESC LIMIT ?3";
static const char handoffs_of_envelope_sql[] = HANDOFFS_OF_ENVELOPE "ORDER BY h.id LIMIT ?3";
static const char handoffs_parked_newest_sql[] = HANDOFFS_PARKED "ORDER BY h.id DESC LIMIT ?3";
static const char handoffs_parked_sql[] = HANDOFFS_PARKED "ORDER BY h.id LIMIT ?3";
static const char handoffs_open_newest_sql[] = HANDOFFS_OPEN "ORDER BY h.id DESC LIMIT ?3";
static const char handoffs_open_sql[] = HANDOFFS_OPEN "ORDER BY h.id LIMIT ?3";
static const char handoffs_newest_sql[] = HANDOFFS "ORDER BY h.id DESC LIMIT ?3";
static const char handoffs_sql[] = HANDOFFS "ORDER BY h.id LIMIT ?3";

static bool is_of_open(const struct handoff_filter *f)
{
	return f->states && f->states < 1u << HANDOFF_ACKED;
}

/* The statement whose index fits best. */
static const char *list_statement(const struct handoff_filter *f)
{
	if (f->untold)
		return handoffs_untold_sql;
	if (f->envelope)
		return f->newest_first ? handoffs_of_envelope_newest_sql : handoffs_of_envelope_sql;
	if (f->states == 1u << HANDOFF_PARKED)
		return f->newest_first ? handoffs_parked_newest_sql : handoffs_parked_sql;
	if (is_of_open(f))
		return f->newest_first ? handoffs_open_newest_sql : handoffs_open_sql;
	return f->newest_first ? handoffs_newest_sql : handoffs_sql;
}

static void bind_filter(sqlite3_stmt *s, const struct handoff_filter *filter, uint64_t after)
{
	int64_t from = sqlite_memory_key(filter->space, filter->newest_first ? 0 : after);
	int64_t to = sqlite_memory_key(filter->space + 1, 0);

	if (filter->newest_first && after)
		to = sqlite_memory_key(filter->space, after);
	sqlite3_bind_int64(s, 1, from);
	sqlite3_bind_int64(s, 2, to);
	sqlite3_bind_int64(s, 4, filter->states);
	sqlite3_bind_int64(s, 5, filter->agent);
	sqlite3_bind_int64(s, 6, filter->channel);
	sqlite_bind_str(s, 7, filter->from);
	sqlite3_bind_int(s, 8, filter->untold);
	if (filter->untold)
		return;
	if (filter->envelope)
		sqlite3_bind_int64(s, 9, sqlite_memory_key(filter->space, filter->envelope));
	sqlite_bind_str(s, 10, filter->task);
	sqlite_bind_str(s, 11, filter->reason);
	sqlite3_bind_int64(s, 12, filter->since_ms);
	sqlite3_bind_int64(s, 13, filter->before_ms);
}

enum store_status sqlite_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max,
				  struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, list_statement(filter));

	assert(!filter->newest_first || !filter->untold);
	bind_filter(s, filter, after);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_handoff, arena, ret, sizeof(*ret), max, ret_count);
}

static const char count_of_envelope_sql[] = HANDOFF_COUNT OF_ENVELOPE;
static const char count_parked_sql[] = HANDOFF_COUNT ALL_PARKED;
static const char count_open_sql[] = HANDOFF_COUNT ALL_OPEN;
static const char count_sql[] = HANDOFF_COUNT OF_SPACE;

enum store_status sqlite_handoffs_count(struct store_conn *c, const struct handoff_filter *filter, int64_t *ret)
{
	struct handoff_filter f = *filter;
	sqlite3_stmt *s = sqlite_statement(c, f.envelope ? count_of_envelope_sql :
					      f.states == 1u << HANDOFF_PARKED ? count_parked_sql :
					      is_of_open(&f) ? count_open_sql : count_sql);

	assert(!f.untold);
	f.newest_first = false;
	bind_filter(s, &f, 0);
	return sqlite_read_int(c, s, ret);
}

enum store_status sqlite_handoffs_queued(struct store_conn *c, int64_t agent, const struct handoff_row *behind,
					 size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		HANDOFF_COLUMNS
		"INDEXED BY handoff_queue WHERE h.agent = ?1 AND h.state = 0 AND h.priority <= ?2 "
		"AND (h.priority < ?2 OR h.place > ?3 OR (h.place = ?3 AND h.id > ?4)) "
		"ORDER BY h.priority DESC, h.place, h.id LIMIT ?5";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int(s, 2, behind ? behind->priority : INT_MAX);
	sqlite3_bind_int64(s, 3, behind ? (int64_t)behind->place : 0);
	sqlite3_bind_int64(s, 4, behind ? sqlite_memory_key(behind->space, behind->num) : 0);
	sqlite3_bind_int64(s, 5, (int64_t)max);
	return sqlite_read_list(c, s, read_handoff, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_handoffs_flight(struct store_conn *c, int64_t agent, unsigned states, uint64_t after,
					 size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		HANDOFF_COLUMNS
		"INDEXED BY handoff_flight WHERE h.agent = ?1 AND h.state > 0 AND h.state < 4 "
		"AND (?2 >> h.state) & 1 AND h.id & 1099511627775 > ?3 ORDER BY h.id LIMIT ?4";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, states);
	sqlite3_bind_int64(s, 3, (int64_t)after);
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_read_list(c, s, read_handoff, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				    const struct result_row *result)
{
	static const char sql[] =
		"INSERT INTO result (handoff, result, gaps, input_tokens, form, memory) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (handoff) DO UPDATE SET result = ?2, gaps = ?3, "
		"input_tokens = ?4, form = ?5, memory = ?6";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	sqlite_bind_str(s, 2, result->result);
	sqlite_bind_str(s, 3, result->gaps);
	sqlite3_bind_int64(s, 4, result->input_tokens);
	sqlite3_bind_int(s, 5, (int)result->form);
	sqlite3_bind_int64(s, 6, (int64_t)result->memory);
	return sqlite_run(c, s);
}

enum store_status sqlite_result_hand_on(struct store_conn *c, int64_t space, uint64_t handoff, uint64_t then,
					const uint8_t digest[32])
{
	static const char sql[] =
		"INSERT INTO result (handoff, input_tokens, then_handoff, then_digest) VALUES (?1, -1, ?2, ?3) "
		"ON CONFLICT (handoff) DO UPDATE SET then_handoff = ?2, then_digest = ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	sqlite3_bind_int64(s, 2, (int64_t)then);
	sqlite3_bind_blob(s, 3, digest, 32, SQLITE_STATIC);
	return sqlite_run(c, s);
}

static void read_result(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct result_row *r = ret;

	*r = (struct result_row){
		.result = sqlite_column_str(s, 0, arena),
		.gaps = sqlite_column_str(s, 1, arena),
		.input_tokens = sqlite3_column_int64(s, 2),
		.form = (enum result_form)sqlite3_column_int(s, 3),
		.memory = (uint64_t)sqlite3_column_int64(s, 4),
		.then = (uint64_t)sqlite3_column_int64(s, 5),
	};
	if (r->then && sqlite3_column_bytes(s, 6) == sizeof(r->then_digest))
		memcpy(r->then_digest, sqlite3_column_blob(s, 6), sizeof(r->then_digest));
}

enum store_status sqlite_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				    struct result_row *ret)
{
	static const char sql[] =
		"SELECT result, gaps, input_tokens, form, memory, then_handoff, then_digest FROM result "
		"WHERE handoff = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	return sqlite_read_one(c, s, read_result, arena, ret);
}

static void read_result_place(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct result_row *)ret = (struct result_row){
		.form = (enum result_form)sqlite3_column_int(s, 0),
		.memory = (uint64_t)sqlite3_column_int64(s, 1),
	};
}

enum store_status sqlite_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret)
{
	static const char sql[] = "SELECT form, memory FROM result WHERE handoff = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	return sqlite_read_one(c, s, read_result_place, NULL, ret);
}
