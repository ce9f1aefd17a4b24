#include "store/postgres/postgres_table.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many dimensions, whether there is a NULL, the type; then how many values, counted from which. */
enum { HEAD = 5 * 4, COLUMN_MIN = 1024, BYTEA = 17, INT8 = 20, FLOAT8 = 701 };

static void put_big(char *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)(value >> 8 * (size - 1 - i));
}

static char *extend(struct postgres_array *a, size_t size, uint32_t type)
{
	char *at;

	if (a->len == 0) {
		a->len = HEAD;
		a->type = type;
	}
	assert(a->type == type);
	while (a->len + size > a->cap) {
		a->cap = a->cap ? a->cap * 2 : COLUMN_MIN;
		a->bytes = mem_realloc(a->bytes, a->cap);
	}
	at = a->bytes + a->len;
	a->len += size;
	return at;
}

static char *room(struct postgres_table *t, size_t size, uint32_t type)
{
	assert(t->next < POSTGRES_COLUMNS);
	t->bytes += size;
	return extend(&t->columns[t->next++], size, type);
}

static void put_number(struct postgres_table *t, uint32_t type, uint64_t bits)
{
	char *at = room(t, 4 + sizeof(bits), type);

	put_big(at, sizeof(bits), 4);
	put_big(at + 4, bits, sizeof(bits));
}

void postgres_table_int(struct postgres_table *t, int64_t value)
{
	put_number(t, INT8, (uint64_t)value);
}

void postgres_table_real(struct postgres_table *t, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_number(t, FLOAT8, bits);
}

void postgres_table_str(struct postgres_table *t, struct str value)
{
	size_t column = t->next, len = value.p ? value.n : 0;
	char *at = room(t, 4 + len, BYTEA);

	put_big(at, value.p ? len : UINT32_MAX, 4);
	if (len)
		memcpy(at + 4, value.p, len);
	t->columns[column].has_null |= value.p == NULL;
}

void postgres_table_end_row(struct postgres_table *t)
{
	assert(t->row_count == 0 || t->next == t->column_count);
	t->column_count = t->next;
	t->next = 0;
	t->row_count++;
}

void postgres_table_append(struct postgres_table *t, const struct postgres_table *from)
{
	if (from->row_count == 0)
		return;
	assert(t->row_count == 0 || t->column_count == from->column_count);
	for (size_t i = 0; i < from->column_count; i++) {
		const struct postgres_array *a = &from->columns[i];
		size_t size = a->len - HEAD;

		memcpy(extend(&t->columns[i], size, a->type), a->bytes + HEAD, size);
		t->columns[i].has_null |= a->has_null;
		t->bytes += size;
	}
	t->column_count = from->column_count;
	t->row_count += from->row_count;
}

struct str postgres_table_column(struct postgres_table *t, size_t column)
{
	struct postgres_array *a = &t->columns[column];

	assert(t->row_count && column < t->column_count);
	put_big(a->bytes, 1, 4);
	put_big(a->bytes + 4, a->has_null, 4);
	put_big(a->bytes + 8, a->type, 4);
	put_big(a->bytes + 12, t->row_count, 4);
	put_big(a->bytes + 16, 1, 4);
	return (struct str){a->bytes, a->len};
}

void postgres_table_clear(struct postgres_table *t)
{
	for (size_t i = 0; i < POSTGRES_COLUMNS; i++) {
		t->columns[i].len = 0;
		t->columns[i].has_null = false;
	}
	t->row_count = t->next = t->bytes = 0;
}

void postgres_table_release(struct postgres_table *t)
{
	for (size_t i = 0; t && i < POSTGRES_COLUMNS; i++)
		free(t->columns[i].bytes);
}
