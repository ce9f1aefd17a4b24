#include "core/access/access_key.h"

#include "base/mem.h"
#include "codec/base64.h"
#include "text/invisible.h"
#include "text/lookalike.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "spk_"
enum { SECRET_CHARS = 43 };

/* --- Text --- */

void access_key_text(uint64_t num, const uint8_t random[ACCESS_KEY_RANDOM], char ret[ACCESS_KEY_TEXT_SIZE])
{
	struct buf text;

	buf_init(&text, ACCESS_KEY_TEXT_SIZE);
	buf_printf(&text, PREFIX "%" PRIu64 "_", num);
	base64_encode((struct str){(const char *)random, ACCESS_KEY_RANDOM}, BASE64_URL, &text);
	snprintf(ret, ACCESS_KEY_TEXT_SIZE, "%.*s", STR_ARG(buf_str(&text)));
	mem_wipe(text.data, text.len);
	buf_release(&text);
}

/* A number as it is written here: no sign, no leading zero. */
static bool parse_num(struct str digits, uint64_t *ret)
{
	return digits.n && digits.p[0] != '0' && str_to_u64(digits, ret) && *ret <= ACCESS_KEY_NUM_MAX;
}

static bool is_secret(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		      c == '_'))
			return false;
	}
	return text.n == SECRET_CHARS;
}

bool access_key_parse(struct str text, uint64_t *ret_num)
{
	struct str rest = text, digits;

	if (text.n >= ACCESS_KEY_TEXT_SIZE || !str_has_prefix(text, STR(PREFIX)))
		return false;
	rest = str_sub(text, sizeof(PREFIX) - 1, text.n);
	digits = str_cut(&rest, '_');
	return rest.p && is_secret(rest) && parse_num(digits, ret_num);
}

void access_key_hash(struct str text, uint8_t ret[SHA256_SIZE])
{
	sha256(text, ret);
}

bool access_key_id_parse(struct str id, uint64_t *ret_num)
{
	return str_has_prefix(id, STR("key-")) && parse_num(str_sub(id, 4, id.n), ret_num);
}

/* --- Validity --- */

static uint64_t secret_of(const uint8_t hash[SHA256_SIZE])
{
	uint64_t secret;

	memcpy(&secret, hash, sizeof(secret));
	return secret;
}

enum access_key_state access_key_state(const struct access_key_row *key, int64_t now_ms)
{
	if (key->revoked_at_ms)
		return ACCESS_KEY_REVOKED;
	return key->expires_at_ms && now_ms >= key->expires_at_ms ? ACCESS_KEY_EXPIRED : ACCESS_KEY_VALID;
}

static enum access_key_state state_of(const struct access_key_row *key, bool is_old, int64_t now_ms)
{
	enum access_key_state state = access_key_state(key, now_ms);

	return state == ACCESS_KEY_VALID && is_old && now_ms >= key->old_until_ms ? ACCESS_KEY_EXPIRED : state;
}

enum access_key_state access_key_check(const struct access_key_row *key, const uint8_t hash[SHA256_SIZE],
				       int64_t now_ms, uint64_t *ret_secret)
{
	bool is_new = sha256_equal(key->hash, hash), is_old = sha256_equal(key->old_hash, hash) && key->old_until_ms;

	if (!is_new && !is_old)
		return ACCESS_KEY_WRONG;
	*ret_secret = secret_of(hash);
	return state_of(key, !is_new, now_ms);
}

enum access_key_state access_key_still(const struct access_key_row *key, uint64_t secret, int64_t now_ms)
{
	bool is_new = secret == secret_of(key->hash);

	if (!is_new && (key->old_until_ms == 0 || secret != secret_of(key->old_hash)))
		return ACCESS_KEY_WRONG;
	return state_of(key, !is_new, now_ms);
}

int64_t access_key_next_end(const struct access_key_row *key, int64_t now_ms)
{
	int64_t end = key->expires_at_ms > now_ms ? key->expires_at_ms : 0;

	if (key->revoked_at_ms)
		return 0;
	if (key->old_until_ms > now_ms && (end == 0 || key->old_until_ms < end))
		end = key->old_until_ms;
	return end;
}

void access_key_rotate(struct access_key_row *key, const uint8_t hash[SHA256_SIZE], int64_t old_until_ms)
{
	memcpy(key->old_hash, key->hash, SHA256_SIZE);
	memcpy(key->hash, hash, SHA256_SIZE);
	key->old_until_ms = key->expires_at_ms && key->expires_at_ms < old_until_ms ? key->expires_at_ms : old_until_ms;
}

/* --- What it grants --- */

struct access access_key_grant(const struct access_key_row *key, uint64_t secret)
{
	return (struct access){
		.key = key->num, .secret = secret, .scopes = key->scopes, .name = key->name, .space = key->space,
		.agent = key->agent, .trust = key->trust, .expires_at_ms = key->expires_at_ms,
	};
}

enum trust access_key_usual_trust(unsigned scopes, struct str agent)
{
	return (scopes & ACCESS_ADMIN) && agent.p == NULL ? TRUST_USER : TRUST_AGENT;
}

bool access_key_may_be_first(const struct access_key_row *key)
{
	return (key->scopes & ACCESS_ADMIN) && key->space.p == NULL && key->agent.p == NULL;
}

enum problem_code access_key_may_be_made(const struct access_key_row *key, struct problem *problem)
{
	if (invisible_has_any(key->name) || lookalike_has_control(key->name) || lookalike_is_blank(key->name))
		return problem_set(problem, P_INVALID_FIELD, "name", "name holds a character that nobody sees (a "
				   "control, a mark of direction, one without width), or nothing else; such a name "
				   "passes for another. Use letters, digits, signs and spaces");
	if (key->agent.p && access_check_name("agent", key->agent, problem) != P_OK)
		return problem->code;
	if ((key->scopes & ACCESS_ADMIN) && key->agent.p)
		return problem_set(problem, P_INVALID_FIELD, "scopes", "a key that is bound to an agent cannot be "
				   "admin: it could take the work of others; leave admin out, or make a key without an "
				   "agent for who decides");
	return P_OK;
}

/* Not given, or something that can be read. */
static bool is_name(struct str s)
{
	return s.p == NULL || (s.n && str_is_utf8(s));
}

bool access_key_is_sound(const struct access_key_row *key)
{
	static const uint8_t nothing[SHA256_SIZE];

	return key->num && key->name.n && key->scopes && !(key->scopes & ~(unsigned)ACCESS_EVERYTHING) &&
	       (int)key->trust >= TRUST_SYSTEM && key->trust <= TRUST_EXTERNAL && key->expires_at_ms >= 0 &&
	       key->revoked_at_ms >= 0 && key->old_until_ms >= 0 && str_is_utf8(key->name) && is_name(key->space) &&
	       is_name(key->agent) && memcmp(key->hash, nothing, sizeof(nothing)) != 0;
}
