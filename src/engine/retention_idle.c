/* Spaces in which nothing was written for as long as they are kept.
 *
 * Every write leaves an event, so the newest one says since when a space is idle. To find it would mean to go back
 * through all events of all spaces: they have no index by space, which every write would pay for. Instead they are
 * noted once, in their order: all of them after the start, and from then on what has come since the last sweep. The
 * newest event of a space that may be idle is kept longer than others, so that it is there after a restart, too. What
 * retention itself tells does not count.
 */
#include "engine/retention_internal.h"

#include "base/clock.h"
#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/waiting.h"

#include <stdio.h>

/* EVENTS: so many are noted in a step, as many as are looked at in one that prunes them. GRACE_MS: after a start, those
 * who wait in a space have so long to come back; twice the longest time that a call waits. (Where a space is kept for a
 * shorter time, GRACE_PART of that.) */
enum { EVENTS = 256, NOTE_MAX = 256, GRACE_MS = 2 * 60 * 1000, GRACE_PART = 10 };

static bool is_write(const struct event_row *event)
{
	return event->kind != EVENT_SPACE_PRUNED;
}

bool retention_is_newest(const struct kept_space *space, const struct event_row *event)
{
	return space->idle_ms > 0 && is_write(event) && event->id >= space->written_id;
}

/* --- Noting --- */

/* What was kept only because it was the newest goes now, unless somebody needs it again. */
static enum store_status let_go(struct retention *r, struct store_conn *c, struct kept_space *space)
{
	struct event_row event;
	bool needed = false;
	size_t count = 0;
	enum store_status status = store_events(c, 0, 0, space->held - 1, 1, &r->arena, &event, &count);

	if (status == STORE_OK && count && event.id == space->held) {
		status = retention_is_needed(r, c, space->id, event.handoff, &needed);
		if (status == STORE_OK && !needed) {
			status = store_events_prune(c, space->id, &event.number, 1);
			space->events_gone++;
		}
	}
	space->held = 0;
	return status;
}

static enum store_status note(struct retention *r, struct store_conn *c, const struct event_row *event)
{
	struct kept_space *space = retention_space(r, event->space);

	if (space == NULL || space->idle_ms == 0 || !is_write(event))
		return STORE_OK;
	space->written_id = event->id;
	space->written_ms = event->at_ms;
	return space->held ? let_go(r, c, space) : STORE_OK;
}

static enum store_status note_page(struct retention *r, struct store_conn *c, size_t *ret_count)
{
	struct event_row *page = arena_calloc(&r->arena, EVENTS, sizeof(*page));
	enum store_status status = store_events(c, 0, 0, r->noted, EVENTS, &r->arena, page, ret_count);

	for (size_t i = 0; status == STORE_OK && i < *ret_count; i++) {
		r->noted = page[i].id;
		status = note(r, c, &page[i]);
	}
	return status;
}

/* --- Finding --- */

struct open_count {
	int64_t space;
	int64_t count;
};

static void count_open(void *ctx, const struct queue_row *row)
{
	struct open_count *open = ctx;

	if (row->space == open->space)
		open->count += row->counts.queued + row->counts.leased + row->counts.working + row->counts.parked;
}

/* Something in it is not over, or somebody waits for something to begin. Who waits comes again and again, with a moment
 * between: they count as a write. */
static enum store_status is_busy(const struct retention *r, struct store_conn *c, struct kept_space *space, bool *ret)
{
	struct open_count open = {.space = space->id};
	enum store_status status = store_queues(c, count_open, &open);
	bool is_waited = waiting_in_space(r->engine->waiting, space->id);

	if (is_waited)
		space->written_ms = r->now_ms;
	*ret = open.count > 0 || is_waited;
	return status;
}

static bool is_idle(const struct retention *r, const struct kept_space *space)
{
	int64_t grace_ms = space->idle_ms / GRACE_PART < GRACE_MS ? space->idle_ms / GRACE_PART : GRACE_MS;

	return space->idle_ms > 0 && r->now_ms - space->written_ms >= space->idle_ms &&
	       r->now_ms - r->started_ms >= grace_ms;
}

/* One in a step: it is asked about all that is open. */
enum store_status retention_step_idle(struct retention *r, struct store_conn *c, bool *ret_done)
{
	struct sweep *s = &r->sweep;
	size_t count = 0, idle = r->space_count;
	enum store_status status = note_page(r, c, &count);

	*ret_done = false;
	if (status != STORE_OK || count == EVENTS)
		return status;
	for (; idle == r->space_count && s->at < r->space_count; s->at++)
		if (is_idle(r, &r->spaces[s->at]))
			idle = s->at;
	*ret_done = idle == r->space_count;
	r->idle_space = *ret_done ? 0 : r->spaces[idle].id;
	return STORE_OK;
}

/* --- Going --- */

static enum store_status tell(struct retention *r, struct store_conn *c, const struct kept_space *space)
{
	char since[CLOCK_TEXT_SIZE], *note = arena_alloc(&r->arena, NOTE_MAX);
	struct event_row event = {.space = space->id, .at_ms = r->now_ms, .kind = EVENT_SPACE_DELETED};

	clock_format(space->written_ms, since);
	snprintf(note, NOTE_MAX, "nothing was written in it since %s, and it is kept for %lld s without", since,
		 (long long)(space->idle_ms / 1000));
	event.note = str_of(note);
	return store_event_add(c, &event);
}

/* Whoever came in this very transaction has saved it: they were run before. */
enum store_status retention_before_commit(struct retention *r, struct store_conn *c)
{
	struct kept_space *space = r->is_stepping && r->idle_space ? retention_space(r, r->idle_space) : NULL;
	struct space_leaving leaving = {.id = r->idle_space, .keeps_keys = true};
	size_t count = 0;
	enum store_status status;
	bool busy = false;

	if (space == NULL)
		return STORE_OK;
	r->idle_space = 0;
	status = note_page(r, c, &count);
	if (status == STORE_OK)
		status = is_busy(r, c, space, &busy);
	/* With so many events in one transaction those that were not noted may be of the space. */
	if (status != STORE_OK || busy || count == EVENTS || !is_idle(r, space))
		return status;
	status = store_space_name(c, space->id, &r->arena, &leaving.name);
	if (status == STORE_NOT_FOUND)
		return STORE_OK;	/* somebody has deleted it just now */
	if (status == STORE_OK)
		status = space_delete_begin(r->engine, c, &r->arena, &leaving, r->now_ms);
	if (status == STORE_OK)
		status = tell(r, c, space);
	if (status == STORE_OK)
		r->leaving = leaving;
	return status;
}
