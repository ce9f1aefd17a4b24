#include "engine/access/keyring.h"

#include "base/mem.h"
#include "base/rwlock.h"

#include <stdatomic.h>
#include <stdlib.h>

/* One allocation: the row, then its texts. */
struct entry {
	struct access_key_row row;
	char texts[];
};

struct keyring {
	atomic_bool needs_key;
	pthread_rwlock_t lock;
	struct entry **entries;		/* by number */
	size_t count, cap;
	uint64_t changes;		/* made here; with the lock */
	_Atomic int64_t next_end_ms;	/* 0: none */
	/* Set once. */
	void (*tell)(void *ctx);
	void *ctx;
};

static struct str put_text(char **at, struct str text)
{
	struct str copy = {*at, text.n};

	if (text.p == NULL)
		return STR_NULL;
	memcpy(*at, text.p, text.n);
	*at += text.n;
	return copy;
}

static struct entry *entry_new(const struct access_key_row *row)
{
	struct entry *e = mem_alloc(sizeof(*e) + row->name.n + row->space.n + row->agent.n + row->created_by.n);
	char *at = e->texts;

	e->row = *row;
	e->row.name = put_text(&at, row->name);
	e->row.space = put_text(&at, row->space);
	e->row.agent = put_text(&at, row->agent);
	e->row.created_by = put_text(&at, row->created_by);
	e->row.revoked_why = STR_NULL;
	return e;
}

/* The place of the first whose number is not lower. With the lock held. */
static size_t place_of(const struct keyring *k, uint64_t num)
{
	size_t from = 0, to = k->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (k->entries[middle]->row.num < num)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static const struct access_key_row *find(const struct keyring *k, uint64_t num)
{
	size_t at = place_of(k, num);

	return at < k->count && k->entries[at]->row.num == num ? &k->entries[at]->row : NULL;
}

/* With the lock held for writing. */
static void insert(struct keyring *k, struct entry *e)
{
	size_t at = place_of(k, e->row.num);

	if (at < k->count && k->entries[at]->row.num == e->row.num) {
		free(k->entries[at]);
		k->entries[at] = e;
		return;
	}
	if (k->count == k->cap) {
		k->cap = 2 * k->cap + 16;
		k->entries = mem_reallocarray(k->entries, k->cap, sizeof(struct entry *));
	}
	memmove(k->entries + at + 1, k->entries + at, (k->count - at) * sizeof(struct entry *));
	k->entries[at] = e;
	k->count++;
}

/* --- Life --- */

static enum store_status load(struct keyring *k, struct store_conn *c, struct buf *error)
{
	enum { AT_ONCE = 256 };
	struct access_key_row *rows = mem_calloc(AT_ONCE, sizeof(*rows));
	enum store_status status;
	size_t count = 0;
	uint64_t after = 0;

	do {
		struct arena arena;

		arena_init(&arena);
		status = store_access_keys(c, STR_NULL, after, AT_ONCE, &arena, rows, &count);
		for (size_t i = 0; status == STORE_OK && i < count; i++) {
			after = rows[i].num;
			if (!access_key_is_sound(&rows[i])) {
				buf_printf(error, "key-%llu in the store is damaged; ", (unsigned long long)after);
				status = STORE_REFUSED;
			} else {
				insert(k, entry_new(&rows[i]));
			}
		}
		arena_release(&arena);
	} while (status == STORE_OK && count == AT_ONCE);
	free(rows);
	return status;
}

/* With the lock held. */
static void find_next_end(struct keyring *k, int64_t now_ms)
{
	int64_t next_ms = 0;

	for (size_t i = 0; i < k->count; i++) {
		int64_t end_ms = access_key_next_end(&k->entries[i]->row, now_ms);

		if (end_ms && (next_ms == 0 || end_ms < next_ms))
			next_ms = end_ms;
	}
	atomic_store(&k->next_end_ms, next_ms);
}

static void free_entries(struct keyring *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->entries[i]);
	free(k->entries);
}

struct keyring *keyring_open(struct store_conn *c, int64_t now_ms, struct buf *error)
{
	struct keyring *k = mem_zalloc(sizeof(*k));
	bool needs_key = true;
	enum store_status status;

	rwlock_init(&k->lock);
	status = store_access_mode(c, &needs_key);
	if (status == STORE_OK)
		status = load(k, c, error);
	atomic_init(&k->needs_key, needs_key || k->count > 0);
	find_next_end(k, now_ms);
	if (status == STORE_OK)
		return k;
	buf_puts(error, "the keys of this server cannot be read, so nobody is let in: restore a backup, or remove all "
		 "keys with spine key reset");
	keyring_free(k);
	return NULL;
}

void keyring_free(struct keyring *k)
{
	if (k == NULL)
		return;
	free_entries(k);
	pthread_rwlock_destroy(&k->lock);
	free(k);
}

/* --- Any thread --- */

bool keyring_needs_key(const struct keyring *k)
{
	return atomic_load_explicit(&k->needs_key, memory_order_acquire);
}

/* A copy: the entry may go when the lock is released. */
static struct access *copy_of(const struct access_key_row *row, uint64_t secret, struct arena *arena)
{
	struct access *a = arena_alloc(arena, sizeof(*a));

	*a = access_key_grant(row, secret);
	a->name = arena_str(arena, row->name);
	a->space = row->space.p ? arena_str(arena, row->space) : STR_NULL;
	a->agent = row->agent.p ? arena_str(arena, row->agent) : STR_NULL;
	return a;
}

/* One that is not there is compared, too: how long the answer takes says nothing about it. */
enum access_key_state keyring_check(struct keyring *k, struct str text, int64_t now_ms, struct arena *arena,
				    struct access **ret)
{
	static const struct access_key_row nobody;
	const struct access_key_row *row;
	uint8_t hash[SHA256_SIZE];
	uint64_t num, secret = 0;
	enum access_key_state state;

	if (!access_key_parse(text, &num))
		return ACCESS_KEY_WRONG;
	access_key_hash(text, hash);
	pthread_rwlock_rdlock(&k->lock);
	row = find(k, num);
	state = access_key_check(row ? row : &nobody, hash, now_ms, &secret);
	if (row == NULL)
		state = ACCESS_KEY_WRONG;
	if (state == ACCESS_KEY_VALID)
		*ret = copy_of(row, secret, arena);
	pthread_rwlock_unlock(&k->lock);
	return state;
}

enum access_key_state keyring_grant(struct keyring *k, uint64_t key, uint64_t secret, int64_t now_ms,
				    struct arena *arena, struct access **ret)
{
	enum access_key_state state = ACCESS_KEY_WRONG;
	const struct access_key_row *row;

	pthread_rwlock_rdlock(&k->lock);
	row = find(k, key);
	if (row)
		state = access_key_still(row, secret, now_ms);
	if (state == ACCESS_KEY_VALID)
		*ret = copy_of(row, secret, arena);
	pthread_rwlock_unlock(&k->lock);
	return state;
}

bool keyring_is_welcome(struct keyring *k, const struct access *access, int64_t now_ms)
{
	const struct access_key_row *row;
	bool is_valid;

	if (access == NULL)
		return !keyring_needs_key(k);
	pthread_rwlock_rdlock(&k->lock);
	row = find(k, access->key);
	is_valid = row && access_key_still(row, access->secret, now_ms) == ACCESS_KEY_VALID;
	pthread_rwlock_unlock(&k->lock);
	return is_valid;
}

size_t keyring_count(struct keyring *k)
{
	size_t count;

	pthread_rwlock_rdlock(&k->lock);
	count = k->count;
	pthread_rwlock_unlock(&k->lock);
	return count;
}

/* --- The writers' threads --- */

static void tell(const struct keyring *k)
{
	if (k->tell)
		k->tell(k->ctx);
}

void keyring_tell(struct keyring *k, void (*fn)(void *ctx), void *ctx)
{
	k->tell = fn;
	k->ctx = ctx;
}

void keyring_put(struct keyring *k, const struct access_key_row *row, int64_t now_ms)
{
	struct entry *e = entry_new(row);

	pthread_rwlock_wrlock(&k->lock);
	insert(k, e);
	k->changes++;
	find_next_end(k, now_ms);
	pthread_rwlock_unlock(&k->lock);
	atomic_store_explicit(&k->needs_key, true, memory_order_release);
	tell(k);
}

void keyring_revoke(struct keyring *k, struct str space, int64_t now_ms)
{
	bool is_any = false;

	pthread_rwlock_wrlock(&k->lock);
	for (size_t i = 0; i < k->count; i++) {
		struct access_key_row *row = &k->entries[i]->row;

		if (row->space.p == NULL || !str_eq(row->space, space) || row->revoked_at_ms)
			continue;
		row->revoked_at_ms = now_ms;
		is_any = true;
	}
	if (is_any) {
		k->changes++;
		find_next_end(k, now_ms);
	}
	pthread_rwlock_unlock(&k->lock);
	if (is_any)
		tell(k);
}

void keyring_prune(struct keyring *k, int64_t before_ms)
{
	size_t kept = 0;

	pthread_rwlock_wrlock(&k->lock);
	for (size_t i = 0; i < k->count; i++) {
		const struct access_key_row *row = &k->entries[i]->row;

		if ((row->revoked_at_ms && row->revoked_at_ms < before_ms) ||
		    (row->expires_at_ms && row->expires_at_ms < before_ms))
			free(k->entries[i]);
		else
			k->entries[kept++] = k->entries[i];
	}
	k->count = kept;
	k->changes++;
	pthread_rwlock_unlock(&k->lock);
}

int64_t keyring_wake_at(const struct keyring *k)
{
	return atomic_load(&k->next_end_ms);
}

void keyring_pass(struct keyring *k, int64_t now_ms)
{
	int64_t next_ms = atomic_load(&k->next_end_ms);

	if (next_ms == 0 || now_ms < next_ms)
		return;
	pthread_rwlock_wrlock(&k->lock);
	find_next_end(k, now_ms);
	pthread_rwlock_unlock(&k->lock);
	tell(k);
}

static uint64_t changes_of(struct keyring *k)
{
	uint64_t changes;

	pthread_rwlock_rdlock(&k->lock);
	changes = k->changes;
	pthread_rwlock_unlock(&k->lock);
	return changes;
}

/* False where something was changed here since it was read: that may be missing. */
static bool take_entries(struct keyring *k, struct keyring *from, uint64_t changes, int64_t now_ms)
{
	struct keyring old;
	bool is_taken;

	pthread_rwlock_wrlock(&k->lock);
	old = (struct keyring){.entries = k->entries, .count = k->count};
	is_taken = k->changes == changes;
	if (is_taken) {
		k->entries = from->entries;
		k->count = from->count;
		k->cap = from->cap;
		find_next_end(k, now_ms);
	}
	pthread_rwlock_unlock(&k->lock);
	free_entries(is_taken ? &old : from);
	return is_taken;
}

enum store_status keyring_replace(struct keyring *k, struct store_conn *c, int64_t now_ms)
{
	struct keyring read;
	struct buf error;
	enum store_status status;
	bool needs_key = false;
	uint64_t changes;

	buf_init(&error, 4096);
	do {
		changes = changes_of(k);
		read = (struct keyring){0};
		status = store_access_mode(c, &needs_key);
		if (status == STORE_OK)
			status = load(&read, c, &error);
		if (status != STORE_OK)
			free_entries(&read);
		else if (needs_key || read.count)
			atomic_store_explicit(&k->needs_key, true, memory_order_release);
	} while (status == STORE_OK && !take_entries(k, &read, changes, now_ms));
	buf_release(&error);
	if (status == STORE_OK)
		tell(k);
	return status;
}
