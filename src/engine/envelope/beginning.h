/* The beginning of a text, for lists. */
#ifndef SPINE_ENGINE_BEGINNING_H
#define SPINE_ENGINE_BEGINNING_H

#include "base/arena.h"

enum { BEGINNING_CHARACTERS = 200 };	/* a line or two on a page */

/* So many characters of it, with an ellipsis where there is more. In the arena; p == NULL stays. */
struct str beginning_of(struct arena *arena, struct str text);

#endif
