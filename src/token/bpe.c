/* The definition of byte-pair encoding: begin with single bytes; merge the two neighbours whose merged token has the
 * lowest rank, the leftmost where there are several; repeat until no neighbours merge.
 *
 * Done like that, a piece of n bytes takes n searches for the lowest rank. What is done here gives the same tokens
 * from left to right, without merging, because of this: a sequence of tokens is the encoding of its bytes if, and
 * only if, every two neighbours in it are the encoding of the bytes of these two; and every text has just one such
 * sequence. (A merge across the border of two tokens would have happened in the two alone as well: merges elsewhere
 * do not change the order in which theirs come up.) So: take the longest token at the position; if it does not go
 * with the one before, the next shorter one that begins the same way; if none goes, step back, and remember that
 * this position leads nowhere. No position is left twice in that way, so the work grows with the length of the
 * piece, whatever is in it.
 *
 * In a run of one character that has tokens of a hundred lengths nearly every position is tried with nearly every
 * one of them. After twice as many misses as the piece has bytes, it is therefore merged after all, in windows, and
 * what comes out is right by the same rule if neighbours go together where two windows meet. Should they not, the
 * search begins again, with all the patience it needs. (Twice: random letters miss about once a byte, and merging them
 * takes sixteen times as long as searching; docs/decisions.md has the counts.)
 *
 * The properties of an encoding on which this stands (every token can be reached by merging, out of tokens of lower
 * rank) are checked when the tables are made.
 */
#include "token/bpe.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { UNIT_EDGE = 1 << 8, UNIT_LEAF = 1 << 9, UNIT_TOKEN = 1 << 10, UNIT_PAYLOAD_SHIFT = 11, UNIT_RANK_LABEL = 0xff };

/* More than any rank, and what the tables have for a part that nothing is made of. */
enum { NO_MERGE = 0x3fff << 4 };

enum { TOKEN_BYTES_MAX = 128, WINDOW = 256 };

/* A part of a piece while it is merged. */
struct window {
	uint32_t tokens[WINDOW];
	uint32_t merged[WINDOW];	/* what each token and its right neighbour merge into, or TABLES_NONE */
	size_t count;
};

void bpe_init(struct bpe *b)
{
	b->tokens = b->small_tokens;
	b->dead_ends = b->small_dead_ends;
	b->big = NULL;
	b->big_cap = 0;
}

void bpe_release(struct bpe *b)
{
	free(b->big);
	bpe_init(b);
}

/* Makes room for a piece of n bytes, with no dead end in it. */
static void prepare(struct bpe *b, size_t n)
{
	size_t words = n / 64 + 1;

	if (n <= BPE_SMALL_PIECE) {
		b->tokens = b->small_tokens;
		b->dead_ends = b->small_dead_ends;
	} else {
		if (n > b->big_cap) {
			free(b->big);
			b->big_cap = n + n / 2;
			b->big = mem_alloc((b->big_cap / 64 + 1) * sizeof(uint64_t) + b->big_cap * sizeof(uint32_t));
		}
		b->dead_ends = (uint64_t *)b->big;
		b->tokens = b->big + words * 2;
	}
	memset(b->dead_ends, 0, words * sizeof(uint64_t));
}

/* A token within a piece: its rank and, above it, its length in bytes. The array of prefixes has the same form. */
static inline uint32_t token_rank(uint32_t token)
{
	return token & TABLES_NONE;
}

static inline size_t token_length(uint32_t token)
{
	return token >> TABLES_RANK_BITS;
}

static inline uint32_t token_make(uint32_t rank, size_t length)
{
	return rank | (uint32_t)length << TABLES_RANK_BITS;
}

/* The longest token at p. Every byte is one, so there is one. */
static inline uint32_t longest(const struct tables_view *t, const uint8_t *p, size_t n)
{
	uint32_t offset = t->root, holder = 0;
	size_t length = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = offset ^ p[i], unit = t->units[at];

		if ((unit & (UNIT_EDGE | 0xff)) != (uint32_t)(UNIT_EDGE | p[i]))
			break;
		offset = unit >> UNIT_PAYLOAD_SHIFT;
		if (unit & UNIT_LEAF)
			return token_make(offset, i + 1);
		length = unit & UNIT_TOKEN ? i + 1 : length;
		holder = unit & UNIT_TOKEN ? offset : holder;
	}
	holder ^= UNIT_RANK_LABEL;
	return token_make(t->units[holder] >> UNIT_PAYLOAD_SHIFT, length);
}

static inline uint32_t scale(uint32_t hash, uint32_t count)
{
	return (uint32_t)((uint64_t)hash * count >> 32);
}

/* The token that left and right merge into, or TABLES_NONE. The hash is that of tools/pair-hash.mjs. */
static inline uint32_t pair_find(const struct tables_view *t, uint32_t left, uint32_t right)
{
	uint64_t key = (uint64_t)left << TABLES_RANK_BITS | right;
	uint64_t hash = (key ^ t->seed) * 0x9e3779b97f4a7c15u;
	uint32_t high, low, slot, rank;

	hash = (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9u;
	hash ^= hash >> 29;
	high = (uint32_t)(hash >> 32);
	low = (uint32_t)hash ^ t->pilots[scale(high, t->pilot_count)] * 0x9e3779b1u;
	slot = t->slots[scale(low * 0x85ebca77u, t->slot_count)];
	if ((slot >> TABLES_RANK_BITS) != (high & 0x3fff))
		return TABLES_NONE;
	rank = slot & TABLES_NONE;
	return (t->merges[rank] & ((UINT64_C(1) << 36) - 1)) == key ? rank : TABLES_NONE;
}

/* True where the two tokens are the encoding of the bytes of both.
 *
 * Goes back in time from the two, undoing the later merge first, and looks at the two tokens that meet at the
 * border: had they merged before the merge that was undone last, the border would be gone. Of equal ranks the left
 * one merges first. */
static bool compatible(const struct tables_view *t, uint32_t left, uint32_t right)
{
	uint64_t left_merge = t->merges[left], right_merge = t->merges[right];
	uint32_t limit = NO_MERGE;

	for (;;) {
		/* Most pairs need not be looked up: nothing with this part on this side is early enough. */
		bool possible = (left_merge >> 36 & 0x3fff) << 4 < limit && right_merge >> 50 << 4 < limit;

		if (possible && pair_find(t, left, right) < limit)
			return false;
		if (left > right) {
			if (left < TABLES_BYTE_RANKS)
				return true;
			limit = left;
			left = left_merge & TABLES_NONE;
			left_merge = t->merges[left];
		} else {
			if (right < TABLES_BYTE_RANKS)
				return true;
			limit = right + 1;
			right = right_merge >> TABLES_RANK_BITS & TABLES_NONE;
			right_merge = t->merges[right];
		}
	}
}

static inline bool is_dead_end(const struct bpe *b, size_t at)
{
	return b->dead_ends[at / 64] >> (at % 64) & 1;
}

/* Encodes a piece that is not one token; token is the longest at its beginning. Returns 0 where more than
 * `patience` tokens did not go with their neighbours. */
static size_t search(struct bpe *b, const struct tables_view *t, const uint8_t *p, size_t n, uint32_t token,
		     size_t patience)
{
	size_t count = 0, at = 0;

	prepare(b, n);
	for (;;) {
		uint32_t rank = token_rank(token);
		size_t end = at + token_length(token);

		if (!is_dead_end(b, end) && (count == 0 || compatible(t, token_rank(b->tokens[count - 1]), rank))) {
			b->tokens[count++] = token;
			at = end;
			if (at == n)
				return count;
			token = longest(t, p + at, n - at);
			continue;
		}
		if (patience-- == 0)
			return 0;
		if (t->prefixes[rank] != 0) {
			token = t->prefixes[rank];
		} else {
			assert(count > 0);
			b->dead_ends[at / 64] |= UINT64_C(1) << (at % 64);
			token = b->tokens[--count];
			at -= token_length(token);
		}
	}
}

/* One round of merging: every pair that merges into `lowest`, from left to right. Returns the lowest that can be merged
 * afterwards; it is higher, because a token is made of tokens of lower rank. */
static uint32_t merge_round(const struct tables_view *t, struct window *w, uint32_t lowest)
{
	uint32_t next = TABLES_NONE;
	bool left_is_new = false;
	size_t out = 0;

	for (size_t i = 0; i < w->count; out++) {
		bool is_new = i + 1 < w->count && w->merged[i] == lowest;
		uint32_t token = w->tokens[i];

		if (is_new)
			token = token_make(lowest, token_length(token) + token_length(w->tokens[i + 1]));
		if (out > 0) {
			w->merged[out - 1] = is_new || left_is_new ?
				pair_find(t, token_rank(w->tokens[out - 1]), token_rank(token)) : w->merged[i - 1];
			next = w->merged[out - 1] < next ? w->merged[out - 1] : next;
		}
		w->tokens[out] = token;
		left_is_new = is_new;
		i += is_new ? 2 : 1;
	}
	w->count = out;
	return next;
}

/* Encodes n <= WINDOW bytes by merging, as the definition says. */
static void merge(const struct tables_view *t, const uint8_t *p, size_t n, struct window *ret)
{
	uint32_t lowest = TABLES_NONE;

	for (size_t i = 0; i < n; i++)
		ret->tokens[i] = longest(t, p + i, 1);
	for (size_t i = 0; i + 1 < n; i++) {
		ret->merged[i] = pair_find(t, token_rank(ret->tokens[i]), token_rank(ret->tokens[i + 1]));
		lowest = ret->merged[i] < lowest ? ret->merged[i] : lowest;
	}
	ret->count = n;
	while (lowest != TABLES_NONE)
		lowest = merge_round(t, ret, lowest);
}

/* Encodes a piece window by window. The tokens at the end of a window are not final, as they do not know what
 * follows: the next window begins before them. The sequence is right if the tokens that meet there go together;
 * returns 0 where they do not. */
static size_t merge_windows(struct bpe *b, const struct tables_view *t, const uint8_t *p, size_t n)
{
	size_t count = 0, at = 0;
	struct window w;

	while (at < n) {
		size_t size = n - at < WINDOW ? n - at : WINDOW;
		size_t final = size == n - at ? size : WINDOW - TOKEN_BYTES_MAX;
		size_t end = 0;

		merge(t, p + at, size, &w);
		if (count > 0 && !compatible(t, token_rank(b->tokens[count - 1]), token_rank(w.tokens[0])))
			return 0;
		for (size_t i = 0; i < w.count && end + token_length(w.tokens[i]) <= final; i++) {
			b->tokens[count++] = w.tokens[i];
			end += token_length(w.tokens[i]);
		}
		assert(end > 0);
		at += end;
	}
	return count;
}

size_t bpe_encode(struct bpe *b, const struct tables_view *t, const uint8_t *p, size_t n)
{
	uint32_t token = longest(t, p, n);
	size_t count;

	if (token_length(token) == n) {
		b->tokens = b->small_tokens;
		b->tokens[0] = token;
		return 1;
	}
	count = search(b, t, p, n, token, 2 * n + 8);
	if (count == 0)
		count = merge_windows(b, t, p, n);
	if (count == 0)
		count = search(b, t, p, n, token, SIZE_MAX);
	return count;
}

uint32_t bpe_rank(const struct bpe *b, size_t index)
{
	return token_rank(b->tokens[index]);
}
