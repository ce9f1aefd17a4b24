/* Handoffs, and what came out of them, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>

/* --- Handoffs --- */

/* The columns that HANDOFF_INSERT and HANDOFF_PUT have in common. */
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
}

static void read_handoff(sqlite3_stmt *s, struct arena *arena, struct handoff_row *ret)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);
	int flags = sqlite3_column_int(s, 18);

	*ret = (struct handoff_row){
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
	};
	if (ret->target == ret->agent)
		ret->target_name = ret->agent_name;
}

static enum store_status one_handoff(struct store_conn *c, sqlite3_stmt *s, struct arena *arena,
				     struct handoff_row *ret)
{
	enum store_status status = sqlite_step_row(c, s);

	if (status == STORE_OK)
		read_handoff(s, arena, ret);
	sqlite3_reset(s);
	return status;
}

static enum store_status last_handoff(struct store_conn *c, int64_t space, uint64_t *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_LAST);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	if (sqlite_of(c)->last_space == space) {
		*ret = sqlite_of(c)->last_handoff;
		return STORE_OK;
	}
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		*ret = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX;
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_handoff_insert(struct store_conn *c, struct handoff_row *h)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_INSERT);
	uint64_t last = 0;
	enum store_status status = last_handoff(c, h->space, &last);

	if (s == NULL)
		return STORE_FAILED;
	if (status != STORE_OK)
		return status;
	h->num = last + 1;
	bind_handoff(s, h);
	sqlite3_bind_int64(s, 2, sqlite_memory_key(h->space, h->envelope));
	sqlite3_bind_int64(s, 6, h->created_at_ms);
	sqlite_bind_str(s, 7, h->from);
	status = sqlite_run(c, s);
	if (status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0)
		return STORE_EXISTS;
	if (status == STORE_OK) {
		sqlite_of(c)->last_space = h->space;
		sqlite_of(c)->last_handoff = h->num;
	}
	return status;
}

static enum store_status put_handoff(struct store_conn *c, enum sqlite_statement which, const struct handoff_row *h)
{
	sqlite3_stmt *s = sqlite_statement(c, which);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	bind_handoff(s, h);
	status = sqlite_run(c, s);
	return status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0 ? STORE_NOT_FOUND : status;
}

/* Target and channel seldom change, and SQLite writes the indexes of each column that it is told to set, changed or
 * not. */
enum store_status sqlite_handoff_put(struct store_conn *c, const struct handoff_row *h)
{
	enum store_status status = put_handoff(c, SQL_HANDOFF_PUT, h);

	return status == STORE_NOT_FOUND ? put_handoff(c, SQL_HANDOFF_REROUTE, h) : status;
}

enum store_status sqlite_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				    struct handoff_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_GET);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	return one_handoff(c, s, arena, ret);
}

enum store_status sqlite_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
				     struct arena *arena, struct handoff_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_FIND);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, target);
	return one_handoff(c, s, arena, ret);
}

enum store_status sqlite_handoff_of_agent(struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent,
					 uint64_t but, uint64_t *ret_num)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_OF_AGENT);
	enum store_status status;
	int64_t key = 0;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, agent);
	sqlite3_bind_int64(s, 3, sqlite_memory_key(space, but));
	status = sqlite_read_int(c, s, &key);
	if (status == STORE_OK)
		*ret_num = (uint64_t)key & MEMORY_NUM_MAX;
	return status;
}

enum store_status sqlite_handoff_next(struct store_conn *c, int64_t agent, struct arena *arena, struct handoff_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_NEXT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	return one_handoff(c, s, arena, ret);
}

enum store_status sqlite_handoff_put_off(struct store_conn *c, int64_t agent, int64_t now_ms, uint64_t *ret_num)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_PUT_OFF);
	enum store_status status;
	int64_t key = 0;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	sqlite3_bind_int64(s, 2, now_ms);
	status = sqlite_read_int(c, s, &key);
	if (status == STORE_OK)
		*ret_num = (uint64_t)key & MEMORY_NUM_MAX;
	return status;
}

enum store_status sqlite_handoff_behind(struct store_conn *c, const struct handoff_row *h, struct arena *arena,
				       struct handoff_row *ret)
{
	static const enum sqlite_statement which[] = {SQL_HANDOFF_BEHIND, SQL_HANDOFF_BELOW};
	enum store_status status = STORE_NOT_FOUND;

	for (int i = 0; i < 2 && status == STORE_NOT_FOUND; i++) {
		sqlite3_stmt *s = sqlite_statement(c, which[i]);

		if (s == NULL)
			return STORE_FAILED;
		sqlite3_bind_int64(s, 1, h->agent);
		sqlite3_bind_int(s, 2, h->priority);
		if (i == 0)
			sqlite3_bind_int64(s, 3, sqlite_memory_key(h->space, h->num));
		status = one_handoff(c, s, arena, ret);
	}
	return status;
}

enum store_status sqlite_handoffs_held(struct store_conn *c, int64_t agent, struct str receiver, size_t max,
				      struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFFS_HELD);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, agent);
	sqlite_bind_str(s, 2, receiver);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_handoff(s, arena, &ret[count++]);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

enum store_status sqlite_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_DUE);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, now_ms);
	return one_handoff(c, s, arena, ret);
}

enum store_status sqlite_handoff_next_due(struct store_conn *c, int64_t *ret_ms)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_HANDOFF_NEXT_DUE);

	return s ? sqlite_read_int(c, s, ret_ms) : STORE_FAILED;
}

/* The statement whose index fits best. */
static enum sqlite_statement list_statement(const struct handoff_filter *f)
{
	if (f->untold)
		return SQL_HANDOFFS_UNTOLD;
	if (f->envelope)
		return f->newest_first ? SQL_HANDOFFS_OF_ENVELOPE_NEWEST : SQL_HANDOFFS_OF_ENVELOPE;
	if (f->states == 1u << HANDOFF_PARKED)
		return f->newest_first ? SQL_HANDOFFS_PARKED_NEWEST : SQL_HANDOFFS_PARKED;
	return f->newest_first ? SQL_HANDOFFS_NEWEST : SQL_HANDOFFS;
}

enum store_status sqlite_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max,
				 struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	enum sqlite_statement which = list_statement(filter);
	sqlite3_stmt *s = sqlite_statement(c, which);
	int64_t from = sqlite_memory_key(filter->space, filter->newest_first ? 0 : after);
	int64_t to = sqlite_memory_key(filter->space + 1, 0);
	size_t count = 0;
	int rc;

	assert(!filter->newest_first || !filter->untold);
	if (s == NULL)
		return STORE_FAILED;
	if (filter->newest_first && after)
		to = sqlite_memory_key(filter->space, after);
	sqlite3_bind_int64(s, 1, from);
	sqlite3_bind_int64(s, 2, to);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	sqlite3_bind_int64(s, 4, filter->states);
	sqlite3_bind_int64(s, 5, filter->agent);
	sqlite3_bind_int64(s, 6, filter->channel);
	sqlite_bind_str(s, 7, filter->from);
	sqlite3_bind_int(s, 8, filter->untold);
	if (filter->envelope && !filter->untold)
		sqlite3_bind_int64(s, 9, sqlite_memory_key(filter->space, filter->envelope));
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_handoff(s, arena, &ret[count++]);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

enum store_status sqlite_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				   const struct result_row *result)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_RESULT_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	sqlite_bind_str(s, 2, result->result);
	sqlite_bind_str(s, 3, result->gaps);
	sqlite3_bind_int64(s, 4, result->input_tokens);
	sqlite3_bind_int(s, 5, (int)result->form);
	sqlite3_bind_int64(s, 6, (int64_t)result->memory);
	return sqlite_run(c, s);
}

enum store_status sqlite_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				   struct result_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_RESULT_GET);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		*ret = (struct result_row){
			.result = sqlite_column_str(s, 0, arena),
			.gaps = sqlite_column_str(s, 1, arena),
			.input_tokens = sqlite3_column_int64(s, 2),
			.form = (enum result_form)sqlite3_column_int(s, 3),
			.memory = (uint64_t)sqlite3_column_int64(s, 4),
		};
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_RESULT_FIND);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		*ret = (struct result_row){.form = (enum result_form)sqlite3_column_int(s, 0),
					   .memory = (uint64_t)sqlite3_column_int64(s, 1)};
	sqlite3_reset(s);
	return status;
}
