/* Events on PostgreSQL. Ids grow with time and are dense, but for what retention has removed. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#define EVENT_COLUMNS \
	"SELECT id, space, at, kind, handoff, envelope, attempt, agent, actor, note, memory, value_1, value_2, " \
	"access_key, number FROM event WHERE shard = $1 "

/* The index is of those with a handoff. */
#define OF_HANDOFF(handoff) "AND space = $2 AND handoff = " handoff " AND handoff > 0 "

#define HAS_KIND(kinds) "((" kinds " >> kind::int) & 1) = 1"

/* $3: a set of kinds, $8 envelope, $9 memory, $11 actor, $12 name, $16 key; see struct event_filter. */
#define EVENT_FILTER \
	"AND " HAS_KIND("$3") " AND ($8 = 0 OR envelope = $8) AND ($9 = 0 OR memory = $9 OR (" HAS_KIND("$10") \
	" AND value_1 <= $9 AND value_2 >= $9)) AND ($11::bytea IS NULL OR actor = $11::bytea) " \
	"AND ($12::bytea IS NULL OR (" HAS_KIND("$13") " AND agent = $12::bytea) OR (" HAS_KIND("$14") \
	" AND note = $12::bytea) OR (" HAS_KIND("$15") " AND substring(note from 1 for length($12::bytea) + 1) " \
	"= $12::bytea || ' '::bytea)) AND ($16 = 0 OR access_key = $16) "

#define EVENT_PAGE \
	EVENT_COLUMNS \
	"AND id > $4 AND id <= $5 AND $2 = 0 " \
	EVENT_FILTER

#define EVENT_PAGE_OF_SPACE \
	EVENT_COLUMNS \
	"AND space = $2 AND number > $4 AND number <= $5 " \
	EVENT_FILTER

#define EVENT_PAGE_OF_HANDOFF \
	EVENT_COLUMNS \
	OF_HANDOFF("$7") "AND number > $4 AND number <= $5 " \
	EVENT_FILTER

/* --- Writing --- */

/* Its id and its number are the next ones, and it goes out with all others of the transaction. */
enum store_status postgres_event_add(struct store_conn *c, struct event_row *event)
{
	enum store_status status = postgres_kept_may_write(c);

	if (status == STORE_OK)
		status = postgres_kept_event_next(c, event->space, &event->id, &event->number);
	if (status == STORE_OK)
		status = postgres_kept_event(c, event);
	if (status == STORE_OK && c->event_added)
		c->event_added(c->event_ctx, event);
	return status;
}

enum store_status postgres_events_unname(struct store_conn *c, const struct event_filter *filter, int64_t after,
					 int64_t until)
{
	static const char sql[] =
		"UPDATE event SET actor = NULL WHERE shard = $1 AND space = $4 "
		"AND number > $2 AND number <= $3 AND actor IS NOT NULL AND " HAS_KIND("$5")
		" AND (memory = $6 OR (" HAS_KIND("$7") " AND value_1 <= $6 AND value_2 >= $6))";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, after);
	postgres_bind_int(&q, 3, until);
	postgres_bind_int(&q, 4, filter->space);
	postgres_bind_int(&q, 5, filter->kinds ? (int64_t)filter->kinds : -1);
	postgres_bind_int(&q, 6, (int64_t)filter->memory);
	postgres_bind_int(&q, 7, (int64_t)filter->range_kinds);
	return postgres_run(&q);
}

/* --- Reading --- */

static void read_event(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct event_row *)ret = (struct event_row){
		.id = postgres_column_int(r, 0),
		.space = postgres_column_int(r, 1),
		.at_ms = postgres_column_int(r, 2),
		.kind = (int)postgres_column_int(r, 3),
		.handoff = (uint64_t)postgres_column_int(r, 4),
		.envelope = (uint64_t)postgres_column_int(r, 5),
		.attempt = postgres_column_int(r, 6),
		.agent = postgres_column_str(r, 7, arena),
		.actor = postgres_column_str(r, 8, arena),
		.note = postgres_column_str(r, 9, arena),
		.memory = (uint64_t)postgres_column_int(r, 10),
		.value = {postgres_column_real(r, 11), postgres_column_real(r, 12)},
		.access_key = (uint64_t)postgres_column_int(r, 13),
		.number = postgres_column_int(r, 14),
	};
}

static const char events_of_handoff_sql[] = EVENT_COLUMNS OF_HANDOFF("$3") "AND number > $4 ORDER BY id LIMIT $5";
static const char events_of_space_sql[] = EVENT_COLUMNS "AND space = $2 AND number > $4 ORDER BY number LIMIT $5";
static const char events_all_sql[] = EVENT_COLUMNS "AND id > $4 ORDER BY id LIMIT $5";

enum store_status postgres_events(struct store_conn *c, int64_t space, uint64_t handoff, int64_t after, size_t max,
				  struct arena *arena, struct event_row *ret, size_t *ret_count)
{
	struct postgres_query q;

	postgres_query(&q, c, handoff ? events_of_handoff_sql : space ? events_of_space_sql : events_all_sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, (int64_t)handoff);
	postgres_bind_int(&q, 4, after);
	postgres_bind_int(&q, 5, (int64_t)max);
	return postgres_read_list(&q, read_event, arena, ret, sizeof(*ret), max, ret_count);
}

static const char event_page_sql[] = EVENT_PAGE "ORDER BY id LIMIT $6";
static const char event_page_newest_sql[] = EVENT_PAGE "ORDER BY id DESC LIMIT $6";
static const char event_page_of_space_sql[] = EVENT_PAGE_OF_SPACE "ORDER BY number LIMIT $6";
static const char event_page_of_space_newest_sql[] = EVENT_PAGE_OF_SPACE "ORDER BY number DESC LIMIT $6";
static const char event_page_of_handoff_sql[] = EVENT_PAGE_OF_HANDOFF "ORDER BY id LIMIT $6";
static const char event_page_of_handoff_newest_sql[] = EVENT_PAGE_OF_HANDOFF "ORDER BY id DESC LIMIT $6";

enum store_status postgres_event_page(struct store_conn *c, const struct event_filter *filter, int64_t after,
				      int64_t until, size_t max, struct arena *arena, struct event_row *ret,
				      size_t *ret_count)
{
	static const char *const which[3][2] = {
		{event_page_sql, event_page_newest_sql}, {event_page_of_space_sql, event_page_of_space_newest_sql},
		{event_page_of_handoff_sql, event_page_of_handoff_newest_sql},
	};
	struct postgres_query q;

	postgres_query(&q, c, which[filter->handoff ? 2 : filter->space > 0][filter->newest_first]);
	postgres_bind_int(&q, 2, filter->space);
	postgres_bind_int(&q, 3, filter->kinds ? (int64_t)filter->kinds : -1);
	postgres_bind_int(&q, 4, after);
	postgres_bind_int(&q, 5, until);
	postgres_bind_int(&q, 6, (int64_t)max);
	postgres_bind_int(&q, 7, (int64_t)filter->handoff);
	postgres_bind_int(&q, 8, (int64_t)filter->envelope);
	postgres_bind_int(&q, 9, (int64_t)filter->memory);
	postgres_bind_int(&q, 10, (int64_t)filter->range_kinds);
	postgres_bind_str(&q, 11, filter->actor);
	postgres_bind_str(&q, 12, filter->name);
	postgres_bind_int(&q, 13, (int64_t)filter->agent_kinds);
	postgres_bind_int(&q, 14, (int64_t)filter->note_kinds);
	postgres_bind_int(&q, 15, (int64_t)filter->word_kinds);
	postgres_bind_int(&q, 16, (int64_t)filter->access_key);
	return postgres_read_list(&q, read_event, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_event_count(struct store_conn *c, int64_t space, uint64_t handoff, int64_t *ret)
{
	static const char sql[] = "SELECT count(*) FROM event WHERE shard = $1 " OF_HANDOFF("$3");
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, (int64_t)handoff);
	return postgres_read_int(&q, ret);
}

enum store_status postgres_event_read_last(struct store_conn *c, int64_t *ret)
{
	static const char sql[] = "SELECT " POSTGRES_NEXT_ID("event") " - 1";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	return postgres_read_int(&q, ret);
}

enum store_status postgres_event_read_number(struct store_conn *c, int64_t space, int64_t *ret)
{
	static const char sql[] =
		"SELECT coalesce(nullif(greatest((SELECT max(number) FROM event WHERE shard = $1 AND space = $2), "
		"(SELECT events_pruned FROM space WHERE shard = $1 AND id = $2)), 0), "
		"(SELECT created_at * $3 FROM space WHERE shard = $1 AND id = $2), 0)";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, EVENT_NUMBERS_A_MS);
	return postgres_read_int(&q, ret);
}

enum store_status postgres_event_last(struct store_conn *c, int64_t space, int64_t *ret)
{
	if (space)
		return postgres_event_read_number(c, space, ret);
	return postgres_kept_event_last(c, ret) ? STORE_OK : postgres_event_read_last(c, ret);
}

struct moment {
	int64_t place, at_ms;
};

static void read_moment(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct moment *)ret = (struct moment){postgres_column_int(r, 0), postgres_column_int(r, 1)};
}

/* Place and time of the first event from that place on, of all spaces (0) or of one. */
static enum store_status first_from(struct store_conn *c, int64_t space, int64_t from, struct moment *ret,
				    size_t *ret_count)
{
	static const char of_all[] = "SELECT id, at FROM event WHERE shard = $1 AND id >= $2 ORDER BY id LIMIT 1";
	static const char of_space[] = "SELECT number, at FROM event WHERE shard = $1 AND space = $3 "
				       "AND number >= $2 ORDER BY number LIMIT 1";
	struct postgres_query q;

	postgres_query(&q, c, space ? of_space : of_all);
	postgres_bind_int(&q, 2, from);
	if (space)
		postgres_bind_int(&q, 3, space);
	return postgres_read_list(&q, read_moment, NULL, ret, sizeof(*ret), 1, ret_count);
}

/* By halving: times grow with the places. Where the clock was set back, it is some moment between. */
enum store_status postgres_event_before(struct store_conn *c, int64_t space, int64_t at_ms, int64_t *ret)
{
	int64_t before = 0, behind = 0;
	enum store_status status = postgres_event_last(c, space, &behind);

	behind++;
	while (status == STORE_OK && behind - before > 1) {
		int64_t middle = before + (behind - before) / 2;
		struct moment found;
		size_t count = 0;

		status = first_from(c, space, middle, &found, &count);
		/* Where no event is left behind the middle, what was there is long past. */
		if (count == 0)
			before = middle;
		else if (found.at_ms >= at_ms)
			behind = middle;
		else
			before = found.place < behind ? found.place : middle;
	}
	if (status == STORE_OK)
		*ret = before;
	return status;
}
