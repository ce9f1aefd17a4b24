/* The definition of byte-pair encoding: begin with single bytes; merge the two neighbours whose merged token has the
 * lowest rank, the leftmost where there are several; repeat until no neighbours merge.
 *
 * Done like that, a piece of n bytes takes n searches for the lowest rank. What is done here gives the same tokens without any merging,
 * from left to right, because of this: a sequence of tokens is the encoding of its bytes if, and only if, every
 * two neighbours in it are the encoding of the bytes of these two, and every text has just one such sequence. (A merge
 * across the border of two tokens would have happened in the two alone as well: merges elsewhere do not
 * change the order in which theirs come up.) So: take the longest token at the position; if it does not go with the one before, the
 * next shorter one that begins the same way; if none goes, step back, and remember that this position leads nowhere. No position
 * is left twice in that way, so the work grows with the length of the piece, whatever is in it.
 *
 * The properties of an encoding on which this stands (every token can be reached by merging, out of tokens of lower rank) are
 * checked when the tables are made.
 */
#include "token/bpe.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { UNIT_EDGE = 1 << 8, UNIT_LEAF = 1 << 9, UNIT_TOKEN = 1 << 10, UNIT_PAYLOAD_SHIFT = 11, UNIT_RANK_LABEL = 0xff };

void bpe_init(struct bpe *b)
{
	b->ranks = b->small_ranks;
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
		b->ranks = b->small_ranks;
		b->dead_ends = b->small_dead_ends;
	} else {
		if (n > b->big_cap) {
			free(b->big);
			b->big_cap = n + n / 2;
			b->big = mem_alloc((b->big_cap / 64 + 1) * sizeof(uint64_t) + b->big_cap * sizeof(uint32_t));
		}
		b->dead_ends = (uint64_t *)b->big;
		b->ranks = b->big + words * 2;
	}
	memset(b->dead_ends, 0, words * sizeof(uint64_t));
}

static inline size_t record_length(uint64_t record)
{
	return record >> 54 & 0xff;
}

static inline uint32_t record_prefix(uint64_t record)
{
	return record >> 36 & TABLES_NONE;
}

static inline uint32_t record_left(uint64_t record)
{
	return record >> 18 & TABLES_NONE;
}

static inline uint32_t record_right(uint64_t record)
{
	return record & TABLES_NONE;
}

/* The length of the longest token at p; *ret_holder is the unit of the trie that has its rank. Every byte is a token, so there is one. */
static inline size_t longest(const struct tables_view *t, const uint8_t *p, size_t n, uint32_t *ret_holder)
{
	uint32_t offset = t->root, holder = 0;
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = offset ^ p[i], unit = t->units[at];

		if ((unit & (UNIT_EDGE | 0xff)) != (uint32_t)(UNIT_EDGE | p[i]))
			break;
		offset = unit >> UNIT_PAYLOAD_SHIFT;
		if (unit & (UNIT_LEAF | UNIT_TOKEN)) {
			len = i + 1;
			holder = at;
			if (unit & UNIT_LEAF)
				break;
			holder = offset ^ UNIT_RANK_LABEL;
		}
	}
	*ret_holder = holder;
	return len;
}

static inline uint32_t rank_in(const struct tables_view *t, uint32_t holder)
{
	return t->units[holder] >> UNIT_PAYLOAD_SHIFT;
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
	return (t->records[rank] & ((UINT64_C(1) << 36) - 1)) == key ? rank : TABLES_NONE;
}

/* True where the two tokens are the encoding of the bytes of both.
 *
 * Goes back in time from the two, undoing the later merge first, and looks at the two tokens that meet at the border: had they merged
 * before the merge that was undone last, the border would be gone. Of equal ranks the left one merges first. */
static bool compatible(const struct tables_view *t, uint32_t left, uint32_t right)
{
	uint64_t left_record = t->records[left], right_record = t->records[right];
	uint32_t limit = TABLES_NONE;

	for (;;) {
		if ((left_record >> 62 & 1) && right_record >> 63 && pair_find(t, left, right) < limit)
			return false;
		if (left > right) {
			if (left < TABLES_BYTE_RANKS)
				return true;
			limit = left;
			left = record_right(left_record);
			left_record = t->records[left];
		} else {
			if (right < TABLES_BYTE_RANKS)
				return true;
			limit = right + 1;
			right = record_left(right_record);
			right_record = t->records[right];
		}
	}
}

static inline bool is_dead_end(const struct bpe *b, size_t at)
{
	return b->dead_ends[at / 64] >> (at % 64) & 1;
}

/* Encodes a piece that is not one token; rank is the longest at its beginning. */
static size_t search(struct bpe *b, const struct tables_view *t, const uint8_t *p, size_t n, uint32_t rank)
{
	size_t count = 0, at = 0;
	uint32_t holder;

	prepare(b, n);
	for (;;) {
		uint64_t record = t->records[rank];
		size_t end = at + record_length(record);

		if (!is_dead_end(b, end) && (count == 0 || compatible(t, b->ranks[count - 1], rank))) {
			b->ranks[count++] = rank;
			at = end;
			if (at == n)
				return count;
			longest(t, p + at, n - at, &holder);
			rank = rank_in(t, holder);
		} else if (record_prefix(record) != TABLES_NONE) {
			rank = record_prefix(record);
		} else {
			assert(count > 0);
			b->dead_ends[at / 64] |= UINT64_C(1) << (at % 64);
			rank = b->ranks[--count];
			at -= record_length(t->records[rank]);
		}
	}
}

size_t bpe_encode(struct bpe *b, const struct tables_view *t, const uint8_t *p, size_t n)
{
	uint32_t holder;
	size_t len = longest(t, p, n, &holder);

	if (len < n)
		return search(b, t, p, n, rank_in(t, holder));
	b->ranks = b->small_ranks;
	b->ranks[0] = rank_in(t, holder);
	return 1;
}
