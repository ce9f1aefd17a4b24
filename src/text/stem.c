/* The cache has pairs of entries: a word belongs to one pair, found by its hash. A new word takes the first place of
 * its pair and the word that was there moves to the second, so that what is used once does not drive out at once what
 * is used often. An entry is half a cache line, which holds words of up to 16 letters, as two numbers that are quick
 * to compare; longer ones are rare and always go to the stemmer.
 */
#include "text/stem.h"

#include "base/hash.h"
#include "base/mem.h"
#include "text/stop.h"

#include <assert.h>
#include <libstemmer.h>
#include <stdlib.h>

enum {
	PAIR_BITS = 12,
	WORD_BYTES = 16,
	LONGEST = 20,
	STEM_BYTES = 14,
};

/* The first and the last bytes of a word, which overlap where it is short; with the length they are the word. */
struct key {
	uint64_t first, last;
	uint8_t len;		/* 0: no word */
};

struct entry {
	uint64_t first, last;
	uint8_t word_len;
	uint8_t stem_len;
	char stem[STEM_BYTES];
};

struct stem {
	struct sb_stemmer *stemmer;
	struct entry cache[1 << PAIR_BITS][2];
};

struct stem *stem_new(void)
{
	struct stem *s = mem_zalloc(sizeof(*s));

	s->stemmer = sb_stemmer_new("english", "UTF_8");
	/* The algorithm is compiled into the library, so that only memory can be missing. */
	if (s->stemmer == NULL)
		mem_exhausted(0);
	return s;
}

void stem_free(struct stem *s)
{
	if (s == NULL)
		return;
	sb_stemmer_delete(s->stemmer);
	free(s);
}

static struct str stem_uncached(struct stem *s, struct str word)
{
	const sb_symbol *p;

	if (stop_word(word))
		return (struct str){word.p, 0};
	p = sb_stemmer_stem(s->stemmer, (const sb_symbol *)word.p, (int)word.n);

	if (p == NULL)
		mem_exhausted(word.n);
	return (struct str){(const char *)p, (size_t)sb_stemmer_length(s->stemmer)};
}

static inline struct key key_of(struct str word)
{
	const unsigned char *p = (const unsigned char *)word.p;
	struct key key = {.len = (uint8_t)word.n};

	if (word.n >= 8) {
		key.first = hash_load64(p);
		key.last = hash_load64(p + word.n - 8);
	} else if (word.n >= 4) {
		key.first = hash_load32(p);
		key.last = hash_load32(p + word.n - 4);
	} else {
		key.first = (uint64_t)p[0] << 16 | (uint64_t)p[word.n / 2] << 8 | p[word.n - 1];
	}
	return key;
}

static inline uint64_t key_hash(struct key key)
{
	return hash_fold(key.first ^ UINT64_C(0xa0761d6478bd642f), key.last ^ UINT64_C(0xe7037ed1a0b428db) ^ key.len);
}

static inline bool is_entry_of(const struct entry *e, struct key key)
{
	return e->first == key.first && e->last == key.last && e->word_len == key.len;
}

struct str stem_word(struct stem *s, struct str word)
{
	struct entry *pair, e;
	struct key key;
	struct str stem;

	assert(word.n > 0 && word.n < INT32_MAX);
	/* Hardly a word of a language is that long; whole identifiers are, and stemming them takes as long as stemming
	 * all words. */
	if (word.n > LONGEST)
		return word;
	if (word.n > WORD_BYTES)
		return stem_uncached(s, word);
	key = key_of(word);
	pair = s->cache[key_hash(key) >> (64 - PAIR_BITS)];
	if (is_entry_of(&pair[0], key))
		return (struct str){pair[0].stem, pair[0].stem_len};
	if (is_entry_of(&pair[1], key)) {
		e = pair[1];
	} else {
		stem = stem_uncached(s, word);
		if (stem.n > STEM_BYTES)
			return stem;
		e = (struct entry){.first = key.first, .last = key.last, .word_len = key.len};
		e.stem_len = (uint8_t)stem.n;
		memcpy(e.stem, stem.p, stem.n);
	}
	pair[1] = pair[0];
	pair[0] = e;
	return (struct str){pair[0].stem, pair[0].stem_len};
}
