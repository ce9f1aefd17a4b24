/* Three bytes make four characters of six bits each. A rest of one or two bytes makes two or three characters, the last
 * of them filled up with zero bits: any other bits there are refused, so that each text stands for bytes of its own. */
#include "codec/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

static char digit_of(unsigned value, enum base64_kind kind)
{
	if (value < 62)
		return alphabet[value];
	if (value == 62)
		return kind == BASE64_URL ? '-' : '+';
	return kind == BASE64_URL ? '_' : '/';
}

/* -1 where c is not a character of the alphabet. */
static int value_of(char c, enum base64_kind kind)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == digit_of(62, kind))
		return 62;
	return c == digit_of(63, kind) ? 63 : -1;
}

/* Up to three bytes at p; returns how many characters were written. */
static size_t encode_group(const unsigned char *p, size_t n, enum base64_kind kind, char *ret)
{
	unsigned bits = (unsigned)p[0] << 16 | (n > 1 ? (unsigned)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
	size_t len = n + 1;

	for (size_t i = 0; i < len; i++)
		ret[i] = digit_of(bits >> (18 - 6 * i) & 63, kind);
	while (kind == BASE64_PADDED && len < 4)
		ret[len++] = '=';
	return len;
}

void base64_encode(struct str data, enum base64_kind kind, struct buf *out)
{
	size_t tail = data.n % 3, len = data.n / 3 * 4;
	char *at;

	if (tail)
		len += kind == BASE64_PADDED ? 4 : tail + 1;
	if (len == 0)
		return;
	at = buf_reserve(out, len);
	if (at == NULL)
		return;
	for (size_t i = 0; i < data.n; i += 3)
		at += encode_group((const unsigned char *)data.p + i, data.n - i < 3 ? data.n - i : 3, kind, at);
	buf_commit(out, len);
}

/* Two to four characters at p into one to three bytes. */
static bool decode_group(const char *p, size_t n, enum base64_kind kind, char *ret)
{
	unsigned bits = 0;

	for (size_t i = 0; i < n; i++) {
		int value = value_of(p[i], kind);

		if (value < 0)
			return false;
		bits |= (unsigned)value << (18 - 6 * i);
	}
	for (size_t i = 0; i + 1 < n; i++)
		ret[i] = (char)(bits >> (16 - 8 * i) & 255);
	return (bits & ((1u << (8 * (4 - n))) - 1)) == 0;
}

bool base64_decode(struct str text, enum base64_kind kind, struct buf *out)
{
	size_t tail, len;
	char *at;

	if (kind == BASE64_PADDED) {
		if (text.n % 4 != 0)
			return false;
		for (int i = 0; i < 2 && text.n > 0 && text.p[text.n - 1] == '='; i++)
			text.n--;
	}
	tail = text.n % 4;
	if (tail == 1)
		return false;
	len = text.n / 4 * 3 + (tail ? tail - 1 : 0);
	if (len == 0)
		return true;
	at = buf_reserve(out, len);
	if (at == NULL)
		return false;
	for (size_t i = 0; i < text.n; i += 4, at += 3) {
		if (decode_group(text.p + i, text.n - i < 4 ? text.n - i : 4, kind, at))
			continue;
		buf_commit(out, 0);	/* puts the terminator back */
		return false;
	}
	buf_commit(out, len);
	return true;
}
