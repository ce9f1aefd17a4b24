#include "engine/envelope/beginning.h"

struct str beginning_of(struct arena *arena, struct str text)
{
	size_t characters = 0;

	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] & 0xc0) != 0x80 && ++characters > BEGINNING_CHARACTERS)
			return arena_printf(arena, "%.*s\xe2\x80\xa6", (int)i, text.p);
	return text.p ? arena_str(arena, text) : STR_NULL;
}
