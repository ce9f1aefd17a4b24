/* What the files of watch share. Nobody else includes this. */
#ifndef SPINE_ENGINE_WATCH_INTERNAL_H
#define SPINE_ENGINE_WATCH_INTERNAL_H

#include "engine/watch/queues.h"
#include "engine/watch/watch.h"

#include <pthread.h>

/* An event that the transaction under way has added. */
struct noted {
	struct event_row event;		/* texts are in the arena */
};

struct watch {
	struct engine *engine;
	struct alert_rules rules;
	struct queues *queues;
	void (*tell)(void *ctx);	/* NULL: nobody tells alerts on */
	void *tell_ctx;
	atomic_size_t firing[ALERT_CRITICAL + 1];
	atomic_bool is_loaded;

	/* The writer's thread's own. */
	struct store_conn *conn;
	struct noted *noted;
	size_t noted_count;
	size_t noted_cap;
	struct arena noted_texts;
	void *noted_room;

	/* The figures, under their lock. */
	pthread_mutex_t stats_lock;
	struct stats *stats;
	int64_t counted_id;		/* of the last event that was counted */
	int64_t start_id;		/* of the last event before the start */

	/* Between the threads, under their lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_wanted;			/* something has happened since the last evaluation */
	atomic_bool is_looking;		/* it looks again by itself */
	bool is_stopping;
	bool job_is_done;
	enum store_status job_status;

	/* The own thread's. */
	pthread_t thread;
	bool is_running;
	struct store_conn *reader;
	struct alerts *alerts;
};

/* watch_subjects.c: everything that alerts are judged by, of a space or of all (0), as it is now. */
struct watch_subjects {
	struct arena *arena;
	struct alert_subject *list;
	size_t count;
	size_t cap;
	struct queues_sum *sums;
	size_t sum_count;
};

/* Any thread, with a connection of its own. *ret_look_ms: when to look again although nothing happens, where that is
 * sooner; 0: not at all. False where the store cannot be read. */
bool watch_subjects_read(struct watch *w, struct store_conn *c, int64_t space, int64_t now_ms,
			 struct watch_subjects *s, int64_t *ret_look_ms);
/* For the plots: how much is queued. */
void watch_set_queued(struct watch *w, const struct watch_subjects *s, int64_t now_ms);

/* watch_alerts.c, on the own thread: judges everything, and has what changed written and told. Returns when to look
 * again although nothing happens; 0: not at all. */
int64_t watch_evaluate(struct watch *w, int64_t now_ms);

#endif
