/* One server for a store. Three locks keep a second one away:
 *
 *   DATA/lock     says who it is. A name can be moved away, deleted or replaced, and a new file has no lock.
 *   DATA          the directory itself: there is no other while the store is at this place.
 *   DATA/spine.db a byte of it far behind its end, which SQLite does not use: it goes with the file, where somebody
 *                 moves it, or gives it a second name, while a server runs.
 *
 * All of them go with the process, however that ends. The first two are flock()'s. The last one belongs to its
 * descriptor (F_OFD_SETLK) and not to the process, whose locks of the file are SQLite's; flock() of the file would
 * exclude those on some systems. Where a system has no such lock the first two have to do.
 */
#include "store/sqlite/sqlite_internal.h"

#include "base/mem.h"
#include "store/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* The process that holds the lock wrote its number into it. */
static void read_holder(const char *path, char *ret, size_t size)
{
	int fd = sqlite_disk_open(path, O_RDONLY, 0);
	ssize_t n = fd >= 0 ? pread(fd, ret, size - 1, 0) : -1;

	if (fd >= 0)
		close(fd);
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

static void say_used(const char *data_dir, const char *path, struct buf *error)
{
	char holder[32];

	read_holder(path, holder, sizeof(holder));
	buf_printf(error, "another server (process %s) is using the data directory %s",
		   holder[0] ? holder : "unknown", data_dir);
}

/* Where the system cannot lock a directory, nothing is said. */
static bool lock_directory(struct sqlite_lock *lock, const char *data_dir, const char *path, struct buf *error)
{
	lock->directory = sqlite_disk_open(data_dir, O_RDONLY | O_DIRECTORY, 0);
	if (lock->directory < 0 || flock(lock->directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	say_used(data_dir, path, error);
	return false;
}

static bool lock_file(struct sqlite_lock *lock, const char *data_dir, const char *path, struct buf *error)
{
	lock->file = sqlite_disk_open(path, O_RDWR | O_CREAT, 0600);
	if (lock->file < 0)
		buf_printf(error, "cannot open %s: %s", path, strerror(errno));
	else if (flock(lock->file, LOCK_EX | LOCK_NB) != 0)
		say_used(data_dir, path, error);
	else if (!sqlite_disk_truncate(lock->file, 0) || dprintf(lock->file, "%ld\n", (long)getpid()) < 0)
		buf_printf(error, "cannot write %s: %s", path, strerror(errno));
	else
		return true;
	return false;
}

bool sqlite_lock_take(struct sqlite_lock *lock, const char *data_dir, struct buf *error)
{
	char *path = sqlite_path(data_dir, "lock");
	bool ok;

	*lock = SQLITE_UNLOCKED;
	ok = lock_directory(lock, data_dir, path, error) && lock_file(lock, data_dir, path, error);
	free(path);
	if (!ok)
		sqlite_lock_release(lock);
	return ok;
}

bool sqlite_lock_database(struct sqlite_lock *lock, const char *data_dir, struct buf *error)
{
	bool ok = true;
#ifdef F_OFD_SETLK
	/* SQLite's own are at 0x40000000. */
	struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};
	char *path = sqlite_path(data_dir, "spine.db");

	lock->database = sqlite_disk_open(path, O_RDWR, 0);
	ok = lock->database < 0 || fcntl(lock->database, F_OFD_SETLK, &byte) == 0 ||
	     (errno != EAGAIN && errno != EACCES);
	if (!ok)
		buf_printf(error, "another server is using the store %s, from another directory: it was moved, or has "
			   "a second name", path);
	free(path);
#else
	(void)lock;
	(void)data_dir;
	(void)error;
#endif
	return ok;
}

/* Closing a descriptor of the database ends the process's locks of it: SQLite must be done. */
void sqlite_lock_release(struct sqlite_lock *lock)
{
	const int fds[] = {lock->database, lock->file, lock->directory};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*lock = SQLITE_UNLOCKED;
}

/* --- A directory without a store --- */

struct store_directory {
	struct sqlite_lock lock;
};

struct store_directory *store_directory_take(const char *data_dir, struct buf *error)
{
	struct store_directory *d = mem_zalloc(sizeof(*d));

	d->lock = SQLITE_UNLOCKED;
	if (sqlite_make_directory(data_dir, error) && sqlite_lock_take(&d->lock, data_dir, error))
		return d;
	free(d);
	return NULL;
}

void store_directory_free(struct store_directory *d)
{
	if (d)
		sqlite_lock_release(&d->lock);
	free(d);
}
