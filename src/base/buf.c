#include "base/buf.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* The first is as large as most replies. What is printed is shorter than the second, as a rule. */
enum { BUF_FIRST_CAP = 1024, PRINTED_BYTES = 256 };

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.max = max};
}

static void wipe(const struct buf *b)
{
	if (b->is_secret && b->data && !b->is_shared)
		mem_wipe(b->data, b->len);
}

void buf_release(struct buf *b)
{
	wipe(b);
	if (!b->is_shared)
		free(b->data);
	*b = (struct buf){.max = b->max, .is_secret = b->is_secret};
}

/* The room is used up to the last byte: whatever is appended makes a copy. */
void buf_share(struct buf *b, struct str bytes)
{
	assert(b->len == 0 && b->cap == 0);
	b->data = (char *)(uintptr_t)bytes.p;
	b->len = b->cap = bytes.n;
	b->is_shared = true;
}

void buf_clear(struct buf *b)
{
	if (b->is_shared)
		buf_release(b);
	wipe(b);
	b->len = 0;
	b->overflowed = false;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_take(struct buf *b)
{
	char *data = b->data ? b->data : mem_strdup("");

	assert(!b->is_shared);

	buf_init(b, b->max);
	return data;
}

/* realloc would leave a copy behind. */
static void grow(struct buf *b, size_t cap)
{
	char *data;

	if ((b->is_secret || b->is_shared) && b->data) {
		data = mem_alloc(cap);
		memcpy(data, b->data, b->len);
		data[b->len] = '\0';
		wipe(b);
		if (!b->is_shared)
			free(b->data);
		b->data = data;
		b->is_shared = false;
	} else {
		b->data = mem_realloc(b->data, cap);
	}
	b->cap = cap;
}

char *buf_reserve_slowly(struct buf *b, size_t len)
{
	size_t cap = b->cap ? b->cap : BUF_FIRST_CAP;

	if (b->overflowed || len > b->max - b->len) {
		b->overflowed = true;
		return NULL;
	}
	if (b->len + len + 1 <= b->cap)
		return b->data + b->len;
	while (cap < b->len + len + 1)
		cap *= 2;
	grow(b, cap);
	return b->data + b->len;
}

void buf_append(struct buf *b, const void *data, size_t len)
{
	char *at;

	if (len == 0)
		return;
	at = buf_reserve(b, len);
	if (at == NULL)
		return;
	memcpy(at, data, len);
	buf_commit(b, len);
}

void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
	char small[PRINTED_BYTES], *at;
	va_list again;
	int len;

	va_copy(again, args);
	len = vsnprintf(small, sizeof(small), format, again);
	va_end(again);
	assert(len >= 0);
	if ((size_t)len < sizeof(small)) {
		buf_append(b, small, (size_t)len);
		return;
	}
	at = buf_reserve(b, (size_t)len);
	if (at == NULL)
		return;
	vsnprintf(at, (size_t)len + 1, format, args);
	buf_commit(b, (size_t)len);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(b, format, args);
	va_end(args);
}

void buf_consume(struct buf *b, size_t len)
{
	assert(len <= b->len && !b->is_shared);
	if (len == 0)
		return;
	memmove(b->data, b->data + len, b->len - len + 1);
	if (b->is_secret)
		mem_wipe(b->data + (b->len - len + 1), len);
	b->len -= len;
}
