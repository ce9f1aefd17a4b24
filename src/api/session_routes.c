/* Signing in and out on the dashboard. */
#include "api/describe/descriptions.h"
#include "api/http/entry.h"
#include "api/http/guard.h"
#include "api/http/http_call.h"
#include "api/http/sessions.h"
#include "api/routes.h"
#include "api/session_call.h"
#include "api/translate.h"
#include "base/mem.h"

enum { COOKIE_LINE_MAX = 512 };

static enum problem_code read_nothing(struct op *op, struct store_conn *c)
{
	(void)op;
	(void)c;
	return P_OK;
}

static const struct op_kind session_kind = {
	.name = "session", .size = sizeof(struct session_call), .flags = OP_NO_SPACE, .read = read_nothing,
};

static void set_cookie(struct call *call, const char *value, const char *end)
{
	struct http_call *http = http_call_of(call);
	struct http_header *headers = arena_calloc(call->op->arena, 3, sizeof(*headers));
	bool is_https = guard_is_https(call->api->guard, http_req_header(http->req, "host"));
	struct buf text;

	/* What is printed passes over the stack, and stays there. */
	buf_init(&text, COOKIE_LINE_MAX);
	text.is_secret = true;
	buf_puts(&text, SESSION_COOKIE "=");
	buf_puts(&text, value);
	buf_puts(&text, "; Path=/; HttpOnly; SameSite=Strict");
	buf_puts(&text, end);
	buf_puts(&text, is_https ? "; Secure" : "");
	headers[0] = (struct http_header){"Set-Cookie", arena_str(call->op->arena, buf_str(&text))};
	buf_release(&text);
	headers[1] = (struct http_header){"Cache-Control", STR("no-store")};
	http->headers = headers;
}

/* A page of somebody else must not sign anybody in or out: not even into a key of its own. */
static enum problem_code check_origin(struct call *call)
{
	const struct http_req *req = http_call_of(call)->req;
	struct str origin = http_req_header(req, "origin");

	if (origin.p == NULL || guard_is_own(call->api->guard, http_req_header(req, "host"), origin))
		return P_OK;
	return call_refuse(call, P_ORIGIN_NOT_ALLOWED, "Origin", "only the dashboard itself signs in and out");
}

static enum problem_code decode_read(struct call *call)
{
	struct session_call *s = call_op(call);

	s->needs_key = keyring_needs_key(call->api->engine->keyring);
	s->key = s->needs_key ? call->op->access : NULL;
	return P_OK;
}

static enum problem_code begin(struct call *call, const struct access *access)
{
	char cookie[SESSION_COOKIE_SIZE];

	((struct session_call *)call_op(call))->key = access;
	sessions_end(call->api->sessions, sessions_cookie(http_req_header(http_call_of(call)->req, "cookie")));
	sessions_begin(call->api->sessions, access, call->op->now_ms, cookie);
	set_cookie(call, cookie, "");
	mem_wipe(cookie, sizeof(cookie));
	return P_OK;
}

static enum problem_code decode_open(struct call *call)
{
	struct session_call *s = call_op(call);
	struct keyring *keys = call->api->engine->keyring;
	struct access *access = NULL;
	enum problem_code code = check_origin(call);

	if (code != P_OK)
		return code;
	s->needs_key = keyring_needs_key(keys);
	if (keyring_check(keys, str_trim(s->text), call->op->now_ms, call->op->arena, &access) == ACCESS_KEY_VALID)
		return begin(call, access);
	http_req_add_headers(http_call_of(call)->req, entry_challenge);
	return call_refuse(call, P_UNAUTHORIZED, "key", "this is no key that lets anybody in; copy all of it, from "
			   "spk_ to the end, or ask who runs the server for another");
}

static enum problem_code decode_close(struct call *call)
{
	enum problem_code code = check_origin(call);

	if (code != P_OK)
		return code;
	sessions_end(call->api->sessions, sessions_cookie(http_req_header(http_call_of(call)->req, "cookie")));
	set_cookie(call, "", "; Max-Age=0");
	return P_OK;
}

const struct route session_routes[] = {
	{HTTP_GET, "/v1/session", &session_kind, &describe_read_session, decode_read, NULL},
	{HTTP_POST, "/v1/session", &session_kind, &describe_open_session, decode_open, NULL},
	{HTTP_DELETE, "/v1/session", &session_kind, &describe_close_session, decode_close, NULL},
	{0},
};
