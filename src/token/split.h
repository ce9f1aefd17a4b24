/* Cuts a text into the pieces that byte-pair encoding works on, one piece a call.
 *
 * Each function is one encoding's regular expression, written out by hand. The text must be well-formed UTF-8; p < end.
 */
#ifndef SPINE_TOKEN_SPLIT_H
#define SPINE_TOKEN_SPLIT_H

#include "token/tables.h"

/* Returns the length in bytes, at least 1, of the piece at p of a text that ends at end. */
typedef size_t split_fn(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end);

split_fn split_o200k;
split_fn split_cl100k;

#endif
