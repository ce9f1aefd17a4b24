/* Times as people type them. */
#ifndef SPINE_CLI_WHEN_H
#define SPINE_CLI_WHEN_H

#include "base/arena.h"
#include "base/str.h"

/* "2026-01-30T12:00:00Z" (RFC 3339, any offset), "2026-01-30" (its beginning, in UTC), or "90m", "2h", "7d": that
 * long before now. False, and *ret_ms untouched, where it is none of these. */
bool when_parse(struct str text, int64_t now_ms, int64_t *ret_ms);
#define WHEN_EXPECTED "a time such as 2026-01-30T12:00:00Z, a date, or how long ago: 90m, 2h, 7d"

/* The same, but "90m" is that long from now. */
bool when_parse_later(struct str text, int64_t now_ms, int64_t *ret_ms);
#define WHEN_LATER_EXPECTED "a time such as 2026-01-30T12:00:00Z, a date, or how long from now: 90m, 2h, 7d"

/* "3d", "5m", "now"; in the arena. "" where time is not RFC 3339. */
struct str when_age(struct arena *arena, struct str time, int64_t now_ms);

#endif
