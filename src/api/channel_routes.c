/* Channels: durable, named, one handoff per receiver, all or none; and join, which waits for what they make of it. */
#include "api/decode.h"
#include "api/handoff_json.h"
#include "api/page.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/envelope.h"

enum { NAME_MAX_BYTES = 128, DESCRIPTION_MAX = 4096, RECEIVERS_MAX = 10000, JOIN_WAIT_MAX_MS = 60000, LISTED_MAX = 1000000 };

static enum problem_code find_channel(struct call *call, struct store_conn *c, struct channel_row *ret)
{
	enum store_status status = call->space ? store_channel_get(c, call->space, call->params[0], call->arena, ret) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return problem_set(&call->problem, P_CHANNEL_NOT_FOUND, "name", "there is no channel \"%.*s\" in this space", STR_ARG(call->params[0]));
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

/* Channels come into being when they are first used. */
static enum problem_code make_channel(struct call *call, struct store_conn *c, struct channel_row *ret)
{
	enum store_status status = store_channel_get(c, call->space, call->params[0], call->arena, ret);

	if (status == STORE_NOT_FOUND) {
		status = store_channel_put(c, call->space, call->params[0], STR_NULL, call->now_ms);
		if (status == STORE_OK)
			status = store_channel_get(c, call->space, call->params[0], call->arena, ret);
	}
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static void put_channel(struct json_writer *w, const struct channel_row *row)
{
	json_member_str(w, "name", row->name);
	json_member_optional(w, "description", row->description);
	json_member_int(w, "subscriber_count", row->subscribers);
	json_member_time(w, "created_at", row->created_at_ms);
}

/* --- PUT, GET /v1/channels/{name} --- */

struct channel {
	struct channel_row row;
	struct str description;
	struct str *names;
	size_t count;
};

static enum problem_code decode_channel(struct call *call)
{
	static const char *const known[] = {"description", NULL};
	struct channel *ch = arena_zalloc(call->arena, sizeof(*ch));
	enum problem_code code = decode_check_name(call->params[0], "name", NAME_MAX_BYTES, &call->problem);

	call->input = ch;
	if (call->body.type == JSON_OBJECT)
		call_warn_unknown_members(call, &call->body, known, "");
	return code == P_OK ? decode_str(&call->body, "description", 0, DESCRIPTION_MAX, &ch->description, &call->problem) : code;
}

static enum problem_code read_channel(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	enum problem_code code = find_channel(call, c, &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	ch->names = arena_calloc(call->arena, (size_t)ch->row.subscribers + 1, sizeof(*ch->names));
	status = store_subscribers(c, ch->row.id, (size_t)ch->row.subscribers + 1, call->arena, ch->names, &ch->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static enum problem_code write_channel(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	enum store_status status;

	call->told = (struct event_row){.kind = EVENT_CHANNEL_SET, .note = call->params[0]};
	status = store_channel_put(c, call->space, call->params[0], ch->description, call->now_ms);

	return status == STORE_OK ? read_channel(call, c) : problem_of_store(&call->problem, status);
}

static void encode_channel(struct call *call)
{
	struct channel *ch = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_channel(&w, &ch->row);
	json_key(&w, "subscribers");
	json_begin_array(&w);
	for (size_t i = 0; i < ch->count; i++)
		json_put_str(&w, ch->names[i]);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- PUT, DELETE /v1/channels/{name}/subscribers/{agent} --- */

static enum problem_code decode_subscriber(struct call *call)
{
	enum problem_code code = decode_channel(call);

	return code == P_OK ? decode_check_agent(call->params[1], "agent", &call->problem) : code;
}

static enum problem_code write_subscribe(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	int64_t agent = 0;
	enum problem_code code = make_channel(call, c, &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_agent_id(c, call->space, call->params[1], true, call->now_ms, &agent);
	call->told = (struct event_row){.kind = EVENT_CHANNEL_SUBSCRIBED, .agent = call->params[1], .note = call->params[0]};
	if (status == STORE_OK)
		status = store_subscriber_put(c, ch->row.id, agent, call->now_ms);
	return status == STORE_OK ? read_channel(call, c) : problem_of_store(&call->problem, status);
}

static enum problem_code write_unsubscribe(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	int64_t agent = 0;
	enum problem_code code = find_channel(call, c, &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_agent_id(c, call->space, call->params[1], false, call->now_ms, &agent);
	call->told = (struct event_row){.kind = EVENT_CHANNEL_UNSUBSCRIBED, .agent = call->params[1], .note = call->params[0]};
	if (status == STORE_OK)
		status = store_subscriber_delete(c, ch->row.id, agent);
	if (status == STORE_NOT_FOUND)
		return problem_set(&call->problem, P_AGENT_NOT_FOUND, "agent", "%.*s does not subscribe to this channel", STR_ARG(call->params[1]));
	return status == STORE_OK ? read_channel(call, c) : problem_of_store(&call->problem, status);
}

/* --- GET /v1/channels --- */

struct channel_list {
	struct page page;
	struct channel_row *rows;
	size_t count;
};

static enum problem_code decode_list(struct call *call)
{
	struct channel_list *l = arena_zalloc(call->arena, sizeof(*l));
	enum problem_code code;

	call->input = l;
	code = page_read(call, &l->page);
	if (code == P_OK && l->page.position > LISTED_MAX)
		code = problem_set(&call->problem, P_INVALID_PAGE_TOKEN, "page_token", "page_token is not one of this list");
	return code;
}

/* Channels are few; a page is found by counting from the start. */
static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct channel_list *l = call->input;
	size_t max = (size_t)l->page.position + l->page.size + 1;
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(call->arena, max, sizeof(*l->rows));
	if (call->space)
		status = store_channels(c, call->space, STR_NULL, max, call->arena, l->rows, &l->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static void encode_list(struct call *call)
{
	struct channel_list *l = call->input;
	size_t from = (size_t)l->page.position, to = from + l->page.size;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "channels");
	json_begin_array(&w);
	for (size_t i = from; i < l->count && i < to; i++) {
		json_begin_object(&w);
		put_channel(&w, &l->rows[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->count > to, to, 0);
	call_end_reply(call, &w);
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
	struct str id = STR_NULL;
	enum problem_code code = decode_str(&call->body, "envelope_id", 1, 64, &id, &call->problem);

	if (code == P_OK && id.p == NULL)
		code = problem_set(&call->problem, P_MISSING_FIELD, "envelope_id", "envelope_id is missing; it is what POST /v1/envelopes answered, as in env-17");
	if (code == P_OK && !envelope_id_parse(id, ret))
		code = problem_set(&call->problem, P_INVALID_FIELD, "envelope_id", "envelope_id is not an id of an envelope; expected one as in env-17");
	return code;
}

static enum problem_code read_receivers(struct call *call, struct publishing *p)
{
	enum problem_code code = decode_agents(&call->body, "receivers", RECEIVERS_MAX, &p->receivers, &call->problem);

	if (code == P_OK && p->receivers && p->receivers->count == 0)
		p->receivers = NULL;
	return code;
}

static enum problem_code decode_publish(struct call *call)
{
	static const char *const known[] = {"envelope_id", "receivers", "delivery", "priority", "ack_timeout_s", "max_attempts", NULL};
	struct publishing *p = arena_zalloc(call->arena, sizeof(*p));
	struct str delivery = STR("at-least-once");
	int64_t priority = DELIVERY_PRIORITY;
	const struct json *b = &call->body;
	struct problem *problem = &call->problem;
	enum problem_code code;

	call->input = p;
	call_warn_unknown_members(call, b, known, "");
	if ((code = decode_check_name(call->params[0], "name", NAME_MAX_BYTES, problem)) != P_OK ||
	    (code = read_envelope_id(call, &p->order.envelope)) != P_OK || (code = read_receivers(call, p)) != P_OK ||
	    (code = decode_int(b, "priority", 0, DELIVERY_PRIORITY_MAX, &priority, problem)) != P_OK ||
	    (code = decode_seconds(b, "ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS, &p->order.ack_timeout_ms, problem)) != P_OK ||
	    (code = decode_int(b, "max_attempts", 1, DELIVERY_ATTEMPTS_MAX, &p->order.max_attempts, problem)) != P_OK ||
	    (code = decode_str(b, "delivery", 1, 64, &delivery, problem)) != P_OK)
		return code;
	if (!str_is(delivery, "at-least-once"))
		return problem_set(problem, P_INVALID_FIELD, "delivery", "delivery is \"%.*s\"; this server has at-least-once", STR_ARG(delivery));
	p->order.priority = (int)priority;
	return P_OK;
}

static enum problem_code prepare_publish(struct call *call, struct store_conn *c)
{
	struct publishing *p = call->input;
	struct envelope_row row;
	struct envelope e;
	enum store_status status = call->space ? store_envelope_get(c, call->space, p->order.envelope, call->arena, &row) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return problem_set(&call->problem, P_ENVELOPE_NOT_FOUND, "envelope_id", "there is no env-%llu in this space",
				   (unsigned long long)p->order.envelope);
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	p->order.from = call->agent;
	if (p->order.from.p == NULL && envelope_read(row.body, call->arena, &e))
		p->order.from = e.from;
	return P_OK;
}

static enum problem_code find_receivers(struct call *call, struct store_conn *c, struct publishing *p, struct str **ret, size_t *ret_count)
{
	size_t max = p->receivers ? p->receivers->count : (size_t)p->channel.subscribers;
	struct str *names = arena_calloc(call->arena, max + 1, sizeof(*names));
	size_t count = 0;
	enum store_status status = STORE_OK;

	if (p->receivers)
		for (; count < max; count++)
			names[count] = p->receivers->items[count].s;
	else
		status = store_subscribers(c, p->channel.id, max, call->arena, names, &count);
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	if (count == 0)
		return problem_set(&call->problem, P_INVALID_FIELD, "receivers", "the channel has no subscribers; name the receivers, or subscribe agents with PUT /v1/channels/%.*s/subscribers/AGENT",
				   STR_ARG(call->params[0]));
	*ret = names;
	*ret_count = count;
	return P_OK;
}

/* All or none: what fails in the middle takes the rest with it. */
static enum problem_code write_publish(struct call *call, struct store_conn *c)
{
	struct publishing *p = call->input;
	struct delivery d = waiting_delivery(call, c);
	struct str *names = NULL;
	size_t count = 0;
	enum store_status status = store_savepoint(c);
	enum problem_code code = status == STORE_OK ? make_channel(call, c, &p->channel) : problem_of_store(&call->problem, status);

	if (code == P_OK)
		code = find_receivers(call, c, p, &names, &count);
	if (code == P_OK)
		p->rows = arena_calloc(call->arena, count, sizeof(*p->rows));
	call->told = (struct event_row){.kind = EVENT_CHANNEL_PUBLISHED, .envelope = p->order.envelope, .note = call->params[0]};
	p->order.channel = p->channel.id;
	p->order.channel_name = p->channel.name;
	for (p->count = 0; code == P_OK && p->count < count; p->count++) {
		p->order.to = names[p->count];
		code = delivery_send(&d, &p->order, &p->rows[p->count], &call->problem);
		/* Published before, and parked since: a no-op, as for the others. */
		if (code == P_HANDOFF_PARKED) {
			int64_t agent;

			call->problem = (struct problem){0};
			status = store_agent_id(c, call->space, names[p->count], false, call->now_ms, &agent);
			if (status == STORE_OK)
				status = store_handoff_find(c, call->space, p->order.envelope, agent, call->arena, &p->rows[p->count]);
			code = status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
		}
	}
	if (problem_store_status(code) != STORE_OK)
		return code;
	status = code == P_OK ? store_release(c) : store_rollback_to(c);
	return status == STORE_OK ? code : problem_of_store(&call->problem, status);
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
	size_t count;
	size_t completed;
	size_t ended;			/* completed, parked or discarded */
	enum join_state state;
	/* Read when it answers. */
	struct handoff_row *rows;
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
	return problem_set(&call->problem, P_INVALID_FIELD, "need", "need is how many receivers must complete; expected \"all\", \"any\" or a whole number from 1");
}

static enum problem_code decode_join(struct call *call)
{
	static const char *const known[] = {"envelope_id", "need", "wait_s", "deadline", NULL};
	struct joining *j = arena_zalloc(call->arena, sizeof(*j));
	int64_t wait_ms;
	enum problem_code code = decode_check_name(call->params[0], "name", NAME_MAX_BYTES, &call->problem);

	call->input = j;
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_envelope_id(call, &j->envelope);
	if (code == P_OK)
		code = read_need(call, j);
	if (code == P_OK)
		code = decode_seconds(&call->body, "wait_s", 0, JOIN_WAIT_MAX_MS, &j->wait_ms, &call->problem);
	if (code == P_OK)
		code = decode_time(&call->body, "deadline", &j->deadline_ms, &call->problem);
	if (code != P_OK)
		return code;
	wait_ms = j->wait_ms;
	if (j->deadline_ms && j->deadline_ms - call->now_ms < wait_ms)
		wait_ms = j->deadline_ms - call->now_ms;
	waiting_prepare(call, wait_ms);
	return P_OK;
}

/* Reads the handoffs of the envelope into the arena. Most have a few receivers, some thousands. */
static enum store_status read_members(struct store_conn *c, const struct joining *j, int64_t space, struct arena *arena,
				      struct handoff_row **ret, size_t *ret_count)
{
	struct handoff_filter filter = {.space = space, .envelope = j->envelope, .channel = j->channel.id};
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

static void count_members(struct joining *j, const struct handoff_row *rows, size_t count)
{
	j->count = count;
	j->completed = j->ended = 0;
	for (size_t i = 0; i < count; i++) {
		j->completed += rows[i].state == HANDOFF_COMPLETED;
		j->ended += rows[i].state == HANDOFF_COMPLETED || rows[i].state == HANDOFF_PARKED || rows[i].state == HANDOFF_DISCARDED;
	}
}

/* Joined: enough have completed. Failed: enough never will, because too many were parked or discarded. */
static enum problem_code judge(struct call *call, struct joining *j)
{
	size_t need = j->need ? (size_t)j->need : j->count;

	if (j->count == 0)
		return problem_set(&call->problem, P_ENVELOPE_NOT_FOUND, "envelope_id", "env-%llu was not published to this channel",
				   (unsigned long long)j->envelope);
	if (need > j->count)
		return problem_set(&call->problem, P_INVALID_FIELD, "need", "need is %zu, but there are %zu receivers", need, j->count);
	if (j->completed >= need)
		j->state = JOIN_JOINED;
	else if (j->count - (j->ended - j->completed) < need)
		j->state = JOIN_FAILED;
	else
		j->state = j->deadline_ms && j->deadline_ms <= call->now_ms ? JOIN_DEADLINE : JOIN_WAITING;
	return P_OK;
}

/* What the answer shows. */
static enum store_status read_results(struct call *call, struct store_conn *c, struct joining *j)
{
	enum store_status status = read_members(c, j, call->space, call->arena, &j->rows, &j->count);

	j->results = arena_calloc(call->arena, j->count + 1, sizeof(*j->results));
	j->has_result = arena_calloc(call->arena, j->count + 1, sizeof(*j->has_result));
	for (size_t i = 0; status == STORE_OK && i < j->count; i++) {
		status = store_result_get(c, call->space, j->rows[i].num, call->arena, &j->results[i]);
		j->has_result[i] = status == STORE_OK;
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	return status;
}

/* A join of a thousand receivers looks a thousand times: what one look reads must not stay until the answer. */
static enum problem_code write_join(struct call *call, struct store_conn *c)
{
	struct joining *j = call->input;
	enum problem_code code = find_channel(call, c, &j->channel);
	struct handoff_row *rows = NULL;
	enum store_status status;
	struct arena look;
	size_t count = 0;

	if (code != P_OK)
		return code;
	arena_init(&look);
	status = read_members(c, j, call->space, &look, &rows, &count);
	count_members(j, rows, count);
	arena_release(&look);
	code = status == STORE_OK ? judge(call, j) : problem_of_store(&call->problem, status);
	if (code != P_OK)
		return code;
	if (j->state == JOIN_WAITING && !call->wait.is_over) {
		waiting_for(call, WAIT_ENVELOPE, waiting_id(call->space, j->envelope));
		return P_OK;
	}
	status = read_results(call, c, j);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static void encode_join(struct call *call)
{
	struct joining *j = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "state", join_names[j->state]);
	json_member_int(&w, "receivers", (int64_t)j->count);
	json_member_int(&w, "completed", (int64_t)j->completed);
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

const struct route channel_routes[] = {
	{HTTP_GET, "/v1/channels", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/channels/{}", 0, .decode = decode_channel, .read = read_channel, .encode = encode_channel},
	{HTTP_PUT, "/v1/channels/{}", ROUTE_BODY_OPTIONAL | ROUTE_CREATES,
	 .decode = decode_channel, .write = write_channel, .encode = encode_channel},
	{HTTP_PUT, "/v1/channels/{}/subscribers/{}", ROUTE_MAKES_SPACE,
	 .decode = decode_subscriber, .write = write_subscribe, .encode = encode_channel},
	{HTTP_DELETE, "/v1/channels/{}/subscribers/{}", 0,
	 .decode = decode_subscriber, .write = write_unsubscribe, .encode = encode_channel},
	{HTTP_POST, "/v1/channels/{}/publish", ROUTE_BODY | ROUTE_CREATES,
	 .decode = decode_publish, .write = write_publish, .encode = encode_publish, .prepare = prepare_publish},
	{HTTP_POST, "/v1/channels/{}/join", ROUTE_BODY, .decode = decode_join, .write = write_join, .encode = encode_join},
	{0},
};
