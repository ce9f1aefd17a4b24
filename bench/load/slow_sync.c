/* A slower disk: preloaded into a program, it makes every fsync and fdatasync take at least SLOW_SYNC_US microseconds.
 *
 *     SLOW_SYNC_US=420 LD_PRELOAD=slow_sync.so PROGRAM…
 *
 * The real call is made first; what is left of the time is slept, as a thread sleeps that waits for a disk. A shared
 * object by itself, without the rest of the source; bench/run builds it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_US_MAX = 1000000 };

static int slowly(long call, int fd)
{
	const char *text = getenv("SLOW_SYNC_US");
	long us = text ? strtol(text, NULL, 10) : 0;
	struct timespec end;
	int result, err;

	clock_gettime(CLOCK_MONOTONIC, &end);
	result = (int)syscall(call, fd);
	err = errno;
	if (us > 0 && us <= SYNC_US_MAX) {
		end.tv_nsec += us * 1000;
		end.tv_sec += end.tv_nsec / 1000000000;
		end.tv_nsec %= 1000000000;
		/* The kernel would add 50 µs to a sleep. */
		prctl(PR_SET_TIMERSLACK, 1);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
			;
	}
	errno = err;
	return result;
}

int fsync(int fd)
{
	return slowly(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return slowly(SYS_fdatasync, fd);
}
