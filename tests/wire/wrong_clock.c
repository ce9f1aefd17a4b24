/* Preloaded into a server by tests: a wall clock that somebody sets, and a boot with another name.
 *
 *   CLOCK_SHIFT_FILE   a file with the seconds by which CLOCK_REALTIME is off; it is read at each call
 *   CLOCK_BOOT_FILE    stands for /proc/sys/kernel/random/boot_id
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift_s(void)
{
	const char *path = getenv("CLOCK_SHIFT_FILE");
	char text[32] = "";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = '\0';
		close(fd);
	}
	return atol(text);
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int code = (int)syscall(SYS_clock_gettime, id, ret);

	if (code == 0 && id == CLOCK_REALTIME)
		ret->tv_sec += shift_s();
	return code;
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);
	const char *boot = getenv("CLOCK_BOOT_FILE");

	*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot : path, mode);
}
