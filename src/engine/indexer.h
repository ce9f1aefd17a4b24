/* Builds the index of a space when it is first needed, on a thread of its own, while the requests that need it wait.
 *
 * An index is not built at start: a server with a million memories must be ready in a second. */
#ifndef SPINE_ENGINE_INDEXER_H
#define SPINE_ENGINE_INDEXER_H

#include "base/log.h"
#include "core/memory/recall.h"
#include "engine/spaces.h"

struct indexer;

/* Returns owned, with its thread running. Everything is borrowed. */
struct indexer *indexer_start(struct recall *recall, struct spaces *spaces, const char *data_dir,
			      const struct log *log);
/* Calls fn on the indexer's thread once the index of the space is ready, or could not be built: then status is not
 * STORE_OK, and why, borrowed for the call, says it. */
typedef void indexer_fn(void *arg, enum store_status status, const char *why);
/* From any thread. */
void indexer_request(struct indexer *x, int64_t space, indexer_fn *fn, void *arg);
/* Does what was requested, then ends the thread and frees. NULL-safe. */
void indexer_stop(struct indexer *x);

#endif
