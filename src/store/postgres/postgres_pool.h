/* What a process shares of a database: the sessions with which it reads, a few for all its readers; and with whom its
 * writers commit (postgres_group.h).
 *
 * A server has an engine for each shard that it owns, and each engine has readers: hundreds of them, most of which do
 * nothing. A session is taken for a statement, and given back with its answer. Who finds all of them taken waits.
 *
 * Readers are opened one by one, by their address (store_open), so that nobody is there whom a pool could belong to.
 * The pools of the process are therefore found in one list under a lock; each lives as long as somebody uses it.
 */
#ifndef SPINE_STORE_POSTGRES_POOL_H
#define SPINE_STORE_POSTGRES_POOL_H

#include "store/postgres/postgres_session.h"

enum { POSTGRES_POOL_MAX = 8 };

struct postgres_group;
struct postgres_pool;

/* That of the database, which is made where this is its first user. To be released. */
struct postgres_pool *postgres_pool_use(const char *url);
/* NULL-safe. What was taken was given back before. */
void postgres_pool_release(struct postgres_pool *p);

/* Ready for statements in a pipeline. NULL, and a sentence, where none is to be had. */
struct postgres_session *postgres_pool_take(struct postgres_pool *p, struct buf *error);
void postgres_pool_give(struct postgres_pool *p, struct postgres_session *s);
/* It broke. Those that lie here have most likely broken, too. */
void postgres_pool_drop(struct postgres_pool *p, struct postgres_session *s);
/* Whether the database answers the node, which asks it each second. Nobody begins to wait while it does not, or goes on
 * with it: a thread that serves others would stand still, and no answer could leave before the lease is over. */
void postgres_pool_set_silent(struct postgres_pool *p, bool is_silent);
bool postgres_pool_is_silent(struct postgres_pool *p);

/* Borrowed. */
struct postgres_group *postgres_pool_group(struct postgres_pool *p);
/* How many sessions there are. */
size_t postgres_pool_count(struct postgres_pool *p);

#endif
