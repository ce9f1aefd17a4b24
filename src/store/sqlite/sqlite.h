/* The engine that keeps a store in files of a data directory. What store_open and store_is_missing call. */
#ifndef SPINE_STORE_SQLITE_H
#define SPINE_STORE_SQLITE_H

#include "store/store.h"

struct store_conn *sqlite_open(const char *data_dir, enum store_mode mode, struct buf *error);
bool sqlite_is_missing(const char *data_dir);

#endif
