/* Builds the index of a space when it is first needed, on a thread of its own, while the requests that need it wait.
 *
 * An index is not built at start: a server with a million memories must be ready in a second. */
#ifndef SPINE_ENGINE_INDEXER_H
#define SPINE_ENGINE_INDEXER_H

#include "base/log.h"
#include "core/memory/recall.h"

struct indexer;

/* Returns owned, with its thread running. Everything is borrowed. */
struct indexer *indexer_start(struct recall *recall, const char *data_dir, const struct log *log);
/* Calls fn(arg) on the indexer's thread once the index of the space is ready. From any thread. */
void indexer_request(struct indexer *x, int64_t space, void (*fn)(void *arg), void *arg);
/* Does what was requested, then ends the thread and frees. NULL-safe. */
void indexer_stop(struct indexer *x);

#endif
