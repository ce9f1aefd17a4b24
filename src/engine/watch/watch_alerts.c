/* Having the figures judged, and what changed written in one transaction and told: to the history, the log and the
 * webhook. */
#include "engine/watch/watch_internal.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

/* --- Writing, on the writer's thread --- */

struct writing {
	struct writer_job job;
	struct watch *w;
	struct arena arena;		/* of one run */
	const struct alert_change *changes;
	struct alert_row *rows;		/* as they were written, one for each change */
	size_t count;
};

/* The row that the change makes, or changes. */
static enum store_status row_of(struct writing *x, struct store_conn *c, const struct alert_change *change,
				int64_t now_ms, struct alert_row *ret)
{
	struct str name = str_of(alert_kind_name(change->kind));
	struct alert_row last;
	enum store_status status;

	if (change->what != ALERT_FIRES)
		return store_alert_get(c, change->id, &x->arena, ret);
	*ret = (struct alert_row){.space = change->space, .name = name, .agent = change->agent, .since_ms = now_ms};
	/* A person who wants to hear nothing of it for a while means this one, too. */
	status = store_alert_last(c, change->space, name, change->agent, &x->arena, &last);
	if (status == STORE_OK && last.silenced_until_ms > now_ms) {
		ret->silenced_until_ms = last.silenced_until_ms;
		ret->silenced_by = last.silenced_by;
		ret->silenced_why = last.silenced_why;
	}
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static enum store_status write_change(struct writing *x, struct store_conn *c, const struct alert_change *change,
				      int64_t now_ms, struct alert_row *row)
{
	struct event_row event = {
		.space = change->space,
		.at_ms = now_ms,
		.kind = change->what == ALERT_RESOLVES ? EVENT_ALERT_RESOLVED : EVENT_ALERT_FIRED,
		.agent = change->agent,
		.value = {change->value, change->threshold},
	};
	enum store_status status = row_of(x, c, change, now_ms, row);

	if (status != STORE_OK)
		return status;
	if (change->what == ALERT_RESOLVES) {
		row->resolved_at_ms = now_ms;
	} else {
		row->severity = change->severity;
		row->value = change->value;
		row->threshold = change->threshold;
		row->summary = change->summary;
	}
	row->is_untold = x->w->tell && row->silenced_until_ms <= now_ms;
	status = store_alert_put(c, row);
	event.note = arena_printf(&x->arena, "al-%lld %.*s (%s): %.*s", (long long)row->id, STR_ARG(row->name),
				  alert_severity_name(row->severity), STR_ARG(row->summary));
	return status == STORE_OK ? store_event_add(c, &event) : status;
}

static enum store_status writing_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct writing *x = (struct writing *)((char *)job - offsetof(struct writing, job));
	enum store_status status = STORE_OK;

	arena_release(&x->arena);
	for (size_t i = 0; status == STORE_OK && i < x->count; i++)
		status = write_change(x, c, &x->changes[i], now_ms, &x->rows[i]);
	return status;
}

static void writing_done(struct writer_job *job, enum store_status status)
{
	struct writing *x = (struct writing *)((char *)job - offsetof(struct writing, job));
	struct watch *w = x->w;

	pthread_mutex_lock(&w->lock);
	w->job_is_done = true;
	w->job_status = status;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

static enum store_status write_and_wait(struct watch *w, struct writing *x)
{
	enum store_status status;

	w->job_is_done = false;
	x->job.run = writing_run;
	x->job.done = writing_done;
	writer_submit_always(w->engine->writer, &x->job);
	pthread_mutex_lock(&w->lock);
	while (!w->job_is_done)
		pthread_cond_wait(&w->wake, &w->lock);
	status = w->job_status;
	pthread_mutex_unlock(&w->lock);
	return status;
}

/* --- Telling --- */

static void say(struct watch *w, const struct alert_change *change, const struct alert_row *row, struct arena *arena)
{
	static const char *const what[] = {
		[ALERT_FIRES] = "alert fired",
		[ALERT_RISES] = "alert is more severe now",
		[ALERT_RESOLVES] = "alert resolved",
	};
	enum log_level level = change->what == ALERT_RESOLVES || row->severity == ALERT_INFO ? LOG_INFO :
			       row->severity == ALERT_WARNING ? LOG_WARN : LOG_ERROR;
	char id[32], value[32], threshold[32];
	struct str space = STR("");

	store_space_name(w->reader, row->space, arena, &space);
	snprintf(id, sizeof(id), "al-%lld", (long long)row->id);
	snprintf(value, sizeof(value), "%.6g", change->value);
	snprintf(threshold, sizeof(threshold), "%.6g", change->threshold);
	log_write(w->engine->log, level, what[change->what], LOG_STR("id", id), LOG_SLICE("alert", row->name),
		  LOG_STR("severity", alert_severity_name(row->severity)), LOG_SLICE("space", space),
		  LOG_SLICE("agent", row->agent.p ? row->agent : STR("")), LOG_STR("value", value),
		  LOG_STR("threshold", threshold), LOG_SLICE("summary", row->summary));
}

static void carry_out(struct watch *w, const struct alert_change *changes, size_t count)
{
	struct writing x = {.w = w, .changes = changes, .count = count};

	arena_init(&x.arena);
	x.rows = mem_calloc(count, sizeof(*x.rows));
	/* Where it could not be written it is found again the next time. */
	if (write_and_wait(w, &x) == STORE_OK) {
		for (size_t i = 0; i < count; i++) {
			alerts_apply(w->alerts, &changes[i], x.rows[i].id);
			say(w, &changes[i], &x.rows[i], &x.arena);
		}
		for (int severity = 0; severity <= ALERT_CRITICAL; severity++)
			atomic_store(&w->firing[severity], alerts_firing_of(w->alerts, (enum alert_severity)severity));
		if (w->tell)
			w->tell(w->tell_ctx);
	}
	arena_release(&x.arena);
	free(x.rows);
}

int64_t watch_evaluate(struct watch *w, int64_t now_ms)
{
	struct watch_subjects subjects = {0};
	struct alert_change *changes;
	struct arena arena;
	int64_t look_ms = 0;
	size_t count;

	arena_init(&arena);
	subjects.arena = &arena;
	if (watch_subjects_read(w, w->reader, 0, now_ms, &subjects, &look_ms)) {
		watch_set_queued(w, &subjects, now_ms);
		count = alerts_evaluate(w->alerts, subjects.list, subjects.count, &arena, &changes);
		if (count)
			carry_out(w, changes, count);
	}
	arena_release(&arena);
	return look_ms;
}
