#include "buffer.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 256 };

void msi_buffer_init(struct msi_buffer *b, size_t max)
{
	*b = (struct msi_buffer){.max = max};
}

void msi_buffer_release(struct msi_buffer *b)
{
	free(b->data);
	msi_buffer_init(b, b->max);
}

void msi_buffer_clear(struct msi_buffer *b)
{
	b->len = 0;
	b->is_full = b->no_memory = false;
	if (b->data)
		b->data[0] = '\0';
}

static bool grow(struct msi_buffer *b, size_t needed)
{
	size_t cap = b->cap ? b->cap : FIRST_BYTES;
	char *data;

	while (cap < needed)
		cap *= 2;	/* max is at most half of what a size_t holds */
	data = realloc(b->data, cap);
	if (data == NULL) {
		b->no_memory = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void msi_buffer_append(struct msi_buffer *b, const char *data, size_t len)
{
	if (msi_buffer_failed(b))
		return;
	if (len > b->max - b->len) {
		b->is_full = true;
		return;
	}
	if (b->len + len + 1 > b->cap && !grow(b, b->len + len + 1))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void msi_buffer_puts(struct msi_buffer *b, const char *text)
{
	msi_buffer_append(b, text, strlen(text));
}

void msi_buffer_cut(struct msi_buffer *b, char c)
{
	if (b->len && b->data[b->len - 1] == c)
		b->data[--b->len] = '\0';
}

const char *msi_buffer_text(const struct msi_buffer *b)
{
	return b->data ? b->data : "";
}
