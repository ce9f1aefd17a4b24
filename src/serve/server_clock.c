#include "serve/server_clock.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/timeline.h"
#include "codec/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS_NS INT64_C(1000000)

/* KEEP_MS: what is written later than a change of the steering's direction is off by a tenth of it. APART_MS: from here
 * on it is told, and no more below the half; people's clocks are often a second apart, and doctor says the same. */
enum { KEEP_MS = 100, APART_MS = 5000, LINE_MAX_BYTES = 256, SUM_SIZE = 16 };

struct server_clock {
	char path[PATH_MAX];
	const struct log *log;
	bool is_reset;
	char boot[CLOCK_BOOT_ID_SIZE];
	int fd;				/* -1: it cannot be kept */
	int64_t kept_ns;		/* of the boot's clock, when it was kept; the keeping thread's */
	pthread_mutex_t lock;		/* guards what follows */
	struct timeline line;
	int64_t offset_ns;
	bool is_apart;
};

static struct timeline_reading look(void)
{
	return (struct timeline_reading){.boot_ns = clock_boot_ns(), .wall_ns = clock_wall_ns()};
}

/* --- The file: "BOOT BOOT_NS TIME_NS SUM", one line --- */

static void sum_of(const char *text, size_t length, char ret[SUM_SIZE + 1])
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex((struct str){text, length}, hex);
	memcpy(ret, hex, SUM_SIZE);
	ret[SUM_SIZE] = '\0';
}

/* False where there is none, or it is not whole. */
static bool read_kept(const struct server_clock *clock, struct timeline *ret, bool *ret_same_boot)
{
	char line[LINE_MAX_BYTES], boot[CLOCK_BOOT_ID_SIZE], sum[SUM_SIZE + 1], expected[SUM_SIZE + 1];
	ssize_t n = clock->fd >= 0 ? pread(clock->fd, line, sizeof(line) - 1, 0) : -1;
	int length = 0;

	line[n > 0 ? n : 0] = '\0';
	if (sscanf(line, "%63s %" SCNd64 " %" SCNd64 "%n %16s", boot, &ret->boot_ns, &ret->time_ns, &length, sum) != 4)
		return false;
	sum_of(line, (size_t)length, expected);
	*ret_same_boot = clock->boot[0] && strcmp(boot, clock->boot) == 0;
	return strcmp(sum, expected) == 0;
}

static void write_kept(struct server_clock *clock, struct timeline line)
{
	char text[LINE_MAX_BYTES], sum[SUM_SIZE + 1];
	int n = snprintf(text, sizeof(text), "%s %" PRId64 " %" PRId64, clock->boot[0] ? clock->boot : "-",
			 line.boot_ns, line.time_ns);

	sum_of(text, (size_t)n, sum);
	/* Spaces up to the end: one that was longer leaves nothing behind. */
	n += snprintf(text + n, sizeof(text) - (size_t)n, " %s", sum);
	memset(text + n, ' ', sizeof(text) - (size_t)n);
	text[sizeof(text) - 1] = '\n';
	if (pwrite(clock->fd, text, sizeof(text), 0) == (ssize_t)sizeof(text))
		return;
	log_write(clock->log, LOG_WARN, "the server's time cannot be kept: after a restart it begins as the wall clock",
		  LOG_STR("file", clock->path), LOG_STR("error", strerror(errno)));
	close(clock->fd);
	clock->fd = -1;
}

/* --- Life --- */

struct server_clock *server_clock_new(const char *data_dir, const struct log *log, bool is_reset)
{
	struct server_clock *clock = mem_zalloc(sizeof(*clock));

	snprintf(clock->path, sizeof(clock->path), "%s/clock", data_dir);
	clock->log = log;
	clock->is_reset = is_reset;
	clock->fd = -1;
	clock_boot_id(clock->boot);
	pthread_mutex_init(&clock->lock, NULL);
	return clock;
}

void server_clock_free(struct server_clock *clock)
{
	if (clock == NULL)
		return;
	if (clock->fd >= 0)
		close(clock->fd);
	pthread_mutex_destroy(&clock->lock);
	free(clock);
}

void server_clock_begin(void *ctx, int64_t newest_ms)
{
	struct server_clock *clock = ctx;
	struct timeline kept;
	bool is_same_boot = false, has_kept;

	clock->fd = open(clock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (clock->fd < 0)
		log_write(clock->log, LOG_WARN, "the server's time cannot be kept: after a restart it begins as the "
			  "wall clock", LOG_STR("file", clock->path), LOG_STR("error", strerror(errno)));
	has_kept = !clock->is_reset && read_kept(clock, &kept, &is_same_boot);
	clock->line = timeline_begin(has_kept ? &kept : NULL, is_same_boot, clock->is_reset ? 0 : newest_ms * MS_NS,
				     look());
	server_clock_keep(clock, true);
}

/* --- The time --- */

static void tell_apart(const struct server_clock *clock, int64_t offset_ns, bool is_apart)
{
	int64_t offset_ms = offset_ns / MS_NS;

	if (is_apart)
		log_write(clock->log, LOG_WARN, "the wall clock is not where it was: the server's time goes on, so "
			  "that deadlines stay, and approaches it by a tenth of the time that passes; set it by NTP",
			  LOG_INT("clock_offset_ms", offset_ms));
	else
		log_write(clock->log, LOG_INFO, "the server's time agrees with the wall clock again",
			  LOG_INT("clock_offset_ms", offset_ms));
}

int64_t server_clock_now_ms(void *ctx)
{
	struct server_clock *clock = ctx;
	struct timeline_reading now = look();
	int64_t time_ns, offset_ns;
	bool was_apart, is_apart;

	pthread_mutex_lock(&clock->lock);
	time_ns = timeline_advance(&clock->line, now);
	offset_ns = clock->offset_ns = time_ns - now.wall_ns;
	was_apart = is_apart = clock->is_apart;
	if (llabs(offset_ns) >= APART_MS * MS_NS)
		is_apart = true;
	else if (llabs(offset_ns) < APART_MS * MS_NS / 2)
		is_apart = false;
	clock->is_apart = is_apart;
	pthread_mutex_unlock(&clock->lock);
	if (was_apart != is_apart)
		tell_apart(clock, offset_ns, is_apart);
	return time_ns / MS_NS;
}

int64_t server_clock_offset_ms(void *ctx)
{
	struct server_clock *clock = ctx;
	int64_t offset_ns;

	server_clock_now_ms(clock);
	pthread_mutex_lock(&clock->lock);
	offset_ns = clock->offset_ns;
	pthread_mutex_unlock(&clock->lock);
	return offset_ns / MS_NS;
}

void server_clock_keep(struct server_clock *clock, bool is_last)
{
	struct timeline line;

	if (clock->fd < 0)
		return;
	pthread_mutex_lock(&clock->lock);
	line = clock->line;
	pthread_mutex_unlock(&clock->lock);
	if (!is_last && line.boot_ns - clock->kept_ns < KEEP_MS * MS_NS)
		return;
	clock->kept_ns = line.boot_ns;
	write_kept(clock, line);
}
