/* Events in memory. Ids are dense: one that was pruned leaves its place empty. */
#include "store/ram/ram_internal.h"

#include "base/mem.h"

static struct ram_space *space_of(const struct ram_store *s, int64_t id)
{
	struct ram_space *space = ram_index_at(&s->spaces, id);

	return space && !space->is_purged ? space : NULL;
}

/* The last one given, or the one before the first. */
static int64_t last_number(const struct ram_store *s, int64_t id)
{
	const struct ram_space *space = space_of(s, id);

	if (space && space->last_event)
		return space->last_event;
	for (size_t i = s->event_count; i > 0; i--)
		if (s->events[i - 1].id && s->events[i - 1].space == id)
			return s->events[i - 1].number;
	return space ? space->row.created_at_ms * EVENT_NUMBERS_A_MS : 0;
}

static int64_t next_number(struct ram_store *s, int64_t id)
{
	struct ram_space *space = space_of(s, id);
	int64_t next = last_number(s, id) + 1;

	if (space) {
		ram_save(s, RAM_BYTES, &space->last_event, sizeof(space->last_event));
		space->last_event = next;
	}
	return next;
}

enum store_status ram_event_add(struct store_conn *c, struct event_row *event)
{
	struct ram_store *s = ram_of(c);
	struct event_row *e;

	if (s->event_count == s->event_cap) {
		s->event_cap = 2 * s->event_cap + 1024;
		s->events = mem_reallocarray(s->events, s->event_cap, sizeof(*s->events));
	}
	event->number = next_number(s, event->space);
	ram_save(s, RAM_BYTES, &s->event_count, sizeof(s->event_count));
	e = &s->events[s->event_count++];
	event->id = (int64_t)s->event_count;
	*e = *event;
	e->agent = ram_text(s, event->agent);
	e->actor = ram_text(s, event->actor);
	e->note = ram_text(s, event->note);
	if (c->event_added)
		c->event_added(c->event_ctx, event);
	return STORE_OK;
}

void ram_event_remove(struct ram_store *s, size_t at)
{
	s->events[at].id = 0;
	ram_note(s, RAM_EVENT_REMOVED)->size = at;
}

/* --- Reading --- */

static bool has_bit(uint64_t kinds, int kind)
{
	return kinds >> kind & 1;
}

static bool same(struct str a, struct str b)
{
	return a.p && str_eq(a, b);
}

static bool tells_of_memory(const struct event_filter *f, const struct event_row *e)
{
	double num = (double)f->memory;

	return e->memory == f->memory ||
	       (has_bit(f->range_kinds, e->kind) && e->value[0] <= num && e->value[1] >= num);
}

static bool tells_of_name(const struct event_filter *f, const struct event_row *e)
{
	size_t n = f->name.n;

	return (has_bit(f->agent_kinds, e->kind) && same(e->agent, f->name)) ||
	       (has_bit(f->note_kinds, e->kind) && same(e->note, f->name)) ||
	       (has_bit(f->word_kinds, e->kind) && e->note.p && e->note.n > n && e->note.p[n] == ' ' &&
		str_has_prefix(e->note, f->name));
}

static bool is_wanted(const struct event_filter *f, const struct event_row *e)
{
	if (e->id == 0)
		return false;
	if (f->handoff ? e->space != f->space || e->handoff != f->handoff : f->space && e->space != f->space)
		return false;
	return (f->kinds == 0 || has_bit(f->kinds, e->kind)) && (f->envelope == 0 || e->envelope == f->envelope) &&
	       (f->memory == 0 || tells_of_memory(f, e)) && (f->actor.p == NULL || same(e->actor, f->actor)) &&
	       (f->access_key == 0 || e->access_key == f->access_key) &&
	       (f->name.p == NULL || tells_of_name(f, e));
}

static int64_t place_of(const struct event_row *e, int64_t space)
{
	return space ? e->number : e->id;
}

/* Is it within these places? */
static bool is_between(const struct event_row *e, int64_t space, int64_t after, int64_t until)
{
	return place_of(e, space) > after && place_of(e, space) <= until;
}

enum store_status ram_events_unname(struct store_conn *c, const struct event_filter *filter, int64_t after,
				    int64_t until)
{
	struct ram_store *s = ram_of(c);

	for (size_t i = 0; i < s->event_count; i++) {
		struct event_row *e = &s->events[i];

		if (e->actor.p == NULL || !is_between(e, filter->space, after, until) || !is_wanted(filter, e))
			continue;
		ram_save(s, RAM_EVENT_UNNAMED, e, sizeof(*e))->place = i;
		e->actor = STR_NULL;
	}
	return STORE_OK;
}

/* Of a space all are gone through: its numbers do not say where in the array they are. */
enum store_status ram_event_page(struct store_conn *c, const struct event_filter *filter, int64_t after, int64_t until,
				 size_t max, struct arena *arena, struct event_row *ret, size_t *ret_count)
{
	const struct ram_store *s = ram_of(c);
	int64_t all = (int64_t)s->event_count, begin = filter->space || after < 0 ? 0 : after;
	int64_t end = filter->space || until > all ? all : until;
	size_t count = 0;

	(void)arena;
	for (int64_t i = begin; i < end && count < max; i++) {
		const struct event_row *e = &s->events[filter->newest_first ? end - 1 - (i - begin) : i];

		if (is_between(e, filter->space, after, until) && is_wanted(filter, e))
			ret[count++] = *e;
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_events(struct store_conn *c, int64_t space, uint64_t handoff, int64_t after, size_t max,
			     struct arena *arena, struct event_row *ret, size_t *ret_count)
{
	struct event_filter filter = {.space = space, .handoff = handoff};

	return ram_event_page(c, &filter, after, INT64_MAX, max, arena, ret, ret_count);
}

enum store_status ram_event_last(struct store_conn *c, int64_t space, int64_t *ret)
{
	const struct ram_store *s = ram_of(c);

	*ret = space ? last_number(s, space) : (int64_t)s->event_count;
	return STORE_OK;
}

enum store_status ram_event_count(struct store_conn *c, int64_t space, uint64_t handoff, int64_t *ret)
{
	const struct ram_store *s = ram_of(c);
	int64_t count = 0;

	for (size_t i = 0; handoff && i < s->event_count; i++)
		count += s->events[i].id && s->events[i].space == space && s->events[i].handoff == handoff;
	*ret = count;
	return STORE_OK;
}

/* The first event from that place on; NULL: there is none. */
static const struct event_row *first_from(const struct ram_store *s, int64_t space, int64_t from)
{
	for (size_t i = space ? 0 : (size_t)from - 1; i < s->event_count; i++)
		if (s->events[i].id && (space == 0 || (s->events[i].space == space && s->events[i].number >= from)))
			return &s->events[i];
	return NULL;
}

/* By halving: times grow with the places. Where the clock was set back, it is some moment between. */
enum store_status ram_event_before(struct store_conn *c, int64_t space, int64_t at_ms, int64_t *ret)
{
	const struct ram_store *s = ram_of(c);
	int64_t before = 0, behind = 0;

	ram_event_last(c, space, &behind);
	behind++;
	while (behind - before > 1) {
		int64_t middle = before + (behind - before) / 2;
		const struct event_row *found = first_from(s, space, middle);

		if (found && found->at_ms >= at_ms)
			behind = middle;
		else
			before = found && place_of(found, space) < behind ? place_of(found, space) : middle;
	}
	*ret = before;
	return STORE_OK;
}
