/* How far the log was when a commit was last synced: a small file beside it, spine.db-extent.
 *
 * When SQLite opens a store after a crash, it reads the log up to the first frame whose checksum does not hold, and
 * takes that for the end of what was written. A byte that has changed looks the same to it: everything behind it,
 * though it was committed and acknowledged, is dropped without a word. So whoever writes the log notes how many frames
 * were synced. A log that has fewer good ones is damaged, and the store is not opened.
 *
 * ORDER. The note follows the sync of each commit, and is not synced itself: after a power cut it may say less than
 * there is, never more. Before SQLite begins the log anew, empties it or removes it, which it does when the database
 * file has everything, the note says 0, and that is synced first.
 *
 * FORMAT. 32 bytes: 8 of a name, the 8 bytes of salt that the log's header has, the number of frames, and a checksum
 * of these as a page has; numbers of 64 bits, the lowest byte first. A file that is none of ours says nothing: then
 * the log is taken as SQLite takes it, and a check tells of it.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_BYTES = 32, TRIES_MAX = 10, FRAME_BYTES = SQLITE_FRAME_HEADER + SQLITE_PAGE_BYTES };

static const unsigned char name[8] = "SPNLOG1";

struct note {
	unsigned char salt[8];
	uint64_t frames;
};

/* Of a database file, or of its log: "-wal" is not a part of it. Returns owned. */
static char *note_path(const char *path)
{
	size_t len = strlen(path);
	struct buf file;

	if (len > 4 && strcmp(path + len - 4, "-wal") == 0)
		len -= 4;
	buf_init(&file, 8192);
	buf_printf(&file, "%.*s-extent", (int)len, path);
	return buf_take(&file);
}

/* --- Writing --- */

int sqlite_extent_open(const char *path)
{
	char *file = note_path(path);
	int fd = sqlite_disk_open(file, O_RDWR | O_CREAT, 0600);

	free(file);
	return fd;
}

static void put_64(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

bool sqlite_extent_note(int fd, const unsigned char salt[8], uint64_t frames)
{
	unsigned char bytes[NOTE_BYTES];

	memcpy(bytes, name, 8);
	memcpy(bytes + 8, salt, 8);
	put_64(bytes + 16, frames);
	put_64(bytes + 24, sqlite_seal_of(bytes, 24, 0));
	return fd >= 0 && sqlite_disk_write(fd, bytes, sizeof(bytes), 0);
}

bool sqlite_extent_clear(int fd)
{
	static const unsigned char none[8];

	return sqlite_extent_note(fd, none, 0) && fdatasync(fd) == 0;
}

bool sqlite_extent_clear_of(const char *path)
{
	char *file = note_path(path);
	int fd = sqlite_disk_open(file, O_RDWR, 0);
	bool ok = fd >= 0 ? sqlite_extent_clear(fd) : errno == ENOENT;

	if (fd >= 0)
		close(fd);
	free(file);
	return ok;
}

/* --- Reading --- */

enum read { READ_NONE, READ_OTHER, READ_NOTE };

static enum read read_note(const char *path, struct note *ret)
{
	static const unsigned char none[NOTE_BYTES];
	unsigned char bytes[NOTE_BYTES], seal[8];
	char *file = note_path(path);
	int fd = sqlite_disk_open(file, O_RDONLY, 0);
	ssize_t n = fd >= 0 ? sqlite_disk_read(fd, bytes, sizeof(bytes), 0) : 0;
	enum read what = n == 0 ? READ_NONE : READ_OTHER;

	*ret = (struct note){0};
	/* It has its name, or its name and its size, and nothing else: the power went before its first bytes were on
	 * the disk. */
	if (n == sizeof(bytes) && memcmp(bytes, none, sizeof(bytes)) == 0) {
		what = READ_NONE;
	} else if (n == sizeof(bytes)) {
		put_64(seal, sqlite_seal_of(bytes, 24, 0));
		if (memcmp(bytes, name, 8) == 0 && memcmp(bytes + 24, seal, 8) == 0) {
			memcpy(ret->salt, bytes + 8, 8);
			for (int i = 7; i >= 0; i--)
				ret->frames = ret->frames << 8 | bytes[16 + i];
			what = READ_NOTE;
		}
	}
	if (fd >= 0)
		close(fd);
	free(file);
	return what;
}

/* Goes along the log as SQLite does when it recovers, and returns how many frames are good. *ret_salt is that of its
 * header, zeros where that is not good. */
static uint64_t walk(const char *log, sqlite_log_seen *seen, void *ctx, unsigned char ret_salt[8])
{
	unsigned char header[SQLITE_LOG_HEADER], sum[8], *frame = mem_alloc(FRAME_BYTES);
	int fd = sqlite_disk_open(log, O_RDONLY, 0);
	uint64_t good = 0;

	memset(ret_salt, 0, 8);
	if (fd >= 0 && sqlite_disk_read(fd, header, sizeof(header), 0) == sizeof(header) &&
	    sqlite_log_header_holds(header)) {
		memcpy(ret_salt, header + 16, 8);
		memcpy(sum, header + 24, 8);
		while (sqlite_disk_read(fd, frame, FRAME_BYTES, (off_t)(SQLITE_LOG_HEADER + good * FRAME_BYTES)) ==
			       FRAME_BYTES &&
		       memcmp(frame + 8, header + 16, 8) == 0 &&
		       sqlite_log_frame_holds(header[3] & 1, sum, frame, frame + SQLITE_FRAME_HEADER)) {
			memcpy(sum, frame + 16, 8);
			good++;
			if (seen)
				seen(ctx, sqlite_log_number(frame));
		}
	}
	if (fd >= 0)
		close(fd);
	free(frame);
	return good;
}

static bool is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) != 0 || st.st_size == 0;
}

/* Beside a server the log may begin anew while it is looked at. Then the note has changed before. */
static bool is_whole(const char *path, const char *log, sqlite_log_seen *seen, void *ctx, struct buf *ret_why)
{
	unsigned char salt[8];
	struct note note, now;
	uint64_t good;

	for (int try = 0; try < TRIES_MAX; try++) {
		if (read_note(path, &note) != READ_NOTE)
			note.frames = 0;
		good = walk(log, seen, ctx, salt);
		if (note.frames == 0 || (good >= note.frames && memcmp(salt, note.salt, 8) == 0))
			return true;
		if (read_note(path, &now) == READ_NOTE && now.frames == note.frames &&
		    memcmp(now.salt, note.salt, 8) == 0)
			break;
	}
	good = memcmp(salt, note.salt, 8) == 0 ? good : 0;
	buf_printf(ret_why, "%s is damaged: of %llu frames that were committed to it the first %llu can be read",
		   log, (unsigned long long)note.frames, (unsigned long long)good);
	return false;
}

bool sqlite_extent_holds(const char *path, sqlite_log_seen *seen, void *ctx, struct buf *ret_why)
{
	char *log = mem_printf("%s-wal", path);
	struct note note;
	bool ok = true;

	if (is_empty(path) && read_note(path, &note) != READ_NONE) {
		buf_printf(ret_why, "%s was there, and is empty or missing", path);
		ok = false;
	}
	ok = ok && is_whole(path, log, seen, ctx, ret_why);
	free(log);
	return ok;
}

bool sqlite_extent_is_readable(const char *path)
{
	return read_note(path, &(struct note){0}) != READ_OTHER;
}
