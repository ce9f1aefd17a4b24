#include "api/page.h"

#include "codec/base64.h"
#include "codec/sha256.h"

#include <stdio.h>

enum { PAGE_TOKEN_MAX = 128 };

/* How far the clock may have been set back since the first page. */
#define CLOCK_SLACK_MS (INT64_C(24) * 3600 * 1000)

/* A digest of everything that says which list this is: the space, the path, and the query but for the page's own
 * parameters. */
static uint64_t list_digest(const struct call *call)
{
	uint8_t digest[SHA256_SIZE];
	uint64_t first;
	struct buf text;

	buf_init(&text, 65536);
	buf_put(&text, call->op->space_name);
	buf_putc(&text, '\n');
	buf_put(&text, call->path);
	for (size_t i = 0; i < call->query_count; i++) {
		const struct query_pair *pair = &call->query[i];

		if (!str_is(pair->name, "page_token") && !str_is(pair->name, "page_size"))
			buf_printf(&text, "\n%.*s=%.*s", STR_ARG(pair->name), STR_ARG(pair->value));
	}
	sha256(buf_str(&text), digest);
	buf_release(&text);
	memcpy(&first, digest, sizeof(first));
	return first;
}

static bool read_token(const struct call *call, struct str token, struct page *ret)
{
	unsigned long long digest, position, extra, first_size;
	long long time_ms;
	struct buf text;
	bool ok;

	buf_init(&text, PAGE_TOKEN_MAX);
	ok = base64_decode(token, BASE64_URL, &text) && text.len > 0 &&
	     sscanf(text.data, "%llx.%llx.%llx.%lld.%llx", &digest, &position, &extra, &time_ms, &first_size) == 5 &&
	     digest == list_digest(call) && time_ms >= 0 && time_ms <= call->op->now_ms + CLOCK_SLACK_MS &&
	     first_size >= 1 && first_size <= PAGE_SIZE_MAX;
	if (ok) {
		ret->position = position;
		ret->extra = extra;
		ret->time_ms = time_ms;
		ret->first_size = first_size;
	}
	buf_release(&text);
	return ok;
}

enum problem_code page_read(struct call *call, struct page *ret)
{
	struct str size_text = call_query(call, "page_size"), token = call_query(call, "page_token");
	uint64_t size = ret->size ? ret->size : PAGE_SIZE_DEFAULT;
	struct page page = {.time_ms = call->op->now_ms};

	if (size_text.p && (!str_to_u64(size_text, &size) || size < 1 || size > PAGE_SIZE_MAX))
		return call_refuse(call, P_INVALID_FIELD, "page_size", "page_size is not a number from 1 to "
				   "%d", PAGE_SIZE_MAX);
	if (token.p && !read_token(call, token, &page))
		return call_refuse(call, P_INVALID_PAGE_TOKEN, "page_token",
				   "page_token is not one that this list gave out; start again without it");
	page.size = size;
	page.first_size = token.p ? page.first_size : size;
	call->op->page_rows = size;
	*ret = page;
	return P_OK;
}

void page_put_next(const struct call *call, const struct page *page, struct json_writer *w, bool more,
		   uint64_t position, uint64_t extra)
{
	struct buf text, token;

	json_key(w, "next_page_token");
	if (!more) {
		json_put_null(w);
		return;
	}
	buf_init(&text, PAGE_TOKEN_MAX);
	buf_init(&token, 2 * PAGE_TOKEN_MAX);
	buf_printf(&text, "%llx.%llx.%llx.%lld.%zx", (unsigned long long)list_digest(call),
		   (unsigned long long)position, (unsigned long long)extra, (long long)page->time_ms,
		   page->first_size);
	base64_encode(buf_str(&text), BASE64_URL, &token);
	json_put_str(w, buf_str(&token));
	buf_release(&text);
	buf_release(&token);
}

void page_write_next(const struct field *f, const void *from, const void *call, struct json_writer *w)
{
	const struct page *page = (const void *)((const char *)from + f->count_offset);

	page_put_next(call, page, w, page->has_more, page->next, page->next_extra);
}
