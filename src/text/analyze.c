/* How it works. The text is cut into runs: characters of words with single joints between them. Most runs are plain
 * ASCII words, which a tight loop recognises and sends straight to the stemmer. Any other run is noted as an array of
 * character classes and split into parts by looking at those alone: at joints, at changes of case, between letters
 * and digits. Runs are at most RUN_CHARACTERS long; what is longer is cut, so that the work is linear whatever the
 * text.
 */
#include "text/analyze.h"

#include "base/hash.h"
#include "base/mem.h"
#include "text/fold.h"
#include "text/stem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	RUN_CHARACTERS = FOLD_INPUT_CHARACTERS,
	CUT_BYTES = 48,		/* of a term that is too long; 16 digits of its hash follow */
	MIXED_CHANGES = 3,	/* between letters and digits of a piece: more of them is a hash, not a name */
	MIXED_CHANGES_RUN = 5,	/* of a whole run: a UUID */
	NUMBER_PART = 4,	/* a number that is a part has so many times less of a share */
};

struct part {
	uint16_t from, to;	/* characters of the run */
	uint16_t at, len;	/* its folded bytes in analyzer.whole */
};

struct analyzer {
	struct stem *stem;

	/* Of the text at hand. */
	analyzer_emit *emit;
	void *ctx;
	float share;				/* of the terms that are emitted next */

	/* Of the run at hand. */
	struct str text;			/* from the run's first byte to the end of the text */
	size_t length;				/* in characters */
	bool ascii;
	bool digits;				/* there are some */
	uint8_t class[RUN_CHARACTERS + 1];	/* one FOLD_BREAK behind the last */
	uint16_t at[RUN_CHARACTERS + 1];	/* offset of each character; the last is the run's length in bytes */
	struct part parts[RUN_CHARACTERS];
	size_t part_count;

	char folded[FOLD_OUTPUT_BYTES];
	char whole[FOLD_OUTPUT_BYTES + RUN_CHARACTERS];
};

struct analyzer *analyzer_new(void)
{
	struct analyzer *a = mem_zalloc(sizeof(*a));

	a->stem = stem_new();
	return a;
}

void analyzer_free(struct analyzer *a)
{
	if (a == NULL)
		return;
	stem_free(a->stem);
	free(a);
}

/* --- Terms ---------------------------------------------------------------------------------------- */

static void emit_term(struct analyzer *a, struct str term)
{
	char cut[CUT_BYTES + 17];
	size_t keep = CUT_BYTES;

	if (term.n == 0)
		return;
	if (term.n <= ANALYZE_TERM_BYTES) {
		a->emit(a->ctx, term, a->share);
		return;
	}
	while (keep > 0 && ((unsigned char)term.p[keep] & 0xc0) == 0x80)
		keep--;
	memcpy(cut, term.p, keep);
	snprintf(cut + keep, sizeof(cut) - keep, "%016llx", (unsigned long long)hash_bytes(term.p, term.n, 0));
	a->emit(a->ctx, (struct str){cut, keep + 16}, a->share);
}

/* The stem of what may be English: of up to 64 letters. */
static void emit_word(struct analyzer *a, struct str word)
{
	size_t i;

	if (word.n == 0 || word.n > ANALYZE_TERM_BYTES) {
		emit_term(a, word);
		return;
	}
	for (i = 0; i < word.n; i++)
		if (!((word.p[i] >= 'a' && word.p[i] <= 'z') || word.p[i] == '\''))
			break;
	emit_term(a, i == word.n ? stem_word(a->stem, word) : word);
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Folds characters [from, to) of the run into out; returns the length. */
static size_t fold_part(const struct analyzer *a, size_t from, size_t to, char *out)
{
	struct str s = str_sub(a->text, a->at[from], a->at[to]);
	size_t i;

	if (!a->ascii)
		return fold_text(s, out);
	for (i = 0; i < s.n; i++)
		out[i] = ascii_lower(s.p[i]);
	return s.n;
}

/* One part of the run, whose folded bytes are given. The stemmer keeps the s of "PDFs", for want of a vowel, so it
 * goes here. */
static void emit_part(struct analyzer *a, size_t from, size_t to, struct str folded)
{
	if (to - from > 2 && a->text.p[a->at[to] - 1] == 's' && a->class[to - 2] == FOLD_UPPER &&
	    a->class[to - 3] == FOLD_UPPER)
		folded.n--;
	emit_word(a, folded);
}

/* --- Splitting a run ------------------------------------------------------------------------------ */

static inline bool is_word_class(uint8_t class)
{
	return class >= FOLD_LOWER && class <= FOLD_DIGIT;
}

/* The class of character i, where a mark or an apostrophe is what the character before it is. */
static uint8_t base_class(const struct analyzer *a, size_t i, size_t from)
{
	while (i > from && (a->class[i] == FOLD_MARK || a->class[i] == FOLD_APOSTROPHE))
		i--;
	return a->class[i];
}

/* Changes between letters and digits in [from, to). */
static size_t count_changes(const struct analyzer *a, size_t from, size_t to)
{
	size_t i, changes = 0;
	bool digit = a->class[from] == FOLD_DIGIT;

	for (i = from + 1; i < to; i++) {
		if (!is_word_class(a->class[i]) || (a->class[i] == FOLD_DIGIT) == digit)
			continue;
		digit = !digit;
		changes++;
	}
	return changes;
}

/* True where character i is the s of a plural such as "URLs", in a piece that ends at `to`. */
static bool is_plural_s(const struct analyzer *a, size_t i, size_t to)
{
	return i < to && a->text.p[a->at[i]] == 's' && (i + 1 == to || a->class[i + 1] == FOLD_UPPER);
}

/* True where a part ends before character i of [from, to): fooBar, HTTPServer (before the S), Server2. */
static bool is_boundary(const struct analyzer *a, size_t part_from, size_t i, size_t to)
{
	uint8_t before = base_class(a, i - 1, part_from), here = a->class[i];

	if (!is_word_class(here) || a->class[i - 1] == FOLD_APOSTROPHE)
		return false;
	if ((before == FOLD_DIGIT) != (here == FOLD_DIGIT))
		return true;
	if (before == FOLD_LOWER && here == FOLD_UPPER)
		return true;
	/* The last capital of several begins the next word, unless only a plural's s follows: "URLs". */
	return before == FOLD_UPPER && here == FOLD_UPPER && i + 1 < to && a->class[i + 1] == FOLD_LOWER &&
	       !is_plural_s(a, i + 1, to);
}

static void add_part(struct analyzer *a, size_t from, size_t to)
{
	assert(a->part_count < RUN_CHARACTERS);
	a->parts[a->part_count++] = (struct part){.from = (uint16_t)from, .to = (uint16_t)to};
}

/* Splits [from, to), which has no joint. What is like "a3f9c2e1" stays whole: its parts would only be noise. */
static void split_piece(struct analyzer *a, size_t from, size_t to, bool mixed)
{
	size_t i, part_from = from;

	mixed = mixed || (a->digits && count_changes(a, from, to) > MIXED_CHANGES);

	for (i = from + 1; i < to; i++) {
		if (mixed || !is_boundary(a, part_from, i, to))
			continue;
		add_part(a, part_from, i);
		part_from = i;
	}
	add_part(a, part_from, to);
}

static void split_run(struct analyzer *a)
{
	bool mixed = a->digits && count_changes(a, 0, a->length) > MIXED_CHANGES_RUN;
	size_t from = 0, i;

	a->part_count = 0;
	for (i = 0; i <= a->length; i++) {
		if (i < a->length && a->class[i] != FOLD_JOIN)
			continue;
		if (i > from)
			split_piece(a, from, i, mixed);
		from = i + 1;
	}
}

/* The whole compound, without its joints but for those between digits, and each part. The whole is stemmed like a word,
 * so that it is found by somebody who writes it as one. */
static void emit_compound(struct analyzer *a)
{
	size_t len = 0, i;
	float share;

	for (i = 0; i < a->part_count; i++) {
		struct part *p = &a->parts[i];

		if (len + 1 + FOLD_OUTPUT_BYTES / RUN_CHARACTERS * (size_t)(p->to - p->from) > sizeof(a->whole))
			break;
		if (i > 0 && a->class[p->from - 1] == FOLD_JOIN && a->class[p->from] == FOLD_DIGIT &&
		    base_class(a, p[-1].to - 1u, p[-1].from) == FOLD_DIGIT)
			a->whole[len++] = a->text.p[a->at[p->from - 1]];
		p->at = (uint16_t)len;
		p->len = (uint16_t)fold_part(a, p->from, p->to, a->whole + len);
		len += p->len;
	}
	a->part_count = i;
	a->share = 0.5f;
	emit_word(a, (struct str){a->whole, len});
	share = a->share / (float)a->part_count;
	for (i = 0; i < a->part_count; i++) {
		const struct part *p = &a->parts[i];

		/* Of a version, a time or an id, a number says little by itself. */
		a->share = a->class[p->from] == FOLD_DIGIT ? share / NUMBER_PART : share;
		emit_part(a, p->from, p->to, (struct str){a->whole + p->at, p->len});
	}
	a->share = 1;
}

/* "C++", "F#": languages whose name ends in signs. */
static size_t sign_suffix(struct str rest)
{
	size_t n = rest.n >= 2 && rest.p[0] == '+' && rest.p[1] == '+' ? 2 : rest.n >= 1 && rest.p[0] == '#' ? 1 : 0;
	enum fold_class class;

	if (n == 0 || n == rest.n)
		return n;
	fold_first(str_sub(rest, n, rest.n), &class);
	return class == FOLD_BREAK || class == FOLD_JOIN ? n : 0;
}

static void emit_run(struct analyzer *a)
{
	size_t bytes = a->at[a->length], suffix = 0, n;

	split_run(a);
	if (a->part_count > 1) {
		emit_compound(a);
		return;
	}
	if (a->length == 1 && a->class[0] != FOLD_DIGIT)
		suffix = sign_suffix(str_sub(a->text, bytes, a->text.n));
	if (suffix > 0) {
		n = fold_part(a, 0, 1, a->whole);
		memcpy(a->whole + n, a->text.p + bytes, suffix);
		emit_term(a, (struct str){a->whole, n + suffix});
	}
	emit_part(a, 0, a->length, (struct str){a->folded, fold_part(a, 0, a->length, a->folded)});
}

/* --- Cutting the text into runs ------------------------------------------------------------------- */

static void push_character(struct analyzer *a, uint8_t class, size_t bytes)
{
	size_t end = a->at[a->length] + bytes;

	if ((unsigned char)a->text.p[end - 1] & 0x80)
		a->ascii = false;
	if (class == FOLD_DIGIT)
		a->digits = true;
	a->class[a->length++] = class;
	a->at[a->length] = (uint16_t)end;
	a->class[a->length] = FOLD_BREAK;
}

/* Class of the character at offset `at` of the text, FOLD_BREAK at its end; its length in *ret_bytes. */
static enum fold_class class_at(struct str text, size_t at, size_t *ret_bytes)
{
	enum fold_class class = FOLD_BREAK;

	*ret_bytes = at < text.n ? fold_first(str_sub(text, at, text.n), &class) : 0;
	return class;
}

/* What joins the run with the character behind it: a joint, or "::", or an apostrophe between letters. Returns the
 * bytes to take, 0 where the run ends here. */
static size_t joint_length(const struct analyzer *a, struct str text, size_t at, enum fold_class class, size_t bytes)
{
	uint8_t before = base_class(a, a->length - 1, 0);
	size_t next_bytes;
	enum fold_class next;

	if (class == FOLD_JOIN && text.p[at] == ':' && at + 1 < text.n && text.p[at + 1] == ':')
		bytes = 2;
	next = class_at(text, at + bytes, &next_bytes);
	if (!is_word_class(next))
		return 0;
	if (class == FOLD_APOSTROPHE && (next == FOLD_DIGIT || before == FOLD_DIGIT))
		return 0;
	return bytes;
}

/* Notes the run that begins with the word character at the front of text; returns its length in bytes. */
static size_t take_run(struct analyzer *a, struct str text)
{
	size_t at = 0, bytes;

	a->text = text;
	a->length = 0;
	a->at[0] = 0;
	a->ascii = true;
	a->digits = false;
	while (a->length < RUN_CHARACTERS) {
		enum fold_class class = class_at(text, at, &bytes);

		if (class == FOLD_JOIN || class == FOLD_APOSTROPHE) {
			/* A joint is never the last character of a run. */
			if (a->length + 2 > RUN_CHARACTERS)
				break;
			bytes = joint_length(a, text, at, class, bytes);
			if (bytes == 0)
				break;
		} else if (!is_word_class(class) && class != FOLD_MARK) {
			break;
		}
		push_character(a, class, bytes);
		at += bytes;
	}
	return at;
}

/* Length of the folded character (a base and its marks) at the front of s. */
static size_t cluster_length(struct str s)
{
	enum fold_class class;
	size_t n = fold_first(s, &class);

	while (n < s.n) {
		size_t bytes = fold_first(str_sub(s, n, s.n), &class);

		if (class != FOLD_MARK)
			break;
		n += bytes;
	}
	return n;
}

/* Pairs of characters. *before is the last one of the piece before this, in a->whole (with its length), and is
 * updated. */
static size_t emit_pairs(struct analyzer *a, struct str folded, size_t *before)
{
	size_t at = 0, pairs = 0;

	while (at < folded.n) {
		size_t n = cluster_length(str_sub(folded, at, folded.n));

		if (n > ANALYZE_TERM_BYTES)
			n = ANALYZE_TERM_BYTES;
		memcpy(a->whole + *before, folded.p + at, n);
		if (*before > 0) {
			emit_term(a, (struct str){a->whole, *before + n});
			pairs++;
		}
		memmove(a->whole, a->whole + *before, n);
		*before = n;
		at += n;
	}
	return pairs;
}

/* Characters of a script without spaces, as pairs; returns the bytes read. */
static size_t take_unspaced(struct analyzer *a, struct str text)
{
	size_t at = 0, bytes, before = 0, pairs = 0;

	for (;;) {
		size_t from = at, count = 0, n;

		while (count < RUN_CHARACTERS) {
			enum fold_class class = class_at(text, at, &bytes);

			if (class != FOLD_UNSPACED && class != FOLD_MARK)
				break;
			at += bytes;
			count++;
		}
		if (count == 0)
			break;
		n = fold_text(str_sub(text, from, at), a->folded);
		pairs += emit_pairs(a, (struct str){a->folded, n}, &before);
	}
	if (pairs == 0)
		emit_term(a, (struct str){a->whole, before});
	return at;
}

/* Number of small ASCII letters at the front of text, at most `limit`. Eight bytes at a time: a byte is one where
 * it is at least 'a', not above 'z', and below 128, each of which is one bit after an addition that cannot
 * overflow into its neighbour. */
static inline size_t small_letters(const char *p, size_t limit)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	size_t n = 0;

	for (; n + 8 <= limit; n += 8) {
		uint64_t v, low, others;

		memcpy(&v, p + n, sizeof(v));
		low = v & ~highs;
		others = ~((low + ones * (128 - 'a')) & ~(low + ones * (127 - 'z')) & ~v) & highs;
		if (others == 0)
			continue;
		if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			return n + (size_t)__builtin_ctzll(others) / 8;
		return n + (size_t)__builtin_clzll(others) / 8;
	}
	while (n < limit && p[n] >= 'a' && p[n] <= 'z')
		n++;
	return n;
}

/* Length of a plain word at the front of text, which begins with an ASCII letter: one capital at most, then small
 * letters, then something that cannot belong to it. 0 where the run has to be looked at closely. */
static size_t plain_word(struct str text)
{
	size_t limit = text.n < ANALYZE_TERM_BYTES ? text.n : ANALYZE_TERM_BYTES;
	size_t n = 1 + small_letters(text.p + 1, limit - 1);
	unsigned char c;

	if (n < 2)
		return 0;
	if (n == text.n)
		return n;
	c = (unsigned char)text.p[n];
	if (c & 0x80)
		return 0;
	if (fold_ascii[c] == FOLD_BREAK)
		return n;
	/* A full stop, a colon or the like joins only with what follows at once. */
	if (fold_ascii[c] != FOLD_JOIN || n + 1 == text.n)
		return fold_ascii[c] == FOLD_JOIN ? n : 0;
	c = (unsigned char)text.p[n + 1];
	return !(c & 0x80) && fold_ascii[c] == FOLD_BREAK ? n : 0;
}

/* A plain word is ready for the stemmer but for its capital. */
static void emit_plain(struct analyzer *a, struct str word)
{
	if (word.p[0] < 'a') {
		memcpy(a->folded, word.p, word.n);
		a->folded[0] = ascii_lower(word.p[0]);
		word.p = a->folded;
	}
	emit_term(a, stem_word(a->stem, word));
}

void analyzer_run(struct analyzer *a, struct str text, analyzer_emit *emit, void *ctx)
{
	size_t at = 0, n;

	a->emit = emit;
	a->ctx = ctx;
	a->share = 1;
	for (; at < text.n; at += n) {
		struct str rest = str_sub(text, at, text.n);
		enum fold_class class;

		n = fold_first(rest, &class);
		if (class == FOLD_UNSPACED) {
			n = take_unspaced(a, rest);
			continue;
		}
		if (!is_word_class(class))
			continue;
		n = n == 1 && class != FOLD_DIGIT ? plain_word(rest) : 0;
		if (n > 0) {
			emit_plain(a, str_sub(rest, 0, n));
			continue;
		}
		n = take_run(a, rest);
		emit_run(a);
	}
}
