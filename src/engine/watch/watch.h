/* Watching delivery: feeds the figures (core/watch/stats.h) with what is committed, and has them judged
 * (core/watch/alerts.h).
 *
 *     writer's thread   events are noted as they are added to the store; after the commit they are counted, before
 * anybody is answered own thread at the start: reads the events of the last 24 hours from the store (a few of them are
 * read before it). Then, after commits and while there is something in the window, but at most once a second:
 * evaluates the alerts, and has what changed written by the writer in one transaction. When nothing happens it sleeps
 * without a timer.
 *
 * While the history is being read, what is committed is not counted by the writer's thread: the reader meets it in the
 * store, and hands over when it has caught up.
 */
#ifndef SPINE_ENGINE_WATCH_H
#define SPINE_ENGINE_WATCH_H

#include "engine/engine.h"
#include "core/watch/alerts.h"

struct watch;

/* c is the writing connection, before the writer runs. Borrows the engine. On failure returns NULL, with a sentence in
 * *error. Returns owned. */
struct watch *watch_new(struct engine *e, struct store_conn *c, const struct alert_rules *rules, struct buf *error);
/* On the writer's thread, after a transaction. */
void watch_after(struct watch *w, bool committed);
/* From any thread: something has changed that alerts are judged by, and that no event tells of. */
void watch_wake(struct watch *w);
/* The same where it does not look by itself soon: for what happens often. */
void watch_rouse(struct watch *w);
/* On the writer's thread, after the commit that removed the space: figures and alerts forget it. */
void watch_forget(struct watch *w, int64_t space);
/* Before watch_start: somebody tells alerts on. Then those that are not silenced are marked as untold in the store, and
 * fn is called when there are some. */
void watch_tell(struct watch *w, void (*fn)(void *ctx), void *ctx);
/* Starts the threads; the writer must run. */
void watch_start(struct watch *w);
/* Ends the threads; the writer must still run. NULL-safe. */
void watch_stop(struct watch *w);
/* After the writer has ended. NULL-safe. */
void watch_free(struct watch *w);

/* The figures, for one thread at a time and not for long: the writer waits for them. */
struct stats *watch_lock(struct watch *w);
void watch_unlock(struct watch *w);
/* The figures hold the history; before they do not. Any thread. */
bool watch_is_loaded(struct watch *w);
/* What alerts are judged by; borrowed. Any thread. */
const struct alert_rules *watch_rules(const struct watch *w);
/* Gives the alerts of a space that are firing the figures and the sentences of now; texts are in the arena. Any thread,
 * with a connection of its own. */
void watch_renew(struct watch *w, struct store_conn *c, int64_t space, int64_t now_ms, struct arena *arena,
		 struct alert_row *rows, size_t count);
/* See queues.h; any thread. */
struct queues *watch_queues(struct watch *w);
/* Alerts that are firing, by severity; any thread. */
size_t watch_firing(struct watch *w, enum alert_severity severity);

#endif
