#include "core/cluster/passed.h"

#include "codec/hmac.h"
#include "codec/sha256.h"

#include <assert.h>
#include <stdio.h>

_Static_assert((int)HMAC_SHA256_SIZE == (int)SHA256_SIZE, "sha256_equal compares both");

enum { NUMBER_SIZE = 24 };

static bool is_word(struct str s, size_t max)
{
	static const char others[] = "-_.";

	if (s.n == 0 || s.n > max)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    (c == '\0' || memchr(others, c, sizeof(others) - 1) == NULL))
			return false;
	}
	return true;
}

static bool has_line_feed(const struct passed_request *r)
{
	return str_find(r->method, '\n') < r->method.n || str_find(r->target, '\n') < r->target.n ||
	       str_find(r->space, '\n') < r->space.n;
}

static struct str key_text(struct str key)
{
	return key.p ? key : STR("-");
}

/* at: the digits as they were sent. */
static void mac(struct str secret, struct str node, struct str at, struct str key, const struct passed_request *r,
		uint8_t ret[HMAC_SHA256_SIZE])
{
	const struct str feed = STR("\n");
	const struct str parts[] = {node, feed, at, feed, r->method, feed, r->target, feed, r->space, feed, key};

	hmac_sha256(secret, parts, sizeof(parts) / sizeof(parts[0]), ret);
}

void passed_seal(struct buf *b, struct str secret, const struct passed *passed, const struct passed_request *request)
{
	uint8_t seal[HMAC_SHA256_SIZE];
	char at[NUMBER_SIZE];
	struct str key = key_text(passed->key);

	assert(is_word(passed->node, PASSED_NODE_MAX) && is_word(key, PASSED_KEY_MAX) && !has_line_feed(request));
	assert(passed->at_ms >= 0 && !str_is(passed->key, "-"));
	snprintf(at, sizeof(at), "%lld", (long long)passed->at_ms);
	mac(secret, passed->node, str_of(at), key, request, seal);
	buf_printf(b, "%.*s %s %.*s ", STR_ARG(passed->node), at, STR_ARG(key));
	for (size_t i = 0; i < sizeof(seal); i++)
		buf_printf(b, "%02x", seal[i]);
}

static bool read_hex(struct str s, uint8_t ret[HMAC_SHA256_SIZE])
{
	if (s.n != 2 * (size_t)HMAC_SHA256_SIZE)
		return false;
	for (size_t i = 0; i < HMAC_SHA256_SIZE; i++) {
		int high = str_hex_digit(s.p[2 * i]), low = str_hex_digit(s.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool is_near(int64_t at_ms, int64_t now_ms)
{
	return at_ms <= now_ms ? now_ms - at_ms <= PASSED_WINDOW_MS : at_ms - now_ms <= PASSED_WINDOW_MS;
}

enum passed_verdict passed_check(struct str value, struct str secret, const struct passed_request *request,
				 int64_t now_ms, struct passed *ret)
{
	struct str node = str_cut(&value, ' '), at = str_cut(&value, ' '), key = str_cut(&value, ' ');
	uint8_t said[HMAC_SHA256_SIZE], right[HMAC_SHA256_SIZE];
	int64_t at_ms;

	if (!is_word(node, PASSED_NODE_MAX) || !is_word(key, PASSED_KEY_MAX) || !str_to_i64(at, &at_ms) || at_ms < 0 ||
	    !read_hex(value, said) || has_line_feed(request))
		return PASSED_MALFORMED;
	mac(secret, node, at, key, request, right);
	if (!sha256_equal(said, right))
		return PASSED_FORGED;
	if (!is_near(at_ms, now_ms))
		return PASSED_STALE;
	*ret = (struct passed){node, at_ms, str_is(key, "-") ? STR_NULL : key};
	return PASSED_GOOD;
}
