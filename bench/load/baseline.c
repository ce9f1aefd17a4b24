/* What one fsync per request costs on this disk, without HTTP: the comparison for the durable stores of the server.
 *
 *     baseline store DIR SECONDS BYTES    the server's own store, same schema and row, a transaction for each memory
 *     baseline sync FILE SECONDS BYTES    BYTES appended to a file, then fdatasync: what the disk itself allows
 *
 * One thread. Prints one line of JSON: how many a second, and the median and 99th percentile of the time of one.
 */
#include "scenario.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/sha256.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES_MAX = 1 << 22, TEXT_BYTES_MAX = 1 << 20 };

/* Something that can be done durably, again and again. */
struct task {
	void (*once)(struct task *t, uint64_t number);
	size_t bytes;
	struct buf text;
	struct store_conn *conn;
	int64_t space;
	int fd;
};

static void die(const char *why)
{
	fprintf(stderr, "baseline: %s\n", why);
	exit(1);
}

static void must(struct task *t, enum store_status status)
{
	if (status != STORE_OK)
		die(store_error(t->conn));
}

static void store_once(struct task *t, uint64_t number)
{
	struct memory m = {.space = t->space, .importance = IMPORTANCE_HIGH, .trust = TRUST_AGENT};

	buf_clear(&t->text);
	scenario_put_text(&t->text, number, t->bytes);
	m.content = buf_str(&t->text);
	m.kind = STR("observation");
	m.tags = STR("[\"load\"]");
	m.metadata = STR("{}");
	m.created_at_ms = m.updated_at_ms = clock_wall_ms();
	sha256(m.content, m.digest);
	must(t, store_begin(t->conn));
	must(t, store_memory_insert(t->conn, &m));
	must(t, store_commit(t->conn));
}

static void sync_once(struct task *t, uint64_t number)
{
	buf_clear(&t->text);
	scenario_put_text(&t->text, number, t->bytes);
	if (write(t->fd, t->text.data, t->text.len) != (ssize_t)t->text.len || fdatasync(t->fd) != 0)
		die("the file cannot be written");
}

static void open_store(struct task *t, const char *dir)
{
	struct buf error;

	buf_init(&error, 4096);
	t->conn = store_open(dir, STORE_WRITE, &error);
	if (t->conn == NULL)
		die(buf_str(&error).p);
	must(t, store_begin(t->conn));
	must(t, store_space_create(t->conn, STR("default"), clock_wall_ms(), &t->space));
	must(t, store_commit(t->conn));
	buf_release(&error);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void run(struct task *t, double seconds)
{
	uint32_t *samples_us = mem_calloc(SAMPLES_MAX, sizeof(*samples_us));
	int64_t began_ns = clock_mono_ns(), now_ns = began_ns, stop_ns = began_ns + (int64_t)(seconds * 1e9);
	size_t count = 0;

	while (now_ns < stop_ns && count < SAMPLES_MAX) {
		int64_t before_ns = now_ns;

		t->once(t, count);
		now_ns = clock_mono_ns();
		samples_us[count++] = (uint32_t)((now_ns - before_ns) / 1000);
	}
	qsort(samples_us, count, sizeof(*samples_us), compare);
	printf("{\"count\":%zu,\"rate\":%.1f,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n", count,
	       (double)count * 1e9 / (double)(now_ns - began_ns), samples_us[count / 2] / 1000.0,
	       samples_us[count * 99 / 100] / 1000.0);
	free(samples_us);
}

int main(int argc, char **argv)
{
	struct task t = {.fd = -1};
	double seconds = argc == 5 ? strtod(argv[3], NULL) : 0;
	bool known = argc == 5 && (strcmp(argv[1], "store") == 0 || strcmp(argv[1], "sync") == 0);

	t.bytes = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
	if (!known || seconds <= 0 || t.bytes == 0 || t.bytes > TEXT_BYTES_MAX / 2) {
		fprintf(stderr, "usage: baseline store DIR SECONDS BYTES | baseline sync FILE SECONDS BYTES\n");
		return 2;
	}
	buf_init(&t.text, TEXT_BYTES_MAX);
	if (strcmp(argv[1], "store") == 0) {
		t.once = store_once;
		open_store(&t, argv[2]);
	} else {
		t.once = sync_once;
		t.fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (t.fd < 0)
			die("the file cannot be made");
	}
	run(&t, seconds);
	store_close(t.conn);
	if (t.fd >= 0)
		close(t.fd);
	buf_release(&t.text);
	return 0;
}
