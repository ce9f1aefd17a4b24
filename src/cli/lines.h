/* Reads a file line by line, of a bounded length each. */
#ifndef SPINE_CLI_LINES_H
#define SPINE_CLI_LINES_H

#include "base/buf.h"

struct lines {
	int fd;
	struct buf pending;
	size_t at;		/* of the next line in pending */
	size_t scanned;		/* no line break stands before this */
	uint64_t number;	/* of the line returned last, from 1 */
	int64_t bytes;		/* read so far */
	bool ended;
};

/* Borrows fd. */
void lines_init(struct lines *l, int fd, size_t max_line_bytes);
void lines_release(struct lines *l);

enum lines_status { LINES_OK, LINES_END, LINES_TOO_LONG, LINES_FAILED };

/* The next line, without its line break, borrowed until the next call. On LINES_FAILED errno says why. */
enum lines_status lines_next(struct lines *l, struct str *ret);

#endif
