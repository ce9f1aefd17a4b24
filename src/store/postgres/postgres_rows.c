/* What a statement gives: rows in PostgreSQL's binary form. */
#include "store/postgres/postgres_internal.h"

#include <arpa/inet.h>
#include <endian.h>

bool postgres_column_is_null(const struct postgres_row *r, int column)
{
	return PQgetisnull(r->result, r->at, column) != 0;
}

/* Integers have the size of their type; a boolean is one byte. */
int64_t postgres_column_int(const struct postgres_row *r, int column)
{
	const char *bytes = PQgetvalue(r->result, r->at, column);
	uint64_t large;
	uint32_t medium;
	uint16_t small;

	if (postgres_column_is_null(r, column))
		return 0;
	switch (PQgetlength(r->result, r->at, column)) {
	case 8:
		memcpy(&large, bytes, sizeof(large));
		return (int64_t)be64toh(large);
	case 4:
		memcpy(&medium, bytes, sizeof(medium));
		return (int32_t)ntohl(medium);
	case 2:
		memcpy(&small, bytes, sizeof(small));
		return (int16_t)ntohs(small);
	default:
		return bytes[0];
	}
}

double postgres_column_real(const struct postgres_row *r, int column)
{
	int64_t bits = postgres_column_int(r, column);
	double value;

	_Static_assert(sizeof(value) == sizeof(bits), "double precision has 8 bytes");
	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct str postgres_column_str(const struct postgres_row *r, int column, struct arena *arena)
{
	if (postgres_column_is_null(r, column))
		return STR_NULL;
	return arena_str(arena, (struct str){PQgetvalue(r->result, r->at, column),
					     (size_t)PQgetlength(r->result, r->at, column)});
}

void postgres_column_digest(const struct postgres_row *r, int column, uint8_t ret[32])
{
	if (!postgres_column_is_null(r, column) && PQgetlength(r->result, r->at, column) == 32)
		memcpy(ret, PQgetvalue(r->result, r->at, column), 32);
}

enum store_status postgres_read_one(struct postgres_query *q, postgres_read *read, struct arena *arena, void *ret)
{
	PGresult *result = NULL;
	enum store_status status = postgres_read_all(q, &result);

	if (status != STORE_OK)
		return status;
	if (PQntuples(result) == 0)
		status = STORE_NOT_FOUND;
	else
		read(&(struct postgres_row){result, 0}, arena, ret);
	PQclear(result);
	return status;
}

enum store_status postgres_read_list(struct postgres_query *q, postgres_read *read, struct arena *arena, void *ret,
				     size_t row_size, size_t max, size_t *ret_count)
{
	PGresult *result = NULL;
	enum store_status status = postgres_read_all(q, &result);
	size_t count;

	*ret_count = 0;
	if (status != STORE_OK)
		return status;
	count = (size_t)PQntuples(result);
	count = count < max ? count : max;
	for (size_t i = 0; i < count; i++)
		read(&(struct postgres_row){result, (int)i}, arena, (char *)ret + row_size * i);
	*ret_count = count;
	PQclear(result);
	return STORE_OK;
}

void postgres_read_str(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct str *)ret = postgres_column_str(r, 0, arena);
}

static void read_int(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(int64_t *)ret = postgres_column_int(r, 0);
}

static void read_num(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(uint64_t *)ret = (uint64_t)postgres_column_int(r, 0) & MEMORY_NUM_MAX;
}

enum store_status postgres_read_int(struct postgres_query *q, int64_t *ret)
{
	return postgres_read_one(q, read_int, NULL, ret);
}

enum store_status postgres_read_num(struct postgres_query *q, uint64_t *ret)
{
	return postgres_read_one(q, read_num, NULL, ret);
}
