#include "cli/when.h"

#include "base/options.h"
#include "codec/rfc3339.h"

/* 90m, 2h, 7d */
static bool parse_span(struct str text, int64_t *ret_ms)
{
	static const struct option duration = {.type = OPTION_DURATION};
	struct option_value value = {0};
	struct arena arena;
	struct buf error;
	bool good;

	/* Without a unit it could be a year as well as a number of seconds. */
	if (text.n == 0 || (text.p[text.n - 1] >= '0' && text.p[text.n - 1] <= '9'))
		return false;
	arena_init(&arena);
	buf_init(&error, 1024);
	good = option_parse(&duration, text, &arena, &value, &error);
	if (good)
		*ret_ms = value.number;
	buf_release(&error);
	arena_release(&arena);
	return good;
}

static bool parse_time(struct str text, int64_t *ret_ms)
{
	char date[] = "0000-00-00T00:00:00Z";

	if (rfc3339_parse(text, ret_ms))
		return true;
	if (text.n == 10 && text.p[4] == '-') {
		memcpy(date, text.p, 10);
		return rfc3339_parse(str_of(date), ret_ms);
	}
	return false;
}

bool when_parse(struct str text, int64_t now_ms, int64_t *ret_ms)
{
	int64_t span_ms;

	if (parse_time(text, ret_ms))
		return true;
	if (!parse_span(text, &span_ms) || span_ms > now_ms)
		return false;
	*ret_ms = now_ms - span_ms;
	return true;
}

bool when_parse_later(struct str text, int64_t now_ms, int64_t *ret_ms)
{
	int64_t span_ms;

	if (parse_time(text, ret_ms))
		return true;
	if (!parse_span(text, &span_ms) || span_ms > INT64_MAX - now_ms)
		return false;
	*ret_ms = now_ms + span_ms;
	return true;
}

struct str when_age(struct arena *arena, struct str time, int64_t now_ms)
{
	static const struct { int64_t ms; const char *unit; } units[] = {
		{365 * 86400000LL, "y"}, {7 * 86400000LL, "w"}, {86400000, "d"}, {3600000, "h"}, {60000, "m"},
		{1000, "s"},
	};
	int64_t then_ms, age_ms;

	if (!rfc3339_parse(time, &then_ms))
		return STR("");
	age_ms = now_ms - then_ms;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (age_ms >= units[i].ms)
			return arena_printf(arena, "%lld%s", (long long)(age_ms / units[i].ms), units[i].unit);
	return STR("now");
}
