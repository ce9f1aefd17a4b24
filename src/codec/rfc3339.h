/* RFC 3339 times, read. (Writing them is clock_format's.) */
#ifndef SPINE_CODEC_RFC3339_H
#define SPINE_CODEC_RFC3339_H

#include "base/str.h"

/* "2026-01-30T00:00:00Z", with any fraction (cut to milliseconds) and any offset, years 1970 to 9999. False, and *ret_ms untouched,
 * where s is not such a time or not a date of the calendar. A leap second (":60") is taken as the second after. */
bool rfc3339_parse(struct str s, int64_t *ret_ms);

#endif
