/* Which part of a list is asked for. */
#ifndef SPINE_ENGINE_PAGE_H
#define SPINE_ENGINE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So much text at the most, or one item however long: a thousand memories may be a quarter of a gigabyte. */
enum { PAGE_BYTES_MAX = 8 << 20 };

struct page {
	size_t size;
	/* Where the page starts; 0: at the beginning. What it counts is the list's own business. */
	uint64_t position;
	uint64_t extra;		/* a second number for lists that need one */
	int64_t time_ms;	/* when the first page was asked for: later pages are ranked as of then */
	size_t first_size;	/* of the first page: later pages are parts of the same list, whatever their size */
	/* Out: where the next page starts, where there is more. */
	bool has_more;
	uint64_t next;
	uint64_t next_extra;
};

/* Whoever asks the store for one row more than the page holds learns whether there are more: that one is left out. */
static inline bool page_cut(const struct page *page, size_t *count)
{
	bool more = *count > page->size;

	if (more)
		*count = page->size;
	return more;
}

/* A list that is short has no cursor: it is read from its start, so many rows of it, and those before the page are
 * skipped. Returns how many to skip; *count is then of the rest. */
static inline size_t page_reach(const struct page *page)
{
	return (size_t)page->position + page->size + 1;
}

static inline size_t page_skip(const struct page *page, size_t *count)
{
	size_t skipped = page->position < *count ? (size_t)page->position : *count;

	*count -= skipped;
	return skipped;
}

/* The same list: the page ends, and the next one starts behind it. */
static inline void page_end(struct page *page, size_t *count)
{
	page->has_more = page_cut(page, count);
	page->next = page->position + page->size;
}

#endif
