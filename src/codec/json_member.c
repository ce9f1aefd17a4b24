#include "codec/json_member.h"

#include "base/clock.h"

void json_member_null(struct json_writer *w, const char *key)
{
	json_key(w, key);
	json_put_null(w);
}

void json_member_optional(struct json_writer *w, const char *key, struct str value)
{
	if (value.p)
		json_member_str(w, key, value);
	else
		json_member_null(w, key);
}

void json_member_time(struct json_writer *w, const char *key, int64_t ms)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(ms, text);
	json_member_cstr(w, key, text);
}

void json_member_time_optional(struct json_writer *w, const char *key, int64_t ms)
{
	if (ms)
		json_member_time(w, key, ms);
	else
		json_member_null(w, key);
}

struct str json_canonical(const struct json *value, size_t max, struct arena *arena)
{
	struct json_writer w;
	struct buf text;
	struct str copy;

	buf_init(&text, max);
	json_writer_init(&w, &text);
	json_put_canonical(&w, value);
	copy = buf_overflowed(&text) ? STR_NULL : arena_str(arena, buf_str(&text));
	buf_release(&text);
	return copy;
}
