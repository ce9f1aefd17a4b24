/* Every page of the database file against its seal, used or free; and for one that does not match, what is on it.
 *
 * The file is read beside SQLite, which would not look at free pages, and would end at the first that is damaged. A
 * page that is also in the log is not needed: the next checkpoint writes it, and a crash in the midst of one may have
 * torn it. Beside a server a page may be written while it is read, so it is damaged when it is twice the same, and
 * wrong.
 *
 * WHAT IS ON IT. The file has maps (sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages): for each page its kind,
 * and the page that points to it. Up from page to page they lead to the root of a table or an index, which the schema
 * names.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* An entry of a map has 5 bytes. A map is followed by the pages that it is of; the first one is page 2. */
	MAP_ENTRY = 5,
	MAP_SPAN = (SQLITE_PAGE_BYTES - SQLITE_SEAL_BYTES) / MAP_ENTRY + 1,
	KIND_ROOT = 1, KIND_FREE = 2, KIND_TREE = 5,
	/* SQLite locks bytes in this page, and writes nothing to it. */
	LOCK_PAGE = 0x40000000 / SQLITE_PAGE_BYTES + 1,
	DEPTH_MAX = 1 << 20,	/* pages of one row; a map that goes round in a circle ends here */
	COUNT_AT = 28,
};

struct scan {
	sqlite3 *db;
	int fd;
	uint32_t pages;			/* of the file */
	unsigned char *in_log;		/* a bit for each; owned */
	uint32_t in_log_max;
	sqlite_found *found;
	void *ctx;
};

static void see_in_log(void *ctx, uint32_t page)
{
	struct scan *s = ctx;

	if (page <= s->in_log_max)
		s->in_log[page / 8] |= (unsigned char)(1 << page % 8);
}

static bool is_in_log(const struct scan *s, uint32_t page)
{
	return page <= s->in_log_max && s->in_log[page / 8] >> page % 8 & 1;
}

/* --- What is on a page --- */

static uint32_t map_of(uint32_t page)
{
	uint32_t map = (page - 2) / MAP_SPAN * MAP_SPAN + 2;

	return map == LOCK_PAGE ? map + 1 : map;
}

/* The page's kind; 0 where the map does not say. */
static int kind_of(const struct scan *s, uint32_t page, uint32_t *ret_parent)
{
	uint32_t map = page >= 2 ? map_of(page) : 0;
	unsigned char entry[MAP_ENTRY];

	if (map == 0 || map >= page ||
	    sqlite_disk_read(s->fd, entry, sizeof(entry),
			     (off_t)(map - 1) * SQLITE_PAGE_BYTES + MAP_ENTRY * (page - map - 1)) != sizeof(entry))
		return 0;
	*ret_parent = sqlite_log_number(entry + 1);
	return entry[0];
}

static void put_root(const struct scan *s, uint32_t root, struct buf *out)
{
	static const char sql[] = "SELECT type, name, tbl_name FROM sqlite_schema WHERE rootpage = ?1";
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_bind_int64(q, 1, root) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(q, 0);

		buf_printf(out, "; it belongs to the %s %s", type, (const char *)sqlite3_column_text(q, 1));
		if (strcmp(type, "table") != 0)
			buf_printf(out, " of the table %s", (const char *)sqlite3_column_text(q, 2));
	}
	sqlite3_finalize(q);
}

static void put_owner(const struct scan *s, uint32_t page, struct buf *out)
{
	uint32_t parent = 0;
	int kind = 0;

	for (int depth = 0; page > 1 && depth < DEPTH_MAX; depth++) {
		if (map_of(page) == page) {
			buf_puts(out, "; it says what other pages are for");
			return;
		}
		kind = kind_of(s, page, &parent);
		if (kind <= KIND_FREE || kind > KIND_TREE)
			break;
		page = parent;
	}
	if (page == 1)
		buf_puts(out, "; it belongs to the schema");
	else if (kind == KIND_ROOT)
		put_root(s, page, out);
	else if (kind == KIND_FREE)
		buf_puts(out, "; it is free, and holds nothing");
}

static void tell(const struct scan *s, uint32_t page, const char *what)
{
	struct buf text;

	buf_init(&text, 4096);
	buf_printf(&text, "page %u of the database file %s", page, what);
	put_owner(s, page, &text);
	s->found(s->ctx, buf_str(&text).p);
	buf_release(&text);
}

/* --- Every page --- */

static bool read_page(const struct scan *s, uint32_t page, unsigned char *ret)
{
	return sqlite_disk_read(s->fd, ret, SQLITE_PAGE_BYTES, (off_t)(page - 1) * SQLITE_PAGE_BYTES) ==
	       SQLITE_PAGE_BYTES;
}

/* Room that the file was given, and nothing was written to: a free page may be that. */
static bool is_unwritten(const struct scan *s, uint32_t page, const unsigned char *bytes)
{
	uint32_t parent;

	for (int i = 0; i < SQLITE_PAGE_BYTES; i++)
		if (bytes[i])
			return false;
	return kind_of(s, page, &parent) == KIND_FREE;
}

static void scan_page(const struct scan *s, uint32_t page)
{
	unsigned char bytes[SQLITE_PAGE_BYTES], again[SQLITE_PAGE_BYTES];

	if (!read_page(s, page, bytes)) {
		if (!is_in_log(s, page))
			tell(s, page, "is cut off, or cannot be read");
		return;
	}
	while (!sqlite_seal_holds(bytes, page)) {
		if (is_in_log(s, page) || is_unwritten(s, page, bytes) || !read_page(s, page, again))
			return;
		if (memcmp(bytes, again, sizeof(bytes)) == 0) {
			tell(s, page, "does not match its checksum");
			return;
		}
		memcpy(bytes, again, sizeof(bytes));
	}
}

/* What the header counts, or the file has; a part of a page at its end is one, too. */
static uint32_t count_pages(int fd)
{
	unsigned char counted[4] = {0};
	struct stat st;
	uint32_t pages = 0;

	if (fstat(fd, &st) == 0)
		pages = (uint32_t)((st.st_size + SQLITE_PAGE_BYTES - 1) / SQLITE_PAGE_BYTES);
	/* A header that is damaged may count anything: one that was cut to half is believed. */
	if (sqlite_disk_read(fd, counted, sizeof(counted), COUNT_AT) == sizeof(counted) &&
	    sqlite_log_number(counted) > pages && sqlite_log_number(counted) / 2 <= pages)
		pages = sqlite_log_number(counted);
	return pages;
}

void sqlite_scan(sqlite3 *db, sqlite_found *found, void *ctx)
{
	const char *path = sqlite3_db_filename(db, "main");
	struct scan s = {.db = db, .fd = open(path, O_RDONLY | O_CLOEXEC), .found = found, .ctx = ctx};
	int is_sealed = 0;
	struct buf why;

	sqlite3_file_control(db, "main", SQLITE_VFS_IS_SEALED, &is_sealed);
	if (s.fd < 0 || !is_sealed) {
		found(ctx, s.fd < 0 ? "the database file cannot be read" : "the pages of the database file have no "
		      "checksums");
	} else {
		buf_init(&why, 8192);
		s.pages = s.in_log_max = count_pages(s.fd);
		s.in_log = mem_calloc(s.in_log_max / 8 + 1, 1);
		if (!sqlite_extent_holds(path, see_in_log, &s, &why))
			found(ctx, buf_str(&why).p);
		if (!sqlite_extent_is_readable(path))
			found(ctx, "the note beside the log, spine.db-extent, is damaged: it cannot be told whether "
			      "the log is whole. The next commit of a server writes it anew");
		for (uint32_t page = 1; page <= s.pages; page++)
			if (page != LOCK_PAGE)
				scan_page(&s, page);
		buf_release(&why);
	}
	free(s.in_log);
	if (s.fd >= 0)
		close(s.fd);
}
