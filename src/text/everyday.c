#include "text/everyday.h"

#include <stdlib.h>

/* English stems, in the order of str_cmp. */
static const char *const stems[] = {
	"abl", "actual", "add", "ago", "allow", "almost", "alreadi", "also", "alway", "anoth", "answer", "anyon",
	"anyth", "appear", "ask", "avail", "away", "back", "bad", "becom", "begin", "believ", "best", "better",
	"big", "bit", "bring", "bye", "call", "case", "certain", "chang", "check", "clear", "close", "come",
	"complet", "consid", "continu", "creat", "current", "day", "decid", "describ", "differ", "earli", "easi",
	"eight", "end", "even", "ever", "everi", "everyon", "everyth", "exampl", "expect", "explain", "fact", "feel",
	"find", "finish", "first", "five", "follow", "form", "four", "full", "general", "get", "give", "go", "good",
	"great", "handl", "happen", "hard", "hear", "hello", "help", "hey", "hi", "high", "hold", "hope", "hour",
	"idea", "import", "includ", "issu", "job", "just", "keep", "kind", "know", "larg", "last", "late", "later",
	"lead", "leav", "let", "like", "line", "list", "littl", "long", "look", "lot", "low", "main", "make", "mani",
	"matter", "mayb", "mean", "mention", "minut", "moment", "month", "move", "much", "name", "need", "never",
	"new", "next", "nice", "nine", "now", "number", "offer", "often", "oh", "ok", "okay", "old", "one", "open",
	"order", "part", "peopl", "perhap", "person", "place", "pleas", "point", "possibl", "prepar", "probabl",
	"problem", "provid", "put", "question", "quit", "rather", "read", "readi", "real", "realli", "reason",
	"receiv", "recent", "remain", "report", "requir", "result", "review", "right", "say", "see", "seem", "send",
	"set", "seven", "sever", "short", "show", "side", "similar", "situat", "six", "small", "someon", "someth",
	"sometim", "soon", "sorri", "sort", "speak", "special", "start", "stay", "step", "still", "stop", "suggest",
	"sure", "take", "talk", "task", "tell", "ten", "thank", "thing", "think", "three", "time", "today", "togeth",
	"tomorrow", "tri", "true", "turn", "two", "type", "understand", "updat", "use", "want", "watch", "way",
	"week", "well", "whole", "wish", "word", "work", "wors", "wow", "write", "wrong", "year", "yes", "yesterday",
	"yet",
};

static int compare(const void *key, const void *entry)
{
	return str_cmp(*(const struct str *)key, str_of(*(const char *const *)entry));
}

bool everyday_word(struct str stem)
{
	return bsearch(&stem, stems, sizeof(stems) / sizeof(stems[0]), sizeof(stems[0]), compare) != NULL;
}
