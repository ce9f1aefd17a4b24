/* Statements: prepared once in a session, sent with parameters in binary form. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

/* PostgreSQL's numbers of its types. 0: it finds out by itself. */
enum { OF_ITSELF = 0, INT8 = 20, FLOAT8 = 701 };

void postgres_query(struct postgres_query *q, struct store_conn *c, const char *sql)
{
	q->c = c;
	q->sql = sql;
	q->count = 0;
	q->is_apart = q->is_gathered = false;
	postgres_bind_int(q, 1, postgres_of(c)->shard);
}

void postgres_query_apart(struct postgres_query *q, struct store_conn *c, const char *sql)
{
	postgres_query(q, c, sql);
	q->is_apart = true;
}

/* The next ones up to this are NULL until they are bound. */
static int place_of(struct postgres_query *q, int index)
{
	assert(index >= 1 && index <= POSTGRES_PARAMS);
	for (; q->count < index; q->count++) {
		q->types[q->count] = OF_ITSELF;
		q->values[q->count] = NULL;
		q->lengths[q->count] = 0;
	}
	return index - 1;
}

static void bind_number(struct postgres_query *q, int index, Oid type, uint64_t bits)
{
	int i = place_of(q, index);

	q->numbers[i] = htobe64(bits);
	q->types[i] = type;
	q->values[i] = (const char *)&q->numbers[i];
	q->lengths[i] = sizeof(q->numbers[i]);
}

void postgres_bind_int(struct postgres_query *q, int index, int64_t value)
{
	bind_number(q, index, INT8, (uint64_t)value);
}

void postgres_bind_real(struct postgres_query *q, int index, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bind_number(q, index, FLOAT8, bits);
}

void postgres_bind_str(struct postgres_query *q, int index, struct str value)
{
	int i = place_of(q, index);

	q->values[i] = value.p;
	q->lengths[i] = (int)value.n;
}

void postgres_bind_digest(struct postgres_query *q, int index, const uint8_t digest[32])
{
	postgres_bind_str(q, index, (struct str){(const char *)digest, 32});
}

static char *put_big(char *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)(value >> 8 * (size - 1 - i));
	return at + size;
}

/* As PostgreSQL sends an array: how many dimensions, no NULL in it, of which type; how many there are, from 1 on; then
 * each with its length. */
struct str postgres_ints(struct arena *arena, const int64_t *values, size_t count)
{
	enum { HEAD = 5 * 4, ENTRY = 4 + 8 };
	char *bytes = arena_alloc(arena, HEAD + count * ENTRY), *at = bytes;

	at = put_big(at, count > 0, 4);
	at = put_big(at, 0, 4);
	at = put_big(at, INT8, 4);
	if (count) {
		at = put_big(at, count, 4);
		at = put_big(at, 1, 4);
	}
	for (size_t i = 0; i < count; i++) {
		at = put_big(at, sizeof(values[i]), 4);
		at = put_big(at, (uint64_t)values[i], sizeof(values[i]));
	}
	return (struct str){bytes, (size_t)(at - bytes)};
}

/* --- Sending --- */

/* Texts are told apart by their place, which never changes. */
static size_t prepared_at(const struct postgres_session *s, const char *sql)
{
	size_t at = (size_t)((uint64_t)(uintptr_t)sql * UINT64_C(0x9e3779b97f4a7c15) >> 55);

	_Static_assert(POSTGRES_STATEMENTS == 512, ">> 55");
	while (s->prepared[at] && s->prepared[at] != sql)
		at = (at + 1) % POSTGRES_STATEMENTS;
	return at;
}

static void note_sent(struct postgres_session *s, struct postgres_sent what)
{
	s->sent[(s->sent_at + s->sent_count++) % POSTGRES_PENDING] = what;
}

/* Sends it, after what prepares it where this is its first use. */
static enum store_status sent(struct postgres_query *q)
{
	static const int formats[POSTGRES_PARAMS] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	};
	enum store_status status = q->is_apart ? STORE_OK : postgres_kept_send(q->c);
	struct postgres_session *s;
	char name[24];
	size_t at;

	if (status == STORE_OK)
		status = postgres_begin_now(q->c);
	if (status != STORE_OK)
		return status;
	s = postgres_of(q->c)->session;
	at = prepared_at(s, q->sql);
	snprintf(name, sizeof(name), "s%zu", at);
	if (s->prepared[at] == NULL) {
		assert(s->prepared_count < POSTGRES_STATEMENTS / 4 * 3);
		if (!PQsendPrepare(s->db, name, q->sql, q->count, q->types))
			return postgres_lost(q->c);
		s->prepared[at] = q->sql;
		s->prepared_count++;
		note_sent(s, (struct postgres_sent){.prepares = at + 1});
	}
	if (!PQsendQueryPrepared(s->db, name, q->count, q->values, q->lengths, formats, 1))
		return postgres_lost(q->c);
	note_sent(s, (struct postgres_sent){.is_gathered = q->is_gathered});
	return STORE_OK;
}

static enum store_status read_once(struct postgres_query *q, PGresult **ret)
{
	enum store_status status = sent(q);

	return status == STORE_OK ? postgres_answer(q->c, ret) : status;
}

/* A reader's session may have broken while it lay in the pool: another one can tell. */
enum store_status postgres_read_all(struct postgres_query *q, PGresult **ret)
{
	struct postgres_conn *c = postgres_of(q->c);
	enum store_status status;

	c->was_lost = false;
	status = read_once(q, ret);
	return q->c->is_reader && c->was_lost ? read_once(q, ret) : status;
}

/* More than the ring has room for is not left unanswered. While the database knows nothing of the transaction, it need
 * not hear of it before the commit. */
enum store_status postgres_run(struct postgres_query *q)
{
	struct postgres_conn *c = postgres_of(q->c);
	PGresult *result = NULL;
	enum store_status status;

	if (c->is_broken)
		return c->why_broken;
	if (q->is_apart && !c->is_begun && postgres_keeps(q->c))
		return postgres_kept_statement(q->c, q);
	status = sent(q);
	if (status != STORE_OK || c->session->sent_count < POSTGRES_PENDING - 8)
		return status;
	status = postgres_answer(q->c, &result);
	PQclear(result);
	return status;
}

enum store_status postgres_run_count(struct postgres_query *q, int64_t *ret)
{
	PGresult *result = NULL;
	enum store_status status = postgres_read_all(q, &result);

	if (status == STORE_OK)
		*ret = strtoll(PQcmdTuples(result), NULL, 10);
	PQclear(result);
	return status;
}

enum store_status postgres_run_change(struct postgres_query *q)
{
	int64_t changed = 0;
	enum store_status status = postgres_run_count(q, &changed);

	return status == STORE_OK && changed == 0 ? STORE_NOT_FOUND : status;
}

enum store_status postgres_run_on(struct store_conn *c, const char *sql, int64_t key, int64_t value)
{
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, key);
	postgres_bind_int(&q, 3, value);
	return postgres_run_change(&q);
}
