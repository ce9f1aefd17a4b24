#include "cli/only_one.h"

#include "codec/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 10, LOOKS_MAX = 300, PATH_SIZE = 4096 };

/* A file of this person's alone: the name may be any text, so its digest stands for it. */
static int open_file(struct str name, char path[PATH_SIZE])
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char digest[SHA256_HEX_SIZE];
	struct stat info;
	int fd;

	sha256_hex(name, digest);
	snprintf(path, PATH_SIZE, "%s/spine-%u-%.16s", dir && dir[0] == '/' ? dir : "/tmp", (unsigned)getuid(), digest);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && (fstat(fd, &info) != 0 || info.st_uid != getuid() || !S_ISREG(info.st_mode))) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

/* Whoever holds the lock has written who it is: it is alive. */
static void ask_to_end(int fd)
{
	char text[24] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int64_t pid;

	if (n > 0 && str_to_i64((struct str){text, (size_t)n}, &pid) && pid > 1 && pid <= INT32_MAX && pid != getpid())
		kill((pid_t)pid, SIGTERM);
}

static bool take_lock(int fd)
{
	const struct timespec moment = {.tv_nsec = LOOK_EVERY_MS * 1000000};
	char text[24];
	int n;

	for (int looks = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; looks++) {
		if (errno != EWOULDBLOCK || looks == LOOKS_MAX)
			return false;
		ask_to_end(fd);
		nanosleep(&moment, NULL);
	}
	n = snprintf(text, sizeof(text), "%d", (int)getpid());
	return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n;
}

int only_one_be(struct str name, struct buf *error)
{
	char path[PATH_SIZE];
	int fd = open_file(name, path);

	if (fd >= 0 && take_lock(fd))
		return fd;
	buf_printf(error, "cannot take the place of the one that waits already (%s): %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
