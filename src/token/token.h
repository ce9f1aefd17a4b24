/* Counts the tokens of a text, exactly as the tokenizer of a model does.
 *
 * "o200k_base" and "cl100k_base" give the numbers of the reference implementation, tiktoken's encode_ordinary, on
 * any input. Spellings of special tokens, "<|endoftext|>", are ordinary text. Bytes that are not well-formed UTF-8
 * count as U+FFFD, one for each maximal subpart, as a decoder on the web reads them (base/utf8.h); a byte order
 * mark is a character like others. Counts do not add up over concatenation: count the final text, or its parts where
 * tokenizer_cuts says that it may be cut.
 *
 * "estimate" is for models whose tokenizer is not known: a quarter of a token for an ASCII character, a whole one
 * for any other, rounded up. It says of itself that it is an estimate.
 *
 * Every function may be called from any thread at any time: the tables are constant and part of the binary, working
 * memory lives for one call. The time is proportional to the length of the text, whatever is in it.
 */
#ifndef SPINE_TOKEN_TOKEN_H
#define SPINE_TOKEN_TOKEN_H

#include "base/str.h"

#define TOKENIZER_DEFAULT "o200k_base"

struct tokenizer;

/* The tokenizer of that name, valid forever; NULL where there is none. */
const struct tokenizer *tokenizer_find(struct str name);
/* All of them, the default first, to list their names; NULL where index is past the last. */
const struct tokenizer *tokenizer_at(size_t index);

const char *tokenizer_name(const struct tokenizer *t);
bool tokenizer_is_estimate(const struct tokenizer *t);

/* Number of tokens of text. */
size_t tokenizer_count(const struct tokenizer *t, struct str text);

/* What adds up: where tokenizer_cuts is true between one part of a text and the next, the measures of the parts make
 * the measure of the whole, and that makes its tokens. (The measure of an estimate is finer than a token.) */
size_t tokenizer_measure(const struct tokenizer *t, struct str text);
size_t tokenizer_tokens(const struct tokenizer *t, size_t measure);
/* True where no tokenizer has a token across the border of the two, nor counts one of them otherwise for standing
 * beside the other: behind the end of a line and before a visible ASCII character that is not '/', or behind a
 * visible ASCII character and before a space. False does not mean that there is one. */
bool tokenizer_cuts(struct str before, struct str after);

/* Returns the number of tokens of text and writes the first max of them to ret_ids. Not for an estimate, which has
 * no tokens. */
size_t tokenizer_encode(const struct tokenizer *t, struct str text, uint32_t *ret_ids, size_t max);

/* Returns the length in bytes of a beginning of text that has at most max_tokens tokens, counted on its own, and
 * ends between two characters. It is the longest such beginning, except where the cut falls into a word or a run of
 * blanks or symbols of more than a kilobyte: there it is one that a single further character would make too long.
 * */
size_t tokenizer_prefix(const struct tokenizer *t, struct str text, size_t max_tokens);

#endif
