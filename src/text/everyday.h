/* Words that go with any subject: "say", "make", "new", "thing", "week", "hello". Unlike stop words (text/stop.h) they
 * find, but that a text has one of them says little about what it is about. A small space's own frequencies do not
 * tell: what occurs in one of a hundred notes may be the name of a project, or "check".
 *
 * The list has verbs, adjectives, adverbs and nouns of general use, interjections, the days around today and the
 * numbers to ten, and no word for a thing, a person or an activity of its own ("doctor", "run").
 */
#ifndef SPINE_TEXT_EVERYDAY_H
#define SPINE_TEXT_EVERYDAY_H

#include "base/str.h"

/* How much such a word counts where others count 1. */
#define EVERYDAY_WEIGHT (1.0 / 3)

/* stem: as text/stem.h gives it. */
bool everyday_word(struct str stem);

#endif
