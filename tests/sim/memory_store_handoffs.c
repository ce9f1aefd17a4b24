/* Handoffs and their results in the engine in memory. */
#include "memory_store_internal.h"

#include "base/mem.h"

#include <assert.h>

static struct kept *new_kept(struct store_conn *c)
{
	if (c->kept_count == c->slab_count * SLAB) {
		c->slabs = mem_reallocarray(c->slabs, c->slab_count + 1, sizeof(*c->slabs));
		c->slabs[c->slab_count++] = mem_calloc(SLAB, sizeof(struct kept));
	}
	c->kept_count++;
	return &c->slabs[(c->kept_count - 1) / SLAB][(c->kept_count - 1) % SLAB];
}

static struct kept_space *space_for(struct store_conn *c, int64_t id, uint64_t envelope)
{
	struct kept_space *space = &c->spaces[id];

	assert(id >= 1 && id < SPACES_MAX);
	if (envelope >= space->envelope_cap) {
		size_t cap = 2 * (size_t)envelope + 256;

		space->envelopes = mem_reallocarray(space->envelopes, cap, sizeof(*space->envelopes));
		memset(space->envelopes + space->envelope_cap, 0,
		       (cap - space->envelope_cap) * sizeof(*space->envelopes));
		space->envelope_cap = cap;
	}
	if (space->count == space->cap) {
		space->cap = 2 * space->cap + 256;
		space->handoffs = mem_reallocarray(space->handoffs, space->cap, sizeof(*space->handoffs));
	}
	return space;
}

static struct kept *find_handoff(struct store_conn *c, int64_t space_id, uint64_t envelope, int64_t target)
{
	struct kept *k = space_for(c, space_id, envelope)->envelopes[envelope];

	while (k && k->row.target != target)
		k = k->next_of_envelope;
	return k;
}

static struct kept *get_handoff(struct store_conn *c, int64_t space, uint64_t num)
{
	return num >= 1 && num <= c->spaces[space].count ? c->spaces[space].handoffs[num - 1] : NULL;
}

enum store_status store_handoff_insert(struct store_conn *c, struct handoff_row *h)
{
	enum store_status status = memory_enter(c, true);
	struct kept_space *space = space_for(c, h->space, h->envelope);
	struct kept *k;

	if (status != STORE_OK)
		return status;
	if (find_handoff(c, h->space, h->envelope, h->target))
		return STORE_EXISTS;
	h->num = space->count + 1;
	k = new_kept(c);
	*k = (struct kept){.row = memory_with_own_texts(c, h), .queue_pos = HEAP_NONE, .due_pos = HEAP_NONE,
			   .next_of_envelope = space->envelopes[h->envelope]};
	space->envelopes[h->envelope] = k;
	space->handoffs[space->count++] = k;
	memory_put_in(c, k);
	memory_note(c, UNDO_INSERT)->kept = k;
	return STORE_OK;
}

enum store_status store_handoff_put(struct store_conn *c, const struct handoff_row *h)
{
	enum store_status status = memory_enter(c, true);
	struct kept *k = get_handoff(c, h->space, h->num);
	struct undo *u;

	if (status != STORE_OK || k == NULL)
		return status != STORE_OK ? status : STORE_NOT_FOUND;
	u = memory_note(c, UNDO_PUT);
	u->kept = k;
	u->row = k->row;
	memory_take_out(c, k);
	k->row = memory_with_own_texts(c, h);
	memory_put_in(c, k);
	return STORE_OK;
}

static enum store_status give(enum store_status status, const struct kept *k, struct handoff_row *ret)
{
	if (status != STORE_OK || k == NULL)
		return status != STORE_OK ? status : STORE_NOT_FOUND;
	*ret = k->row;
	return STORE_OK;
}

enum store_status store_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				    struct handoff_row *ret)
{
	(void)arena;
	return give(memory_enter(c, false), get_handoff(c, space, num), ret);
}

enum store_status store_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
				     struct arena *arena,
				     struct handoff_row *ret)
{
	(void)arena;
	return give(memory_enter(c, false), find_handoff(c, space, envelope, target), ret);
}

enum store_status store_handoff_of_agent(struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent,
					 uint64_t but, uint64_t *ret_num)
{
	struct kept *k = space_for(c, space, envelope)->envelopes[envelope];
	enum store_status status = memory_enter(c, false);

	if (status != STORE_OK)
		return status;
	while (k && (k->row.num == but || (k->row.agent != agent && k->row.target != agent)))
		k = k->next_of_envelope;
	if (k)
		*ret_num = k->row.num;
	return k ? STORE_OK : STORE_NOT_FOUND;
}

enum store_status store_handoff_next(struct store_conn *c, int64_t agent, struct arena *arena, struct handoff_row *ret)
{
	(void)arena;
	return give(memory_enter(c, false), heap_first(&memory_agent_of(c, agent)->queue), ret);
}

/* The first in the agent's queue that is behind h (NULL: all are), and is not due for its sender's sake alone. */
static const struct kept *first_behind(struct store_conn *c, int64_t agent, const struct kept *h)
{
	const struct heap *queue = &memory_agent_of(c, agent)->queue;
	const struct kept *best = NULL;

	for (size_t i = 0; i < queue->len; i++) {
		const struct kept *k = queue->items[i];

		if ((k->row.due_ms != k->row.expires_at_ms || k->row.is_retried) &&
		    (h == NULL || memory_queue_before(h, k)) && (best == NULL || memory_queue_before(k, best)))
			best = k;
	}
	return best;
}

enum store_status store_handoff_put_off(struct store_conn *c, int64_t agent, int64_t now_ms, uint64_t *ret_num)
{
	const struct kept *k = first_behind(c, agent, NULL);
	enum store_status status = memory_enter(c, false);

	if (status != STORE_OK)
		return status;
	if (k == NULL || k->row.due_ms <= now_ms + k->row.ack_timeout_ms)
		return STORE_NOT_FOUND;
	*ret_num = k->row.num;
	return STORE_OK;
}

enum store_status store_handoff_behind(struct store_conn *c, const struct handoff_row *h, struct arena *arena,
				       struct handoff_row *ret)
{
	(void)arena;
	return give(memory_enter(c, false), first_behind(c, h->agent, get_handoff(c, h->space, h->num)), ret);
}

enum store_status store_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret)
{
	const struct kept *first = heap_first(&c->due);

	(void)arena;
	return give(memory_enter(c, false), first && first->row.due_ms <= now_ms ? first : NULL, ret);
}

enum store_status store_handoff_next_due(struct store_conn *c, int64_t *ret_ms)
{
	const struct kept *first = heap_first(&c->due);
	enum store_status status = memory_enter(c, false);

	if (status == STORE_OK)
		*ret_ms = first ? first->row.due_ms : 0;
	return status;
}

/* Delivery asks for the handoffs of an envelope only. */
enum store_status store_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max,
				 struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	enum store_status status = memory_enter(c, false);
	size_t count = 0;

	(void)arena;
	assert(filter->envelope && !filter->states && !filter->agent && !filter->channel && !filter->from.p &&
	       !filter->untold && !filter->newest_first);
	if (status != STORE_OK)
		return status;
	/* The newest is the first of the list: each goes to the front, and what does not fit falls off the end. */
	for (struct kept *k = space_for(c, filter->space, filter->envelope)->envelopes[filter->envelope]; k;
	     k = k->next_of_envelope) {
		if (k->row.num <= after)
			continue;
		count += count < max;
		memmove(ret + 1, ret, (count - 1) * sizeof(*ret));
		ret[0] = k->row;
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status store_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				   const struct result_row *result)
{
	enum store_status status = memory_enter(c, true);
	struct kept *k = get_handoff(c, space, handoff);
	struct undo *u;

	if (status != STORE_OK)
		return status;
	assert(k);
	u = memory_note(c, UNDO_RESULT);
	u->kept = k;
	u->result = k->result;
	u->has_result = k->has_result;
	k->result = *result;
	k->result.result = memory_store_text(c, result->result);
	k->result.gaps = memory_store_text(c, result->gaps);
	k->has_result = true;
	return STORE_OK;
}

enum store_status store_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				   struct result_row *ret)
{
	enum store_status status = memory_enter(c, false);
	const struct kept *k = get_handoff(c, space, handoff);

	(void)arena;
	if (status != STORE_OK || k == NULL || !k->has_result)
		return status != STORE_OK ? status : STORE_NOT_FOUND;
	*ret = k->result;
	return STORE_OK;
}

enum store_status store_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret)
{
	return store_result_get(c, space, handoff, NULL, ret);
}
