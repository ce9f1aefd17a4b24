#include "engine/envelope/beginning.h"

static struct str cut_at(struct arena *arena, struct str text)
{
	static const char more[] = "\xe2\x80\xa6";
	char *p = arena_alloc(arena, text.n + sizeof(more));

	memcpy(p, text.p, text.n);
	memcpy(p + text.n, more, sizeof(more));
	return (struct str){p, text.n + sizeof(more) - 1};
}

struct str beginning_of(struct arena *arena, struct str text)
{
	size_t characters = 0;

	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] & 0xc0) != 0x80 && ++characters > BEGINNING_CHARACTERS)
			return cut_at(arena, str_sub(text, 0, i));
	return text.p ? arena_str(arena, text) : STR_NULL;
}
