/* The way of a request, step by step; see call.h for the picture. */
#include "api/http/api.h"

#include "api/http/call.h"
#include "api/decode.h"
#include "api/describe/shapes.h"
#include "api/http/guard.h"
#include "api/http/reply.h"
#include "api/http/routes.h"
#include "api/http/translate.h"
#include "codec/sha256.h"
#include "core/memory/memory.h"

#include <stdlib.h>

enum { QUERY_PAIRS_MAX = 64, KEY_MAX = 255 };

/* --- Reading the request --- */

static bool takes(const struct call *call, unsigned what)
{
	return call->route->describes && (call->route->describes->takes & what);
}

static enum problem_code find_route(struct call *call)
{
	struct str raw[CALL_PARAMS_MAX] = {{0}};
	const char *allow = NULL;
	struct str path = http_req_path(call->req);

	call->route = routes_find(http_req_method(call->req), path, raw, &allow);
	if (call->route == NULL && allow) {
		call->location = arena_str(call->op->arena, str_of(allow));
		return call_refuse(call, P_METHOD_NOT_ALLOWED, NULL,
				   "%.*s is not a method of this address; it takes %s",
				   STR_ARG(http_req_method_name(call->req)), allow);
	}
	if (call->route == NULL)
		return call_refuse(call, P_NOT_FOUND, NULL, "there is nothing at %.*s",
				   (int)(path.n < 200 ? path.n : 200), path.p);
	for (int i = 0; i < CALL_PARAMS_MAX && raw[i].p; i++)
		if (!http_decode_path(call->req, raw[i], &call->params[i]))
			return call_refuse(call, P_INVALID_REQUEST, NULL,
					   "the address holds a broken percent escape, a NUL or invalid UTF-8");
	return P_OK;
}

static enum problem_code read_query(struct call *call)
{
	struct str rest = http_req_query(call->req);

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
		if (!http_decode_query(call->req, name, &pair->name) ||
		    !http_decode_query(call->req, value, &pair->value))
			return call_refuse(call, P_INVALID_REQUEST, NULL,
					   "the query holds a broken percent escape, a NUL or invalid UTF-8");
		call->query_count++;
	}
	return P_OK;
}

/* What makes a request the same as another: everything that decides what is stored. */
static enum problem_code read_idempotency_key(struct call *call)
{
	struct str key = http_req_header(call->req, "idempotency-key");
	struct str path = http_req_path(call->req), body = http_req_body(call->req);
	struct buf all;

	if (key.p == NULL || !(call->op->kind->flags & OP_TAKES_KEY))
		return P_OK;
	if (key.n < 1 || key.n > KEY_MAX)
		return call_refuse(call, P_INVALID_FIELD, "Idempotency-Key",
				   "Idempotency-Key has %zu characters; expected 1 to %d", key.n, KEY_MAX);
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] <= ' ' || key.p[i] > '~')
			return call_refuse(call, P_INVALID_FIELD, "Idempotency-Key",
					   "Idempotency-Key holds something else than visible ASCII characters");
	buf_init(&all, path.n + call->op->agent.n + body.n + call->op->if_tag.n + call->op->task.n + 8);
	buf_put(&all, path);
	buf_putc(&all, '\n');
	buf_put(&all, call->op->agent);
	buf_putc(&all, '\n');
	buf_put(&all, body);
	if (call->op->if_tag.p) {
		buf_putc(&all, '\n');
		buf_put(&all, call->op->if_tag);
	}
	if (call->op->task.p) {
		buf_puts(&all, "\ntask");
		buf_put(&all, call->op->task);
	}
	sha256(buf_str(&all), call->op->digest);
	buf_release(&all);
	call->op->key = key;
	return P_OK;
}

static enum problem_code read_if_match(struct call *call)
{
	struct str tag = http_req_header(call->req, "if-match");
	struct memory_id id, path_id;

	if (tag.p == NULL || !takes(call, TAKES_IF_MATCH))
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

/* Who names a task this way says what it works on; elsewhere the header means nothing. */
static enum problem_code read_task(struct call *call)
{
	struct str task = http_req_header(call->req, "spine-task");
	enum problem_code code;

	if (task.p == NULL || !takes(call, TAKES_TASK))
		return P_OK;
	if (!str_is_utf8(task))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Task", "Spine-Task is not UTF-8");
	code = decode_check_name(task, "Spine-Task", MEMORY_TASK_MAX, &call->op->problem);
	if (code == P_OK)
		call->op->task = task;
	return code;
}

static enum problem_code read_headers(struct call *call)
{
	struct str space = http_req_header(call->req, "spine-space"), agent = http_req_header(call->req, "spine-agent");
	enum problem_code code = P_OK;

	call->op->space_name = space.p ? space : STR("default");
	if (!space_name_is_valid(call->op->space_name))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Space",
				   "Spine-Space is not a name of a space; expected 1 to 64 of a-z, 0-9, '_', '-', not "
				   "starting with '_' or '-'");
	if (agent.p && !str_is_utf8(agent))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Agent", "Spine-Agent is not UTF-8");
	if (agent.p)
		code = decode_check_name(agent, "Spine-Agent", 128, &call->op->problem);
	if (code != P_OK)
		return code;
	call->op->agent = agent;
	code = read_task(call);
	if (code == P_OK)
		code = read_if_match(call);
	return code == P_OK ? read_idempotency_key(call) : code;
}

static enum problem_code check_content_type(struct call *call)
{
	struct str type = http_req_header(call->req, "content-type"), rest = type;
	struct str encoding = http_req_header(call->req, "content-encoding");

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

static enum problem_code json_problem(struct call *call, const struct json_error *error)
{
	static const enum problem_code codes[] = {P_INVALID_JSON, P_INVALID_UTF8, P_DUPLICATE_KEY, P_TOO_DEEP,
						  P_NUMBER_OUT_OF_RANGE};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(problem_kind(codes[i])->name, error->code) == 0)
			return call_refuse(call, codes[i], NULL, "%s", error->detail);
	return call_refuse(call, P_INVALID_JSON, NULL, "%s", error->detail);
}

static enum problem_code read_body(struct call *call)
{
	struct str body = http_req_body(call->req);
	struct json_error error;
	enum problem_code code;

	if (!takes(call, TAKES_BODY | TAKES_BODY_MAYBE))
		return P_OK;
	if (body.n == 0 && takes(call, TAKES_BODY_MAYBE))
		return P_OK;
	code = check_content_type(call);
	if (code != P_OK)
		return code;
	if (!json_parse(body, call->api->limits.max_json_depth, call->op->arena, &call->body, &error))
		return json_problem(call, &error);
	if (call->body.type != JSON_OBJECT)
		return call_refuse(call, P_INVALID_REQUEST, NULL, "the body is %s; expected an object",
				   json_type_name(call->body.type));
	return P_OK;
}

/* --- The operation's owner --- */

static struct call *call_of(const struct op *op)
{
	return op->ctx;
}

static void post(struct op *op, void (*fn)(void *op))
{
	const struct call *call = call_of(op);

	http_post(call->api->http, http_req_thread(call->req), fn, op);
}

static bool is_gone(const struct op *op)
{
	return http_req_is_gone(call_of(op)->req);
}

static void encode(struct call *call)
{
	call->status = 200;
	call->etag = call->location = STR_NULL;
	buf_clear(&call->reply);
	translate_encode(call);
}

static void keep(struct op *op, struct kept_reply *ret)
{
	struct call *call = call_of(op);

	encode(call);
	ret->status = call->status;
	ret->etag = call->etag;
	ret->location = call->location;
	ret->body = buf_str(&call->reply);
}

static void put_kept(struct call *call)
{
	const struct kept_reply *kept = &call->op->kept;

	call->status = kept->status;
	call->etag = kept->etag;
	call->location = kept->location;
	buf_clear(&call->reply);
	buf_put(&call->reply, kept->body);
}

static void finish(struct op *op)
{
	struct call *call = call_of(op);

	if (call->finish) {
		call->finish(call);
		return;
	}
	if (op->problem.code == P_OK && op->is_replayed)
		put_kept(call);
	else if (op->problem.code == P_OK && call->reply.len == 0 && !http_req_is_gone(call->req))
		encode(call);
	reply_send(call);
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

static void wait_for(struct op *op, int64_t wait_ms)
{
	struct call *call = call_of(op);

	http_req_set_timer(call->req, wait_ms, on_timer, op);
	http_req_on_gone(call->req, on_gone, op);
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for};

/* From here on the request is about what the route does. */
static void make_op(struct call *call)
{
	const struct op_kind *kind = call->route->op;
	struct op before = *call->op;

	call->op = arena_zalloc(before.arena, kind->size);
	*call->op = before;
	call->op->kind = kind;
}

/* --- The callbacks --- */

void api_on_request(void *ctx, struct http_req *req)
{
	struct call *call = arena_zalloc(http_req_arena(req), sizeof(*call));
	enum problem_code code;

	call->api = ctx;
	call->req = req;
	call->op = &call->own_op;
	*call->op = (struct op){
		.owner = &owner, .ctx = call, .engine = call->api->engine,
		.reader = call->api->readers[http_req_thread(req)], .arena = http_req_arena(req),
		.now_ms = engine_now_ms(call->api->engine),
	};
	call->status = 200;
	clients_note(&call->api->clients, http_req_header(req, "user-agent"), call->op->now_ms);
	buf_init(&call->reply, REPLY_MAX);
	code = find_route(call);
	if (code == P_OK)
		make_op(call);
	if (code == P_OK)
		code = read_query(call);
	if (code == P_OK)
		code = read_headers(call);
	if (code == P_OK)
		code = read_body(call);
	if (code == P_OK)
		code = translate_decode(call);
	if (code == P_OK)
		engine_run(call->op);
	else
		reply_send(call);
}

int api_on_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	struct api *api = ctx;
	struct str origin = http_req_header(req, "origin");
	struct problem problem = {0};

	if (guard_check(http_req_header(req, "host"), origin, &problem) == P_OK &&
	    guard_check_site(http_req_header(req, "sec-fetch-site"), origin, http_req_path(req), &problem) == P_OK)
		return 0;
	log_write(api->log, LOG_WARN, "refused", LOG_STR("code", problem_kind(problem.code)->name),
		  LOG_SLICE("host", http_req_header(req, "host")), LOG_SLICE("origin", origin));
	reply_problem_body(&problem, ret_body);
	return problem_kind(problem.code)->status;
}

/* The protocol has one name for each of these, however many reasons the server has. */
void api_on_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body)
{
	(void)ctx;
	if (status == 431)
		code = "headers_too_large";
	else if (status == 503)
		code = problem_kind(P_OVERLOADED)->name;
	reply_refusal_body(status, code, detail, ret_body);
}

void api_on_thread_start(void *ctx, int thread)
{
	struct api *api = ctx;
	struct buf error;

	buf_init(&error, 4096);
	api->readers[thread] = engine_reader_open(api->engine, &error);
	if (api->readers[thread] == NULL) {
		log_write(api->log, LOG_ERROR, "cannot read the store", LOG_SLICE("error", buf_str(&error)));
		abort();
	}
	buf_release(&error);
}

void api_on_thread_stop(void *ctx, int thread)
{
	struct api *api = ctx;

	engine_reader_close(api->readers[thread]);
}
