/* Lists of handoffs on PostgreSQL. The numbers of states are those of postgres_handoff.c. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include "store/text_holds.h"

#include <assert.h>
#include <limits.h>

/* $2 and $3: from behind which key up to which; $5: a set of states, $6 agent, $7 channel, $8 sender, $9 envelope,
 * $10 a task's name with its space $11, $12 since when and $13 before when it is in its state, $14 a party and $15 its
 * id; 0 or NULL: whatever. */
#define IN_SPACE "shard = $1 AND id > $2 AND id <= $3 "
#define HANDOFF_FILTER \
	"AND ($5 = 0 OR (($5 >> h.state::int) & 1) = 1) AND ($6 = 0 OR h.agent = $6) AND ($7 = 0 OR h.channel = $7) " \
	"AND ($8::bytea IS NULL OR h.sender = $8::bytea) AND ($12 = 0 OR h.changed_at >= $12) " \
	"AND ($13 = 0 OR h.changed_at < $13) " \
	"AND ($14::bytea IS NULL OR h.agent = $15 OR h.target = $15 OR h.sender = $14::bytea) " \
	"AND ($10::bytea IS NULL OR (SELECT e.task FROM envelope e WHERE e.shard = $1 AND e.id = h.envelope) = " \
	"(SELECT t.id FROM task t WHERE t.shard = $1 AND t.space = $11 AND t.name = $10::bytea)) "

/* Few rows of many are wanted, and the planner may not know: in the order of their ids it would go through all of the
 * space. OFFSET 0 keeps the order out of its choice. */
#define CHOSEN(condition) "(SELECT * FROM handoff WHERE " condition "OFFSET 0) h WHERE true "

#define OF_ENVELOPE CHOSEN("shard = $1 AND envelope = $9 ") "AND h.id > $2 AND h.id <= $3 " HANDOFF_FILTER
#define ALL_PARKED CHOSEN(IN_SPACE "AND state = 6 ") HANDOFF_FILTER
/* What is open has a time at which something happens. */
#define ALL_OPEN CHOSEN(IN_SPACE "AND due > 0 ") HANDOFF_FILTER
#define OF_SPACE "handoff h WHERE " IN_SPACE HANDOFF_FILTER
/* Of the filter only the sender counts. */
#define UNTOLD "handoff h WHERE " IN_SPACE "AND h.state = 6 AND h.flags < 2 AND h.sender = $8 "

#define OLDEST_FIRST "ORDER BY h.id LIMIT $4"
#define NEWEST_FIRST "ORDER BY h.id DESC LIMIT $4"

/* --- By agent --- */

static enum store_status read_handoffs(struct postgres_query *q, size_t max, struct arena *arena,
				       struct handoff_row *ret, size_t *ret_count)
{
	return postgres_read_list(q, postgres_read_handoff, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_handoffs_outage(struct store_conn *c, int64_t agent, int64_t from_ms, int64_t to_ms,
					   size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		POSTGRES_HANDOFF
		"WHERE h.shard = $1 AND h.agent = $2 AND h.outage = 1 AND h.changed_at >= $3 AND h.changed_at <= $4 "
		"ORDER BY h.changed_at, h.id LIMIT $5";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	postgres_bind_int(&q, 3, from_ms);
	postgres_bind_int(&q, 4, to_ms);
	postgres_bind_int(&q, 5, (int64_t)max);
	return read_handoffs(&q, max, arena, ret, ret_count);
}

enum store_status postgres_handoffs_held(struct store_conn *c, int64_t agent, struct str receiver, size_t max,
					 struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		POSTGRES_HANDOFF
		"WHERE h.shard = $1 AND h.agent = $2 AND h.state > 0 AND h.state < 4 AND h.state = 2 AND h.receiver = "
		"$3 "
		"ORDER BY h.id LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	postgres_bind_str(&q, 3, receiver);
	postgres_bind_int(&q, 4, (int64_t)max);
	return read_handoffs(&q, max, arena, ret, ret_count);
}

enum store_status postgres_handoffs_queued(struct store_conn *c, int64_t agent, const struct handoff_row *behind,
					   size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		POSTGRES_HANDOFF
		"WHERE h.shard = $1 AND h.agent = $2 AND h.state = 0 AND h.priority <= $3 "
		"AND (h.priority < $3 OR h.place > $4 OR (h.place = $4 AND h.id > $5)) "
		"ORDER BY h.priority DESC, h.place, h.id LIMIT $6";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	postgres_bind_int(&q, 3, behind ? behind->priority : INT_MAX);
	postgres_bind_int(&q, 4, behind ? (int64_t)behind->place : 0);
	postgres_bind_int(&q, 5, behind ? postgres_key(behind->space, behind->num) : 0);
	postgres_bind_int(&q, 6, (int64_t)max);
	return read_handoffs(&q, max, arena, ret, ret_count);
}

_Static_assert(MEMORY_NUM_MAX == 1099511627775, "& 1099511627775");

enum store_status postgres_handoffs_flight(struct store_conn *c, int64_t agent, unsigned states, uint64_t after,
					   size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	static const char sql[] =
		POSTGRES_HANDOFF
		"WHERE h.shard = $1 AND h.agent = $2 AND h.state > 0 AND h.state < 4 AND (($3 >> h.state::int) & 1) = "
		"1 "
		"AND (h.id & 1099511627775) > $4 ORDER BY h.id LIMIT $5";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, agent);
	postgres_bind_int(&q, 3, states);
	postgres_bind_int(&q, 4, (int64_t)after);
	postgres_bind_int(&q, 5, (int64_t)max);
	return read_handoffs(&q, max, arena, ret, ret_count);
}

/* --- By a filter --- */

static const char untold_sql[] = POSTGRES_HANDOFF_FROM UNTOLD OLDEST_FIRST;
static const char of_envelope_newest_sql[] = POSTGRES_HANDOFF_FROM OF_ENVELOPE NEWEST_FIRST;
static const char of_envelope_sql[] = POSTGRES_HANDOFF_FROM OF_ENVELOPE OLDEST_FIRST;
static const char parked_newest_sql[] = POSTGRES_HANDOFF_FROM ALL_PARKED NEWEST_FIRST;
static const char parked_sql[] = POSTGRES_HANDOFF_FROM ALL_PARKED OLDEST_FIRST;
static const char open_newest_sql[] = POSTGRES_HANDOFF_FROM ALL_OPEN NEWEST_FIRST;
static const char open_sql[] = POSTGRES_HANDOFF_FROM ALL_OPEN OLDEST_FIRST;
static const char newest_sql[] = POSTGRES_HANDOFF_FROM OF_SPACE NEWEST_FIRST;
static const char oldest_sql[] = POSTGRES_HANDOFF_FROM OF_SPACE OLDEST_FIRST;

static bool is_of_open(const struct handoff_filter *f)
{
	return f->states && f->states < 1u << HANDOFF_ACKED;
}

/* The statement whose index fits best. */
static const char *list_statement(const struct handoff_filter *f)
{
	if (f->untold)
		return untold_sql;
	if (f->envelope)
		return f->newest_first ? of_envelope_newest_sql : of_envelope_sql;
	if (f->states == 1u << HANDOFF_PARKED)
		return f->newest_first ? parked_newest_sql : parked_sql;
	if (is_of_open(f))
		return f->newest_first ? open_newest_sql : open_sql;
	return f->newest_first ? newest_sql : oldest_sql;
}

static void bind_filter(struct postgres_query *q, const struct handoff_filter *f, uint64_t after, size_t max)
{
	bool is_from_above = f->newest_first && after;

	postgres_bind_int(q, 2, postgres_key(f->space, f->newest_first ? 0 : after));
	postgres_bind_int(q, 3, postgres_key(f->space, is_from_above ? after - 1 : MEMORY_NUM_MAX));
	postgres_bind_int(q, 4, (int64_t)max);
	postgres_bind_int(q, 5, f->states);
	postgres_bind_int(q, 6, f->agent);
	postgres_bind_int(q, 7, f->channel);
	postgres_bind_str(q, 8, f->from);
	if (f->untold)
		return;
	postgres_bind_int(q, 9, f->envelope ? postgres_key(f->space, f->envelope) : 0);
	postgres_bind_str(q, 10, f->task);
	postgres_bind_int(q, 11, f->space);
	postgres_bind_int(q, 12, f->since_ms);
	postgres_bind_int(q, 13, f->before_ms);
	postgres_bind_str(q, 14, f->party);
	postgres_bind_int(q, 15, f->party_id);
}

/* --- What reasons hold --- */

/* Rows of a page that is gone through for words: so many are kept at once. */
enum { REASON_PAGE = 256 };

static struct str reason_at(const PGresult *rows, int i)
{
	if (PQgetisnull(rows, i, POSTGRES_HANDOFF_REASON))
		return STR_NULL;
	return (struct str){PQgetvalue(rows, i, POSTGRES_HANDOFF_REASON),
			    (size_t)PQgetlength(rows, i, POSTGRES_HANDOFF_REASON)};
}

/* Those whose reason holds the filter's, up to max: into ret, or only counted where that is NULL. */
static enum store_status list_by_reason(struct store_conn *c, const struct handoff_filter *f, uint64_t after,
					size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	enum store_status status = STORE_OK;
	int rows = REASON_PAGE;
	size_t count = 0;

	while (status == STORE_OK && rows == REASON_PAGE && count < max) {
		PGresult *page = NULL;
		struct postgres_query q;

		postgres_query(&q, c, list_statement(f));
		bind_filter(&q, f, after, REASON_PAGE);
		status = postgres_read_all(&q, &page);
		rows = status == STORE_OK ? PQntuples(page) : 0;
		for (int i = 0; i < rows && count < max; i++) {
			struct postgres_row r = {page, i};

			after = (uint64_t)postgres_column_int(&r, 0) & MEMORY_NUM_MAX;
			if (!text_holds(reason_at(page, i), f->reason))
				continue;
			if (ret)
				postgres_read_handoff(&r, arena, &ret[count]);
			count++;
		}
		PQclear(page);
	}
	*ret_count = count;
	return status;
}

/* --- Of an envelope --- */

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

		status = postgres_handoff_at(c, postgres_key(filter->space, num), arena, &ret[count]);
		count += status == STORE_OK && fits(filter, after, &ret[count]);
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	*ret_count = count;
	return status;
}

/* Senders ask with each handoff, and few have something to be told. */
static bool has_untold(struct store_conn *c, const struct handoff_filter *filter, enum store_status *ret_status)
{
	struct postgres_live *l = postgres_kept_live(c, ret_status);

	return l == NULL || filter->from.p == NULL ||
	       postgres_live_untold(l, postgres_live_sender(filter->space, filter->from));
}

enum store_status postgres_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after,
				    size_t max, struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	struct row_handed of = {.count = ROW_HANDED_MAX + 1};
	enum store_status status = STORE_OK;
	struct postgres_query q;

	assert(!filter->newest_first || !filter->untold);
	*ret_count = 0;
	if (filter->untold && !has_untold(c, filter, &status))
		return status;
	if (status == STORE_OK && is_plain(filter))
		status = postgres_handed(c, postgres_key(filter->space, filter->envelope), &of);
	if (status != STORE_OK)
		return status;
	if (of.count <= ROW_HANDED_MAX)
		return list_handed(c, filter, after, max, &of, arena, ret, ret_count);
	if (filter->reason.p && !filter->untold)
		return list_by_reason(c, filter, after, max, arena, ret, ret_count);
	postgres_query(&q, c, list_statement(filter));
	bind_filter(&q, filter, after, max);
	return read_handoffs(&q, max, arena, ret, ret_count);
}

#define COUNT "SELECT count(*) FROM "

static const char count_of_envelope_sql[] = COUNT OF_ENVELOPE;
static const char count_parked_sql[] = COUNT ALL_PARKED;
static const char count_open_sql[] = COUNT ALL_OPEN;
static const char count_sql[] = COUNT OF_SPACE;

enum store_status postgres_handoffs_count(struct store_conn *c, const struct handoff_filter *filter, int64_t *ret)
{
	struct handoff_filter f = *filter;
	struct postgres_query q;
	enum store_status status;
	size_t count = 0;

	assert(!f.untold);
	f.newest_first = false;
	if (f.reason.p) {
		status = list_by_reason(c, &f, 0, SIZE_MAX, NULL, NULL, &count);
		*ret = (int64_t)count;
		return status;
	}
	postgres_query(&q, c, f.envelope ? count_of_envelope_sql : f.states == 1u << HANDOFF_PARKED ? count_parked_sql :
			      is_of_open(&f) ? count_open_sql : count_sql);
	bind_filter(&q, &f, 0, 0);
	return postgres_read_int(&q, ret);
}
