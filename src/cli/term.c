#include "cli/term.h"

#include "text/invisible.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 40, WIDTH_MAX = 200 };

static size_t width_of(int fd, bool is_terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width = WIDTH_DEFAULT;

	if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	else if (columns)
		str_to_u64(str_of(columns), &width);
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (size_t)width;
}

void term_init(struct term *t, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	t->is_terminal = isatty(fd) == 1;
	/* NO_COLOR counts where it is set and not empty (no-color.org). */
	t->color = t->is_terminal && !(no_color && no_color[0]) && !(term && strcmp(term, "dumb") == 0);
	t->width = width_of(fd, t->is_terminal);
}

const char *term_on(const struct term *t, enum term_style style)
{
	static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"};

	return t->color ? codes[style] : "";
}

const char *term_off(const struct term *t, enum term_style style)
{
	return t->color && style != TERM_PLAIN ? "\033[0m" : "";
}

/* --- Safe text --- */

/* Control characters (C0, DEL, C1) and those that change the direction of what stands around them. */
static bool is_dangerous(utf8proc_int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Whether nobody sees a character is told by its neighbours, so that the text is kept whole. */
struct chars {
	struct str text;
	struct str rest;
	struct invisible next;		/* of those that are to come */
};

struct one_char {
	struct str bytes;
	utf8proc_int32_t code;	/* -1 where the byte is no UTF-8 */
	bool is_shown_as_code;
};

static struct chars chars_of(struct str text)
{
	return (struct chars){text, text, invisible_next(text, 0)};
}

static bool next_char(struct chars *chars, struct one_char *ret)
{
	size_t at = chars->text.n - chars->rest.n;
	utf8proc_ssize_t len;

	if (chars->rest.n == 0)
		return false;
	len = utf8proc_iterate((const utf8proc_uint8_t *)chars->rest.p, (utf8proc_ssize_t)chars->rest.n, &ret->code);
	if (len < 1) {
		ret->code = -1;
		len = 1;
	}
	ret->is_shown_as_code = at == chars->next.at || is_dangerous(ret->code);
	if (at == chars->next.at)
		chars->next = invisible_next(chars->text, chars->next.end);
	ret->bytes = str_sub(chars->rest, 0, (size_t)len);
	chars->rest = str_sub(chars->rest, (size_t)len, chars->rest.n);
	return true;
}

static void put_char(struct buf *out, const struct one_char *c)
{
	if (c->code < 0)
		buf_printf(out, "\\x%02x", (unsigned char)c->bytes.p[0]);
	else if (!c->is_shown_as_code)
		buf_put(out, c->bytes);
	else if (c->code < 0x100)
		buf_printf(out, "\\x%02x", (unsigned)c->code);
	else if (c->code < 0x10000)
		buf_printf(out, "\\u%04x", (unsigned)c->code);
	else
		buf_printf(out, "\\U%08x", (unsigned)c->code);
}

static bool is_blank(utf8proc_int32_t code)
{
	return code == ' ' || code == '\t' || code == '\n' || code == '\r';
}

void term_put_text(struct buf *out, struct str text)
{
	struct chars chars = chars_of(text);
	struct one_char c;

	while (next_char(&chars, &c)) {
		bool line_end = c.code == '\r' && chars.rest.n > 0 && chars.rest.p[0] == '\n';

		if (c.code == '\n' || c.code == '\t')
			buf_put(out, c.bytes);
		else if (!line_end)
			put_char(out, &c);
	}
}

size_t term_columns(struct str text)
{
	struct chars chars = chars_of(text);
	struct one_char c;
	size_t columns = 0;

	while (next_char(&chars, &c))
		columns += c.code < 0 ? 1 : (size_t)utf8proc_charwidth(c.code);
	return columns;
}

void term_put_line(struct buf *out, struct str text, size_t max_columns)
{
	struct chars chars = chars_of(text);
	size_t columns = 0, cut_at = out->len;
	bool blank = false, any = false;
	struct one_char c;

	while (next_char(&chars, &c)) {
		size_t from = out->len;

		if (is_blank(c.code)) {
			blank = any;
			continue;
		}
		if (blank)
			buf_putc(out, ' ');
		put_char(out, &c);
		if (buf_overflowed(out))
			return;
		columns += term_columns(str_sub(buf_str(out), from, out->len));
		if (columns > max_columns) {
			out->len = cut_at;
			out->data[cut_at] = '\0';
			buf_puts(out, "…");
			return;
		}
		/* Where it would be cut, there must be room for the "…". */
		if (columns < max_columns)
			cut_at = out->len;
		blank = false;
		any = true;
	}
}

struct str term_line(struct arena *arena, struct str text)
{
	struct str copy;
	struct buf out;

	buf_init(&out, text.n * 6 + 1);
	term_put_line(&out, text, SIZE_MAX);
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

void term_put_json(struct buf *out, struct str json)
{
	struct chars chars = chars_of(json);
	struct one_char c;

	while (next_char(&chars, &c)) {
		/* Between the tokens of JSON text line breaks and tabs may stand; in its strings they cannot. */
		if (c.code >= 0x10000 && c.is_shown_as_code)
			buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + ((unsigned)c.code >> 10),
				   0xdc00 + ((unsigned)c.code & 0x3ff));
		else if (c.code >= 0x20 && c.is_shown_as_code)
			buf_printf(out, "\\u%04x", (unsigned)c.code);
		else if (c.code < 0x20 && !is_blank(c.code))
			buf_putc(out, '?');
		else
			buf_put(out, c.bytes);
	}
}

/* --- Filling --- */

static size_t put_indent(struct buf *out, size_t indent)
{
	buf_printf(out, "\n%*s", (int)indent, "");
	return indent;
}

void term_fill(struct buf *out, struct str text, size_t column, size_t indent, size_t width)
{
	bool first = true;

	while (text.p && text.n > 0) {
		struct str word = str_cut(&text, ' ');
		size_t columns = term_columns(word);

		if (word.n == 0)
			continue;
		if (!first && column + 1 + columns > width) {
			column = put_indent(out, indent);
			first = true;
		}
		if (!first) {
			buf_putc(out, ' ');
			column++;
		}
		buf_put(out, word);
		column += columns;
		first = false;
	}
}
