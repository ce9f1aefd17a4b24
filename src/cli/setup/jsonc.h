/* Small changes to JSON that people write by hand, with comments and commas at the end: everything else stays as it is,
 * byte for byte.
 *
 * A path is a list of names of members, ended by NULL. What is put in is JSON; it is laid out as the file is. */
#ifndef SPINE_CLI_SETUP_JSONC_H
#define SPINE_CLI_SETUP_JSONC_H

#include "base/buf.h"
#include "codec/json.h"

enum { JSONC_MAX_BYTES = 32 << 20 };

/* It is an object, and nothing else than comments stands around it. */
bool jsonc_is_object(struct str text);
/* The text of a value; p NULL where there is none. */
struct str jsonc_get(struct str text, const char *const *path);
/* The text of the item of an array; p NULL where there is none. */
struct str jsonc_item(struct str text, const char *const *path, size_t index);

/* Both are JSON without comments, and the same value. */
bool jsonc_is_same(struct str text, struct str value);

/* The following change *text, which must be an object, and do nothing where there is nothing to do. False where
 * something on the way is not what it would have to be: an object, or an array. */

/* Sets a member, and makes the objects around it. */
bool jsonc_set(struct buf *text, const char *const *path, struct str value);
/* Appends to an array, and makes it. */
bool jsonc_append(struct buf *text, const char *const *path, struct str value);
/* Removes a member, and what is empty without it. */
bool jsonc_remove(struct buf *text, const char *const *path);
bool jsonc_remove_item(struct buf *text, const char *const *path, size_t index);

#endif
