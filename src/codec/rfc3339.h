/* RFC 3339 times, read. (Writing them is clock_format's.) */
#ifndef SPINE_CODEC_RFC3339_H
#define SPINE_CODEC_RFC3339_H

#include "base/str.h"

/* "2026-01-30T00:00:00Z", with any fraction (cut to milliseconds) and any offset, years 1970 to 9999 in UTC. False, and
 * *ret_ms untouched, where s is not such a time or not a date of the calendar. A leap second (23:59:60 in UTC) is taken
 * as the second after; ":60" at any other time of the day is refused. */
bool rfc3339_parse(struct str s, int64_t *ret_ms);

#endif
