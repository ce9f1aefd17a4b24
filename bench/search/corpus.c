#include "corpus.h"

#include "base/hash.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SOURCE_BYTES = 24 << 20,	/* at most, of prose from each source */
	PARAGRAPH_WORDS = 6,		/* a shorter one is a heading or a remnant */
	HELD_BACK = 20,			/* one paragraph in so many is for queries */
	MIN_WORDS = 200000,
};

struct words {
	uint32_t *at;		/* where each word begins in bytes; one more at the end */
	size_t count;
	size_t cap;
};

struct corpus {
	char *bytes;		/* words, each with a space behind it */
	size_t byte_count;
	size_t byte_cap;
	struct words texts;
	struct words queries;
	uint64_t *seen;		/* hashes of paragraphs */
	size_t seen_count;
	size_t seen_cap;
	size_t source_bytes;	/* of the source being read */
};

uint64_t corpus_random(uint64_t seed)
{
	seed += UINT64_C(0x9e3779b97f4a7c15);
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	return seed ^ seed >> 31;
}

/* --- Material --------------------------------------------------------------------------------------- */

static bool seen_before(struct corpus *c, uint64_t hash)
{
	size_t i, at;

	if (c->seen_count * 2 >= c->seen_cap) {
		size_t old_cap = c->seen_cap;
		uint64_t *old = c->seen;

		c->seen_cap = old_cap ? old_cap * 2 : 1 << 16;
		c->seen = mem_calloc(c->seen_cap, sizeof(*c->seen));
		for (i = 0; i < old_cap; i++) {
			for (at = old[i] % c->seen_cap; old[i] && c->seen[at]; at = (at + 1) % c->seen_cap)
				;
			if (old[i])
				c->seen[at] = old[i];
		}
		free(old);
	}
	hash |= 1;
	for (at = hash % c->seen_cap; c->seen[at]; at = (at + 1) % c->seen_cap)
		if (c->seen[at] == hash)
			return true;
	c->seen[at] = hash;
	c->seen_count++;
	return false;
}

static void add_word(struct corpus *c, struct words *w, const char *p, size_t n)
{
	if (w->count + 2 > w->cap) {
		w->cap = w->cap ? w->cap * 2 : 1 << 16;
		w->at = mem_reallocarray(w->at, w->cap, sizeof(*w->at));
	}
	if (c->byte_cap - c->byte_count < n + 1) {
		c->byte_cap = c->byte_cap * 2 + (1 << 20);
		c->bytes = mem_realloc(c->bytes, c->byte_cap);
	}
	w->at[w->count++] = (uint32_t)c->byte_count;
	memcpy(c->bytes + c->byte_count, p, n);
	c->bytes[c->byte_count + n] = ' ';
	c->byte_count += n + 1;
}

static bool has_letter(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (isalnum((unsigned char)p[i]))
			return true;
	return false;
}

/* Takes the words of a paragraph into the corpus and clears it. */
static void end_paragraph(struct corpus *c, struct buf *b)
{
	struct str rest = buf_str(b);
	uint64_t hash = hash_bytes(rest.p, rest.n, 0);
	struct words *to = hash % HELD_BACK ? &c->texts : &c->queries;
	size_t count = 0, i;

	for (i = 0; i < rest.n; i++)
		count += rest.p[i] == ' ';
	if (count >= PARAGRAPH_WORDS && !seen_before(c, hash)) {
		c->source_bytes += rest.n;
		while (rest.n > 0) {
			struct str word = str_cut(&rest, ' ');

			if (word.n > 0 && word.n <= 60 && has_letter(word.p, word.n))
				add_word(c, to, word.p, word.n);
		}
	}
	buf_clear(b);
}

/* Adds a line of prose to the paragraph, with single spaces; a line without a word ends it. */
static void add_prose(struct corpus *c, struct buf *b, struct str line)
{
	size_t i;

	if (!has_letter(line.p, line.n)) {
		end_paragraph(c, b);
		return;
	}
	for (i = 0; i < line.n; i++) {
		char ch = isspace((unsigned char)line.p[i]) ? ' ' : line.p[i];

		if (ch != ' ' || (b->len > 0 && b->data[b->len - 1] != ' '))
			buf_putc(b, ch);
	}
	if (b->len > 0 && b->data[b->len - 1] != ' ')
		buf_putc(b, ' ');
	if (buf_overflowed(b))
		buf_clear(b);
}

/* Each filter gets the lines of a source, one after the other, and adds the prose among them; *inside is its memory. */

static size_t find_pair(struct str s, const char *pair)
{
	const char *p = s.n >= 2 ? memmem(s.p, s.n, pair, 2) : NULL;

	return p ? (size_t)(p - s.p) : s.n;
}

static void filter_c(struct corpus *c, struct buf *b, struct str line, bool *inside)
{
	size_t at;

	if (!*inside) {
		at = find_pair(line, "/*");
		if (at == line.n) {
			at = find_pair(line, "//");
			add_prose(c, b, at < line.n ? str_sub(line, at + 2, line.n) : STR(""));
			return;
		}
		line = str_sub(line, at + 2, line.n);
		*inside = true;
		end_paragraph(c, b);
	}
	while (line.n > 0 && (isspace((unsigned char)line.p[0]) || line.p[0] == '*') && find_pair(line, "*/") != 0)
		line = str_sub(line, 1, line.n);
	at = find_pair(line, "*/");
	add_prose(c, b, str_sub(line, 0, at));
	if (at == line.n)
		return;
	*inside = false;
	end_paragraph(c, b);
}

static void filter_python(struct corpus *c, struct buf *b, struct str line, bool *inside)
{
	const char *quotes = memmem(line.p, line.n, "\"\"\"", 3);
	struct str text = line;

	while (text.n > 0 && isspace((unsigned char)text.p[0]))
		text = str_sub(text, 1, text.n);
	if (quotes) {
		*inside = !*inside;
		end_paragraph(c, b);
		if (*inside)
			add_prose(c, b, str_sub(line, (size_t)(quotes - line.p) + 3, line.n));
	} else if (*inside) {
		add_prose(c, b, line);
	} else {
		add_prose(c, b, text.n > 0 && text.p[0] == '#' ? str_sub(text, 1, text.n) : STR(""));
	}
}

static void filter_pod(struct corpus *c, struct buf *b, struct str line, bool *inside)
{
	if (line.n > 1 && line.p[0] == '=' && isalpha((unsigned char)line.p[1])) {
		*inside = !str_has_prefix(line, STR("=cut"));
		end_paragraph(c, b);
	} else if (*inside) {
		add_prose(c, b, line);
	}
}

static void filter_man(struct corpus *c, struct buf *b, struct str line, bool *inside)
{
	char clean[4096];
	size_t n = 0, i;

	(void)inside;
	if (line.n > 0 && (line.p[0] == '.' || line.p[0] == '\'')) {
		end_paragraph(c, b);
		return;
	}
	for (i = 0; i < line.n && n < sizeof(clean); i++) {
		if (line.p[i] != '\\') {
			clean[n++] = line.p[i];
			continue;
		}
		i++;
		if (i < line.n && line.p[i] == 'f')
			i++;
		else if (i < line.n && line.p[i] == '(')
			i += 2;
		else if (i < line.n && line.p[i] == '-')
			clean[n++] = '-';
	}
	add_prose(c, b, (struct str){clean, n});
}

static const struct source {
	const char *command;
	void (*filter)(struct corpus *c, struct buf *b, struct str line, bool *inside);
} sources[] = {
	{"find /usr/include -name '*.h' -type f | LC_ALL=C sort | xargs -r cat 2>/dev/null", filter_c},
	{"find /usr/lib/python3* -name '*.py' -type f | LC_ALL=C sort | xargs -r cat 2>/dev/null", filter_python},
	{"find /usr/share/perl /usr/share/perl5 -name '*.p[mlo]*' -type f 2>/dev/null | LC_ALL=C sort | "
	 "xargs -r cat 2>/dev/null", filter_pod},
	{"find /usr/share/man/man[1-8] -name '*.gz' -type f 2>/dev/null | LC_ALL=C sort | "
	 "xargs -r gzip -dc 2>/dev/null", filter_man},
};

static void read_source(struct corpus *c, const struct source *source)
{
	FILE *f = popen(source->command, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool inside = false;
	struct buf paragraph;

	if (f == NULL)
		return;
	buf_init(&paragraph, 1 << 16);
	c->source_bytes = 0;
	while (c->source_bytes < SOURCE_BYTES && (n = getline(&line, &cap, f)) >= 0)
		source->filter(c, &paragraph, (struct str){line, (size_t)n}, &inside);
	end_paragraph(c, &paragraph);
	buf_release(&paragraph);
	free(line);
	pclose(f);
}

struct corpus *corpus_new(void)
{
	struct corpus *c = mem_zalloc(sizeof(*c));
	size_t i;

	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		read_source(c, &sources[i]);
	free(c->seen);
	c->seen = NULL;
	if (c->texts.count >= MIN_WORDS)
		return c;
	fprintf(stderr, "search bench: only %zu words of prose in /usr/include, /usr/lib/python3 and the like; "
			"%d are needed\n", c->texts.count, MIN_WORDS);
	corpus_free(c);
	return NULL;
}

void corpus_free(struct corpus *c)
{
	free(c->bytes);
	free(c->texts.at);
	free(c->queries.at);
	free(c->seen);
	free(c);
}

size_t corpus_words(const struct corpus *c)
{
	return c->texts.count;
}

/* --- Texts ------------------------------------------------------------------------------------------ */

static struct str word_at(const struct corpus *c, const struct words *w, size_t i)
{
	const char *p = c->bytes + w->at[i];

	return (struct str){p, (size_t)((const char *)memchr(p, ' ', c->byte_count - w->at[i]) - p)};
}

static void put_words(const struct corpus *c, const struct words *w, uint64_t at, size_t n, struct buf *out)
{
	size_t i, from = at % (w->count - n);

	for (i = 0; i < n; i++) {
		buf_put(out, word_at(c, w, from + i));
		buf_putc(out, ' ');
	}
}

/* Letters and digits of a word, the first one a capital where asked. */
static void put_name(const struct corpus *c, uint64_t r, bool capital, struct buf *out)
{
	struct str w = word_at(c, &c->texts, r % c->texts.count);
	size_t i;

	for (i = 0; i < w.n; i++) {
		if (!isalnum((unsigned char)w.p[i]))
			continue;
		buf_putc(out, (char)(capital ? toupper((unsigned char)w.p[i]) : tolower((unsigned char)w.p[i])));
		capital = false;
	}
}

/* What tells one note from another: a ticket, a hash, a path, an identifier, a date. */
static void put_particular(const struct corpus *c, uint64_t r, uint64_t i, struct buf *out)
{
	uint64_t a = corpus_random(r), b = corpus_random(a);

	switch (r % 6) {
	case 0:
		buf_printf(out, "ms-%llu ", (unsigned long long)(i ? a % i : 0));
		break;
	case 1:
		buf_printf(out, "commit %08x ", (unsigned)(a & UINT32_MAX));
		break;
	case 2:
		buf_puts(out, "src/");
		put_name(c, a, false, out);
		buf_putc(out, '/');
		put_name(c, b, false, out);
		buf_puts(out, ".c ");
		break;
	case 3:
		put_name(c, a, false, out);
		put_name(c, b, true, out);
		buf_puts(out, "() ");
		break;
	case 4:
		buf_printf(out, "2025-%02d-%02d ", (int)(a % 12) + 1, (int)(b % 28) + 1);
		break;
	default:
		buf_printf(out, "%llu ms ", (unsigned long long)(a % 5000));
		break;
	}
}

void corpus_text(const struct corpus *c, uint64_t i, struct buf *out)
{
	uint64_t r = corpus_random(i * 2 + 1), a = corpus_random(r), b = corpus_random(a);
	size_t words = 20 + a % 61;

	buf_clear(out);
	if (r % 3 == 0) {
		put_words(c, &c->texts, b, words / 2, out);
		put_words(c, &c->texts, corpus_random(b), words - words / 2, out);
	} else {
		put_words(c, &c->texts, b, words, out);
	}
	if (r >> 8 & 1)
		put_particular(c, r >> 16, i, out);
}

void corpus_query(const struct corpus *c, uint64_t i, uint64_t texts, struct buf *out)
{
	uint64_t r = corpus_random(i * 2 + 2), a = corpus_random(r);
	size_t words = 20 + r % 21, taken = 0;
	struct buf text;
	struct str rest;

	buf_clear(out);
	if (i % 2 == 0) {
		put_words(c, &c->queries, a, words, out);
		return;
	}
	buf_init(&text, 1 << 16);
	corpus_text(c, a % texts, &text);
	rest = buf_str(&text);
	for (; taken < words && rest.n > 0; taken++) {
		struct str word = str_cut(&rest, ' ');

		if (corpus_random(a + taken) % 3 == 0)
			word = word_at(c, &c->queries, corpus_random(r + taken) % c->queries.count);
		buf_put(out, word);
		buf_putc(out, ' ');
	}
	if (taken < words)
		put_words(c, &c->queries, r, words - taken, out);
	buf_release(&text);
}
