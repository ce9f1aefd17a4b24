#include "api/mcp/listen.h"

#include "api/caller.h"
#include "api/describe/descriptions.h"
#include "api/mcp/fixture.h"
#include "api/mcp/inbox.h"
#include "api/mcp/methods.h"
#include "api/mcp/subscriptions.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/delivery/agent.h"
#include "engine/delivery/peek.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { OF_ONE_MAX = 64, UNREAD_MAX = 64 * 1024 };

struct listener_stream {
	struct list link;
	struct mcp_call *m;
	struct held held;
	char of[MCP_OWNER_SIZE];	/* whose subscriptions it is told */
	bool is_session;
	bool wants_tools, wants_prompts;
	const struct json *inboxes;	/* that are still to be looked into */
	uint32_t looked;
	bool is_looking;		/* an operation is under way: the stream does not end before it */
	bool is_unwelcome;		/* it ends then */
};

struct listening_thread {
	struct list streams;		/* the thread's own */
	atomic_size_t open;
};

struct listening {
	struct api *api;
	int threads;
	struct subscriptions *subscriptions;
	struct listening_thread each[];
};

struct listening *listen_new(struct api *api, int threads)
{
	struct listening *l = mem_zalloc(sizeof(*l) + (size_t)threads * sizeof(l->each[0]));

	l->api = api;
	l->threads = threads;
	l->subscriptions = subscriptions_new(api);
	for (int i = 0; i < threads; i++)
		list_init(&l->each[i].streams);
	return l;
}

void listen_free(struct listening *l)
{
	if (l == NULL)
		return;
	subscriptions_free(l->subscriptions);
	free(l);
}

/* --- Messages --- */

static void begin_message(struct json_writer *w, struct buf *out, const char *method)
{
	buf_init(out, MCP_ANSWER_MAX);
	json_writer_init(w, out);
	json_begin_object(w);
	json_member_cstr(w, "jsonrpc", "2.0");
	json_member_cstr(w, "method", method);
	json_key(w, "params");
	json_begin_object(w);
}

static void end_message(const struct listener_stream *s, struct json_writer *w, struct buf *out)
{
	if (!s->is_session) {
		json_key(w, "_meta");
		json_begin_object(w);
		json_key(w, "io.modelcontextprotocol/subscriptionId");
		json_put(w, s->m->id);
		json_end_object(w);
	}
	json_end_object(w);
	json_end_object(w);
	mcp_stream_put(s->m, buf_str(out));
	buf_release(out);
}

static void tell_updated(const struct listener_stream *s, struct str uri)
{
	struct json_writer w;
	struct buf out;

	/* One that does not read has been told often enough; the write timeout ends it. */
	if (http_stream_write(s->m->req, STR("")) > UNREAD_MAX)
		return;
	begin_message(&w, &out, "notifications/resources/updated");
	json_member_str(&w, "uri", uri);
	end_message(s, &w, &out);
}

static void subscribe(struct mcp_call *m, const char *of, struct str uri, struct str agent)
{
	subscriptions_add(m->mcp->listening->subscriptions, of, uri, caller_space(&m->call), agent);
}

/* --- Waking --- */

struct wake {
	struct listening *listening;
	int thread;
	size_t count;
	int64_t agents[];
};

static void tell_streams(struct listening_thread *t, const char *of, const char *uri)
{
	for (struct list *at = t->streams.next; at != &t->streams; at = at->next) {
		const struct listener_stream *stream = LIST_ELEMENT(at, struct listener_stream, link);

		if (strcmp(stream->of, of) == 0)
			tell_updated(stream, str_of(uri));
	}
}

static void on_found(void *thread, const char *of, const char *uri)
{
	tell_streams(thread, of, uri);
}

static void on_wake(void *arg)
{
	struct wake *wake = arg;
	struct listening *l = wake->listening;

	subscriptions_find(l->subscriptions, api_reader(l->api, wake->thread)->conn, wake->agents, wake->count,
			   on_found, &l->each[wake->thread]);
	free(wake);
}

void listen_wake(struct listening *l, const int64_t *agents, size_t count)
{
	for (int i = 0; l && count && i < l->threads; i++) {
		struct wake *wake;

		if (atomic_load(&l->each[i].open) == 0)
			continue;
		wake = mem_alloc(sizeof(*wake) + count * sizeof(wake->agents[0]));
		*wake = (struct wake){l, i, count};
		memcpy(wake->agents, agents, count * sizeof(wake->agents[0]));
		http_post(l->api->http, i, on_wake, wake);
	}
}

/* --- Streams --- */

static struct listening_thread *thread_of(const struct listener_stream *s)
{
	return &s->m->mcp->listening->each[http_req_thread(s->m->req)];
}

static void close_stream(struct listener_stream *s)
{
	struct mcp_call *m = s->m;

	held_remove(&s->held);
	list_remove(&s->link);
	atomic_fetch_sub(&thread_of(s)->open, 1);
	if (!s->is_session)
		subscriptions_remove(m->mcp->listening->subscriptions, s->of, STR_NULL);
	buf_release(&m->out);
	buf_release(&m->call.reply);
}

static void on_gone(struct http_req *req, void *arg)
{
	struct listener_stream *s = arg;

	if (s->is_looking)
		return;
	close_stream(s);
	http_stream_end(req);
}

/* A subscription that the server ends has an answer. */
static void end_stream(struct listener_stream *s)
{
	struct mcp_call *m = s->m;

	close_stream(s);
	http_req_on_gone(m->req, NULL, NULL);
	if (s->is_session) {
		http_stream_end(m->req);
		return;
	}
	json_key(mcp_begin(m), "_meta");
	json_begin_object(&m->w);
	json_key(&m->w, "io.modelcontextprotocol/subscriptionId");
	json_put(&m->w, m->id);
	json_end_object(&m->w);
	mcp_end(m);
}

static void on_unwelcome(void *arg)
{
	struct listener_stream *s = arg;

	s->is_unwelcome = true;
	if (!s->is_looking)
		end_stream(s);
}

static void on_beat(struct http_req *req, void *arg)
{
	struct listener_stream *s = arg;

	if (s->is_looking)
		return;
	if (api_is_ending(s->m->call.api)) {
		end_stream(s);
		return;
	}
	http_stream_write(req, STR(": still here\n\n"));
	http_req_set_timer(req, s->m->call.api->limits.heartbeat_ms, on_beat, s);
}

static struct listener_stream *open_stream(struct mcp_call *m)
{
	struct listener_stream *s = arena_zalloc(http_req_arena(m->req), sizeof(*s));

	s->m = m;
	list_init(&s->link);
	mcp_stream(m);
	return s;
}

static void begin_listening(struct listener_stream *s)
{
	held_add(s->m->call.api, s->m->req, &s->held, s->m->access, on_unwelcome, s);
	list_add(&thread_of(s)->streams, &s->link);
	atomic_fetch_add(&thread_of(s)->open, 1);
	http_req_on_gone(s->m->req, on_gone, s);
	http_req_set_timer(s->m->req, api_is_ending(s->m->call.api) ? 1 : s->m->call.api->limits.heartbeat_ms, on_beat,
			   s);
}

void listen_session(struct mcp_call *m)
{
	struct listener_stream *s;

	if (mcp_is_modern(m) || m->session.p == NULL || !mcp_takes_stream(m)) {
		static const struct http_header headers[] = {{"Allow", {"POST", 4}}, {0}};

		http_reply(m->req, 405, NULL, headers, NULL);
		return;
	}
	s = open_stream(m);
	s->is_session = true;
	mcp_owner(m, s->of);
	http_stream_write(m->req, STR(": what has come is told here\n\n"));
	begin_listening(s);
}

/* --- subscriptions/listen --- */

static bool wants(const struct json *filter, const char *what)
{
	const struct json *value = json_get(filter, what);

	return fixture_is_on() && value && value->type == JSON_BOOL && value->boolean;
}

/* Writes those that are inboxes, and keeps them. */
static void put_inboxes(struct listener_stream *s, struct json_writer *w, const struct json *uris)
{
	bool is_list = uris && uris->type == JSON_ARRAY;

	json_key(w, "resourceSubscriptions");
	json_begin_array(w);
	for (uint32_t i = 0; is_list && i < uris->count && i < OF_ONE_MAX; i++) {
		const struct json *uri = &uris->items[i];
		struct str agent = uri->type == JSON_STRING ? inbox_agent(uri->s, s->m->req) : STR_NULL;

		if (agent.p == NULL)
			continue;
		subscribe(s->m, s->of, uri->s, agent);
		json_put_str(w, uri->s);
	}
	json_end_array(w);
	s->inboxes = is_list ? uris : NULL;
}

static void acknowledge(struct listener_stream *s, const struct json *filter)
{
	struct json_writer w;
	struct buf out;

	begin_message(&w, &out, "notifications/subscriptions/acknowledged");
	json_key(&w, "notifications");
	json_begin_object(&w);
	if (s->wants_tools)
		json_member_bool(&w, "toolsListChanged", true);
	if (s->wants_prompts)
		json_member_bool(&w, "promptsListChanged", true);
	if (json_get(filter, "resourceSubscriptions"))
		put_inboxes(s, &w, json_get(filter, "resourceSubscriptions"));
	json_end_object(&w);
	end_message(s, &w, &out);
}

/* What has come before is told, too: whoever listens need not look first. */
static void look_into_next(struct listener_stream *s);

static struct listener_stream *stream_of(struct mcp_call *m)
{
	struct listening_thread *t = &m->mcp->listening->each[http_req_thread(m->req)];

	for (struct list *at = t->streams.next; at != &t->streams; at = at->next)
		if (LIST_ELEMENT(at, struct listener_stream, link)->m == m)
			return LIST_ELEMENT(at, struct listener_stream, link);
	abort();
}

static void on_looked(struct mcp_call *m)
{
	struct listener_stream *s = stream_of(m);
	const struct peek *p = call_op(&m->call);

	s->is_looking = false;
	if (http_req_is_gone(m->req)) {
		on_gone(m->req, s);
		return;
	}
	if (s->is_unwelcome) {
		end_stream(s);
		return;
	}
	/* The owner of an operation takes both away; of a server that stops the timer comes at once. */
	http_req_on_gone(m->req, on_gone, s);
	http_req_set_timer(m->req, m->call.api->limits.heartbeat_ms, on_beat, s);
	if (m->call.op->problem.code == P_OK && p->next)
		tell_updated(s, s->inboxes->items[s->looked - 1].s);
	look_into_next(s);
}

static void look_into_next(struct listener_stream *s)
{
	while (s->inboxes && s->looked < s->inboxes->count && s->looked < OF_ONE_MAX) {
		const struct json *uri = &s->inboxes->items[s->looked++];
		struct str agent = uri->type == JSON_STRING ? inbox_agent(uri->s, s->m->req) : STR_NULL;

		if (agent.p == NULL || !mcp_make(s->m, &describe_peek))
			continue;
		s->m->call.params[0] = agent;
		s->is_looking = true;
		mcp_run(s->m, on_looked);
		return;
	}
}

void listen_open(struct mcp_call *m)
{
	const struct json *filter = json_get(m->params, "notifications");
	struct listener_stream *s;

	if (filter == NULL || filter->type != JSON_OBJECT) {
		mcp_error(m, MCP_INVALID_PARAMS, "notifications is missing; it says what to listen for, as in "
			  "{\"resourceSubscriptions\":[\"" INBOX "reviewer\"]}");
		return;
	}
	if (!inbox_may_listen_to_all(m, json_get(filter, "resourceSubscriptions"))) {
		mcp_problem(m);
		return;
	}
	s = open_stream(m);
	snprintf(s->of, sizeof(s->of), "stream-%p", (void *)s);
	s->wants_tools = wants(filter, "toolsListChanged");
	s->wants_prompts = wants(filter, "promptsListChanged");
	acknowledge(s, filter);
	begin_listening(s);
	look_into_next(s);
}

/* --- resources/subscribe --- */

struct told {
	struct listening *listening;
	int thread;
	char of[MCP_OWNER_SIZE], uri[SUBSCRIPTION_URI_MAX];
};

static void on_told(void *arg)
{
	struct told *told = arg;

	tell_streams(&told->listening->each[told->thread], told->of, told->uri);
	free(told);
}

static void on_subscribed(struct mcp_call *m)
{
	struct listening *l = m->mcp->listening;
	const struct peek *p = call_op(&m->call);

	for (int i = 0; m->call.op->problem.code == P_OK && p->next && i < l->threads; i++) {
		struct told *told = mem_zalloc(sizeof(*told));

		told->listening = l;
		told->thread = i;
		mcp_owner(m, told->of);
		snprintf(told->uri, sizeof(told->uri), "%.*s", STR_ARG(mcp_param(m, "uri")));
		http_post(m->call.api->http, i, on_told, told);
	}
	mcp_begin(m);
	mcp_end(m);
}

void listen_subscribe(struct mcp_call *m)
{
	struct str uri = mcp_param(m, "uri"), agent = inbox_agent(uri, m->req);
	char of[MCP_OWNER_SIZE];

	mcp_owner(m, of);
	if (fixture_watches(uri)) {
		mcp_begin(m);
		mcp_end(m);
	} else if (agent.p == NULL) {
		mcp_error(m, MCP_INVALID_PARAMS, "only inboxes can be subscribed to, as in " INBOX "reviewer");
	} else if (m->session.p == NULL) {
		mcp_error(m, MCP_INVALID_REQUEST, "Mcp-Session-Id is missing; it came with the answer to initialize");
	} else if (inbox_may_listen(m, agent) && mcp_make(m, &describe_peek)) {
		subscribe(m, of, uri, agent);
		m->call.params[0] = agent;
		mcp_run(m, on_subscribed);
	} else {
		mcp_problem(m);
	}
}

void listen_unsubscribe(struct mcp_call *m)
{
	char of[MCP_OWNER_SIZE];

	mcp_owner(m, of);
	subscriptions_remove(m->mcp->listening->subscriptions, of, mcp_param(m, "uri"));
	mcp_begin(m);
	mcp_end(m);
}

/* --- For the fixture --- */

struct changed {
	struct listening *listening;
	int thread;
	bool is_tools;
};

static void on_changed(void *arg)
{
	struct changed *c = arg;
	struct listening_thread *t = &c->listening->each[c->thread];
	struct json_writer w;
	struct buf out;

	for (struct list *at = t->streams.next; at != &t->streams; at = at->next) {
		const struct listener_stream *s = LIST_ELEMENT(at, struct listener_stream, link);

		if (!(c->is_tools ? s->wants_tools : s->wants_prompts))
			continue;
		begin_message(&w, &out, c->is_tools ? "notifications/tools/list_changed"
						    : "notifications/prompts/list_changed");
		end_message(s, &w, &out);
	}
	free(c);
}

void listen_tell_changed(struct mcp *mcp, const char *what)
{
	for (int i = 0; i < mcp->listening->threads; i++) {
		struct changed *c = mem_zalloc(sizeof(*c));

		*c = (struct changed){mcp->listening, i, strcmp(what, "tools") == 0};
		http_post(mcp->api->http, i, on_changed, c);
	}
}
