#include "engine/retention_internal.h"

#include "base/mem.h"
#include "core/delivery/keeping.h"
#include "core/watch/event.h"
#include "engine/engine.h"

#include <stdlib.h>

/* PURGE_ROWS: rows of a deleted space that go in a step. PAUSE_MS: between steps. Both are from a measurement of how
 * long a store waits meanwhile: bench/results/retention.md. A sweep begins when a tenth of the shortest time has
 * passed, but not more often than each second, and not less often than each minute. */
enum {
	PURGE_ROWS = 256, PAUSE_MS = 5, RETRY_MS = 1000, PAGE = 256,
	SWEEP_MIN_MS = 1000, SWEEP_MAX_MS = 60 * 1000, SWEEP_PARTS = 10,
	/* So much stays free, a part of what is live: pages that are used again need not be made. STUB_BYTES: of what
	 * is left of a pruned handoff, which is not live (bench/results/retention.md). */
	FREE_MIN = 256 << 10, FREE_PART = 16, STUB_BYTES = 110,
};

/* --- The spaces of a sweep --- */

/* What was noted of the space before. Where nothing was, it may have had events that are not kept any more, or that
 * were passed before it was known: these count as if they were of now. */
static void note_before(const struct retention *r, const struct space_row *row, struct kept_space *space)
{
	const struct kept_space *before = retention_space(r, row->id);

	space->written_ms = row->events_pruned || r->noted ? r->now_ms : row->created_at_ms;
	if (before == NULL || before->idle_ms == 0)
		return;
	space->written_id = before->written_id;
	space->written_ms = before->written_ms;
	space->held = before->held;
}

static void add_space(struct retention *r, const struct space_row *row, struct kept_space **list, size_t *count)
{
	const struct space_keep *keep = &r->engine->config.keep;
	struct kept_space space = {
		.id = row->id, .handoffs_ms = keeping_time_ms(row->keep.handoffs_ms, keep->handoffs_ms),
		.events_ms = keeping_time_ms(row->keep.events_ms, keep->events_ms),
		.idle_ms = keeping_idle_ms(row->name, row->keep.idle_ms, keep->idle_ms),
		.events_pruned = row->events_pruned, .handoffs_pruned = row->handoffs_pruned,
	};

	if (space.handoffs_ms == 0 && space.events_ms == 0 && space.idle_ms == 0)
		return;
	note_before(r, row, &space);
	*list = mem_reallocarray(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = space;
}

static enum store_status read_spaces(struct retention *r, struct store_conn *c)
{
	struct space_row *rows = arena_calloc(&r->arena, PAGE, sizeof(*rows));
	struct kept_space *list = NULL;
	enum store_status status = STORE_OK;
	size_t count = PAGE, list_count = 0;
	int64_t after = 0;

	while (status == STORE_OK && count == PAGE) {
		status = store_spaces(c, after, PAGE, &r->arena, rows, &count);
		for (size_t i = 0; status == STORE_OK && i < count; i++) {
			after = rows[i].id;
			add_space(r, &rows[i], &list, &list_count);
		}
	}
	free(r->spaces);
	r->spaces = list;
	r->space_count = list_count;
	return status;
}

static int64_t shorter_ms(int64_t a, int64_t b)
{
	return b > 0 && b < a ? b : a;
}

/* Until the next sweep. A space that is made meanwhile is as the server says. */
static int64_t rest_ms(const struct retention *r)
{
	const struct space_keep *server = &r->engine->config.keep;
	int64_t shortest_ms = shorter_ms(shorter_ms(INT64_MAX, server->events_ms), server->handoffs_ms), rest;

	shortest_ms = shorter_ms(shortest_ms, server->idle_ms);
	for (size_t i = 0; i < r->space_count; i++) {
		shortest_ms = shorter_ms(shorter_ms(shortest_ms, r->spaces[i].handoffs_ms), r->spaces[i].events_ms);
		shortest_ms = shorter_ms(shortest_ms, r->spaces[i].idle_ms);
	}
	rest = shortest_ms / SWEEP_PARTS;
	return rest < SWEEP_MIN_MS ? SWEEP_MIN_MS : rest > SWEEP_MAX_MS ? SWEEP_MAX_MS : rest;
}

/* --- The sweep --- */

static struct sweep_place *place_of(struct sweep *s, int64_t events_ms)
{
	for (size_t i = 0; i < SWEEP_PLACES; i++) {
		if (s->places[i].events_ms == 0)
			s->places[i] = (struct sweep_place){.events_ms = events_ms};
		if (s->places[i].events_ms == events_ms)
			return &s->places[i];
	}
	return NULL;
}

/* A time that an earlier space has, too, was gone through with that one. */
static bool is_first_with_time(const struct retention *r, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (r->spaces[i].events_ms == r->spaces[at].events_ms)
			return false;
	return r->spaces[at].events_ms > 0;
}

/* Turns to the next space that the phase is for; where there is none, to the next phase. */
static void turn_to(struct retention *r, enum sweep_phase phase, size_t at)
{
	struct sweep *s = &r->sweep;
	const struct sweep_place *place;

	while (at < r->space_count && !(phase == SWEEP_HANDOFFS ? r->spaces[at].handoffs_ms > 0 :
								   is_first_with_time(r, at)))
		at++;
	if (at == r->space_count && phase == SWEEP_HANDOFFS) {
		turn_to(r, SWEEP_EVENTS, 0);
		return;
	}
	s->phase = at == r->space_count ? SWEEP_SPACE : phase;
	s->at = at;
	s->after = 0;
	if (s->phase == SWEEP_EVENTS) {
		place = place_of(s, r->spaces[at].events_ms);
		s->events_after = place ? place->after : 0;
	}
}

static enum store_status begin_sweep(struct retention *r, struct store_conn *c)
{
	enum store_status status = read_spaces(r, c);

	for (size_t i = 0; status == STORE_OK && i < r->space_count; i++)
		if (r->spaces[i].idle_ms > 0)
			r->sweep.phase = SWEEP_IDLE;
	r->sweep.at = 0;
	if (status == STORE_OK && r->sweep.phase != SWEEP_IDLE)
		turn_to(r, SWEEP_HANDOFFS, 0);
	return status;
}

/* One event says what a sweep has taken from a space: the handoffs and events that went say it no more. */
static enum store_status tell(struct retention *r, struct store_conn *c)
{
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < r->space_count; i++) {
		const struct kept_space *s = &r->spaces[i];
		struct event_row event = {
			.space = s->id, .at_ms = r->now_ms, .kind = EVENT_SPACE_PRUNED,
			.value = {(double)s->handoffs_gone, (double)s->events_gone},
		};

		/* Where nothing but such events went, there would be no end of it. */
		if (s->handoffs_gone || s->events_gone > 1)
			status = store_event_add(c, &event);
	}
	return status;
}

static int64_t free_to_keep(const struct retention *r, const struct store_info *info)
{
	int64_t live = info->bytes - info->free_bytes, part;

	for (size_t i = 0; i < r->space_count; i++)
		live -= STUB_BYTES * (r->spaces[i].handoffs_pruned + r->spaces[i].handoffs_gone);
	part = live / FREE_PART;
	return part > FREE_MIN ? part : FREE_MIN;
}

/* What others will write soon stays; the rest is given back to the disk. */
static enum store_status step_space(struct retention *r, struct store_conn *c)
{
	struct store_info info = {0};
	int64_t given = 0;
	enum store_status status = store_info(c, &info);

	if (status == STORE_OK && info.free_bytes > free_to_keep(r, &info))
		status = store_give_back(c, &given);
	if (given == 0)
		r->sweep.phase = SWEEP_NONE;
	return status;
}

static enum store_status step_sweep(struct retention *r, struct store_conn *c)
{
	struct sweep *s = &r->sweep;
	struct kept_space *space;
	struct sweep_place *place;
	enum store_status status;
	bool is_done = false;

	if (s->phase == SWEEP_SPACE)
		return step_space(r, c);
	if (s->phase == SWEEP_IDLE) {
		status = retention_step_idle(r, c, &is_done);
		if (status == STORE_OK && is_done)
			turn_to(r, SWEEP_HANDOFFS, 0);
		return status;
	}
	space = &r->spaces[s->at];
	if (s->phase == SWEEP_HANDOFFS)
		status = retention_step_handoffs(r, c, space, &is_done);
	else
		status = retention_step_events(r, c, space->events_ms, &is_done);
	if (status != STORE_OK || !is_done)
		return status;
	place = s->phase == SWEEP_EVENTS ? place_of(s, space->events_ms) : NULL;
	if (place)
		place->after = s->events_after;
	turn_to(r, s->phase, s->at + 1);
	return s->phase == SWEEP_SPACE ? tell(r, c) : STORE_OK;
}

/* --- Spaces that were deleted --- */

static enum store_status step_purge(struct retention *r, struct store_conn *c)
{
	size_t count = 0;
	int64_t space = 0;
	enum store_status status = store_space_removed(c, &space);

	r->has_removed = status == STORE_OK;
	if (status == STORE_OK)
		status = store_space_purge(c, space, PURGE_ROWS, &count);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

/* --- The hooks --- */

static void save(struct retention *r)
{
	r->before = r->sweep;
	r->noted_before = r->noted;
	r->saved = arena_calloc(&r->arena, r->space_count + 1, sizeof(*r->saved));
	if (r->space_count)
		memcpy(r->saved, r->spaces, r->space_count * sizeof(*r->saved));
}

enum store_status retention_begin(struct retention *r, struct store_conn *c, int64_t now_ms)
{
	enum store_status status = STORE_OK;

	r->is_stepping = false;
	if (r->next_ms == 0 || r->next_ms > now_ms)
		return STORE_OK;
	r->is_stepping = true;
	r->now_ms = now_ms;
	r->gone_count = 0;
	r->idle_space = 0;
	r->leaving = (struct space_leaving){0};
	save(r);
	if (r->has_removed)
		status = step_purge(r, c);
	if (status != STORE_OK || r->has_removed)
		return status;
	if (r->sweep.phase == SWEEP_NONE)
		status = begin_sweep(r, c);
	save(r);
	if (status == STORE_OK && r->sweep.phase != SWEEP_NONE)
		status = step_sweep(r, c);
	return status;
}

static int64_t next_step_ms(const struct retention *r)
{
	const struct space_keep *server = &r->engine->config.keep;

	if (r->has_removed || r->sweep.phase != SWEEP_NONE)
		return r->now_ms + PAUSE_MS;
	/* Where the server keeps everything, and no space says otherwise, it has nothing to do. A new space is as the
	 * server says. */
	if (r->space_count == 0 && server->events_ms == 0 && server->handoffs_ms == 0 && server->idle_ms == 0)
		return 0;
	return r->now_ms + rest_ms(r);
}

void retention_after(struct retention *r, bool committed)
{
	if (!r->is_stepping)
		return;
	if (committed) {
		for (size_t i = 0; i < r->gone_count; i++)
			recall_remove(r->engine->recall, r->gone[i].space, r->gone[i].num);
		r->next_ms = next_step_ms(r);
	} else {
		r->sweep = r->before;
		r->noted = r->noted_before;
		if (r->saved && r->space_count)
			memcpy(r->spaces, r->saved, r->space_count * sizeof(*r->saved));
		r->next_ms = r->now_ms + RETRY_MS;
		r->leaving.id = 0;
	}
	r->saved = NULL;
}

void retention_end(struct retention *r)
{
	if (!r->is_stepping)
		return;
	r->is_stepping = false;
	if (r->leaving.id)
		space_delete_end(r->engine, &r->leaving);
	arena_release(&r->arena);
}

int64_t retention_wake_at(const struct retention *r)
{
	return r->next_ms;
}

/* The events are gone through from the start: a space may keep them for a shorter time now. */
void retention_wake(struct retention *r)
{
	r->has_removed = true;
	r->sweep = (struct sweep){0};
	r->next_ms = 1;
}

/* --- Life --- */

struct retention *retention_new(struct engine *e, struct store_conn *c)
{
	struct retention *r = mem_zalloc(sizeof(*r));
	int64_t removed;

	r->engine = e;
	arena_init(&r->arena);
	r->now_ms = r->started_ms = engine_now_ms(e);
	r->has_removed = store_space_removed(c, &removed) == STORE_OK;
	if (read_spaces(r, c) == STORE_OK && (r->has_removed || next_step_ms(r)))
		r->next_ms = 1;
	arena_release(&r->arena);
	return r;
}

void retention_free(struct retention *r)
{
	if (r == NULL)
		return;
	arena_release(&r->arena);
	free(r->spaces);
	free(r->gone);
	free(r);
}

void retention_hold(struct retention *r, struct retention_hold *hold)
{
	hold->next = r->holds;
	r->holds = hold;
}
