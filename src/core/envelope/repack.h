/* What a hop said itself, taken out of an envelope, where it stands among what was inherited: for packing it anew at
 * the same place of the chain. The rest is inherited again. */
#ifndef SPINE_CORE_REPACK_H
#define SPINE_CORE_REPACK_H

#include "core/envelope/envelope.h"

/* Of an envelope's waivers those that the one before it does not have. An array; borrows from waived, an array. */
struct json repack_waivers(const struct json *waived, const struct json *before, struct arena *arena);
/* What `from` decided, as {decision, outcome}: it stands in the history, and is not to be inherited as open again.
 * An array; borrows from history and open_decisions, arrays. from.p may be NULL: unknown. */
struct json repack_decisions(const struct json *history, const struct json *open_decisions, struct str from,
			     struct arena *arena);

/* The context of a version 1 envelope that was made of `parent`, without the parent's prompt, which it began as: the
 * rest is what the sender has added. p == NULL where that is nothing. */
struct str repack_context(struct str context, const struct envelope *parent, struct arena *arena);

#endif
