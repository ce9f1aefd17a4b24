/* Measures the text index: how fast it is built, how much memory it takes, how long a search takes, with neighbours and
 * without, whether its hits are the right ones, and the same queries on SQLite's FTS5.
 *
 *     search [--texts N[,N...]] [--queries N] [--checks N] [--fts N] [--plain]
 *
 * Prints lines of "name value unit"; lines that begin with # are remarks. --checks: queries that are compared with a
 * scorer that looks at every text; --fts: queries that FTS5 answers (0: none), at the first number of texts. --plain:
 * no boosts and no recency, BM25 alone. "query" is index_search, by the words of a text alone; "near" is
 * index_search_near, as the server searches, with all texts in one group.
 */
#include "corpus.h"
#include "scan.h"

#include "base/clock.h"
#include "base/mem.h"
#include "text/analyze.h"
#include "text/index.h"
#include "text/termbag.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	K = 20,
	BATCH = 512,
	LABELS = 8,
	TEXT_BYTES = 1 << 16,
};

struct options {
	uint64_t texts[8];
	size_t text_counts;
	uint64_t queries;
	uint64_t checks;
	uint64_t fts;
	bool plain;
};

static const int64_t START_MS = INT64_C(1700000000000);
static const int64_t SPAN_MS = INT64_C(365) * 86400 * 1000;

/* --- Documents -------------------------------------------------------------------------------------- */

/* When text i of n was written, evenly over a year; the queries come at the end of it. */
static int64_t created_ms(uint64_t i, uint64_t n)
{
	return START_MS + (int64_t)((double)SPAN_MS * (double)i / (double)n);
}

/* Importance and pins, as an application might weigh them. */
static float boost_of(uint64_t i)
{
	static const float importance[10] = {0.8f, 1, 1, 1, 1, 1, 1, 1.25f, 1.25f, 1.5f};
	uint64_t r = corpus_random(i ^ 0x5555);

	return importance[r % 10] * (r / 10 % 100 == 0 ? 1.5f : 1);
}

struct labels {
	char text[LABELS][32];
	struct str labels[LABELS];
};

/* Labels of text i: two tags, kind, importance, agent, task, trust, pinned or not. */
static void labels_of(uint64_t i, struct labels *ret)
{
	char (*text)[32] = ret->text;
	uint64_t r = corpus_random(i ^ 0xaaaa);
	size_t l;

	snprintf(text[0], 32, "tag.%u", (unsigned)(r % 16 * (r >> 8) % 16));
	snprintf(text[1], 32, "tag.%u", (unsigned)(r >> 16) % 500);
	snprintf(text[2], 32, "kind.%u", (unsigned)(r >> 24) % 5);
	snprintf(text[3], 32, "importance.%u", (unsigned)(r >> 28) % 4);
	snprintf(text[4], 32, "agent.%u", (unsigned)(r >> 32) % 20);
	snprintf(text[5], 32, "task.%" PRIu64, i / 50);
	snprintf(text[6], 32, "trust.%u", (unsigned)(r >> 40) % 4);
	snprintf(text[7], 32, "pinned.%d", r % 100 == 0);
	for (l = 0; l < LABELS; l++)
		ret->labels[l] = str_of(text[l]);
}

static struct index_query query_of(const struct termbag *bag, bool plain)
{
	return (struct index_query){
		.terms = bag,
		.filter = index_filter_any(),
		.recency_weight = plain ? 0 : 0.5,
		.half_life_ms = INT64_C(30) * 86400 * 1000,
	};
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct index *build(const struct corpus *c, const struct options *o, uint64_t texts)
{
	struct index *ix = index_new(&index_config_default);
	struct analyzer *a = analyzer_new();
	struct termbag bag;
	struct labels *labels = mem_calloc(BATCH, sizeof(*labels));
	struct buf batch[BATCH];
	int64_t taken_ns = 0, taken_cpu_ns = 0, slowest_ns = 0;
	uint64_t i, j, bytes = 0, terms = 0;

	termbag_init(&bag, 0);
	for (j = 0; j < BATCH; j++)
		buf_init(&batch[j], TEXT_BYTES);
	for (i = 0; i < texts; i += BATCH) {
		uint64_t count = texts - i < BATCH ? texts - i : BATCH;
		int64_t begin, begin_cpu;

		for (j = 0; j < count; j++) {
			corpus_text(c, i + j, &batch[j]);
			labels_of(i + j, &labels[j]);
			bytes += batch[j].len;
		}
		begin = clock_mono_ns();
		begin_cpu = cpu_ns();
		for (j = 0; j < count; j++) {
			int64_t before;

			termbag_clear(&bag);
			termbag_add_text(&bag, a, buf_str(&batch[j]), 1);
			before = clock_mono_ns();
			index_add(ix, &(struct index_document){
				.id = i + j + 1, .terms = &bag, .labels = labels[j].labels, .label_count = LABELS,
				.created_ms = created_ms(i + j, texts), .expires_ms = INDEX_NEVER,
				.boost = o->plain ? 1 : boost_of(i + j),
			});
			before = clock_mono_ns() - before;
			slowest_ns = before > slowest_ns ? before : slowest_ns;
			terms += bag.length;
		}
		taken_ns += clock_mono_ns() - begin;
		taken_cpu_ns += cpu_ns() - begin_cpu;
	}
	printf("search.%" PRIu64 ".build %.0f texts/s\n", texts, (double)texts * 1e9 / (double)taken_ns);
	printf("search.%" PRIu64 ".build_cpu %.0f texts/s of CPU time\n", texts,
	       (double)texts * 1e9 / (double)taken_cpu_ns);
	printf("search.%" PRIu64 ".slowest_add %.1f ms\n", texts, (double)slowest_ns / 1e6);
	printf("search.%" PRIu64 ".index_bytes %.1f bytes/text\n", texts, (double)index_bytes(ix) / (double)texts);
	printf("search.%" PRIu64 ".text_bytes %.1f bytes/text\n", texts, (double)bytes / (double)texts);
	printf("search.%" PRIu64 ".terms %.1f terms/text\n", texts, (double)terms / (double)texts);
	for (j = 0; j < BATCH; j++)
		buf_release(&batch[j]);
	free(labels);
	termbag_release(&bag);
	analyzer_free(a);
	return ix;
}

/* --- Latency ---------------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_times(const char *name, uint64_t texts, int64_t *ns, size_t count)
{
	static const struct {
		const char *name;
		double at;
	} points[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
	size_t i;

	qsort(ns, count, sizeof(*ns), compare_times);
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		printf("search.%" PRIu64 ".%s.%s %.3f ms\n", texts, name, points[i].name,
		       (double)ns[(size_t)((double)(count - 1) * points[i].at)] / 1e6);
}

typedef size_t search_function(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
			       struct index_scratch *scratch, struct index_hit *ret_hits);

/* Times each query twice and takes the better: the machine has other work, too. Analysis of the query included. */
static double measure(const struct index *ix, const struct corpus *c, const struct options *o, uint64_t texts,
		      const char *name, search_function *search, const struct index_filter *filter)
{
	int64_t *ns = mem_calloc(o->queries, sizeof(*ns));
	struct index_scratch *x = index_scratch_new();
	struct analyzer *a = analyzer_new();
	struct index_hit hits[K];
	struct termbag bag;
	struct buf text;
	double median;
	uint64_t i;
	int round;

	termbag_init(&bag, 0);
	buf_init(&text, TEXT_BYTES);
	for (i = 0; i < o->queries; i++) {
		struct index_query q = query_of(&bag, o->plain);

		if (filter)
			q.filter = *filter;
		corpus_query(c, i, texts, &text);
		for (round = 0; round < 2; round++) {
			int64_t begin = clock_mono_ns(), taken;

			termbag_clear(&bag);
			termbag_add_text(&bag, a, buf_str(&text), 1);
			search(ix, &q, START_MS + SPAN_MS, K, x, hits);
			taken = clock_mono_ns() - begin;
			ns[i] = round == 0 || taken < ns[i] ? taken : ns[i];
		}
	}
	print_times(name, texts, ns, o->queries);
	median = (double)ns[(o->queries - 1) / 2];
	free(ns);
	buf_release(&text);
	termbag_release(&bag);
	analyzer_free(a);
	index_scratch_free(x);
	return median;
}

static void measure_filtered(const struct index *ix, const struct corpus *c, const struct options *o, uint64_t texts)
{
	struct str kind = STR("kind.1"), tag = STR("tag.77");
	struct index_labels groups[2] = {{&kind, 1}, {&tag, 1}};
	struct index_filter f = index_filter_any();

	f.require = groups;
	f.require_count = 1;
	measure(ix, c, o, texts, "one_label", index_search, &f);
	measure(ix, c, o, texts, "near_one_label", index_search_near, &f);
	f.require_count = 2;
	measure(ix, c, o, texts, "two_labels", index_search, &f);
	measure(ix, c, o, texts, "near_two_labels", index_search_near, &f);
}

/* Lists and counts, without a query. */
static void measure_lists(const struct index *ix, uint64_t texts)
{
	enum { ROUNDS = 200 };
	struct str common = STR("kind.1"), rare = STR("task.77");
	struct index_labels groups[2] = {{&common, 1}, {&rare, 1}};
	const struct {
		const char *name;
		const struct index_labels *group;
		bool count;
	} cases[] = {
		{"list", NULL, false},
		{"list_common_label", &groups[0], false},
		{"list_rare_label", &groups[1], false},
		{"count_common_label", &groups[0], true},
	};
	struct index_scratch *x = index_scratch_new();
	int64_t ns[ROUNDS];
	uint64_t ids[K];
	size_t i, r;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct index_filter f = index_filter_any();

		f.require = cases[i].group;
		f.require_count = cases[i].group ? 1 : 0;
		for (r = 0; r < ROUNDS; r++) {
			int64_t begin = clock_mono_ns();

			if (cases[i].count)
				index_count(ix, &f, START_MS + SPAN_MS, x);
			else
				index_list(ix, &f, START_MS + SPAN_MS, false, K, x, ids);
			ns[r] = clock_mono_ns() - begin;
		}
		qsort(ns, ROUNDS, sizeof(*ns), compare_times);
		printf("search.%" PRIu64 ".%s %.1f us\n", texts, cases[i].name, (double)ns[ROUNDS / 2] / 1e3);
	}
	index_scratch_free(x);
}

/* --- Against a scorer that looks at everything ------------------------------------------------------ */

static void check(const struct index *ix, const struct corpus *c, const struct options *o, uint64_t texts)
{
	struct scan *scan = scan_new(c, texts);
	struct index_scratch *x = index_scratch_new();
	struct analyzer *a = analyzer_new();
	uint64_t i, found = 0, wanted = 0;
	struct termbag bag;
	struct buf text;

	termbag_init(&bag, 0);
	buf_init(&text, TEXT_BYTES);
	for (i = 0; i < o->checks; i++) {
		struct index_query q = query_of(&bag, o->plain);
		struct index_hit hits[K], truth[K];
		size_t n, m, h, t;

		corpus_query(c, i, texts, &text);
		termbag_clear(&bag);
		termbag_add_text(&bag, a, buf_str(&text), 1);
		n = index_search(ix, &q, START_MS + SPAN_MS, K, x, hits);
		m = scan_top(scan, &q, START_MS + SPAN_MS, o->plain ? NULL : boost_of, created_ms, K, truth);
		for (h = 0; h < n; h++)
			for (t = 0; t < m; t++)
				found += hits[h].id == truth[t].id;
		wanted += m;
	}
	printf("search.%" PRIu64 ".recall %.4f of the best %d, every text scored with unrounded BM25, %" PRIu64
	       " queries\n", texts, (double)found / (double)wanted, K, o->checks);
	buf_release(&text);
	termbag_release(&bag);
	analyzer_free(a);
	index_scratch_free(x);
	scan_free(scan);
}

/* --- FTS5 ------------------------------------------------------------------------------------------- */

static void must(sqlite3 *db, bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "search bench: SQLite: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static sqlite3 *fts_build(const struct corpus *c, uint64_t texts)
{
	sqlite3 *db;
	sqlite3_stmt *insert;
	struct buf text;
	uint64_t i;

	must(NULL, sqlite3_open(":memory:", &db) == SQLITE_OK);
	must(db, sqlite3_exec(db, "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61'); BEGIN",
			      NULL, NULL, NULL) == SQLITE_OK);
	must(db, sqlite3_prepare_v2(db, "INSERT INTO t(rowid, text) VALUES (?, ?)", -1, &insert, NULL) == SQLITE_OK);
	buf_init(&text, TEXT_BYTES);
	for (i = 0; i < texts; i++) {
		corpus_text(c, i, &text);
		sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1);
		sqlite3_bind_text(insert, 2, text.data, (int)text.len, SQLITE_STATIC);
		must(db, sqlite3_step(insert) == SQLITE_DONE);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	buf_release(&text);
	must(db, sqlite3_exec(db, "COMMIT; INSERT INTO t(t) VALUES ('optimize')", NULL, NULL, NULL) == SQLITE_OK);
	return db;
}

/* The words of the query, quoted and joined by OR. */
static void fts_expression(struct str text, struct buf *out)
{
	size_t i;
	bool open = false;

	buf_clear(out);
	for (i = 0; i < text.n; i++) {
		unsigned char ch = (unsigned char)text.p[i];
		bool word = (ch >= '0' && ch <= '9') || ((ch | 0x20) >= 'a' && (ch | 0x20) <= 'z') || ch >= 0x80;

		if (word && !open)
			buf_puts(out, out->len ? " OR \"" : "\"");
		if (word)
			buf_putc(out, (char)ch);
		if (!word && open)
			buf_putc(out, '"');
		open = word;
	}
	if (open)
		buf_putc(out, '"');
}

static void compare_fts(const struct corpus *c, const struct options *o, uint64_t texts, double our_median_ns)
{
	int64_t *ns = mem_calloc(o->fts, sizeof(*ns));
	sqlite3 *db = fts_build(c, texts);
	sqlite3_stmt *select;
	struct buf text, expression;
	uint64_t i;

	buf_init(&text, TEXT_BYTES);
	buf_init(&expression, TEXT_BYTES);
	must(db, sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 20", -1, &select,
				    NULL) == SQLITE_OK);
	for (i = 0; i < o->fts; i++) {
		int64_t begin;

		corpus_query(c, i, texts, &text);
		fts_expression(buf_str(&text), &expression);
		begin = clock_mono_ns();
		sqlite3_bind_text(select, 1, expression.data, (int)expression.len, SQLITE_STATIC);
		while (sqlite3_step(select) == SQLITE_ROW)
			;
		must(db, sqlite3_reset(select) == SQLITE_OK);
		ns[i] = clock_mono_ns() - begin;
	}
	sqlite3_finalize(select);
	sqlite3_close(db);
	print_times("fts5", texts, ns, o->fts);
	printf("search.%" PRIu64 ".ratio_to_fts5 %.0f times faster at the median\n", texts,
	       (double)ns[(o->fts - 1) / 2] / our_median_ns);
	free(ns);
	buf_release(&text);
	buf_release(&expression);
}

/* --- Options ---------------------------------------------------------------------------------------- */

static bool parse_texts(struct options *o, struct str value)
{
	o->text_counts = 0;
	while (value.n > 0) {
		struct str one = str_cut(&value, ',');

		if (o->text_counts == 8 || !str_to_u64(one, &o->texts[o->text_counts]) || o->texts[o->text_counts] == 0)
			return false;
		o->text_counts++;
	}
	return o->text_counts > 0;
}

static bool parse(struct options *o, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		struct str name = str_of(argv[i]), value = str_of(i + 1 < argc ? argv[i + 1] : "");
		bool ok = true;

		if (str_is(name, "--plain")) {
			o->plain = true;
			continue;
		}
		if (str_is(name, "--texts"))
			ok = parse_texts(o, value);
		else if (str_is(name, "--queries"))
			ok = str_to_u64(value, &o->queries) && o->queries > 0;
		else if (str_is(name, "--checks"))
			ok = str_to_u64(value, &o->checks);
		else if (str_is(name, "--fts"))
			ok = str_to_u64(value, &o->fts);
		else
			ok = false;
		if (!ok)
			return false;
		i++;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options o = {.texts = {100000, 1000000}, .text_counts = 2, .queries = 1000, .checks = 100, .fts = 25};
	struct corpus *c;
	size_t i;

	if (!parse(&o, argc, argv)) {
		fprintf(stderr, "usage: search [--texts N[,N...]] [--queries N] [--checks N] [--fts N] [--plain]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	c = corpus_new();
	if (c == NULL)
		return 1;
	printf("# Corpus: excerpts of 20 to 80 words from %zu words of prose on this machine (comments of C headers\n"
	       "# and of Python, POD, manual pages), half of them with a ticket, path, hash, identifier or date of\n"
	       "# their own. Queries: 20 to 40 words, half of them from paragraphs that are in no text, half from a\n"
	       "# text with a third of the words replaced.\n", corpus_words(c));
	printf("# Score: BM25 without stop words%s; top %d; one thread; times include the analysis of the query.\n",
	       o.plain ? "" : ", times importance and recency (half-life 30 days)", K);
	for (i = 0; i < o.text_counts; i++) {
		struct index *ix = build(c, &o, o.texts[i]);
		double median;

		measure(ix, c, &o, o.texts[i], "query", index_search, NULL);
		median = measure(ix, c, &o, o.texts[i], "near", index_search_near, NULL);
		measure_filtered(ix, c, &o, o.texts[i]);
		measure_lists(ix, o.texts[i]);
		if (i == 0 && o.checks > 0)
			check(ix, c, &o, o.texts[i]);
		index_free(ix);
		if (i == 0 && o.fts > 0)
			compare_fts(c, &o, o.texts[i], median);
	}
	corpus_free(c);
	return 0;
}
