/* The database of a store by SQL, as somebody might change it who knows how its pages get their checksums. SQLite alone
 * writes pages without, and they are taken for damaged. */
#ifndef SPINE_TESTS_TEMP_DATABASE_H
#define SPINE_TESTS_TEMP_DATABASE_H

#include <sqlite3.h>

/* A store was opened before: the layer that it reaches the disk through is registered then. */
static inline int temp_database(const char *file, sqlite3 **ret)
{
	return sqlite3_open_v2(file, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "spine");
}

#endif
