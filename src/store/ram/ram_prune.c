/* What retention takes away, and what stays of it, in memory. */
#include "store/ram/ram_internal.h"

/* The next handoff of the envelope from there on; NULL: that was the last. */
static struct ram_handoff *handoff_in(const struct ram_store *s, int64_t space, uint64_t envelope, size_t at)
{
	struct ram_handoff *h = at < s->envelope_handoffs.count ? s->envelope_handoffs.rows[at] : NULL;

	return h && h->row.space == space && h->row.envelope == envelope ? h : NULL;
}

enum store_status ram_envelope_ended(struct store_conn *c, int64_t space, uint64_t num, unsigned states,
				     int64_t before_ms, bool *ret)
{
	const struct ram_store *s = ram_of(c);
	size_t first = ram_handoffs_from(s, space, num), at = first;
	const struct ram_handoff *h;

	while ((h = handoff_in(s, space, num, at)) && states >> h->row.state & 1 && h->row.changed_at_ms < before_ms)
		at++;
	*ret = h == NULL && at > first;
	return STORE_OK;
}

static void leave_envelope(struct ram_store *s, const struct ram_envelope *e)
{
	struct ram_pruned_envelope *left = ram_new(s, sizeof(*left));

	left->key = ram_key(e->row.space, e->row.num);
	left->row = (struct pruned_envelope){
		.num = e->row.num, .parent = e->row.parent, .created_at_ms = e->row.created_at_ms,
	};
	memcpy(left->row.digest, e->row.digest, sizeof(left->row.digest));
	ram_insert(s, &s->pruned_envelopes, left);
}

static void leave_handoff(struct ram_store *s, struct ram_handoff *h)
{
	struct ram_pruned_handoff *left = ram_new(s, sizeof(*left));

	left->key = ram_key(h->row.space, h->row.num);
	left->row = (struct pruned_handoff){
		.num = h->row.num, .envelope = h->row.envelope, .state = h->row.state,
		.created_at_ms = h->row.created_at_ms, .changed_at_ms = h->row.changed_at_ms,
	};
	ram_insert(s, &s->pruned_handoffs, left);
	ram_handoff_remove(s, h);
}

static void remove_receipts(struct ram_store *s, int64_t envelope)
{
	for (size_t i = s->receipts.count; i-- > 0;)
		if (((const struct ram_receipt *)s->receipts.rows[i])->envelope == envelope)
			ram_remove(s, &s->receipts, s->receipts.rows[i]);
	for (size_t i = s->citations.count; i-- > 0;)
		if (((const struct ram_citation *)s->citations.rows[i])->envelope == envelope)
			ram_remove(s, &s->citations, s->citations.rows[i]);
}

static void remove_envelope(struct ram_store *s, struct ram_envelope *e)
{
	ram_remove(s, &s->envelopes, e);
	ram_remove(s, &s->task_envelopes, e);
	ram_save(s, RAM_BYTES, &e->task->row, sizeof(e->task->row));
	if (--e->task->row.envelopes == 0) {
		ram_remove(s, &s->tasks_by_id, e->task);
		ram_remove(s, &s->task_names, e->task);
	}
}

enum store_status ram_envelope_prune(struct store_conn *c, int64_t space_id, uint64_t num, int64_t *ret_handoffs)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_index_at(&s->spaces, space_id);
	struct ram_envelope *e =
		ram_index_find(&s->envelopes, &(struct ram_envelope){.row = {.space = space_id, .num = num}});
	struct ram_handoff *h;
	int64_t count = 0;

	if (e == NULL || space == NULL)
		return STORE_NOT_FOUND;
	leave_envelope(s, e);
	for (; (h = handoff_in(s, space_id, num, ram_handoffs_from(s, space_id, num))); count++)
		leave_handoff(s, h);
	remove_receipts(s, ram_key(space_id, num));
	ram_count_bytes(s, space_id, -(int64_t)e->row.body.n);
	remove_envelope(s, e);
	ram_save(s, RAM_BYTES, &space->row.handoffs_pruned, sizeof(space->row.handoffs_pruned));
	space->row.handoffs_pruned += count;
	*ret_handoffs = count;
	return STORE_OK;
}

enum store_status ram_pruned_envelope(struct store_conn *c, int64_t space, uint64_t num, struct pruned_envelope *ret)
{
	const struct ram_pruned_envelope *left = ram_index_find(
		&ram_of(c)->pruned_envelopes, &(struct ram_pruned_envelope){.key = ram_key(space, num)});

	if (left == NULL)
		return STORE_NOT_FOUND;
	*ret = left->row;
	return STORE_OK;
}

enum store_status ram_pruned_handoff(struct store_conn *c, int64_t space, uint64_t num, struct pruned_handoff *ret)
{
	const struct ram_pruned_handoff *left = ram_index_find(
		&ram_of(c)->pruned_handoffs, &(struct ram_pruned_handoff){.key = ram_key(space, num)});

	if (left == NULL)
		return STORE_NOT_FOUND;
	*ret = left->row;
	return STORE_OK;
}

enum store_status ram_pruned_envelope_put(struct store_conn *c, int64_t space, const struct pruned_envelope *left)
{
	struct ram_store *s = ram_of(c);
	struct ram_pruned_envelope *made;
	struct pruned_envelope there;

	if (ram_envelope_at(s, space, left->num) || ram_pruned_envelope(c, space, left->num, &there) == STORE_OK)
		return STORE_EXISTS;
	made = ram_new(s, sizeof(*made));
	made->key = ram_key(space, left->num);
	made->row = *left;
	ram_insert(s, &s->pruned_envelopes, made);
	return STORE_OK;
}

enum store_status ram_pruned_handoff_put(struct store_conn *c, int64_t space_id, const struct pruned_handoff *left)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_index_at(&s->spaces, space_id);
	struct ram_pruned_handoff *made;
	struct pruned_handoff there;

	if (ram_handoff_at(s, space_id, left->num) || ram_pruned_handoff(c, space_id, left->num, &there) == STORE_OK)
		return STORE_EXISTS;
	made = ram_new(s, sizeof(*made));
	made->key = ram_key(space_id, left->num);
	made->row = *left;
	ram_insert(s, &s->pruned_handoffs, made);
	ram_save(s, RAM_BYTES, &space->row.handoffs_pruned, sizeof(space->row.handoffs_pruned));
	space->row.handoffs_pruned++;
	return STORE_OK;
}

/* --- Results --- */

enum store_status ram_citations(struct store_conn *c, int64_t space, uint64_t envelope, size_t max, uint64_t *ret,
				size_t *ret_count)
{
	const struct ram_index *all = &ram_of(c)->citations;
	struct ram_citation from = {ram_key(space, envelope), 0};
	size_t count = 0;

	for (size_t i = ram_index_from(all, &from); i < all->count && count < max; i++) {
		const struct ram_citation *x = all->rows[i];

		if (x->envelope != from.envelope)
			break;
		ret[count++] = (uint64_t)x->memory & MEMORY_NUM_MAX;
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_cited_by(struct store_conn *c, int64_t space, uint64_t memory, uint64_t but, uint64_t *ret_num)
{
	const struct ram_index *all = &ram_of(c)->citations;

	for (size_t i = 0; i < all->count; i++) {
		const struct ram_citation *x = all->rows[i];

		if (x->memory == ram_key(space, memory) && x->envelope != ram_key(space, but)) {
			*ret_num = (uint64_t)x->envelope & MEMORY_NUM_MAX;
			return STORE_OK;
		}
	}
	return STORE_NOT_FOUND;
}

static struct ram_left *left_of(const struct ram_store *s, int64_t space, uint64_t memory)
{
	return ram_index_find(&s->left_results, &(struct ram_left){ram_key(space, memory)});
}

enum store_status ram_result_leave(struct store_conn *c, int64_t space, uint64_t memory)
{
	struct ram_store *s = ram_of(c);
	struct ram_left *left = left_of(s, space, memory);

	if (left)
		return STORE_OK;
	left = ram_new(s, sizeof(*left));
	left->memory = ram_key(space, memory);
	ram_insert(s, &s->left_results, left);
	return STORE_OK;
}

enum store_status ram_result_left(struct store_conn *c, int64_t space, uint64_t memory)
{
	return left_of(ram_of(c), space, memory) ? STORE_OK : STORE_NOT_FOUND;
}

enum store_status ram_memory_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	struct ram_left *left = left_of(ram_of(c), space, num);

	if (left)
		ram_remove(ram_of(c), &ram_of(c)->left_results, left);
	return ram_memory_forget(c, space, num, now_ms);
}

/* --- Events --- */

/* From *at on. Returns whether it was there. */
static bool remove_event(struct ram_store *s, int64_t space, int64_t number, size_t *at)
{
	for (; *at < s->event_count; (*at)++)
		if (s->events[*at].id && s->events[*at].space == space && s->events[*at].number == number) {
			ram_event_remove(s, *at);
			return true;
		}
	return false;
}

enum store_status ram_events_prune(struct store_conn *c, int64_t space_id, const int64_t *numbers, size_t count)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_index_at(&s->spaces, space_id);
	size_t at = 0;

	if (space == NULL)
		return STORE_NOT_FOUND;
	if (count && numbers[count - 1] > space->row.events_pruned) {
		ram_save(s, RAM_BYTES, &space->row.events_pruned, sizeof(space->row.events_pruned));
		space->row.events_pruned = numbers[count - 1];
	}
	for (size_t i = 0; i < count; i++)
		if (!remove_event(s, space_id, numbers[i], &at))
			return STORE_NOT_FOUND;
	return STORE_OK;
}

enum store_status ram_give_back(struct store_conn *c, int64_t *ret_bytes)
{
	(void)c;
	*ret_bytes = 0;
	return STORE_OK;
}
