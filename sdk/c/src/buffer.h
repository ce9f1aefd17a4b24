/* A growing buffer with a limit, which does not end the process where there is no memory: it remembers what went wrong,
 * and is asked once, at the end. */
#ifndef MSI_BUFFER_H
#define MSI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct msi_buffer {
	char *data;		/* ended by a NUL that len does not count; NULL while empty */
	size_t len;
	size_t cap;
	size_t max;
	bool is_full;		/* something was larger than max allows */
	bool no_memory;
};

void msi_buffer_init(struct msi_buffer *b, size_t max);
/* Frees the bytes; the buffer is then as after msi_buffer_init. */
void msi_buffer_release(struct msi_buffer *b);
/* Forgets content and failure, keeps the memory. */
void msi_buffer_clear(struct msi_buffer *b);
/* Changes nothing where that fails, now or before. */
void msi_buffer_append(struct msi_buffer *b, const char *data, size_t len);
void msi_buffer_puts(struct msi_buffer *b, const char *text);
/* Takes the last byte away where it is c. */
void msi_buffer_cut(struct msi_buffer *b, char c);
/* The content, ended by a NUL, never NULL. Borrowed. */
const char *msi_buffer_text(const struct msi_buffer *b);

static inline bool msi_buffer_failed(const struct msi_buffer *b)
{
	return b->is_full || b->no_memory;
}

#endif
