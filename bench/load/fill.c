/* Makes a store of many memories, to start a server on: fill DIR COUNT [PINS]
 *
 * Writes through the store's interface, a thousand memories a transaction, with texts of bench/search/corpus.h. DIR
 * must not hold a store yet. DIR/summaries gets texts to search with or to hand over, a line each, 20 to 40 words. The
 * file DIR/filled is written last and says how many memories there are: without it the work is not complete.
 */
#include "corpus.h"

#include "base/clock.h"
#include "codec/sha256.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MEMORIES_A_TRANSACTION = 1000, TEXT_BYTES_MAX = 1 << 20, SUMMARIES = 1 << 14, SUMMARIES_BYTES_MAX = 64 << 20 };

static const int64_t YEAR_MS = INT64_C(365) * 86400000;

static void must(struct store_conn *c, enum store_status status)
{
	if (status == STORE_OK)
		return;
	fprintf(stderr, "fill: %s\n", store_error(c));
	exit(1);
}

/* Memory i of count: written evenly over the last year, one in ten important; `pins` of them pinned, or
 * one in a thousand where that is 0. */
static void insert(struct store_conn *conn, int64_t space, struct str text, uint64_t i, uint64_t count,
		   uint64_t pins, int64_t now_ms)
{
	static const struct str kinds[] = {STR("note"), STR("fact"), STR("decision"), STR("observation")};
	uint64_t dice = corpus_random(i);
	struct memory m = {.space = space, .trust = TRUST_AGENT};

	m.importance = dice % 10 == 0 ? IMPORTANCE_HIGH : IMPORTANCE_MEDIUM;
	m.pinned = pins ? i % (count / pins) == 0 && i / (count / pins) < pins : dice % 1000 == 0;
	m.content = text;
	m.kind = kinds[dice / 10 % 4];
	m.tags = dice / 40 % 2 ? STR("[\"gateway\",\"payments\"]") : STR("[\"search\"]");
	m.agent = STR("researcher");
	m.metadata = STR("{}");
	m.created_at_ms = now_ms - (int64_t)((double)(count - i) / (double)count * (double)YEAR_MS);
	m.updated_at_ms = m.created_at_ms;
	sha256(m.content, m.digest);
	must(conn, store_memory_insert(conn, &m));
}

static void fill(struct store_conn *conn, const struct corpus *corpus, uint64_t count, uint64_t pins)
{
	int64_t now_ms = clock_wall_ms(), space;
	struct buf text;

	buf_init(&text, TEXT_BYTES_MAX);
	must(conn, store_begin(conn));
	must(conn, store_space_create(conn, STR("default"), now_ms, &space));
	for (uint64_t i = 0; i < count; i++) {
		if (i > 0 && i % MEMORIES_A_TRANSACTION == 0) {
			must(conn, store_commit(conn));
			must(conn, store_begin(conn));
		}
		corpus_text(corpus, i, &text);
		insert(conn, space, buf_str(&text), i, count, pins, now_ms);
	}
	must(conn, store_commit(conn));
	buf_release(&text);
}

static bool write_file(const char *dir, const char *name, struct str text)
{
	char path[4096];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	ok = file && fwrite(text.p, 1, text.n, file) == text.n;
	if (file)
		ok &= fclose(file) == 0;
	return ok;
}

static bool write_summaries(const char *dir, const struct corpus *corpus, uint64_t count)
{
	struct buf text, all;
	bool ok;

	buf_init(&text, TEXT_BYTES_MAX);
	buf_init(&all, SUMMARIES_BYTES_MAX);
	for (uint64_t i = 0; i < SUMMARIES; i++) {
		corpus_query(corpus, i, count, &text);
		buf_put(&all, str_trim(buf_str(&text)));
		buf_putc(&all, '\n');
	}
	ok = write_file(dir, "summaries", buf_str(&all));
	buf_release(&text);
	buf_release(&all);
	return ok;
}

static bool write_mark(const char *dir, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", count);
	return write_file(dir, "filled", str_of(text));
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 3 || argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t pins = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	struct store_conn *conn;
	struct corpus *corpus;
	struct buf error;
	bool ok;

	if (count == 0 || pins > count) {
		fprintf(stderr, "usage: fill DIR COUNT [PINS]\n");
		return 2;
	}
	buf_init(&error, 4096);
	corpus = corpus_new();
	conn = corpus ? store_open(argv[1], STORE_WRITE, &error) : NULL;
	if (conn == NULL) {
		fprintf(stderr, "fill: %s\n", buf_str(&error).p);
		return 1;
	}
	fill(conn, corpus, count, pins);
	store_close(conn);
	ok = write_summaries(argv[1], corpus, count) && write_mark(argv[1], count);
	corpus_free(corpus);
	buf_release(&error);
	return ok ? 0 : 1;
}
