/* RFC 3339 times: what is read, what is refused, and that reading undoes clock_format. */
#include "codec/rfc3339.h"

#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define LAST_MS INT64_C(253402300799999)	/* 9999-12-31T23:59:59.999Z */

/* Reads a copy that ends where the text ends, so that AddressSanitizer sees a read beyond it. */
static bool parse(struct str s, int64_t *ret_ms)
{
	char *copy = mem_alloc(s.n);
	bool ok;

	if (s.n)
		memcpy(copy, s.p, s.n);
	ok = rfc3339_parse((struct str){copy, s.n}, ret_ms);
	free(copy);
	return ok;
}

static void test_times_are_read_to_the_millisecond(void **state)
{
	static const struct { const char *text; int64_t ms; } cases[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:00.001Z", 1},
		{"2026-01-30T00:00:00Z", 1769731200000},
		{"2026-01-30T12:34:56.789Z", 1769776496789},
		{"2026-01-30t12:34:56.789z", 1769776496789},
		{"2026-01-30T12:34:56.7Z", 1769776496700},
		{"2026-01-30T12:34:56.78Z", 1769776496780},
		{"2026-01-30T12:34:56.7899999999999999999999Z", 1769776496789},
		{"2026-01-30T12:34:56.000000001Z", 1769776496000},
		{"2000-02-29T23:59:59Z", 951868799000},
		{"2024-02-29T00:00:00Z", 1709164800000},
		{"2001-09-09T01:46:40Z", 1000000000000},
		{"2038-01-19T03:14:08Z", 2147483648000},
		{"9999-12-31T23:59:59.999Z", LAST_MS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = -1;

		assert_true(parse(str_of(cases[i].text), &ms));
		assert_int_equal(ms, cases[i].ms);
	}
}

static void test_offsets_lead_to_utc(void **state)
{
	static const struct { const char *text, *utc; } cases[] = {
		{"1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"},
		{"1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000Z"},
		{"1937-01-01T12:00:27.87+00:20", NULL},
		{"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"},
		{"2024-02-28T23:30:00-00:45", "2024-02-29T00:15:00.000Z"},
		{"2026-01-30T12:00:00+05:30", "2026-01-30T06:30:00.000Z"},
		{"2026-01-30T12:00:00-00:00", "2026-01-30T12:00:00.000Z"},
		{"2026-01-30T12:00:00+23:59", "2026-01-29T12:01:00.000Z"},
		{"1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00.000Z"},
		{"1969-12-31T23:00:00-01:00", "1970-01-01T00:00:00.000Z"},
		{"1970-01-01T00:59:59.999+01:00", NULL},
		{"9999-12-31T23:00:00-00:59", "9999-12-31T23:59:00.000Z"},
		{"9999-12-31T23:00:00-01:00", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[CLOCK_TEXT_SIZE];
		int64_t ms = 4711;

		assert_int_equal(parse(str_of(cases[i].text), &ms), cases[i].utc != NULL);
		if (cases[i].utc == NULL)
			continue;
		clock_format(ms, text);
		assert_string_equal(text, cases[i].utc);
	}
}

static void test_a_leap_second_is_the_second_after(void **state)
{
	int64_t leap, after;

	(void)state;
	assert_true(parse(STR("1990-12-31T23:59:60Z"), &leap));
	assert_true(parse(STR("1991-01-01T00:00:00Z"), &after));
	assert_int_equal(leap, after);
	assert_true(parse(STR("1990-12-31T15:59:60.5-08:00"), &leap));
	assert_int_equal(leap, after + 500);
	assert_false(parse(STR("1990-12-31T23:58:60Z"), &leap));
	assert_false(parse(STR("1990-12-31T23:59:60-08:00"), &leap));
	assert_false(parse(STR("9999-12-31T23:59:60Z"), &leap));
}

static void test_what_is_no_such_time_is_refused(void **state)
{
	static const char *const texts[] = {
		"", "2026", "2026-01-30", "12:00:00Z", "2026-01-30T12:00:00", "2026-01-30T12:00Z",
		"2026-01-30T12:00:00ZZ",
		"2026-01-30T12:00:00Z ", " 2026-01-30T12:00:00Z", "2026-01-30 12:00:00Z", "2026-1-30T12:00:00Z",
		"2026-01-30T12:00:00.Z", "2026-01-30T12:00:00,5Z", "2026-01-30T12:00:00.5", "2026-01-30T12:00:00+0100",
		"2026-01-30T12:00:00+01", "2026-01-30T12:00:00+24:00", "2026-01-30T12:00:00+01:60",
		"2026-01-30T12:00:00+1:00",
		"2026-01-30T12:00:00+01:00Z", "2026/01/30T12:00:00Z", "20260130T120000Z", "2026-W05-5T12:00:00Z",
		"2026-030T12:00:00Z", "+2026-01-30T12:00:00Z", "-2026-01-30T12:00:00Z", "12026-01-30T12:00:00Z",
		"2026-01-30T12:00:00 Z", "2026-01-30T-1:00:00Z", "2026-01-3\xd9\xa0T12:00:00Z", "1769731200", "now",
		/* Not of the calendar. */
		"2026-00-30T12:00:00Z", "2026-13-30T12:00:00Z", "2026-01-00T12:00:00Z", "2026-01-32T12:00:00Z",
		"2026-02-29T12:00:00Z", "2024-02-30T12:00:00Z", "2100-02-29T12:00:00Z", "2026-04-31T12:00:00Z",
		"2026-06-31T12:00:00Z", "2026-09-31T12:00:00Z", "2026-11-31T12:00:00Z", "2026-01-30T24:00:00Z",
		"2026-01-30T12:60:00Z", "2026-01-30T12:00:61Z", "2026-01-30T12:00:99Z",
		/* Outside 1970 to 9999. */
		"1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z", "1600-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int64_t ms = 4711;

		if (parse(str_of(texts[i]), &ms))
			fail_msg("%s was accepted", texts[i]);
		assert_int_equal(ms, 4711);
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static void test_reading_undoes_clock_format(void **state)
{
	uint64_t seed = 3339;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int64_t ms = (int64_t)(next_random(&seed) % (LAST_MS + 1)), back = -1;
		char text[CLOCK_TEXT_SIZE];

		clock_format(ms, text);
		assert_true(parse(str_of(text), &back));
		assert_int_equal(back, ms);
	}
}

/* Every day from 1970 to 9999, against the C library's calendar. */
static void test_every_day_is_the_c_librarys_day(void **state)
{
	(void)state;
	for (int64_t day = 0; day <= LAST_MS / 86400000; day++) {
		char expected[CLOCK_TEXT_SIZE], text[CLOCK_TEXT_SIZE];
		time_t seconds = day * 86400;
		int64_t ms = -1;
		struct tm tm;

		gmtime_r(&seconds, &tm);
		strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
		assert_true(rfc3339_parse(str_of(expected), &ms));
		clock_format(day * 86400000, text);
		if (ms != day * 86400000 || strcmp(text, expected) != 0)
			fail_msg("%s is read as %lld and written as %s", expected, (long long)ms, text);
	}
}

/* Every text that differs from a good one in one byte is refused, or is the time that it says. */
static void test_one_wrong_byte_is_noticed(void **state)
{
	const char good[] = "2026-01-30T12:34:56.789Z";
	int accepted = 0;

	(void)state;
	for (size_t at = 0; at < sizeof(good) - 1; at++) {
		for (int c = 0; c < 256; c++) {
			char text[sizeof(good)], again[CLOCK_TEXT_SIZE];
			int64_t ms;

			memcpy(text, good, sizeof(text));
			text[at] = (char)c;
			if (!parse((struct str){text, sizeof(text) - 1}, &ms))
				continue;
			accepted++;
			clock_format(ms, again);
			if (c == 't' || c == 'z')
				text[at] = (char)(c - 32);
			assert_string_equal(again, text);
		}
	}
	/* Several digits are right for each place of a digit. */
	assert_in_range(accepted, 17 * 2, 17 * 10 + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_are_read_to_the_millisecond),
		cmocka_unit_test(test_offsets_lead_to_utc),
		cmocka_unit_test(test_a_leap_second_is_the_second_after),
		cmocka_unit_test(test_what_is_no_such_time_is_refused),
		cmocka_unit_test(test_reading_undoes_clock_format),
		cmocka_unit_test(test_every_day_is_the_c_librarys_day),
		cmocka_unit_test(test_one_wrong_byte_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
