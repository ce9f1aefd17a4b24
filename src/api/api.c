/* The way of a request, step by step; see call.h for the picture. */
#include "api/api.h"

#include "api/call.h"
#include "api/decode.h"
#include "api/guard.h"
#include "engine/indexer.h"
#include "api/reply.h"
#include "api/routes.h"
#include "base/clock.h"
#include "codec/sha256.h"
#include "core/memory/memory.h"

#include <stdlib.h>

enum { QUERY_PAIRS_MAX = 64, IDEMPOTENCY_KEY_MAX = 255, PRUNE_EVERY_MS = 60000, PRUNE_MAX = 1000, PRUNE_WITH_EACH = 2,
       CLAIM_STATUS = 0 };

/* --- Reading the request --- */

static enum problem_code find_route(struct call *call)
{
	struct str raw[CALL_PARAMS_MAX] = {{0}};
	const char *allow = NULL;
	struct str path = http_req_path(call->req);

	call->route = routes_find(http_req_method(call->req), path, raw, &allow);
	if (call->route == NULL && allow) {
		call->location = arena_str(call->arena, str_of(allow));
		return problem_set(&call->problem, P_METHOD_NOT_ALLOWED, NULL,
				   "%.*s is not a method of this address; it takes %s",
				   STR_ARG(http_req_method_name(call->req)), allow);
	}
	if (call->route == NULL)
		return problem_set(&call->problem, P_NOT_FOUND, NULL, "there is nothing at %.*s",
				   (int)(path.n < 200 ? path.n : 200), path.p);
	for (int i = 0; i < CALL_PARAMS_MAX && raw[i].p; i++)
		if (!http_decode_path(call->req, raw[i], &call->params[i]))
			return problem_set(&call->problem, P_INVALID_REQUEST, NULL,
					   "the address holds a broken percent escape, a NUL or invalid UTF-8");
	return P_OK;
}

static enum problem_code read_query(struct call *call)
{
	struct str rest = http_req_query(call->req);

	if (rest.n == 0)
		return P_OK;
	call->query = arena_alloc(call->arena, QUERY_PAIRS_MAX * sizeof(*call->query));
	while (rest.p) {
		struct str value = str_cut(&rest, '&');
		struct str name = str_cut(&value, '=');
		struct query_pair *pair = &call->query[call->query_count];

		if (name.n == 0)
			continue;
		if (call->query_count == QUERY_PAIRS_MAX)
			return problem_set(&call->problem, P_TOO_LARGE, NULL, "the query has more than %d parameters",
					   QUERY_PAIRS_MAX);
		if (value.p == NULL)
			value = STR("");
		if (!http_decode_query(call->req, name, &pair->name) ||
		    !http_decode_query(call->req, value, &pair->value))
			return problem_set(&call->problem, P_INVALID_REQUEST, NULL,
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

	if (key.p == NULL || !(call->route->flags & ROUTE_CREATES))
		return P_OK;
	if (key.n < 1 || key.n > IDEMPOTENCY_KEY_MAX)
		return problem_set(&call->problem, P_INVALID_FIELD, "Idempotency-Key",
				   "Idempotency-Key has %zu characters; expected 1 to %d", key.n, IDEMPOTENCY_KEY_MAX);
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] <= ' ' || key.p[i] > '~')
			return problem_set(&call->problem, P_INVALID_FIELD, "Idempotency-Key",
					   "Idempotency-Key holds something else than visible ASCII characters");
	buf_init(&all, path.n + call->agent.n + body.n + call->if_tag.n + call->task.n + 8);
	buf_put(&all, path);
	buf_putc(&all, '\n');
	buf_put(&all, call->agent);
	buf_putc(&all, '\n');
	buf_put(&all, body);
	if (call->if_tag.p) {
		buf_putc(&all, '\n');
		buf_put(&all, call->if_tag);
	}
	if (call->task.p) {
		buf_puts(&all, "\ntask");
		buf_put(&all, call->task);
	}
	sha256(buf_str(&all), call->request_digest);
	buf_release(&all);
	call->idempotency_key = key;
	return P_OK;
}

static enum problem_code read_if_match(struct call *call)
{
	struct str tag = http_req_header(call->req, "if-match");
	struct memory_id id, path_id;

	if (tag.p && (call->route->flags & ROUTE_IF_TAG))
		call->if_tag = tag;
	if (tag.p == NULL || !(call->route->flags & ROUTE_IF_MATCH) || str_is(tag, "*"))
		return P_OK;
	if (tag.n < 2 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"' ||
	    !memory_id_parse(str_sub(tag, 1, tag.n - 1), &id) || id.version == 0)
		return problem_set(
			&call->problem, P_INVALID_FIELD, "If-Match",
			"If-Match is not an ETag of a memory; expected one as in \"ms-4821@3\", with the quotes");
	if (memory_id_parse(call->params[0], &path_id) && path_id.num != id.num)
		return problem_set(&call->problem, P_INVALID_FIELD, "If-Match",
				   "If-Match names another memory than the address");
	call->if_version = id.version;
	return P_OK;
}

/* Who names a task this way says what it works on; elsewhere the header means nothing. */
static enum problem_code read_task(struct call *call)
{
	struct str task = http_req_header(call->req, "spine-task");
	enum problem_code code;

	if (task.p == NULL || !(call->route->flags & ROUTE_TASK))
		return P_OK;
	if (!str_is_utf8(task))
		return problem_set(&call->problem, P_INVALID_FIELD, "Spine-Task", "Spine-Task is not UTF-8");
	code = decode_check_name(task, "Spine-Task", MEMORY_TASK_MAX, &call->problem);
	if (code == P_OK)
		call->task = task;
	return code;
}

static enum problem_code read_headers(struct call *call)
{
	struct str space = http_req_header(call->req, "spine-space"), agent = http_req_header(call->req, "spine-agent");
	enum problem_code code = P_OK;

	call->space_name = space.p ? space : STR("default");
	if (!space_name_is_valid(call->space_name))
		return problem_set(&call->problem, P_INVALID_FIELD, "Spine-Space",
				   "Spine-Space is not a name of a space; expected 1 to 64 of a-z, 0-9, '_', '-', not "
				   "starting with '_' or '-'");
	if (agent.p && !str_is_utf8(agent))
		return problem_set(&call->problem, P_INVALID_FIELD, "Spine-Agent", "Spine-Agent is not UTF-8");
	if (agent.p)
		code = decode_check_name(agent, "Spine-Agent", 128, &call->problem);
	if (code != P_OK)
		return code;
	call->agent = agent;
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
		return problem_set(&call->problem, P_UNSUPPORTED_MEDIA_TYPE, "Content-Encoding",
				   "the body is encoded as %.*s; send it as it is",
				   (int)(encoding.n < 64 ? encoding.n : 64), encoding.p);
	if (type.p == NULL || str_ieq(str_trim(str_cut(&rest, ';')), STR("application/json")))
		return P_OK;
	return problem_set(
		&call->problem, P_UNSUPPORTED_MEDIA_TYPE, "Content-Type",
		"the body is sent as %.*s; expected application/json (with curl: -H 'Content-Type: application/json')",
		(int)(type.n < 64 ? type.n : 64), type.p);
}

static enum problem_code json_problem(struct call *call, const struct json_error *error)
{
	static const enum problem_code codes[] = {P_INVALID_JSON, P_INVALID_UTF8, P_DUPLICATE_KEY, P_TOO_DEEP,
						  P_NUMBER_OUT_OF_RANGE};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(problem_kind(codes[i])->name, error->code) == 0)
			return problem_set(&call->problem, codes[i], NULL, "%s", error->detail);
	return problem_set(&call->problem, P_INVALID_JSON, NULL, "%s", error->detail);
}

static enum problem_code read_body(struct call *call)
{
	struct str body = http_req_body(call->req);
	struct json_error error;
	enum problem_code code;

	if (!(call->route->flags & (ROUTE_BODY | ROUTE_BODY_OPTIONAL)))
		return P_OK;
	if (body.n == 0 && (call->route->flags & ROUTE_BODY_OPTIONAL))
		return P_OK;
	code = check_content_type(call);
	if (code != P_OK)
		return code;
	if (!json_parse(body, call->api->limits.max_json_depth, call->arena, &call->body, &error))
		return json_problem(call, &error);
	if (call->body.type != JSON_OBJECT)
		return problem_set(&call->problem, P_INVALID_REQUEST, NULL, "the body is %s; expected an object",
				   json_type_name(call->body.type));
	return P_OK;
}

/* --- Writing --- */

/* Finds the space, or makes it where this call creates something: in a savepoint, so that a refusal leaves no empty
 * space behind. Where it does not exist call->space is 0, and nothing will be found in it. */
static enum store_status open_space(struct call *call, struct store_conn *c)
{
	enum store_status status;

	call->space = 0;
	call->space_is_new = false;
	status = spaces_find(call->api->spaces, c, call->space_name, &call->space);
	if (status != STORE_NOT_FOUND)
		return status;
	if (!(call->route->flags & (ROUTE_CREATES | ROUTE_MAKES_SPACE)))
		return STORE_OK;
	call->space_is_new = true;
	status = store_savepoint(c);
	return status == STORE_OK ? store_space_create(c, call->space_name, call->now_ms, &call->space) : status;
}

/* The reply that was kept for the call's key. P_NOT_FOUND where there is none, or one that is only still there because
 * nothing has pruned it yet, or only the claim of a request that has not been answered. */
static enum problem_code replay(struct call *call, struct store_conn *c)
{
	struct kept_reply kept;
	enum store_status status = store_reply_get(c, call->space, call->idempotency_key, call->arena, &kept);

	if (status == STORE_NOT_FOUND)
		return P_NOT_FOUND;
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	if (kept.at_ms < call->now_ms - call->api->limits.idempotency_ttl_ms)
		return P_NOT_FOUND;
	if (memcmp(kept.request_digest, call->request_digest, sizeof(kept.request_digest)) != 0)
		return problem_set(
			&call->problem, P_IDEMPOTENCY_CONFLICT, "Idempotency-Key",
			"this Idempotency-Key was used for another request; use a new key for a new request");
	if (kept.status == CLAIM_STATUS) {
		call->claim = kept.body;
		return P_NOT_FOUND;
	}
	if (kept.body.n == 0)
		return problem_set(&call->problem, P_MEMORY_FORGOTTEN, "Idempotency-Key",
				   "this request was carried out before; its answer is gone, because a memory in it "
				   "was "
				   "forgotten since%s%.*s",
				   kept.location.p ? "; see " : "", STR_ARG(kept.location));
	call->status = kept.status;
	call->etag = kept.etag;
	call->location = kept.location;
	buf_put(&call->reply, kept.body);
	call->replayed = true;
	return P_OK;
}

enum problem_code call_claim(struct call *call, struct store_conn *c, struct str what)
{
	struct kept_reply kept = {.at_ms = call->now_ms, .status = CLAIM_STATUS, .body = what};
	enum store_status status;

	if (call->idempotency_key.p == NULL)
		return P_OK;
	memcpy(kept.request_digest, call->request_digest, sizeof(kept.request_digest));
	status = store_reply_put(c, call->space, call->idempotency_key, &kept, NULL, 0);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static enum problem_code keep_reply(struct call *call, struct store_conn *c)
{
	struct kept_reply kept = {.at_ms = call->now_ms};
	enum store_status status;

	call->route->encode(call);
	kept.status = call->status;
	kept.etag = call->etag;
	kept.location = call->location;
	kept.body = buf_str(&call->reply);
	memcpy(kept.request_digest, call->request_digest, sizeof(kept.request_digest));
	status = store_reply_put(c, call->space, call->idempotency_key, &kept, call->shown, call->shown_count);
	if (status == STORE_OK)
		status = store_reply_prune(c, call->now_ms - call->api->limits.idempotency_ttl_ms, PRUNE_WITH_EACH);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

/* Every write leaves an event: the history that metrics and the audit trail are read from. */
static enum problem_code tell(struct call *call, struct store_conn *c)
{
	enum store_status status;

	if (call->told.kind == 0)
		return P_OK;
	call->told.space = call->space;
	call->told.at_ms = call->now_ms;
	if (call->agent.p)
		call->told.actor = call->agent;
	status = store_event_add(c, &call->told);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static enum problem_code write_in_space(struct call *call, struct store_conn *c)
{
	enum problem_code code = P_NOT_FOUND;

	/* One that was run before would find its own claim. */
	if (call->idempotency_key.p && !call->wait.is_again) {
		call->claim = STR_NULL;
		code = replay(call, c);
	}
	if (code != P_NOT_FOUND)
		return code;
	call->told = (struct event_row){0};
	code = call->route->write(call, c);
	if (code == P_OK)
		code = tell(call, c);
	if (code == P_OK && call->idempotency_key.p && !call->wait.is_waiting)
		code = keep_reply(call, c);
	return code;
}

/* Old replies go a few at a time, with a write that is under way anyhow: some now and then, and two with each that is
 * kept, so that they go faster than they come. */
static enum store_status prune_replies(struct api *api, struct store_conn *c, int64_t now_ms)
{
	if (now_ms - atomic_load(&api->last_prune_ms) < PRUNE_EVERY_MS)
		return STORE_OK;
	atomic_store(&api->last_prune_ms, now_ms);
	return store_reply_prune(c, now_ms - api->limits.idempotency_ttl_ms, PRUNE_MAX);
}

/* On the writer's thread, maybe more than once: everything is set anew. */
static enum store_status job_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct call *call = (struct call *)((char *)job - offsetof(struct call, job));
	enum store_status status = prune_replies(call->api, c, now_ms);
	enum problem_code code;

	waiting_forget(call);
	call->now_ms = now_ms;
	call->problem = (struct problem){0};
	call->status = 200;
	call->replayed = false;
	call->etag = call->location = STR_NULL;
	buf_clear(&call->reply);
	if (status == STORE_OK)
		status = open_space(call, c);
	if (status != STORE_OK)
		return status;
	code = write_in_space(call, c);
	status = problem_store_status(code);
	if (status == STORE_OK && call->space_is_new)
		status = code == P_OK ? store_release(c) : store_rollback_to(c);
	return status;
}

/* Nobody is there to be told: what was done is undone. */
static enum store_status undo_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct call *call = (struct call *)((char *)job - offsetof(struct call, job));

	call->now_ms = now_ms;
	return problem_store_status(call->route->undo(call, c));
}

static void undo_finish(void *arg)
{
	reply_send(arg);
}

static void undo_done(struct writer_job *job, enum store_status status)
{
	struct call *call = (struct call *)((char *)job - offsetof(struct call, job));

	(void)status;	/* where it failed, time will undo it */
	http_post(call->api->http, http_req_thread(call->req), undo_finish, call);
}

void api_undo(struct call *call)
{
	call->job.run = undo_run;
	call->job.done = undo_done;
	writer_submit_always(call->api->writer, &call->job);
}

/* Back on the HTTP thread. */
static void finish_write(void *arg)
{
	struct call *call = arg;

	if (!waiting_may_finish(call))
		return;
	if (call->route->undo && call->problem.code == P_OK && http_req_is_gone(call->req)) {
		api_undo(call);
		return;
	}
	if (call->problem.code == P_OK && call->reply.len == 0)
		call->route->encode(call);
	reply_send(call);
}

/* On the writer's thread, after the commit. */
static void job_done(struct writer_job *job, enum store_status status)
{
	struct call *call = (struct call *)((char *)job - offsetof(struct call, job));

	if (call->wait.is_waiting)
		return;
	/* Its own run has said what is wrong, unless it was the transaction's end that was refused. */
	if (status != STORE_OK && !(store_is_answer(status) && call->problem.code == P_INTERNAL))
		problem_of_store(&call->problem, status);
	if (call->problem.code == P_INTERNAL)
		log_write(call->api->log, LOG_ERROR, "a write was undone", LOG_SLICE("path", http_req_path(call->req)),
			  LOG_STR("error", call->problem.detail));
	if (call->problem.code == P_OK && !call->replayed) {
		if (call->space_is_new)
			spaces_remember(call->api->spaces, call->space_name, call->space);
		if (call->route->committed)
			call->route->committed(call);
	}
	http_post(call->api->http, http_req_thread(call->req), call->finish, call);
}

/* From a successful submit on the call is the writer's: nothing here may look at it any more. */
void api_submit(struct call *call)
{
	call->job.run = job_run;
	call->job.done = job_done;
	if (call->finish == NULL)
		call->finish = finish_write;
	if (atomic_load(&call->api->failed)) {
		problem_of_store(&call->problem, STORE_FAILED);
		reply_send(call);
	} else if (!writer_submit(call->api->writer, &call->job)) {
		problem_set(&call->problem, P_OVERLOADED, NULL, "too many writes are waiting; try again in a moment");
		call->problem.retry_after_ms = 1000;
		reply_send(call);
	}
}

/* --- Reading --- */

/* What was answered before is answered again, also where it would be refused by now. */
static bool was_answered(struct call *call, struct store_conn *c)
{
	return call->idempotency_key.p && call->space && replay(call, c) != P_NOT_FOUND;
}

static void run_read(void *arg)
{
	struct call *call = arg;
	struct store_conn *c = call->api->readers[http_req_thread(call->req)];
	enum problem_code code;

	if (call->route->prepare && was_answered(call, c)) {
		reply_send(call);
		return;
	}
	code = call->route->prepare ? call->route->prepare(call, c) : call->route->read(call, c);
	if (code == P_OK && call->route->write && !call->is_answered) {
		api_submit(call);
		return;
	}
	if (call->is_kept)
		return;
	if (code == P_OK)
		call->route->encode(call);
	reply_send(call);
}

static void index_is_ready(void *arg)
{
	struct call *call = arg;

	http_post(call->api->http, http_req_thread(call->req), run_read, call);
}

static void start_read(struct call *call)
{
	struct store_conn *c = call->api->readers[http_req_thread(call->req)];
	enum store_status status = STORE_OK;

	if (!(call->route->flags & ROUTE_NO_SPACE))
		status = spaces_find(call->api->spaces, c, call->space_name, &call->space);
	if (status != STORE_OK && status != STORE_NOT_FOUND) {
		problem_of_store(&call->problem, status);
		reply_send(call);
	} else if ((call->route->flags & ROUTE_INDEX) && !call->skips_index && call->space &&
		   !recall_is_ready(call->api->recall, call->space)) {
		indexer_request(call->api->indexer, call->space, index_is_ready, call);
	} else {
		run_read(call);
	}
}

/* --- The callbacks --- */

void api_on_request(void *ctx, struct http_req *req)
{
	struct call *call = arena_zalloc(http_req_arena(req), sizeof(*call));
	enum problem_code code;

	call->api = ctx;
	call->req = req;
	call->arena = http_req_arena(req);
	call->now_ms = clock_wall_ms();
	call->status = 200;
	buf_init(&call->reply, REPLY_MAX);
	code = find_route(call);
	if (code == P_OK)
		code = read_query(call);
	if (code == P_OK)
		code = read_headers(call);
	if (code == P_OK)
		code = read_body(call);
	if (code == P_OK && call->route->decode)
		code = call->route->decode(call);
	if (code != P_OK)
		reply_send(call);
	else if (call->route->write && call->route->prepare == NULL)
		api_submit(call);
	else
		start_read(call);
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
	api->readers[thread] = store_open(api->data_dir, STORE_READ, &error);
	api->scratch[thread] = recall_scratch_new(api->recall);
	if (api->readers[thread] == NULL) {
		log_write(api->log, LOG_ERROR, "cannot read the store", LOG_SLICE("error", buf_str(&error)));
		abort();
	}
	store_share(api->readers[thread], api->store);
	buf_release(&error);
}

void api_on_thread_stop(void *ctx, int thread)
{
	struct api *api = ctx;

	store_close(api->readers[thread]);
	recall_scratch_free(api->scratch[thread]);
}
