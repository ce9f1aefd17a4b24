#include "token/token.h"

#include "base/utf8.h"
#include "token/bpe.h"
#include "token/split.h"
#include "token/tables.h"
#include "token/words.h"

#include <assert.h>
#include <stdlib.h>

struct tokenizer {
	const char *name;
	split_fn *split;	/* NULL for the estimate */
};

static const struct tokenizer TOKENIZERS[] = {
	{TOKENIZER_DEFAULT, split_o200k},
	{"cl100k_base", split_cl100k},
	{"estimate", NULL},
};

enum {
	TOKENIZER_COUNT = sizeof(TOKENIZERS) / sizeof(TOKENIZERS[0]),
	ASCII_PER_TOKEN = 4,		/* the estimate's */
	TOKEN_BYTES_MAX = 128,
	/* Up to this many bytes every place for a cut is tried, beyond it the place is searched by halves. */
	CUT_TRIED_BYTES = 1024,
};

const struct tokenizer *tokenizer_at(size_t index)
{
	return index < TOKENIZER_COUNT ? &TOKENIZERS[index] : NULL;
}

const struct tokenizer *tokenizer_find(struct str name)
{
	for (size_t i = 0; i < TOKENIZER_COUNT; i++)
		if (str_is(name, TOKENIZERS[i].name))
			return &TOKENIZERS[i];
	return NULL;
}

const char *tokenizer_name(const struct tokenizer *t)
{
	return t->name;
}

bool tokenizer_is_estimate(const struct tokenizer *t)
{
	return t->split == NULL;
}

/* --- A walk over the pieces of a text ---------------------------------------------------------------------------- */

struct walk {
	struct tables_view tables;
	split_fn *split;
	struct bpe bpe;
	char *repaired;		/* owned; NULL where the text is well-formed */
	struct str text;	/* the text that is counted: the caller's or the repaired one */
	size_t at;
};

static void walk_init(struct walk *w, const struct tokenizer *t, struct str text)
{
	struct str file = tables_embedded();
	bool found;

	/* The tables come with the binary: that they are not right is a mistake in its making. */
	found = tables_check(file) && tables_view(file, str_of(t->name), &w->tables);
	if (!found)
		abort();
	w->split = t->split;
	bpe_init(&w->bpe);
	w->repaired = NULL;
	w->text = text;
	w->at = 0;
	if (utf8_valid_length(text) < text.n) {
		w->repaired = utf8_repair(text, &w->text.n);
		w->text.p = w->repaired;
	}
}

static void walk_release(struct walk *w)
{
	bpe_release(&w->bpe);
	free(w->repaired);
}

/* Goes on to the next piece, of which there must be one, and returns the number of its tokens; they are in w->bpe. */
static inline size_t walk_next(struct walk *w)
{
	const uint8_t *p = (const uint8_t *)w->text.p + w->at;
	size_t len = w->split(&w->tables.chars, p, (const uint8_t *)w->text.p + w->text.n);

	w->at += len;
	return bpe_encode(&w->bpe, &w->tables, p, len);
}

/* Counts the tokens of the bytes from..to of the walk's text, as a text that ends there. */
static size_t walk_count(const struct walk *w, struct bpe *bpe, size_t from, size_t to)
{
	const uint8_t *p, *end;
	size_t count = 0, len;

	if (from >= to)
		return 0;
	p = (const uint8_t *)w->text.p + from;
	end = (const uint8_t *)w->text.p + to;
	while (p < end) {
		len = 0;
		if (words_may_begin(&w->tables, p, end))
			count += words_take(&w->tables, &p, end, &len);
		if (p == end)
			break;
		if (len == 0)
			len = w->split(&w->tables.chars, p, end);
		count += bpe_encode(bpe, &w->tables, p, len);
		p += len;
	}
	return count;
}

/* --- The estimate ------------------------------------------------------------------------------------------------ */

/* Returns the length of the longest beginning of text that is estimated at no more than max_tokens, and its
 * estimate, in quarters of a token. */
static size_t estimate(struct str text, size_t max_tokens, size_t *ret_quarters)
{
	size_t quarters = 0, at = 0;
	bool ok;

	while (at < text.n) {
		size_t len = utf8_first(str_sub(text, at, text.n), &ok);
		size_t more = (unsigned char)text.p[at] < 0x80 ? 1 : ASCII_PER_TOKEN;

		if ((quarters + more + ASCII_PER_TOKEN - 1) / ASCII_PER_TOKEN > max_tokens)
			break;
		quarters += more;
		at += len;
	}
	*ret_quarters = quarters;
	return at;
}

/* --- Counting and encoding --------------------------------------------------------------------------------------- */

size_t tokenizer_measure(const struct tokenizer *t, struct str text)
{
	struct walk w;
	size_t measure = 0;

	if (tokenizer_is_estimate(t)) {
		estimate(text, SIZE_MAX, &measure);
		return measure;
	}
	walk_init(&w, t, text);
	measure = walk_count(&w, &w.bpe, 0, w.text.n);
	walk_release(&w);
	return measure;
}

size_t tokenizer_tokens(const struct tokenizer *t, size_t measure)
{
	return tokenizer_is_estimate(t) ? (measure + ASCII_PER_TOKEN - 1) / ASCII_PER_TOKEN : measure;
}

size_t tokenizer_count(const struct tokenizer *t, struct str text)
{
	return tokenizer_tokens(t, tokenizer_measure(t, text));
}

static bool is_visible(char c)
{
	return c > ' ' && c <= '~';
}

/* In the patterns of token/split.c a line's end is followed only by blanks, further ends of lines, or (in
 * o200k_base) a '/'; and a space stands only at the beginning of a piece or among blanks. So a piece ends at both
 * kinds of border. What stands before it is cut the same way without what follows: the one place where a pattern
 * looks ahead is behind blanks that do not end a line, and nothing looks back. */
bool tokenizer_cuts(struct str before, struct str after)
{
	if (before.n == 0 || after.n == 0)
		return true;
	if (before.p[before.n - 1] == '\n')
		return is_visible(after.p[0]) && after.p[0] != '/';
	return is_visible(before.p[before.n - 1]) && after.p[0] == ' ';
}

size_t tokenizer_encode(const struct tokenizer *t, struct str text, uint32_t *ret_ids, size_t max)
{
	struct walk w;
	size_t count = 0;

	assert(!tokenizer_is_estimate(t));
	walk_init(&w, t, text);
	while (w.at < w.text.n) {
		size_t n = walk_next(&w);

		for (size_t i = 0; i < n && count + i < max; i++)
			ret_ids[count + i] = bpe_rank(&w.bpe, i);
		count += n;
	}
	walk_release(&w);
	return count;
}

/* --- Cutting ----------------------------------------------------------------------------------------------------- */

/* Where a cut may fall. What stands before `from` is the same pieces wherever the cut is made behind it, and has
 * `tokens` tokens. */
struct cut_range {
	size_t from;
	size_t fits;	/* a cut here leaves no more than the allowed tokens */
	size_t to;	/* no cut behind it does */
	size_t tokens;
};

/* Finds the range by walking until the tokens are more than allowed; false where they never are.
 *
 * A cut changes the piece that it falls into, and the one before where the two share a run of blanks, but none
 * before those. So a cut two pieces behind the first that is too much cannot be right. */
static bool cut_range_find(struct walk *w, size_t max_tokens, struct cut_range *ret)
{
	/* The beginnings of the last pieces and the tokens before each; the newest last. */
	size_t starts[3] = {0}, tokens[3] = {0}, count = 0, room;

	do {
		if (w->at == w->text.n)
			return false;
		starts[0] = starts[1];
		tokens[0] = tokens[1];
		starts[1] = starts[2];
		tokens[1] = tokens[2];
		starts[2] = w->at;
		tokens[2] = count;
		count += walk_next(w);
	} while (count <= max_tokens);
	ret->from = starts[0];
	ret->tokens = tokens[0];
	ret->fits = starts[2];
	for (int i = 0; i < 2 && w->at < w->text.n; i++)
		walk_next(w);
	room = (max_tokens - ret->tokens) * TOKEN_BYTES_MAX;
	ret->to = w->at - ret->from > room ? ret->from + room : w->at;
	return true;
}

static size_t character_start(struct str text, size_t at)
{
	while (at > 0 && at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static bool cut_fits(const struct walk *w, struct bpe *bpe, const struct cut_range *r, size_t at, size_t max_tokens)
{
	return r->tokens + walk_count(w, bpe, r->from, at) <= max_tokens;
}

/* The best place for a cut within the range. */
static size_t cut_search(struct walk *w, const struct cut_range *r, size_t max_tokens)
{
	size_t fits = r->fits, at = character_start(w->text, r->to);

	while (at > fits && at - fits > CUT_TRIED_BYTES) {
		size_t middle = character_start(w->text, fits + (at - fits) / 2);

		if (cut_fits(w, &w->bpe, r, middle, max_tokens))
			fits = middle;
		else
			at = middle;
	}
	while (at > fits && !cut_fits(w, &w->bpe, r, at, max_tokens))
		at = character_start(w->text, at - 1);
	return at > fits ? at : fits;
}

/* The length of the beginning of text that reads as the first `length` bytes of its repaired form. */
static size_t length_before_repair(struct str text, struct str repaired, size_t length)
{
	size_t characters = utf8_characters(str_sub(repaired, 0, length)), at = 0;
	bool ok;

	for (size_t i = 0; i < characters; i++)
		at += utf8_first(str_sub(text, at, text.n), &ok);
	return at;
}

size_t tokenizer_prefix(const struct tokenizer *t, struct str text, size_t max_tokens)
{
	struct cut_range range;
	struct walk w;
	size_t length = text.n, quarters;

	if (tokenizer_is_estimate(t))
		return estimate(text, max_tokens, &quarters);
	walk_init(&w, t, text);
	if (cut_range_find(&w, max_tokens, &range)) {
		length = cut_search(&w, &range, max_tokens);
		if (w.repaired)
			length = length_before_repair(text, w.text, length);
	}
	walk_release(&w);
	return length;
}
