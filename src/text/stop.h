/* Words that say nothing by themselves: the function words and question words of English, the language whose words are
 * stemmed. They are in nearly every text and in every question, so that a search for a question would find by them.
 * A small space's own frequencies do not tell them apart.
 *
 * The list is that of the Snowball project (function words and their contractions), and what of the same closed
 * classes is not on it: modal verbs, "us", "whose", and the question words that end in "-ever". Words that are also
 * names are left out ("may", "mine").
 */
#ifndef SPINE_TEXT_STOP_H
#define SPINE_TEXT_STOP_H

#include "base/str.h"

/* word: small letters a-z and apostrophes. */
bool stop_word(struct str word);

#endif
