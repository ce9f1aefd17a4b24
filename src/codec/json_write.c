/* The writer: bytes appended to a buffer, nothing kept but whether a comma is due.
 *
 * A string is mostly text that needs no escape, so the writer looks for the next byte that does, many at a time, and
 * copies what stands before it at once.
 */
#include "codec/json.h"

#include "base/mem.h"
#include "codec/json_double.h"

#include <assert.h>
#include <stdlib.h>

/* Objects up to this size are sorted in an array on the stack. */
enum { SORT_SMALL = 16 };
/* A string of less than SHORT_BYTES is looked at while it is copied. */
enum { SHORT_BYTES = 128, ESCAPE_BLOCK = 32 };

void json_writer_init(struct json_writer *w, struct buf *out)
{
	*w = (struct json_writer){.out = out};
}

/* A value, or a part of one, that needs no escape. */
static void put_plain(struct json_writer *w, const char *bytes, size_t len)
{
	size_t total = len + (w->comma ? 1 : 0);
	char *at = buf_reserve(w->out, total);

	if (at == NULL)
		return;
	if (w->comma)
		*at++ = ',';
	memcpy(at, bytes, len);
	buf_commit(w->out, total);
}

static void put_value(struct json_writer *w, const char *bytes, size_t len)
{
	put_plain(w, bytes, len);
	w->comma = true;
}

void json_begin_object(struct json_writer *w)
{
	put_plain(w, "{", 1);
	w->comma = false;
}

void json_end_object(struct json_writer *w)
{
	buf_putc(w->out, '}');
	w->comma = true;
}

void json_begin_array(struct json_writer *w)
{
	put_plain(w, "[", 1);
	w->comma = false;
}

void json_end_array(struct json_writer *w)
{
	buf_putc(w->out, ']');
	w->comma = true;
}

/* --- Strings --- */

static bool must_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

/* Non-zero where one of the eight bytes of word must be escaped: each term has the top bit of a byte set where that
 * byte is below 0x20, is a quote, is a backslash. Borrows may set bits above the first hit, never below it, and never
 * without a hit. */
static uint64_t escapes_in(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t quote = (word ^ (ones * '"')) - ones, backslash = (word ^ (ones * '\\')) - ones;
	uint64_t control = word - ones * 0x20;

	return (control | quote | backslash) & ~word & tops;
}

static uint64_t load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The same for ESCAPE_BLOCK bytes: a loop that compilers turn into instructions for many bytes. */
static bool block_escapes(const char *p)
{
	unsigned char any = 0;

	for (int i = 0; i < ESCAPE_BLOCK; i++)
		any |= must_escape((unsigned char)p[i]);
	return any;
}

/* The position of the first byte at or after from that must be escaped, s.n where there is none. */
static size_t find_escape(struct str s, size_t from)
{
	size_t i = from;

	while (i + ESCAPE_BLOCK <= s.n && !block_escapes(s.p + i))
		i += ESCAPE_BLOCK;
	while (i + 8 <= s.n && !escapes_in(load8(s.p + i)))
		i += 8;
	while (i < s.n && !must_escape((unsigned char)s.p[i]))
		i++;
	return i;
}

static uint64_t copy8(char *to, const char *from)
{
	memcpy(to, from, 8);
	return escapes_in(load8(from));
}

/* Copies n bytes and looks at them in one go, as most strings are short: words of eight bytes, or two of four, the last
 * of which may cover bytes of the one before. False where one of them must be escaped. */
static bool copy_plain(char *to, const char *from, size_t n)
{
	uint32_t first, last;
	uint64_t found = 0;

	if (n >= 8) {
		for (size_t i = 0; i + 8 < n; i += 8)
			found |= copy8(to + i, from + i);
		return !(found | copy8(to + n - 8, from + n - 8));
	}
	if (n >= 4) {
		memcpy(&first, from, sizeof(first));
		memcpy(&last, from + n - 4, sizeof(last));
		memcpy(to, &first, sizeof(first));
		memcpy(to + n - 4, &last, sizeof(last));
		return !escapes_in((uint64_t)first << 32 | last);
	}
	for (size_t i = 0; i < n; i++) {
		found |= must_escape((unsigned char)from[i]);
		to[i] = from[i];
	}
	return !found;
}

static void put_escape(struct buf *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	/* What stands after the backslash; 'u' for the long form. */
	static const char shorts[0x20] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
	char text[6] = {'\\', c < 0x20 ? shorts[c] : (char)c, '0', '0', hex[c >> 4], hex[c & 15]};

	buf_append(out, text, text[1] == 'u' ? 6 : 2);
}

/* [,]"s"[:] in one reservation; false, and nothing is appended, where something in s must be escaped. The caller then
 * appends something shorter, which ends what has been written behind the end. */
static bool put_quoted_plain(struct json_writer *w, struct str s, bool colon)
{
	size_t total = s.n + 2 + (w->comma ? 1 : 0) + (colon ? 1 : 0);
	char *at = buf_reserve(w->out, total);

	if (at == NULL)
		return true;
	if (w->comma)
		*at++ = ',';
	*at++ = '"';
	if (!copy_plain(at, s.p, s.n))
		return false;
	at[s.n] = '"';
	if (colon)
		at[s.n + 1] = ':';
	buf_commit(w->out, total);
	return true;
}

static void put_quoted(struct json_writer *w, struct str s, bool colon)
{
	size_t end, start = 0;

	if (s.n < SHORT_BYTES && put_quoted_plain(w, s, colon))
		return;
	put_plain(w, "\"", 1);
	for (;;) {
		end = find_escape(s, start);
		buf_append(w->out, s.p + start, end - start);
		if (end == s.n)
			break;
		put_escape(w->out, (unsigned char)s.p[end]);
		start = end + 1;
	}
	buf_append(w->out, "\":", colon ? 2 : 1);
}

void json_key_str(struct json_writer *w, struct str key)
{
	put_quoted(w, key, true);
	w->comma = false;
}

void json_put_str(struct json_writer *w, struct str value)
{
	put_quoted(w, value, false);
	w->comma = true;
}

/* --- Other scalars --- */

void json_put_null(struct json_writer *w)
{
	put_value(w, "null", 4);
}

void json_put_bool(struct json_writer *w, bool value)
{
	put_value(w, value ? "true" : "false", value ? 4 : 5);
}

void json_put_int(struct json_writer *w, int64_t value)
{
	char text[1 + STR_U64_SIZE] = "-";
	size_t sign = value < 0;

	put_value(w, text + 1 - sign, sign + str_put_u64(text + 1, sign ? 0 - (uint64_t)value : (uint64_t)value));
}

void json_put_double(struct json_writer *w, double value)
{
	char text[JSON_DOUBLE_SIZE];
	size_t len = json_double_format(value, text);

	put_value(w, text, len);
}

void json_put_raw(struct json_writer *w, struct str json)
{
	assert(json.n > 0);
	put_value(w, json.p, json.n);
}

/* --- Trees --- */

static void put_tree(struct json_writer *w, const struct json *value, bool canonical);

static void put_members(struct json_writer *w, const struct json *object)
{
	for (uint32_t i = 0; i < object->count; i++) {
		json_key_str(w, object->members[i].key);
		put_tree(w, &object->members[i].value, false);
	}
}

static void put_members_sorted(struct json_writer *w, const struct json *object)
{
	const struct json_member *small[SORT_SMALL], **sorted = small;

	if (object->count > SORT_SMALL)
		sorted = mem_reallocarray(NULL, object->count, sizeof(*sorted));
	json_sort_members(object, sorted);
	for (uint32_t i = 0; i < object->count; i++) {
		json_key_str(w, sorted[i]->key);
		put_tree(w, &sorted[i]->value, true);
	}
	if (sorted != small)
		free(sorted);
}

static void put_tree(struct json_writer *w, const struct json *value, bool canonical)
{
	switch (value->type) {
	case JSON_NULL:
		json_put_null(w);
		break;
	case JSON_BOOL:
		json_put_bool(w, value->boolean);
		break;
	case JSON_INT:
		json_put_int(w, value->i);
		break;
	case JSON_DOUBLE:
		json_put_double(w, value->d);
		break;
	case JSON_STRING:
		json_put_str(w, value->s);
		break;
	case JSON_ARRAY:
		json_begin_array(w);
		for (uint32_t i = 0; i < value->count; i++)
			put_tree(w, &value->items[i], canonical);
		json_end_array(w);
		break;
	case JSON_OBJECT:
		json_begin_object(w);
		if (canonical)
			put_members_sorted(w, value);
		else
			put_members(w, value);
		json_end_object(w);
		break;
	}
}

void json_put(struct json_writer *w, const struct json *value)
{
	put_tree(w, value, false);
}

void json_put_canonical(struct json_writer *w, const struct json *value)
{
	put_tree(w, value, true);
}
