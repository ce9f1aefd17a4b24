/* Rows that are gathered for one statement: each column becomes an array, which the statement unnests. */
#ifndef SPINE_STORE_POSTGRES_TABLE_H
#define SPINE_STORE_POSTGRES_TABLE_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

enum { POSTGRES_COLUMNS = 32 };

/* As PostgreSQL takes an array: a head, then each value with its length. */
struct postgres_array {
	char *bytes;
	size_t len, cap;
	uint32_t type;		/* PostgreSQL's number of it */
	bool has_null;
};

struct postgres_table {
	struct postgres_array columns[POSTGRES_COLUMNS];
	size_t column_count, row_count, bytes;
	size_t next;		/* the column that the next value is for */
};

/* All zeros is a table without rows. NULL-safe. */
void postgres_table_release(struct postgres_table *t);
/* Without rows again; the memory is kept for the next ones. */
void postgres_table_clear(struct postgres_table *t);

/* The next value of the row; all rows have the same columns. */
void postgres_table_int(struct postgres_table *t, int64_t value);
void postgres_table_real(struct postgres_table *t, double value);
/* p == NULL: NULL. */
void postgres_table_str(struct postgres_table *t, struct str value);
void postgres_table_end_row(struct postgres_table *t);

/* The rows of another table with the same columns. */
void postgres_table_append(struct postgres_table *t, const struct postgres_table *from);

/* A column as it is sent. Borrowed until the table changes. */
struct str postgres_table_column(struct postgres_table *t, size_t column);

#endif
