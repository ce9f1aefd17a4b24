#include "cli/lines.h"

#include <errno.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024 };

void lines_init(struct lines *l, int fd, size_t max_line_bytes)
{
	*l = (struct lines){.fd = fd};
	buf_init(&l->pending, max_line_bytes + CHUNK_BYTES);
}

void lines_release(struct lines *l)
{
	buf_release(&l->pending);
}

static enum lines_status fill(struct lines *l)
{
	ssize_t got;
	char *room;

	buf_consume(&l->pending, l->at);
	l->scanned -= l->at;
	l->at = 0;
	room = buf_reserve(&l->pending, CHUNK_BYTES);
	if (room == NULL)
		return LINES_TOO_LONG;
	do {
		got = read(l->fd, room, CHUNK_BYTES);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return LINES_FAILED;
	if (got == 0) {
		l->ended = true;
		return LINES_OK;
	}
	buf_commit(&l->pending, (size_t)got);
	l->bytes += got;
	return LINES_OK;
}

enum lines_status lines_next(struct lines *l, struct str *ret)
{
	for (;;) {
		struct str rest = str_sub(buf_str(&l->pending), l->scanned, l->pending.len);
		size_t end = l->scanned + str_find(rest, '\n');
		enum lines_status status;

		if (end < l->pending.len || (l->ended && l->at < l->pending.len)) {
			*ret = str_sub(buf_str(&l->pending), l->at, end);
			l->at = end < l->pending.len ? end + 1 : end;
			l->scanned = l->at;
			l->number++;
			return LINES_OK;
		}
		if (l->ended)
			return LINES_END;
		l->scanned = l->pending.len;
		status = fill(l);
		if (status != LINES_OK)
			return status;
	}
}
