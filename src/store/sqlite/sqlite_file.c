/* How connections reach the disk: as SQLite does by itself, but with fewer calls, and with pages that are verified.
 *
 * GATHERED. SQLite writes each page of a commit to the log in two calls, 24 bytes and then 4,096, and each page of a
 * checkpoint to the database file in a call of its own, in ascending order. The calls cost more than the bytes. So
 * what is written to either file is gathered here, as long as each write begins where the last one ended, and goes out
 * in one call: before the sync, before anything else looks at the file through this layer, or when the room is used
 * up. A write that fails is reported by the call that needed it.
 *
 * Nobody can tell the difference. Others look at the log for what was committed, which is said behind a sync. They look
 * at the database file for what a checkpoint has moved:
 *   - where that is all of the log, it is said behind a call to truncate the file and a sync;
 *   - where a reader needs a part of the log, so that only what is before it can be moved, it is said without any call
 *     that could report a failure. Such a checkpoint's writes are not gathered. It is known by the lock of a reader's
 *     mark, which it asks for and does not get.
 * What a crash takes from the room was not synced, and nobody was told of it.
 *
 * VERIFIED. A page gets its seal (sqlite_seal.c) when it is written to the database file, and it is looked at whenever
 * the page is read from there. A page in the log has no seal yet: it is verified with the checksums of its frame and
 * of the frame before it, each time that it is read, also by the checkpoint that moves it. What does not match, or is
 * cut off, is SQLITE_IOERR_DATA: no row of the page is seen, and none can be written, as that begins with reading.
 * Nothing is mapped into memory, so there is no other way to a page. What SQLite has read it keeps in its cache and
 * does not ask for again. How far the log goes is noted with each commit (sqlite_extent.c).
 *
 * SQLite may overwrite a page in the log that the same transaction has put there, and corrects the checksums from that
 * frame on when it commits. Until then the connection that writes does not verify what it reads behind that place;
 * nobody else reads there.
 *
 * All other files are handed to the system's own layer, and cost nothing.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* SQLite's layer for Unix takes less than 128 KiB in one call, and a multiple of that it takes for a full disk. */
enum { ROOM_BYTES = 120 * 1024, FRAME_BYTES = SQLITE_FRAME_HEADER + SQLITE_PAGE_BYTES, SECTOR_BYTES = 512 };

/* Of the header of a database (sqlite.org/fileformat2.html): the bytes that each page has for others, and the number of
 * pages. */
enum { HEADER_BYTES = 100, HEADER_RESERVED = 20, HEADER_PAGES = 28 };

/* The log, or the database file. */
struct gather_file {
	sqlite3_file base;
	sqlite3_file *real;	/* owned */
	char *room;		/* owned; bytes that the file does not have yet; NULL before the first */
	int len;
	sqlite3_int64 at;	/* where they belong */
	bool is_through;	/* nothing is gathered */
	int lost;		/* a failure that SQLite did not look at: of the next call that it does look at */
	uint32_t damaged;	/* the page, or frame of the log, that did not match; 0: none */
	bool is_log;
	bool is_sealed;		/* the database: its pages have seals */
	bool is_new;		/* it has no header yet: pages may be written before the first one, and all get seals */
	/* The log. */
	const char *path;	/* borrowed; SQLite keeps it as long as the file is open */
	bool is_big;		/* the order of bytes in its checksums */
	bool is_known;		/* is_big and salt are */
	unsigned char salt[8];
	sqlite3_int64 data_at;	/* where the page belongs whose header was written last */
	sqlite3_int64 loose_at;	/* from here on checksums are not corrected yet; 0: they are */
	sqlite3_int64 commit_end;	/* of the last commit that was written, and not noted yet; 0: none */
	int extent_fd;		/* -1: not needed yet */
};

/* Locks of the shared memory beside the log, which the format fixes (sqlite.org/walformat.html). */
enum { LOCK_CHECKPOINT = 1, LOCK_FIRST_MARK = 4 };

static struct gather_file *gather_of(sqlite3_file *file)
{
	return (struct gather_file *)file;
}

/* What could not be written is dropped: whoever asked for it is told, and starts over. A quota that is used up, or the
 * limit on the size of a file (ulimit -f), is want of room, too; SQLite knows only that of the disk, and forgets the
 * system's reason on the way up from a commit. */
static int flush(struct gather_file *g)
{
	int len = g->len, rc = SQLITE_OK;

	g->len = 0;
	if (len)
		rc = g->real->pMethods->xWrite(g->real, g->room, len, g->at);
	if (rc != SQLITE_OK)
		g->commit_end = 0;
	return rc == SQLITE_IOERR_WRITE && (errno == EDQUOT || errno == EFBIG) ? SQLITE_FULL : rc;
}

/* The real file, with all that was written to it; NULL where that failed. */
static sqlite3_file *flushed(sqlite3_file *file, int *ret_rc)
{
	struct gather_file *g = gather_of(file);

	*ret_rc = flush(g);
	if (*ret_rc == SQLITE_OK)
		*ret_rc = g->lost;
	g->lost = SQLITE_OK;
	return *ret_rc == SQLITE_OK ? g->real : NULL;
}

/* --- Pages that are verified --- */

static int damaged(struct gather_file *g, uint32_t number)
{
	g->damaged = number;
	return SQLITE_IOERR_DATA;
}

static int read_real(struct gather_file *g, void *ret, int len, sqlite3_int64 at)
{
	assert(g->real);
	return g->real->pMethods->xRead(g->real, ret, len, at);
}

/* Pages that a transaction adds may be read before they were ever written; SQLite takes them for zeros. Those that the
 * header counts were written. */
static bool is_counted(struct gather_file *g, uint32_t number)
{
	unsigned char pages[4];

	if (g->is_new)
		return false;
	return read_real(g, pages, sizeof(pages), HEADER_PAGES) != SQLITE_OK || number <= sqlite_log_number(pages);
}

/* Less than a sector is a look at the header, before anything is locked: the page is read as a whole after that. */
static int verify_page(struct gather_file *g, const void *data, int len, sqlite3_int64 at, int rc)
{
	uint32_t number = (uint32_t)(at / SQLITE_PAGE_BYTES) + 1;

	if (!g->is_sealed || len < SECTOR_BYTES || (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ))
		return rc;
	if (rc == SQLITE_OK && len == SQLITE_PAGE_BYTES && at % SQLITE_PAGE_BYTES == 0 &&
	    sqlite_seal_holds(data, number))
		return SQLITE_OK;
	return rc == SQLITE_OK || is_counted(g, number) ? damaged(g, number) : rc;
}

/* What is the same for the whole log, until it begins anew. */
static int know_log(struct gather_file *g)
{
	unsigned char header[SQLITE_LOG_HEADER];
	int rc = g->is_known ? SQLITE_OK : read_real(g, header, sizeof(header), 0);

	if (rc == SQLITE_OK && !g->is_known) {
		g->is_big = header[3] & 1;
		memcpy(g->salt, header + 16, sizeof(g->salt));
		g->is_known = true;
	}
	return rc;
}

static bool is_page_of_log(int len, sqlite3_int64 at)
{
	return len == SQLITE_PAGE_BYTES && at >= SQLITE_LOG_HEADER + SQLITE_FRAME_HEADER &&
	       (at - SQLITE_LOG_HEADER - SQLITE_FRAME_HEADER) % FRAME_BYTES == 0;
}

/* With the checksum of the frame before, or of the header, which stands in front of all that is between: one call for
 * more bytes costs less than three calls. */
static int read_frame(struct gather_file *g, void *ret, sqlite3_int64 at)
{
	unsigned char bytes[8 + SQLITE_PAGE_BYTES + FRAME_BYTES];
	sqlite3_int64 frame = (at - SQLITE_LOG_HEADER) / FRAME_BYTES;	/* from 0 */
	int between = frame ? SQLITE_PAGE_BYTES : 0, len = 8 + between + FRAME_BYTES;
	const unsigned char *head = bytes + 8 + between, *page = head + SQLITE_FRAME_HEADER;
	int rc = know_log(g);

	if (rc == SQLITE_OK)
		rc = read_real(g, bytes, len, at + SQLITE_PAGE_BYTES - len);
	if (rc == SQLITE_IOERR_SHORT_READ ||
	    (rc == SQLITE_OK && !sqlite_log_frame_holds(g->is_big, bytes, head, page)))
		return damaged(g, (uint32_t)frame + 1);
	if (rc == SQLITE_OK)
		memcpy(ret, page, SQLITE_PAGE_BYTES);
	return rc;
}

static int gather_read(sqlite3_file *file, void *ret, int len, sqlite3_int64 at)
{
	struct gather_file *g = gather_of(file);
	int rc;

	if (flushed(file, &rc) == NULL)
		return rc;
	/* Other reads of the log are SQLite's own when it recovers, which verifies them. */
	if (g->is_log && is_page_of_log(len, at) && (g->loose_at == 0 || at < g->loose_at))
		return read_frame(g, ret, at);
	rc = read_real(g, ret, len, at);
	return g->is_log ? rc : verify_page(g, ret, len, at, rc);
}

/* --- Writing --- */

/* How far the log is, and what of it is in order. It begins anew when the database has all of it. */
static int note_write_to_log(struct gather_file *g, const unsigned char *data, int len, sqlite3_int64 at)
{
	if (at == 0 && len == SQLITE_LOG_HEADER) {
		if (g->extent_fd < 0)
			g->extent_fd = sqlite_extent_open(g->path);
		if (!sqlite_extent_clear(g->extent_fd))
			return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		memcpy(g->salt, data + 16, sizeof(g->salt));
		g->is_big = data[3] & 1;
		g->is_known = true;
		g->loose_at = g->commit_end = 0;
	}
	if (len == SQLITE_FRAME_HEADER) {
		g->data_at = at + len;
		/* The last frame of a commit says how many pages the database has then, the others 0. */
		if (sqlite_log_number(data + 4))
			g->commit_end = at + FRAME_BYTES;
	} else if (is_page_of_log(len, at) && at != g->data_at && (g->loose_at == 0 || at < g->loose_at)) {
		g->loose_at = at;
	}
	return SQLITE_OK;
}

/* A commit is on the disk. Where the note cannot be written less is known of the log, and that is all. */
static void note_sync_of_log(struct gather_file *g)
{
	g->loose_at = 0;
	if (g->commit_end == 0 || know_log(g) != SQLITE_OK)
		return;
	if (g->extent_fd < 0)
		g->extent_fd = sqlite_extent_open(g->path);
	sqlite_extent_note(g->extent_fd, g->salt, (uint64_t)(g->commit_end - SQLITE_LOG_HEADER) / FRAME_BYTES);
	g->commit_end = 0;
}

/* The header says whether pages have seals; of a new file it is the first that is written. */
static void seal(struct gather_file *g, char *page, int len, sqlite3_int64 at)
{
	if (at == 0 && len >= HEADER_BYTES) {
		g->is_sealed = len == SQLITE_PAGE_BYTES && page[HEADER_RESERVED] == SQLITE_SEAL_BYTES;
		g->is_new = false;
	}
	if (g->is_sealed && len == SQLITE_PAGE_BYTES && at % SQLITE_PAGE_BYTES == 0)
		sqlite_seal_put((unsigned char *)page, (uint32_t)(at / SQLITE_PAGE_BYTES) + 1);
}

static int gather_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	struct gather_file *g = gather_of(file);
	int rc = SQLITE_OK;

	if (g->room == NULL)
		g->room = mem_alloc(ROOM_BYTES);
	if (at != g->at + g->len || len > ROOM_BYTES - g->len)
		rc = flush(g);
	if (rc == SQLITE_OK && g->is_log)
		rc = note_write_to_log(g, data, len, at);
	if (rc != SQLITE_OK)
		return rc;
	assert(len <= ROOM_BYTES);	/* a page has 65,536 bytes at most */
	if (g->len == 0)
		g->at = at;
	memcpy(g->room + g->len, data, (size_t)len);
	if (!g->is_log)
		seal(g, g->room + g->len, len, at);
	g->len += len;
	return g->is_through ? flush(g) : SQLITE_OK;
}

static int gather_sync(sqlite3_file *file, int flags)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	if (real)
		rc = real->pMethods->xSync(real, flags);
	if (rc == SQLITE_OK && gather_of(file)->is_log)
		note_sync_of_log(gather_of(file));
	return rc;
}

static int gather_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	if (real && size == 0 && gather_of(file)->is_log && !sqlite_extent_clear_of(gather_of(file)->path))
		return SQLITE_IOERR_TRUNCATE;
	return real ? real->pMethods->xTruncate(real, size) : rc;
}

static int gather_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	int rc;
	sqlite3_file *real = flushed(file, &rc);

	return real ? real->pMethods->xFileSize(real, ret) : rc;
}

/* SQLite ignores what most of these return. */
static int gather_control(sqlite3_file *file, int op, void *arg)
{
	struct gather_file *g = gather_of(file);
	int rc;

	if (op == SQLITE_VFS_IS_SEALED) {
		*(int *)arg = g->is_sealed;
		return SQLITE_OK;
	}
	if (op == SQLITE_VFS_DAMAGE) {
		*(struct sqlite_damage *)arg = (struct sqlite_damage){g->is_log, g->damaged};
		g->damaged = 0;
		return SQLITE_OK;
	}
	rc = flush(g);
	if (rc == SQLITE_OK)
		return g->real->pMethods->xFileControl(g->real, op, arg);
	g->lost = rc;
	return rc;
}

static int gather_close(sqlite3_file *file)
{
	struct gather_file *g = gather_of(file);
	int rc = flush(g), rc_close = g->real->pMethods->xClose(g->real);

	if (g->extent_fd >= 0)
		close(g->extent_fd);
	free(g->real);
	free(g->room);
	return rc == SQLITE_OK ? rc_close : rc;
}

static int gather_lock(sqlite3_file *file, int level)
{
	return gather_of(file)->real->pMethods->xLock(gather_of(file)->real, level);
}

/* Others may look at the file now. */
static int gather_unlock(sqlite3_file *file, int level)
{
	int rc, rc_unlock;

	flushed(file, &rc);
	rc_unlock = gather_of(file)->real->pMethods->xUnlock(gather_of(file)->real, level);
	return rc == SQLITE_OK ? rc_unlock : rc;
}

static int gather_check_lock(sqlite3_file *file, int *ret)
{
	return gather_of(file)->real->pMethods->xCheckReservedLock(gather_of(file)->real, ret);
}

static int gather_sector_size(sqlite3_file *file)
{
	return gather_of(file)->real->pMethods->xSectorSize(gather_of(file)->real);
}

static int gather_characteristics(sqlite3_file *file)
{
	return gather_of(file)->real->pMethods->xDeviceCharacteristics(gather_of(file)->real);
}

/* --- The shared memory beside the log --- */

static int gather_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **ret)
{
	return gather_of(file)->real->pMethods->xShmMap(gather_of(file)->real, region, size, extend, ret);
}

static int gather_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
	struct gather_file *g = gather_of(file);
	int rc = g->real->pMethods->xShmLock(g->real, offset, count, flags);

	if (flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) && offset == LOCK_CHECKPOINT)
		g->is_through = false;
	if (flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) && offset >= LOCK_FIRST_MARK && rc == SQLITE_BUSY)
		g->is_through = true;
	return rc;
}

static void gather_shm_barrier(sqlite3_file *file)
{
	gather_of(file)->real->pMethods->xShmBarrier(gather_of(file)->real);
}

static int gather_shm_unmap(sqlite3_file *file, int delete)
{
	return gather_of(file)->real->pMethods->xShmUnmap(gather_of(file)->real, delete);
}

static int open_gather(sqlite3_vfs *real_vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	/* Version 2: the file is not mapped. */
	static const sqlite3_io_methods methods = {
		.iVersion = 2,
		.xClose = gather_close,
		.xRead = gather_read,
		.xWrite = gather_write,
		.xTruncate = gather_truncate,
		.xSync = gather_sync,
		.xFileSize = gather_size,
		.xLock = gather_lock,
		.xUnlock = gather_unlock,
		.xCheckReservedLock = gather_check_lock,
		.xFileControl = gather_control,
		.xSectorSize = gather_sector_size,
		.xDeviceCharacteristics = gather_characteristics,
		.xShmMap = gather_shm_map,
		.xShmLock = gather_shm_lock,
		.xShmBarrier = gather_shm_barrier,
		.xShmUnmap = gather_shm_unmap,
	};
	struct gather_file *g = gather_of(file);
	sqlite3_file *real = mem_zalloc((size_t)real_vfs->szOsFile);
	int rc = real_vfs->xOpen(real_vfs, name, real, flags, ret_flags);

	if (rc != SQLITE_OK) {
		if (real->pMethods)
			real->pMethods->xClose(real);
		free(real);
		g->base.pMethods = NULL;	/* says that there is nothing to close */
		return rc;
	}
	*g = (struct gather_file){.base.pMethods = &methods, .real = real, .is_log = flags & SQLITE_OPEN_WAL,
				  .path = name, .extent_fd = -1};
	return SQLITE_OK;
}

/* An empty file has no header yet. */
static int open_database(sqlite3_vfs *real_vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	unsigned char header[HEADER_BYTES];
	int rc = open_gather(real_vfs, name, file, flags, ret_flags);

	if (rc != SQLITE_OK)
		return rc;
	gather_of(file)->is_new = read_real(gather_of(file), header, sizeof(header), 0) == SQLITE_IOERR_SHORT_READ;
	gather_of(file)->is_sealed = gather_of(file)->is_new || header[HEADER_RESERVED] == SQLITE_SEAL_BYTES;
	return rc;
}

/* --- The database and its log --- */

bool sqlite_file_is_ours(int flags)
{
	return flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL);
}

int sqlite_file_open(sqlite3_vfs *real, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	if (flags & SQLITE_OPEN_MAIN_DB)
		return open_database(real, name, file, flags, ret_flags);
	return open_gather(real, name, file, flags, ret_flags);
}

int sqlite_file_size(void)
{
	return (int)sizeof(struct gather_file);
}
