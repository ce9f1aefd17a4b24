/* English stems, with a small cache: most words of a text are few words. A word that says nothing (text/stop.h) has an
 * empty one. One per thread. */
#ifndef SPINE_TEXT_STEM_H
#define SPINE_TEXT_STEM_H

#include "base/str.h"

struct stem;

/* Returns owned. */
struct stem *stem_new(void);
/* NULL-safe. */
void stem_free(struct stem *s);

/* The stem of a word of a-z and apostrophes; of one or two letters, or more than twenty, the word. Borrowed until the
 * next call. */
struct str stem_word(struct stem *s, struct str word);

#endif
