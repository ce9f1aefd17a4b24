/* Words of plain letters that are one token: most of most texts, found without the splitter and the trie. */
#ifndef SPINE_TOKEN_WORDS_H
#define SPINE_TOKEN_WORDS_H

#include "token/tables.h"

/* False where no such word begins at p: a quick look. */
static inline bool words_may_begin(const struct tables_view *t, const uint8_t *p, const uint8_t *end)
{
	return end - p > 1 && ((t->chars.ascii[p[0]] | t->chars.ascii[p[1]]) & (CHAR_UPPER | CHAR_LOWER));
}

/* Goes on from *p, where a piece begins, behind as many pieces as are such words, and returns their number. Where it
 * stops before the end it may know how long the piece there is, though not its tokens: *ret_length, otherwise 0. */
size_t words_take(const struct tables_view *t, const uint8_t **p, const uint8_t *end, size_t *ret_length);

#endif
