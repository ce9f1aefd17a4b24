#include "core/envelope/render_text.h"

#include "base/utf8.h"

enum { SHORT_BYTES = 1000, SHORT_NAME_BYTES = 64 };

/* --- Characters that must be seen --- */

/* The first bytes of all of them, and of others. */
static const bool is_suspect[256] = {
	[0x00 ... 0x08] = true, [0x0a ... 0x1f] = true, [0x7f] = true,
	[0xc2] = true, [0xcd] = true, [0xd8] = true, [0xe1 ... 0xe3] = true, [0xef] = true, [0xf3] = true,
};

static const struct {
	uint32_t first;
	uint32_t last;
} hidden[] = {
	{0x00, 0x08}, {0x0a, 0x1f}, {0x7f, 0x9f},	/* controls but tab */
	{0x61c, 0x61c}, {0x200e, 0x200f},		/* marks of direction */
	{0xad, 0xad}, {0x34f, 0x34f}, {0x180e, 0x180e}, {0x200b, 0x200b}, {0xfeff, 0xfeff},	/* of no width */
	{0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x3164, 0x3164}, {0xffa0, 0xffa0},	/* letters that show nothing */
	{0x2028, 0x202e},				/* separators, embeddings and overrides */
	{0x2060, 0x206f},				/* of no width, isolates, formats of old */
	{0xfff9, 0xfffb},				/* annotations */
	{0xe0000, 0xe007f}, {0xe0100, 0xe01ef},		/* tags, and selectors that can carry any bytes */
};

static bool is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}

/* The code of the first character, which has n bytes and is well-formed. */
static uint32_t code_of(const char *p, size_t n)
{
	static const unsigned char first_bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)p[0] & first_bits[n];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)p[i] & 0x3f);
	return code;
}

/* A character that does not stand in a prompt as it is. CR LF is one, and a line feed. */
struct mark {
	size_t at;		/* where there is none: behind the text */
	size_t n;
	uint32_t code;
};

/* Where the next byte is that is not of printable ASCII, or one of the few before it: eight at a time. */
static size_t skip_plain(struct str text, size_t at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t eight;

	for (; at + sizeof(eight) <= text.n; at += sizeof(eight)) {
		memcpy(&eight, text.p + at, sizeof(eight));
		/* A byte below 0x20 borrows, one of 0x7f comes to 0x80, and those above have the bit. */
		if (((eight - 0x20 * ones) | (eight + ones) | eight) & 0x80 * ones)
			break;
	}
	return at;
}

static struct mark next_mark(struct str text, size_t at)
{
	for (at = skip_plain(text, at); at < text.n; at++) {
		struct mark m = {.at = at};
		bool ok;

		if (text.p[at] == ' ')	/* another word, which may be plain again */
			at = m.at = skip_plain(text, at);
		if (at == text.n || !is_suspect[(unsigned char)text.p[at]])
			continue;
		m.n = utf8_first(str_sub(text, at, text.n), &ok);
		m.code = ok ? code_of(text.p + at, m.n) : ' ';
		if (m.code == '\r' && at + 1 < text.n && text.p[at + 1] == '\n')
			return (struct mark){at, 2, '\n'};
		if (is_hidden(m.code))
			return m;
	}
	return (struct mark){.at = text.n};
}

static bool is_line_end(uint32_t code)
{
	return code == '\n' || code == '\r';
}

static bool may_end_line(uint32_t code)
{
	return is_line_end(code) || code == '\v' || code == '\f' || code == 0x85 || code == 0x2028 || code == 0x2029;
}

/* With line_end for what ends is true of. */
static void put_visible(struct buf *out, struct str text, bool (*ends)(uint32_t code), char line_end)
{
	size_t at = 0;

	for (struct mark m = next_mark(text, 0); m.at < text.n; m = next_mark(text, at)) {
		buf_append(out, text.p + at, m.at - at);
		if (ends(m.code))
			buf_putc(out, line_end);
		else
			buf_printf(out, "\\u{%x}", (unsigned)m.code);
		at = m.at + m.n;
	}
	buf_append(out, text.p + at, text.n - at);
}

/* --- Lines --- */

void render_line(struct buf *out, struct str text)
{
	put_visible(out, text, may_end_line, ' ');
}

void render_item(struct buf *out, struct str text)
{
	size_t blanks = 0;

	while (blanks < text.n && (text.p[blanks] == ' ' || text.p[blanks] == '\t'))
		blanks++;
	text = str_sub(text, blanks, text.n);
	if (text.n && strchr("#>`~-+*=|<", text.p[0]))
		buf_putc(out, '\\');
	render_line(out, text);
}

void render_quote(struct buf *out, struct str text)
{
	size_t at = 0;

	do {
		struct mark m = next_mark(text, at);

		while (m.at < text.n && !may_end_line(m.code))
			m = next_mark(text, m.at + m.n);
		buf_puts(out, m.at > at ? "> " : ">");
		render_line(out, str_sub(text, at, m.at));
		buf_putc(out, '\n');
		at = m.at < text.n ? m.at + m.n : text.n + 1;
	} while (at <= text.n);
}

/* --- Spans and fences --- */

static size_t longest_backticks(struct str text)
{
	const char *at = text.p, *end = text.p + text.n;
	size_t longest = 0;

	while (at < end && (at = memchr(at, '`', (size_t)(end - at)))) {
		const char *start = at;

		while (at < end && *at == '`')
			at++;
		if ((size_t)(at - start) > longest)
			longest = (size_t)(at - start);
	}
	return longest;
}

static void put_backticks(struct buf *out, size_t count)
{
	while (count-- > 0)
		buf_putc(out, '`');
}

static bool is_space_or_backtick(char c)
{
	return c == ' ' || c == '`';
}

void render_span(struct buf *out, struct str text)
{
	size_t ticks = longest_backticks(text) + 1;
	bool padded = text.n == 0 || is_space_or_backtick(text.p[0]) || is_space_or_backtick(text.p[text.n - 1]);

	put_backticks(out, ticks);
	buf_puts(out, padded ? " " : "");
	put_visible(out, text, is_line_end, ' ');
	buf_puts(out, padded ? " " : "");
	put_backticks(out, ticks);
}

bool render_is_short(struct str text)
{
	return text.n > 0 && text.n <= SHORT_BYTES && memchr(text.p, '\n', text.n) == NULL &&
	       memchr(text.p, '\r', text.n) == NULL;
}

void render_fence(struct buf *out, struct str text)
{
	size_t ticks = longest_backticks(text) + 1;

	put_backticks(out, ticks > 3 ? ticks : 3);
}

void render_fenced(struct buf *out, const char *info, struct str text)
{
	render_fence(out, text);
	buf_puts(out, info);
	buf_putc(out, '\n');
	put_visible(out, text, is_line_end, '\n');
	if (text.n == 0 || !is_line_end((unsigned char)text.p[text.n - 1]))
		buf_putc(out, '\n');
	render_fence(out, text);
	buf_putc(out, '\n');
}

/* --- Names --- */

static bool is_word(struct str s, const char *others)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c && strchr(others, c))))
			return false;
	}
	return s.n > 0;
}

void render_name(struct buf *out, struct str name)
{
	if (is_word(name, "-_./@+"))
		buf_put(out, name);
	else
		render_span(out, name);
}

void render_short_name(struct buf *out, struct str name)
{
	size_t n = name.n;

	if (n > SHORT_NAME_BYTES) {
		n = SHORT_NAME_BYTES;
		while (((unsigned char)name.p[n] & 0xc0) == 0x80)
			n--;
	}
	render_name(out, str_sub(name, 0, n));
	if (n < name.n)
		buf_puts(out, "\xe2\x80\xa6");
}

void render_key(struct buf *out, struct str key)
{
	if (is_word(key, "-_./@+ ") && is_word(str_sub(key, 0, 1), "_") && key.p[key.n - 1] != ' ')
		buf_put(out, key);
	else
		render_span(out, key);
}
