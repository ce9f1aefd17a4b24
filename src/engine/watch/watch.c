#include "engine/watch/watch_internal.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/mem.h"
#include "base/thread.h"

#include <stdlib.h>

enum { NOTED_ROOM = 32768, HISTORY_MAX = 1000000, HISTORY_AT_ONCE = 5000, PAGE = 1000, EVALUATE_EVERY_MS = 1000,
       LOOK_MAX_MS = 86400000 };

/* --- Feeding, on the writer's thread --- */

/* What is not counted, but changes what alerts are judged by. */
static bool is_judged_by(int kind)
{
	switch (kind) {
	case EVENT_BREAKER_OPENED:
	case EVENT_BREAKER_CLOSED:
	case EVENT_BREAKER_RESET:
	case EVENT_PARKED:
	case EVENT_REDRIVEN:
	case EVENT_REROUTED:
	case EVENT_SHRUNK:
	case EVENT_DISCARDED:
	case EVENT_RESTORED:
	case EVENT_AGENT_DELETED:
		return true;
	default:
		return false;
	}
}

/* In the transaction. */
static void on_event(void *ctx, const struct event_row *event)
{
	struct watch *w = ctx;
	struct event_row *copy;

	if (!stats_counts_kind(event->kind) && !is_judged_by(event->kind))
		return;
	/* Ids grow: what has this one's or a higher one was in a savepoint that was rolled back. */
	while (w->noted_count && w->noted[w->noted_count - 1].event.id >= event->id)
		w->noted_count--;
	if (w->noted_count == w->noted_cap) {
		w->noted_cap = w->noted_cap ? w->noted_cap * 2 : 64;
		w->noted = mem_reallocarray(w->noted, w->noted_cap, sizeof(*w->noted));
	}
	copy = &w->noted[w->noted_count++].event;
	*copy = *event;
	copy->actor = STR_NULL;
	if (event->agent.p)
		copy->agent = arena_str(&w->noted_texts, event->agent);
	copy->note = event->note.p && event->kind == EVENT_ENVELOPE_PACKED ? arena_str(&w->noted_texts, event->note)
									   : STR_NULL;
}

static void forget_noted(struct watch *w)
{
	w->noted_count = 0;
	arena_release(&w->noted_texts);
	arena_init_room(&w->noted_texts, w->noted_room, NOTED_ROOM);
}

static void count_noted(struct watch *w)
{
	int64_t last = 0;

	/* The last savepoint may have been rolled back, too. */
	if (store_event_last(w->conn, 0, &last) != STORE_OK)
		return;
	pthread_mutex_lock(&w->stats_lock);
	for (size_t i = 0; atomic_load(&w->is_loaded) && i < w->noted_count; i++) {
		const struct event_row *event = &w->noted[i].event;

		if (event->id > w->counted_id && event->id <= last) {
			stats_add(w->stats, event, false);
			w->counted_id = event->id;
		}
	}
	pthread_mutex_unlock(&w->stats_lock);
}

static void want(struct watch *w)
{
	pthread_mutex_lock(&w->lock);
	if (!w->is_wanted) {
		w->is_wanted = true;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
}

void watch_wake(struct watch *w)
{
	want(w);
}

void watch_rouse(struct watch *w)
{
	if (!atomic_load(&w->is_looking))
		want(w);
}

void watch_forget(struct watch *w, int64_t space)
{
	pthread_mutex_lock(&w->stats_lock);
	stats_forget(w->stats, space);
	pthread_mutex_unlock(&w->stats_lock);
	want(w);
}

void watch_after(struct watch *w, bool committed)
{
	if (w->noted_count && committed) {
		count_noted(w);
		want(w);
	}
	if (w->noted_count)
		forget_noted(w);
}

/* --- The history --- */

static bool is_stopping(struct watch *w)
{
	bool stopping;

	pthread_mutex_lock(&w->lock);
	stopping = w->is_stopping;
	pthread_mutex_unlock(&w->lock);
	return stopping;
}

/* Counts the page behind counted_id; false at the end. The lock is held. */
static bool count_page(struct watch *w, struct store_conn *c, struct event_row *page)
{
	struct arena arena;
	size_t count = 0;

	arena_init(&arena);
	if (store_events(c, 0, 0, w->counted_id, PAGE, &arena, page, &count) != STORE_OK) {
		log_write(w->engine->log, LOG_ERROR, "the history could not be read: the figures begin now",
			  LOG_STR("error", store_error(c)));
		count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		stats_add(w->stats, &page[i], page[i].id <= w->start_id);
		w->counted_id = page[i].id;
	}
	arena_release(&arena);
	return count == PAGE;
}

/* Where the events of the last day begin. */
static void find_history(struct watch *w, struct store_conn *c)
{
	int64_t from = 0;

	if (store_event_before(c, 0, engine_now_ms(w->engine) - STATS_DAY_MS, &from) != STORE_OK)
		from = w->start_id;
	w->counted_id = from > w->start_id - HISTORY_MAX ? from : w->start_id - HISTORY_MAX;
}

/* The events from there on; then, without a gap, what came meanwhile, and the writer's thread goes on from there. */
static void load(struct watch *w, struct store_conn *c)
{
	struct event_row *page = mem_calloc(PAGE, sizeof(*page));
	bool more = true;

	while (more && !is_stopping(w)) {
		pthread_mutex_lock(&w->stats_lock);
		more = count_page(w, c, page);
		/* The last page was read under the lock: what is committed from here on, the writer's thread counts. */
		if (!more)
			atomic_store(&w->is_loaded, true);
		pthread_mutex_unlock(&w->stats_lock);
	}
	free(page);
}

/* --- The own thread --- */

static int64_t after_ms(int64_t ms)
{
	return clock_mono_ns() + ms * 1000000;
}

/* Rests for a while, whatever happens but the end. */
static void rest(struct watch *w)
{
	int64_t until_ns = after_ms(EVALUATE_EVERY_MS);

	pthread_mutex_lock(&w->lock);
	while (!w->is_stopping && cond_wait_until(&w->wake, &w->lock, until_ns))
		;
	pthread_mutex_unlock(&w->lock);
}

/* Waits until something happens, at most until it is look_ms (0: for ever); while figures change by time alone it does
 * not wait. False at the end. */
static bool wait_for_reason(struct watch *w, bool time_matters, int64_t look_ms)
{
	int64_t wait_ms = look_ms - engine_now_ms(w->engine);
	int64_t until_ns = after_ms(wait_ms < 0 ? 0 : wait_ms < LOOK_MAX_MS ? wait_ms : LOOK_MAX_MS);
	bool go_on;

	pthread_mutex_lock(&w->lock);
	while (!w->is_stopping && !w->is_wanted && !time_matters)
		if (look_ms)
			time_matters = !cond_wait_until(&w->wake, &w->lock, until_ns);
		else
			pthread_cond_wait(&w->wake, &w->lock);
	w->is_wanted = false;
	go_on = !w->is_stopping;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

/* The window still holds something, so that its figures change although nothing happens. */
static bool does_time_matter(struct watch *w, int64_t now_ms)
{
	int64_t last_ms;

	pthread_mutex_lock(&w->stats_lock);
	last_ms = stats_series_last_ms(stats_of_space(w->stats, 0));
	pthread_mutex_unlock(&w->stats_lock);
	return last_ms > now_ms - stats_window_ms(w->rules.window) - 2 * stats_step_ms(w->rules.window);
}

static void *watch_main(void *arg)
{
	struct watch *w = arg;
	bool time_matters = true;	/* what was firing before the start may be over */
	int64_t look_ms = 0;
	struct buf error;

	buf_init(&error, 4096);
	w->reader = store_open(w->engine->data_dir, STORE_READ, &error);
	if (w->reader == NULL) {
		log_write(w->engine->log, LOG_ERROR, "cannot watch: the store cannot be read",
			  LOG_SLICE("error", buf_str(&error)));
		buf_release(&error);
		return NULL;
	}
	buf_release(&error);
	if (!watch_is_loaded(w))
		load(w, w->reader);
	while (wait_for_reason(w, time_matters, look_ms)) {
		int64_t now_ms = engine_now_ms(w->engine);

		look_ms = watch_evaluate(w, now_ms);
		time_matters = does_time_matter(w, now_ms);
		atomic_store(&w->is_looking, look_ms || time_matters);
		rest(w);
	}
	store_close(w->reader);
	return NULL;
}

/* --- Life --- */

static bool restore_alerts(struct watch *w, struct store_conn *c)
{
	struct alert_row *rows;
	struct arena arena;
	struct str space;
	size_t count = 0;
	enum store_status status;

	arena_init(&arena);
	rows = arena_calloc(&arena, ALERTS_FIRING_MAX, sizeof(*rows));
	status = store_alerts(c, 0, ALERTS_FIRING, 0, ALERTS_FIRING_MAX, &arena, rows, &count);
	for (size_t i = 0; status == STORE_OK && i < count; i++)
		if (store_space_name(c, rows[i].space, &arena, &space) == STORE_OK)
			alerts_restore(w->alerts, &rows[i]);
	for (int severity = 0; severity <= ALERT_CRITICAL; severity++)
		atomic_store(&w->firing[severity], alerts_firing_of(w->alerts, (enum alert_severity)severity));
	arena_release(&arena);
	return status == STORE_OK;
}

struct watch *watch_new(struct engine *e, struct store_conn *c, const struct alert_rules *rules, struct buf *error)
{
	struct watch *w = mem_zalloc(sizeof(*w));

	w->engine = e;
	w->rules = *rules;
	w->conn = c;
	w->noted_room = mem_alloc(NOTED_ROOM);
	arena_init_room(&w->noted_texts, w->noted_room, NOTED_ROOM);
	w->queues = queues_new();
	w->stats = stats_new(e->config.seed + 3);
	w->alerts = alerts_new(&w->rules);
	pthread_mutex_init(&w->stats_lock, NULL);
	pthread_mutex_init(&w->lock, NULL);
	cond_init(&w->wake);
	if (store_event_last(c, 0, &w->start_id) != STORE_OK || !restore_alerts(w, c))
		buf_printf(error, "the store cannot be read: %s", store_error(c));
	if (error->len) {
		watch_free(w);
		return NULL;
	}
	store_event_listen(c, on_event, w);
	find_history(w, c);
	/* A short one takes some milliseconds: then the figures are whole from the first request on. */
	if (w->start_id - w->counted_id <= HISTORY_AT_ONCE)
		load(w, c);
	return w;
}

void watch_start(struct watch *w)
{
	thread_start(&w->thread, watch_main, w);
	w->is_running = true;
}

void watch_stop(struct watch *w)
{
	if (w == NULL || !w->is_running)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_stopping = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->is_running = false;
}

void watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	alerts_free(w->alerts);
	stats_free(w->stats);
	queues_free(w->queues);
	arena_release(&w->noted_texts);
	free(w->noted_room);
	free(w->noted);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	pthread_mutex_destroy(&w->stats_lock);
	free(w);
}

void watch_tell(struct watch *w, void (*fn)(void *ctx), void *ctx)
{
	w->tell = fn;
	w->tell_ctx = ctx;
}

/* --- Asking --- */

struct stats *watch_lock(struct watch *w)
{
	pthread_mutex_lock(&w->stats_lock);
	return w->stats;
}

void watch_unlock(struct watch *w)
{
	pthread_mutex_unlock(&w->stats_lock);
}

bool watch_is_loaded(struct watch *w)
{
	return atomic_load(&w->is_loaded);
}

const struct alert_rules *watch_rules(const struct watch *w)
{
	return &w->rules;
}

struct queues *watch_queues(struct watch *w)
{
	return w->queues;
}

size_t watch_firing(struct watch *w, enum alert_severity severity)
{
	return atomic_load(&w->firing[severity]);
}
