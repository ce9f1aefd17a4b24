/* The files that the store touches itself, beside SQLite: opened, copied, synced.
 *
 * A call that a signal has interrupted has done nothing, and is made again: SQLite does so with its own calls, and a
 * file system that is far away may answer so at any of them. A sync that failed is never made again.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int sqlite_disk_open(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

bool sqlite_disk_truncate(int fd, off_t size)
{
	int rc;

	do
		rc = ftruncate(fd, size);
	while (rc != 0 && errno == EINTR);
	return rc == 0;
}

static ssize_t read_some(int fd, char *ret, size_t size)
{
	ssize_t n;

	do
		n = read(fd, ret, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool write_whole(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

ssize_t sqlite_disk_read(int fd, void *ret, size_t len, off_t at)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (char *)ret + got, len - got, at + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

bool sqlite_disk_write(int fd, const void *data, size_t len, off_t at)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* On macOS fsync() leaves it to the disk when it writes its cache; some file systems know only that. */
static bool sync_descriptor(int fd)
{
	int rc;

#ifdef F_FULLFSYNC
	if (fcntl(fd, F_FULLFSYNC) == 0)
		return true;
#endif
	do
		rc = fsync(fd);
	while (rc != 0 && errno == EINTR);
	return rc == 0;
}

bool sqlite_sync_file(const char *path, int flags)
{
	int fd = sqlite_disk_open(path, flags, 0);
	bool ok = fd >= 0 && sync_descriptor(fd);
	int why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
	return ok;
}

bool sqlite_sync_directory_of(const char *path)
{
	char *dir = mem_strdup(path);
	char *slash = strrchr(dir, '/');
	bool ok;

	if (slash == dir)
		slash[1] = '\0';
	else if (slash)
		*slash = '\0';
	ok = sqlite_sync_file(slash ? dir : ".", O_RDONLY | O_DIRECTORY);
	free(dir);
	return ok;
}

bool sqlite_disk_copy(const char *from, const char *to)
{
	int in = sqlite_disk_open(from, O_RDONLY, 0), out = -1, why;
	char block[65536];
	ssize_t n = -1;
	bool ok;

	if (in >= 0)
		out = sqlite_disk_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (out >= 0)
		while ((n = read_some(in, block, sizeof(block))) > 0 && write_whole(out, block, (size_t)n))
			;
	ok = n == 0 && sync_descriptor(out);
	why = errno;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	errno = why;
	return ok;
}
