/* A step of a sweep: some handoffs with what belongs to them, or some events. */
#include "engine/retention_internal.h"

#include "base/mem.h"
#include "core/delivery/keeping.h"
#include "engine/engine.h"
#include "engine/waiting.h"

/* HANDOFFS, EVENTS: so many rows are looked at in a step; see PAUSE_MS. RESULTS: of one envelope, at a time. */
enum { HANDOFFS = 32, EVENTS = 256, RESULTS = 256, OLDER = 16 };

/* --- What was kept of the events of a handoff while it was live --- */

/* Those with numbers up to `until` go. */
static enum store_status prune_older(struct retention *r, struct store_conn *c, struct kept_space *space,
				     uint64_t handoff, int64_t until)
{
	struct event_row *events = arena_calloc(&r->arena, OLDER, sizeof(*events));
	int64_t *numbers = arena_calloc(&r->arena, OLDER, sizeof(*numbers));
	enum store_status status = STORE_OK;
	size_t count, old = OLDER;

	while (status == STORE_OK && old == OLDER) {
		count = old = 0;
		status = store_events(c, space->id, handoff, 0, OLDER, &r->arena, events, &count);
		for (; status == STORE_OK && old < count && events[old].number <= until; old++) {
			if (retention_is_newest(space, &events[old]))
				break;
			numbers[old] = events[old].number;
		}
		if (status == STORE_OK && old)
			status = store_events_prune(c, space->id, numbers, old);
		space->events_gone += (int64_t)old;
	}
	return status;
}

/* --- Results --- */

static void note_gone(struct retention *r, int64_t space, uint64_t num)
{
	if (r->gone_count == r->gone_cap) {
		r->gone_cap = 2 * r->gone_cap + 64;
		r->gone = mem_reallocarray(r->gone, r->gone_cap, sizeof(*r->gone));
	}
	r->gone[r->gone_count++] = (struct gone_memory){space, num};
}

/* The memory of a result whose handoff is gone: it goes, or is left to the envelopes that refer to it. */
static enum store_status settle_result(struct retention *r, struct store_conn *c, int64_t space, uint64_t num)
{
	uint64_t citing;
	struct memory m;
	enum store_status status = store_memory_get(c, space, num, 0, &r->arena, &m);

	if (status != STORE_OK || m.forgotten_at_ms || keeping_result_stays(&m))
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	status = store_cited_by(c, space, num, 0, &citing);
	if (status == STORE_OK)
		return store_result_leave(c, space, num);
	if (status != STORE_NOT_FOUND)
		return status;
	status = store_memory_prune(c, space, num, r->now_ms);
	if (status == STORE_OK)
		note_gone(r, space, num);
	return status;
}

/* The memories that are results of the envelope's handoffs, in the arena. */
static enum store_status read_results(struct retention *r, struct store_conn *c, struct kept_space *space,
				      uint64_t envelope, uint64_t **ret, size_t *ret_count)
{
	struct handoff_filter filter = {.space = space->id, .envelope = envelope};
	struct handoff_row *rows = arena_calloc(&r->arena, RESULTS, sizeof(*rows));
	enum store_status status = STORE_OK;
	size_t count = RESULTS, results = 0;
	uint64_t after = 0, *nums = NULL;

	while (status == STORE_OK && count == RESULTS) {
		uint64_t *more;

		status = store_handoffs(c, &filter, after, RESULTS, &r->arena, rows, &count);
		more = arena_calloc(&r->arena, results + count + 1, sizeof(*more));
		if (nums)
			memcpy(more, nums, results * sizeof(*more));
		nums = more;
		for (size_t i = 0; status == STORE_OK && i < count; i++) {
			struct result_row result;

			after = rows[i].num;
			status = store_result_find(c, space->id, after, &result);
			if (status == STORE_OK && result.memory)
				nums[results++] = result.memory;
			if (status == STORE_OK || status == STORE_NOT_FOUND)
				status = prune_older(r, c, space, after, space->events_pruned);
		}
	}
	*ret = nums;
	*ret_count = results;
	return status;
}

/* --- Handoffs --- */

static enum store_status prune_envelope(struct retention *r, struct store_conn *c, struct kept_space *space,
					uint64_t envelope)
{
	uint64_t *cited = arena_calloc(&r->arena, RESULTS, sizeof(*cited)), *results = NULL;
	size_t cited_count = 0, result_count = 0;
	int64_t handoffs = 0;
	enum store_status status = read_results(r, c, space, envelope, &results, &result_count);

	if (status == STORE_OK)
		status = store_citations(c, space->id, envelope, RESULTS, cited, &cited_count);
	if (status == STORE_OK)
		status = store_envelope_prune(c, space->id, envelope, &handoffs);
	if (status == STORE_OK)
		waiting_end_envelope(r->engine->waiting, space->id, envelope);
	space->handoffs_gone += handoffs;
	for (size_t i = 0; status == STORE_OK && i < result_count; i++)
		status = settle_result(r, c, space->id, results[i]);
	/* What this envelope has held back goes, unless another one does. */
	for (size_t i = 0; status == STORE_OK && i < cited_count; i++) {
		status = store_result_left(c, space->id, cited[i]);
		if (status == STORE_OK)
			status = settle_result(r, c, space->id, cited[i]);
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	return status;
}

enum store_status retention_step_handoffs(struct retention *r, struct store_conn *c, struct kept_space *space,
					  bool *ret_done)
{
	int64_t until_ms = keeping_until_ms(space->handoffs_ms, r->now_ms);
	struct handoff_filter filter = {.space = space->id};
	struct handoff_row *rows = arena_calloc(&r->arena, HANDOFFS, sizeof(*rows));
	size_t count = 0, old = 0;
	enum store_status status = store_handoffs(c, &filter, r->sweep.after, HANDOFFS, &r->arena, rows, &count);

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		bool is_ended = false;

		r->sweep.after = rows[i].num;
		old += rows[i].created_at_ms < until_ms;
		if (keeping_is_live(rows[i].state) || rows[i].changed_at_ms >= until_ms)
			continue;
		status = store_envelope_ended(c, space->id, rows[i].envelope, KEEPING_ENDED, until_ms, &is_ended);
		if (status == STORE_OK && is_ended)
			status = prune_envelope(r, c, space, rows[i].envelope);
	}
	/* Numbers grow with time: those that follow are newer, and cannot have ended before. (One that is too new
	 * may be of a clock that was set back since: a whole step of them is not.) */
	*ret_done = count < HANDOFFS || old == 0;
	return status;
}

/* --- Events --- */

struct kept_space *retention_space(const struct retention *r, int64_t id)
{
	size_t from = 0, to = r->space_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (r->spaces[middle].id == id)
			return &r->spaces[middle];
		if (r->spaces[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

enum store_status retention_is_needed(struct retention *r, struct store_conn *c, int64_t space, uint64_t handoff,
				      bool *ret)
{
	struct handoff_row h;
	enum store_status status;

	*ret = false;
	if (handoff == 0)
		return STORE_OK;
	status = store_handoff_get(c, space, handoff, &r->arena, &h);
	if (status == STORE_OK)
		*ret = keeping_is_live(h.state);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

/* Those of the page that may go, of one space. */
static enum store_status prune_of_space(struct retention *r, struct store_conn *c, struct kept_space *space,
					struct event_row *page, size_t count, int64_t until_ms)
{
	int64_t *numbers = arena_calloc(&r->arena, count, sizeof(*numbers)), first = page[0].number;
	enum store_status status = STORE_OK;
	uint64_t last_handoff = 0;
	size_t old = 0;

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		bool needed = false;

		if (page[i].space != space->id)
			continue;
		page[i].space = 0;	/* it was looked at */
		if (page[i].at_ms >= until_ms)
			continue;
		status = retention_is_needed(r, c, space->id, page[i].handoff, &needed);
		if (status != STORE_OK || needed)
			continue;
		if (retention_is_newest(space, &page[i])) {
			space->held = page[i].id;
			continue;
		}
		numbers[old++] = page[i].number;
		if (page[i].handoff && page[i].handoff != last_handoff)
			status = prune_older(r, c, space, page[i].handoff, first - 1);
		last_handoff = page[i].handoff;
	}
	if (status == STORE_OK && old)
		status = store_events_prune(c, space->id, numbers, old);
	space->events_gone += (int64_t)old;
	return status;
}

/* The last event that may go: the time says so, and those who follow are done with it. */
static enum store_status last_to_go(const struct retention *r, struct store_conn *c, int64_t until_ms, int64_t *ret)
{
	enum store_status status = store_event_before(c, 0, until_ms, ret);

	for (struct retention_hold *h = r->holds; h; h = h->next) {
		int64_t done_with = atomic_load(&h->done_with);

		if (done_with < *ret)
			*ret = done_with;
	}
	return status;
}

enum store_status retention_step_events(struct retention *r, struct store_conn *c, int64_t keep_ms, bool *ret_done)
{
	int64_t until_ms = keeping_until_ms(keep_ms, r->now_ms), last = 0;
	struct event_row *page = arena_calloc(&r->arena, EVENTS, sizeof(*page));
	enum store_status status = last_to_go(r, c, until_ms, &last);
	size_t count = 0, old = 0;

	if (status == STORE_OK)
		status = store_events(c, 0, 0, r->sweep.events_after, EVENTS, &r->arena, page, &count);
	while (old < count && page[old].id <= last)
		old++;
	*ret_done = old < EVENTS;
	if (old)
		r->sweep.events_after = page[old - 1].id;
	for (size_t i = 0; status == STORE_OK && i < old; i++) {
		struct kept_space *space = page[i].space ? retention_space(r, page[i].space) : NULL;

		if (space && space->events_ms == keep_ms)
			status = prune_of_space(r, c, space, page + i, old - i, until_ms);
	}
	return status;
}
