/* Texts to measure a search with: real technical English, taken from what is installed, cut and recombined by a
 * seeded generator.
 *
 * The material is prose: comments of the C headers in /usr/include, comments and docstrings of the Python library,
 * Perl's POD, manual pages where they are installed. Paragraphs that occur again (licences) are left out. A text is
 * one or two excerpts of it, 20 to 80 words, with now and then an identifier, a path, a ticket or a hash that no
 * other text has, so that the vocabulary keeps growing. One paragraph in twenty is kept for queries and is in no
 * text.
 *
 * The same machine gives the same corpus; another one, with other packages, a similar one.
 */
#ifndef SPINE_BENCH_SEARCH_CORPUS_H
#define SPINE_BENCH_SEARCH_CORPUS_H

#include "base/buf.h"

struct corpus;

/* Reads the material: some seconds. Returns owned; NULL where there is too little of it, with a sentence on
 * standard error. */
struct corpus *corpus_new(void);
void corpus_free(struct corpus *c);

size_t corpus_words(const struct corpus *c);
/* Sets out to text number i. The same i gives the same text. */
void corpus_text(const struct corpus *c, uint64_t i, struct buf *out);
/* Sets out to query number i, of 20 to 40 words: even ones from paragraphs that are in no text, odd ones from an
 * excerpt of a text among the first `texts`, with a third of its words replaced. */
void corpus_query(const struct corpus *c, uint64_t i, uint64_t texts, struct buf *out);

/* A well-mixed number for a number. */
uint64_t corpus_random(uint64_t seed);

#endif
