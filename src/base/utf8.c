#include "base/utf8.h"

#include "base/mem.h"

static const char REPLACEMENT[] = {'\xef', '\xbf', '\xbd'};

/* The bytes that may follow a lead byte: Unicode 16, table 3-7. */
struct follow {
	size_t len;		/* of the whole sequence; 0 for a byte that cannot begin one */
	unsigned char lo, hi;	/* limits of the second byte */
};

static struct follow follow_of(unsigned char lead)
{
	if (lead < 0xc2 || lead > 0xf4)
		return (struct follow){0, 0, 0};
	if (lead < 0xe0)
		return (struct follow){2, 0x80, 0xbf};
	if (lead < 0xf0)
		return (struct follow){3, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf};
	return (struct follow){4, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf};
}

size_t utf8_first(struct str s, bool *ret_ok)
{
	const unsigned char *p = (const unsigned char *)s.p;
	struct follow f;
	size_t i = 1;

	if (p[0] < 0x80) {
		*ret_ok = true;
		return 1;
	}
	f = follow_of(p[0]);
	if (f.len == 0 || s.n < 2 || p[1] < f.lo || p[1] > f.hi) {
		*ret_ok = false;
		return 1;
	}
	for (i = 2; i < f.len && i < s.n && p[i] >= 0x80 && p[i] <= 0xbf; i++)
		;
	*ret_ok = i == f.len;
	return i;
}

/* Number of bytes below 0x80 at the beginning of s, or a few less. */
static inline size_t ascii_length(const unsigned char *p, size_t n)
{
	size_t i = 0;
	uint64_t word;

	for (; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		if (word & 0x8080808080808080u)
			break;
	}
	return i;
}

static inline bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t utf8_valid_length(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t at = 0;

	while (at < s.n) {
		size_t left = s.n - at, len;
		unsigned char lead = p[at];
		bool ok;

		if (lead < 0x80) {
			len = ascii_length(p + at, left);
			at += len ? len : 1;
		} else if (lead >= 0xc2 && lead < 0xe0 && left > 1 && continues(p[at + 1])) {
			at += 2;
		} else if (lead > 0xe0 && lead < 0xed && left > 2 && continues(p[at + 1]) && continues(p[at + 2])) {
			at += 3;
		} else {
			len = utf8_first(str_sub(s, at, s.n), &ok);
			if (!ok)
				return at;
			at += len;
		}
	}
	return s.n;
}

size_t utf8_characters(struct str s)
{
	size_t count = 0;
	bool ok;

	for (size_t at = 0; at < s.n; count++)
		at += utf8_first(str_sub(s, at, s.n), &ok);
	return count;
}

char *utf8_repair(struct str s, size_t *ret_len)
{
	size_t cap = s.n + 3, len = 0;
	char *out = mem_alloc(cap);
	bool ok;

	for (size_t at = 0; at < s.n;) {
		size_t n = utf8_first(str_sub(s, at, s.n), &ok);
		size_t wanted = ok ? n : sizeof(REPLACEMENT);

		/* Room for this character and, in the usual case, for all that follows. */
		if (cap - len < wanted) {
			cap = cap * 2 + (s.n - at);
			out = mem_realloc(out, cap);
		}
		memcpy(out + len, ok ? s.p + at : REPLACEMENT, wanted);
		len += wanted;
		at += n;
	}
	*ret_len = len;
	return out;
}
