/* Whose the words of a memory are, and how far they are trusted, when somebody changes it.
 *
 * Who changes what a model reads answers for it: the new version has their name, and no more trust than their key.
 * That is the content and the summary, and a kind or a tag that is more than a word. Who changes what only sorts
 * (importance, task, expiry, metadata, a kind or tags of a word each) puts no words into anybody's mouth: author and
 * trust stay, and the origin of the version says who it was. Else whoever may write could push what is trusted below
 * the floor of a space by putting a tag on it.
 */
#ifndef SPINE_CORE_MEMORY_SIGNING_H
#define SPINE_CORE_MEMORY_SIGNING_H

#include "core/memory/memory.h"

/* Do both say the same, in every field? */
bool memory_is_same(const struct memory *a, const struct memory *b);
/* after is what a change by somebody makes of before. Signs it where that is called for. */
void memory_sign(const struct memory *before, struct memory *after, const struct memory_draft *by);

#endif
