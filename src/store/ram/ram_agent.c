/* Agents, and how delivery to them goes, in memory. */
#include "store/ram/ram_internal.h"

#include <assert.h>
#include <string.h>

enum { BUSY_MAX = 64 };		/* of so many leases the last is looked for */

struct ram_agent *ram_agent_at(const struct ram_store *s, int64_t id)
{
	return ram_index_at(&s->agents, id);
}

/* Also one that was deleted. */
static struct ram_agent *agent_ever_named(const struct ram_store *s, int64_t space, struct str name)
{
	return ram_index_find(&s->agent_names, &(struct ram_agent){.space = space, .row.name = name});
}

static struct ram_agent *agent_named(const struct ram_store *s, int64_t space, struct str name)
{
	struct ram_agent *a = agent_ever_named(s, space, name);

	return a && !a->is_deleted ? a : NULL;
}

/* One that was deleted is there again, with its id. */
static struct ram_agent *revive(struct ram_store *s, struct ram_agent *a, const struct agent_row *row)
{
	ram_save(s, RAM_BYTES, &a->row, sizeof(a->row));
	ram_save(s, RAM_BYTES, &a->is_deleted, sizeof(a->is_deleted));
	a->is_deleted = false;
	a->row.settings = ram_text(s, row->settings);
	a->row.created_at_ms = row->created_at_ms;
	a->row.updated_at_ms = row->updated_at_ms;
	a->row.is_registered = row->is_registered;
	return a;
}

static struct ram_agent *make_agent(struct ram_store *s, int64_t space, const struct agent_row *row)
{
	struct ram_agent *a = agent_ever_named(s, space, row->name);

	ram_count_agents(s, space, 1);
	if (a)
		return revive(s, a, row);
	a = ram_new(s, sizeof(*a));

	a->id = (int64_t)s->agents.count + 1;
	a->space = space;
	a->row = *row;
	a->row.name = ram_text(s, row->name);
	a->row.settings = ram_text(s, row->settings);
	a->queue.compare = ram_compare_queue;
	a->flight.compare = ram_compare_handoffs;
	a->passing.compare = ram_compare_queue;
	a->outage.compare = ram_compare_changes;
	ram_insert(s, &s->agents, a);
	ram_insert(s, &s->agent_names, a);
	return a;
}

enum store_status ram_agent_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				struct agent_row *ret)
{
	const struct ram_agent *a = agent_named(ram_of(c), space, name);

	(void)arena;
	if (a == NULL)
		return STORE_NOT_FOUND;
	*ret = a->row;
	return STORE_OK;
}

enum store_status ram_agent_put(struct store_conn *c, int64_t space, const struct agent_row *agent)
{
	struct ram_store *s = ram_of(c);
	struct ram_agent *a = agent_named(s, space, agent->name);

	if (agent->name.p == NULL || agent->settings.p == NULL)
		return STORE_REFUSED;
	if (a == NULL) {
		struct agent_row row = *agent;

		row.is_registered = true;
		make_agent(s, space, &row);
		return STORE_OK;
	}
	ram_save(s, RAM_BYTES, &a->row, sizeof(a->row));
	a->row.is_registered = true;
	a->row.settings = ram_text(s, agent->settings);
	a->row.updated_at_ms = agent->updated_at_ms;
	return STORE_OK;
}

enum store_status ram_agents(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			     struct agent_row *ret, size_t *ret_count)
{
	const struct ram_index *names = &ram_of(c)->agent_names;
	struct ram_agent from = {.space = space, .row.name = after};
	size_t count = 0;

	(void)arena;
	for (size_t i = ram_index_from(names, &from); i < names->count && count < max; i++) {
		const struct ram_agent *a = names->rows[i];

		if (a->space != space)
			break;
		if (!a->is_deleted && !str_eq(a->row.name, after))
			ret[count++] = a->row;
	}
	*ret_count = count;
	return STORE_OK;
}

static bool holds(struct str settings, struct str text)
{
	return text.p && (text.n == 0 || memmem(settings.p, settings.n, text.p, text.n));
}

enum store_status ram_agents_holding(struct store_conn *c, struct str text, int64_t after, size_t max,
				     struct arena *arena, struct agent_place *ret, size_t *ret_count)
{
	const struct ram_store *s = ram_of(c);
	size_t count = 0;

	(void)arena;
	for (size_t i = after < 0 ? 0 : (size_t)after; i < s->agents.count && count < max; i++) {
		const struct ram_agent *a = s->agents.rows[i];
		const struct ram_space *space = ram_space_at(s, a->space);

		if (space && !a->is_deleted && holds(a->row.settings, text))
			ret[count++] = (struct agent_place){a->id, a->space, space->row.name, a->row.name,
							    a->row.settings};
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_agent_id(struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms,
			       int64_t *ret)
{
	struct ram_store *s = ram_of(c);
	const struct ram_agent *a = agent_named(s, space, name);
	enum store_status status = ram_enter(c, a == NULL && make);

	if (status != STORE_OK)
		return status;
	if (a == NULL && !make)
		return STORE_NOT_FOUND;
	if (a == NULL && name.p == NULL)
		return STORE_REFUSED;
	if (a == NULL)
		a = make_agent(s, space, &(struct agent_row){name, STR("{}"), now_ms, now_ms, false});
	*ret = a->id;
	return STORE_OK;
}

enum store_status ram_agent_delete(struct store_conn *c, int64_t space, struct str name)
{
	struct ram_store *s = ram_of(c);
	struct ram_agent *a = agent_named(s, space, name);

	if (a == NULL)
		return STORE_NOT_FOUND;
	ram_save(s, RAM_BYTES, &a->row, sizeof(a->row));
	ram_save(s, RAM_BYTES, &a->is_deleted, sizeof(a->is_deleted));
	ram_save(s, RAM_TARGET, &a->target, sizeof(a->target))->row = a;
	a->row.settings = ram_text(s, STR("{}"));
	a->row.is_registered = false;
	a->is_deleted = true;
	ram_count_agents(s, space, -1);
	a->target = (struct target_row){0};
	for (size_t i = s->subscribers.count; i-- > 0;)
		if (((const struct ram_subscriber *)s->subscribers.rows[i])->agent == a->id)
			ram_remove(s, &s->subscribers, s->subscribers.rows[i]);
	return STORE_OK;
}

/* --- Targets --- */

enum store_status ram_target_get(struct store_conn *c, int64_t agent, struct target_row *ret)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);

	*ret = a ? a->target : (struct target_row){0};
	return STORE_OK;
}

enum store_status ram_target_put(struct store_conn *c, int64_t agent, const struct target_row *target)
{
	struct ram_agent *a = ram_agent_at(ram_of(c), agent);

	assert(a);
	ram_save(ram_of(c), RAM_TARGET, &a->target, sizeof(a->target))->row = a;
	a->target = *target;
	return STORE_OK;
}

enum store_status ram_target_busy_until(struct store_conn *c, int64_t agent, int64_t *ret_ms)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);
	int seen = 0;

	*ret_ms = 0;
	for (size_t i = 0; a && i < a->flight.count && seen < BUSY_MAX; i++) {
		const struct handoff_row *row = &((const struct ram_handoff *)a->flight.rows[i])->row;

		if (row->state == HANDOFF_DELAYED)
			continue;
		seen++;
		if (row->due_ms > *ret_ms)
			*ret_ms = row->due_ms;
	}
	return STORE_OK;
}

/* There are a few agents. */
const struct ram_agent *ram_first_due(const struct ram_store *s)
{
	const struct ram_agent *first = NULL;

	for (size_t i = 0; i < s->agents.count; i++) {
		const struct ram_agent *a = s->agents.rows[i];

		if (a->target.due_ms > 0 && (first == NULL || a->target.due_ms < first->target.due_ms))
			first = a;
	}
	return first;
}

enum store_status ram_target_due(struct store_conn *c, int64_t now_ms, struct arena *arena, struct target_due *ret)
{
	const struct ram_agent *a = ram_first_due(ram_of(c));

	(void)arena;
	if (a == NULL || a->target.due_ms > now_ms)
		return STORE_NOT_FOUND;
	*ret = (struct target_due){a->id, a->space, a->row.name, a->target};
	return STORE_OK;
}

enum store_status ram_targets_failing(struct store_conn *c, int64_t space, size_t max, struct arena *arena,
				      struct target_due *ret, size_t *ret_count)
{
	const struct ram_index *agents = &ram_of(c)->agents;
	size_t count = 0;

	(void)arena;
	for (size_t i = 0; i < agents->count && count < max; i++) {
		const struct ram_agent *a = agents->rows[i];

		if (a->space == space && (a->target.failures > 0 || a->target.open_until_ms > 0))
			ret[count++] = (struct target_due){a->id, a->space, a->row.name, a->target};
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_target_next_due(struct store_conn *c, int64_t *ret_ms)
{
	const struct ram_agent *a = ram_first_due(ram_of(c));

	*ret_ms = a ? a->target.due_ms : 0;
	return STORE_OK;
}

static struct target_counts counts_of(const struct ram_agent *a)
{
	const int64_t *n = a->counts;

	return (struct target_counts){n[HANDOFF_QUEUED] + n[HANDOFF_DELAYED], n[HANDOFF_LEASED], n[HANDOFF_WORKING],
				      n[HANDOFF_PARKED]};
}

enum store_status ram_target_counts(struct store_conn *c, int64_t agent, struct target_counts *ret)
{
	const struct ram_agent *a = ram_agent_at(ram_of(c), agent);

	*ret = a ? counts_of(a) : (struct target_counts){0};
	return STORE_OK;
}

enum store_status ram_queues(struct store_conn *c, void (*fn)(void *ctx, const struct queue_row *row), void *ctx)
{
	const struct ram_index *agents = &ram_of(c)->agents;

	for (size_t i = 0; i < agents->count; i++) {
		const struct ram_agent *a = agents->rows[i];
		struct queue_row row = {a->id, a->space, a->row.name, counts_of(a), a->target};
		bool is_busy = row.counts.queued + row.counts.leased + row.counts.working + row.counts.parked > 0;

		is_busy = is_busy || a->target.failures > 0 || a->target.open_until_ms > 0;
		if (is_busy && ram_space_at(ram_of(c), a->space))
			fn(ctx, &row);
	}
	return STORE_OK;
}
