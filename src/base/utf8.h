/* UTF-8 as decoders on the web read it (WHATWG): whatever the bytes, they have characters.
 *
 * A well-formed sequence is one character. What is not well-formed is read as U+FFFD, one for each maximal subpart:
 * the longest beginning of a well-formed sequence, or a single byte that cannot begin one.
 */
#ifndef SPINE_BASE_UTF8_H
#define SPINE_BASE_UTF8_H

#include "base/str.h"

/* Length in bytes (1 to 4, never 0) of the first character of s, which is not empty; *ret_ok is false where it is
 * one that reads as U+FFFD because it is not well-formed. */
size_t utf8_first(struct str s, bool *ret_ok);

/* Number of bytes before the first that is not well-formed; s.n where all of s is. */
size_t utf8_valid_length(struct str s);

/* Number of characters. */
size_t utf8_characters(struct str s);

/* Returns owned bytes, *ret_len of them and well-formed: s with U+FFFD for everything that is not. */
char *utf8_repair(struct str s, size_t *ret_len);

#endif
