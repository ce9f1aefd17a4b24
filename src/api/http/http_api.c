/* The way of a request, step by step; see api/call.h for the picture. */
#include "api/http/http_api.h"

#include "api/caller.h"
#include "api/decode.h"
#include "api/describe/shapes.h"
#include "api/http/cluster_front.h"
#include "api/http/cors.h"
#include "api/http/entry.h"
#include "api/http/front.h"
#include "api/http/guard.h"
#include "api/http/http_client.h"
#include "api/http/pace.h"
#include "api/http/reply.h"
#include "api/mcp/mcp.h"
#include "api/routes.h"
#include "api/translate.h"
#include "core/memory/memory.h"
#include "engine/access/keyring.h"

#include <stdlib.h>

enum { QUERY_PAIRS_MAX = 64, PERSON_MAX = 128 };

/* --- Reading the request --- */

static struct http_req *req_of(const struct call *call)
{
	return ((const struct http_call *)call)->req;
}

/* A header of the request. */
static struct str beside(const struct call *call, const char *name)
{
	return http_req_header(req_of(call), name);
}

static enum problem_code find_route(struct call *call, const struct entry *entry)
{
	struct str raw[CALL_PARAMS_MAX] = {{0}};
	const char *allow = NULL;
	struct str path = call->path;

	call->route = entry->route;
	memcpy(raw, entry->params, sizeof(raw));
	if (call->route == NULL)
		call->route = routes_find(http_req_method(req_of(call)), path, raw, &allow);
	if (call->route == NULL && allow) {
		call->location = arena_str(call->op->arena, str_of(allow));
		return call_refuse(call, P_METHOD_NOT_ALLOWED, NULL,
				   "%.*s is not a method of this address; it takes %s",
				   STR_ARG(http_req_method_name(req_of(call))), allow);
	}
	if (call->route == NULL)
		return call_refuse(call, P_NOT_FOUND, NULL, "there is nothing at %.*s",
				   (int)(path.n < 200 ? path.n : 200), path.p);
	for (int i = 0; i < CALL_PARAMS_MAX && raw[i].p; i++)
		if (!http_decode_path(req_of(call), raw[i], &call->params[i]))
			return call_refuse(call, P_INVALID_REQUEST, NULL,
					   "the address holds a broken percent escape, a NUL or invalid UTF-8");
	return P_OK;
}

static enum problem_code read_query(struct call *call)
{
	struct str rest = http_req_query(req_of(call));

	if (rest.n == 0)
		return P_OK;
	call->query = arena_alloc(call->op->arena, QUERY_PAIRS_MAX * sizeof(*call->query));
	while (rest.p) {
		struct str value = str_cut(&rest, '&');
		struct str name = str_cut(&value, '=');
		struct query_pair *pair = &call->query[call->query_count];

		if (name.n == 0)
			continue;
		if (call->query_count == QUERY_PAIRS_MAX)
			return call_refuse(call, P_TOO_LARGE, NULL, "the query has more than %d parameters",
					   QUERY_PAIRS_MAX);
		if (value.p == NULL)
			value = STR("");
		if (!http_decode_query(req_of(call), name, &pair->name) ||
		    !http_decode_query(req_of(call), value, &pair->value))
			return call_refuse(call, P_INVALID_REQUEST, NULL,
					   "the query holds a broken percent escape, a NUL or invalid UTF-8");
		call->query_count++;
	}
	return P_OK;
}

static enum problem_code read_if_match(struct call *call)
{
	struct str tag = beside(call, "if-match");
	struct memory_id id, path_id;

	if (tag.p == NULL || !call_takes(call, TAKES_IF_MATCH))
		return P_OK;
	if (call->route->describes->path[0] != &path_memory) {
		call->op->if_tag = tag;
		if (str_is(tag, "*") || (tag.n >= 2 && tag.p[0] == '"' && tag.p[tag.n - 1] == '"'))
			return P_OK;
		return call_refuse(call, P_INVALID_FIELD, "If-Match", "If-Match is not an ETag of an agent; expected "
				   "one of an answer, with the quotes");
	}
	if (str_is(tag, "*"))
		return P_OK;
	if (tag.n < 2 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"' ||
	    !memory_id_parse(str_sub(tag, 1, tag.n - 1), &id) || id.version == 0)
		return problem_set(
			&call->op->problem, P_INVALID_FIELD, "If-Match",
			"If-Match is not an ETag of a memory; expected one as in \"ms-4821@3\", with the quotes");
	if (memory_id_parse(call->params[0], &path_id) && path_id.num != id.num)
		return call_refuse(call, P_INVALID_FIELD, "If-Match",
				   "If-Match names another memory than the address");
	call->op->if_version = id.version;
	return P_OK;
}

/* "Ada (key-7 ops)". Together no longer than a name can be: where they are, the key alone, which was checked. */
static struct str person_by_key(struct call *call, struct str person)
{
	const struct access *access = call->op->access;
	unsigned long long key = access->key;
	struct str both = arena_printf(call->op->arena, "%.*s (key-%llu %.*s)", STR_ARG(person), key,
				       STR_ARG(access->name));

	return both.n <= PERSON_MAX ? both : arena_printf(call->op->arena, "key-%llu", key);
}

/* The name of a person, as they say it themselves; the dashboard and the command line send it, agents do not. */
static enum problem_code read_person(struct call *call)
{
	struct str person = beside(call, "spine-person");
	const struct access *access = call->op->access;
	enum problem_code code;

	if (access && person.p && !(access->scopes & ACCESS_ADMIN))
		return call_refuse(call, P_FORBIDDEN, "Spine-Person", "only a key with the scope admin speaks for a "
				   "person, and key-%llu has it not; leave Spine-Person out",
				   (unsigned long long)access->key);
	/* With keys, who holds the key is known, whatever else it says. */
	if (access && person.p == NULL && call_takes(call, TAKES_PERSON))
		call->op->person = access_actor(access, call->op->arena);
	if (person.p == NULL || !call_takes(call, TAKES_PERSON))
		return P_OK;
	if (!str_is_utf8(person))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Person", "Spine-Person is not UTF-8");
	code = decode_check_name(person, "Spine-Person", PERSON_MAX, &call->op->problem);
	if (code == P_OK)
		code = access_check_person("Spine-Person", person, &call->op->problem);
	if (code == P_OK)
		call->op->person = access ? person_by_key(call, person) : person;
	return code;
}

static enum problem_code read_headers(struct call *call)
{
	enum problem_code code = caller_read(call);

	if (code == P_OK)
		code = read_person(call);
	if (code == P_OK)
		code = read_if_match(call);
	return code == P_OK ? caller_read_key(call, http_req_body(req_of(call))) : code;
}

static enum problem_code check_content_type(struct call *call)
{
	struct str type = beside(call, "content-type"), rest = type;
	struct str encoding = beside(call, "content-encoding");

	if (encoding.p && !str_ieq(encoding, STR("identity")))
		return call_refuse(call, P_UNSUPPORTED_MEDIA_TYPE, "Content-Encoding",
				   "the body is encoded as %.*s; send it as it is",
				   (int)(encoding.n < 64 ? encoding.n : 64), encoding.p);
	if (type.p == NULL || str_ieq(str_trim(str_cut(&rest, ';')), STR("application/json")))
		return P_OK;
	return problem_set(
		&call->op->problem, P_UNSUPPORTED_MEDIA_TYPE, "Content-Type",
		"the body is sent as %.*s; expected application/json (with curl: -H 'Content-Type: application/json')",
		(int)(type.n < 64 ? type.n : 64), type.p);
}

static enum problem_code read_body(struct call *call)
{
	struct str body = http_req_body(req_of(call));
	struct json_error error;
	enum problem_code code;
	bool is_json;

	if (!call_takes(call, TAKES_BODY | TAKES_BODY_MAYBE))
		return P_OK;
	if (body.n == 0 && call_takes(call, TAKES_BODY_MAYBE))
		return P_OK;
	code = check_content_type(call);
	if (code != P_OK)
		return code;
	is_json = json_parse(body, call->api->limits.max_json_depth, call->op->arena, &call->body, &error);
	if (call->route->describes->has_secret)
		json_forget(body.n);
	if (!is_json)
		return caller_json_problem(call, &error);
	if (call->body.type != JSON_OBJECT)
		return call_refuse(call, P_INVALID_REQUEST, NULL, "the body is %s; expected an object",
				   json_type_name(call->body.type));
	return P_OK;
}

/* --- The operation's owner --- */

static struct http_call *http_of(const struct op *op)
{
	return op->ctx;
}

static void post(struct op *op, void (*fn)(void *op))
{
	const struct http_call *http = http_of(op);

	http_post(http->call.api->http, http_req_thread(http->req), fn, op);
}

/* What would go to somebody who is not welcome any more goes to nobody. */
static bool is_gone(const struct op *op)
{
	return http_req_is_gone(http_of(op)->req) || !held_is_welcome(&http_of(op)->held);
}

static void keep(struct op *op, struct kept_reply *ret)
{
	call_keep(&http_of(op)->call, ret);
}

static void encode_now(struct op *op)
{
	call_encode(&http_of(op)->call);
}

static void send_encoded(void *op)
{
	reply_send(http_of(op));
}

/* True: a worker writes the answer, and it is sent then. Where the workers have too much to do it is written here: what
 * was committed is not refused. */
static bool encodes_aside(struct call *call)
{
	call->may_leave = true;
	call_encode(call);
	call->may_leave = false;
	if (!call->leaves)
		return false;
	call->leaves = false;
	if (engine_aside(call->op, encode_now, send_encoded))
		return true;
	call->op->problem = (struct problem){0};
	call_encode(call);
	return false;
}

static void finish(struct op *op)
{
	struct http_call *http = http_of(op);
	struct call *call = &http->call;

	if (!held_is_welcome(&http->held)) {
		op->is_replayed = false;
		if (!http->is_stream)
			http_req_add_headers(http->req, entry_challenge);
		entry_ended(&op->problem, op->access);
	}
	if (http->finish) {
		http->finish(http);
		return;
	}
	if (op->problem.code == P_OK && op->is_replayed)
		call_put_kept(call);
	else if (op->problem.code == P_OK && call->reply.len == 0 && !http_req_is_gone(http->req) &&
		 encodes_aside(call))
		return;
	reply_send(http);
}

static void on_timer(struct http_req *req, void *arg)
{
	(void)req;
	engine_nudge(arg);
}

static void on_gone(struct http_req *req, void *arg)
{
	(void)req;
	engine_nudge(arg);
}

static void on_unwelcome(void *op)
{
	held_nudge(&http_of(op)->held, op);
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	struct http_call *http = http_of(op);

	held_add(http->call.api, http->req, &http->held, op->access, on_unwelcome, op);
	http_req_set_timer(http->req, wait_ms, on_timer, op);
	http_req_on_gone(http->req, on_gone, op);
}

/* The reader is the worker's. */
static void encode(struct op *op)
{
	struct http_call *http = http_of(op);

	if (http->finish == NULL)
		call_encode(&http->call);
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for, encode};

/* From here on the request is about what the route does. */
static void make_op(struct call *call)
{
	const struct op_kind *kind = call->route->op;
	struct op *before = call->op;

	call->op = arena_alloc(before->arena, kind->size);
	*call->op = *before;
	call->op->kind = kind;
	memset(call->op + 1, 0, kind->size - sizeof(*before));
}

static void expect_secret(struct http_call *http)
{
	const struct description *d = http->call.route->describes;

	if (d == NULL || !d->has_secret)
		return;
	http_req_set_secret(http->req);
	http->call.reply.is_secret = true;
}

/* May run on a worker's thread. */
static void read_request(struct op *op)
{
	struct http_call *http = http_of(op);
	struct call *call = &http->call;

	http->code = read_query(call);
	if (http->code == P_OK)
		http->code = read_headers(call);
	if (http->code == P_OK)
		http->code = read_body(call);
	if (http->code == P_OK)
		http->code = translate_decode(call);
}

static void run_request(void *arg)
{
	struct http_call *http = http_of(arg);

	if (http->code == P_OK)
		engine_run(http->call.op);
	else
		reply_send(http);
}

/* --- The callbacks --- */

static void answer(struct api *api, struct http_req *req, const struct entry *entry, const struct problem *problem)
{
	struct http_call *http;
	struct call *call;

	http = arena_zalloc(http_req_arena(req), sizeof(*http));
	call = &http->call;
	http->req = req;
	call->api = api;
	call->path = http_req_path(req);
	call->beside = beside;
	call->op = &call->own_op;
	*call->op = (struct op){
		.owner = &owner, .ctx = http, .engine = call->api->engine,
		.reader = api_reader(api, http_req_thread(req)), .arena = http_req_arena(req),
		.now_ms = engine_now_ms(call->api->engine), .client = http_client_number(req),
		.access = entry ? entry->access : NULL, .problem = *problem,
	};
	call->status = 200;
	clients_note(call->api->clients, http_req_header(req, "user-agent"), call->op->now_ms);
	buf_init(&call->reply, REPLY_MAX);
	http->code = entry ? find_route(call, entry) : problem->code;
	if (http->code == P_OK && call->op->reader == NULL)
		http->code = problem_of_store(&call->op->problem, STORE_BUSY);
	if (http->code == P_OK) {
		make_op(call);
		expect_secret(http);
		if (http_req_body(req).n > PARSED_HERE_MAX && engine_aside(call->op, read_request, run_request))
			return;
		http->code = call->op->problem.code;
	}
	if (http->code == P_OK)
		read_request(call->op);
	run_request(call->op);
}

void http_api_answer(struct api *api, struct http_req *req, const struct entry *entry, const struct problem *problem)
{
	static const struct problem none;

	if (entry && str_is(http_req_path(req), "/mcp"))
		mcp_on_request(api, req, entry->access);
	else
		answer(api, req, entry, problem ? problem : &none);
}

void http_api_on_request(void *ctx, struct http_req *req)
{
	const struct front *front = ctx;
	const struct entry *entry;
	struct problem problem = {0};

	if (cors_is_preflight(req)) {
		cors_reply_preflight(req);
		return;
	}
	entry = entry_of(front->own, req, &problem);
	if (front->cluster && entry)
		cluster_front_take(front->cluster, req, entry);
	else
		http_api_answer(front->own, req, entry, &problem);
}

/* From another node, which has looked at everything else. */
static int let_in_passed(struct cluster_front *cluster, struct http_req *req, struct buf *ret_body)
{
	static const struct http_header again[] = {{"Retry-After", {"1", 1}}, {0}};
	struct problem problem = {0};

	if (cluster_front_let_in(cluster, req, &problem) == P_OK) {
		http_req_set_stranger(req, false);
		return 0;
	}
	if (problem.retry_after_ms)
		http_req_add_headers(req, again);
	reply_problem_body(&problem, ret_body);
	return problem_kind(problem.code)->status;
}

int http_api_on_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	const struct front *front = ctx;
	struct api *api = front->own;
	struct str host = http_req_header(req, "host"), origin = http_req_header(req, "origin");
	struct problem problem = {0};

	http_req_set_stranger(req, keyring_needs_key(api->engine->keyring));
	if (front->cluster) {
		cluster_front_mark(front->cluster, req);
		if (cluster_front_is_passed(req))
			return let_in_passed(front->cluster, req, ret_body);
	}
	if (guard_check(api->guard, host, origin, &problem) == P_OK &&
	    guard_check_site(api->guard, http_req_header(req, "sec-fetch-site"), origin, http_req_path(req),
			     &problem) == P_OK) {
		if (origin.p && !guard_is_own(api->guard, host, origin))
			cors_allow(req, origin);
		if (cors_is_preflight(req) || entry_check(api, req, &problem) == P_OK)
			return 0;
		pace_entry(api, req);
		reply_problem_body(&problem, ret_body);
		return problem_kind(problem.code)->status;
	}
	/* What the header says is a stranger's word; who sent it reads it in the answer. */
	log_write(api->log, LOG_WARN, "refused", LOG_STR("code", problem_kind(problem.code)->name),
		  LOG_STR("header", problem.field));
	reply_problem_body(&problem, ret_body);
	return problem_kind(problem.code)->status;
}

/* The protocol has one name for each of these, however many reasons the server has. */
void http_api_on_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body)
{
	(void)ctx;
	if (status == 431)
		code = "headers_too_large";
	else if (status == 503)
		code = problem_kind(P_OVERLOADED)->name;
	reply_refusal_body(status, code, detail, ret_body);
}

void http_api_on_thread_start(void *ctx, int thread)
{
	const struct front *front = ctx;

	if (api_reader(front->own, thread) == NULL) {
		log_write(front->own->log, LOG_ERROR, "a thread that serves connections has no store; stopping");
		abort();
	}
	if (front->cluster)
		cluster_front_thread_start(front->cluster, thread);
}

void http_api_on_thread_stop(void *ctx, int thread)
{
	const struct front *front = ctx;

	if (front->cluster)
		cluster_front_thread_stop(front->cluster, thread);
	api_reader_close(front->own, thread);
}
