/* Publishing to a channel: one handoff per receiver, all or none; and join, which waits for what they make of it. */
#include "engine/channel.h"
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/handoff_json.h"
#include "api/over_budget.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/envelope/result.h"
#include "core/envelope/unpack.h"

enum { RECEIVERS_MAX = 10000, JOIN_WAIT_MAX_MS = 60000 };

/* Reads the handoffs that a publish of the envelope to the channel has made into the arena. Most have a few receivers,
 * some thousands. */
static enum store_status read_members(struct store_conn *c, int64_t space, uint64_t envelope, int64_t channel,
				      struct arena *arena, struct handoff_row **ret, size_t *ret_count)
{
	struct handoff_filter filter = {.space = space, .envelope = envelope, .channel = channel};
	size_t room = 0, count = 0;
	struct handoff_row *rows = NULL;
	enum store_status status = STORE_OK;

	while (status == STORE_OK && count == room) {
		room = room ? room * 4 : 16;
		rows = arena_calloc(arena, room, sizeof(*rows));
		status = store_handoffs(c, &filter, 0, room, arena, rows, &count);
	}
	*ret = rows;
	*ret_count = count;
	return status;
}

/* --- POST /v1/channels/{name}/publish --- */

struct publishing {
	struct delivery_order order;
	const struct json *receivers;	/* NULL: the subscribers */
	struct channel_row channel;
	struct handoff_row *rows;
	size_t count;
};

static enum problem_code read_envelope_id(struct call *call, uint64_t *ret)
{
	enum problem_code code = envelope_body_id(call, ret);

	if (code == P_OK && *ret == 0)
		code = problem_set(&call->op->problem, P_MISSING_FIELD, "envelope_id", "envelope_id is missing; it is what "
				   "POST /v1/envelopes answered, as in env-17");
	return code;
}

static enum problem_code read_receivers(struct call *call, struct publishing *p)
{
	enum problem_code code = decode_agents(&call->body, "receivers", RECEIVERS_MAX, &p->receivers, &call->op->problem);

	if (code == P_OK && p->receivers && p->receivers->count == 0)
		p->receivers = NULL;
	return code;
}

static enum problem_code decode_publish(struct call *call)
{
	static const char *const known[] = {"envelope_id", "receivers", "delivery", "priority", "ack_timeout_s",
					    "max_attempts", NULL};
	struct publishing *p = arena_zalloc(call->op->arena, sizeof(*p));
	struct str delivery = STR("at-least-once");
	int64_t priority = DELIVERY_PRIORITY;
	const struct json *b = &call->body;
	struct problem *problem = &call->op->problem;
	enum problem_code code;

	call->input = p;
	call_warn_unknown_members(call, b, known, "");
	if ((code = decode_check_name(call->params[0], "name", CHANNEL_NAME_MAX, problem)) != P_OK ||
	    (code = read_envelope_id(call, &p->order.envelope)) != P_OK || (code = read_receivers(call, p)) != P_OK ||
	    (code = decode_int(b, "priority", 0, DELIVERY_PRIORITY_MAX, &priority, problem)) != P_OK ||
	    (code = decode_seconds(b, "ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS, &p->order.ack_timeout_ms,
				   problem)) != P_OK ||
	    (code = decode_int(b, "max_attempts", 1, DELIVERY_ATTEMPTS_MAX, &p->order.max_attempts, problem)) != P_OK ||
	    (code = decode_str(b, "delivery", 1, 64, &delivery, problem)) != P_OK)
		return code;
	if (!str_is(delivery, "at-least-once"))
		return problem_set(problem, P_INVALID_FIELD, "delivery", "delivery is \"%.*s\"; this server has "
				   "at-least-once", STR_ARG(delivery));
	p->order.priority = (int)priority;
	return P_OK;
}

static enum problem_code find_receivers(struct call *call, struct store_conn *c, struct publishing *p, struct str **ret,
					size_t *ret_count)
{
	size_t max = p->receivers ? p->receivers->count : (size_t)p->channel.subscribers;
	struct str *names;
	size_t count = 0;
	enum store_status status = STORE_OK;

	if (max > RECEIVERS_MAX)
		return problem_set(&call->op->problem, P_TOO_LARGE, "receivers", "the channel has %zu subscribers, and one "
				   "publish goes to at most %d receivers; name them, so many at a time: each publish "
				   "of the same envelope adds to those before", max, RECEIVERS_MAX);
	names = arena_calloc(call->op->arena, max + 1, sizeof(*names));
	if (p->receivers)
		for (; count < max; count++)
			names[count] = p->receivers->items[count].s;
	else
		status = store_subscribers(c, p->channel.id, max, call->op->arena, names, &count);
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	if (count == 0)
		return problem_set(&call->op->problem, P_INVALID_FIELD, "receivers", "the channel has no subscribers; name "
				   "the receivers, or subscribe agents with PUT /v1/channels/%.*s/subscribers/AGENT",
				   STR_ARG(call->params[0]));
	*ret = names;
	*ret_count = count;
	return P_OK;
}

/* Who the receivers are is decided when it is written; who is warned about, here: those named, or the subscribers where
 * it is not published again. */
static void warn_of_budgets(struct call *call, struct store_conn *c, struct publishing *p, const struct envelope *e)
{
	struct handoff_filter before = {.space = call->op->space, .envelope = p->order.envelope};
	struct handoff_row row;
	struct str *names = NULL;
	size_t count = 0;
	bool is_known = p->receivers != NULL;

	if (!is_known && store_channel_get(c, call->op->space, call->params[0], call->op->arena, &p->channel) == STORE_OK) {
		before.channel = p->channel.id;
		is_known = store_handoffs(c, &before, 0, 1, call->op->arena, &row, &count) == STORE_OK && count == 0;
	}
	if (is_known && find_receivers(call, c, p, &names, &count) == P_OK)
		over_budget_warn(call, c, e, p->receivers ? "receivers" : "channel", names, count);
	call->op->problem = (struct problem){0};
}

static enum problem_code prepare_publish(struct call *call, struct store_conn *c)
{
	struct publishing *p = call->input;
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = unpack_find(c, call->op->space, p->order.envelope, "envelope_id", call->op->arena, &row,
					     &call->op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, call->op->arena, &e, &call->op->problem);
	if (code != P_OK)
		return code;
	p->order.from = call->op->agent.p ? call->op->agent : e.from;
	warn_of_budgets(call, c, p, &e);
	return P_OK;
}

/* To one receiver. Where it was published before, and parked since, that is a no-op, as for the others. */
static enum problem_code publish_to(struct call *call, struct store_conn *c, struct delivery *d, struct publishing *p,
				    struct str name)
{
	struct handoff_row *row = &p->rows[p->count++];
	enum store_status status;
	enum problem_code code;
	int64_t agent;

	p->order.to = name;
	code = delivery_send(d, &p->order, row, &call->op->problem);
	if (code != P_HANDOFF_PARKED)
		return code;
	call->op->problem = (struct problem){0};
	status = store_agent_id(c, call->op->space, name, false, call->op->now_ms, &agent);
	if (status == STORE_OK)
		status = store_handoff_find(c, call->op->space, p->order.envelope, agent, call->op->arena, row);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static enum problem_code publish_to_all(struct call *call, struct store_conn *c, struct publishing *p)
{
	struct delivery d = waiting_delivery(call->op, c);
	struct str *names = NULL;
	size_t count = 0;
	enum problem_code code = find_receivers(call, c, p, &names, &count);

	if (code == P_OK)
		p->rows = arena_calloc(call->op->arena, count, sizeof(*p->rows));
	call->op->told = (struct event_row){.kind = EVENT_CHANNEL_PUBLISHED, .envelope = p->order.envelope,
					.note = call->params[0]};
	p->order.channel = p->channel.id;
	p->order.channel_name = p->channel.name;
	for (size_t i = 0; code == P_OK && i < count; i++)
		code = publish_to(call, c, &d, p, names[i]);
	return code;
}

/* All or none: what fails in the middle takes the rest with it. Published again for the subscribers, the envelope is
 * for those who subscribed the first time, whoever has come or gone since. */
static enum problem_code write_publish(struct call *call, struct store_conn *c)
{
	struct publishing *p = call->input;
	enum store_status status = store_savepoint(c);
	enum problem_code code = status == STORE_OK ? channel_make(call->op, c, call->params[0], &p->channel)
						    : problem_of_store(&call->op->problem, status);

	p->count = 0;
	if (code == P_OK && p->receivers == NULL) {
		status = read_members(c, call->op->space, p->order.envelope, p->channel.id, call->op->arena, &p->rows,
				      &p->count);
		code = status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
	}
	if (code == P_OK && p->count == 0)
		code = publish_to_all(call, c, p);
	if (problem_store_status(code) != STORE_OK)
		return code;
	status = code == P_OK ? store_release(c) : store_rollback_to(c);
	return status == STORE_OK ? code : problem_of_store(&call->op->problem, status);
}

static void encode_publish(struct call *call)
{
	struct publishing *p = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "channel", call->params[0]);
	json_key(&w, "handoffs");
	json_begin_array(&w);
	for (size_t i = 0; i < p->count; i++)
		handoff_json_put(&w, &p->rows[i]);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- POST /v1/channels/{name}/join --- */

enum join_state { JOIN_WAITING, JOIN_JOINED, JOIN_FAILED, JOIN_DEADLINE };

static const char *const join_names[] = {"waiting", "joined", "failed", "deadline"};

struct joining {
	uint64_t envelope;
	int64_t need;			/* how many must have completed; 0: all */
	int64_t wait_ms;
	int64_t deadline_ms;		/* 0: none */
	struct channel_row channel;
	struct wait_tally tally;
	enum join_state state;
	/* Read when it answers. */
	struct handoff_row *rows;
	size_t count;
	struct result_row *results;
	bool *has_result;
};

static enum problem_code read_need(struct call *call, struct joining *j)
{
	const struct json *need = decode_member(&call->body, "need");

	if (need == NULL || (need->type == JSON_STRING && str_is(need->s, "all")))
		return P_OK;
	j->need = 1;
	if (need->type == JSON_STRING && str_is(need->s, "any"))
		return P_OK;
	if (json_as_int(need, &j->need) && j->need >= 1)
		return P_OK;
	return problem_set(&call->op->problem, P_INVALID_FIELD, "need", "need is how many receivers must complete; "
			   "expected \"all\", \"any\" or a whole number from 1");
}

static enum problem_code decode_join(struct call *call)
{
	static const char *const known[] = {"envelope_id", "need", "wait_s", "deadline", NULL};
	struct joining *j = arena_zalloc(call->op->arena, sizeof(*j));
	int64_t wait_ms;
	enum problem_code code = decode_check_name(call->params[0], "name", CHANNEL_NAME_MAX, &call->op->problem);

	call->input = j;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_envelope_id(call, &j->envelope);
	if (code == P_OK)
		code = read_need(call, j);
	if (code == P_OK)
		code = decode_seconds(&call->body, "wait_s", 0, JOIN_WAIT_MAX_MS, &j->wait_ms, &call->op->problem);
	if (code == P_OK)
		code = decode_time(&call->body, "deadline", &j->deadline_ms, &call->op->problem);
	if (code != P_OK)
		return code;
	wait_ms = j->wait_ms;
	if (j->deadline_ms && j->deadline_ms - call->op->now_ms < wait_ms)
		wait_ms = j->deadline_ms - call->op->now_ms;
	op_may_wait(call->op, wait_ms);
	return P_OK;
}

/* Reads every handoff, and forgets them: only the numbers stay until the answer. */
static enum store_status count_members(struct call *call, struct store_conn *c, struct joining *j)
{
	struct handoff_row *rows = NULL;
	struct arena look;
	size_t count = 0;
	enum store_status status;

	arena_init(&look);
	status = read_members(c, call->op->space, j->envelope, j->channel.id, &look, &rows, &count);
	j->tally = (struct wait_tally){.channel = j->channel.id};
	for (size_t i = 0; status == STORE_OK && i < count; i++)
		wait_tally_add(&j->tally, rows[i].state, 1);
	arena_release(&look);
	if (status == STORE_OK)
		waiting_keep_tally(call->op, &j->tally);
	return status;
}

/* Joined: enough have completed. Failed: enough never will, because too many were parked or discarded. */
static enum problem_code judge(struct call *call, struct joining *j)
{
	const struct wait_tally *t = &j->tally;
	size_t need = j->need ? (size_t)j->need : t->count;

	if (t->count == 0)
		return problem_set(&call->op->problem, P_ENVELOPE_NOT_FOUND, "envelope_id", "env-%llu was not published to "
				   "this channel", (unsigned long long)j->envelope);
	if (need > t->count)
		return problem_set(&call->op->problem, P_INVALID_FIELD, "need", "need is %zu, but there are %zu receivers",
				   need, t->count);
	if (t->completed >= need)
		j->state = JOIN_JOINED;
	else if (t->count - (t->ended - t->completed) < need)
		j->state = JOIN_FAILED;
	else
		j->state = j->deadline_ms && j->deadline_ms <= call->op->now_ms ? JOIN_DEADLINE : JOIN_WAITING;
	return P_OK;
}

/* What the answer shows. */
static enum store_status read_results(struct call *call, struct store_conn *c, struct joining *j)
{
	enum store_status status = read_members(c, call->op->space, j->envelope, j->channel.id, call->op->arena, &j->rows,
						&j->count);

	j->results = arena_calloc(call->op->arena, j->count + 1, sizeof(*j->results));
	j->has_result = arena_calloc(call->op->arena, j->count + 1, sizeof(*j->has_result));
	for (size_t i = 0; status == STORE_OK && i < j->count; i++) {
		status = result_read(c, call->op->space, j->rows[i].num, call->op->arena, &j->results[i]);
		j->has_result[i] = status == STORE_OK;
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	return status;
}

/* A join of ten thousand receivers looks ten thousand times: it reads their handoffs when it begins and when it
 * answers, and in between it only looks at numbers. */
static enum problem_code write_join(struct call *call, struct store_conn *c)
{
	struct joining *j = call->input;
	int64_t id = waiting_id(call->op->space, j->envelope);
	enum problem_code code = call->op->wait.is_again ? P_OK : channel_find(call->op, c, call->params[0], &j->channel);
	enum store_status status = STORE_OK;

	if (code != P_OK)
		return code;
	j->tally.channel = j->channel.id;
	if (!waiting_knows_tally(call->op, id, &j->tally))
		status = count_members(call, c, j);
	code = status == STORE_OK ? judge(call, j) : problem_of_store(&call->op->problem, status);
	if (code != P_OK)
		return code;
	if (j->state == JOIN_WAITING && !call->op->wait.is_over) {
		call->op->wait.tally = &j->tally;
		waiting_for(call->op, WAIT_ENVELOPE, id);
		return P_OK;
	}
	status = read_results(call, c, j);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_join(struct call *call)
{
	struct joining *j = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "state", join_names[j->state]);
	json_member_int(&w, "receivers", (int64_t)j->count);
	json_member_int(&w, "completed", (int64_t)j->tally.completed);
	json_member_int(&w, "need", j->need ? j->need : (int64_t)j->count);
	json_key(&w, "results");
	json_begin_array(&w);
	for (size_t i = 0; i < j->count; i++) {
		json_begin_object(&w);
		handoff_json_members(&w, &j->rows[i]);
		if (j->has_result[i])
			handoff_json_result(&w, &j->results[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	call_end_reply(call, &w);
}

const struct route publish_routes[] = {
	{HTTP_POST, "/v1/channels/{}/publish", ROUTE_BODY | ROUTE_CREATES,
	 .decode = decode_publish, .write = write_publish, .encode = encode_publish, .prepare = prepare_publish},
	{HTTP_POST, "/v1/channels/{}/join", ROUTE_BODY, .decode = decode_join, .write = write_join,
	 .encode = encode_join},
	{0},
};
