/* All keys, in memory, for whoever lets requests in.
 *
 *     engine_open       reads them from the store; where that fails, nobody is let in at all
 *     writer's thread   after a commit: puts what was made or changed; tells when a key has ended
 *     any thread        checks a text: a look under a lock for readers, one SHA-256, no store
 *
 * Several engines of one process, whose stores have their keys in one place, share one; each has a writer's thread.
 * What other processes change there comes by keyring_replace.
 *
 * Whether a key is needed is a fact of its own: it begins with the first key, and revoking the last one does not end
 * it.
 */
#ifndef SPINE_ENGINE_ACCESS_KEYRING_H
#define SPINE_ENGINE_ACCESS_KEYRING_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/access/access_key.h"
#include "store/store.h"

struct keyring;

enum {
	KEYRING_MAX = 100 * 1000,		/* keys, those that have ended included: some 50 MB */
};
/* So long what has ended is still listed. */
#define KEYRING_KEPT_MS (INT64_C(90) * 24 * 3600 * 1000)

/* Returns owned; NULL and a sentence where the keys cannot be read, or one of them is none. */
struct keyring *keyring_open(struct store_conn *c, int64_t now_ms, struct buf *error);
/* NULL-safe. */
void keyring_free(struct keyring *k);

/* --- Any thread --- */

bool keyring_needs_key(const struct keyring *k);
/* *ret, in the arena, where it is valid. */
enum access_key_state keyring_check(struct keyring *k, struct str text, int64_t now_ms, struct arena *arena,
				    struct access **ret);
/* The same for a secret that was shown before; for sessions. */
enum access_key_state keyring_grant(struct keyring *k, uint64_t key, uint64_t secret, int64_t now_ms,
				    struct arena *arena, struct access **ret);
/* Is who was let in so still welcome? access NULL: who came when no key was needed. */
bool keyring_is_welcome(struct keyring *k, const struct access *access, int64_t now_ms);
/* How many there are, those that have ended included. */
size_t keyring_count(struct keyring *k);

/* --- The writers' threads, and before they start --- */

/* After the commit: a key is new or another. From now on one is needed. */
void keyring_put(struct keyring *k, const struct access_key_row *row, int64_t now_ms);
/* After the commit: those of that space that were not revoked before are now. */
void keyring_revoke(struct keyring *k, struct str space, int64_t now_ms);
/* After the commit: those that ended before that are gone. */
void keyring_prune(struct keyring *k, int64_t before_ms);
/* fn is called whenever somebody who was welcome may not be any more. Before the first thread. */
void keyring_tell(struct keyring *k, void (*fn)(void *ctx), void *ctx);
/* When a key ends by itself; 0: none does. */
int64_t keyring_wake_at(const struct keyring *k);
/* Time has passed: tells where a key has ended meanwhile. */
void keyring_pass(struct keyring *k, int64_t now_ms);
/* The keys as the store has them now; tells. On failure everything stays as it was. */
enum store_status keyring_replace(struct keyring *k, struct store_conn *c, int64_t now_ms);

#endif
