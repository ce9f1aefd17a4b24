/* Sessions of people who have signed in on the dashboard: a cookie that scripts cannot read stands for a key.
 *
 * They are kept in memory, so many and no more, and end after a while, with the server, and with the key: each request
 * asks the keyring anew. What is kept of a cookie is its SHA-256. With a session ends what is open with it, as with a
 * key (held.h).
 *
 * Nobody signs others out by signing in. A key has SESSIONS_OF_KEY_MAX sessions, and its next one takes the place of
 * its own. Where all places are taken, the space whose keys have most of them gives one.
 *
 * A browser sends cookies by itself, also for a page of somebody else that makes it ask. So a cookie counts only where
 * the browser says that the server's own page asks (sessions_may_count).
 */
#ifndef SPINE_API_HTTP_SESSIONS_H
#define SPINE_API_HTTP_SESSIONS_H

#include "base/arena.h"
#include "core/access/access.h"
#include "engine/access/keyring.h"
#include "net/http.h"

struct guard;
struct sessions;

enum {
	SESSIONS_MAX = 1024,
	SESSIONS_OF_KEY_MAX = 32,
	SESSION_COOKIE_SIZE = 64,
	SESSION_IDLE_MS = 12 * 3600 * 1000,		/* a working day: who comes back the next one signs in */
	SESSION_LAST_MS = 7 * 24 * 3600 * 1000,		/* a week, however busy */
};
#define SESSION_COOKIE "spine_session"

/* Returns owned. */
struct sessions *sessions_new(void);
/* NULL-safe. */
void sessions_free(struct sessions *s);

/* All from any thread. */

/* fn is called whenever a session has ended, on the thread that ended it. Before the first thread. */
void sessions_tell(struct sessions *s, void (*fn)(void *ctx), void *ctx);

/* A session for who has shown that key; ret is the cookie's value. Of those that may make room, the one that was not
 * used for longest does. */
void sessions_begin(struct sessions *s, const struct access *access, int64_t now_ms, char ret[SESSION_COOKIE_SIZE]);
void sessions_end(struct sessions *s, struct str cookie);
/* Whose session it is, in the arena; NULL: nobody's. */
struct access *sessions_find(struct sessions *s, struct keyring *keys, struct str cookie, int64_t now_ms,
			     struct arena *arena);
/* Is that session (struct access) not over yet? */
bool sessions_is_on(struct sessions *s, uint64_t session, int64_t now_ms);

/* The session's value in a Cookie header, in place; p == NULL: there is none. */
struct str sessions_cookie(struct str header);
/* Does the server's own page ask? */
bool sessions_may_count(const struct guard *guard, const struct http_req *req);

#endif
