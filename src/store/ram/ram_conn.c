/* Stores by their names, connections to them, transactions, and the table of verbs. */
#include "store/ram/ram_internal.h"

#include "base/mem.h"
#include "store/ram/ram_faults.h"

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

void ram_clear(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	ram_rollback(c);
	ram_indexes_init(s);
	s->due.len = s->event_count = s->text_count = s->mark_at = 0;
	s->mark = 0;
	if (s->texts)
		memset(s->texts, 0, s->text_cap * sizeof(*s->texts));
	arena_release(&s->arena);
	ram_heal(c);
}

/* --- Transactions --- */

static void end_transaction(struct ram_store *s)
{
	s->undo_count = s->saved_len = s->savepoint_count = s->mark_at = 0;
	s->in_transaction = false;
	s->owner = 0;
	pthread_rwlock_unlock(&s->lock);
}

enum store_status ram_begin(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	if (c->is_failed || c->is_reader)
		return STORE_FAILED;
	assert(!s->in_transaction);
	pthread_rwlock_wrlock(&s->lock);
	s->owner = (uintptr_t)pthread_self();
	s->in_transaction = true;
	return STORE_OK;
}

enum store_status ram_commit(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);
	bool fails = s->fail_commit;

	assert(s->in_transaction);
	s->fail_commit = false;
	if (fails) {
		c->is_failed = true;
		snprintf(c->error, sizeof(c->error), "the commit was made to fail");
		if (!s->fail_is_kept)
			ram_undo_to(s, 0);
	}
	end_transaction(s);
	return fails ? STORE_UNKNOWN : STORE_OK;
}

void ram_rollback(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	if (!s->in_transaction || c->is_reader)
		return;
	ram_undo_to(s, 0);
	end_transaction(s);
}

enum store_status ram_savepoint(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	assert(s->in_transaction);
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

	assert(s->savepoint_count);
	s->savepoint_count--;
	return STORE_OK;
}

enum store_status ram_rollback_to(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	assert(s->savepoint_count);
	ram_undo_to(s, s->savepoints[--s->savepoint_count]);
	return STORE_OK;
}

/* Nothing is held for a snapshot: a reader sees none older than its beginning, like one that shares rows. */
bool ram_snapshot_begin(struct store_conn *c)
{
	struct ram_conn *own = (struct ram_conn *)c;

	if (own->in_snapshot || (!c->is_reader && own->store->in_transaction))
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
	if (!c->is_reader)
		s->has_writer = false;
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

static struct store_conn *connect(struct ram_store *s, enum store_mode mode)
{
	struct ram_conn *c = mem_zalloc(sizeof(*c));

	c->base = (struct store_conn){.verbs = &ram_verbs, .is_reader = mode == STORE_READ};
	c->store = s;
	s->connections++;
	if (mode == STORE_WRITE)
		s->has_writer = true;
	return &c->base;
}

static const char *name_in(const char *address)
{
	return address + strlen("ram:");
}

struct store_conn *ram_open(const char *address, enum store_mode mode, struct buf *error)
{
	const char *name = name_in(address);
	struct store_conn *c = NULL;
	struct ram_store *s;

	pthread_mutex_lock(&stores_lock);
	s = *name ? find_store(name) : NULL;
	if (s == NULL && mode == STORE_READ)
		buf_printf(error, "there is no store %s in this process", address);
	else if (s && s->has_writer && mode == STORE_WRITE)
		buf_printf(error, "somebody else writes to the store %s", address);
	else
		c = connect(s ? s : new_store(name), mode);
	pthread_mutex_unlock(&stores_lock);
	return c;
}

bool ram_is_missing(const char *address)
{
	bool is_missing;

	pthread_mutex_lock(&stores_lock);
	is_missing = find_store(name_in(address)) == NULL;
	pthread_mutex_unlock(&stores_lock);
	return is_missing;
}
