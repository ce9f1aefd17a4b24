/* A growing byte buffer with a limit.
 *
 * A buffer is given its maximum size when it is made. An append that would pass it changes nothing
 * and marks the buffer as overflowed; later appends are ignored, so that a writer may append many
 * times and ask once, at the end, with buf_overflowed().
 */
#ifndef SPINE_BASE_BUF_H
#define SPINE_BASE_BUF_H

#include "base/str.h"

#include <assert.h>
#include <stdarg.h>

struct buf {
	char *data;		/* terminated with a NUL that len does not count; NULL while empty */
	size_t len;
	size_t cap;
	size_t max;
	bool overflowed;
	bool is_secret;		/* may be set: bytes are overwritten before their memory is given up */
	bool is_shared;		/* the bytes are somebody else's: see buf_share */
};

/* A buffer that allocates nothing until something is appended. */
void buf_init(struct buf *b, size_t max);
/* Frees the bytes; the buffer is then as after buf_init. */
void buf_release(struct buf *b);
/* Forgets the content and an overflow, keeps the memory. */
void buf_clear(struct buf *b);
/* Instead of a copy of them, in an empty buffer: bytes that never change, and stay for as long as anybody may have the
 * buffer. Not terminated. An append makes a copy after all. */
void buf_share(struct buf *b, struct str bytes);
/* Not of shared bytes. Returns owned, terminated bytes (never NULL) and leaves the buffer empty. A secret is then the
 * caller's to wipe. */
char *buf_take(struct buf *b);

void buf_append(struct buf *b, const void *data, size_t len);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* buf_reserve() where there is no room, or not known to be. */
char *buf_reserve_slowly(struct buf *b, size_t len);
/* Removes len bytes from the front. */
void buf_consume(struct buf *b, size_t len);

/* Room for len more bytes at the returned address, to be counted with buf_commit; NULL (and overflowed) where
 * the limit does not allow them. */
static inline char *buf_reserve(struct buf *b, size_t len)
{
	if (len < b->cap - b->len && len <= b->max - b->len && !b->overflowed)
		return b->data + b->len;
	return buf_reserve_slowly(b, len);
}

static inline void buf_commit(struct buf *b, size_t len)
{
	assert(b->len + len < b->cap);
	b->len += len;
	b->data[b->len] = '\0';
}

static inline void buf_puts(struct buf *b, const char *cstr)
{
	buf_append(b, cstr, strlen(cstr));
}

static inline void buf_put(struct buf *b, struct str s)
{
	buf_append(b, s.p, s.n);
}

static inline struct str buf_str(const struct buf *b)
{
	return (struct str){b->data ? b->data : "", b->len};
}

static inline bool buf_overflowed(const struct buf *b)
{
	return b->overflowed;
}

#endif
