#include "store/text_holds.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool begins(const char *text, struct str part)
{
	for (size_t i = 0; i < part.n; i++)
		if (lower(text[i]) != lower(part.p[i]))
			return false;
	return true;
}

/* Is the part anywhere where this letter is? memchr is many times as fast as a loop. */
static bool holds_from(struct str text, struct str part, char first)
{
	const char *end = text.p + (text.n - part.n) + 1;

	for (const char *at = text.p; at < end && (at = memchr(at, first, (size_t)(end - at))); at++)
		if (begins(at, part))
			return true;
	return false;
}

bool text_holds(struct str text, struct str part)
{
	char small;

	if (text.p == NULL || part.p == NULL || part.n > text.n)
		return false;
	if (part.n == 0)
		return true;
	small = lower(part.p[0]);
	return holds_from(text, part, small) ||
	       (small >= 'a' && small <= 'z' && holds_from(text, part, (char)(small - ('a' - 'A'))));
}
