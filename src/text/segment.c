/* What is known of a document by its number, forward, is for the terms of removed documents, whose holders are counted,
 * for the counts that are too high for the lists of postings, and for the terms that do not find documents but rank
 * them:
 *
 *     terms << 1 | whether some of the counts are SCORE_COUNT_MANY or more       varint
 *     how many are                                                               varint, if any
 *     for each of these its term and its count, by ascending term                4 bytes each
 *     for each term whether its count is above 1                                 a bit
 *     for each of these its count - 2; from 3 on 3                               two bits
 *     of all terms the differences, ascending                                    varints
 *     behind each whose two bits are 3 the count - 5                             varint
 */
#include "text/segment.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	VARINT_BYTES = 5,
	REPEATED_MOST = 3,	/* two bits */
	MANY_BYTES = 8,		/* a term with its count */
};

struct segment *segment_new(void)
{
	struct segment *s = mem_zalloc(sizeof(*s));

	postings_init(&s->terms, true);
	postings_init(&s->labels, false);
	s->min_created_ms = INT64_MAX;
	s->max_created_ms = INT64_MIN;
	for (size_t i = 0; i < SEGMENT_WINDOWS; i++)
		s->window_created_ms[i] = INT64_MIN;
	s->min_id = UINT64_MAX;
	return s;
}

void segment_free(struct segment *s)
{
	if (s == NULL)
		return;
	free(s->ids);
	free(s->created_ms);
	free(s->boosts);
	free(s->lengths);
	free(s->forward_at);
	free(s->groups);
	free(s->expires_ms);
	free(s->live);
	free(s->visible);
	free(s->many);
	postings_release(&s->terms);
	postings_release(&s->labels);
	free(s->forward);
	free(s->expiries);
	free(s);
}

size_t segment_bytes(const struct segment *s)
{
	size_t each = sizeof(*s->ids) + sizeof(*s->created_ms) + sizeof(*s->boosts) + sizeof(*s->lengths) +
		      sizeof(*s->forward_at) + sizeof(*s->groups) + (s->expires_ms ? sizeof(*s->expires_ms) : 0);

	return sizeof(*s) + s->doc_cap * each + (s->doc_cap + 63) / 64 * 3 * sizeof(*s->live) + s->forward_cap +
	       s->expiry_cap * sizeof(*s->expiries) + postings_bytes(&s->terms) + postings_bytes(&s->labels);
}

static void grow_columns(struct segment *s, uint32_t cap)
{
	size_t old_words = (s->doc_cap + 63) / 64, words = (cap + 63) / 64;

	if (s->expires_ms)
		s->expires_ms = mem_reallocarray(s->expires_ms, cap, sizeof(*s->expires_ms));
	for (uint32_t doc = s->doc_cap; s->expires_ms && doc < cap; doc++)
		s->expires_ms[doc] = SEGMENT_NEVER;
	s->doc_cap = cap;
	s->ids = mem_reallocarray(s->ids, cap, sizeof(*s->ids));
	s->created_ms = mem_reallocarray(s->created_ms, cap, sizeof(*s->created_ms));
	s->boosts = mem_reallocarray(s->boosts, cap, sizeof(*s->boosts));
	s->lengths = mem_reallocarray(s->lengths, cap, sizeof(*s->lengths));
	s->forward_at = mem_reallocarray(s->forward_at, cap, sizeof(*s->forward_at));
	s->groups = mem_reallocarray(s->groups, cap, sizeof(*s->groups));
	s->live = mem_reallocarray(s->live, words, sizeof(*s->live));
	s->visible = mem_reallocarray(s->visible, words, sizeof(*s->visible));
	s->many = mem_reallocarray(s->many, words, sizeof(*s->many));
	memset(s->live + old_words, 0, (words - old_words) * sizeof(*s->live));
	memset(s->visible + old_words, 0, (words - old_words) * sizeof(*s->visible));
	memset(s->many + old_words, 0, (words - old_words) * sizeof(*s->many));
}

void segment_set_boost(struct segment *s, uint16_t doc, float boost)
{
	assert(boost >= 0);
	s->boosts[doc] = boost;
	if (boost > s->window_boosts[doc / SEGMENT_WINDOW])
		s->window_boosts[doc / SEGMENT_WINDOW] = boost;
}

void segment_set_created(struct segment *s, uint16_t doc, int64_t created_ms)
{
	int64_t *newest = &s->window_created_ms[doc / SEGMENT_WINDOW];

	s->created_ms[doc] = created_ms;
	*newest = created_ms > *newest ? created_ms : *newest;
	s->min_created_ms = created_ms < s->min_created_ms ? created_ms : s->min_created_ms;
	s->max_created_ms = created_ms > s->max_created_ms ? created_ms : s->max_created_ms;
}

static inline uint8_t *put_varint(uint8_t *p, uint32_t v)
{
	for (; v >= 128; v >>= 7)
		*p++ = (uint8_t)(v | 128);
	*p++ = (uint8_t)v;
	return p;
}

static inline const uint8_t *get_varint(const uint8_t *p, uint32_t *ret)
{
	uint32_t v = *p & 127, shift = 7;

	for (; *p++ & 128; shift += 7)
		v |= (uint32_t)(*p & 127) << shift;
	*ret = v;
	return p;
}

static size_t count_many(const struct segment_document *doc)
{
	size_t i, many = 0;

	for (i = 0; i < doc->term_count; i++)
		many += doc->terms[i].count >= SCORE_COUNT_MANY;
	return many;
}

static uint8_t *put_many(uint8_t *p, const struct segment_document *doc)
{
	size_t i;

	for (i = 0; i < doc->term_count; i++) {
		if (doc->terms[i].count < SCORE_COUNT_MANY)
			continue;
		memcpy(p, &doc->terms[i].term, sizeof(uint32_t));
		memcpy(p + sizeof(uint32_t), &doc->terms[i].count, sizeof(uint32_t));
		p += MANY_BYTES;
	}
	return p;
}

static uint32_t repeated_code(uint32_t count)
{
	return count - 2 < REPEATED_MOST ? count - 2 : REPEATED_MOST;
}

/* Which terms are repeated, and how often. */
static uint8_t *put_repeated(uint8_t *p, const struct segment_document *doc)
{
	uint8_t *bits = p, *codes = bits + (doc->term_count + 7) / 8;
	size_t i, n = 0;

	memset(bits, 0, (size_t)(codes - bits));
	for (i = 0; i < doc->term_count; i++) {
		if (doc->terms[i].count < 2)
			continue;
		bits[i / 8] |= (uint8_t)(1 << i % 8);
		if (n % 4 == 0)
			codes[n / 4] = 0;
		codes[n / 4] |= (uint8_t)(repeated_code(doc->terms[i].count) << n % 4 * 2);
		n++;
	}
	return codes + (n + 3) / 4;
}

static void put_forward(struct segment *s, const struct segment_document *doc)
{
	size_t many = count_many(doc), most = (3 * doc->term_count + 2) * VARINT_BYTES + many * MANY_BYTES, i;
	uint32_t before = 0;
	uint8_t *p;

	assert(doc->term_count < UINT32_C(1) << 31);
	if (s->forward_cap - s->forward_bytes < most) {
		s->forward_cap += s->forward_cap / 4 + 256 + most;
		s->forward = mem_realloc(s->forward, s->forward_cap);
	}
	assert(s->forward_bytes <= UINT32_MAX);
	s->forward_at[s->doc_count] = (uint32_t)s->forward_bytes;
	p = put_varint(s->forward + s->forward_bytes, (uint32_t)doc->term_count << 1 | (many > 0));
	if (many > 0)
		p = put_many(put_varint(p, (uint32_t)many), doc);
	p = put_repeated(p, doc);
	for (i = 0; i < doc->term_count; i++) {
		p = put_varint(p, doc->terms[i].term - before);
		if (doc->terms[i].count >= REPEATED_MOST + 2)
			p = put_varint(p, doc->terms[i].count - REPEATED_MOST - 2);
		before = doc->terms[i].term;
	}
	s->forward_bytes = (size_t)(p - s->forward);
}

uint32_t segment_many(const struct segment *s, uint16_t doc, uint32_t term)
{
	const uint8_t *p = s->forward + s->forward_at[doc];
	uint32_t low = 0, high, count, at;

	p = get_varint(p, &count);
	assert(count & 1);
	for (p = get_varint(p, &high); low < high;) {
		uint32_t middle = low + (high - low) / 2;

		memcpy(&at, p + (size_t)middle * MANY_BYTES, sizeof(at));
		if (at < term)
			low = middle + 1;
		else
			high = middle;
	}
	p += (size_t)low * MANY_BYTES;
	memcpy(&at, p, sizeof(at));
	memcpy(&count, p + sizeof(at), sizeof(count));
	assert(at == term && count >= SCORE_COUNT_MANY);
	return count;
}

/* The terms of a document, one after the other. */
struct walk {
	const uint8_t *terms, *bits, *codes;
	uint32_t at, count;
	uint32_t repeated;		/* so many before it are */
	uint32_t term;
};

/* Of a byte. Written out, because a compiler for any x86-64 makes a call of each popcount. */
static inline uint32_t count_bits(uint32_t v)
{
	v -= v >> 1 & 0x55;
	v = (v & 0x33) + (v >> 2 & 0x33);
	return (v + (v >> 4)) & 0xf;
}

static struct walk begin_walk(const struct segment *s, uint16_t doc)
{
	const uint8_t *p = s->forward + s->forward_at[doc];
	struct walk w = {0};
	uint32_t many, repeated = 0;

	p = get_varint(p, &w.count);
	if (w.count & 1) {
		p = get_varint(p, &many);
		p += (size_t)many * MANY_BYTES;
	}
	w.count >>= 1;
	w.bits = p;
	w.codes = p + (w.count + 7) / 8;
	for (; p < w.codes; p++)
		repeated += count_bits(*p);
	w.terms = w.codes + (repeated + 3) / 4;
	return w;
}

/* Goes to the next term, and returns its count. */
static inline uint32_t next_term(struct walk *w)
{
	uint32_t step, code, more = 0, at = w->at++;

	w->terms = get_varint(w->terms, &step);
	w->term += step;
	if (!(w->bits[at / 8] >> at % 8 & 1))
		return 1;
	code = w->codes[w->repeated / 4] >> w->repeated % 4 * 2 & REPEATED_MOST;
	w->repeated++;
	if (code == REPEATED_MOST)
		w->terms = get_varint(w->terms, &more);
	return code + 2 + more;
}

void segment_want(struct segment_wanted *w, const uint32_t *terms, size_t count)
{
	size_t i;

	*w = (struct segment_wanted){.terms = terms, .count = count};
	for (i = 0; i < count; i++)
		w->marks[terms[i] / 64 % SEGMENT_MARKS] |= UINT64_C(1) << terms[i] % 64;
}

static inline bool may_want(const struct segment_wanted *w, uint32_t term)
{
	return w->marks[term / 64 % SEGMENT_MARKS] >> term % 64 & 1;
}

/* Whether one of the counts is so high that more of it stands among the terms. */
static bool has_long_count(const struct walk *w)
{
	const uint8_t *p;

	for (p = w->codes; p < w->terms; p++)
		if (*p & *p >> 1 & 0x55)
			return true;
	return false;
}

/* Goes to the next term from position `at` on whose count is long, and returns its position. */
static uint32_t next_long(const struct walk *w, uint32_t at, uint32_t *repeated)
{
	while (at < w->count) {
		uint32_t left = (uint32_t)w->bits[at / 8] >> at % 8;

		if (left == 0) {
			at = at / 8 * 8 + 8;
			continue;
		}
		at += (uint32_t)__builtin_ctz(left);
		if ((w->codes[*repeated / 4] >> *repeated % 4 * 2 & REPEATED_MOST) == REPEATED_MOST) {
			++*repeated;
			return at;
		}
		++*repeated;
		at++;
	}
	return UINT32_MAX;
}

/* How often the document has the term at that position, without what stands among the terms. */
static uint32_t count_at(const struct walk *w, uint32_t at)
{
	uint32_t i, before = 0;

	if (!(w->bits[at / 8] >> at % 8 & 1))
		return 1;
	for (i = 0; i < at / 8; i++)
		before += count_bits(w->bits[i]);
	before += count_bits(w->bits[at / 8] & ((1u << at % 8) - 1));
	return (w->codes[before / 4] >> before % 4 * 2 & REPEATED_MOST) + 2;
}

/* Most terms are not wanted, and of those only the number is read. */
size_t segment_matches(const struct segment *s, uint16_t doc, const struct segment_wanted *wanted, uint16_t *ret_at,
		       uint32_t *ret_counts)
{
	struct walk w = begin_walk(s, doc);
	uint32_t at, step, repeated = 0, more, long_at = has_long_count(&w) ? next_long(&w, 0, &repeated) : UINT32_MAX;
	size_t i = 0, n = 0;

	if (wanted->count == 0)
		return 0;
	for (at = 0; at < w.count; at++) {
		w.terms = get_varint(w.terms, &step);
		w.term += step;
		more = 0;
		if (at == long_at) {
			w.terms = get_varint(w.terms, &more);
			long_at = next_long(&w, at + 1, &repeated);
		}
		if (!may_want(wanted, w.term))
			continue;
		while (wanted->terms[i] < w.term)
			if (++i == wanted->count)
				return n;
		if (wanted->terms[i] == w.term) {
			ret_at[n] = (uint16_t)i;
			ret_counts[n++] = count_at(&w, at) + more;
		}
	}
	return n;
}

size_t segment_term_count(const struct segment *s, uint16_t doc)
{
	return begin_walk(s, doc).count;
}

void segment_terms(const struct segment *s, uint16_t doc, uint32_t *ret)
{
	struct walk w = begin_walk(s, doc);

	while (w.at < w.count) {
		next_term(&w);
		*ret++ = w.term;
	}
}

void segment_forget_terms(const struct segment *s, uint16_t doc, struct dictionary *terms)
{
	struct walk w = begin_walk(s, doc);

	while (w.at < w.count) {
		next_term(&w);
		assert(terms->entries[w.term].holders > 0);
		terms->entries[w.term].holders--;
	}
}

void segment_add_expiry(struct segment *s, uint16_t doc, int64_t at_ms)
{
	size_t at = s->expiry_count++;

	if (s->expires_ms == NULL) {
		s->expires_ms = mem_calloc(s->doc_cap, sizeof(*s->expires_ms));
		for (uint32_t i = 0; i < s->doc_cap; i++)
			s->expires_ms[i] = SEGMENT_NEVER;
	}
	s->expires_ms[doc] = at_ms;
	if (s->expiry_count > s->expiry_cap) {
		s->expiry_cap += s->expiry_cap / 2 + 8;
		s->expiries = mem_reallocarray(s->expiries, s->expiry_cap, sizeof(*s->expiries));
	}
	for (; at > 0 && s->expiries[(at - 1) / 2].at_ms > at_ms; at = (at - 1) / 2)
		s->expiries[at] = s->expiries[(at - 1) / 2];
	s->expiries[at] = (struct segment_expiry){at_ms, doc};
}

static void set_bit(uint64_t *bits, uint32_t doc, bool on)
{
	uint64_t bit = UINT64_C(1) << (doc & 63);

	bits[doc >> 6] = on ? bits[doc >> 6] | bit : bits[doc >> 6] & ~bit;
}

uint16_t segment_add(struct segment *s, const struct segment_document *doc, struct dictionary *terms)
{
	uint16_t number = (uint16_t)s->doc_count;
	size_t i;

	assert(s->doc_count < SEGMENT_DOCUMENTS);
	if (s->doc_count == s->doc_cap)
		grow_columns(s, s->doc_cap < 43000 ? s->doc_cap + s->doc_cap / 2 + 32 : SEGMENT_DOCUMENTS);
	put_forward(s, doc);
	s->ids[number] = doc->id;
	s->lengths[number] = doc->length;
	s->groups[number] = doc->group;
	s->min_id = doc->id < s->min_id ? doc->id : s->min_id;
	s->max_id = doc->id > s->max_id ? doc->id : s->max_id;
	segment_set_created(s, number, doc->created_ms);
	segment_set_boost(s, number, doc->boost);
	set_bit(s->live, number, true);
	set_bit(s->visible, number, !doc->hidden);
	set_bit(s->many, number, count_many(doc) > 0);
	if (doc->expires_ms != SEGMENT_NEVER)
		segment_add_expiry(s, number, doc->expires_ms);
	s->doc_count++;
	s->live_count++;
	for (i = 0; i < doc->term_count; i++)
		terms->entries[doc->terms[i].term].holders++;
	postings_append(&s->terms, number, doc->terms, doc->term_count, s->lengths, s->doc_count);
	postings_append(&s->labels, number, doc->labels, doc->label_count, s->lengths, s->doc_count);
	return number;
}

void segment_remove(struct segment *s, uint16_t doc)
{
	assert(doc < s->doc_count && segment_bit(s->live, doc));
	set_bit(s->live, doc, false);
	set_bit(s->visible, doc, false);
	s->live_count--;
}

void segment_set_hidden(struct segment *s, uint16_t doc, bool hidden)
{
	assert(segment_bit(s->live, doc));
	set_bit(s->visible, doc, !hidden);
}

/* The expired ones below (and at) `at` in the heap. Its depth, and so that of the recursion, is 17 at most. */
static void clear_expired_from(const struct segment *s, size_t at, int64_t now_ms, uint64_t *bits)
{
	if (at >= s->expiry_count || s->expiries[at].at_ms > now_ms)
		return;
	set_bit(bits, s->expiries[at].doc, false);
	clear_expired_from(s, 2 * at + 1, now_ms, bits);
	clear_expired_from(s, 2 * at + 2, now_ms, bits);
}

void segment_clear_expired(const struct segment *s, int64_t now_ms, uint64_t *bits)
{
	clear_expired_from(s, 0, now_ms, bits);
}
