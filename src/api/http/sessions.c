#include "api/http/sessions.h"

#include "api/http/guard.h"
#include "base/mem.h"
#include "codec/base64.h"
#include "codec/sha256.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { RANDOM_BYTES = 32 };

struct session {
	uint8_t hash[SHA256_SIZE];
	uint64_t key, secret;		/* key 0: the place is free */
	int64_t began_ms, used_ms;
};

struct sessions {
	pthread_mutex_t lock;
	struct session all[SESSIONS_MAX];
};

struct sessions *sessions_new(void)
{
	struct sessions *s = mem_zalloc(sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void sessions_free(struct sessions *s)
{
	if (s == NULL)
		return;
	pthread_mutex_destroy(&s->lock);
	mem_wipe(s->all, sizeof(s->all));
	free(s);
}

static bool is_over(const struct session *one, int64_t now_ms)
{
	return one->key == 0 || now_ms >= one->used_ms + SESSION_IDLE_MS || now_ms >= one->began_ms + SESSION_LAST_MS;
}

/* With the lock held: one that is over, or the one that was not used for longest. */
static size_t room(const struct sessions *s, int64_t now_ms)
{
	size_t oldest = 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		if (is_over(&s->all[i], now_ms))
			return i;
		if (s->all[i].used_ms < s->all[oldest].used_ms)
			oldest = i;
	}
	return oldest;
}

/* "17.…": the place, so that nobody has to search, and what cannot be guessed. */
static void make_cookie(size_t place, char ret[SESSION_COOKIE_SIZE])
{
	uint8_t chance[RANDOM_BYTES];
	struct buf text;

	if (getentropy(chance, sizeof(chance)) != 0)
		abort();
	buf_init(&text, SESSION_COOKIE_SIZE);
	base64_encode((struct str){(const char *)chance, sizeof(chance)}, BASE64_URL, &text);
	snprintf(ret, SESSION_COOKIE_SIZE, "%zu.%.*s", place, STR_ARG(buf_str(&text)));
	mem_wipe(chance, sizeof(chance));
	mem_wipe(text.data, text.len);
	buf_release(&text);
}

void sessions_begin(struct sessions *s, const struct access *access, int64_t now_ms, char ret[SESSION_COOKIE_SIZE])
{
	struct session *one;
	size_t place;

	pthread_mutex_lock(&s->lock);
	place = room(s, now_ms);
	one = &s->all[place];
	make_cookie(place, ret);
	*one = (struct session){.key = access->key, .secret = access->secret, .began_ms = now_ms, .used_ms = now_ms};
	sha256(str_of(ret), one->hash);
	pthread_mutex_unlock(&s->lock);
}

/* With the lock held; NULL: there is none. */
static struct session *find(struct sessions *s, struct str cookie)
{
	struct str digits = {cookie.p, str_find(cookie, '.')};
	uint8_t hash[SHA256_SIZE];
	uint64_t place;

	if (cookie.n >= SESSION_COOKIE_SIZE || digits.n == cookie.n || !str_to_u64(digits, &place) ||
	    place >= SESSIONS_MAX || s->all[place].key == 0)
		return NULL;
	sha256(cookie, hash);
	return sha256_equal(hash, s->all[place].hash) ? &s->all[place] : NULL;
}

void sessions_end(struct sessions *s, struct str cookie)
{
	struct session *one;

	pthread_mutex_lock(&s->lock);
	one = find(s, cookie);
	if (one)
		*one = (struct session){0};
	pthread_mutex_unlock(&s->lock);
}

struct access *sessions_find(struct sessions *s, struct keyring *keys, struct str cookie, int64_t now_ms,
			     struct arena *arena)
{
	struct access *access = NULL;
	struct session *one;
	uint64_t key = 0, secret = 0;

	pthread_mutex_lock(&s->lock);
	one = find(s, cookie);
	if (one && is_over(one, now_ms))
		*one = (struct session){0};
	else if (one) {
		one->used_ms = now_ms;
		key = one->key;
		secret = one->secret;
	}
	pthread_mutex_unlock(&s->lock);
	if (key == 0 || keyring_grant(keys, key, secret, now_ms, arena, &access) != ACCESS_KEY_VALID)
		return NULL;
	return access;
}

/* --- Requests --- */

struct str sessions_cookie(struct str header)
{
	struct str rest = header;

	while (rest.p) {
		struct str value = str_trim(str_cut(&rest, ';')), name = str_cut(&value, '=');

		if (value.p && str_is(name, SESSION_COOKIE))
			return value;
	}
	return STR_NULL;
}

/* Browsers say where a request comes from in Sec-Fetch-Site; older ones at least send an Origin with what changes
 * something. */
bool sessions_may_count(const struct guard *guard, const struct http_req *req)
{
	struct str site = http_req_header(req, "sec-fetch-site"), origin = http_req_header(req, "origin");
	bool only_reads = http_req_method(req) == HTTP_GET || http_req_method(req) == HTTP_HEAD;

	if (origin.p && !guard_is_own(guard, http_req_header(req, "host"), origin))
		return false;
	if (site.p)
		return str_is(site, "same-origin") || (only_reads && str_is(site, "none"));
	return origin.p || only_reads;
}
