#include "store/ram/ram_inspect.h"

#include "store/ram/ram_internal.h"

#include <assert.h>

void ram_mark(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	s->mark_at = s->undo_count;
	s->mark++;
}

bool ram_changed(struct store_conn *c, size_t *at, struct ram_change *ret)
{
	struct ram_store *s = ram_of(c);

	for (size_t i = s->mark_at + *at; i < s->undo_count; i++) {
		const struct ram_undo *u = &s->undo[i];
		struct ram_handoff *h = u->at;

		if ((u->kind != RAM_HANDOFF && u->kind != RAM_HANDOFF_ADDED) || h->mark == s->mark)
			continue;
		h->mark = s->mark;
		ret->before = (struct handoff_row){0};
		if (u->kind == RAM_HANDOFF)
			memcpy(&ret->before, s->saved + u->saved, sizeof(ret->before));
		ret->after = h->row;
		*at = i + 1 - s->mark_at;
		return true;
	}
	return false;
}

bool ram_target_changed(struct store_conn *c, size_t *at, int64_t *ret_agent)
{
	struct ram_store *s = ram_of(c);

	for (size_t i = s->mark_at + *at; i < s->undo_count; i++) {
		const struct ram_undo *u = &s->undo[i];
		struct ram_agent *agent = u->kind == RAM_TARGET ? u->row : NULL;

		if (agent == NULL || agent->mark == s->mark)
			continue;
		agent->mark = s->mark;
		*ret_agent = agent->id;
		*at = i + 1 - s->mark_at;
		return true;
	}
	return false;
}

size_t ram_agent_count(const struct store_conn *c)
{
	return ram_of(c)->agents.count;
}

struct str ram_agent_name(const struct store_conn *c, int64_t agent)
{
	return ram_agent_at(ram_of(c), agent)->row.name;
}

struct target_row ram_target(const struct store_conn *c, int64_t agent)
{
	return ram_agent_at(ram_of(c), agent)->target;
}

int64_t ram_agent_space(const struct store_conn *c, int64_t agent)
{
	return ram_agent_at(ram_of(c), agent)->space;
}

uint64_t ram_handoff_count(const struct store_conn *c, int64_t space)
{
	return ram_last_handoff(ram_of(c), space);
}

static const struct ram_handoff *handoff(const struct store_conn *c, int64_t space, uint64_t num)
{
	const struct ram_handoff *h = ram_handoff_at(ram_of(c), space, num);

	assert(h);
	return h;
}

const struct handoff_row *ram_handoff(const struct store_conn *c, int64_t space, uint64_t num)
{
	const struct ram_handoff *h = ram_handoff_at(ram_of(c), space, num);

	return h ? &h->row : NULL;
}

bool ram_has_result(const struct store_conn *c, int64_t space, uint64_t num)
{
	return handoff(c, space, num)->has_result;
}

uint64_t ram_result_then(const struct store_conn *c, int64_t space, uint64_t num)
{
	return handoff(c, space, num)->result.then;
}

uint64_t ram_result_memory(const struct store_conn *c, int64_t space, uint64_t num)
{
	return handoff(c, space, num)->result.memory;
}

uint64_t ram_memory_count(const struct store_conn *c, int64_t space)
{
	const struct ram_space *found = ram_index_at(&ram_of(c)->spaces, space);

	return found ? (uint64_t)found->row.memories : 0;
}

size_t ram_event_total(const struct store_conn *c)
{
	return ram_of(c)->event_count;
}

const struct event_row *ram_event(const struct store_conn *c, size_t index)
{
	return &ram_of(c)->events[index];
}

int64_t ram_next_due(const struct store_conn *c)
{
	const struct ram_handoff *first = heap_first(&ram_of(c)->due);
	const struct ram_agent *agent = ram_first_due(ram_of(c));

	if (first == NULL || (agent && agent->target.due_ms < first->row.due_ms))
		return agent ? agent->target.due_ms : 0;
	return first->row.due_ms;
}
