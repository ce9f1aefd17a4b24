/* The tables of the token counter, as tools/token-tables.mjs writes them at build time.
 *
 * One file, linked into the binary as it is (tables.S): nothing is parsed, copied or allocated, and a page of it is
 * read from disk when a lookup first touches it. All numbers are little-endian; offsets are from the beginning of
 * the file; every array begins at a multiple of 64 bytes.
 *
 *   bytes 0..63       header: struct tables_header
 *   then, 64 each     one header for each encoding: struct tables_encoding
 *   then              the arrays
 *
 * Character classes: classes[index[c >> 8] * 256 + (c & 0xff)] for the code point c, and the array `ascii`, which
 * has the class of a byte below 0x80 and 0 for every other.
 *
 * Of each encoding:
 *   merges    for each token, by rank, one 64-bit number: bits 0..35 the pair (left rank << 18 | right rank) that
 *             merges into it, all ones for a byte; 36..49 the lowest rank of the tokens that have it as their left
 *             part, divided by 16, all ones where there is none; 50..63 the same for the right part
 *   prefixes  for each token, by rank, the longest token that is a proper prefix of it: bits 0..17 its rank,
 *             18..25 its length in bytes; 0 where there is none
 *   trie      all tokens by their bytes, a double array (tools/double-array.mjs)
 *   slots     from a pair to the token that it merges into, a perfect hash (tools/pair-hash.mjs), with its
 *   pilots
 *   words     tokens that are words of plain letters, by their bytes (tools/word-table.mjs)
 */
#ifndef SPINE_TOKEN_TABLES_H
#define SPINE_TOKEN_TABLES_H

#include "base/str.h"

/* Bits, so that a set of classes is a mask. The same as in tools/char-classes.mjs. */
enum char_class {
	CHAR_UPPER = 1,		/* Lu, Lt */
	CHAR_LOWER = 2,		/* Ll */
	CHAR_LETTER = 4,	/* Lm, Lo: letters without case */
	CHAR_MARK = 8,		/* M */
	CHAR_NUMBER = 16,	/* N */
	CHAR_SPACE = 32,	/* White_Space, but for the next */
	CHAR_NEWLINE = 64,	/* CR, LF */
	CHAR_OTHER = 128,
};

enum {
	TABLES_RANK_BITS = 18,
	TABLES_NONE = (1 << TABLES_RANK_BITS) - 1,
	TABLES_BYTE_RANKS = 256,	/* the tokens of one byte have the ranks below it */
	TABLES_WORD_SET_BITS = 14,
	TABLES_WORD_WAYS = 4,		/* words in each set */
};

struct tables_classes {
	const uint8_t *ascii;
	const uint8_t *index;
	const uint8_t *classes;
};

/* Up to 15 bytes, filled up with zeroes; all zeroes where the place is empty. */
struct tables_word {
	uint64_t head;
	uint64_t tail;
};

struct tables_encoding {
	char name[16];
	uint32_t token_count;
	uint32_t merges_offset;
	uint32_t prefixes_offset;
	uint32_t unit_count;
	uint32_t units_offset;
	uint32_t root;			/* the trie's first offset */
	uint32_t slot_count;
	uint32_t slots_offset;
	uint32_t pilot_count;
	uint32_t pilots_offset;
	uint32_t seed;
	uint32_t words_offset;
};

struct tables_header {
	char magic[8];
	uint32_t version;
	uint32_t size_bytes;
	uint32_t checksum;		/* FNV-1a, 32 bits, of all that follows this field */
	uint32_t encoding_count;
	uint32_t ascii_offset;
	uint32_t index_offset;
	uint32_t classes_offset;
	uint32_t classes_size;
	uint32_t reserved[6];
};

/* The tables of one encoding as pointers: a few additions to make, so that a caller makes it anew for each use. */
struct tables_view {
	struct tables_classes chars;
	const uint64_t *merges;
	const uint32_t *prefixes;
	const uint32_t *units;
	const uint32_t *slots;
	const uint16_t *pilots;
	const struct tables_word *words;
	uint32_t root;
	uint32_t slot_count;
	uint32_t pilot_count;
	uint32_t seed;
};

/* The file within this binary. */
struct str tables_embedded(void);

/* True where file is of this version, has its size and every array lies within it, aligned. Reads only the headers. */
bool tables_check(struct str file);
/* True where the checksum is right. Reads all of a file that tables_check accepts. */
bool tables_checksum_ok(struct str file);
/* The encoding of that name in a file that tables_check accepts; false, and *ret untouched, where there is none. */
bool tables_view(struct str file, struct str encoding, struct tables_view *ret);

#endif
