/* The database's time, which all nodes of a cluster go by: deadlines are rows, and any node may carry them out.
 *
 * Each answer of the database to a renewal says what time it was there, at some moment between the question and the
 * answer. In between the machine's own clock goes on. The doubt is half of the way there and back, and a thousandth of
 * the time since. Time never goes back: where the database's does, it stands still until that has caught up.
 */
#ifndef SPINE_SERVE_DB_CLOCK_H
#define SPINE_SERVE_DB_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Beyond it a node owns nothing. */
enum { DB_CLOCK_DOUBT_MAX_MS = 1000 };

struct db_clock {
	pthread_mutex_t lock;		/* guards all of it */
	bool is_set;
	int64_t offset_ns;		/* so much the database is ahead of CLOCK_BOOTTIME */
	int64_t half_ns;		/* the doubt of the answer that says so, */
	int64_t at_ns;			/* which came then */
	int64_t last_ns;		/* the newest time that was told */
};

void db_clock_init(struct db_clock *c);
void db_clock_destroy(struct db_clock *c);
/* The database said that time; CLOCK_BOOTTIME before it was asked and after it had answered. */
void db_clock_sample(struct db_clock *c, int64_t asked_ns, int64_t answered_ns, int64_t db_ms);
/* How far off it may be at that time. */
int64_t db_clock_doubt_ms(struct db_clock *c, int64_t now_ns);
/* Nobody goes by it just now: it may go back. */
void db_clock_restart(struct db_clock *c);

/* With ctx a struct db_clock; any thread, after the first sample. */
int64_t db_clock_now_ms(void *ctx);
/* So much it is ahead of the machine's wall clock. */
int64_t db_clock_offset_ms(void *ctx);

#endif
