#include "api/http/cluster_front.h"

#include "api/describe/descriptions.h"
#include "api/describe/newer.h"
#include "api/describe/shapes.h"
#include "api/gate.h"
#include "api/http/http_api.h"
#include "api/http/pass_problem.h"
#include "api/http/reply.h"
#include "api/routes.h"
#include "base/mem.h"
#include "core/cluster/passed.h"
#include "core/cluster/protocol.h"
#include "core/cluster/shard.h"
#include "engine/access/keyring.h"

#include <stdio.h>
#include <stdlib.h>

/* KEY_LOOK_MS, KEY_LOOKS: a key that was made at another node is here as soon as that node has told it.
 * DRAIN_PART: of the time to drain, one part in so many is kept for telling that it was not enough.
 * AGAIN_MS: a space that moves is looked for so long. REACH_MS: a node that takes no connection may have just stopped,
 * which is known here so soon. FIRST_MS: until the first look, and twice as long until each other. */
enum { LOG_EVERY_MS = 1000 };	/* the same failure comes with every request */
enum { SECRET_BYTES = 32, KEY_LOOK_MS = 20, KEY_LOOKS = 100, SEAL_MAX = 512, DRAIN_PART = 20 };
enum { AGAIN_MS = 2000, REACH_MS = 200, FIRST_MS = 10 };

static const char undone_name[] = "Spine-Undone";

struct cluster_front {
	struct cluster_front_config config;
	char secret[SECRET_BYTES];
	atomic_bool has_secret;
	_Atomic int64_t logged_ms;	/* when a failure was */
	struct http_header node[2];	/* of every answer */
	struct http_header owner[3];	/* of one about a space of this node */
	struct http_pass *passes[];	/* one per HTTP thread */
};

/* A request on its way. In its arena. */
struct way {
	struct cluster_front *front;
	struct http_req *req;
	const struct entry *entry;
	const struct route *route;
	const char *url;		/* of the node that it was passed on to */
	int shard;
	int looks;			/* for its key */
	int64_t passed_at_ms;		/* for the first time */
	int64_t undone_at_ms;		/* the owner said for the first time that it is none; 0: it did not */
	int64_t again_after_ms;		/* the next look at where the space is */
};

/* --- Life --- */

struct cluster_front *cluster_front_new(const struct cluster_front_config *config)
{
	struct cluster_front *f = mem_zalloc(sizeof(*f) + (size_t)config->threads * sizeof(struct http_pass *));

	f->config = *config;
	f->node[0] = (struct http_header){"Spine-Node", str_of(config->id)};
	f->owner[0] = (struct http_header){"Spine-Owner", str_of(config->url)};
	return f;
}

void cluster_front_free(struct cluster_front *f)
{
	if (f == NULL)
		return;
	mem_wipe(f->secret, sizeof(f->secret));
	free(f);
}

void cluster_front_set_secret(struct cluster_front *f, struct str secret)
{
	if (secret.n != SECRET_BYTES || atomic_load(&f->has_secret))
		return;
	memcpy(f->secret, secret.p, SECRET_BYTES);
	atomic_store(&f->has_secret, true);
}

void cluster_front_thread_start(struct cluster_front *f, int thread)
{
	f->passes[thread] = http_pass_new(f->config.own->http, thread, f->config.files);
}

void cluster_front_thread_stop(struct cluster_front *f, int thread)
{
	http_pass_free(f->passes[thread]);
	f->passes[thread] = NULL;
}

void cluster_front_mark(struct cluster_front *f, struct http_req *req)
{
	http_req_add_headers(req, f->node);
}

struct cut {
	struct cluster_front *front;
	int thread;
	char url[];
};

static void cut(void *arg)
{
	struct cut *c = arg;

	http_pass_cut(c->front->passes[c->thread], c->url, "its lease is over");
	free(c);
}

void cluster_front_cut(struct cluster_front *f, struct str url)
{
	for (int i = 0; i < f->config.threads; i++) {
		struct cut *c = mem_alloc(sizeof(*c) + url.n + 1);

		*c = (struct cut){f, i};
		memcpy(c->url, url.p, url.n);
		c->url[url.n] = '\0';
		http_post(f->config.own->http, i, cut, c);
	}
}

/* --- What a request says of itself --- */

static struct str secret_of(const struct cluster_front *f)
{
	return (struct str){f->secret, SECRET_BYTES};
}

static struct str target_of(struct http_req *req)
{
	struct str path = http_req_path(req), query = http_req_query(req);

	if (query.p == NULL)
		return path;
	return arena_printf(http_req_arena(req), "%.*s?%.*s", STR_ARG(path), STR_ARG(query));
}

/* By the clock that all nodes have in common, the database's: the machines' own may differ by hours. */
static int64_t now_ms(const struct cluster_front *f)
{
	return engine_now_ms(f->config.own->engine);
}

/* What a seal is for. The header as it came: the owner sees the same. */
static struct passed_request sealed_of(struct http_req *req)
{
	struct str space = http_req_header(req, "spine-space");

	return (struct passed_request){
		.method = http_req_method_name(req), .target = target_of(req), .space = space.p ? space : STR(""),
	};
}

/* It is answered by the node itself, from no shard. */
static bool is_of_no_space(const struct http_req *req, const struct route *route)
{
	if (str_is(http_req_path(req), "/mcp"))
		return false;
	if (route == NULL || route->describes == NULL || route->describes->scope == SCOPE_OPEN)
		return true;
	return (route->describes->takes & TAKES_NO_SPACE) && route->describes->path[0] != &path_space;
}

static struct str space_of(struct http_req *req, const struct entry *entry, const struct route *route,
			   const struct str *params)
{
	struct str space = http_req_header(req, "spine-space");

	if (route && route->describes && route->describes->path[0] == &path_space &&
	    http_decode_path(req, params[0], &space))
		return space;
	if (space.p)
		return space;
	return entry->access && entry->access->space.p ? entry->access->space : STR("default");
}

/* --- Refusing --- */

static void refuse_with(struct http_req *req, const struct problem *problem)
{
	static const struct http_header headers[] = {{"Retry-After", {"1", 1}}, {0}};
	struct buf body;

	buf_init(&body, 65536);
	reply_problem_body(problem, &body);
	http_reply(req, problem_kind(problem->code)->status, "application/problem+json",
		   problem->retry_after_ms ? headers : NULL, &body);
}

static void refuse(struct http_req *req, const char *why)
{
	struct problem problem;

	gate_refuse(&problem, why);
	refuse_with(req, &problem);
}

/* --- What an owner is too old for --- */

static int newest_parameter(const struct way *way, const struct description *d)
{
	struct str rest = http_req_query(way->req), pair, name;
	int since = 0, of_pair;

	while (rest.n > 0) {
		pair = str_cut(&rest, '&');
		if (!http_decode_query(way->req, str_cut(&pair, '='), &name))
			continue;
		of_pair = newer_of_parameter(d, name);
		since = of_pair > since ? of_pair : since;
	}
	return since;
}

/* What is no JSON is refused by any owner. */
static int newest_member(const struct way *way, const struct description *d)
{
	int max_depth = way->front->config.own->limits.max_json_depth, since = 0;
	struct str text = http_req_body(way->req);
	struct json_error error;
	struct json body;

	if (d->body[0] == NULL || text.n == 0)
		return 0;
	if (json_parse(text, max_depth, http_req_arena(way->req), &body, &error))
		since = newer_of_body(d, &body);
	if (d->has_secret)
		json_forget(text.n);
	return since;
}

/* Nodes that are as new as this one are not asked about; the body is read only in the middle of an upgrade. */
static bool is_too_old(const struct way *way, const struct cluster_place *place)
{
	const struct description *d = way->route ? way->route->describes : NULL;

	if (protocol_knows(place->protocol, PROTOCOL_NOW))
		return false;
	return !protocol_knows(place->protocol, d ? d->since : 0) ||
	       (d && (!protocol_knows(place->protocol, newest_parameter(way, d)) ||
		      !protocol_knows(place->protocol, newest_member(way, d))));
}

static void refuse_too_old(struct way *way, const struct cluster_place *place)
{
	refuse(way->req, arena_printf(http_req_arena(way->req), "the node that owns the space runs version %s, and "
				      "is too old for this request until it is upgraded", place->version).p);
}

/* --- Passing on --- */

/* Whoever runs the nodes must find out why, and the caller must not. */
static void log_failure(const struct way *way, const struct http_pass_failure *why)
{
	struct cluster_front *f = way->front;
	int64_t now_ms = clock_mono_ns() / 1000000, before_ms = atomic_load(&f->logged_ms);

	if ((before_ms == 0 || now_ms - before_ms >= LOG_EVERY_MS) &&
	    atomic_compare_exchange_strong(&f->logged_ms, &before_ms, now_ms))
		log_write(f->config.own->log, LOG_WARN, why->is_drained ? "a request that was passed on had no answer "
			  "yet" : "a request could not be passed on", LOG_STR("to", way->url),
			  LOG_STR("error", why->why));
}

static void look_again(struct http_req *req, void *arg);

/* The space moves to another node, or that has just stopped, as far as one can tell. False: for too long now. */
static bool may_look_again(struct way *way, bool is_undone)
{
	int64_t at_ms = clock_mono_ns() / 1000000, until_ms;

	if (is_undone && way->undone_at_ms == 0)
		way->undone_at_ms = at_ms;
	until_ms = way->undone_at_ms ? way->undone_at_ms + AGAIN_MS : way->passed_at_ms + REACH_MS;
	if (at_ms + way->again_after_ms > until_ms || api_is_ending(way->front->config.own))
		return false;
	http_req_set_timer(way->req, way->again_after_ms, look_again, way);
	way->again_after_ms *= 2;
	return true;
}

static void on_failed(void *ctx, struct http_req *req, const struct http_pass_failure *why)
{
	struct way *way = ctx;
	struct problem problem;

	if (!why->may_have_run && !why->is_drained && may_look_again(way, why->is_undone))
		return;
	if (!why->is_undone)
		log_failure(way, why);
	pass_problem(why, pass_is_once(req, way->route), &problem);
	refuse_with(req, &problem);
}

static struct str seal(const struct way *way)
{
	const struct access *access = way->entry->access;
	struct passed_request request = sealed_of(way->req);
	struct arena *arena = http_req_arena(way->req);
	struct passed passed = {.node = str_of(way->front->config.id), .at_ms = now_ms(way->front)};
	struct str value;
	struct buf text;

	if (access)
		passed.key = arena_printf(arena, "%llu.%llu", (unsigned long long)access->key,
					  (unsigned long long)access->secret);
	buf_init(&text, SEAL_MAX);
	passed_seal(&text, secret_of(way->front), &passed, &request);
	value = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return value;
}

static void pass_on(struct way *way, const char *url)
{
	static const char *const dropped[] = {"authorization", "cookie", NULL};
	struct cluster_front *f = way->front;
	struct http_header *extra = arena_calloc(http_req_arena(way->req), 2, sizeof(*extra));

	way->url = url;
	if (way->passed_at_ms == 0) {
		way->passed_at_ms = clock_mono_ns() / 1000000;
		way->again_after_ms = FIRST_MS;
	}
	extra[0] = (struct http_header){"Spine-Passed", seal(way)};
	http_pass_send(f->passes[http_req_thread(way->req)], way->req, &(struct http_pass_order){
		.url_base = url, .extra_headers = extra, .drop_headers = dropped, .undone_name = undone_name,
		.drain_ms = f->config.drain_ms - f->config.drain_ms / DRAIN_PART, .on_failed = on_failed, .ctx = way,
	});
}

/* --- Finding who answers --- */

static void find(struct way *way);

static void look_again(struct http_req *req, void *arg)
{
	(void)req;
	find(arg);
}

/* The node that has passed it on may find another one. */
static void refuse_undone(const struct way *way, const char *why)
{
	struct http_header *headers = arena_calloc(http_req_arena(way->req), 2, sizeof(*headers));

	headers[0] = (struct http_header){undone_name, str_of(why)};
	if (way->entry->is_passed)
		http_req_add_headers(way->req, headers);
	refuse(way->req, why);
}

static void on_found(void *arg, bool is_open)
{
	struct way *way = arg;

	if (is_open)
		find(way);
	else
		refuse_undone(way, "the space is being taken over");
}

/* Without its lease a node does not know who owns anything. */
static const char *why_nobody(const struct cluster_front *f)
{
	const char *trouble = f->config.node->trouble(f->config.node->ctx);

	if (trouble && (strcmp(trouble, "no_lease") == 0 || strcmp(trouble, "no_database") == 0))
		return "this node does not reach the database just now, or has only just reached it again";
	if (trouble && strcmp(trouble, "too_old") == 0)
		return "this node is too old for the database";
	return "no node owns the space just now";
}

static void find(struct way *way)
{
	struct cluster_front *f = way->front;
	struct cluster_place place = {0};

	f->config.node->find(f->config.node->ctx, way->shard, way->req, on_found, way, &place);
	if (place.api && api_reader(place.api, http_req_thread(way->req)) == NULL) {
		refuse(way->req, "the database cannot be read");
	} else if (place.api) {
		http_req_add_headers(way->req, f->owner);
		http_api_answer(place.api, way->req, way->entry, NULL);
	} else if (place.is_coming) {
		return;
	} else if (way->entry->is_passed) {
		refuse_undone(way, "the node that this was passed to does not own the space");
	} else if (place.url == NULL || !atomic_load(&f->has_secret)) {
		refuse(way->req, why_nobody(f));
	} else if (is_too_old(way, &place)) {
		refuse_too_old(way, &place);
	} else {
		pass_on(way, place.url);
	}
}

static void take(struct way *way)
{
	struct str params[CALL_PARAMS_MAX] = {{0}};
	struct http_req *req = way->req;
	const char *allow;

	way->route = routes_find(http_req_method(req), http_req_path(req), params, &allow);
	if (is_of_no_space(req, way->route)) {
		http_api_answer(way->front->config.own, req, way->entry, NULL);
		return;
	}
	way->shard = shard_of(space_of(req, way->entry, way->route, params));
	find(way);
}

/* --- Letting in what was passed on --- */

bool cluster_front_is_passed(const struct http_req *req)
{
	return http_req_header(req, "spine-passed").p != NULL;
}

/* "17.2": the key, and which of its secrets was shown. */
static bool read_key(struct str text, uint64_t *ret_key, uint64_t *ret_secret)
{
	struct str rest = text, key = str_cut(&rest, '.');

	return rest.p && str_to_u64(key, ret_key) && str_to_u64(rest, ret_secret);
}

static enum access_key_state grant(const struct cluster_front *f, struct http_req *req, struct entry *entry)
{
	struct engine *e = f->config.own->engine;
	struct access *access = NULL;
	enum access_key_state state;

	state = keyring_grant(e->keyring, entry->key, entry->secret, engine_now_ms(e), http_req_arena(req), &access);
	entry->access = access;
	entry->is_key_coming = state == ACCESS_KEY_WRONG;
	return state;
}

enum problem_code cluster_front_let_in(struct cluster_front *f, struct http_req *req, struct problem *problem)
{
	struct entry *entry = arena_zalloc(http_req_arena(req), sizeof(*entry));
	struct passed_request request = sealed_of(req);
	struct passed passed = {0};
	enum passed_verdict verdict;
	enum access_key_state state = ACCESS_KEY_VALID;

	if (!atomic_load(&f->has_secret))
		return gate_refuse(problem, "this node has only just started");
	verdict = passed_check(http_req_header(req, "spine-passed"), secret_of(f), &request, now_ms(f), &passed);
	if (verdict == PASSED_STALE)
		return gate_refuse(problem, "it was passed on more than a minute ago");
	if (verdict != PASSED_GOOD || (passed.key.p && !read_key(passed.key, &entry->key, &entry->secret)))
		return problem_set(problem, P_FORBIDDEN, "Spine-Passed", "only the nodes of this cluster pass requests "
				   "on; leave Spine-Passed out");
	entry->is_passed = true;
	entry->passed_by = arena_str(http_req_arena(req), passed.node);
	if (passed.key.p)
		state = grant(f, req, entry);
	else if (keyring_needs_key(f->config.own->engine->keyring))
		state = ACCESS_KEY_EXPIRED;
	http_req_keep(req, entry);
	if (state == ACCESS_KEY_VALID || entry->is_key_coming)
		return P_OK;
	return entry_ended(problem, entry->access);
}

static void look_for_key(struct http_req *req, void *arg)
{
	struct way *way = arg;
	struct entry *entry = http_req_kept(req);
	enum access_key_state state = grant(way->front, req, entry);
	struct problem problem = {0};

	if (state == ACCESS_KEY_VALID) {
		take(way);
	} else if (!entry->is_key_coming) {
		entry_ended(&problem, NULL);
		refuse_with(req, &problem);
	} else if (way->looks++ < KEY_LOOKS && !api_is_ending(way->front->config.own)) {
		http_req_set_timer(req, KEY_LOOK_MS, look_for_key, way);
	} else {
		refuse(req, "the node that owns the space does not know the key yet");
	}
}

void cluster_front_take(struct cluster_front *f, struct http_req *req, const struct entry *entry)
{
	struct way *way = arena_zalloc(http_req_arena(req), sizeof(*way));

	way->front = f;
	way->req = req;
	way->entry = entry;
	if (entry->is_key_coming)
		http_req_set_timer(req, KEY_LOOK_MS, look_for_key, way);
	else
		take(way);
}
