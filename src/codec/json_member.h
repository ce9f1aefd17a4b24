/* Members of the kinds that answers are full of: a text or null, a time, a digest. */
#ifndef SPINE_CODEC_JSON_MEMBER_H
#define SPINE_CODEC_JSON_MEMBER_H

#include "codec/json.h"

/* null where value.p is NULL. */
void json_member_optional(struct json_writer *w, const char *key, struct str value);
void json_member_null(struct json_writer *w, const char *key);
/* "2026-01-30T00:00:00.000Z"; 0 is a time, too, the first one. */
void json_member_time(struct json_writer *w, const char *key, int64_t ms);
/* The same; null for 0, where that means that there is none. */
void json_member_time_optional(struct json_writer *w, const char *key, int64_t ms);
/* The canonical JSON of a value, in the arena; p == NULL where it is longer than max bytes. */
struct str json_canonical(const struct json *value, size_t max, struct arena *arena);

#endif
