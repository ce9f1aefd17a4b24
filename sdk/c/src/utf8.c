#include "utf8.h"

size_t msi_utf8_prefix(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i = 0;

	while (i < len) {
		unsigned char c = p[i], low = 0x80, high = 0xbf;
		size_t more = c < 0x80 ? 0 : c >= 0xc2 && c <= 0xdf ? 1 : c >= 0xe0 && c <= 0xef ? 2 :
			      c >= 0xf0 && c <= 0xf4 ? 3 : len;

		/* The second byte tells overlong forms, surrogates and what is above U+10FFFF. */
		low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : low;
		high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : high;
		if (more >= len - i)
			return i;
		for (size_t k = 1; k <= more; k++)
			if (p[i + k] < (k == 1 ? low : 0x80) || p[i + k] > (k == 1 ? high : 0xbf))
				return i;
		i += more + 1;
	}
	return i;
}
