#include "text/stop.h"

#include <stdlib.h>

/* In the order of str_cmp. */
static const char *const words[] = {
	"a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "aren't", "as",
	"at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "can't",
	"cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down", "during",
	"each", "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he",
	"he'd", "he'll", "he's", "her", "here", "here's", "hers", "herself", "him", "himself", "his", "how", "how's",
	"however", "i", "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it'll", "it's",
	"its", "itself", "let's", "me", "might", "mightn't", "more", "most", "must", "mustn't", "my", "myself",
	"needn't", "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "ought", "our", "ours",
	"ourselves", "out", "over", "own", "same", "shall", "shan't", "she", "she'd", "she'll", "she's", "should",
	"shouldn't", "so", "some", "such", "than", "that", "that's", "the", "their", "theirs", "them", "themselves",
	"then", "there", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "this", "those",
	"through", "to", "too", "under", "until", "up", "us", "very", "was", "wasn't", "we", "we'd", "we'll",
	"we're", "we've", "were", "weren't", "what", "what's", "whatever", "when", "when's", "whenever", "where",
	"where's", "wherever", "which", "whichever", "while", "who", "who's", "whoever", "whom", "whomever", "whose",
	"why", "why's", "will", "with", "won't", "would", "wouldn't", "you", "you'd", "you'll", "you're", "you've",
	"your", "yours", "yourself", "yourselves",
};

static int compare(const void *key, const void *entry)
{
	return str_cmp(*(const struct str *)key, str_of(*(const char *const *)entry));
}

bool stop_word(struct str word)
{
	return bsearch(&word, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare) != NULL;
}
