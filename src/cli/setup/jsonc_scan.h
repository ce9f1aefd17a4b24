/* Where things stand in JSON with comments. Internal to jsonc.c.
 *
 * A position is an offset in the text; -1 is none, because the text is not JSON there. */
#ifndef SPINE_CLI_SETUP_JSONC_SCAN_H
#define SPINE_CLI_SETUP_JSONC_SCAN_H

#include "base/str.h"

struct jsonc_entry {
	struct str key;		/* as it is written, without quotes; of an array p NULL */
	long from;		/* where its name begins, or its value */
	long value, end;
};

/* The text has this at the position. */
bool jsonc_is_at(struct str s, long at, const char *token);
/* NUL where there is none. */
char jsonc_char(struct str s, long at);
/* Over spaces, and over comments. */
long jsonc_skip_blank(struct str s, long at);
/* The entry at *at, a position behind an opening bracket or a comma. False at the end, or where it is not JSON: *at is
 * the closing bracket then, or none. depth is that of the brackets around it. */
bool jsonc_next(struct str s, long *at, bool is_object, int depth, struct jsonc_entry *ret);
/* How many names of the path are there; *ret is the last one that is, and *ret_at its value. */
size_t jsonc_descend(struct str s, const char *const *path, struct jsonc_entry *ret, long *ret_at);
/* The item of the array at `at`. */
bool jsonc_find_item(struct str s, long at, size_t index, struct jsonc_entry *ret);

#endif
