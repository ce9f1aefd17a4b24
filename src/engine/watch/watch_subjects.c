/* What alerts are judged by: figures, breakers and queues, of each agent and each space. */
#include "engine/watch/watch_internal.h"

#include "core/delivery/delivery.h"
#include "engine/damage.h"
#include "engine/quota.h"

#include <string.h>

enum { STUCK_LOOK_MS = 5000 };

static struct alert_subject *add_subject(struct watch_subjects *s, int64_t space, struct str agent)
{
	if (s->count == s->cap) {
		struct alert_subject *more;

		s->cap = s->cap ? s->cap * 2 : 16;
		more = arena_calloc(s->arena, s->cap, sizeof(*more));
		if (s->count)
			memcpy(more, s->list, s->count * sizeof(*more));
		s->list = more;
	}
	s->list[s->count] = (struct alert_subject){.space = space, .agent = agent};
	return &s->list[s->count++];
}

static struct alert_subject *find_subject(struct watch_subjects *s, int64_t space, struct str agent)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].space == space && (s->list[i].agent.p == NULL) == (agent.p == NULL) &&
		    str_eq(s->list[i].agent, agent))
			return &s->list[i];
	return add_subject(s, space, agent);
}

/* Of those that something happened to within a day: what is firing of the others is over, because nothing is known of
 * them any more. Those that were quiet for the window have no figures. */
static void add_figures(struct watch *w, int64_t space, struct watch_subjects *s, int64_t now_ms)
{
	enum stats_window window = w->rules.window;
	struct stats_series *series;
	size_t iterator = 0;

	pthread_mutex_lock(&w->stats_lock);
	while ((series = stats_next(w->stats, &iterator)) != NULL) {
		struct str agent = stats_series_agent(series);
		int64_t of = stats_series_space(series), last_ms = stats_series_last_ms(series);
		struct stats_view *view;
		struct alert_subject *subject;

		if (of <= 0 || (space && of != space) || last_ms <= now_ms - STATS_DAY_MS)
			continue;
		subject = add_subject(s, of, agent.p ? arena_str(s->arena, agent) : STR_NULL);
		if (last_ms <= now_ms - stats_window_ms(window))
			continue;
		view = arena_zalloc(s->arena, 2 * sizeof(*view));
		stats_view(series, window, now_ms, &view[0]);
		subject->view = &view[0];
		if (agent.p == NULL && view[0].counts.packed >= w->rules.min_samples) {
			stats_view(series, STATS_24H, now_ms, &view[1]);
			subject->day = &view[1];
		}
	}
	pthread_mutex_unlock(&w->stats_lock);
}

/* Which space a damaged page is of nobody can tell: it is a matter of all of them, also where nothing happens. */
static void add_damage(struct watch *w, struct store_conn *c, int64_t space, struct watch_subjects *s)
{
	int64_t damaged = (int64_t)damage_count(w->engine->damage);
	enum store_status status = STORE_OK;
	struct space_row row = {.id = 0};
	size_t count = damaged > 0;

	while (count && status == STORE_OK) {
		status = store_spaces(c, row.id, 1, s->arena, &row, &count);
		if (status == STORE_OK && count && (space == 0 || row.id == space))
			find_subject(s, row.id, STR_NULL)->damaged = damaged;
	}
}

static void look_at(int64_t at_ms, int64_t now_ms, int64_t *ret_look_ms)
{
	if (at_ms > now_ms && (*ret_look_ms == 0 || at_ms < *ret_look_ms))
		*ret_look_ms = at_ms;
}

/* Has nobody taken anything of the queue for long? An agent that is seen takes what is there, or is at work. */
static bool judge_queue(struct watch *w, struct store_conn *c, struct watch_subjects *s, const struct queue_row *row,
			int64_t now_ms, struct alert_subject *subject, int64_t *ret_look_ms)
{
	int64_t since_ms = 0;

	subject->queued = row->counts.queued;
	if (row->counts.queued == 0)
		return true;
	/* As long as it is seen there is no need to look into the queue. */
	if (row->target.seen_at_ms > now_ms - w->rules.stuck_ms) {
		look_at(row->target.seen_at_ms + w->rules.stuck_ms, now_ms, ret_look_ms);
		return true;
	}
	if (queues_waiting_since(c, row->agent, s->arena, &since_ms) != STORE_OK)
		return false;
	if (since_ms && row->target.seen_at_ms > since_ms)
		since_ms = row->target.seen_at_ms;
	if (since_ms && now_ms > since_ms)
		subject->untaken_ms = now_ms - since_ms;
	/* That it was taken at last is seen by looking: no event of delivery is noted for it. */
	if (since_ms)
		look_at(subject->untaken_ms < w->rules.stuck_ms ? since_ms + w->rules.stuck_ms
								: now_ms + STUCK_LOOK_MS, now_ms, ret_look_ms);
	return true;
}

static struct alert_subject *find_space(struct watch_subjects *s, int64_t space)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].space == space && s->list[i].agent.p == NULL)
			return &s->list[i];
	return add_subject(s, space, STR_NULL);
}

/* What goes by itself, such as the handoffs of a minute, is looked at again. */
static bool add_quotas(struct watch *w, struct store_conn *c, int64_t space, int64_t now_ms, struct watch_subjects *s,
		       int64_t *ret_look_ms)
{
	struct quota *quota = w->engine->quota;
	int64_t *spaces;
	size_t count = quota_limited(quota, s->arena, &spaces);

	for (size_t i = 0; i < count; i++) {
		struct alert_subject *subject;
		struct quota_state state;

		if (space && spaces[i] != space)
			continue;
		if (quota_read(quota, c, spaces[i], now_ms, s->arena, &state) != STORE_OK)
			return false;
		subject = find_space(s, spaces[i]);
		for (int kind = 0; kind < QUOTA_KINDS; kind++) {
			double share = state.limit[kind] ? (double)state.used[kind] / (double)state.limit[kind] : 0;

			if (share <= subject->quota_share)
				continue;
			subject->quota_share = share;
			subject->quota = quota_name((enum quota_kind)kind);
		}
		look_at(now_ms + STUCK_LOOK_MS, now_ms, ret_look_ms);
	}
	return true;
}

bool watch_subjects_read(struct watch *w, struct store_conn *c, int64_t space, int64_t now_ms,
			 struct watch_subjects *s, int64_t *ret_look_ms)
{
	struct writer_stats writer;
	struct queue_row *rows;
	size_t count;
	bool ok = true;

	add_figures(w, space, s, now_ms);
	/* A list of spaces that is damaged itself is no reason to be silent about the rest. */
	add_damage(w, c, space, s);
	writer_stats(w->engine->writer, &writer);
	if (queues_read(w->queues, c, writer.commits, space, s->arena, &rows, &count, &s->sums, &s->sum_count) !=
	    STORE_OK)
		return false;
	ok = add_quotas(w, c, space, now_ms, s, ret_look_ms);
	for (size_t i = 0; ok && i < count; i++) {
		struct alert_subject *subject = find_subject(s, rows[i].space, rows[i].name);
		enum breaker_state state = breaker_state(&rows[i].target, now_ms);

		subject->failures_in_row = rows[i].target.failures;
		subject->breaker_is_open = state == BREAKER_OPEN;
		subject->breaker_is_half_open = state == BREAKER_HALF_OPEN;
		look_at(rows[i].target.open_until_ms, now_ms, ret_look_ms);
		subject->parked = rows[i].counts.parked;
		ok = judge_queue(w, c, s, &rows[i], now_ms, subject, ret_look_ms);
	}
	return ok;
}

void watch_set_queued(struct watch *w, const struct watch_subjects *s, int64_t now_ms)
{
	pthread_mutex_lock(&w->stats_lock);
	stats_set_queued(w->stats, 0, queues_sum_of(s->sums, s->sum_count, 0).counts.queued, now_ms);
	for (size_t i = 0; i < s->sum_count; i++)
		stats_set_queued(w->stats, s->sums[i].space, s->sums[i].counts.queued, now_ms);
	/* Where nothing is open or parked any more there is no sum. */
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].agent.p == NULL &&
		    queues_sum_of(s->sums, s->sum_count, s->list[i].space).counts.queued == 0)
			stats_set_queued(w->stats, s->list[i].space, 0, now_ms);
	pthread_mutex_unlock(&w->stats_lock);
}

/* --- The figures of now --- */

static const struct alert_subject *subject_of(const struct watch_subjects *s, const struct alert_row *row)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].space == row->space && (s->list[i].agent.p == NULL) == (row->agent.p == NULL) &&
		    str_eq(s->list[i].agent, row->agent))
			return &s->list[i];
	return NULL;
}

void watch_renew(struct watch *w, struct store_conn *c, int64_t space, int64_t now_ms, struct arena *arena,
		 struct alert_row *rows, size_t count)
{
	struct watch_subjects s = {.arena = arena};
	size_t firing = 0;

	for (size_t i = 0; i < count; i++)
		firing += rows[i].resolved_at_ms == 0;
	if (firing == 0 || !watch_subjects_read(w, c, space, now_ms, &s, &(int64_t){0}))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct alert_subject *subject = rows[i].resolved_at_ms ? NULL : subject_of(&s, &rows[i]);
		enum alert_kind kind;

		if (subject && alert_kind_find(rows[i].name, &kind))
			alert_now(&w->rules, kind, subject, arena, &rows[i].value, &rows[i].summary);
	}
}
