/* Stores by their names, connections to them, transactions, and the table of verbs. */
#include "store/ram/ram_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ram_store *stores;		/* those with a name that somebody has open */

/* --- Stores --- */

static struct ram_store *find_store(const char *name)
{
	struct ram_store *s = stores;

	while (s && strcmp(s->name, name) != 0)
		s = s->next;
	return s;
}

static struct ram_store *new_store(const char *name)
{
	struct ram_store *s = mem_zalloc(sizeof(*s));

	s->name = mem_strdup(name);
	pthread_rwlock_init(&s->lock, NULL);
	arena_init(&s->arena);
	ram_indexes_init(s);
	ram_due_init(s);
	ram_shard_attach(s);
	if (*name) {
		s->next = stores;
		stores = s;
	}
	return s;
}

static void free_store(struct ram_store *s)
{
	for (struct ram_store **p = &stores; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	ram_shard_detach(s);
	arena_release(&s->arena);
	heap_release(&s->due);
	pthread_rwlock_destroy(&s->lock);
	free(s->events);
	free(s->texts);
	free(s->undo);
	free(s->saved);
	free(s->savepoints);
	free(s->name);
	free(s);
}

/* --- Transactions --- */

static void end_transaction(struct ram_store *s)
{
	s->undo_count = s->saved_len = s->savepoint_count = s->mark_at = 0;
	s->in_transaction = s->writing->in_transaction = false;
	s->writing = NULL;
	s->owner = 0;
	pthread_rwlock_unlock(&s->lock);
}

void ram_end_session(struct ram_conn *c)
{
	ram_undo_to(c->store, 0);
	end_transaction(c->store);
	c->in_transaction = c->is_broken = true;
	snprintf(c->base.error, sizeof(c->base.error), "the session was ended");
}

void ram_end_idle(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	if (s->in_transaction)
		ram_end_session(s->writing);
}

bool ram_is_over(struct store_conn *base)
{
	struct ram_conn *c = (struct ram_conn *)base;
	struct ram_hooks *hooks = &c->store->hooks;

	if (base->is_reader || !c->in_transaction)
		return false;
	if (hooks->verb)
		hooks->verb(hooks->ctx, base);
	if (c->is_cut && !c->is_broken)
		ram_end_session(c);
	return c->is_broken;
}

enum store_status ram_begin(struct store_conn *base)
{
	struct ram_conn *c = (struct ram_conn *)base;
	struct ram_store *s = c->store;

	if (base->is_failed || base->is_reader)
		return STORE_FAILED;
	assert(!c->in_transaction);
	if (!ram_shard_holds(c))
		return STORE_BUSY;
	pthread_rwlock_wrlock(&s->lock);
	s->owner = (uintptr_t)pthread_self();
	s->in_transaction = c->in_transaction = true;
	s->writing = c;
	c->batch++;
	return STORE_OK;
}

/* The database has committed, or has not; the writer does not know which. */
static enum store_status fail_commit(struct ram_conn *c)
{
	struct ram_store *s = c->store;
	enum store_status status = STORE_UNKNOWN;

	if (!s->fail_is_kept)
		ram_undo_to(s, 0);
	else
		ram_shard_mark(c);
	end_transaction(s);
	if (s->fail_is_kept && s->hooks.committed)
		s->hooks.committed(s->hooks.ctx, &c->base);
	if (s->fail_is_settled && s->hooks.settling)
		s->hooks.settling(s->hooks.ctx, &c->base);
	if (s->fail_is_settled)
		status = ram_shard_settle(c);
	snprintf(c->base.error, sizeof(c->base.error), "the commit was made to fail");
	c->base.is_failed = status == STORE_UNKNOWN;
	return status;
}

enum store_status ram_commit(struct store_conn *base)
{
	struct ram_conn *c = (struct ram_conn *)base;
	struct ram_store *s = c->store;

	assert(c->in_transaction);
	if (ram_is_over(base)) {
		c->in_transaction = false;
		return STORE_BUSY;
	}
	if (s->fail_commit) {
		s->fail_commit = false;
		return fail_commit(c);
	}
	ram_shard_mark(c);
	end_transaction(s);
	if (s->hooks.committed)
		s->hooks.committed(s->hooks.ctx, base);
	return STORE_OK;
}

void ram_rollback(struct store_conn *base)
{
	struct ram_conn *c = (struct ram_conn *)base;

	if (base->is_reader || !c->in_transaction)
		return;
	if (!c->is_broken) {
		ram_undo_to(c->store, 0);
		end_transaction(c->store);
	}
	c->in_transaction = false;
}

enum store_status ram_savepoint(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	if (ram_is_over(c))
		return STORE_BUSY;
	assert(ram_is_own(c));
	if (s->savepoint_count == s->savepoint_cap) {
		s->savepoint_cap = 2 * s->savepoint_cap + 8;
		s->savepoints = mem_reallocarray(s->savepoints, s->savepoint_cap, sizeof(*s->savepoints));
	}
	s->savepoints[s->savepoint_count++] = s->undo_count;
	return STORE_OK;
}

enum store_status ram_release(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	if (ram_is_over(c))
		return STORE_BUSY;
	assert(s->savepoint_count);
	s->savepoint_count--;
	return STORE_OK;
}

enum store_status ram_rollback_to(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	if (ram_is_over(c))
		return STORE_BUSY;
	assert(s->savepoint_count);
	ram_undo_to(s, s->savepoints[--s->savepoint_count]);
	return STORE_OK;
}

/* Nothing is held for a snapshot: a reader sees none older than its beginning, like one that shares rows. */
bool ram_snapshot_begin(struct store_conn *c)
{
	struct ram_conn *own = (struct ram_conn *)c;

	if (own->in_snapshot || own->in_transaction)
		return false;
	own->in_snapshot = true;
	return true;
}

void ram_snapshot_end(struct store_conn *c)
{
	((struct ram_conn *)c)->in_snapshot = false;
}

enum store_status ram_info(struct store_conn *c, struct store_info *ret)
{
	(void)c;
	*ret = (struct store_info){.engine = "ram"};
	return STORE_OK;
}

/* --- The table --- */

/* A reader waits for the end of a transaction, unless that is its own thread's. True: ram_unlock is due. */
static bool lock(const struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	return c->is_reader && s->owner != (uintptr_t)pthread_self() && pthread_rwlock_rdlock(&s->lock) == 0;
}

static void unlock(const struct store_conn *c, bool is_locked)
{
	if (is_locked)
		pthread_rwlock_unlock(&ram_of(c)->lock);
}

/* Faults come before the verb, and so does the lock of a reader. The verbs themselves know of neither. */
#define ENTER(type, name, params, args, entered) \
	static type enter_##name params \
	{ \
		bool is_locked = lock(c); \
		type status = entered; \
\
		if (status == STORE_OK) \
			status = ram_##name args; \
		unlock(c, is_locked); \
		return status; \
	}
#define ENTER_FRAME(type, name, params, args)
#define ENTER_READ(type, name, params, args) ENTER(type, name, params, args, ram_enter(c, false))
#define ENTER_WRITE(type, name, params, args) ENTER(type, name, params, args, ram_enter(c, true))
#define ENTER_EITHER(type, name, params, args) ENTER(type, name, params, args, STORE_OK)	/* it calls ram_enter */
#define ENTER_VERB(kind, type, name, params, args) ENTER_##kind(type, name, params, args)
STORE_VERBS(ENTER_VERB)

static void ram_close(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	ram_rollback(c);
	pthread_mutex_lock(&stores_lock);
	if (!c->is_reader) {
		s->writers--;
		s->has_writer = false;
	}
	if (--s->connections == 0)
		free_store(s);
	pthread_mutex_unlock(&stores_lock);
	free(c);
}

static const struct store_verbs ram_verbs = {
	.close = ram_close,
#define ENTRY_FRAME(name) ram_##name
#define ENTRY_READ(name) enter_##name
#define ENTRY_WRITE(name) enter_##name
#define ENTRY_EITHER(name) enter_##name
#define ENTRY(kind, type, name, params, args) .name = ENTRY_##kind(name),
	STORE_VERBS(ENTRY)
};

/* --- Opening --- */

/* What an address says: "ram:NAME@NODE". The name is of the store, "DATABASE#12" of a shard. */
struct place {
	char *name;			/* owned */
	const char *node;		/* borrowed from the address; empty: it names none */
};

static struct place place_in(const char *address)
{
	const char *name = address + strlen("ram:"), *mark = strchr(name, '@');

	return (struct place){mem_strndup(name, mark ? (size_t)(mark - name) : strlen(name)), mark ? mark + 1 : ""};
}

/* NULL where the store cannot be taken. */
static struct store_conn *connect(struct ram_store *s, enum store_mode mode, const char *node, struct buf *error)
{
	struct ram_conn *c = mem_zalloc(sizeof(*c));

	c->base = (struct store_conn){.verbs = &ram_verbs, .is_reader = mode == STORE_READ};
	c->store = s;
	snprintf(c->node, sizeof(c->node), "%s", node);
	if (mode == STORE_WRITE && !ram_shard_take(c, error)) {
		if (s->connections == 0)
			free_store(s);
		free(c);
		return NULL;
	}
	s->connections++;
	s->writers += mode == STORE_WRITE;
	s->has_writer |= mode == STORE_WRITE && *node == '\0';
	return &c->base;
}

struct store_conn *ram_open(const char *address, enum store_mode mode, struct buf *error)
{
	struct place at = place_in(address);
	struct store_conn *c = NULL;
	struct ram_store *s;

	pthread_mutex_lock(&stores_lock);
	s = *at.name ? find_store(at.name) : NULL;
	if (s == NULL && mode == STORE_READ)
		buf_printf(error, "there is no store %s in this process", address);
	else if (s && mode == STORE_WRITE && (s->has_writer || (s->writers && *at.node == '\0')))
		buf_printf(error, "somebody else writes to the store %s", address);
	else
		c = connect(s ? s : new_store(at.name), mode, at.node, error);
	pthread_mutex_unlock(&stores_lock);
	free(at.name);
	return c;
}

bool ram_is_missing(const char *address)
{
	struct place at = place_in(address);
	bool is_missing;

	pthread_mutex_lock(&stores_lock);
	is_missing = find_store(at.name) == NULL;
	pthread_mutex_unlock(&stores_lock);
	free(at.name);
	return is_missing;
}
