/* A disk that fails when told to: a layer over SQLite's own access to files.
 *
 * Counters say how many further calls succeed; the next one fails, once or from then on. Everything else is passed on,
 * but that nobody sleeps: SQLite counts how long it has waited for a lock, and gives up at once.
 */
#ifndef SPINE_TESTS_FAULT_VFS_H
#define SPINE_TESTS_FAULT_VFS_H

#include <sched.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fault {
	atomic_int left;	/* calls that still succeed; below 0: all of them */
	atomic_bool stays;	/* it fails from then on, not only once */
	atomic_int hits;	/* how often it has failed */
	atomic_int calls;	/* how often it was asked */
};

/* The disk is one, like the process; tests run one after the other. */
static struct fault fault_sync = {.left = -1}, fault_write = {.left = -1};

static atomic_int fault_sleeps;		/* how often somebody wanted to sleep */
static atomic_bool fault_sleep_is_held;	/* he waits for as long as it is set */

struct fault_file {
	sqlite3_file base;
	sqlite3_file *real;
};

static inline sqlite3_file *fault_real(sqlite3_file *file)
{
	return ((struct fault_file *)(void *)file)->real;
}

static inline void fault_set(struct fault *fault, int left, bool stays)
{
	atomic_store(&fault->stays, stays);
	atomic_store(&fault->hits, 0);
	atomic_store(&fault->calls, 0);
	atomic_store(&fault->left, left);
}

static inline void fault_clear(void)
{
	fault_set(&fault_sync, -1, false);
	fault_set(&fault_write, -1, false);
}

static inline bool fault_strikes(struct fault *fault)
{
	int left = atomic_load(&fault->left);

	atomic_fetch_add(&fault->calls, 1);
	if (left < 0)
		return false;
	if (left > 0) {
		atomic_store(&fault->left, left - 1);
		return false;
	}
	if (!atomic_load(&fault->stays))
		atomic_store(&fault->left, -1);
	atomic_fetch_add(&fault->hits, 1);
	return true;
}

static inline int fault_x_close(sqlite3_file *f)
{
	int rc = fault_real(f)->pMethods ? fault_real(f)->pMethods->xClose(fault_real(f)) : SQLITE_OK;

	free(fault_real(f));
	return rc;
}

static inline int fault_x_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	return fault_real(f)->pMethods->xRead(fault_real(f), to, n, at);
}

static inline int fault_x_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	return fault_strikes(&fault_write) ? SQLITE_FULL : fault_real(f)->pMethods->xWrite(fault_real(f), from, n, at);
}

static inline int fault_x_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return fault_real(f)->pMethods->xTruncate(fault_real(f), size);
}

static inline int fault_x_sync(sqlite3_file *f, int flags)
{
	return fault_strikes(&fault_sync) ? SQLITE_IOERR_FSYNC : fault_real(f)->pMethods->xSync(fault_real(f), flags);
}

static inline int fault_x_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return fault_real(f)->pMethods->xFileSize(fault_real(f), ret);
}

static inline int fault_x_lock(sqlite3_file *f, int lock)
{
	return fault_real(f)->pMethods->xLock(fault_real(f), lock);
}

static inline int fault_x_unlock(sqlite3_file *f, int lock)
{
	return fault_real(f)->pMethods->xUnlock(fault_real(f), lock);
}

static inline int fault_x_check_lock(sqlite3_file *f, int *ret)
{
	return fault_real(f)->pMethods->xCheckReservedLock(fault_real(f), ret);
}

static inline int fault_x_control(sqlite3_file *f, int op, void *arg)
{
	return fault_real(f)->pMethods->xFileControl(fault_real(f), op, arg);
}

static inline int fault_x_sector(sqlite3_file *f)
{
	return fault_real(f)->pMethods->xSectorSize(fault_real(f));
}

static inline int fault_x_device(sqlite3_file *f)
{
	return fault_real(f)->pMethods->xDeviceCharacteristics(fault_real(f));
}

static inline int fault_x_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	return fault_real(f)->pMethods->xShmMap(fault_real(f), page, size, extend, ret);
}

static inline int fault_x_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return fault_real(f)->pMethods->xShmLock(fault_real(f), offset, n, flags);
}

static inline void fault_x_shm_barrier(sqlite3_file *f)
{
	fault_real(f)->pMethods->xShmBarrier(fault_real(f));
}

static inline int fault_x_shm_unmap(sqlite3_file *f, int remove_it)
{
	return fault_real(f)->pMethods->xShmUnmap(fault_real(f), remove_it);
}

static const sqlite3_io_methods fault_methods = {
	2,
	fault_x_close,
	fault_x_read,
	fault_x_write,
	fault_x_truncate,
	fault_x_sync,
	fault_x_size,
	fault_x_lock,
	fault_x_unlock,
	fault_x_check_lock,
	fault_x_control,
	fault_x_sector,
	fault_x_device,
	fault_x_shm_map,
	fault_x_shm_lock,
	fault_x_shm_barrier,
	fault_x_shm_unmap,
	NULL,
	NULL,
};

static inline int fault_x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	sqlite3_vfs *real = vfs->pAppData;
	struct fault_file *f = (struct fault_file *)(void *)file;
	int rc;

	f->real = calloc(1, (size_t)real->szOsFile);
	rc = real->xOpen(real, name, f->real, flags, ret_flags);
	f->base.pMethods = NULL;
	if (rc == SQLITE_OK)
		f->base.pMethods = &fault_methods;
	else
		free(f->real);
	return rc;
}

static inline int fault_x_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	atomic_fetch_add(&fault_sleeps, 1);
	while (atomic_load(&fault_sleep_is_held))
		sched_yield();
	return us;
}

/* From here on every database of the process goes through it. */
static inline void fault_vfs_install(void)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	vfs = *real;
	vfs.zName = "fault";
	vfs.pAppData = real;
	vfs.szOsFile = (int)sizeof(struct fault_file);
	vfs.xOpen = fault_x_open;
	vfs.xSleep = fault_x_sleep;
	sqlite3_vfs_register(&vfs, 1);
}

#endif
