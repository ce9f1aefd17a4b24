/* What the characters of a text are to a search, and one spelling for all spellings of a word.
 *
 * Folding is compatibility decomposition and case folding (utf8proc), without the marks that readers treat as
 * optional (accents, Hebrew points, Arabic vowel signs) and with those that carry sense (the vowels of Indic scripts,
 * the voicing of kana), composed again: "Ｃafé" and "CAFE" become "cafe", "Straße" becomes "strasse".
 */
#ifndef SPINE_TEXT_FOLD_H
#define SPINE_TEXT_FOLD_H

#include "base/str.h"

enum fold_class {
	FOLD_BREAK,		/* ends a word; what is not well-formed UTF-8, too */
	FOLD_LOWER,
	FOLD_UPPER,
	FOLD_LETTER,		/* of a script without case */
	FOLD_DIGIT,
	FOLD_MARK,		/* belongs to the character before it */
	FOLD_APOSTROPHE,	/* part of a word between two letters */
	FOLD_JOIN,		/* joins words to a compound: _ - . / \ : @ # */
	FOLD_UNSPACED,		/* of a script written without spaces between words, and Hangul */
};

/* Sizes that fold_text keeps to: the largest input, and the buffer that holds any result. */
enum {
	FOLD_INPUT_BYTES = 512,
	FOLD_OUTPUT_BYTES = 128 * 18 * 4,	/* 128 characters, each decomposed to 18 (U+FDFA) of 4 bytes */
	FOLD_INPUT_CHARACTERS = 128,
};

/* Indexed by an ASCII character. */
extern const uint8_t fold_ascii[128];

/* Length in bytes (at least 1) of the first character of s, which is not empty, and its class. */
size_t fold_first_wide(struct str s, enum fold_class *ret_class);
static inline size_t fold_first(struct str s, enum fold_class *ret_class)
{
	if ((unsigned char)s.p[0] & 0x80)
		return fold_first_wide(s, ret_class);
	*ret_class = (enum fold_class)fold_ascii[(unsigned char)s.p[0]];
	return 1;
}

/* Folds well-formed s, of at most FOLD_INPUT_BYTES and FOLD_INPUT_CHARACTERS, into out, of FOLD_OUTPUT_BYTES.
 * Returns the length, which can be 0. */
size_t fold_text(struct str s, char *out);

#endif
