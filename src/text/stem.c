/* The cache is direct-mapped: a word has one place, found by its hash, and a newcomer takes it. An entry is half a cache
 * line, which holds words of up to 15 letters; longer ones are rare and always go to the stemmer.
 */
#include "text/stem.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <libstemmer.h>
#include <stdlib.h>

enum {
	CACHE_BITS = 12,
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
	struct entry cache[1 << CACHE_BITS];
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

struct str stem_word(struct stem *s, struct str word)
{
	struct entry *e;
	struct str stem;

	assert(word.n > 0 && word.n < INT32_MAX);
	if (word.n > CACHED_BYTES)
		return stem_uncached(s, word);
	e = &s->cache[hash_bytes(word.p, word.n, 0) >> (64 - CACHE_BITS)];
	if (e->word_len == word.n && memcmp(e->word, word.p, word.n) == 0)
		return (struct str){e->stem, e->stem_len};
	stem = stem_uncached(s, word);
	if (stem.n > CACHED_BYTES)
		return stem;
	e->word_len = (uint8_t)word.n;
	memcpy(e->word, word.p, word.n);
	e->stem_len = (uint8_t)stem.n;
	memcpy(e->stem, stem.p, stem.n);
	return stem;
}
