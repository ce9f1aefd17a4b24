/* Events in SQLite. Ids grow with time and are dense, but for what retention has removed: triggers see to it that rows
 * are never changed, and leave no other way (sqlite_prune.c). */
#include "store/sqlite/sqlite_internal.h"

/* The index is of those with a handoff. Said plainly, SQLite takes "> 0" as what to search by, and goes through all of
 * the space. */
#define OF_HANDOFF(handoff) "space = ?1 AND handoff = " handoff " AND likelihood(handoff > 0, 0.99)"

#define EVENT_COLUMNS \
	"SELECT id, space, at, kind, handoff, envelope, attempt, agent, actor, note, memory, value_1, value_2, " \
	"access_key, number FROM event "

/* ?2: a set of kinds, ?7 envelope, ?8 memory, ?10 actor, ?11 name, ?15 key; see struct event_filter. */
#define EVENT_FILTER \
	" AND (?2 >> kind) & 1 AND (?7 = 0 OR envelope = ?7) AND (?8 = 0 OR memory = ?8 OR ((?9 >> kind) & 1 " \
	"AND value_1 <= ?8 AND value_2 >= ?8)) AND (?10 IS NULL OR actor = ?10) " \
	"AND (?15 = 0 OR access_key = ?15) " \
	"AND (?11 IS NULL OR ((?12 >> kind) & 1 AND agent = ?11) OR ((?13 >> kind) & 1 " \
	"AND note = ?11) OR ((?14 >> kind) & 1 AND substr(note, 1, length(?11) + 1) = ?11 || ' ')) "

#define EVENT_PAGE \
	EVENT_COLUMNS \
	"WHERE id > ?3 AND id <= ?4" \
	EVENT_FILTER

#define EVENT_PAGE_OF_SPACE \
	EVENT_COLUMNS \
	"WHERE space = ?1 AND number > ?3 AND number <= ?4" \
	EVENT_FILTER

/* In the order of their ids, which is that of their numbers, and which the index has. */
#define EVENT_PAGE_OF_HANDOFF \
	EVENT_COLUMNS \
	"WHERE " OF_HANDOFF("?6") " AND +number > ?3 AND +number <= ?4" \
	EVENT_FILTER

/* --- Writing ---
 *
 * Each step of delivery leaves an event, and a statement of its own for each opens the table and the index again. So
 * events are gathered, and written together before somebody reads events on this connection, and before what is to be
 * kept ends. */

enum { EVENT_VALUES = 15 };

#define INSERT_EVENTS \
	"INSERT INTO event (id, space, at, kind, handoff, envelope, attempt, agent, actor, note, memory, value_1, " \
	"value_2, access_key, number) VALUES "
#define ROW "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define ROWS_2 ROW ", " ROW
#define ROWS_4 ROWS_2 ", " ROWS_2

static const char *const insert_events[SQLITE_EVENTS_MAX] = {
	INSERT_EVENTS ROW, INSERT_EVENTS ROWS_2, INSERT_EVENTS ROWS_2 ", " ROW, INSERT_EVENTS ROWS_4,
	INSERT_EVENTS ROWS_4 ", " ROW, INSERT_EVENTS ROWS_4 ", " ROWS_2, INSERT_EVENTS ROWS_4 ", " ROWS_2 ", " ROW,
	INSERT_EVENTS ROWS_4 ", " ROWS_4,
};

static void bind_event(sqlite3_stmt *s, int at, const struct event_row *event)
{
	sqlite3_bind_int64(s, at + 1, event->id);
	sqlite3_bind_int64(s, at + 2, event->space);
	sqlite3_bind_int64(s, at + 3, event->at_ms);
	sqlite3_bind_int(s, at + 4, event->kind);
	sqlite3_bind_int64(s, at + 5, (int64_t)event->handoff);
	sqlite3_bind_int64(s, at + 6, (int64_t)event->envelope);
	sqlite3_bind_int64(s, at + 7, event->attempt);
	sqlite_bind_str(s, at + 8, event->agent);
	sqlite_bind_str(s, at + 9, event->actor);
	sqlite_bind_str(s, at + 10, event->note);
	sqlite3_bind_int64(s, at + 11, (int64_t)event->memory);
	sqlite3_bind_double(s, at + 12, event->value[0]);
	sqlite3_bind_double(s, at + 13, event->value[1]);
	sqlite3_bind_int64(s, at + 14, (int64_t)event->access_key);
	sqlite3_bind_int64(s, at + 15, event->number);
}

void sqlite_events_drop(struct store_conn *c)
{
	struct sqlite_gathered *g = &sqlite_of(c)->gathered;

	g->count = 0;
	arena_release(&g->texts);
}

enum store_status sqlite_events_flush(struct store_conn *c)
{
	struct sqlite_gathered *g = &sqlite_of(c)->gathered;
	enum store_status status;
	sqlite3_stmt *s;

	if (g->count == 0)
		return STORE_OK;
	s = sqlite_statement(c, insert_events[g->count - 1]);
	for (size_t i = 0; i < g->count; i++)
		bind_event(s, (int)i * EVENT_VALUES, &g->rows[i]);
	status = sqlite_run(c, s);
	sqlite_events_drop(c);
	return status;
}

static struct str keep_text(struct sqlite_gathered *g, struct str text)
{
	return text.p ? arena_str(&g->texts, text) : STR_NULL;
}

/* The next number of the space. The last ones given are known for as many spaces as are written in turns. */
static enum store_status next_number(struct store_conn *c, int64_t space, int64_t *ret)
{
	struct sqlite_numbers *n = &sqlite_of(c)->numbers[(uint64_t)space % SQLITE_NUMBERS];
	enum store_status status = STORE_OK;

	if (n->space != space)
		status = sqlite_event_last(c, space, &n->last);
	n->space = status == STORE_OK ? space : 0;
	if (status == STORE_OK)
		*ret = ++n->last;
	return status;
}

enum store_status sqlite_event_add(struct store_conn *c, struct event_row *event)
{
	struct sqlite_gathered *g = &sqlite_of(c)->gathered;
	int64_t last = 0;
	enum store_status status = sqlite_event_last(c, 0, &last);

	if (status == STORE_OK && g->count == SQLITE_EVENTS_MAX)
		status = sqlite_events_flush(c);
	if (status == STORE_OK)
		status = next_number(c, event->space, &event->number);
	if (status != STORE_OK)
		return status;
	event->id = sqlite_of(c)->last_event = last + 1;
	g->rows[g->count] = *event;
	g->rows[g->count].agent = keep_text(g, event->agent);
	g->rows[g->count].actor = keep_text(g, event->actor);
	g->rows[g->count++].note = keep_text(g, event->note);
	if (c->event_added)
		c->event_added(c->event_ctx, event);
	return STORE_OK;
}

/* --- Reading --- */

/* A statement that reads events, after what was gathered has been written. NULL where that failed. */
static sqlite3_stmt *reading(struct store_conn *c, const char *sql)
{
	return sqlite_events_flush(c) == STORE_OK ? sqlite_statement(c, sql) : NULL;
}

static void read_event(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct event_row *)ret = (struct event_row){
		.id = sqlite3_column_int64(s, 0),
		.space = sqlite3_column_int64(s, 1),
		.at_ms = sqlite3_column_int64(s, 2),
		.kind = sqlite3_column_int(s, 3),
		.handoff = (uint64_t)sqlite3_column_int64(s, 4),
		.envelope = (uint64_t)sqlite3_column_int64(s, 5),
		.attempt = sqlite3_column_int64(s, 6),
		.agent = sqlite_column_str(s, 7, arena),
		.actor = sqlite_column_str(s, 8, arena),
		.note = sqlite_column_str(s, 9, arena),
		.memory = (uint64_t)sqlite3_column_int64(s, 10),
		.value = {sqlite3_column_double(s, 11), sqlite3_column_double(s, 12)},
		.access_key = (uint64_t)sqlite3_column_int64(s, 13),
		.number = sqlite3_column_int64(s, 14),
	};
}

static const char events_of_handoff_sql[] =
	EVENT_COLUMNS
	"WHERE " OF_HANDOFF("?2") " AND +number > ?3 ORDER BY id LIMIT ?4";
static const char events_of_space_sql[] =
	EVENT_COLUMNS
	"WHERE space = ?1 AND number > ?3 ORDER BY number LIMIT ?4";
static const char events_all_sql[] = EVENT_COLUMNS "WHERE id > ?3 ORDER BY id LIMIT ?4";

enum store_status sqlite_events(struct store_conn *c, int64_t space, uint64_t handoff, int64_t after, size_t max,
				struct arena *arena, struct event_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = reading(c, handoff ? events_of_handoff_sql : space ? events_of_space_sql : events_all_sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, (int64_t)handoff);
	sqlite3_bind_int64(s, 3, after);
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_read_list(c, s, read_event, arena, ret, sizeof(*ret), max, ret_count);
}

static const char event_page_sql[] = EVENT_PAGE "ORDER BY id LIMIT ?5";
static const char event_page_newest_sql[] = EVENT_PAGE "ORDER BY id DESC LIMIT ?5";
static const char event_page_of_space_sql[] = EVENT_PAGE_OF_SPACE "ORDER BY number LIMIT ?5";
static const char event_page_of_space_newest_sql[] = EVENT_PAGE_OF_SPACE "ORDER BY number DESC LIMIT ?5";
static const char event_page_of_handoff_sql[] = EVENT_PAGE_OF_HANDOFF "ORDER BY id LIMIT ?5";
static const char event_page_of_handoff_newest_sql[] = EVENT_PAGE_OF_HANDOFF "ORDER BY id DESC LIMIT ?5";

enum store_status sqlite_event_page(struct store_conn *c, const struct event_filter *filter, int64_t after,
				    int64_t until, size_t max, struct arena *arena, struct event_row *ret,
				    size_t *ret_count)
{
	static const char *const which[3][2] = {
		{event_page_sql, event_page_newest_sql}, {event_page_of_space_sql, event_page_of_space_newest_sql},
		{event_page_of_handoff_sql, event_page_of_handoff_newest_sql},
	};
	sqlite3_stmt *s = reading(c, which[filter->handoff ? 2 : filter->space > 0][filter->newest_first]);

	sqlite3_bind_int64(s, 1, filter->space);
	sqlite3_bind_int64(s, 2, filter->kinds ? (int64_t)filter->kinds : -1);
	sqlite3_bind_int64(s, 3, after);
	sqlite3_bind_int64(s, 4, until);
	sqlite3_bind_int64(s, 5, (int64_t)max);
	sqlite3_bind_int64(s, 6, (int64_t)filter->handoff);
	sqlite3_bind_int64(s, 7, (int64_t)filter->envelope);
	sqlite3_bind_int64(s, 8, (int64_t)filter->memory);
	sqlite3_bind_int64(s, 9, (int64_t)filter->range_kinds);
	sqlite_bind_str(s, 10, filter->actor);
	sqlite_bind_str(s, 11, filter->name);
	sqlite3_bind_int64(s, 12, (int64_t)filter->agent_kinds);
	sqlite3_bind_int64(s, 13, (int64_t)filter->note_kinds);
	sqlite3_bind_int64(s, 14, (int64_t)filter->word_kinds);
	sqlite3_bind_int64(s, 15, (int64_t)filter->access_key);
	return sqlite_read_list(c, s, read_event, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_events_unname(struct store_conn *c, const struct event_filter *filter, int64_t after,
				       int64_t until)
{
	static const char sql[] =
		"UPDATE event SET actor = NULL WHERE space = ?3 AND number > ?1 AND number <= ?2 AND "
		"actor IS NOT NULL AND "
		"(1 << kind) & ?4 AND (memory = ?5 OR ((1 << kind) & ?6 AND value_1 <= ?5 AND value_2 >= ?5))";
	sqlite3_stmt *s = reading(c, sql);

	sqlite3_bind_int64(s, 1, after);
	sqlite3_bind_int64(s, 2, until);
	sqlite3_bind_int64(s, 3, filter->space);
	sqlite3_bind_int64(s, 4, filter->kinds ? (int64_t)filter->kinds : -1);
	sqlite3_bind_int64(s, 5, (int64_t)filter->memory);
	sqlite3_bind_int64(s, 6, (int64_t)filter->range_kinds);
	return sqlite_run(c, s);
}

enum store_status sqlite_event_count(struct store_conn *c, int64_t space, uint64_t handoff, int64_t *ret)
{
	static const char sql[] = "SELECT count(*) FROM event WHERE " OF_HANDOFF("?2");
	sqlite3_stmt *s = reading(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, (int64_t)handoff);
	return sqlite_read_int(c, s, ret);
}

static enum store_status last_of_space(struct store_conn *c, int64_t space, int64_t *ret)
{
	static const char sql[] =
		"SELECT coalesce(nullif(max(coalesce((SELECT max(number) FROM event WHERE space = ?1), 0), "
		"coalesce((SELECT events_pruned FROM space WHERE id = ?1), 0)), 0), "
		"(SELECT created_at * ?2 FROM space WHERE id = ?1), 0)";
	sqlite3_stmt *s = reading(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, EVENT_NUMBERS_A_MS);
	return sqlite_read_int(c, s, ret);
}

enum store_status sqlite_event_last(struct store_conn *c, int64_t space, int64_t *ret)
{
	static const char sql[] = "SELECT " SQLITE_NEXT_ID("event") " - 1";

	if (space)
		return last_of_space(c, space, ret);
	if (sqlite_of(c)->last_event) {
		*ret = sqlite_of(c)->last_event;
		return STORE_OK;
	}
	return sqlite_read_int(c, sqlite_statement(c, sql), ret);
}

struct moment {
	int64_t place, at_ms;
};

static void read_moment(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct moment *)ret = (struct moment){
		.place = sqlite3_column_int64(s, 0), .at_ms = sqlite3_column_int64(s, 1),
	};
}

/* Place and time of the first event from that place on, of all spaces (0) or of one. */
static enum store_status first_from(struct store_conn *c, int64_t space, int64_t from, struct moment *ret,
				    size_t *ret_count)
{
	static const char of_all[] = "SELECT id, at FROM event WHERE id >= ?2 ORDER BY id LIMIT 1";
	static const char of_space[] = "SELECT number, at FROM event WHERE space = ?1 AND number >= ?2 "
				       "ORDER BY number LIMIT 1";
	sqlite3_stmt *s = reading(c, space ? of_space : of_all);

	if (space)
		sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, from);
	return sqlite_read_list(c, s, read_moment, NULL, ret, sizeof(*ret), 1, ret_count);
}

/* By halving: times grow with the places. Where the clock was set back, it is some moment between. */
enum store_status sqlite_event_before(struct store_conn *c, int64_t space, int64_t at_ms, int64_t *ret)
{
	int64_t before = 0, behind = 0;
	enum store_status status = sqlite_event_last(c, space, &behind);

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
