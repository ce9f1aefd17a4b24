/* Rows in order: sorted arrays of pointers. Most rows are put in at the end, where that costs nothing. */
#include "store/ram/ram_internal.h"

#include <assert.h>

static int compare_key(int64_t a_space, uint64_t a_num, int64_t b_space, uint64_t b_num)
{
	return a_space != b_space ? ram_compare(a_space, b_space) : (a_num > b_num) - (a_num < b_num);
}

static int compare_name(int64_t a_space, struct str a, int64_t b_space, struct str b)
{
	return a_space != b_space ? ram_compare(a_space, b_space) : str_cmp(a, b);
}

/* `member` of two rows, which are of that type. */
#define ROWS(type) const struct type *x = a, *y = b
#define COMPARE(name, type, result) \
	static int name(const void *a, const void *b) \
	{ \
		ROWS(type); \
 \
		return result; \
	}

COMPARE(compare_spaces, ram_space, ram_compare(x->row.id, y->row.id))
COMPARE(compare_space_names, ram_space, str_cmp(x->row.name, y->row.name))
COMPARE(compare_memories, ram_memory, compare_key(x->state.space, x->state.num, y->state.space, y->state.num))
COMPARE(compare_tasks, ram_task, ram_compare(x->row.id, y->row.id))
COMPARE(compare_task_names, ram_task, compare_name(x->space, x->row.name, y->space, y->row.name))
COMPARE(compare_envelopes, ram_envelope, compare_key(x->row.space, x->row.num, y->row.space, y->row.num))
COMPARE(compare_agents, ram_agent, ram_compare(x->id, y->id))
COMPARE(compare_agent_names, ram_agent, compare_name(x->space, x->row.name, y->space, y->row.name))
COMPARE(compare_channels, ram_channel, ram_compare(x->row.id, y->row.id))
COMPARE(compare_channel_names, ram_channel, compare_name(x->space, x->row.name, y->space, y->row.name))
COMPARE(compare_route_names, ram_route, compare_name(x->space, x->row.name, y->space, y->row.name))
COMPARE(compare_replies, ram_reply, ram_compare(x->id, y->id))
COMPARE(compare_reply_keys, ram_reply, compare_name(x->space, x->key, y->space, y->key))
COMPARE(compare_alerts, alert_row, ram_compare(x->id, y->id))
COMPARE(compare_access_keys, access_key_row, ram_compare((int64_t)x->num, (int64_t)y->num))
COMPARE(compare_pruned_envelopes, ram_pruned_envelope, ram_compare(x->key, y->key))
COMPARE(compare_pruned_handoffs, ram_pruned_handoff, ram_compare(x->key, y->key))
COMPARE(compare_left, ram_left, ram_compare(x->memory, y->memory))

static int compare_task_envelopes(const void *a, const void *b)
{
	ROWS(ram_envelope);
	int order = compare_tasks(x->task, y->task);

	return order ? order : compare_envelopes(a, b);
}

static int compare_receipts(const void *a, const void *b)
{
	ROWS(ram_receipt);

	if (x->envelope != y->envelope)
		return ram_compare(x->envelope, y->envelope);
	if (x->row.at_ms != y->row.at_ms)
		return ram_compare(x->row.at_ms, y->row.at_ms);
	return compare_name((int64_t)x->row.memory, x->row.agent, (int64_t)y->row.memory, y->row.agent);
}

static int compare_waivers(const void *a, const void *b)
{
	ROWS(ram_waiver);

	return x->task != y->task ? ram_compare(x->task, y->task) : ram_compare(x->row.id, y->row.id);
}

static int compare_citations(const void *a, const void *b)
{
	ROWS(ram_citation);

	return x->envelope != y->envelope ? ram_compare(x->envelope, y->envelope) : ram_compare(x->memory, y->memory);
}

static int compare_subscribers(const void *a, const void *b)
{
	ROWS(ram_subscriber);

	return x->channel != y->channel ? ram_compare(x->channel, y->channel) : ram_compare(x->agent, y->agent);
}

int ram_compare_handoffs(const void *a, const void *b)
{
	ROWS(ram_handoff);

	return compare_key(x->row.space, x->row.num, y->row.space, y->row.num);
}

int ram_compare_queue(const void *a, const void *b)
{
	ROWS(ram_handoff);

	if (x->row.priority != y->row.priority)
		return y->row.priority - x->row.priority;
	if (x->row.place != y->row.place)
		return x->row.place < y->row.place ? -1 : 1;
	return ram_compare_handoffs(a, b);
}

int ram_compare_changes(const void *a, const void *b)
{
	ROWS(ram_handoff);
	int order = ram_compare(x->row.changed_at_ms, y->row.changed_at_ms);

	return order ? order : ram_compare_handoffs(a, b);
}

static int compare_envelope_handoffs(const void *a, const void *b)
{
	ROWS(ram_handoff);
	int order = compare_key(x->row.space, x->row.envelope, y->row.space, y->row.envelope);

	return order ? order : ram_compare(x->row.target, y->row.target);
}

void ram_indexes_init(struct ram_store *s)
{
	s->spaces = (struct ram_index){.compare = compare_spaces};
	s->space_names = (struct ram_index){.compare = compare_space_names};
	s->memories = (struct ram_index){.compare = compare_memories};
	s->tasks_by_id = (struct ram_index){.compare = compare_tasks};
	s->task_names = (struct ram_index){.compare = compare_task_names};
	s->envelopes = (struct ram_index){.compare = compare_envelopes};
	s->task_envelopes = (struct ram_index){.compare = compare_task_envelopes};
	s->receipts = (struct ram_index){.compare = compare_receipts};
	s->waivers = (struct ram_index){.compare = compare_waivers};
	s->agents = (struct ram_index){.compare = compare_agents};
	s->agent_names = (struct ram_index){.compare = compare_agent_names};
	s->handoffs = (struct ram_index){.compare = ram_compare_handoffs};
	s->envelope_handoffs = (struct ram_index){.compare = compare_envelope_handoffs};
	s->channels = (struct ram_index){.compare = compare_channels};
	s->channel_names = (struct ram_index){.compare = compare_channel_names};
	s->subscribers = (struct ram_index){.compare = compare_subscribers};
	s->route_names = (struct ram_index){.compare = compare_route_names};
	s->replies_by_id = (struct ram_index){.compare = compare_replies};
	s->reply_keys = (struct ram_index){.compare = compare_reply_keys};
	s->alerts_by_id = (struct ram_index){.compare = compare_alerts};
	s->access_keys = (struct ram_index){.compare = compare_access_keys};
	s->pruned_envelopes = (struct ram_index){.compare = compare_pruned_envelopes};
	s->pruned_handoffs = (struct ram_index){.compare = compare_pruned_handoffs};
	s->citations = (struct ram_index){.compare = compare_citations};
	s->left_results = (struct ram_index){.compare = compare_left};
}

size_t ram_index_from(const struct ram_index *index, const void *key)
{
	size_t from = 0, to = index->count;

	if (to && index->compare(index->rows[to - 1], key) < 0)
		return to;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (index->compare(index->rows[middle], key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

void *ram_index_find(const struct ram_index *index, const void *key)
{
	size_t at = ram_index_from(index, key);

	return at < index->count && index->compare(index->rows[at], key) == 0 ? index->rows[at] : NULL;
}

void *ram_index_at(const struct ram_index *index, int64_t id)
{
	return id >= 1 && (uint64_t)id <= index->count ? index->rows[id - 1] : NULL;
}

void ram_index_add(struct ram_store *s, struct ram_index *index, void *row)
{
	size_t at = ram_index_from(index, row);

	if (index->count == index->cap) {
		void **rows = arena_alloc(&s->arena, (2 * index->cap + 8) * sizeof(void *));

		if (index->count)
			memcpy(rows, index->rows, index->count * sizeof(void *));
		index->rows = rows;
		index->cap = 2 * index->cap + 8;
	}
	memmove(index->rows + at + 1, index->rows + at, (index->count - at) * sizeof(void *));
	index->rows[at] = row;
	index->count++;
}

void ram_index_remove(struct ram_index *index, const void *row)
{
	size_t at = ram_index_from(index, row);

	assert(at < index->count && index->rows[at] == row);
	index->count--;
	memmove(index->rows + at, index->rows + at + 1, (index->count - at) * sizeof(void *));
}
