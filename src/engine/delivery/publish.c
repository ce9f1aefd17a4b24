#include "engine/delivery/publish.h"

#include "core/envelope/unpack.h"
#include "core/guard/redact.h"
#include "engine/delivery/channel.h"
#include "engine/delivery/unknown_agent.h"
#include "engine/envelope/large_envelope.h"
#include "engine/envelope/over_budget.h"
#include "engine/waiting.h"

/* Most have a few receivers, some thousands. */
enum store_status publish_members(struct store_conn *c, int64_t space, uint64_t envelope, int64_t channel,
				  struct arena *arena, struct handoff_row **ret, size_t *ret_count)
{
	struct handoff_filter filter = {.space = space, .envelope = envelope, .channel = channel};
	size_t room = 0, count = 0, more;
	struct handoff_row *rows = NULL, *grown;
	enum store_status status = STORE_OK;
	uint64_t last = 0;

	while (status == STORE_OK && count == room) {
		room = room ? room * 4 : 16;
		grown = arena_calloc(arena, room, sizeof(*rows));
		if (rows)
			memcpy(grown, rows, count * sizeof(*rows));
		rows = grown;
		status = store_handoffs(c, &filter, last, room - count, arena, &rows[count], &more);
		count += status == STORE_OK ? more : 0;
		last = count ? rows[count - 1].num : 0;
	}
	*ret = rows;
	*ret_count = count;
	return status;
}

static enum problem_code find_receivers(struct op *op, struct store_conn *c, struct publish *p, struct str **ret,
					size_t *ret_count)
{
	size_t max = p->receivers ? p->receiver_count : (size_t)p->channel.subscribers;
	struct str *names;
	size_t count = 0;
	enum store_status status = STORE_OK;

	if (max > PUBLISH_RECEIVERS_MAX)
		return problem_set(&op->problem, P_TOO_LARGE, "receivers", "the channel has %zu subscribers, and one "
				   "publish goes to at most %d receivers; name them, so many at a time: each publish "
				   "of the same envelope adds to those before", max, PUBLISH_RECEIVERS_MAX);
	names = arena_calloc(op->arena, max + 1, sizeof(*names));
	if (p->receivers)
		for (; count < max; count++)
			names[count] = p->receivers[count];
	else
		status = store_subscribers(c, p->channel.id, max, op->arena, names, &count);
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	if (count == 0)
		return problem_set(&op->problem, P_INVALID_FIELD, "receivers", "the channel has no subscribers; name "
				   "the receivers, or subscribe agents with PUT /v1/channels/%.*s/subscribers/AGENT",
				   STR_ARG(p->name));
	*ret = names;
	*ret_count = count;
	return P_OK;
}

/* Who the receivers are is decided when it is written; who is warned about, here: those named, or the subscribers where
 * it is not published again. */
static void warn_of_receivers(struct op *op, struct store_conn *c, struct publish *p, const struct envelope *e)
{
	struct handoff_filter before = {.space = op->space, .envelope = p->order.envelope};
	struct handoff_row row;
	struct str *names = NULL;
	size_t count = 0;
	bool is_known = p->receivers != NULL;

	if (!is_known && store_channel_get(c, op->space, p->name, op->arena, &p->channel) == STORE_OK) {
		before.channel = p->channel.id;
		is_known = store_handoffs(c, &before, 0, 1, op->arena, &row, &count) == STORE_OK && count == 0;
	}
	if (is_known && find_receivers(op, c, p, &names, &count) == P_OK)
		over_budget_warn(op, c, e, p->receivers ? "receivers" : "channel", names, count);
	op->problem = (struct problem){0};
	/* A subscriber has been named by somebody who wanted it. */
	if (p->receivers)
		unknown_agents_warn(op, c, "receivers", p->receivers, p->receiver_count);
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct publish *p = (struct publish *)op;
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = envelope_find(op, c, p->order.envelope, "envelope_id", &row);

	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, &e, &op->problem);
	if (code != P_OK)
		return code;
	p->order.from = op->agent.p ? op->agent : e.from;
	warn_of_receivers(op, c, p, &e);
	code = redact_check_sent(&e, p->name, "channel", op->arena, &op->problem);
	for (size_t i = 0; code == P_OK && p->receivers && i < p->receiver_count; i++)
		code = redact_check_sent(&e, p->receivers[i], "receivers", op->arena, &op->problem);
	return code;
}

/* To one receiver. Where it was published before, and parked since, that is a no-op, as for the others; so is what
 * somebody else has sent and withdrawn. */
static enum problem_code publish_to(struct op *op, struct store_conn *c, struct delivery *d, struct publish *p,
				    struct str name)
{
	struct handoff_row *row = &p->rows[p->count++];
	enum store_status status;
	enum problem_code code;
	int64_t agent;

	p->order.to = name;
	code = delivery_send(d, &p->order, row, &op->problem);
	if (code != P_HANDOFF_PARKED && code != P_ALREADY_SENT)
		return code;
	op->problem = (struct problem){0};
	status = store_agent_id(c, op->space, name, false, op->now_ms, &agent);
	if (status == STORE_OK)
		status = store_handoff_find(c, op->space, p->order.envelope, agent, op->arena, row);
	delivery_withhold(d, row);
	return op_stored(op, status);
}

static enum problem_code publish_to_all(struct op *op, struct store_conn *c, struct publish *p)
{
	struct delivery d = waiting_delivery(op, c);
	struct str *names = NULL;
	size_t count = 0;
	enum problem_code code = find_receivers(op, c, p, &names, &count);

	if (code == P_OK)
		p->rows = arena_calloc(op->arena, count, sizeof(*p->rows));
	op->told = (struct event_row){.kind = EVENT_CHANNEL_PUBLISHED, .envelope = p->order.envelope,
					.note = p->name};
	p->order.channel = p->channel.id;
	p->order.channel_name = p->channel.name;
	for (size_t i = 0; code == P_OK && i < count; i++)
		code = publish_to(op, c, &d, p, names[i]);
	return code;
}

/* All or none: what fails in the middle takes the rest with it. Published again for the subscribers, the envelope is
 * for those who subscribed the first time, whoever has come or gone since. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct publish *p = (struct publish *)op;
	struct delivery d = waiting_delivery(op, c);
	enum store_status status = store_savepoint(c);
	enum problem_code code = status == STORE_OK ? channel_make(op, c, p->name, &p->channel)
						    : problem_of_store(&op->problem, status);

	p->count = 0;
	if (code == P_OK && p->receivers == NULL) {
		status = publish_members(c, op->space, p->order.envelope, p->channel.id, op->arena, &p->rows,
				      &p->count);
		code = status == STORE_OK ? P_OK : problem_of_store(&op->problem, status);
	}
	for (size_t i = 0; i < p->count; i++)
		delivery_withhold(&d, &p->rows[i]);
	if (code == P_OK && p->count == 0)
		code = publish_to_all(op, c, p);
	if (problem_store_status(code) != STORE_OK)
		return code;
	status = code == P_OK ? store_release(c) : store_rollback_to(c);
	return status == STORE_OK ? code : problem_of_store(&op->problem, status);
}

/* It was published there before; or who is named has it, of many the first ones. */
static bool adds_nothing(struct op *op, struct store_conn *c)
{
	const struct publish *p = (const struct publish *)op;
	struct handoff_filter before = {.space = op->space, .envelope = p->order.envelope};
	struct channel_row channel;
	struct handoff_row row;
	size_t count = 0;
	bool is_there = true;
	int64_t agent;

	if (store_channel_get(c, op->space, p->name, op->arena, &channel) != STORE_OK)
		return false;
	before.channel = channel.id;
	if (p->receivers == NULL)
		return store_handoffs(c, &before, 0, 1, op->arena, &row, &count) == STORE_OK && count;
	for (size_t i = 0; is_there && i < p->receiver_count && i < OP_ROWS_HERE; i++)
		is_there = store_agent_id(c, op->space, p->receivers[i], false, 0, &agent) == STORE_OK &&
			   store_handoff_find(c, op->space, before.envelope, agent, op->arena, &row) == STORE_OK;
	return is_there;
}

const struct op_kind publish_kind = {
	.name = "publish", .size = sizeof(struct publish),
	.flags = OP_CREATES | OP_ADDS_HANDOFFS | OP_ADDS_AGENTS, .prepare = prepare, .run = run,
	.adds_nothing = adds_nothing,
};
