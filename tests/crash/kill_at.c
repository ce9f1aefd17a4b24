/* Preloaded into a program by the crash tests: the process is killed just before the call of a number by which it
 * changes files. So every such moment can be the last one, without luck.
 *
 *   KILL_AT      the number of the call, from 1 on; none where it is not set
 *   KILL_COUNT   a file that gets a byte for each call, so that a test knows how many there are
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(int fd)
{
	static atomic_long calls;
	const char *at = getenv("KILL_AT"), *count = getenv("KILL_COUNT");
	char link[64], name[4096];
	ssize_t n;

	/* Files only: not the log, not a socket. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? 1 : readlink(link, name, sizeof(name) - 1);
	if (fd >= 0 && (n <= 0 || name[0] != '/' || fd == STDOUT_FILENO || fd == STDERR_FILENO))
		return;
	if (at && atomic_fetch_add(&calls, 1) + 1 == atol(at))
		kill(getpid(), SIGKILL);
	if (count) {
		int file = open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		(void)!syscall(SYS_write, file, ".", 1);
		close(file);
	}
}

#define REAL(name) (*(void **)&real = dlsym(RTLD_NEXT, name))

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
	ssize_t (*real)(int, const void *, size_t, off64_t);

	REAL("pwrite64");
	note(fd);
	return real(fd, data, len, offset);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return pwrite64(fd, data, len, offset);
}

ssize_t write(int fd, const void *data, size_t len)
{
	note(fd);
	return syscall(SYS_write, fd, data, len);
}

int ftruncate64(int fd, off64_t size)
{
	note(fd);
	return (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

int fsync(int fd)
{
	note(fd);
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	note(fd);
	return (int)syscall(SYS_fdatasync, fd);
}

int unlink(const char *path)
{
	int (*real)(const char *);

	REAL("unlink");
	note(-1);
	return real(path);
}

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *);

	REAL("rename");
	note(-1);
	return real(from, to);
}
