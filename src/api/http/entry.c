#include "api/http/entry.h"

#include "api/http/guard.h"
#include "api/http/sessions.h"
#include "api/routes.h"
#include "engine/access/keyring.h"

/* So often at most what was refused is told in the log: whoever floods the server must not flood the disk. */
enum { LOG_EVERY_MS = 1000 };

/* --- Which key --- */

struct str entry_bearer(struct str authorization)
{
	struct str rest = authorization, scheme;

	if (rest.p == NULL)
		return STR_NULL;
	scheme = str_cut(&rest, ' ');
	return rest.p && str_ieq(scheme, STR("bearer")) ? str_trim(rest) : STR("");
}

static enum access_key_state find_access(struct api *api, struct http_req *req, struct access **ret)
{
	int64_t now_ms = engine_now_ms(api->engine);
	struct str text = entry_bearer(http_req_header(req, "authorization")), cookie;

	if (text.p)
		return keyring_check(api->engine->keyring, text, now_ms, http_req_arena(req), ret);
	cookie = sessions_cookie(http_req_header(req, "cookie"));
	if (cookie.p && sessions_may_count(api->guard, req))
		*ret = sessions_find(api->sessions, api->engine->keyring, cookie, now_ms, http_req_arena(req));
	return *ret ? ACCESS_KEY_VALID : ACCESS_KEY_WRONG;
}

/* --- Refusing --- */

#define CHALLENGE "Bearer realm=\"memory-spine\""
const struct http_header entry_challenge[] = {{"WWW-Authenticate", {CHALLENGE, sizeof(CHALLENGE) - 1}}, {0}};

static enum problem_code refuse(struct problem *problem, enum access_key_state state)
{
	if (state == ACCESS_KEY_EXPIRED)
		return problem_set(problem, P_UNAUTHORIZED, "Authorization", "this key has expired, or was replaced by "
				   "a rotation and its time is over; ask who runs the server for another");
	if (state == ACCESS_KEY_REVOKED)
		return problem_set(problem, P_UNAUTHORIZED, "Authorization", "this key was revoked; ask who runs the "
				   "server for another");
	return problem_set(problem, P_UNAUTHORIZED, "Authorization", "this server needs a key, and none came that it "
			   "knows; send Authorization: Bearer spk_… (the clients read SPINE_KEY or SPINE_KEY_FILE), or "
			   "sign in on the dashboard. spine key create makes one");
}

bool entry_is_welcome(struct api *api, const struct access *access)
{
	int64_t now_ms = engine_now_ms(api->engine);

	return keyring_is_welcome(api->engine->keyring, access, now_ms) &&
	       (access == NULL || access->session == 0 || sessions_is_on(api->sessions, access->session, now_ms));
}

enum problem_code entry_ended(struct problem *problem, const struct access *access)
{
	if (access == NULL)
		return refuse(problem, ACCESS_KEY_WRONG);
	if (access->session)
		return problem_set(problem, P_UNAUTHORIZED, "Authorization", "the session has ended: it was signed out "
				   "or replaced, or its time or that of its key is over; sign in again");
	return problem_set(problem, P_UNAUTHORIZED, "Authorization", "key-%llu has ended: it was revoked, has expired, "
			   "or a rotation has replaced its secret", (unsigned long long)access->key);
}

/* Never the key; a number that was only claimed says nothing. */
static void log_refusal(struct api *api)
{
	int64_t now_ms = engine_now_ms(api->engine), before_ms = atomic_load(&api->refusal_told_ms);
	unsigned long long count = atomic_fetch_add(&api->refusals, 1) + 1;

	if (now_ms - before_ms < LOG_EVERY_MS && now_ms >= before_ms)
		return;
	if (atomic_compare_exchange_strong(&api->refusal_told_ms, &before_ms, now_ms))
		log_write(api->log, LOG_WARN, "refused: no valid key", LOG_INT("since_the_start", count));
}

static enum problem_code refuse_entry(struct api *api, struct http_req *req, enum access_key_state state,
				      struct problem *problem)
{
	http_req_add_headers(req, entry_challenge);
	log_refusal(api);
	return refuse(problem, state);
}

/* --- Letting in --- */

static bool is_open(const struct route *route)
{
	return route && (route->describes == NULL || route->describes->scope == SCOPE_OPEN);
}

/* What only persons do is done on the server's own page, or by what is no page: a script of another origin is not the
 * person whose key it was given. */
static enum problem_code check_page(const struct api *api, const struct http_req *req, const struct description *d,
				    struct problem *problem)
{
	struct str origin = http_req_header(req, "origin");

	if (d == NULL || !(d->takes & TAKES_PERSON) || origin.p == NULL ||
	    guard_is_own(api->guard, http_req_header(req, "host"), origin))
		return P_OK;
	return problem_set(problem, P_ORIGIN_NOT_ALLOWED, "Origin", "a page of another origin does not decide for a "
			   "person; do this on the dashboard, or with spine waive");
}

enum problem_code entry_check(struct api *api, struct http_req *req, struct problem *problem)
{
	enum access_key_state state;
	struct access *access = NULL;
	enum problem_code code;
	struct entry *entry;
	const char *allow;

	if (!keyring_needs_key(api->engine->keyring))
		return P_OK;
	entry = arena_zalloc(http_req_arena(req), sizeof(*entry));
	entry->route = routes_find(http_req_method(req), http_req_path(req), entry->params, &allow);
	state = find_access(api, req, &access);
	entry->access = access;
	http_req_keep(req, entry);
	http_req_set_stranger(req, state != ACCESS_KEY_VALID);
	if (is_open(entry->route))
		return P_OK;
	if (state != ACCESS_KEY_VALID)
		return refuse_entry(api, req, state, problem);
	code = entry->route ? scope_check(entry->route->describes, access, problem) : P_OK;
	return code == P_OK && entry->route ? check_page(api, req, entry->route->describes, problem) : code;
}

const struct entry *entry_of(struct api *api, struct http_req *req, struct problem *problem)
{
	static const struct entry nothing;
	const struct entry *entry = http_req_kept(req);
	struct keyring *keys = api->engine->keyring;

	if (entry == NULL && !keyring_needs_key(keys))
		return &nothing;
	if (entry == NULL)
		return entry_check(api, req, problem) == P_OK ? http_req_kept(req) : NULL;
	if (entry->access == NULL || http_req_body(req).n == 0 || entry_is_welcome(api, entry->access))
		return entry;
	http_req_add_headers(req, entry_challenge);
	entry_ended(problem, entry->access);
	return NULL;
}
