/* Events in SQLite. Rows are only ever added (two triggers see to that), so ids are dense and grow with time. */
#include "store/sqlite/sqlite_internal.h"

enum store_status sqlite_event_add(struct store_conn *c, struct event_row *event)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_EVENT_ADD);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, event->space);
	sqlite3_bind_int64(s, 2, event->at_ms);
	sqlite3_bind_int(s, 3, event->kind);
	sqlite3_bind_int64(s, 4, (int64_t)event->handoff);
	sqlite3_bind_int64(s, 5, (int64_t)event->envelope);
	sqlite3_bind_int64(s, 6, event->attempt);
	sqlite_bind_str(s, 7, event->agent);
	sqlite_bind_str(s, 8, event->actor);
	sqlite_bind_str(s, 9, event->note);
	sqlite3_bind_int64(s, 10, (int64_t)event->memory);
	sqlite3_bind_double(s, 11, event->value[0]);
	sqlite3_bind_double(s, 12, event->value[1]);
	status = sqlite_run(c, s);
	if (status == STORE_OK)
		event->id = sqlite_of(c)->last_event = sqlite3_last_insert_rowid(sqlite_of(c)->db);
	if (status == STORE_OK && c->event_added)
		c->event_added(c->event_ctx, event);
	return status;
}

/* --- Reading --- */

static enum store_status read_rows(struct store_conn *c, sqlite3_stmt *s, size_t max, struct arena *arena,
				   struct event_row *ret, size_t *ret_count)
{
	size_t count = 0;
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		ret[count++] = (struct event_row){
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
		};
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

enum store_status sqlite_events(struct store_conn *c, int64_t space, uint64_t handoff, int64_t after, size_t max,
			       struct arena *arena, struct event_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, handoff ? SQL_EVENTS_OF_HANDOFF :
					      space ? SQL_EVENTS_OF_SPACE : SQL_EVENTS_ALL);

	if (s == NULL)
		return STORE_FAILED;
	if (space)
		sqlite3_bind_int64(s, 1, space);
	if (handoff)
		sqlite3_bind_int64(s, 2, (int64_t)handoff);
	sqlite3_bind_int64(s, 3, after);
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return read_rows(c, s, max, arena, ret, ret_count);
}

enum store_status sqlite_event_page(struct store_conn *c, const struct event_filter *filter, int64_t after,
				   int64_t until, size_t max, struct arena *arena, struct event_row *ret,
				   size_t *ret_count)
{
	static const enum sqlite_statement which[2][2] = {
		{SQL_EVENT_PAGE, SQL_EVENT_PAGE_NEWEST}, {SQL_EVENT_PAGE_OF_HANDOFF, SQL_EVENT_PAGE_OF_HANDOFF_NEWEST},
	};
	sqlite3_stmt *s = sqlite_statement(c, which[filter->handoff > 0][filter->newest_first]);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, filter->space);
	sqlite3_bind_int64(s, 2, filter->kinds ? (int64_t)filter->kinds : -1);
	sqlite3_bind_int64(s, 3, after);
	sqlite3_bind_int64(s, 4, until);
	sqlite3_bind_int64(s, 5, (int64_t)max);
	if (filter->handoff)
		sqlite3_bind_int64(s, 6, (int64_t)filter->handoff);
	sqlite3_bind_int64(s, 7, (int64_t)filter->envelope);
	sqlite3_bind_int64(s, 8, (int64_t)filter->memory);
	sqlite3_bind_int64(s, 9, (int64_t)filter->range_kinds);
	sqlite_bind_str(s, 10, filter->actor);
	sqlite_bind_str(s, 11, filter->name);
	sqlite3_bind_int64(s, 12, (int64_t)filter->agent_kinds);
	sqlite3_bind_int64(s, 13, (int64_t)filter->note_kinds);
	sqlite3_bind_int64(s, 14, (int64_t)filter->word_kinds);
	return read_rows(c, s, max, arena, ret, ret_count);
}

enum store_status sqlite_event_count(struct store_conn *c, int64_t space, uint64_t handoff, int64_t *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_EVENT_COUNT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, (int64_t)handoff);
	return sqlite_read_int(c, s, ret);
}

enum store_status sqlite_event_last(struct store_conn *c, int64_t *ret_id)
{
	sqlite3_stmt *s;

	if (sqlite_of(c)->last_event) {
		*ret_id = sqlite_of(c)->last_event;
		return STORE_OK;
	}
	s = sqlite_statement(c, SQL_EVENT_LAST);
	return s ? sqlite_read_int(c, s, ret_id) : STORE_FAILED;
}

/* By halving: times grow with the ids. Where the clock was set back, it is some moment between. */
enum store_status sqlite_event_before(struct store_conn *c, int64_t at_ms, int64_t *ret_id)
{
	int64_t before = 0, behind = 0;
	enum store_status status = sqlite_event_last(c, &behind);

	behind++;
	while (status == STORE_OK && behind - before > 1) {
		int64_t middle = before + (behind - before) / 2, found_ms = 0;
		sqlite3_stmt *s = sqlite_statement(c, SQL_EVENT_AT);

		if (s == NULL)
			return STORE_FAILED;
		sqlite3_bind_int64(s, 1, middle);
		status = sqlite_read_int(c, s, &found_ms);
		if (status == STORE_OK && found_ms < at_ms)
			before = middle;
		else
			behind = middle;
	}
	if (status == STORE_OK)
		*ret_id = before;
	return status;
}
