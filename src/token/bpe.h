/* Byte-pair encoding of one piece of text. */
#ifndef SPINE_TOKEN_BPE_H
#define SPINE_TOKEN_BPE_H

#include "token/tables.h"

enum { BPE_SMALL_PIECE = 256 };

/* Working memory, to be kept over many pieces. About 1.1 KB, more only after a piece longer than BPE_SMALL_PIECE. */
struct bpe {
	uint32_t *tokens;	/* of the last piece */
	uint64_t *dead_ends;	/* a bit for each position of the piece */
	uint32_t *big;		/* owned; both of the above, for a big piece */
	size_t big_cap;		/* bytes of the piece that it is large enough for */
	uint32_t small_tokens[BPE_SMALL_PIECE];
	uint64_t small_dead_ends[BPE_SMALL_PIECE / 64 + 1];
};

void bpe_init(struct bpe *b);
void bpe_release(struct bpe *b);

/* Encodes the n > 0 bytes at p and returns the number of tokens, which bpe_rank then gives. */
size_t bpe_encode(struct bpe *b, const struct tables_view *t, const uint8_t *p, size_t n);
/* The rank of a token of the piece that was encoded last. */
uint32_t bpe_rank(const struct bpe *b, size_t index);

#endif
