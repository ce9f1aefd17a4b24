/* What of the store was found to be damaged since the start: logged once for each place, and counted for readiness and
 * alerts. From any thread. */
#ifndef SPINE_ENGINE_DAMAGE_H
#define SPINE_ENGINE_DAMAGE_H

#include "base/log.h"

#include <stddef.h>

struct damage;

/* Returns owned. Borrows the log, which may be NULL. */
struct damage *damage_new(const struct log *log);
/* NULL-safe. */
void damage_free(struct damage *d);
/* Somebody has met it; what is the store's sentence (store_error). True where it is new. */
bool damage_note(struct damage *d, const char *what);
/* How many places; from DAMAGE_MAX on no more are told apart. */
enum { DAMAGE_MAX = 64 };
size_t damage_count(struct damage *d);

#endif
