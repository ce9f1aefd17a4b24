/* Lists of tasks in memory. */
#include "store/ram/ram_internal.h"

#include "store/task_work.h"
#include "store/text_holds.h"

#include <stdlib.h>

enum store_status ram_tasks(struct store_conn *c, int64_t space, int64_t before, size_t max, struct arena *arena,
			    struct task_row *ret, size_t *ret_count)
{
	const struct ram_index *tasks = &ram_of(c)->tasks_by_id;
	struct ram_task end = {.row.id = before ? before : ram_key(space + 1, 0)};
	size_t count = 0;

	(void)arena;
	for (size_t i = ram_index_from(tasks, &end); i-- > 0 && count < max;) {
		const struct ram_task *task = tasks->rows[i];

		if (task->row.id <= ram_key(space, 0))
			break;
		ret[count++] = task->row;
	}
	*ret_count = count;
	return STORE_OK;
}

static struct ram_task *task_at(const struct ram_store *s, int64_t id)
{
	return ram_index_find(&s->tasks_by_id, &(struct ram_task){.row.id = id});
}

enum store_status ram_task_get(struct store_conn *c, int64_t id, struct arena *arena, struct task_row *ret)
{
	const struct ram_task *task = task_at(ram_of(c), id);

	(void)arena;
	if (task == NULL)
		return STORE_NOT_FOUND;
	*ret = task->row;
	return STORE_OK;
}

/* --- Its handoffs --- */

/* Goes through the handoffs of a task. */
struct walk {
	const struct ram_store *s;
	struct ram_task *task;
	size_t envelope;		/* the next in the order of tasks */
	size_t handoff;			/* the next in the order of envelopes */
	const struct ram_envelope *of;	/* whose handoffs are given; NULL: the next one's */
};

static struct walk walk_of(const struct ram_store *s, int64_t id)
{
	struct ram_task *task = task_at(s, id);
	struct ram_envelope first = {.task = task, .row = {.space = INT64_MIN}};

	return (struct walk){.s = s, .task = task,
			     .envelope = task ? ram_index_from(&s->task_envelopes, &first) : s->task_envelopes.count};
}

static const struct ram_envelope *next_envelope(struct walk *w)
{
	const struct ram_envelope *e =
		w->envelope < w->s->task_envelopes.count ? w->s->task_envelopes.rows[w->envelope] : NULL;

	if (e == NULL || e->task != w->task)
		return NULL;
	w->envelope++;
	return e;
}

static const struct ram_handoff *next_handoff(struct walk *w)
{
	const struct ram_index *handoffs = &w->s->envelope_handoffs;

	for (;;) {
		const struct ram_handoff *h = w->of && w->handoff < handoffs->count ? handoffs->rows[w->handoff] : NULL;

		if (h && h->row.space == w->of->row.space && h->row.envelope == w->of->row.num) {
			w->handoff++;
			return h;
		}
		w->of = next_envelope(w);
		if (w->of == NULL)
			return NULL;
		w->handoff = ram_index_from(handoffs, &(struct ram_handoff){
			.row = {.space = w->of->row.space, .envelope = w->of->row.num, .target = INT64_MIN}});
	}
}

enum store_status ram_task_work(struct store_conn *c, int64_t id, struct arena *arena, struct task_work *ret)
{
	struct walk w = walk_of(ram_of(c), id);
	const struct ram_handoff *h;

	(void)arena;
	*ret = (struct task_work){0};
	while ((h = next_handoff(&w)))
		if (task_work_add(ret, h->row.num, h->row.agent, h->row.state, h->row.changed_at_ms))
			ret->agent_name = h->row.agent_name;
	return STORE_OK;
}

/* --- By their newest change --- */

static bool is_listed(const struct task_place *list, size_t count, int64_t id)
{
	for (size_t i = count; i > 0; i--)
		if (list[i - 1].id == id)
			return true;
	return false;
}

static bool is_newest(const struct ram_store *s, int64_t space, int64_t task, int64_t before)
{
	for (size_t i = s->event_count; i > 0; i--) {
		const struct event_row *e = &s->events[i - 1];
		bool is_later = e->space == space && e->number >= before;
		const struct ram_handoff *h = is_later ? ram_handoff_at(s, space, e->handoff) : NULL;
		const struct ram_envelope *of = h ? ram_envelope_at(s, space, h->row.envelope) : NULL;

		if (of && of->task->row.id == task)
			return false;
	}
	return true;
}

static bool is_newest_unsent(const struct ram_store *s, const struct ram_envelope *e)
{
	struct walk handoffs = walk_of(s, e->task->row.id), envelopes = handoffs;
	const struct ram_envelope *last = NULL, *next;

	while ((next = next_envelope(&envelopes)))
		last = next;
	return last == e && next_handoff(&handoffs) == NULL;
}

enum store_status ram_task_is_quiet(struct store_conn *c, int64_t space, int64_t id, int64_t since, int64_t until_ms,
				    bool *ret)
{
	const struct ram_store *s = ram_of(c);
	struct walk handoffs = walk_of(s, id), envelopes = handoffs;
	const struct ram_envelope *last = NULL, *next;

	while ((next = next_envelope(&envelopes)))
		last = next;
	if (last == NULL)
		return STORE_NOT_FOUND;
	*ret = is_newest(s, space, id, since + 1) &&
	       (next_handoff(&handoffs) || last->row.created_at_ms <= until_ms);
	return STORE_OK;
}

enum store_status ram_tasks_changed(struct store_conn *c, int64_t space, int64_t before, int64_t after, size_t max,
				    struct task_place *ret, size_t *ret_count)
{
	const struct ram_store *s = ram_of(c);
	size_t count = 0;

	for (size_t i = s->event_count; i > 0 && count < max; i--) {
		const struct event_row *e = &s->events[i - 1];
		bool is_between = e->space == space && e->number > after && (before == 0 || e->number < before);
		const struct ram_envelope *of = NULL;

		if (is_between && e->envelope && (e->handoff || e->kind == EVENT_ROW_PACKED))
			of = ram_envelope_at(s, space, e->envelope);
		if (of == NULL || is_listed(ret, count, of->task->row.id))
			continue;
		if (e->handoff ? before == 0 || is_newest(s, space, of->task->row.id, before) : is_newest_unsent(s, of))
			ret[count++] = (struct task_place){of->task->row.id, e->number};
	}
	*ret_count = count;
	return STORE_OK;
}

/* --- By what they wait for, and by their words --- */

/* The bits of enum task_state that the handoff alone stands for. */
static unsigned states_of(const struct ram_store *s, const struct handoff_row *h)
{
	const struct ram_agent *a = ram_agent_at(s, h->agent);

	switch (h->state) {
	case HANDOFF_PARKED:
		return 1u << TASK_PARKED;
	case HANDOFF_LEASED:
	case HANDOFF_WORKING:
		return 1u << TASK_WORKING;
	case HANDOFF_QUEUED:
		return 1u << TASK_WAITING | (a && a->target.open_until_ms && !h->passes ? 1u << TASK_HELD : 0);
	case HANDOFF_DELAYED:
		return 1u << TASK_WAITING;
	default:
		return 0;
	}
}

static bool comes_before(struct task_place a, struct task_place b)
{
	return a.at != b.at ? a.at > b.at : a.id > b.id;
}

enum store_status ram_tasks_open(struct store_conn *c, int64_t space, unsigned states, int64_t agent,
				 const struct task_place *behind, size_t max, struct task_place *ret,
				 size_t *ret_count)
{
	const struct ram_store *s = ram_of(c);
	size_t count = 0;

	for (size_t i = 0; i < s->tasks_by_id.count; i++) {
		const struct ram_task *task = s->tasks_by_id.rows[i];
		struct walk w = walk_of(s, task->row.id);
		struct task_place place = {task->row.id, INT64_MIN};
		const struct ram_handoff *h;
		size_t to;

		if (task->space != space)
			continue;
		while ((h = next_handoff(&w)))
			if ((states_of(s, &h->row) & states) && (agent == 0 || h->row.agent == agent) &&
			    h->row.changed_at_ms > place.at)
				place.at = h->row.changed_at_ms;
		if (place.at == INT64_MIN || (behind && !comes_before(*behind, place)))
			continue;
		for (to = count; to > 0 && comes_before(place, ret[to - 1]); to--)
			;
		if (to == max)
			continue;
		count += count < max;
		memmove(ret + to + 1, ret + to, (count - to - 1) * sizeof(*ret));
		ret[to] = place;
	}
	*ret_count = count;
	return STORE_OK;
}

static int64_t changed_at(const struct ram_store *s, const struct ram_task *task)
{
	struct walk w = walk_of(s, task->row.id);
	const struct ram_handoff *h;
	int64_t at_ms = INT64_MIN;

	while ((h = next_handoff(&w)))
		at_ms = h->row.changed_at_ms > at_ms ? h->row.changed_at_ms : at_ms;
	return at_ms == INT64_MIN ? task->row.created_at_ms : at_ms;
}

enum store_status ram_tasks_matching(struct store_conn *c, int64_t space, struct str text, size_t look, size_t max,
				     struct task_place *ret, size_t *ret_count, bool *ret_more)
{
	const struct ram_index *tasks = &ram_of(c)->tasks_by_id;
	size_t count = 0, looked = 0;

	*ret_more = false;
	for (size_t i = tasks->count; i-- > 0 && !*ret_more;) {
		const struct ram_task *task = tasks->rows[i];

		if (task->space != space)
			continue;
		*ret_more = looked++ == look || count == max;
		if (!*ret_more && (text_holds(task->row.name, text) || text_holds(task->row.intent, text) ||
				   text_holds(task->row.summary, text)))
			ret[count++] = (struct task_place){task->row.id, changed_at(ram_of(c), task)};
	}
	*ret_count = count;
	return STORE_OK;
}
