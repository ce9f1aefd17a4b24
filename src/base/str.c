#include "base/str.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool str_ieq(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

bool str_has_prefix(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_sub(s, 0, prefix.n), prefix);
}

bool str_has_suffix(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_sub(s, s.n - suffix.n, s.n), suffix);
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	if (order != 0)
		return order;
	return a.n < b.n ? -1 : a.n > b.n;
}

struct str str_trim(struct str s)
{
	while (s.n > 0 && (*s.p == ' ' || *s.p == '\t'))
		s = str_sub(s, 1, s.n);
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

size_t str_find(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

struct str str_cut(struct str *s, char c)
{
	size_t at = str_find(*s, c);
	struct str head = {s->p, at};

	*s = at < s->n ? str_sub(*s, at + 1, s->n) : STR_NULL;
	return head;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
	uint64_t value = 0;

	if (s.n == 0 || (s.n > 1 && s.p[0] == '0'))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value))
			return false;
	}
	*ret = value;
	return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
	bool negative = s.n > 0 && s.p[0] == '-';
	uint64_t magnitude;

	if (!str_to_u64(negative ? str_sub(s, 1, s.n) : s, &magnitude))
		return false;
	if (magnitude > (uint64_t)INT64_MAX + (negative ? 1u : 0u))
		return false;
	*ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

size_t str_put_u64(char ret[STR_U64_SIZE], uint64_t value)
{
	char digits[STR_U64_SIZE], *at = digits + sizeof(digits);
	size_t len;

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	len = (size_t)(digits + sizeof(digits) - at);
	memcpy(ret, at, len);
	return len;
}

int str_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Length of the well-formed sequence at p, 0 where there is none: Unicode 16, table 3-7. */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t len;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;
	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f;
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (size_t i = 2; i < len; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return len;
}

size_t str_utf8_prefix(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	while (i < s.n) {
		size_t len = utf8_sequence(p + i, s.n - i);

		if (len == 0)
			break;
		i += len;
	}
	return i;
}

bool str_is_utf8(struct str s)
{
	return str_utf8_prefix(s) == s.n;
}
