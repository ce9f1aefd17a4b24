/* Pages of a list: page_size, page_token, next_page_token.
 *
 * A token holds where the next page starts and a digest of the query that it came from, so that a token cannot be used
 * with another query.
 */
#ifndef SPINE_API_PAGE_H
#define SPINE_API_PAGE_H

#include "api/call.h"
#include "engine/page.h"

enum { PAGE_SIZE_DEFAULT = 20, PAGE_SIZE_MAX = 1000 };

/* ret->size, where it is not 0, is how many rows a page has where the caller does not say. */
enum problem_code page_read(struct call *call, struct page *ret);
/* Writes next_page_token; null where there is no more. */
void page_put_next(const struct call *call, const struct page *page, struct json_writer *w, bool more,
		   uint64_t position, uint64_t extra);

/* The field next_page_token of an answer whose struct has a struct page as that member. */
#define NEXT_PAGE_OF(s, m) \
	FIELD_ODD(TYPE_TEXT, "next_page_token", "Where the next page begins.", .component = "NextPageToken", NULLABLE, \
		  .count_offset = offsetof(s, m), .write = page_write_next)
void page_write_next(const struct field *f, const void *from, const void *call, struct json_writer *w);

#endif
