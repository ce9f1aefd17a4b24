/* One spelling for all names that a reader takes for the same name.
 *
 * Folding is compatibility decomposition and case folding (utf8proc), without what cannot be seen (default-ignorable
 * and control characters, spaces around it), with letters of other scripts that look like Latin ones read as those,
 * and with one space and one hyphen for all of them. The result is for comparing only: it is nobody's spelling.
 */
#ifndef SPINE_TEXT_LOOKALIKE_H
#define SPINE_TEXT_LOOKALIKE_H

#include "base/arena.h"
#include "base/str.h"

/* Well-formed UTF-8 in, folded UTF-8 out, in the arena. Empty where nothing of it can be seen. */
struct str lookalike_fold(struct str s, struct arena *arena);
/* Nothing of it can be seen: it is empty, or has spaces and invisible characters only. */
bool lookalike_is_blank(struct str s);
/* Has a control character (U+0000 to U+001F, U+007F to U+009F). */
bool lookalike_has_control(struct str s);

#endif
