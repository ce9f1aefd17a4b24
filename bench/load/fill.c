/* Makes a store of many memories, to start a server on: fill DIR COUNT
 *
 * Writes through the store's interface, a thousand memories a transaction, with texts of bench/search/corpus.h. DIR
 * must not hold a store yet. The file DIR/filled is written last and says how many there are: without it the work is
 * not complete.
 */
#include "corpus.h"

#include "base/clock.h"
#include "codec/sha256.h"
#include "store/store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MEMORIES_A_TRANSACTION = 1000, TEXT_BYTES_MAX = 1 << 20 };

static const int64_t YEAR_MS = INT64_C(365) * 86400000;

static void must(struct store_conn *c, enum store_status status)
{
	if (status == STORE_OK)
		return;
	fprintf(stderr, "fill: %s\n", store_error(c));
	exit(1);
}

/* Memory i of count: written evenly over the last year, one in ten important, one in a thousand pinned. */
static void insert(struct store_conn *conn, int64_t space, struct str text, uint64_t i, uint64_t count, int64_t now_ms)
{
	static const struct str kinds[] = {STR("note"), STR("fact"), STR("decision"), STR("observation")};
	uint64_t dice = corpus_random(i);
	struct memory m = {.space = space, .trust = TRUST_AGENT};

	m.importance = dice % 10 == 0 ? IMPORTANCE_HIGH : IMPORTANCE_MEDIUM;
	m.pinned = dice % 1000 == 0;
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

static void fill(struct store_conn *conn, const struct corpus *corpus, uint64_t count)
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
		insert(conn, space, buf_str(&text), i, count, now_ms);
	}
	must(conn, store_commit(conn));
	buf_release(&text);
}

static bool write_mark(const char *dir, uint64_t count)
{
	char path[4096];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "%s/filled", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ok = fd >= 0 && dprintf(fd, "%" PRIu64 "\n", count) > 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct store_conn *conn;
	struct corpus *corpus;
	struct buf error;

	if (count == 0) {
		fprintf(stderr, "usage: fill DIR COUNT\n");
		return 2;
	}
	buf_init(&error, 4096);
	corpus = corpus_new();
	conn = corpus ? store_open(argv[1], STORE_WRITE, &error) : NULL;
	if (conn == NULL) {
		fprintf(stderr, "fill: %s\n", buf_str(&error).p);
		return 1;
	}
	fill(conn, corpus, count);
	store_close(conn);
	corpus_free(corpus);
	buf_release(&error);
	return write_mark(argv[1], count) ? 0 : 1;
}
