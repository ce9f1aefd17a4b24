/* How the writing connection reaches the disk: as SQLite does by itself, but for the log.
 *
 * SQLite writes each page of a commit to the log in two calls, 24 bytes and then 4,096, and then syncs. The calls cost
 * more than the bytes. So what is written to the log is gathered here, as long as each write begins where the last one
 * ended, and goes out in one call: before the sync, before anything else looks at the file, or when the room is used
 * up. Nobody can tell the difference: other connections look at what was committed only, and a commit is a sync; what a
 * crash takes from the room was not synced, and nobody was told of it. A write that fails is reported by the call that
 * needed it.
 *
 * Everything but the log is handed to the system's own layer, and costs nothing.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define LAYER_NAME "spine"

/* SQLite's layer for Unix takes less than 128 KiB in one call, and a multiple of that it takes for a full disk. */
enum { ROOM_BYTES = 120 * 1024 };

/* The log's file. */
struct log_file {
	sqlite3_file base;
	sqlite3_file *real;	/* owned */
	char *room;		/* owned; bytes that the file does not have yet */
	int len;
	sqlite3_int64 at;	/* where they belong */
};

static struct log_file *log_of(sqlite3_file *file)
{
	return (struct log_file *)file;
}

/* What could not be written is dropped: whoever asked for it is told, and starts over. A quota that is used up, or the
 * limit on the size of a file (ulimit -f), is want of room, too; SQLite knows only that of the disk, and forgets the
 * system's reason on the way up from a commit. */
static int flush(struct log_file *log)
{
	int len = log->len, rc = SQLITE_OK;

	log->len = 0;
	if (len)
		rc = log->real->pMethods->xWrite(log->real, log->room, len, log->at);
	return rc == SQLITE_IOERR_WRITE && (errno == EDQUOT || errno == EFBIG) ? SQLITE_FULL : rc;
}

/* The real file, with all that was written to it; NULL where that failed. */
static sqlite3_file *flushed(sqlite3_file *file, int *ret_rc)
{
	*ret_rc = flush(log_of(file));
	return *ret_rc == SQLITE_OK ? log_of(file)->real : NULL;
}

static int log_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	struct log_file *log = log_of(file);
	int rc = SQLITE_OK;

	if (at != log->at + log->len || len > ROOM_BYTES - log->len)
		rc = flush(log);
	if (rc != SQLITE_OK)
		return rc;
	assert(len <= ROOM_BYTES);	/* a page has 65,536 bytes at most */
	if (log->len == 0)
		log->at = at;
	memcpy(log->room + log->len, data, (size_t)len);
	log->len += len;
	return SQLITE_OK;
}

static int log_sync(sqlite3_file *file, int flags)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	return real ? real->pMethods->xSync(real, flags) : rc;
}

static int log_read(sqlite3_file *file, void *ret, int len, sqlite3_int64 at)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	return real ? real->pMethods->xRead(real, ret, len, at) : rc;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	return real ? real->pMethods->xTruncate(real, size) : rc;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	return real ? real->pMethods->xFileSize(real, ret) : rc;
}

static int log_control(sqlite3_file *file, int op, void *arg)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	return real ? real->pMethods->xFileControl(real, op, arg) : rc;
}

static int log_close(sqlite3_file *file)
{
	struct log_file *log = log_of(file);
	int rc = flush(log), rc_close = log->real->pMethods->xClose(log->real);

	free(log->real);
	free(log->room);
	return rc == SQLITE_OK ? rc_close : rc;
}

static int log_lock(sqlite3_file *file, int level)
{
	return log_of(file)->real->pMethods->xLock(log_of(file)->real, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
	return log_of(file)->real->pMethods->xUnlock(log_of(file)->real, level);
}

static int log_check_lock(sqlite3_file *file, int *ret)
{
	return log_of(file)->real->pMethods->xCheckReservedLock(log_of(file)->real, ret);
}

static int log_sector_size(sqlite3_file *file)
{
	return log_of(file)->real->pMethods->xSectorSize(log_of(file)->real);
}

static int log_characteristics(sqlite3_file *file)
{
	return log_of(file)->real->pMethods->xDeviceCharacteristics(log_of(file)->real);
}

static int open_log(sqlite3_vfs *real_vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	static const sqlite3_io_methods methods = {
		.iVersion = 1,
		.xClose = log_close,
		.xRead = log_read,
		.xWrite = log_write,
		.xTruncate = log_truncate,
		.xSync = log_sync,
		.xFileSize = log_size,
		.xLock = log_lock,
		.xUnlock = log_unlock,
		.xCheckReservedLock = log_check_lock,
		.xFileControl = log_control,
		.xSectorSize = log_sector_size,
		.xDeviceCharacteristics = log_characteristics,
	};
	struct log_file *log = log_of(file);
	sqlite3_file *real = mem_zalloc((size_t)real_vfs->szOsFile);
	int rc = real_vfs->xOpen(real_vfs, name, real, flags, ret_flags);

	if (rc != SQLITE_OK) {
		if (real->pMethods)
			real->pMethods->xClose(real);
		free(real);
		log->base.pMethods = NULL;	/* says that there is nothing to close */
		return rc;
	}
	*log = (struct log_file){.base.pMethods = &methods, .real = real, .room = mem_alloc(ROOM_BYTES)};
	return SQLITE_OK;
}

/* --- The layer: the system's own, but for opening --- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	if (flags & SQLITE_OPEN_WAL)
		return open_log(real, name, file, flags, ret_flags);
	assert(real->szOsFile <= vfs->szOsFile);
	return real->xOpen(real, name, file, flags, ret_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xDelete(vfs, name, sync_dir);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xAccess(vfs, name, flags, ret);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xFullPathname(vfs, name, size, ret);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *ret)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xRandomness(vfs, size, ret);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xSleep(vfs, us);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *ret)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xGetLastError(vfs, size, ret);
}

static int vfs_time(sqlite3_vfs *vfs, double *ret_julian)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xCurrentTime(vfs, ret_julian);
}

static int vfs_time_64(sqlite3_vfs *vfs, sqlite3_int64 *ret_julian_ms)
{
	vfs = sqlite3_vfs_find(NULL);
	return vfs->xCurrentTimeInt64(vfs, ret_julian_ms);
}

/* SQLite keeps a list of layers for the process, and links them through the struct: it cannot be const. */
static sqlite3_vfs layer = {
	.iVersion = 2,
	.mxPathname = 1024,
	.zName = LAYER_NAME,
	.xOpen = vfs_open,
	.xDelete = vfs_delete,
	.xAccess = vfs_access,
	.xFullPathname = vfs_full_path,
	.xRandomness = vfs_randomness,
	.xSleep = vfs_sleep,
	.xGetLastError = vfs_last_error,
	.xCurrentTime = vfs_time,
	.xCurrentTimeInt64 = vfs_time_64,
};
static pthread_once_t register_once = PTHREAD_ONCE_INIT;

static void register_layer(void)
{
	const sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	layer.szOsFile = (int)sizeof(struct log_file);
	if (layer.szOsFile < real->szOsFile)
		layer.szOsFile = real->szOsFile;
	layer.mxPathname = real->mxPathname;
	sqlite3_vfs_register(&layer, 0);
}

const char *sqlite_vfs(void)
{
	pthread_once(&register_once, register_layer);
	return LAYER_NAME;
}
