/* Remembers what a power cut would take away. The crash test preloads it into the server.
 *
 * What a process has written is in the system's cache until it is synced; SIGKILL does not touch it, a power cut does.
 * So every write to the store's files is noted in a log (POWER_LOG), with what was there before, and so is every sync.
 * After the kill power.py takes back what was not synced, or a part of it, and the server starts on that. A server that
 * is started before the power goes adds to the log: what the killed one has not synced is still not synced then.
 *
 * A record is a head of six numbers (64 bits, little-endian) and then the bytes: kind, file, offset, the file's size
 * before, length of the old bytes, length of the new ones; old bytes; new bytes. A write is noted before it is made and
 * a sync after it was done, so that a kill in between makes the log say less than was promised, never more. A record
 * is written by one call, and only one thread writes to the store.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum record_kind { RECORD_WRITE = 1, RECORD_TRUNCATE = 2, RECORD_SYNC = 3 };
enum { FILE_NONE = -1, FILE_DATABASE = 0, FILE_WAL = 1 };

/* The C library's own function of a name. */
static void *real(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (function == NULL)
		abort();
	return function;
}

/* Which of the store's files a descriptor is. */
static int file_of(int fd)
{
	char link[64], path[4096];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	if (name && strcmp(name, "/spine.db") == 0)
		return FILE_DATABASE;
	return name && strcmp(name, "/spine.db-wal") == 0 ? FILE_WAL : FILE_NONE;
}

static void note(enum record_kind kind, int file, uint64_t offset, uint64_t size, struct iovec old, struct iovec new)
{
	static int log = -1;
	uint64_t head[6] = {
		htole64(kind), htole64((uint64_t)file), htole64(offset), htole64(size), htole64(old.iov_len),
		htole64(new.iov_len),
	};
	struct iovec parts[3] = {{head, sizeof(head)}, old, new};

	if (log < 0)
		log = open(getenv("POWER_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0 || writev(log, parts, 3) != (ssize_t)(sizeof(head) + old.iov_len + new.iov_len))
		abort();
}

/* Notes that len bytes from offset on are about to change; new is NULL where they are cut off. */
static void note_change(int fd, int file, uint64_t offset, const void *new, uint64_t len)
{
	struct stat st;
	char *old = malloc(len + 1);
	ssize_t n = pread(fd, old, len, (off_t)offset);

	if (n < 0 || fstat(fd, &st) != 0)
		abort();
	note(new ? RECORD_WRITE : RECORD_TRUNCATE, file, offset, (uint64_t)st.st_size, (struct iovec){old, (size_t)n},
	     (struct iovec){(void *)new, new ? len : 0});
	free(old);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
	ssize_t (*next)(int, const void *, size_t, off64_t) = real("pwrite64");
	int file = file_of(fd);

	if (file != FILE_NONE)
		note_change(fd, file, (uint64_t)offset, data, len);
	return next(fd, data, len, offset);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return pwrite64(fd, data, len, offset);
}

/* The store writes at offsets only; a plain write to it would pass unseen. */
ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*next)(int, const void *, size_t) = real("write");

	if (file_of(fd) != FILE_NONE)
		abort();
	return next(fd, data, len);
}

int ftruncate64(int fd, off64_t size)
{
	int (*next)(int, off64_t) = real("ftruncate64");
	int file = file_of(fd);
	struct stat st;

	if (file != FILE_NONE && fstat(fd, &st) == 0 && st.st_size > size)
		note_change(fd, file, (uint64_t)size, NULL, (uint64_t)(st.st_size - size));
	return next(fd, size);
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

static int sync_with(const char *name, int fd)
{
	int (*next)(int) = real(name);
	int file = file_of(fd), rc = next(fd);

	if (rc == 0 && file != FILE_NONE)
		note(RECORD_SYNC, file, 0, 0, (struct iovec){0}, (struct iovec){0});
	return rc;
}

int fsync(int fd)
{
	return sync_with("fsync", fd);
}

int fdatasync(int fd)
{
	return sync_with("fdatasync", fd);
}
