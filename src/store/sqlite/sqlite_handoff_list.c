/* Lists of handoffs in SQLite. The numbers of states are those of sqlite_handoff.c. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

/* ?4: a set of states, ?5 agent, ?6 channel, ?7 sender, ?8 only the untold, ?10 a task's name, ?11 what the reason
 * holds, ?12 since when and ?13 before when it is in its state, ?14 a party and ?15 its id; 0 or NULL: whatever. */
#define HANDOFF_FILTER \
	" AND (?4 = 0 OR (?4 >> h.state) & 1) AND (?5 = 0 OR h.agent = ?5) AND (?6 = 0 OR h.channel = ?6) " \
	"AND (?7 IS NULL OR h.sender = ?7) AND (?8 = 0 OR h.flags < 2) AND (?12 = 0 OR h.changed_at >= ?12) " \
	"AND (?13 = 0 OR h.changed_at < ?13) " \
	"AND (?14 IS NULL OR h.agent = ?15 OR h.target = ?15 OR h.sender = ?14) " \
	"AND (?11 IS NULL OR instr(lower(h.reason), lower(?11))) " \
	"AND (?10 IS NULL OR (SELECT task FROM envelope WHERE id = h.envelope) = (SELECT id FROM task " \
	"WHERE space = ?1 >> 40 AND name = ?10)) "

/* The same, but how many. */
#define HANDOFF_COUNT "SELECT count(*) FROM handoff h "

#define HANDOFFS_OF_ENVELOPE \
	SQLITE_HANDOFF \
	OF_ENVELOPE
#define OF_ENVELOPE \
	"INDEXED BY handoff_envelope WHERE h.envelope = ?9 AND h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

#define HANDOFFS_PARKED \
	SQLITE_HANDOFF \
	ALL_PARKED
#define ALL_PARKED \
	"INDEXED BY handoff_parked WHERE h.state = 6 AND h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

/* What is open has a time at which something happens. */
#define HANDOFFS_OPEN \
	SQLITE_HANDOFF \
	ALL_OPEN
#define ALL_OPEN \
	"INDEXED BY handoff_due WHERE h.due > 0 AND h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

#define HANDOFFS \
	SQLITE_HANDOFF \
	OF_SPACE
#define OF_SPACE \
	"WHERE h.id > ?1 AND h.id < ?2" \
	HANDOFF_FILTER

/* --- Lists --- */

enum store_status sqlite_handoffs_outage(struct store_conn *c, int64_t agent, int64_t from_ms, int64_t to_ms,
					 size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		SQLITE_HANDOFF
		"INDEXED BY handoff_outage WHERE h.agent = ?1 AND h.outage = 1 AND h.changed_at >= ?2 "
		"AND h.changed_at <= ?3 ORDER BY h.changed_at, h.id LIMIT ?4";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, from_ms);
	sqlite3_bind_int64(s, 3, to_ms);
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_handoff_list(c, s, max, arena, ret, ret_count);
}

enum store_status sqlite_handoffs_held(struct store_conn *c, int64_t agent, struct str receiver, size_t max,
				       struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		SQLITE_HANDOFF
		"WHERE h.agent = ?1 AND h.state > 0 AND h.state < 4 AND h.state = 2 "
		"AND h.receiver = ?2 ORDER BY h.id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite_bind_str(s, 2, receiver);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_handoff_list(c, s, max, arena, ret, ret_count);
}

static const char handoffs_untold_sql[] =
	SQLITE_HANDOFF
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
	sqlite_bind_str(s, 14, filter->party);
	sqlite3_bind_int64(s, 15, filter->party_id);
}

static enum store_status list_handoffs(struct store_conn *c, const char *sql, const struct handoff_filter *filter,
				       uint64_t after, size_t max, struct arena *arena, struct handoff_row *ret,
				       size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, sql);

	assert(!filter->newest_first || !filter->untold);
	bind_filter(s, filter, after);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_handoff_list(c, s, max, arena, ret, ret_count);
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
		SQLITE_HANDOFF
		"INDEXED BY handoff_queue WHERE h.agent = ?1 AND h.state = 0 AND h.priority <= ?2 "
		"AND (h.priority < ?2 OR h.place > ?3 OR (h.place = ?3 AND h.id > ?4)) "
		"ORDER BY h.priority DESC, h.place, h.id LIMIT ?5";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int(s, 2, behind ? behind->priority : INT_MAX);
	sqlite3_bind_int64(s, 3, behind ? (int64_t)behind->place : 0);
	sqlite3_bind_int64(s, 4, behind ? sqlite_memory_key(behind->space, behind->num) : 0);
	sqlite3_bind_int64(s, 5, (int64_t)max);
	return sqlite_handoff_list(c, s, max, arena, ret, ret_count);
}

enum store_status sqlite_handoffs_flight(struct store_conn *c, int64_t agent, unsigned states, uint64_t after,
					 size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		SQLITE_HANDOFF
		"INDEXED BY handoff_flight WHERE h.agent = ?1 AND h.state > 0 AND h.state < 4 "
		"AND (?2 >> h.state) & 1 AND h.id & 1099511627775 > ?3 ORDER BY h.id LIMIT ?4";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, states);
	sqlite3_bind_int64(s, 3, (int64_t)after);
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_handoff_list(c, s, max, arena, ret, ret_count);
}

/* --- Of an envelope --- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static enum store_status handed(struct store_conn *c, int64_t envelope, struct row_handed *ret)
{
	static const char sql[] = "SELECT id FROM handoff INDEXED BY handoff_envelope WHERE envelope = ?1 LIMIT ?2";
	uint64_t seen = sqlite_cache_seen(c);
	sqlite3_stmt *s;
	int rc;

	if (sqlite_cache_get(c, &row_handed, envelope, STR_NULL, NULL, ret))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	*ret = (struct row_handed){0};
	sqlite3_bind_int64(s, 1, envelope);
	sqlite3_bind_int64(s, 2, ROW_HANDED_MAX + 1);
	while ((rc = s ? sqlite3_step(s) : SQLITE_ERROR) == SQLITE_ROW)
		if (ret->count++ < ROW_HANDED_MAX)
			ret->nums[ret->count - 1] = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX;
	sqlite3_reset(s);
	if (rc != SQLITE_DONE)
		return sqlite_status(c, rc);
	if (ret->count <= ROW_HANDED_MAX)
		qsort(ret->nums, (size_t)ret->count, sizeof(ret->nums[0]), by_number);
	sqlite_cache_put(c, &row_handed, seen, envelope, STR_NULL, ret);
	return STORE_OK;
}

/* Whether the states, the agent, the party and where to go on is all that is asked for. */
static bool is_plain(const struct handoff_filter *f)
{
	return f->envelope && !f->untold && f->channel == 0 && f->from.p == NULL && f->task.p == NULL &&
	       f->reason.p == NULL && f->since_ms == 0 && f->before_ms == 0;
}

static bool has_party(const struct handoff_filter *f, const struct handoff_row *h)
{
	return h->agent == f->party_id || h->target == f->party_id || (h->from.p && str_eq(h->from, f->party));
}

static bool fits(const struct handoff_filter *f, uint64_t after, const struct handoff_row *h)
{
	if (f->newest_first ? after && h->num >= after : h->num <= after)
		return false;
	if (f->party.p && !has_party(f, h))
		return false;
	return (f->states == 0 || f->states >> h->state & 1) && (f->agent == 0 || h->agent == f->agent);
}

/* Whoever hands on asks for what came out of the parent's handoffs, and who is given an envelope for what came since.
 * That is mostly one, and in memory. */
static enum store_status list_handed(struct store_conn *c, const struct handoff_filter *filter, uint64_t after,
				     size_t max, const struct row_handed *of, struct arena *arena,
				     struct handoff_row *ret, size_t *ret_count)
{
	enum store_status status = STORE_OK;
	size_t count = 0;

	for (int64_t i = 0; status == STORE_OK && count < max && i < of->count; i++) {
		uint64_t num = of->nums[filter->newest_first ? of->count - 1 - i : i];

		status = sqlite_handoff_at(c, sqlite_memory_key(filter->space, num), arena, &ret[count]);
		count += status == STORE_OK && fits(filter, after, &ret[count]);
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	*ret_count = count;
	return status;
}

enum store_status sqlite_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max,
				  struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	struct row_handed of = {.count = ROW_HANDED_MAX + 1};
	enum store_status status = STORE_OK;

	if (is_plain(filter))
		status = handed(c, sqlite_memory_key(filter->space, filter->envelope), &of);
	if (status != STORE_OK)
		return status;
	if (of.count <= ROW_HANDED_MAX)
		return list_handed(c, filter, after, max, &of, arena, ret, ret_count);
	return list_handoffs(c, list_statement(filter), filter, after, max, arena, ret, ret_count);
}
