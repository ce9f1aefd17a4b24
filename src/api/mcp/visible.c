#include "api/mcp/visible.h"

#include "text/invisible.h"

static void put_escape(struct buf *out, uint32_t code)
{
	if (code < 0x10000)
		buf_printf(out, "\\u%04x", (unsigned)code);
	else
		buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(code >> 10), 0xdc00 + (unsigned)(code & 0x3ff));
}

static void put_code(struct buf *out, uint32_t code)
{
	buf_printf(out, "\\u{%x}", (unsigned)code);
}

static void put(struct buf *out, struct str text, void (*put_one)(struct buf *out, uint32_t code))
{
	size_t from = 0;

	for (struct invisible i = invisible_next(text, 0); i.at < text.n; i = invisible_next(text, i.end)) {
		buf_append(out, text.p + from, i.at - from);
		put_one(out, i.code);
		from = i.end;
	}
	buf_append(out, text.p + from, text.n - from);
}

void visible_json(struct buf *out, struct str json)
{
	put(out, json, put_escape);
}

void visible_text(struct buf *out, struct str text)
{
	put(out, text, put_code);
}
