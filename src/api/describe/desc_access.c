/* Keys, and signing in. */
#include "api/describe/descriptions.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "api/session_call.h"
#include "core/delivery/agent.h"
#include "engine/access/key_change.h"
#include "engine/access/key_create.h"
#include "engine/spaces.h"

enum { SCOPES_MAX = 4 };
/* A rotated secret that is still valid after a month is none that was rotated. */
#define GRACE_MAX_MS (INT64_C(31) * 24 * 3600 * 1000)
#define GRACE_USUAL_MS (INT64_C(24) * 3600 * 1000)
/* As of memories. */
#define TTL_MAX_MS INT64_C(3155760000000)

/* --- Scopes and spaces --- */

static enum problem_code read_scopes(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	struct key_create *k = into;
	enum problem_code code = field_read(f, value, into, r);

	for (uint32_t i = 0; code == P_OK && i < value->count; i++) {
		unsigned scope = access_scope_parse(value->items[i].s);

		if (scope == 0)
			code = problem_set(r->problem, P_INVALID_FIELD, "scopes", "scopes has \"%.*s\"; expected some "
					   "of read, write, receive, admin",
					   (int)(value->items[i].s.n < 40 ? value->items[i].s.n : 40),
					   value->items[i].s.p);
		k->order.scopes |= scope;
	}
	return code;
}

static enum problem_code read_space(const struct field *f, const struct json *value, void *into,
				    struct shape_reader *r)
{
	enum problem_code code = field_read(f, value, into, r);

	if (code != P_OK || str_is(value->s, "*") || space_name_is_valid(value->s))
		return code;
	return problem_set(r->problem, P_INVALID_FIELD, f->name.p, "space is not a name of a space; expected 1 to 64 "
			   "of a-z, 0-9, '_', '-', not starting with '_' or '-', or \"*\" for all spaces");
}

static enum problem_code read_trust(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	((struct key_create *)into)->order.has_trust = true;
	return field_read(f, value, into, r);
}

static void put_scopes(struct json_writer *w, const char *name, unsigned scopes)
{
	json_key(w, name);
	json_begin_array(w);
	for (unsigned scope = ACCESS_READ; scope <= ACCESS_ADMIN; scope <<= 1)
		if (scopes & scope)
			json_put_cstr(w, access_scope_name(scope));
	json_end_array(w);
}

static void put_row_scopes(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	put_scopes(w, f->name.p, ((const struct access_key_row *)from)->scopes);
}

static void put_row_space(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct access_key_row *row = from;

	(void)with;
	json_member_str(w, f->name.p, row->space.p ? row->space : STR("*"));
}

static void put_access_scopes(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	put_scopes(w, f->name.p, ((const struct access *)from)->scopes);
}

static void put_access_space(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct access *access = from;

	(void)with;
	json_member_str(w, f->name.p, access->space.p ? access->space : STR("*"));
}

/* --- A key --- */

#define SPACE_SAYS "The one space that it is for; *: all of them."
#define SCOPES_SAY "What it may do; admin includes the others."
#define SCOPES_ITEMS .items = "'type':'string','enum':['read','write','receive','admin']"

static const struct field row_fields[] = {
	FIELD_KEY_ID("id", struct access_key_row, num, "Its id."),
	FIELD_TEXT("name", struct access_key_row, name, 0, 0, "What people call it."),
	DOC_TEXT("space", 0, 0, SPACE_SAYS, .write = put_row_space),
	FIELD_TEXT("agent", struct access_key_row, agent, 0, 0, "Whose it is; null: anybody's.", NULLABLE),
	DOC_ARRAY("scopes", 0, SCOPES_SAY, SCOPES_ITEMS, .write = put_row_scopes),
	FIELD_ENUM("trust", struct access_key_row, trust, &words_trust, 0, "What it stores has this trust at most."),
	FIELD_TIME("created_at", struct access_key_row, created_at_ms, "When it was made."),
	FIELD_TEXT("created_by", struct access_key_row, created_by, 0, 0, "The agent that made it, or its key, as in "
		   "\"key-1 root\"; null: it was made before a key was needed.", NULLABLE),
	FIELD_TIME("expires_at", struct access_key_row, expires_at_ms, "null: never.", NULLABLE),
	FIELD_TIME("revoked_at", struct access_key_row, revoked_at_ms, "null: it was not.", NULLABLE),
	FIELD_TEXT("reason", struct access_key_row, revoked_why, 0, 0, "Why it was revoked.", NULLABLE),
	FIELD_TIME("rotated_until", struct access_key_row, old_until_ms,
		   "So long the secret before the last rotation is valid, too; null: there was none.", NULLABLE),
	FIELDS_END,
};
static const struct shape row = {.fields = row_fields, .size = sizeof(struct access_key_row)};

static const struct field key_fields[] = {
	FIELD_INCLUDE(struct key_listed, row, &row),
	FIELD_ENUM("status", struct key_listed, state, &words_key_status, 0, "Whether it lets somebody in."),
	FIELDS_END,
};
static const struct shape key = {
	.name = "Key", .says = "A key, without its secret.", .fields = key_fields, .size = sizeof(struct key_listed),
	.warns = true,
};

#define SECRET(s) \
	FIELD_TEXT("key", s, text, 0, 0, "The key itself, to be kept well: it is told this once, and the server " \
		   "keeps only its hash.", .schema = "'type':'string','pattern':'^spk_[1-9][0-9]*_[A-Za-z0-9_-]{43}$'")

const struct description describe_create_key = {
	.id = "createKey", .has_secret = true, .tag = "keys", .scope = SCOPE_ADMIN,
	.summary = "Make a key",
	.says = "From the first one on every request needs a key; that one must be admin of all spaces. A key gives "
		"nobody more than it has itself.",
	.takes = TAKES_AGENT | TAKES_BODY, .body_into = INTO(struct key_create, op),
	.body = {INPUT(
		FIELD_NAME("name", struct key_create, order.name, ACCESS_KEY_NAME_MAX, "What people call it.",
			   .required = "it is what people call the key"),
		FIELD_TEXT("space", struct key_create, order.space, 1, SPACE_NAME_MAX,
			   "The one space that it is for, or * for all of them. The request's space where absent; of "
			   "the first key, *.", .read = read_space, .usually = "the request's; of the first key `*`",
			   .docs = "the one space that it is for, or `*`: all of them"),
		FIELD_AGENT("agent", struct key_create, order.agent, "Whose it is: it can then speak and take work for "
			    "that agent only.", OF_ANYBODY, .usually = "anybody's",
			    .docs = "whose it is: it then speaks and takes work for that agent only"),
		DOC_NAMES("scopes", SCOPES_MAX, 16, "What it may do: read, write, receive, admin (which includes the "
			  "others).", .read = read_scopes, .min = 1, SCOPES_ITEMS,
			  .usually = "`read`, `write`, `receive`; of the first key `admin`",
			  .docs = "some of `read`, `write`, `receive`, `admin` (which includes the others)"),
		FIELD_ENUM("trust", struct key_create, order.trust, &words_trust, 0, "What it stores has this trust at "
			   "most. agent where absent; user for a key with admin and without an agent.",
			   .read = read_trust, .usually = "`agent`; `user` with admin and without an agent",
			   .docs = "what it stores has this trust at most: `system`, `user`, `agent` or `external`"),
		FIELD_TIME("expires_at", struct key_create, order.expires_at_ms, "This or ttl_s; never where absent.",
			   .usually = "never", .docs = "a time; this or `ttl_s`"),
		FIELD_SECONDS("ttl_s", struct key_create, order.ttl_ms, 1000, TTL_MAX_MS,
			      "Seconds from now. This or expires_at.", .docs = "seconds from now; this or "
			      "`expires_at`"))},
	ANSWERS(ANSWER(201, "The key, with its secret.", OUTPUT(
		FIELD_INCLUDE(struct key_create, row, &row), SECRET(struct key_create),
		FIELD_BOOL("is_first", struct key_create, is_first, "From now on every request needs a key.")),
		.headers = GIVES_ANEW)),
	REFUSES(P_MISSING_FIELD, P_INVALID_FIELD, P_TOO_LARGE),
};

const struct description describe_list_keys = {
	.id = "listKeys", .tag = "keys", .scope = SCOPE_ADMIN,
	.summary = "List the keys",
	.says = "Those of the space of the caller's key, or of all spaces; those that have ended for 90 days, too.",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct key_list),
	ANSWERS(ANSWER(200, "A page of keys, in the order in which they were made.", OUTPUT(
		FIELD_SHAPES("keys", struct key_list, keys, count, 0, &key, "Without their secrets."),
		NEXT_PAGE_OF(struct key_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

#define ONE_KEY(s) .path = {&path_key}, .path_into = {INTO(s, num)}

const struct description describe_read_key = {
	.id = "readKey", .tag = "keys", .scope = SCOPE_ADMIN,
	.summary = "Read a key, without its secret",
	ONE_KEY(struct key_get), .from = FROM(struct key_get, key),
	ANSWERS(ANSWER(200, "The key.", &key)),
	REFUSES(P_KEY_NOT_FOUND),
};

static void a_day(void *op)
{
	((struct key_change *)op)->grace_ms = GRACE_USUAL_MS;
}

const struct description describe_rotate_key = {
	.id = "rotateKey", .has_secret = true, .tag = "keys", .scope = SCOPE_ADMIN,
	.summary = "Give a key a new secret",
	.says = "The one before stays valid for a while, so that nobody is shut out meanwhile. Rotated again before "
		"that is over, the oldest ends at once.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, ONE_KEY(struct key_change), .defaults = a_day,
	.body_into = INTO(struct key_change, op),
	.body = {INPUT(FIELD_SECONDS("grace_s", struct key_change, grace_ms, 0, GRACE_MAX_MS,
				     "So long the secret before is valid, too; 0: not at all.", .otherwise = "86400",
				     .docs = "so long the secret before is valid, too, at most 2,678,400 (31 days); "
					     "0: not at all"))},
	ANSWERS(ANSWER(200, "The key, with its new secret.", OUTPUT(
		FIELD_INCLUDE(struct key_change, key, &key), SECRET(struct key_change)), .headers = GIVES_ANEW)),
	REFUSES(P_KEY_NOT_FOUND, P_KEY_ENDED),
};

const struct description describe_revoke_key = {
	.id = "revokeKey", .tag = "keys", .scope = SCOPE_ADMIN,
	.summary = "End a key",
	.says = "At once: also open streams, calls that wait, and sessions of the dashboard. The server stays closed, "
		"also when it was the last one. Revoking again changes nothing.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, ONE_KEY(struct key_change), .from = FROM(struct key_change, key),
	.body_into = INTO(struct key_change, op),
	.body = {INPUT(FIELD_TEXT("reason", struct key_change, reason, 1, ACCESS_KEY_REASON_MAX, "Why.",
				  .docs = "why; at most 1 KiB"))},
	ANSWERS(ANSWER(200, "The key, which has ended.", &key)),
	REFUSES(P_KEY_NOT_FOUND),
};

/* --- Sessions --- */

static const struct field known_fields[] = {
	FIELD_KEY_ID("id", struct access, key, "Its id."),
	FIELD_TEXT("name", struct access, name, 0, 0, "What people call it."),
	DOC_TEXT("space", 0, 0, SPACE_SAYS, .write = put_access_space),
	FIELD_TEXT("agent", struct access, agent, 0, 0, "Whose it is; null: anybody's.", NULLABLE),
	DOC_ARRAY("scopes", 0, SCOPES_SAY, SCOPES_ITEMS, .write = put_access_scopes),
	FIELD_ENUM("trust", struct access, trust, &words_trust, 0, "What it stores has this trust at most."),
	FIELD_TIME("expires_at", struct access, expires_at_ms, "null: never.", NULLABLE),
	FIELDS_END,
};
static const struct shape known = {.fields = known_fields, .size = sizeof(struct access)};

static const struct field session_fields[] = {
	FIELD_ENUM("mode", struct session_call, needs_key, &words_access_mode, 0,
		   "open: nobody needs a key; keys: everybody does."),
	FIELD_SHAPE_AT("key", struct session_call, key, &known, "The key of who asks; null: none.", NULLABLE),
	FIELDS_END,
};
static const struct shape session = {
	.name = "Session", .says = "Who one is to the server.", .fields = session_fields, .warns = true,
};

const struct description describe_read_session = {
	.id = "readSession", .tag = "keys", .scope = SCOPE_OPEN,
	.summary = "Does the server need a key, and whose is the one that is shown?",
	.takes = TAKES_NO_SPACE,
	ANSWERS(ANSWER(200, "Who one is.", &session)),
};

const struct description describe_open_session = {
	.id = "openSession", .has_secret = true, .tag = "keys", .scope = SCOPE_OPEN,
	.summary = "Sign in on the dashboard with a key",
	.says = "The answer sets the cookie spine_session, which scripts cannot read. It stands for the key for twelve "
		"hours after the last request, a week at most, and ends with the key.",
	.takes = TAKES_NO_SPACE | TAKES_BODY, .body_into = INTO(struct session_call, op),
	.body = {INPUT(FIELD_TEXT("key", struct session_call, text, 1, ACCESS_KEY_TEXT_SIZE, "The key.",
				  .required = "it is the key to sign in with"))},
	ANSWERS(ANSWER(201, "Signed in.", &session)),
	REFUSES(P_UNAUTHORIZED, P_FORBIDDEN),
};

const struct description describe_close_session = {
	.id = "closeSession", .tag = "keys", .scope = SCOPE_OPEN,
	.summary = "Sign out",
	.takes = TAKES_NO_SPACE,
	ANSWERS(OTHER(204, "Signed out; also where nobody was signed in.")),
};
