/* Followers: those who tell others what has been committed.
 *
 * Nobody hands a follower what it has to tell. It is woken after a commit, and reads from the store what lies behind
 * its cursor. So nothing of it is in anybody's transaction, and a receiver that is slow or gone costs no memory.
 *
 *     follower        cursor: what was told already          after a restart
 *     webhook.c       the queue: what is told is leased      goes on: leases are in the store
 *     alert_post.c    alert_row.is_untold                    goes on: it is in the row
 *     exporter.c      the id of an event, in memory          begins with what happens then; see README.md
 *
 * All followers share one thread, one poster and one connection for reading. A follower never blocks the thread: it
 * posts, or sends an errand to the writer, and is called again when that has come back.
 *
 * LIFE. Made (follower_init), before the thread runs. Told to stop (follower_stop); it ends by itself what is under
 * way, and says that it is done. follower_wait returns then, and it may be freed.
 */
#ifndef SPINE_OUTBOUND_FOLLOWER_H
#define SPINE_OUTBOUND_FOLLOWER_H

#include "base/list.h"
#include "outbound/poster.h"
#include "engine/writer.h"

#include <pthread.h>
#include <stdatomic.h>

struct followers;

/* What look() returns instead of a time. */
#define FOLLOWER_WHEN_WOKEN INT64_MAX		/* there is nothing to do before a wake-up */
#define FOLLOWER_BUSY (INT64_MAX - 1)		/* nor before a post or an errand of its own has come back */
#define FOLLOWER_DONE INT64_C(-1)		/* it was told to stop, and nothing of it is under way */

struct follower {
	struct followers *of;
	/* On the thread: tells what is to be told, and returns until when it sleeps (of clock_mono_ns). It sleeps
	 * through wake-ups: they count afterwards, and cost next to nothing. */
	int64_t (*look)(struct follower *f, int64_t now_ns);
	atomic_bool is_stopping;
	/* follower.c's own. */
	atomic_bool is_woken;
	atomic_bool is_roused;
	int64_t sleeps_until_ns;
	struct list link;
	bool is_done;
};

/* Borrowed by all of its followers. */
struct followers {
	struct poster *poster;
	struct store_conn *reader;	/* the thread's; before it runs, its maker's */
	struct writer *writer;		/* from followers_start on */
	/* follower.c's own. */
	pthread_t thread;
	bool is_running;
	atomic_bool is_stopping;
	struct list all;
	pthread_mutex_t lock;		/* guards what follows, and is_done of each */
	pthread_cond_t done;
	struct list back;		/* errands that the writer has done */
};

/* For ca_file see poster_new. Returns owned; NULL with a sentence where the store cannot be read. */
struct followers *followers_new(const char *data_dir, const char *ca_file, struct buf *error);
/* All followers look for the first time. The writer is borrowed; it must run while errands are under way. */
void followers_start(struct followers *s, struct writer *writer);
/* All followers have stopped. NULL-safe. */
void followers_free(struct followers *s);

/* Before the thread runs. */
void follower_init(struct follower *f, struct followers *of, int64_t (*look)(struct follower *f, int64_t now_ns));
/* There may be something new. Any thread. */
void follower_wake(struct follower *f);
/* Calls look() in any case: something of its own has happened. Any thread. */
void follower_rouse(struct follower *f);
/* It tells no more than it must. Any thread; does not wait. */
void follower_stop(struct follower *f);
/* Until it is done. */
void follower_wait(struct follower *f);

/* How long to wait after another failure in a row: a second, then twice as long each time, up to max_ms. last_ms: how
 * long it was the last time; 0: this failure is the first. */
int64_t follower_backoff_ms(int64_t last_ms, int64_t max_ms);

/* A job of the writer's that comes back to its follower. */
struct errand {
	struct writer_job job;
	struct follower *from;
	enum store_status status;
	struct arena scratch;			/* of one run; whoever gets it back releases it */
	void (*committed)(struct errand *e);	/* on the writer's thread; may be NULL */
	void (*back)(struct errand *e);		/* on the followers' thread; may free it */
	struct list link;
};

/* Borrowed until it is back. The rest of *e may be set before. */
void errand_send(struct errand *e, struct follower *from,
		 enum store_status (*run)(struct writer_job *job, struct store_conn *c, int64_t now_ms),
		 void (*back)(struct errand *e));

#endif
