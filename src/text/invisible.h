/* Characters that nobody sees, and that say something all the same: to a model, or by where they hide.
 *
 * What is legitimate is told by its neighbours: a joiner within an emoji, joiners in scripts that are written with
 * them, marks of direction beside letters that run from right to left, one selector behind a character that takes it, a
 * byte order mark at the beginning. Everything else of that kind is flagged: zero-width characters between Latin
 * letters, overrides of direction, tags, selectors in a row (each can carry a byte). Controls (U+0000 to U+001F, U+007F
 * to U+009F) are not of that kind: logs have them; the prompt shows them.
 */
#ifndef SPINE_TEXT_INVISIBLE_H
#define SPINE_TEXT_INVISIBLE_H

#include "base/str.h"

/* What it is called in an answer. */
#define INVISIBLE_FLAG "invisible"

/* Where one begins and ends. */
struct invisible {
	size_t at, end;
	uint32_t code;
};

/* The first at `at` or behind it, where a character begins; at the end of the text where there is none. */
struct invisible invisible_next(struct str text, size_t at);
/* Has the text such a character? Any bytes may come in; what is not UTF-8 is no such character. Takes one pass; text of
 * ASCII is skipped eight bytes at a time. */
bool invisible_is_flagged(struct str text);
/* Has it any at all, legitimate or not, or one that ends a line or a paragraph? For names, which need none. */
bool invisible_has_any(struct str text);

#endif
