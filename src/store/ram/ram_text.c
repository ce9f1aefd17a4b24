/* Texts: each is kept once, so that rows can be copied and compared as plain data. */
#include "store/ram/ram_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

/* Where the text is, or belongs. */
static struct str *place_of(struct str *texts, size_t cap, struct str text)
{
	size_t at = hash_bytes(text.p, text.n, 0) & (cap - 1);

	while (texts[at].p && !str_eq(texts[at], text))
		at = (at + 1) & (cap - 1);
	return &texts[at];
}

static void grow(struct ram_store *s)
{
	size_t cap = s->text_cap ? 2 * s->text_cap : 4096;
	struct str *texts = mem_calloc(cap, sizeof(*texts));

	for (size_t i = 0; i < s->text_cap; i++)
		if (s->texts[i].p)
			*place_of(texts, cap, s->texts[i]) = s->texts[i];
	free(s->texts);
	s->texts = texts;
	s->text_cap = cap;
}

struct str ram_text(struct ram_store *s, struct str text)
{
	struct str *place;

	if (text.p == NULL)
		return STR_NULL;
	if (2 * s->text_count >= s->text_cap)
		grow(s);
	place = place_of(s->texts, s->text_cap, text);
	if (place->p == NULL) {
		*place = arena_str(&s->arena, text);
		s->text_count++;
	}
	return *place;
}
