#include "text/stop.h"

#include <stdlib.h>

enum { LONGEST = 10 };		/* letters of the longest one */

/* In the order of str_cmp. */
static const struct str words[] = {
	STR("a"), STR("about"), STR("above"), STR("after"), STR("again"), STR("against"), STR("all"), STR("am"),
	STR("an"), STR("and"), STR("any"), STR("are"), STR("aren't"), STR("as"), STR("at"), STR("be"), STR("because"),
	STR("been"), STR("before"), STR("being"), STR("below"), STR("between"), STR("both"), STR("but"), STR("by"),
	STR("can"), STR("can't"), STR("cannot"), STR("could"), STR("couldn't"), STR("did"), STR("didn't"), STR("do"),
	STR("does"), STR("doesn't"), STR("doing"), STR("don't"), STR("down"), STR("during"), STR("each"), STR("few"),
	STR("for"), STR("from"), STR("further"), STR("had"), STR("hadn't"), STR("has"), STR("hasn't"), STR("have"),
	STR("haven't"), STR("having"), STR("he"), STR("he'd"), STR("he'll"), STR("he's"), STR("her"), STR("here"),
	STR("here's"), STR("hers"), STR("herself"), STR("him"), STR("himself"), STR("his"), STR("how"), STR("how's"),
	STR("however"), STR("i"), STR("i'd"), STR("i'll"), STR("i'm"), STR("i've"), STR("if"), STR("in"), STR("into"),
	STR("is"), STR("isn't"), STR("it"), STR("it'll"), STR("it's"), STR("its"), STR("itself"), STR("let's"),
	STR("me"), STR("might"), STR("mightn't"), STR("more"), STR("most"), STR("must"), STR("mustn't"), STR("my"),
	STR("myself"), STR("needn't"), STR("no"), STR("nor"), STR("not"), STR("of"), STR("off"), STR("on"), STR("once"),
	STR("only"), STR("or"), STR("other"), STR("ought"), STR("our"), STR("ours"), STR("ourselves"), STR("out"),
	STR("over"), STR("own"), STR("same"), STR("shall"), STR("shan't"), STR("she"), STR("she'd"), STR("she'll"),
	STR("she's"), STR("should"), STR("shouldn't"), STR("so"), STR("some"), STR("such"), STR("than"), STR("that"),
	STR("that's"), STR("the"), STR("their"), STR("theirs"), STR("them"), STR("themselves"), STR("then"),
	STR("there"), STR("there's"), STR("these"), STR("they"), STR("they'd"), STR("they'll"), STR("they're"),
	STR("they've"), STR("this"), STR("those"), STR("through"), STR("to"), STR("too"), STR("under"), STR("until"),
	STR("up"), STR("us"), STR("very"), STR("was"), STR("wasn't"), STR("we"), STR("we'd"), STR("we'll"),
	STR("we're"), STR("we've"), STR("were"), STR("weren't"), STR("what"), STR("what's"), STR("whatever"),
	STR("when"), STR("when's"), STR("whenever"), STR("where"), STR("where's"), STR("wherever"), STR("which"),
	STR("whichever"), STR("while"), STR("who"), STR("who's"), STR("whoever"), STR("whom"), STR("whomever"),
	STR("whose"), STR("why"), STR("why's"), STR("will"), STR("with"), STR("won't"), STR("would"), STR("wouldn't"),
	STR("you"), STR("you'd"), STR("you'll"), STR("you're"), STR("you've"), STR("your"), STR("yours"),
	STR("yourself"), STR("yourselves"),
};

static int compare(const void *key, const void *entry)
{
	return str_cmp(*(const struct str *)key, *(const struct str *)entry);
}

bool stop_word(struct str word)
{
	return word.n <= LONGEST &&
	       bsearch(&word, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare) != NULL;
}
