#include "memory_store_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* --- Orders --- */

bool memory_queue_before(const void *a, const void *b)
{
	const struct handoff_row *x = &((const struct kept *)a)->row, *y = &((const struct kept *)b)->row;

	return x->priority != y->priority ? x->priority > y->priority : x->num < y->num;
}

static void queue_set_pos(void *item, size_t pos)
{
	((struct kept *)item)->queue_pos = pos;
}

static bool due_before(const void *a, const void *b)
{
	const struct handoff_row *x = &((const struct kept *)a)->row, *y = &((const struct kept *)b)->row;

	if (x->due_ms != y->due_ms)
		return x->due_ms < y->due_ms;
	return x->space != y->space ? x->space < y->space : x->num < y->num;
}

static void due_set_pos(void *item, size_t pos)
{
	((struct kept *)item)->due_pos = pos;
}

struct kept_agent *memory_agent_of(struct store_conn *c, int64_t id)
{
	assert(id >= 1 && (size_t)id <= c->agent_count);
	return &c->agents[id - 1];
}

void memory_take_out(struct store_conn *c, struct kept *k)
{
	struct kept_agent *agent = memory_agent_of(c, k->row.agent);

	agent->counts[k->row.state]--;
	if (k->row.state == HANDOFF_QUEUED)
		heap_remove(&agent->queue, k->queue_pos);
	if (k->row.due_ms)
		heap_remove(&c->due, k->due_pos);
}

void memory_put_in(struct store_conn *c, struct kept *k)
{
	struct kept_agent *agent = memory_agent_of(c, k->row.agent);

	agent->counts[k->row.state]++;
	if (k->row.state == HANDOFF_QUEUED)
		heap_insert(&agent->queue, k);
	if (k->row.due_ms)
		heap_insert(&c->due, k);
}

/* --- Texts --- */

struct str memory_store_text(struct store_conn *c, struct str s)
{
	size_t at;

	if (s.p == NULL)
		return STR_NULL;
	at = hash_bytes(s.p, s.n, 0) & (TEXTS_MAX - 1);
	while (c->texts[at].p && !str_eq(c->texts[at], s))
		at = (at + 1) & (TEXTS_MAX - 1);
	if (c->texts[at].p == NULL) {
		c->text_count++;
		assert(c->text_count < TEXTS_MAX / 2);
		c->texts[at] = arena_str(&c->text_arena, s);
	}
	return c->texts[at];
}

struct handoff_row memory_with_own_texts(struct store_conn *c, const struct handoff_row *h)
{
	struct handoff_row row = *h;

	row.from = memory_store_text(c, h->from);
	row.channel_name = STR_NULL;
	row.target_name = memory_agent_of(c, h->target)->row.name;
	row.agent_name = memory_agent_of(c, h->agent)->row.name;
	row.receiver = memory_store_text(c, h->receiver);
	row.fallbacks = memory_store_text(c, h->fallbacks);
	row.reason = memory_store_text(c, h->reason);
	row.progress = memory_store_text(c, h->progress);
	return row;
}

/* --- Life --- */

struct store_conn *memory_store_new(void)
{
	struct store_conn *c = mem_zalloc(sizeof(*c));

	heap_init(&c->due, due_before, due_set_pos);
	for (size_t i = 0; i < AGENTS_MAX; i++)
		heap_init(&c->agents[i].queue, memory_queue_before, queue_set_pos);
	arena_init(&c->text_arena);
	return c;
}

void memory_store_clear(struct store_conn *c)
{
	for (size_t i = 0; i < AGENTS_MAX; i++) {
		struct heap queue = c->agents[i].queue;

		queue.len = 0;
		c->agents[i] = (struct kept_agent){.queue = queue};
	}
	for (size_t i = 0; i < SPACES_MAX; i++) {
		c->spaces[i].count = c->spaces[i].memory_count = 0;
		if (c->spaces[i].envelope_cap)
			memset(c->spaces[i].envelopes, 0, c->spaces[i].envelope_cap * sizeof(struct kept *));
	}
	c->agent_count = c->due.len = c->event_count = c->undo_count = c->kept_count = c->text_count = c->mark_at = 0;
	c->mark = 0;
	c->in_transaction = false;
	memset(c->texts, 0, sizeof(c->texts));
	arena_release(&c->text_arena);
	memory_store_heal(c);
}

void memory_store_free(struct store_conn *c)
{
	memory_store_clear(c);
	heap_release(&c->due);
	for (size_t i = 0; i < AGENTS_MAX; i++)
		heap_release(&c->agents[i].queue);
	for (size_t i = 0; i < SPACES_MAX; i++) {
		free(c->spaces[i].handoffs);
		free(c->spaces[i].envelopes);
		free(c->spaces[i].memories);
	}
	for (size_t i = 0; i < c->slab_count; i++)
		free(c->slabs[i]);
	free(c->slabs);
	free(c->events);
	free(c->undo);
	free(c);
}

/* --- Faults --- */

void memory_store_fail(struct store_conn *c, enum store_status status, uint64_t after, uint64_t more)
{
	c->fail_status = status;
	c->fail_after = after;
	c->fail_more = more;
}

void memory_store_fail_commit(struct store_conn *c, bool is_kept)
{
	c->fail_commit = true;
	c->fail_is_kept = is_kept;
}

void memory_store_heal(struct store_conn *c)
{
	c->fail_after = c->fail_more = 0;
	c->fail_commit = c->is_failed = false;
}

/* Does this verb work? */
enum store_status memory_enter(struct store_conn *c, bool writes)
{
	assert(!writes || c->in_transaction);
	if (c->fail_after == 0 || (c->fail_status == STORE_FULL && !writes))
		return STORE_OK;
	if (c->fail_after > 1) {
		c->fail_after--;
		return STORE_OK;
	}
	if (c->fail_more)
		c->fail_more--;
	else
		c->fail_after = 0;
	return c->fail_status;
}

/* --- Transactions --- */

struct undo *memory_note(struct store_conn *c, enum undo_kind kind)
{
	struct undo *u;

	if (c->undo_count == c->undo_cap) {
		c->undo_cap = c->undo_cap ? 2 * c->undo_cap : 256;
		c->undo = mem_reallocarray(c->undo, c->undo_cap, sizeof(*c->undo));
	}
	u = &c->undo[c->undo_count++];
	u->kind = kind;
	u->kept = NULL;
	u->agent = 0;
	return u;
}

static void end_transaction(struct store_conn *c)
{
	c->undo_count = c->mark_at = 0;
	c->in_transaction = false;
}

void store_set_direct(struct store_conn *c, bool is_direct)
{
	(void)c;
	(void)is_direct;
}

bool store_is_failed(const struct store_conn *c)
{
	return c->is_failed;
}

enum store_status store_begin(struct store_conn *c)
{
	assert(!c->in_transaction);
	c->in_transaction = true;
	c->undo_count = c->mark_at = 0;
	c->events_before = c->event_count;
	return STORE_OK;
}

enum store_status store_commit(struct store_conn *c)
{
	assert(c->in_transaction);
	if (c->fail_commit) {
		c->fail_commit = false;
		c->is_failed = true;
		if (c->fail_is_kept)
			end_transaction(c);
		else
			store_rollback(c);
		return STORE_FAILED;
	}
	end_transaction(c);
	return STORE_OK;
}

static void undo_insert(struct store_conn *c, struct kept *k)
{
	struct kept_space *space = &c->spaces[k->row.space];

	memory_take_out(c, k);
	assert(space->handoffs[space->count - 1] == k && space->envelopes[k->row.envelope] == k);
	space->envelopes[k->row.envelope] = k->next_of_envelope;
	space->count--;
	c->kept_count--;
}

static void undo_one(struct store_conn *c, const struct undo *u)
{
	switch (u->kind) {
	case UNDO_INSERT:
		undo_insert(c, u->kept);
		break;
	case UNDO_PUT:
		memory_take_out(c, u->kept);
		u->kept->row = u->row;
		memory_put_in(c, u->kept);
		break;
	case UNDO_RESULT:
		u->kept->result = u->result;
		u->kept->has_result = u->has_result;
		break;
	case UNDO_MEMORY:
		c->spaces[u->agent].memory_count--;
		break;
	case UNDO_AGENT_MADE:
		c->agent_count--;
		break;
	case UNDO_AGENT:
		memory_agent_of(c, u->agent)->row = u->agent_row;
		break;
	case UNDO_TARGET:
		memory_agent_of(c, u->agent)->target = u->target;
		break;
	}
}

void store_rollback(struct store_conn *c)
{
	assert(c->in_transaction);
	while (c->undo_count)
		undo_one(c, &c->undo[--c->undo_count]);
	c->event_count = c->events_before;
	end_transaction(c);
}

/* --- Agents --- */

static int64_t find_agent(const struct store_conn *c, int64_t space, struct str name)
{
	for (size_t i = 0; i < c->agent_count; i++)
		if (c->agents[i].space == space && str_eq(c->agents[i].row.name, name))
			return (int64_t)i + 1;
	return 0;
}

static int64_t make_agent(struct store_conn *c, int64_t space, struct str name, struct str settings, int64_t now_ms)
{
	struct kept_agent *agent = &c->agents[c->agent_count];

	assert(c->agent_count < AGENTS_MAX && agent->queue.len == 0);
	agent->space = space;
	agent->row = (struct agent_row){memory_store_text(c, name), memory_store_text(c, settings), now_ms, now_ms};
	agent->target = (struct target_row){0};
	memset(agent->counts, 0, sizeof(agent->counts));
	agent->mark = 0;
	memory_note(c, UNDO_AGENT_MADE);
	return (int64_t)++c->agent_count;
}

enum store_status store_agent_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				  struct agent_row *ret)
{
	enum store_status status = memory_enter(c, false);
	int64_t id = find_agent(c, space, name);

	(void)arena;
	if (status != STORE_OK || id == 0)
		return status != STORE_OK ? status : STORE_NOT_FOUND;
	*ret = memory_agent_of(c, id)->row;
	return STORE_OK;
}

enum store_status store_agent_put(struct store_conn *c, int64_t space, const struct agent_row *agent)
{
	enum store_status status = memory_enter(c, true);
	int64_t id = find_agent(c, space, agent->name);
	struct undo *u;

	if (status != STORE_OK)
		return status;
	if (id == 0) {
		make_agent(c, space, agent->name, agent->settings, agent->created_at_ms);
		return STORE_OK;
	}
	u = memory_note(c, UNDO_AGENT);
	u->agent = id;
	u->agent_row = memory_agent_of(c, id)->row;
	memory_agent_of(c, id)->row.settings = memory_store_text(c, agent->settings);
	memory_agent_of(c, id)->row.updated_at_ms = agent->updated_at_ms;
	return STORE_OK;
}

enum store_status store_agent_id(struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms,
				 int64_t *ret)
{
	int64_t id = find_agent(c, space, name);
	enum store_status status = memory_enter(c, id == 0 && make);

	if (status != STORE_OK)
		return status;
	if (id == 0 && !make)
		return STORE_NOT_FOUND;
	*ret = id ? id : make_agent(c, space, name, STR("{}"), now_ms);
	return STORE_OK;
}

enum store_status store_target_get(struct store_conn *c, int64_t agent, struct target_row *ret)
{
	enum store_status status = memory_enter(c, false);

	if (status == STORE_OK)
		*ret = memory_agent_of(c, agent)->target;
	return status;
}

enum store_status store_target_put(struct store_conn *c, int64_t agent, const struct target_row *target)
{
	enum store_status status = memory_enter(c, true);
	struct undo *u;

	if (status != STORE_OK)
		return status;
	u = memory_note(c, UNDO_TARGET);
	u->agent = agent;
	u->target = memory_agent_of(c, agent)->target;
	memory_agent_of(c, agent)->target = *target;
	return STORE_OK;
}

enum store_status store_target_busy_until(struct store_conn *c, int64_t agent, int64_t *ret_ms)
{
	enum store_status status = memory_enter(c, false);
	const int64_t *n = memory_agent_of(c, agent)->counts;

	if (status != STORE_OK)
		return status;
	*ret_ms = 0;
	for (size_t i = 0; n[HANDOFF_LEASED] + n[HANDOFF_WORKING] > 0 && i < c->due.len; i++) {
		const struct handoff_row *row = &((const struct kept *)c->due.items[i])->row;

		if (row->agent == agent && (row->state == HANDOFF_LEASED || row->state == HANDOFF_WORKING) &&
		    row->due_ms > *ret_ms)
			*ret_ms = row->due_ms;
	}
	return STORE_OK;
}

enum store_status store_target_counts(struct store_conn *c, int64_t agent, struct target_counts *ret)
{
	enum store_status status = memory_enter(c, false);
	const int64_t *n = memory_agent_of(c, agent)->counts;

	if (status == STORE_OK)
		*ret = (struct target_counts){n[HANDOFF_QUEUED] + n[HANDOFF_DELAYED], n[HANDOFF_LEASED],
					      n[HANDOFF_WORKING],
					      n[HANDOFF_PARKED]};
	return status;
}

/* --- Events --- */

enum store_status store_event_add(struct store_conn *c, struct event_row *event)
{
	enum store_status status = memory_enter(c, true);
	struct event_row *e;

	if (status != STORE_OK)
		return status;
	if (c->event_count == c->event_cap) {
		c->event_cap = 2 * c->event_cap + 1024;
		c->events = mem_reallocarray(c->events, c->event_cap, sizeof(*c->events));
	}
	e = &c->events[c->event_count++];
	event->id = (int64_t)c->event_count;
	*e = *event;
	e->agent = memory_store_text(c, event->agent);
	e->actor = memory_store_text(c, event->actor);
	e->note = memory_store_text(c, event->note);
	return STORE_OK;
}

/* --- What the checker sees --- */

void memory_store_mark(struct store_conn *c)
{
	c->mark_at = c->undo_count;
	c->mark++;
}

bool memory_store_changed(struct store_conn *c, size_t *at, struct memory_change *ret)
{
	for (size_t i = c->mark_at + *at; i < c->undo_count; i++) {
		const struct undo *u = &c->undo[i];

		if ((u->kind != UNDO_PUT && u->kind != UNDO_INSERT) || u->kept->mark == c->mark)
			continue;
		u->kept->mark = c->mark;
		if (u->kind == UNDO_PUT)
			ret->before = u->row;
		else
			ret->before = (struct handoff_row){0};
		ret->after = u->kept->row;
		*at = i + 1 - c->mark_at;
		return true;
	}
	return false;
}

bool memory_store_target_changed(struct store_conn *c, size_t *at, int64_t *ret_agent)
{
	for (size_t i = c->mark_at + *at; i < c->undo_count; i++) {
		const struct undo *u = &c->undo[i];

		if (u->kind != UNDO_TARGET || memory_agent_of(c, u->agent)->mark == c->mark)
			continue;
		memory_agent_of(c, u->agent)->mark = c->mark;
		*ret_agent = u->agent;
		*at = i + 1 - c->mark_at;
		return true;
	}
	return false;
}

size_t memory_store_agents(const struct store_conn *c)
{
	return c->agent_count;
}

struct str memory_store_agent_name(const struct store_conn *c, int64_t agent)
{
	return c->agents[agent - 1].row.name;
}

struct target_row memory_store_target(const struct store_conn *c, int64_t agent)
{
	return c->agents[agent - 1].target;
}

int64_t memory_store_agent_space(const struct store_conn *c, int64_t agent)
{
	return c->agents[agent - 1].space;
}

uint64_t memory_store_handoffs(const struct store_conn *c, int64_t space)
{
	return c->spaces[space].count;
}

const struct handoff_row *memory_store_handoff(const struct store_conn *c, int64_t space, uint64_t num)
{
	assert(num >= 1 && num <= c->spaces[space].count);
	return &c->spaces[space].handoffs[num - 1]->row;
}

bool memory_store_has_result(const struct store_conn *c, int64_t space, uint64_t num)
{
	return c->spaces[space].handoffs[num - 1]->has_result;
}

uint64_t memory_store_result_memory(const struct store_conn *c, int64_t space, uint64_t num)
{
	return c->spaces[space].handoffs[num - 1]->result.memory;
}

uint64_t memory_store_memories(const struct store_conn *c, int64_t space)
{
	return c->spaces[space].memory_count;
}

size_t memory_store_events(const struct store_conn *c)
{
	return c->event_count;
}

const struct event_row *memory_store_event(const struct store_conn *c, size_t index)
{
	return &c->events[index];
}
