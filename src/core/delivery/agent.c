#include "core/delivery/agent.h"

#include "codec/base64.h"
#include "codec/sha256.h"
#include "core/delivery/delivery.h"
#include "core/delivery/route_rule.h"
#include "token/token.h"

#include <assert.h>

/* Settings are as deep as a request may be at the most: what was taken must be read again. */
enum { AGENT_SETTINGS_MAX = 64 * 1024, AGENT_TOKENS_MAX = 10000000, AGENT_DEPTH = 1000, TAG_DIGITS = 32 };

enum { AGENT_FALLBACKS_MAX = 16, AGENT_ATTEMPTS_MAX = 100, AGENT_WEBHOOK_MAX = 2048 };

static enum problem_code read_accepts(const struct json *list, struct agent *a, struct problem *problem)
{
	if (list->type != JSON_ARRAY || list->count == 0)
		return problem_set(problem, P_INVALID_FIELD, "accepts", "accepts is a list of envelope versions, as in "
				   "[\"2\",\"1\"]");
	a->accepts_v1 = a->accepts_v2 = false;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct json *v = &list->items[i];

		if ((v->type == JSON_STRING && str_is(v->s, "1")) || (v->type == JSON_INT && v->i == 1))
			a->accepts_v1 = true;
		else if ((v->type == JSON_STRING && str_is(v->s, "2")) || (v->type == JSON_INT && v->i == 2))
			a->accepts_v2 = true;
		else
			return problem_set(problem, P_UNSUPPORTED_VERSION, "accepts", "accepts names a version that "
					   "this server does not know; it has 1 and 2");
	}
	return P_OK;
}

static enum problem_code read_tokenizer(const struct json *value, struct agent *a, struct problem *problem)
{
	if (value->type != JSON_STRING || tokenizer_find(value->s) == NULL)
		return problem_set(problem, P_UNKNOWN_TOKENIZER, "tokenizer", "there is no such tokenizer; expected "
				   "one of o200k_base, cl100k_base, estimate");
	a->tokenizer = value->s;
	return P_OK;
}

static enum problem_code read_fetch_hint(const struct json *value, struct agent *a, struct problem *problem)
{
	if (value->type != JSON_STRING || !envelope_fetch_parse(value->s, &a->fetch_hint))
		return problem_set(problem, P_INVALID_FIELD, "fetch_hint", "fetch_hint says how the agent fetches a "
				   "memory; expected one of mcp, command, http, or null where it may be any");
	return P_OK;
}

static enum problem_code read_fallbacks(const struct json *list, struct agent *a, struct problem *problem)
{
	bool ok = list->type == JSON_ARRAY && list->count <= AGENT_FALLBACKS_MAX;

	for (uint32_t i = 0; ok && i < list->count; i++)
		ok = list->items[i].type == JSON_STRING && list->items[i].s.n > 0 &&
			list->items[i].s.n <= AGENT_NAME_MAX;
	if (!ok)
		return problem_set(problem, P_INVALID_FIELD, "fallbacks", "fallbacks is a list of at most %d names of "
				   "agents, in the order in which they take over", AGENT_FALLBACKS_MAX);
	for (uint32_t i = 0; i < list->count; i++)
		if (route_rule_is_next(list->items[i].s))
			return problem_set(problem, P_INVALID_FIELD, "fallbacks", "no agent is called \"next\": it "
					   "asks the routes, and a fallback cannot");
	a->fallbacks = list->count ? list : NULL;
	return P_OK;
}

/* A number of seconds. */
static enum problem_code read_seconds(const struct json *value, const char *name, int64_t max_ms, int64_t *ret_ms,
				      struct problem *problem)
{
	double seconds = value->type == JSON_INT ? (double)value->i : value->type == JSON_DOUBLE ? value->d : 0;

	if (!(seconds >= 0.001 && seconds <= (double)max_ms / 1000))
		return problem_set(problem, P_INVALID_FIELD, name, "%s is not a number of seconds from 0.001 to %lld",
				   name, (long long)(max_ms / 1000));
	*ret_ms = (int64_t)(seconds * 1000 + 0.5);
	return P_OK;
}

static enum problem_code read_webhook(const struct json *value, struct agent *a, struct problem *problem)
{
	if (value->type != JSON_STRING || value->s.n > AGENT_WEBHOOK_MAX ||
	    (!str_has_prefix(value->s, STR("http://")) && !str_has_prefix(value->s, STR("https://"))))
		return problem_set(problem, P_INVALID_FIELD, "webhook", "webhook is not an address that starts with "
				   "http:// or https://, of at most %d bytes", AGENT_WEBHOOK_MAX);
	a->webhook = value->s;
	return P_OK;
}

bool agent_webhook_key(struct str secret, struct buf *ret_key)
{
	struct str prefix = STR("whsec_");
	size_t before = ret_key->len;

	return str_has_prefix(secret, prefix) &&
	       base64_decode(str_sub(secret, prefix.n, secret.n), BASE64_PADDED, ret_key) &&
	       ret_key->len - before >= AGENT_WEBHOOK_KEY_MIN && ret_key->len - before <= AGENT_WEBHOOK_KEY_MAX;
}

/* The sentence does not show what was given: it may be the secret of something else. */
static enum problem_code read_webhook_secret(const struct json *value, struct agent *a, struct problem *problem)
{
	struct buf key;
	bool ok;

	buf_init(&key, AGENT_WEBHOOK_KEY_MAX);
	ok = value->type == JSON_STRING && agent_webhook_key(value->s, &key);
	buf_release(&key);
	if (!ok)
		return problem_set(problem, P_INVALID_FIELD, "webhook_secret",
				   "webhook_secret is not \"whsec_\" and the base64 of %d to %d bytes",
				   AGENT_WEBHOOK_KEY_MIN, AGENT_WEBHOOK_KEY_MAX);
	a->webhook_secret = value->s;
	return P_OK;
}

/* What says how handoffs get to the agent. */
static enum problem_code read_delivery(const struct json *settings, struct agent *a, struct problem *problem)
{
	const struct json *fallbacks = json_get(settings, "fallbacks"), *timeout = json_get(settings, "ack_timeout_s");
	const struct json *webhook = json_get(settings, "webhook"), *attempts = json_get(settings, "max_attempts");
	const struct json *secret = json_get(settings, "webhook_secret");
	const struct json *queue = json_get(settings, "queue_timeout_s");
	enum problem_code code = P_OK;

	if (fallbacks && fallbacks->type != JSON_NULL)
		code = read_fallbacks(fallbacks, a, problem);
	if (code == P_OK && timeout && timeout->type != JSON_NULL)
		code = read_seconds(timeout, "ack_timeout_s", DELIVERY_TIMEOUT_MAX_MS, &a->ack_timeout_ms, problem);
	if (code == P_OK && queue && queue->type != JSON_NULL)
		code = read_seconds(queue, "queue_timeout_s", DELIVERY_LATER_MAX_MS, &a->queue_timeout_ms, problem);
	if (code == P_OK && webhook && webhook->type != JSON_NULL)
		code = read_webhook(webhook, a, problem);
	if (code == P_OK && secret && secret->type != JSON_NULL)
		code = read_webhook_secret(secret, a, problem);
	if (code == P_OK && attempts && attempts->type != JSON_NULL &&
	    (!json_as_int(attempts, &a->max_attempts) || a->max_attempts < 1 || a->max_attempts > AGENT_ATTEMPTS_MAX))
		code = problem_set(problem, P_INVALID_FIELD, "max_attempts", "max_attempts is not a whole number from "
				   "1 to %d", AGENT_ATTEMPTS_MAX);
	return code;
}

enum problem_code agent_settings(const struct json *settings, struct agent *ret, struct problem *problem)
{
	const struct json *accepts = json_get(settings, "accepts"), *tokenizer = json_get(settings, "tokenizer");
	const struct json *max_tokens = json_get(settings, "max_tokens"),
		*description = json_get(settings, "description"), *fetch_hint = json_get(settings, "fetch_hint");
	enum problem_code code = P_OK;

	ret->accepts_v2 = true;
	ret->accepts_v1 = false;
	if (accepts && accepts->type != JSON_NULL)
		code = read_accepts(accepts, ret, problem);
	if (code == P_OK && tokenizer && tokenizer->type != JSON_NULL)
		code = read_tokenizer(tokenizer, ret, problem);
	if (code == P_OK && fetch_hint && fetch_hint->type != JSON_NULL)
		code = read_fetch_hint(fetch_hint, ret, problem);
	if (code == P_OK && description && description->type != JSON_NULL && description->type != JSON_STRING)
		code = problem_set(problem, P_INVALID_FIELD, "description", "description is %s; expected a string",
				   json_type_name(description->type));
	if (code == P_OK && max_tokens && max_tokens->type != JSON_NULL &&
	    (!json_as_int(max_tokens, &ret->max_tokens) || ret->max_tokens < 1 || ret->max_tokens > AGENT_TOKENS_MAX))
		code = problem_set(problem, P_INVALID_FIELD, "max_tokens", "max_tokens is not a whole number from 1 to "
				   "%d", AGENT_TOKENS_MAX);
	return code == P_OK ? read_delivery(settings, ret, problem) : code;
}

enum problem_code agent_read(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
			     struct agent *ret, struct problem *problem)
{
	struct agent a = {.name = name, .accepts_v2 = true, .settings = {.type = JSON_OBJECT}};
	struct agent_row row;
	struct json_error error;
	enum store_status status = space ? store_agent_get(c, space, name, arena, &row) : STORE_NOT_FOUND;
	enum problem_code code = P_OK;

	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	if (status == STORE_OK) {
		a.created_at_ms = row.created_at_ms;
		a.updated_at_ms = row.updated_at_ms;
		a.is_registered = row.is_registered;
		if (json_parse(row.settings, AGENT_DEPTH, arena, &a.settings, &error))
			code = agent_settings(&a.settings, &a, problem);
	}
	if (code == P_OK)
		*ret = a;
	return code;
}

enum problem_code agent_write(struct store_conn *c, int64_t space, struct str name, const struct json *settings,
			      int64_t now_ms, struct arena *arena, struct agent *ret, struct problem *problem)
{
	struct agent a = {.name = name, .settings = *settings, .is_registered = true, .created_at_ms = now_ms,
			  .updated_at_ms = now_ms};
	enum problem_code code = agent_settings(settings, &a, problem);
	struct agent_row row = {.name = name, .created_at_ms = now_ms, .updated_at_ms = now_ms}, old;
	struct json_writer w;
	struct buf text;
	enum store_status status;

	if (code != P_OK)
		return code;
	buf_init(&text, AGENT_SETTINGS_MAX);
	json_writer_init(&w, &text);
	json_put_canonical(&w, settings);
	if (buf_overflowed(&text)) {
		buf_release(&text);
		return problem_set(problem, P_TOO_LARGE, NULL, "the settings are larger than %d bytes",
				   AGENT_SETTINGS_MAX);
	}
	row.settings = buf_str(&text);
	if (store_agent_get(c, space, name, arena, &old) == STORE_OK)
		a.created_at_ms = old.created_at_ms;
	status = store_agent_put(c, space, &row);
	buf_release(&text);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	*ret = a;
	return P_OK;
}

/* The time alone would not do: two changes may fall into one millisecond. */
struct str agent_tag(const struct agent *a, struct arena *arena)
{
	char hex[SHA256_HEX_SIZE];
	struct json_writer w;
	struct buf text;

	buf_init(&text, AGENT_SETTINGS_MAX + 32);
	json_writer_init(&w, &text);
	json_put_canonical(&w, &a->settings);
	buf_printf(&text, "\n%lld", (long long)a->updated_at_ms);
	assert(!buf_overflowed(&text));
	sha256_hex(buf_str(&text), hex);
	buf_release(&text);
	return arena_printf(arena, "\"%.*s\"", TAG_DIGITS, hex);
}
