#include "engine/delivery/channel.h"

#include "core/watch/event.h"

enum problem_code channel_find(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret)
{
	enum store_status status = op->space ? store_channel_get(c, op->space, name, op->arena, ret) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_CHANNEL_NOT_FOUND, "name", "there is no channel \"%.*s\" in this "
				   "space", STR_ARG(name));
	return op_stored(op, status);
}

enum problem_code channel_make(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret)
{
	enum store_status status = store_channel_get(c, op->space, name, op->arena, ret);

	if (status == STORE_NOT_FOUND) {
		status = store_channel_put(c, op->space, name, STR_NULL, op->now_ms);
		if (status == STORE_OK)
			status = store_channel_get(c, op->space, name, op->arena, ret);
	}
	return op_stored(op, status);
}

static enum problem_code get(struct op *op, struct store_conn *c)
{
	struct channel *ch = (struct channel *)op;
	enum problem_code code = channel_find(op, c, ch->name, &ch->row);
	size_t max = (size_t)ch->row.subscribers + 1;

	if (code != P_OK)
		return code;
	ch->subscribers = arena_calloc(op->arena, max, sizeof(*ch->subscribers));
	return op_stored(op, store_subscribers(c, ch->row.id, max, op->arena, ch->subscribers, &ch->count));
}

static enum problem_code set(struct op *op, struct store_conn *c)
{
	struct channel *ch = (struct channel *)op;
	enum store_status status = store_channel_put(c, op->space, ch->name, ch->description, op->now_ms);

	op->told = (struct event_row){.kind = EVENT_CHANNEL_SET, .note = ch->name};
	return status == STORE_OK ? get(op, c) : op_stored(op, status);
}

static enum problem_code subscribe(struct op *op, struct store_conn *c)
{
	struct channel *ch = (struct channel *)op;
	int64_t agent = 0;
	enum problem_code code = channel_make(op, c, ch->name, &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	op->told = (struct event_row){.kind = EVENT_CHANNEL_SUBSCRIBED, .agent = ch->agent, .note = ch->name};
	status = store_agent_id(c, op->space, ch->agent, true, op->now_ms, &agent);
	if (status == STORE_OK)
		status = store_subscriber_put(c, ch->row.id, agent, op->now_ms);
	return status == STORE_OK ? get(op, c) : op_stored(op, status);
}

static enum problem_code unsubscribe(struct op *op, struct store_conn *c)
{
	struct channel *ch = (struct channel *)op;
	int64_t agent = 0;
	enum problem_code code = channel_find(op, c, ch->name, &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	op->told = (struct event_row){.kind = EVENT_CHANNEL_UNSUBSCRIBED, .agent = ch->agent, .note = ch->name};
	status = store_agent_id(c, op->space, ch->agent, false, op->now_ms, &agent);
	if (status == STORE_OK)
		status = store_subscriber_delete(c, ch->row.id, agent);
	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_AGENT_NOT_FOUND, "agent", "%.*s does not subscribe to this channel",
				   STR_ARG(ch->agent));
	return status == STORE_OK ? get(op, c) : op_stored(op, status);
}

static enum problem_code list(struct op *op, struct store_conn *c)
{
	struct channel_list *l = (struct channel_list *)op;
	size_t max = page_reach(&l->page);
	enum store_status status = STORE_OK;

	if (op_is_too_long(op, max))
		return P_OK;
	l->rows = arena_calloc(op->arena, max, sizeof(*l->rows));
	if (op->space)
		status = store_channels(c, op->space, STR_NULL, max, op->arena, l->rows, &l->count);
	l->rows += page_skip(&l->page, &l->count);
	page_end(&l->page, &l->count);
	return op_stored(op, status);
}

const struct op_kind channel_get_kind = {.name = "channel_get", .size = sizeof(struct channel), .read = get};
const struct op_kind channel_set_kind = {
	.name = "channel_set", .size = sizeof(struct channel), .flags = OP_CREATES, .run = set,
};
const struct op_kind channel_subscribe_kind = {
	.name = "channel_subscribe", .size = sizeof(struct channel), .flags = OP_MAKES_SPACE | OP_ADDS_AGENTS,
	.run = subscribe,
};
const struct op_kind channel_unsubscribe_kind = {
	.name = "channel_unsubscribe", .size = sizeof(struct channel), .run = unsubscribe,
};
const struct op_kind channel_list_kind = {.name = "channel_list", .size = sizeof(struct channel_list), .read = list};
