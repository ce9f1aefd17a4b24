/* The engine on PostgreSQL: one shard of a database. */
#ifndef SPINE_STORE_POSTGRES_H
#define SPINE_STORE_POSTGRES_H

#include "store/store.h"

/* The address is one of libpq's ("postgres://user@host:5432/name?…"), and "#12" behind it names the shard; without it
 * it is the first, 0. See store_open. */
struct store_conn *postgres_open(const char *address, enum store_mode mode, struct buf *error);
bool postgres_is_missing(const char *address);
/* Can the address be read? See store_address_is_good. */
bool postgres_address_is_good(const char *address, struct buf *error);
/* Of what libpq reads whenever it connects (postgres_files.c). */
void postgres_files(const char *address, void (*each)(const char *path, void *arg), void *arg);

#endif
