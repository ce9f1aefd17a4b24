/* What only an engine with files of its own can do, beside the verbs: whole copies, checks, rows kept in memory.
 *
 * With another engine's connection backup and check answer STORE_REFUSED, and the rest does nothing.
 */
#ifndef SPINE_STORE_EMBEDDED_H
#define SPINE_STORE_EMBEDDED_H

#include "store/store.h"

/* --- Rows kept in memory --- */

/* A reader in the writer's own process: rows that one of them has read need not be read again by the other. The writer
 * is closed after the reader. */
void store_share(struct store_conn *reader, const struct store_conn *writer);
/* How much memory the rows that are shared may take, about; 0: none are kept. Of the writer, before anybody shares with
 * it. */
void store_set_cache(struct store_conn *writer, size_t max_bytes);
/* How much they take now. */
size_t store_cache_bytes(const struct store_conn *writer);
/* Direct: what is read comes from the disk, also where a shared row is at hand. For those who check. */
void store_set_direct(struct store_conn *c, bool is_direct);

/* --- The whole --- */

/* Of the library that the files are read and written with. */
const char *store_library_version(void);

/* To read a backup, wherever it lies. Returns owned, or NULL and what is wrong with it. */
struct store_conn *store_open_file(const char *file, struct buf *error);
/* A consistent copy in a new file, also beside a server. */
enum store_status store_backup(struct store_conn *c, const char *file, struct buf *error);
/* Verifies the engine's structures and our own invariants; a line per problem. */
enum store_status store_check(struct store_conn *c, struct store_check *ret, struct buf *ret_problems);
/* Makes a data directory and those above it, 0700; one that is there keeps its mode. Then it is this server's, though
 * its store is elsewhere: no other one opens it, or a store in it. Returns owned; NULL: see *error. */
struct store_directory *store_directory_take(const char *data_dir, struct buf *error);
void store_directory_free(struct store_directory *d);
/* Only makes it. */
bool store_make_directory(const char *data_dir, struct buf *error);
/* A file that is written under the first name, beside its own, and gets its own when it is whole: synced, never over
 * another. The name is returned owned. What cannot be placed is removed. */
char *store_part_of(const char *file);
bool store_place(const char *part, const char *file, struct buf *error);
/* Replaces the store of data_dir by a backup; the lock must be free. Where a store is there and replace is set, it is
 * kept under the name put into *ret_kept. */
enum store_status store_restore(const char *data_dir, const char *file, bool replace, struct buf *ret_kept,
				struct buf *error);

#endif
