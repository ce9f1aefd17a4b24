/* Events in memory. Ids are dense: one that was pruned leaves its place empty. */
#include "store/ram/ram_internal.h"

#include "base/mem.h"

enum store_status ram_event_add(struct store_conn *c, struct event_row *event)
{
	struct ram_store *s = ram_of(c);
	struct event_row *e;

	if (s->event_count == s->event_cap) {
		s->event_cap = 2 * s->event_cap + 1024;
		s->events = mem_reallocarray(s->events, s->event_cap, sizeof(*s->events));
	}
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

enum store_status ram_events_unname(struct store_conn *c, const struct event_filter *filter, int64_t after,
				    int64_t until)
{
	struct ram_store *s = ram_of(c);

	for (int64_t i = after < 0 ? 0 : after; i < until && i < (int64_t)s->event_count; i++) {
		struct event_row *e = &s->events[i];

		if ((e->actor.p == NULL && e->access_key == 0) || !is_wanted(filter, e))
			continue;
		ram_save(s, RAM_EVENT_UNNAMED, e, sizeof(*e))->place = (size_t)i;
		e->actor = STR_NULL;
		e->access_key = 0;
	}
	return STORE_OK;
}

enum store_status ram_event_page(struct store_conn *c, const struct event_filter *filter, int64_t after, int64_t until,
				 size_t max, struct arena *arena, struct event_row *ret, size_t *ret_count)
{
	const struct ram_store *s = ram_of(c);
	int64_t end = until < (int64_t)s->event_count ? until : (int64_t)s->event_count;
	int64_t begin = after < 0 ? 0 : after;
	size_t count = 0;

	(void)arena;
	for (int64_t i = begin; i < end && count < max; i++) {
		const struct event_row *e = &s->events[filter->newest_first ? end - 1 - (i - begin) : i];

		if (is_wanted(filter, e))
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

enum store_status ram_event_last(struct store_conn *c, int64_t space, int64_t *ret_id)
{
	const struct ram_store *s = ram_of(c);
	const struct ram_space *of = space ? ram_space_at(s, space) : NULL;
	int64_t id = (int64_t)s->event_count;

	while (space && id > 0 && (s->events[id - 1].id == 0 || s->events[id - 1].space != space))
		id--;
	*ret_id = of && of->row.events_pruned > id ? of->row.events_pruned : id;
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

/* The first event of the space from that id on; NULL: there is none. */
static const struct event_row *first_from(const struct ram_store *s, int64_t space, int64_t from)
{
	for (int64_t i = from > 1 ? from - 1 : 0; i < (int64_t)s->event_count; i++)
		if (s->events[i].id && s->events[i].space == space)
			return &s->events[i];
	return NULL;
}

static const struct event_row *looked_at(const struct ram_store *s, int64_t space, int64_t from)
{
	return space ? first_from(s, space, from) : &s->events[from - 1];
}

/* By halving: times grow with the ids. Where the clock was set back, it is some moment between. */
enum store_status ram_event_before(struct store_conn *c, int64_t space, int64_t at_ms, int64_t *ret_id)
{
	const struct ram_store *s = ram_of(c);
	int64_t before = 0, behind = 0;

	ram_event_last(c, space, &behind);
	behind++;
	while (behind - before > 1) {
		int64_t middle = before + (behind - before) / 2;
		const struct event_row *found = looked_at(s, space, middle);

		if (found && found->at_ms >= at_ms)
			behind = middle;
		else
			before = found && found->id > middle && found->id < behind ? found->id : middle;
	}
	*ret_id = before;
	return STORE_OK;
}
