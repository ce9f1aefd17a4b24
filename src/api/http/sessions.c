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
	uint64_t id;			/* a multiple of SESSIONS_MAX, and its place */
	uint64_t key, secret;		/* key 0: the place is free */
	uint64_t space;			/* of the key, hashed; 0: it is for all */
	int64_t began_ms, used_ms;
};

struct sessions {
	pthread_mutex_t lock;
	uint64_t count;			/* that there ever were */
	struct session all[SESSIONS_MAX];
	/* Set once. */
	void (*tell)(void *ctx);
	void *ctx;
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

void sessions_tell(struct sessions *s, void (*fn)(void *ctx), void *ctx)
{
	s->tell = fn;
	s->ctx = ctx;
}

/* Without the lock. */
static void tell(const struct sessions *s)
{
	if (s->tell)
		s->tell(s->ctx);
}

static bool is_over(const struct session *one, int64_t now_ms)
{
	return one->key == 0 || now_ms >= one->used_ms + SESSION_IDLE_MS || now_ms >= one->began_ms + SESSION_LAST_MS;
}

static uint64_t space_of(const struct access *access)
{
	uint8_t hash[SHA256_SIZE];
	uint64_t space = 0;

	if (access->space.p == NULL)
		return 0;
	sha256(access->space, hash);
	memcpy(&space, hash, sizeof(space));
	return space;
}

static int compare_spaces(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whose keys have most of the sessions. */
static uint64_t largest_space(const struct sessions *s)
{
	uint64_t spaces[SESSIONS_MAX], largest = 0;
	size_t most = 0, count = 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		spaces[i] = s->all[i].space;
	qsort(spaces, SESSIONS_MAX, sizeof(spaces[0]), compare_spaces);
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		count = i && spaces[i] == spaces[i - 1] ? count + 1 : 1;
		if (count <= most)
			continue;
		most = count;
		largest = spaces[i];
	}
	return largest;
}

/* Was it not used for longer than the one at that place, if there is one? */
static bool is_older(const struct sessions *s, size_t at, size_t than)
{
	const struct session *a = &s->all[at], *b = s->all + than;

	if (than == SESSIONS_MAX)
		return true;
	return a->used_ms != b->used_ms ? a->used_ms < b->used_ms : a->id < b->id;
}

static size_t oldest_of_space(const struct sessions *s, uint64_t space)
{
	size_t oldest = SESSIONS_MAX;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (s->all[i].space == space && is_older(s, i, oldest))
			oldest = i;
	return oldest;
}

/* With the lock held: the place for another session of that key. */
static size_t room(const struct sessions *s, uint64_t key, int64_t now_ms)
{
	size_t over = SESSIONS_MAX, oldest = SESSIONS_MAX, own = 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		const struct session *one = &s->all[i];

		if (is_over(one, now_ms)) {
			over = over < SESSIONS_MAX ? over : i;
		} else if (one->key == key) {
			own++;
			oldest = is_older(s, i, oldest) ? i : oldest;
		}
	}
	if (own >= SESSIONS_OF_KEY_MAX)
		return oldest;
	return over < SESSIONS_MAX ? over : oldest_of_space(s, largest_space(s));
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
	uint64_t space = space_of(access);
	bool is_end;
	size_t place;

	pthread_mutex_lock(&s->lock);
	place = room(s, access->key, now_ms);
	one = &s->all[place];
	is_end = one->key != 0;
	make_cookie(place, ret);
	*one = (struct session){
		.id = ++s->count * SESSIONS_MAX + place, .key = access->key, .secret = access->secret, .space = space,
		.began_ms = now_ms, .used_ms = now_ms,
	};
	sha256(str_of(ret), one->hash);
	pthread_mutex_unlock(&s->lock);
	if (is_end)
		tell(s);
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
	if (one)
		tell(s);
}

bool sessions_is_on(struct sessions *s, uint64_t session, int64_t now_ms)
{
	const struct session *one = &s->all[session % SESSIONS_MAX];
	bool is_on;

	pthread_mutex_lock(&s->lock);
	is_on = one->id == session && !is_over(one, now_ms);
	pthread_mutex_unlock(&s->lock);
	return is_on;
}

struct access *sessions_find(struct sessions *s, struct keyring *keys, struct str cookie, int64_t now_ms,
			     struct arena *arena)
{
	struct access *access = NULL;
	struct session *one;
	uint64_t key = 0, secret = 0, id = 0;

	pthread_mutex_lock(&s->lock);
	one = find(s, cookie);
	if (one && is_over(one, now_ms))
		*one = (struct session){0};
	else if (one) {
		one->used_ms = now_ms;
		key = one->key;
		secret = one->secret;
		id = one->id;
	}
	pthread_mutex_unlock(&s->lock);
	if (key == 0 || keyring_grant(keys, key, secret, now_ms, arena, &access) != ACCESS_KEY_VALID)
		return NULL;
	access->session = id;
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
