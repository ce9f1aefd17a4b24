/* date "T" time offset (RFC 3339, 5.6), and the days between a date and 1970 by H. Hinnant's "chrono-compatible
 * low-level date algorithms", the reverse of what base/clock.c does: no table, no locale, no time zone of the machine.
 */
#include "codec/rfc3339.h"

/* The first millisecond of the year 10000. */
#define END_MS (INT64_C(253402300800) * 1000)

struct fields {
	int year, month, day;
	int hour, minute, second, ms;
	int offset_minutes;	/* of the local time from UTC */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Each take_… removes what it read from the front of *s. */
static bool take_number(struct str *s, size_t digits, int *ret)
{
	int value = 0;

	if (s->n < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (!is_digit(s->p[i]))
			return false;
		value = value * 10 + (s->p[i] - '0');
	}
	*s = str_sub(*s, digits, s->n);
	*ret = value;
	return true;
}

static bool take_char(struct str *s, char c)
{
	if (s->n == 0 || *s->p != c)
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

/* ".5" is 500 ms; what is finer than a millisecond is cut. */
static bool take_fraction(struct str *s, int *ret_ms)
{
	int ms = 0, unit = 100;

	if (!take_char(s, '.')) {
		*ret_ms = 0;
		return true;
	}
	if (s->n == 0 || !is_digit(*s->p))
		return false;
	while (s->n > 0 && is_digit(*s->p)) {
		ms += (*s->p - '0') * unit;
		unit /= 10;
		*s = str_sub(*s, 1, s->n);
	}
	*ret_ms = ms;
	return true;
}

static bool take_offset(struct str *s, int *ret_minutes)
{
	int hours, minutes, sign = 1;

	if (take_char(s, 'Z') || take_char(s, 'z')) {
		*ret_minutes = 0;
		return true;
	}
	if (take_char(s, '-'))
		sign = -1;
	else if (!take_char(s, '+'))
		return false;
	if (!take_number(s, 2, &hours) || !take_char(s, ':') || !take_number(s, 2, &minutes))
		return false;
	if (hours > 23 || minutes > 59)
		return false;
	*ret_minutes = sign * (hours * 60 + minutes);
	return true;
}

static bool take_fields(struct str s, struct fields *ret)
{
	return take_number(&s, 4, &ret->year) && take_char(&s, '-') && take_number(&s, 2, &ret->month) &&
	       take_char(&s, '-') && take_number(&s, 2, &ret->day) && (take_char(&s, 'T') || take_char(&s, 't')) &&
	       take_number(&s, 2, &ret->hour) && take_char(&s, ':') && take_number(&s, 2, &ret->minute) &&
	       take_char(&s, ':') && take_number(&s, 2, &ret->second) && take_fraction(&s, &ret->ms) &&
	       take_offset(&s, &ret->offset_minutes) && s.n == 0;
}

static int days_in_month(int year, int month)
{
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (month == 2)
		return leap ? 29 : 28;
	return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* Years start in March here, so that the leap day is the last of its year. year is not negative. */
static int64_t days_of_date(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, yoe = y % 400;
	int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

bool rfc3339_parse(struct str s, int64_t *ret_ms)
{
	struct fields f;
	int64_t seconds, ms;

	if (!take_fields(s, &f))
		return false;
	if (f.year < 1969 || f.month < 1 || f.month > 12 || f.day < 1 || f.day > days_in_month(f.year, f.month))
		return false;
	if (f.hour > 23 || f.minute > 59 || f.second > 60)
		return false;
	seconds = days_of_date(f.year, f.month, f.day) * 86400 + f.hour * 3600 + f.minute * 60 + f.second -
		  f.offset_minutes * 60;
	/* A leap second ends a day of UTC and has no number of its own. */
	if (f.second == 60 && seconds % 86400 != 0)
		return false;
	ms = seconds * 1000 + f.ms;
	if (ms < 0 || ms >= END_MS)
		return false;
	*ret_ms = ms;
	return true;
}
