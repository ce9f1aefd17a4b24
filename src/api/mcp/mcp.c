/* A message from its bytes to the method that answers it. */
#include "api/mcp/mcp.h"

#include "api/http/http_client.h"
#include "api/http/reply.h"
#include "api/mcp/ask.h"
#include "api/mcp/cancel.h"
#include "api/mcp/era.h"
#include "api/mcp/fixture.h"
#include "api/mcp/listen.h"
#include "api/mcp/methods.h"
#include "api/mcp/tasks.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* --- Life --- */

struct mcp *mcp_new(struct api *api, int threads)
{
	struct mcp *mcp = mem_zalloc(sizeof(*mcp));

	mcp->api = api;
	mcp->listening = listen_new(api, threads);
	mcp->asking = ask_new();
	mcp->cancelling = cancel_new();
	mcp->tasks = tasks_new();
	if (getentropy(mcp->key, sizeof(mcp->key)) != 0)
		abort();
	return mcp;
}

void mcp_free(struct mcp *mcp)
{
	if (mcp == NULL)
		return;
	listen_free(mcp->listening);
	ask_free(mcp->asking);
	cancel_free(mcp->cancelling);
	tasks_free(mcp->tasks);
	free(mcp);
}

void mcp_wake(struct mcp *mcp, const int64_t *agents, size_t count)
{
	if (mcp)
		listen_wake(mcp->listening, agents, count);
}

/* --- Methods --- */

enum eras { LEGACY = 1, MODERN = 2, BOTH = LEGACY | MODERN };

static const struct {
	const char *name;
	enum eras eras;
	mcp_method_fn *answer;
} methods[] = {
	{"tools/call", BOTH, tool_call},
	{"tools/list", BOTH, tool_list},
	{"server/discover", MODERN, hello_discover},
	{"initialize", LEGACY, hello_initialize},
	{"ping", LEGACY, hello_ping},
	{"resources/list", BOTH, resources_list},
	{"resources/templates/list", BOTH, resources_templates},
	{"resources/read", BOTH, resources_read},
	{"resources/subscribe", LEGACY, listen_subscribe},
	{"resources/unsubscribe", LEGACY, listen_unsubscribe},
	{"subscriptions/listen", MODERN, listen_open},
	{"prompts/list", BOTH, prompts_list},
	{"prompts/get", BOTH, prompts_get},
	{"completion/complete", BOTH, prompts_complete},
	{"tasks/get", BOTH, tasks_get},
	{"tasks/result", LEGACY, tasks_result},
	{"tasks/update", MODERN, tasks_update},
	{"tasks/cancel", BOTH, tasks_cancel},
};

static mcp_method_fn *find_method(const struct mcp_call *m)
{
	enum eras era = mcp_is_modern(m) ? MODERN : LEGACY;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if ((methods[i].eras & era) && str_is(m->method, methods[i].name))
			return methods[i].answer;
	return fixture_method(m);
}

static void answer(struct mcp_call *m)
{
	mcp_method_fn *method = find_method(m);

	if (method == NULL) {
		mcp_error(m, MCP_METHOD_NOT_FOUND, "there is no method %.*s in version %s of the protocol",
			  STR_ARG(mcp_short(m->method)), mcp_version_name(m->version));
		return;
	}
	m->is_taken = true;
	m->progress_token = json_get(m->meta, "progressToken");
	m->again = method;
	if (ask_read(m))
		method(m);
}

/* --- Reading --- */

struct str mcp_param(const struct mcp_call *m, const char *name)
{
	const struct json *value = json_get(m->params, name);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

struct str mcp_short(struct str text)
{
	enum { SHORT_MAX = 80 };

	text.n = text.n > SHORT_MAX ? SHORT_MAX : text.n;
	text.n = text.p ? str_utf8_prefix(text) : 0;
	return text;
}

struct str mcp_agent(const struct mcp_call *m)
{
	struct str agent = http_req_header(m->req, "spine-agent");

	if (agent.p && str_is_utf8(agent))
		return agent;
	return m->agent.p || m->access == NULL ? m->agent : m->access->agent;
}

uint64_t mcp_key(const struct mcp_call *m)
{
	return m->access ? m->access->key : 0;
}

void mcp_owner(const struct mcp_call *m, char ret[MCP_OWNER_SIZE])
{
	snprintf(ret, MCP_OWNER_SIZE, "%llu/%.*s", (unsigned long long)mcp_key(m), STR_ARG(m->session));
}

/* What a caller says beside a request stands in the headers of the connection; what goes with a trace, in the
 * message. */
static struct str beside(const struct call *call, const char *name)
{
	const struct mcp_call *m = (const struct mcp_call *)call;
	const struct json *value = strcmp(name, "traceparent") == 0 ? json_get(m->meta, name) : NULL;

	return value && value->type == JSON_STRING ? value->s : http_req_header(m->req, name);
}

/* 202: it was taken, and there is nothing to answer. */
static void take(struct mcp_call *m)
{
	http_reply(m->req, 202, NULL, NULL, NULL);
}

static bool is_id(const struct json *id)
{
	return id && (id->type == JSON_STRING || id->type == JSON_INT);
}

/* The parts of a message. False: it was answered. */
static bool read_message(struct mcp_call *m)
{
	const struct json *version = json_get(&m->message, "jsonrpc"), *method = json_get(&m->message, "method");
	const struct json *id = json_get(&m->message, "id");

	if (m->message.type == JSON_ARRAY) {
		mcp_error(m, MCP_INVALID_REQUEST, "batches are not taken; send each message by itself");
		return false;
	}
	m->id = is_id(id) ? id : NULL;
	if (version == NULL || version->type != JSON_STRING || !str_is(version->s, "2.0") || (id && m->id == NULL) ||
	    (method && method->type != JSON_STRING) || (method == NULL && m->id == NULL)) {
		mcp_error(m, MCP_INVALID_REQUEST, "not a message of JSON-RPC 2.0; expected an object with jsonrpc "
			  "\"2.0\", method, and an id that is a text or a whole number");
		return false;
	}
	m->method = method ? method->s : STR_NULL;
	m->params = json_get(&m->message, "params");
	if (m->params && m->params->type != JSON_OBJECT) {
		mcp_error(m, MCP_INVALID_PARAMS, "params is %s; expected an object", json_type_name(m->params->type));
		return false;
	}
	m->meta = json_get(m->params, "_meta");
	return true;
}

/* Browsers send other types without asking first. */
static bool is_json(const struct mcp_call *m)
{
	struct str type = http_req_header(m->req, "content-type");

	return str_ieq(str_trim(str_cut(&type, ';')), STR("application/json"));
}

/* May run on a worker's thread. */
static void parse(struct op *op)
{
	struct mcp_call *m = op->ctx;

	m->is_parsed = json_parse(http_req_body(m->req), m->call.api->limits.max_json_depth, op->arena, &m->message,
				  &m->parse_error);
}

static void parsed(void *arg)
{
	struct mcp_call *m = ((struct op *)arg)->ctx;

	if (!m->is_parsed)
		mcp_error(m, MCP_PARSE_ERROR, "%s: %s", m->parse_error.code, m->parse_error.detail);
	else if (!read_message(m))
		return;
	else if (m->method.p == NULL) {
		ask_answered(m);
		take(m);
	} else if (!era_read(m))
		return;
	else if (m->id == NULL) {
		cancel_asked(m);
		take(m);
	} else
		answer(m);
}

static void post_parsed(struct op *op, void (*fn)(void *op))
{
	const struct mcp_call *m = op->ctx;

	http_post(m->call.api->http, http_req_thread(m->req), fn, op);
}

/* A large message is parsed by a worker. */
static void on_post(struct mcp_call *m)
{
	static const struct op_owner owner = {.post = post_parsed};
	struct op *op = m->call.op;

	if (!is_json(m)) {
		mcp_error(m, MCP_INVALID_REQUEST, "Content-Type is not application/json");
		return;
	}
	*op = (struct op){
		.owner = &owner, .ctx = m, .engine = m->call.api->engine, .arena = op->arena,
		.client = http_client_number(m->req), .access = m->access,
	};
	if (http_req_body(m->req).n > PARSED_HERE_MAX && engine_aside(op, parse, parsed))
		return;
	if (op->problem.code != P_OK) {
		mcp_error(m, MCP_INTERNAL, "%s", op->problem.detail);
		return;
	}
	parse(op);
	parsed(op);
}

/* The stream that revisions with sessions open for what comes by itself. */
static void on_get(struct mcp_call *m)
{
	m->method = STR("GET");
	if (era_read(m))
		listen_session(m);
}

static void refuse_method(struct http_req *req)
{
	static const struct http_header headers[] = {{"Allow", {"GET, POST", 9}}, {0}};
	struct buf body;

	buf_init(&body, 65536);
	reply_refusal_body(405, "method_not_allowed", "/mcp takes POST; a session needs no end", &body);
	http_reply(req, 405, "application/problem+json", headers, &body);
}

void mcp_on_request(struct api *api, struct http_req *req, const struct access *access)
{
	struct mcp_call *m = arena_zalloc(http_req_arena(req), sizeof(*m));

	m->mcp = api->mcp;
	m->req = req;
	m->call.api = api;
	m->call.beside = beside;
	m->call.op = &m->call.own_op;
	m->call.op->arena = http_req_arena(req);
	m->call.op->access = m->access = access;
	clients_note(api->clients, http_req_header(req, "user-agent"), engine_now_ms(api->engine));
	buf_init(&m->call.reply, REPLY_MAX);
	buf_init(&m->out, MCP_ANSWER_MAX);
	if (http_req_method(req) == HTTP_POST)
		on_post(m);
	else if (http_req_method(req) == HTTP_GET)
		on_get(m);
	else
		refuse_method(req);
}
