/* The cache has pairs of entries: a word belongs to one pair, found by its hash. A new word takes the first place of its pair and the
 * word that was there moves to the second, so that what is used once does not drive out at once what is used often. An entry is half
 * a cache line, which holds words of up to 15 letters; longer ones are rare and always go to the stemmer.
 */
#include "text/stem.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <libstemmer.h>
#include <stdlib.h>

enum {
	PAIR_BITS = 12,
	CACHED_BYTES = 15,
};

struct entry {
	uint8_t word_len;	/* 0: the place is free */
	uint8_t stem_len;
	char word[CACHED_BYTES];
	char stem[CACHED_BYTES];
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
		abort();
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
	const sb_symbol *p = sb_stemmer_stem(s->stemmer, (const sb_symbol *)word.p, (int)word.n);

	if (p == NULL)
		abort();
	return (struct str){(const char *)p, (size_t)sb_stemmer_length(s->stemmer)};
}

static inline bool is_entry_of(const struct entry *e, struct str word)
{
	return e->word_len == word.n && memcmp(e->word, word.p, word.n) == 0;
}

struct str stem_word(struct stem *s, struct str word)
{
	struct entry *pair, e;
	struct str stem;

	assert(word.n > 0 && word.n < INT32_MAX);
	if (word.n > CACHED_BYTES)
		return stem_uncached(s, word);
	pair = s->cache[hash_bytes(word.p, word.n, 0) >> (64 - PAIR_BITS)];
	if (is_entry_of(&pair[0], word))
		return (struct str){pair[0].stem, pair[0].stem_len};
	if (is_entry_of(&pair[1], word)) {
		e = pair[1];
	} else {
		stem = stem_uncached(s, word);
		if (stem.n > CACHED_BYTES)
			return stem;
		e = (struct entry){.word_len = (uint8_t)word.n, .stem_len = (uint8_t)stem.n};
		memcpy(e.word, word.p, word.n);
		memcpy(e.stem, stem.p, stem.n);
	}
	pair[1] = pair[0];
	pair[0] = e;
	return (struct str){pair[0].stem, pair[0].stem_len};
}
