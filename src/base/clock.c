#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

/* CLOCK_MONOTONIC goes on while a Mac sleeps; on Linux it does not, and CLOCK_BOOTTIME does. */
#ifdef CLOCK_BOOTTIME
#define BOOT_CLOCK CLOCK_BOOTTIME
#else
#define BOOT_CLOCK CLOCK_MONOTONIC
#endif

int64_t clock_wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_wall_ns(void)
{
	const int64_t last_s = INT64_C(9000000000);	/* so that nanoseconds and a few years more fit */
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ((int64_t)ts.tv_sec < last_s ? (int64_t)ts.tv_sec : last_s) * 1000000000 + ts.tv_nsec;
}

int64_t clock_boot_ns(void)
{
	struct timespec ts;

	clock_gettime(BOOT_CLOCK, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void clock_boot_id(char ret[CLOCK_BOOT_ID_SIZE])
{
	ret[0] = '\0';
#ifdef __APPLE__
	size_t size = CLOCK_BOOT_ID_SIZE;

	if (sysctlbyname("kern.bootsessionuuid", ret, &size, NULL, 0) != 0)
		ret[0] = '\0';
#else
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f && fgets(ret, CLOCK_BOOT_ID_SIZE, f) == NULL)
		ret[0] = '\0';
	if (f)
		fclose(f);
#endif
	ret[strcspn(ret, " \r\n")] = '\0';
}

/* Days since 1970-01-01 to a date of the proleptic Gregorian calendar (H. Hinnant, "chrono-compatible
 * low-level date algorithms"): no table, no loop, no locale, no time zone. */
static void date_of_days(int64_t days, int *year, int *month, int *day)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = (int)(yoe + era * 400 + (*month <= 2));
}

static char *digits(char *at, int value, int count)
{
	for (int i = count - 1; i >= 0; i--) {
		at[i] = (char)('0' + value % 10);
		value /= 10;
	}
	return at + count;
}

void clock_format(int64_t ms, char ret[CLOCK_TEXT_SIZE])
{
	int64_t days = ms / 86400000, rest = ms % 86400000;
	int year, month, day;
	char *at = ret;

	if (rest < 0) {
		rest += 86400000;
		days--;
	}
	date_of_days(days, &year, &month, &day);
	at = digits(at, year, 4);
	*at++ = '-';
	at = digits(at, month, 2);
	*at++ = '-';
	at = digits(at, day, 2);
	*at++ = 'T';
	at = digits(at, (int)(rest / 3600000), 2);
	*at++ = ':';
	at = digits(at, (int)(rest / 60000 % 60), 2);
	*at++ = ':';
	at = digits(at, (int)(rest / 1000 % 60), 2);
	*at++ = '.';
	at = digits(at, (int)(rest % 1000), 3);
	*at++ = 'Z';
	*at = '\0';
}
