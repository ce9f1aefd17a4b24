/* The layer that every connection reaches the disk through, as SQLite knows it: the system's own, but for opening the
 * database and its log (sqlite_file.c) and for removing the log. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>
#include <pthread.h>

#define LAYER_NAME "spine"

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	if (sqlite_file_is_ours(flags))
		return sqlite_file_open(real, name, file, flags, ret_flags);
	assert(real->szOsFile <= vfs->szOsFile);
	return real->xOpen(real, name, file, flags, ret_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
	size_t len = strlen(name);

	vfs = sqlite3_vfs_find(NULL);
	if (len > 4 && strcmp(name + len - 4, "-wal") == 0 && !sqlite_extent_clear_of(name))
		return SQLITE_IOERR_DELETE;
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

	layer.szOsFile = sqlite_file_size();
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
