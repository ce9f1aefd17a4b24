/* The engine that keeps a store in the memory of this process: what store_open and store_is_missing call. */
#ifndef SPINE_STORE_RAM_H
#define SPINE_STORE_RAM_H

#include "store/store.h"

struct store_conn *ram_open(const char *address, enum store_mode mode, struct buf *error);
bool ram_is_missing(const char *address);

#endif
