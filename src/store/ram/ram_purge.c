/* A space that goes, in memory. The rows of spaces, agents and channels keep their places, since those are their
 * ids. */
#include "store/ram/ram_internal.h"

enum store_status ram_space_remove(struct store_conn *c, int64_t id, int64_t now_ms)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_space_at(s, id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	ram_remove(s, &s->space_names, space);
	ram_save(s, RAM_BYTES, &space->removed_at_ms, sizeof(space->removed_at_ms));
	space->removed_at_ms = now_ms > 0 ? now_ms : 1;
	return STORE_OK;
}

enum store_status ram_space_removed(struct store_conn *c, int64_t *ret_id)
{
	const struct ram_index *spaces = &ram_of(c)->spaces;

	for (size_t i = 0; i < spaces->count; i++) {
		const struct ram_space *space = spaces->rows[i];

		if (space->removed_at_ms && !space->is_purged) {
			*ret_id = space->row.id;
			return STORE_OK;
		}
	}
	return STORE_NOT_FOUND;
}

/* --- The rows --- */

static int64_t space_of_key(int64_t key)
{
	return key >> 40;
}

#define SPACE_OF(name, type, space) \
	static int64_t name(const void *row) \
	{ \
		const struct type *x = row; \
 \
		return space; \
	}

SPACE_OF(of_receipt, ram_receipt, space_of_key(x->envelope))
SPACE_OF(of_citation, ram_citation, space_of_key(x->envelope))
SPACE_OF(of_waiver, ram_waiver, space_of_key(x->task))
SPACE_OF(of_envelope, ram_envelope, x->row.space)
SPACE_OF(of_task, ram_task, x->space)
SPACE_OF(of_pruned_envelope, ram_pruned_envelope, space_of_key(x->key))
SPACE_OF(of_pruned_handoff, ram_pruned_handoff, space_of_key(x->key))
SPACE_OF(of_left, ram_left, space_of_key(x->memory))
SPACE_OF(of_reply, ram_reply, x->space)
SPACE_OF(of_memory, ram_memory, x->state.space)
SPACE_OF(of_channel, ram_channel, x->space)
SPACE_OF(of_route, ram_route, x->space)
SPACE_OF(of_agent, ram_agent, x->space)
SPACE_OF(of_alert, alert_row, x->space)

/* An index, and in which space a row of it is. */
struct part {
	size_t at;
	int64_t (*space_of)(const void *row);
};

#define PART(index, space_of) {offsetof(struct ram_store, index), space_of}

static const struct part parts[] = {
	PART(receipts, of_receipt), PART(citations, of_citation), PART(waivers, of_waiver),
	PART(task_envelopes, of_envelope),
	PART(envelopes, of_envelope), PART(task_names, of_task), PART(tasks_by_id, of_task),
	PART(pruned_envelopes, of_pruned_envelope), PART(pruned_handoffs, of_pruned_handoff),
	PART(left_results, of_left), PART(reply_keys, of_reply), PART(replies_by_id, of_reply),
	PART(memories, of_memory), PART(channel_names, of_channel), PART(route_names, of_route),
	PART(agent_names, of_agent), PART(alerts_by_id, of_alert),
};

static size_t purge_part(struct ram_store *s, const struct part *part, int64_t space, size_t max)
{
	struct ram_index *index = (struct ram_index *)(void *)((char *)s + part->at);
	size_t count = 0;

	for (size_t i = index->count; i-- > 0 && count < max;)
		if (part->space_of(index->rows[i]) == space) {
			ram_remove(s, index, index->rows[i]);
			count++;
		}
	return count;
}

static size_t purge_handoffs(struct ram_store *s, int64_t space, size_t max)
{
	size_t count = 0;

	for (size_t i = s->handoffs.count; i-- > 0 && count < max;) {
		struct ram_handoff *h = s->handoffs.rows[i];

		if (h->row.space == space) {
			ram_handoff_remove(s, h);
			count++;
		}
	}
	return count;
}

/* The subscribers of the space's channels, and how delivery to its agents went. */
static size_t purge_others(struct ram_store *s, int64_t space, size_t max)
{
	size_t count = 0;

	for (size_t i = s->subscribers.count; i-- > 0 && count < max;) {
		struct ram_subscriber *row = s->subscribers.rows[i];
		const struct ram_channel *channel = ram_index_at(&s->channels, row->channel);

		if (channel && channel->space == space) {
			ram_remove(s, &s->subscribers, row);
			count++;
		}
	}
	return count;
}

static size_t purge_events(struct ram_store *s, int64_t space, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < s->event_count && count < max; i++)
		if (s->events[i].id && s->events[i].space == space) {
			ram_event_remove(s, i);
			count++;
		}
	return count;
}

enum store_status ram_space_purge(struct store_conn *c, int64_t id, size_t max, size_t *ret_count)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_index_at(&s->spaces, id);
	size_t count;

	if (space == NULL || space->removed_at_ms == 0 || space->is_purged)
		return STORE_NOT_FOUND;
	count = purge_handoffs(s, id, max);
	if (count == 0)
		count = purge_others(s, id, max);
	for (size_t i = 0; count == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		count = purge_part(s, &parts[i], id, max);
	if (count == 0)
		count = purge_events(s, id, max);
	if (count == 0) {
		ram_save(s, RAM_BYTES, &space->is_purged, sizeof(space->is_purged));
		space->is_purged = true;
	}
	*ret_count = count;
	return STORE_OK;
}
