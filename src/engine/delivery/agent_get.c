#include "engine/delivery/agent_get.h"

#include "engine/access/party.h"
#include "engine/engine.h"
#include "engine/waiting.h"

/* What is read for an agent of a list, beside its own row. */
enum { ROWS_EACH = 8 };

static void show(struct agent_view *v, int64_t now_ms, int64_t queue_timeout_ms)
{
	const struct agent *a = &v->agent;
	const struct json *description = json_get(&a->settings, "description");

	if (description && description->type == JSON_STRING)
		v->description = description->s;
	v->ack_timeout_ms = a->ack_timeout_ms ? a->ack_timeout_ms : DELIVERY_ACK_TIMEOUT_MS;
	v->max_attempts = a->max_attempts ? a->max_attempts : DELIVERY_ATTEMPTS;
	v->queue_timeout_ms = a->queue_timeout_ms ? a->queue_timeout_ms : queue_timeout_ms;
	v->breaker = breaker_state(&v->target, now_ms);
	v->reset_at_ms = v->breaker == BREAKER_OPEN ? v->target.open_until_ms : 0;
	if (v->counts.leased + v->counts.working)
		v->presence = PRESENCE_WORKING;
	else if (v->receivers)
		v->presence = PRESENCE_WAITING;
	else
		v->presence = v->target.seen_at_ms ? PRESENCE_AWAY : PRESENCE_NEVER_SEEN;
}

/* What the key of an agent does not see is counted with the rest of the queue, and not named. */
static enum store_status keep_seen(struct op *op, struct store_conn *c, struct handoff_row *rows, size_t *count)
{
	struct party party;
	enum store_status status = party_init(&party, op->access, op->space, c);
	size_t kept = 0;

	for (size_t i = 0; status == STORE_OK && i < *count; i++) {
		bool sees;

		status = party_sees_handoff(&party, &rows[i], false, &sees);
		if (status == STORE_OK && sees)
			rows[kept++] = rows[i];
	}
	*count = kept;
	return status;
}

static enum store_status read_work(struct op *op, struct store_conn *c, struct agent_view *v)
{
	struct handoff_row rows[AGENT_WORK_MAX];
	enum store_status status = STORE_OK;

	if (v->counts.leased + v->counts.working)
		status = store_handoffs_flight(c, v->id, 1u << HANDOFF_LEASED | 1u << HANDOFF_WORKING, 0,
					       AGENT_WORK_MAX, op->arena, rows, &v->work_count);
	if (status == STORE_OK)
		status = keep_seen(op, c, rows, &v->work_count);
	return status == STORE_OK ? about_all(op, c, rows, v->work_count, &v->work) : status;
}

enum problem_code agent_get_delivery(struct op *op, struct store_conn *c, struct agent_view *view)
{
	enum store_status status = STORE_NOT_FOUND;

	if (op->space)
		status = store_agent_id(c, op->space, view->agent.name, false, op->now_ms, &view->id);
	if (status == STORE_OK)
		status = store_target_get(c, view->id, &view->target);
	if (status == STORE_OK)
		status = store_target_counts(c, view->id, &view->counts);
	if (status == STORE_OK)
		status = read_work(op, c, view);
	if (status == STORE_OK)
		view->receivers = (int64_t)waiting_receivers(op->engine->waiting, view->id);
	show(view, op->now_ms, op->engine->config.queue_timeout_ms ? op->engine->config.queue_timeout_ms
								  : DELIVERY_QUEUE_TIMEOUT_MS);
	return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
}

enum problem_code agent_get_view(struct op *op, struct store_conn *c, struct str name, struct agent_view *view)
{
	enum problem_code code = agent_read(c, op->space, name, op->arena, &view->agent, &op->problem);

	return code == P_OK ? agent_get_delivery(op, c, view) : code;
}

static enum problem_code get(struct op *op, struct store_conn *c)
{
	struct agent_get *g = (struct agent_get *)op;
	enum problem_code code = agent_get_view(op, c, g->name, &g->view);

	if (code == P_OK && g->view.agent.created_at_ms == 0)
		code = problem_set(&op->problem, P_AGENT_NOT_FOUND, "name", "nobody registered an agent of that name");
	return code;
}

static enum problem_code list(struct op *op, struct store_conn *c)
{
	struct agent_list *l = (struct agent_list *)op;
	size_t max = page_reach(&l->page);
	struct agent_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	enum problem_code code = P_OK;

	if (op_is_too_long(op, max + l->page.size * ROWS_EACH))
		return P_OK;
	if (op->space)
		code = op_stored(op, store_agents(c, op->space, STR_NULL, max, op->arena, rows, &l->count));
	rows += page_skip(&l->page, &l->count);
	page_end(&l->page, &l->count);
	l->agents = arena_calloc(op->arena, l->count, sizeof(*l->agents));
	for (size_t i = 0; code == P_OK && i < l->count; i++)
		code = agent_get_view(op, c, rows[i].name, &l->agents[i]);
	return code;
}

const struct op_kind agent_get_kind = {.name = "agent_get", .size = sizeof(struct agent_get), .read = get};
const struct op_kind agent_list_kind = {.name = "agent_list", .size = sizeof(struct agent_list), .read = list};
