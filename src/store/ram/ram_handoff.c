/* Handoffs, and what came out of them, in memory. */
#include "store/ram/ram_internal.h"

#include "store/text_holds.h"

#include <assert.h>

/* --- Orders --- */

static bool due_before(const void *a, const void *b)
{
	const struct ram_handoff *x = a, *y = b;

	return x->row.due_ms != y->row.due_ms ? x->row.due_ms < y->row.due_ms : ram_compare_handoffs(a, b) < 0;
}

static void due_set_pos(void *item, size_t pos)
{
	((struct ram_handoff *)item)->due_pos = pos;
}

void ram_due_init(struct ram_store *s)
{
	heap_init(&s->due, due_before, due_set_pos);
}

/* The order of its agent that it stands in; NULL: none. */
static struct ram_index *place_of(struct ram_agent *a, enum handoff_state state)
{
	if (state == HANDOFF_QUEUED)
		return &a->queue;
	return state < HANDOFF_ACKED ? &a->flight : NULL;
}

/* Out of the orders that it stands in, and back into those where it belongs. */
static void take_out(struct ram_store *s, struct ram_handoff *h)
{
	struct ram_agent *a = ram_agent_at(s, h->row.agent);
	struct ram_index *place = place_of(a, h->row.state);

	a->counts[h->row.state]--;
	if (place)
		ram_index_remove(place, h);
	if (place == &a->queue && h->row.passes)
		ram_index_remove(&a->passing, h);
	if (h->row.is_outage)
		ram_index_remove(&a->outage, h);
	if (h->row.due_ms > 0)
		heap_remove(&s->due, h->due_pos);
}

static void put_in(struct ram_store *s, struct ram_handoff *h)
{
	struct ram_agent *a = ram_agent_at(s, h->row.agent);
	struct ram_index *place = place_of(a, h->row.state);

	a->counts[h->row.state]++;
	if (place)
		ram_index_add(s, place, h);
	if (place == &a->queue && h->row.passes)
		ram_index_add(s, &a->passing, h);
	if (h->row.is_outage)
		ram_index_add(s, &a->outage, h);
	if (h->row.due_ms > 0)
		heap_insert(&s->due, h);
}

void ram_handoff_restore(struct ram_store *s, struct ram_handoff *h, const struct handoff_row *row)
{
	bool is_rerouted = h->row.target != row->target;

	take_out(s, h);
	if (is_rerouted)
		ram_index_remove(&s->envelope_handoffs, h);
	h->row = *row;
	if (is_rerouted)
		ram_index_add(s, &s->envelope_handoffs, h);
	put_in(s, h);
}

void ram_handoff_withdraw(struct ram_store *s, struct ram_handoff *h)
{
	take_out(s, h);
	ram_index_remove(&s->handoffs, h);
	ram_index_remove(&s->envelope_handoffs, h);
}

void ram_handoff_readmit(struct ram_store *s, struct ram_handoff *h)
{
	ram_index_add(s, &s->handoffs, h);
	ram_index_add(s, &s->envelope_handoffs, h);
	put_in(s, h);
}

void ram_handoff_remove(struct ram_store *s, struct ram_handoff *h)
{
	ram_handoff_withdraw(s, h);
	ram_note(s, RAM_HANDOFF_REMOVED)->at = h;
}

/* --- Writing --- */

struct ram_handoff *ram_handoff_at(const struct ram_store *s, int64_t space, uint64_t num)
{
	return ram_index_find(&s->handoffs, &(struct ram_handoff){.row = {.space = space, .num = num}});
}

uint64_t ram_last_handoff(const struct ram_store *s, int64_t space)
{
	size_t end = ram_index_from(&s->handoffs, &(struct ram_handoff){.row = {.space = space + 1}});
	const struct ram_handoff *h = end ? s->handoffs.rows[end - 1] : NULL;
	struct ram_pruned_handoff above = {.key = ram_key(space + 1, 0)};
	const struct ram_pruned_handoff *pruned;
	uint64_t last = h && h->row.space == space ? h->row.num : 0;

	end = ram_index_from(&s->pruned_handoffs, &above);
	pruned = end ? s->pruned_handoffs.rows[end - 1] : NULL;
	return pruned && pruned->key >> 40 == space && pruned->row.num > last ? pruned->row.num : last;
}

static struct ram_handoff *handoff_of(const struct ram_store *s, int64_t space, uint64_t envelope, int64_t target)
{
	return ram_index_find(&s->envelope_handoffs, &(struct ram_handoff){
		.row = {.space = space, .envelope = envelope, .target = target}});
}

static struct str name_of_agent(const struct ram_store *s, int64_t id)
{
	const struct ram_agent *a = ram_agent_at(s, id);

	return a ? a->row.name : STR_NULL;
}

/* The row with texts that live as long as the store. */
static struct handoff_row with_own_texts(struct ram_store *s, const struct handoff_row *h)
{
	const struct ram_channel *channel = ram_index_at(&s->channels, h->channel);
	struct handoff_row row = *h;

	row.from = ram_text(s, h->from);
	row.channel_name = channel ? channel->row.name : STR_NULL;
	row.target_name = name_of_agent(s, h->target);
	row.agent_name = name_of_agent(s, h->agent);
	row.receiver = ram_text(s, h->receiver);
	row.fallbacks = ram_text(s, h->fallbacks);
	row.reason = ram_text(s, h->reason);
	row.progress = ram_text(s, h->progress);
	row.held_until_ms = 0;
	return row;
}

enum store_status ram_handoff_insert(struct store_conn *c, struct handoff_row *h)
{
	struct ram_store *s = ram_of(c);
	struct ram_handoff *made;
	uint64_t last = ram_last_handoff(s, h->space);

	if (handoff_of(s, h->space, h->envelope, h->target) || last == MEMORY_NUM_MAX)
		return STORE_EXISTS;
	h->num = last + 1;
	h->place = h->place ? h->place : h->num;
	made = ram_new(s, sizeof(*made));
	made->row = with_own_texts(s, h);
	made->due_pos = HEAP_NONE;
	ram_index_add(s, &s->handoffs, made);
	ram_index_add(s, &s->envelope_handoffs, made);
	put_in(s, made);
	ram_note(s, RAM_HANDOFF_ADDED)->at = made;
	return STORE_OK;
}

enum store_status ram_handoff_put(struct store_conn *c, const struct handoff_row *h)
{
	struct ram_store *s = ram_of(c);
	struct ram_handoff *kept = ram_handoff_at(s, h->space, h->num);
	struct handoff_row row;

	if (kept == NULL)
		return STORE_NOT_FOUND;
	row = with_own_texts(s, h);
	row.envelope = kept->row.envelope;
	row.created_at_ms = kept->row.created_at_ms;
	row.from = kept->row.from;
	if (row.target != kept->row.target && handoff_of(s, row.space, row.envelope, row.target))
		return STORE_EXISTS;
	ram_save(s, RAM_HANDOFF, kept, sizeof(kept->row));
	ram_handoff_restore(s, kept, &row);
	return STORE_OK;
}

/* --- Reading --- */

static enum store_status give(const struct ram_handoff *h, struct handoff_row *ret)
{
	if (h == NULL)
		return STORE_NOT_FOUND;
	*ret = h->row;
	return STORE_OK;
}

enum store_status ram_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				  struct handoff_row *ret)
{
	(void)arena;
	return give(ram_handoff_at(ram_of(c), space, num), ret);
}

enum store_status ram_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
				   struct arena *arena, struct handoff_row *ret)
{
	(void)arena;
	return give(handoff_of(ram_of(c), space, envelope, target), ret);
}

/* The next handoff of the envelope; *at is where its handoffs begin at first. NULL: that was the last. */
static const struct ram_handoff *next_of_envelope(const struct ram_store *s, int64_t space, uint64_t envelope,
						  size_t *at)
{
	const struct ram_index *handoffs = &s->envelope_handoffs;
	const struct ram_handoff *h = *at < handoffs->count ? handoffs->rows[(*at)++] : NULL;

	return h && h->row.space == space && h->row.envelope == envelope ? h : NULL;
}

size_t ram_handoffs_from(const struct ram_store *s, int64_t space, uint64_t envelope)
{
	return ram_index_from(&s->envelope_handoffs, &(struct ram_handoff){
		.row = {.space = space, .envelope = envelope, .target = INT64_MIN}});
}

enum store_status ram_handoff_of_agent(struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent,
				       uint64_t but, uint64_t *ret_num)
{
	const struct ram_store *s = ram_of(c);
	size_t at = ram_handoffs_from(s, space, envelope);
	const struct ram_handoff *h;

	while ((h = next_of_envelope(s, space, envelope, &at)))
		if (h->row.num != but && (h->row.agent == agent || h->row.target == agent)) {
			*ret_num = h->row.num;
			return STORE_OK;
		}
	return STORE_NOT_FOUND;
}

enum store_status ram_handoff_next(struct store_conn *c, int64_t agent, bool passing, struct arena *arena,
				   struct handoff_row *ret)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);
	const struct ram_index *queue = a ? passing ? &a->passing : &a->queue : NULL;

	(void)arena;
	return give(queue && queue->count ? queue->rows[0] : NULL, ret);
}

enum store_status ram_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret_num)
{
	*ret_num = ram_last_handoff(ram_of(c), space);
	return STORE_OK;
}

enum store_status ram_handoffs_outage(struct store_conn *c, int64_t agent, int64_t from_ms, int64_t to_ms, size_t max,
				      struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);
	struct ram_handoff from = {.row = {.changed_at_ms = from_ms}};
	size_t count = 0;

	(void)arena;
	for (size_t i = a ? ram_index_from(&a->outage, &from) : 0; a && i < a->outage.count && count < max; i++) {
		const struct ram_handoff *h = a->outage.rows[i];

		if (h->row.changed_at_ms > to_ms)
			break;
		ret[count++] = h->row;
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_handoffs_held(struct store_conn *c, int64_t agent, struct str receiver, size_t max,
				    struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);
	size_t count = 0;

	(void)arena;
	for (size_t i = 0; a && receiver.p && i < a->flight.count && count < max; i++) {
		const struct ram_handoff *h = a->flight.rows[i];

		if (h->row.state == HANDOFF_LEASED && h->row.receiver.p && str_eq(h->row.receiver, receiver))
			ret[count++] = h->row;
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret)
{
	const struct ram_handoff *first = heap_first(&ram_of(c)->due);

	(void)arena;
	return give(first && first->row.due_ms <= now_ms ? first : NULL, ret);
}

enum store_status ram_handoff_next_due(struct store_conn *c, int64_t *ret_ms)
{
	const struct ram_handoff *first = heap_first(&ram_of(c)->due);

	*ret_ms = first ? first->row.due_ms : 0;
	return STORE_OK;
}

/* --- Lists --- */

static bool has_party(const struct handoff_filter *f, const struct handoff_row *h)
{
	return h->agent == f->party_id || h->target == f->party_id || (h->from.p && str_eq(h->from, f->party));
}

/* Nothing but the sender's name counts where the untold are asked for. */
static bool is_wanted(const struct ram_store *s, const struct handoff_filter *f, const struct handoff_row *h)
{
	const struct ram_envelope *e = f->task.p ? ram_envelope_at(s, h->space, h->envelope) : NULL;

	if (f->untold)
		return h->state == HANDOFF_PARKED && !h->is_told && !h->is_retried && f->from.p && h->from.p &&
		       str_eq(h->from, f->from);
	if ((f->task.p && (e == NULL || !str_eq(e->task->row.name, f->task))) ||
	    (f->reason.p && !text_holds(h->reason, f->reason)) ||
	    (f->since_ms && h->changed_at_ms < f->since_ms) || (f->before_ms && h->changed_at_ms >= f->before_ms))
		return false;
	return (f->states == 0 || (f->states >> h->state & 1)) && (f->agent == 0 || h->agent == f->agent) &&
	       (f->channel == 0 || h->channel == f->channel) &&
	       (f->envelope == 0 || h->envelope == f->envelope) &&
	       (f->party.p == NULL || has_party(f, h)) &&
	       (f->from.p == NULL || (h->from.p && str_eq(h->from, f->from)));
}

/* Those of one envelope stand in the order of their targets: each is put where its number belongs. */
static size_t list_of_envelope(const struct ram_store *s, const struct handoff_filter *f, uint64_t after, size_t max,
			       struct handoff_row *ret)
{
	size_t at = ram_handoffs_from(s, f->space, f->envelope), count = 0;
	const struct ram_handoff *h;

	while ((h = next_of_envelope(s, f->space, f->envelope, &at))) {
		bool is_in = f->newest_first ? after == 0 || h->row.num < after : h->row.num > after;
		size_t to = count;

		if (!is_in || !is_wanted(s, f, &h->row))
			continue;
		while (to > 0 && (f->newest_first ? ret[to - 1].num < h->row.num : ret[to - 1].num > h->row.num))
			to--;
		if (to == max)
			continue;
		count += count < max;
		memmove(ret + to + 1, ret + to, (count - to - 1) * sizeof(*ret));
		ret[to] = h->row;
	}
	return count;
}

static size_t list_all(const struct ram_store *s, const struct handoff_filter *f, uint64_t after, size_t max,
		       struct handoff_row *ret)
{
	struct ram_handoff edge = {.row = {.space = f->space, .num = f->newest_first ? after : after + 1}};
	size_t at, count = 0;

	if (f->newest_first && after == 0)
		edge.row.space++;
	at = ram_index_from(&s->handoffs, &edge);
	while (count < max && (f->newest_first ? at > 0 : at < s->handoffs.count)) {
		const struct ram_handoff *h = s->handoffs.rows[f->newest_first ? --at : at++];

		if (h->row.space != f->space)
			break;
		if (is_wanted(s, f, &h->row))
			ret[count++] = h->row;
	}
	return count;
}

enum store_status ram_handoffs(struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max,
			       struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	bool is_of_envelope = filter->envelope && !filter->untold;

	(void)arena;
	assert(!filter->newest_first || !filter->untold);
	*ret_count = (is_of_envelope ? list_of_envelope : list_all)(ram_of(c), filter, after, max, ret);
	return STORE_OK;
}

enum store_status ram_handoffs_count(struct store_conn *c, const struct handoff_filter *filter, int64_t *ret)
{
	const struct ram_store *s = ram_of(c);
	int64_t count = 0;

	assert(!filter->untold);
	for (size_t i = 0; i < s->handoffs.count; i++) {
		const struct ram_handoff *h = s->handoffs.rows[i];

		count += h->row.space == filter->space && is_wanted(s, filter, &h->row);
	}
	*ret = count;
	return STORE_OK;
}

enum store_status ram_handoffs_queued(struct store_conn *c, int64_t agent, const struct handoff_row *behind, size_t max,
				      struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);
	struct ram_handoff from = {.row = behind ? *behind : (struct handoff_row){0}};
	size_t count = 0;

	(void)arena;
	from.row.num++;
	for (size_t i = a && behind ? ram_index_from(&a->queue, &from) : 0; a && i < a->queue.count && count < max; i++)
		ret[count++] = ((const struct ram_handoff *)a->queue.rows[i])->row;
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_handoffs_flight(struct store_conn *c, int64_t agent, unsigned states, uint64_t after, size_t max,
				      struct arena *arena, struct handoff_row *ret, size_t *ret_count)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);
	size_t count = 0;

	(void)arena;
	for (size_t i = 0; a && i < a->flight.count && count < max; i++) {
		const struct ram_handoff *h = a->flight.rows[i];

		if (h->row.num > after && (states >> h->row.state & 1))
			ret[count++] = h->row;
	}
	*ret_count = count;
	return STORE_OK;
}

/* --- Results --- */

/* The handoff, whose result is about to change. */
static struct ram_handoff *with_result(struct ram_store *s, int64_t space, uint64_t handoff)
{
	struct ram_handoff *h = ram_handoff_at(s, space, handoff);

	assert(h);
	ram_save(s, RAM_BYTES, &h->result, sizeof(h->result));
	ram_save(s, RAM_BYTES, &h->has_result, sizeof(h->has_result));
	if (!h->has_result)
		h->result = (struct result_row){.input_tokens = -1};
	h->has_result = true;
	return h;
}

enum store_status ram_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				 const struct result_row *result)
{
	struct ram_store *s = ram_of(c);
	struct result_row *kept = &with_result(s, space, handoff)->result, before = *kept;

	*kept = *result;
	kept->result = ram_text(s, result->result);
	kept->gaps = ram_text(s, result->gaps);
	kept->is_forgotten = false;
	kept->then = before.then;
	memcpy(kept->then_digest, before.then_digest, sizeof(before.then_digest));
	return STORE_OK;
}

enum store_status ram_result_hand_on(struct store_conn *c, int64_t space, uint64_t handoff, uint64_t then,
				     const uint8_t digest[32])
{
	struct result_row *kept = &with_result(ram_of(c), space, handoff)->result;

	kept->then = then;
	memcpy(kept->then_digest, digest, sizeof(kept->then_digest));
	return STORE_OK;
}

enum store_status ram_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				 struct result_row *ret)
{
	const struct ram_handoff *h = ram_handoff_at(ram_of(c), space, handoff);

	(void)arena;
	if (h == NULL || !h->has_result)
		return STORE_NOT_FOUND;
	*ret = h->result;
	return STORE_OK;
}

enum store_status ram_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret)
{
	struct result_row row;
	enum store_status status = ram_result_get(c, space, handoff, NULL, &row);

	if (status == STORE_OK)
		*ret = (struct result_row){.form = row.form, .memory = row.memory};
	return status;
}
