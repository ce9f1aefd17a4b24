#include "admin/admin_key.h"

#include "core/access/access_key.h"
#include "core/cluster/shard.h"
#include "core/delivery/agent.h"
#include "core/memory/memory.h"
#include "core/watch/event.h"
#include "base/mem.h"
#include "store/cluster.h"
#include "store/store.h"

#include <stdlib.h>
#include <sys/random.h>

enum { AT_ONCE = 256, ADDRESS_MAX_BYTES = 8192 };

/* --- What is asked for --- */

static bool read_scopes(const struct admin_key *key, unsigned *ret, struct buf *error)
{
	*ret = key->scope_count ? 0 : ACCESS_ADMIN;
	for (size_t i = 0; i < key->scope_count; i++) {
		unsigned scope = access_scope_parse(str_of(key->scopes[i]));

		if (scope == 0) {
			buf_printf(error, "\"%.40s\" is no scope; expected read, write, receive or admin",
				   key->scopes[i]);
			return false;
		}
		*ret |= scope;
	}
	return true;
}

static bool is_space(const char *space)
{
	static const char known[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strlen(space);

	return n >= 1 && n <= 64 && strspn(space, known) == n && space[0] != '_' && space[0] != '-';
}

static bool read_row(const struct admin_key *key, int64_t now_ms, struct access_key_row *ret, struct buf *error)
{
	struct access_key_row row = {
		.name = str_of(key->name), .agent = key->agent ? str_of(key->agent) : STR_NULL,
		.created_at_ms = now_ms, .created_by = STR("spine key"), .expires_at_ms = key->expires_at_ms,
	};
	struct problem problem = {0};

	if (row.name.n < 1 || row.name.n > ACCESS_KEY_NAME_MAX || row.agent.n > AGENT_NAME_MAX ||
	    !str_is_utf8(row.name)) {
		buf_printf(error, "a name has 1 to %d bytes of UTF-8", ACCESS_KEY_NAME_MAX);
		return false;
	}
	if (key->space && strcmp(key->space, "*") != 0) {
		row.space = str_of(key->space);
		if (!is_space(key->space)) {
			buf_printf(error, "\"%.80s\" is not a name of a space; expected 1 to 64 of a-z, 0-9, '_', '-', "
				   "or * for all spaces", key->space);
			return false;
		}
	}
	if (!read_scopes(key, &row.scopes, error))
		return false;
	row.trust = access_key_usual_trust(row.scopes, row.agent);
	if (key->trust && !memory_trust_parse(str_of(key->trust), &row.trust)) {
		buf_printf(error, "\"%.40s\" is no trust; expected system, user, agent or external", key->trust);
		return false;
	}
	if (access_key_may_be_made(&row, &problem) != P_OK) {
		buf_puts(error, problem.detail);
		return false;
	}
	*ret = row;
	return true;
}

/* --- Writing --- */

/* In the audit trail of the key's own space; where it has none, of the one that there always is. */
static enum store_status tell(struct store_conn *c, int kind, struct str space, struct str note, int64_t now_ms)
{
	struct event_row event = {.at_ms = now_ms, .kind = kind, .actor = STR("spine key"), .note = note};
	struct str name = space.p ? space : STR("default");
	enum store_status status = store_space_find(c, name, &event.space);

	if (status == STORE_NOT_FOUND)
		status = store_space_create(c, name, now_ms, &event.space);
	return status == STORE_OK ? store_event_add(c, &event) : status;
}

static enum store_status insert(struct store_conn *c, struct access_key_row *row, struct buf *ret_text)
{
	uint8_t random[ACCESS_KEY_RANDOM];
	char text[ACCESS_KEY_TEXT_SIZE];
	enum store_status status = store_access_key_next(c, &row->num);

	if (status != STORE_OK)
		return status;
	if (getentropy(random, sizeof(random)) != 0)
		abort();
	access_key_text(row->num, random, text);
	access_key_hash(str_of(text), row->hash);
	buf_puts(ret_text, text);
	mem_wipe(random, sizeof(random));
	mem_wipe(text, sizeof(text));
	status = store_access_key_insert(c, row);
	return status == STORE_OK ? store_access_set_mode(c, true) : status;
}

/* Commits what went well; otherwise nothing has happened. */
static bool finish(struct store_conn *c, enum store_status status, struct buf *error)
{
	if (status == STORE_OK)
		status = store_commit(c);
	else
		store_rollback(c);
	if (status != STORE_OK)
		buf_printf(error, "the store could not be written: %s", store_error(c));
	store_close(c);
	return status == STORE_OK;
}

static bool may_be_made(struct store_conn *c, const struct access_key_row *row, struct buf *error)
{
	bool needs_key = true;

	/* Where the store does not say, it is closed. */
	if (store_access_mode(c, &needs_key) != STORE_OK)
		needs_key = true;
	if (needs_key || access_key_may_be_first(row))
		return true;
	buf_puts(error, ACCESS_KEY_FIRST_MUST);
	return false;
}

/* A store that has no directory. */
static bool is_database(const char *store)
{
	return strstr(store, "://") != NULL;
}

/* The nodes have its shards. Says what to do, where that is why it could not be opened. */
static void blame_living(const char *store, const char *otherwise, struct buf *error)
{
	struct buf first;
	int count;

	buf_init(&first, ADDRESS_MAX_BYTES);
	count = store_cluster_living(store, &first);
	if (count) {
		buf_clear(error);
		buf_printf(error, "%d server%s this database (%s%.*s): stop %s and try again; one that was killed "
			   "counts for five seconds more%s", count, count == 1 ? " uses" : "s use",
			   count == 1 ? "" : "the first is ", STR_ARG(buf_str(&first)),
			   count == 1 ? "it" : "all of them", otherwise);
	}
	buf_release(&first);
}

/* Keys are of a whole database, but what is told of one belongs to a space, and so to a shard. otherwise: what else may
 * be done while servers use it. */
static struct store_conn *open_for(const char *store, struct str space, const char *otherwise, struct buf *error)
{
	struct store_conn *c;
	struct buf address;

	if (!is_database(store) || strchr(store, '#'))
		return store_open(store, STORE_WRITE, error);
	buf_init(&address, ADDRESS_MAX_BYTES);
	buf_printf(&address, "%s#%d", store, shard_of(space.p ? space : STR("default")));
	buf_putc(&address, '\0');
	c = store_open(address.data, STORE_WRITE, error);
	buf_release(&address);
	if (c == NULL)
		blame_living(store, otherwise, error);
	return c;
}

bool admin_key_create(const char *data_dir, const struct admin_key *key, int64_t now_ms, struct buf *ret_text,
		      struct buf *ret_id, struct buf *error)
{
	struct access_key_row row;
	struct store_conn *c;
	struct arena arena;
	enum store_status status;

	if (!read_row(key, now_ms, &row, error))
		return false;
	c = open_for(data_dir, row.space, ". Or have one of them make the key: spine key create --url URL, with a key "
		     "that has the scope admin if there are keys", error);
	if (c == NULL)
		return false;
	if (!may_be_made(c, &row, error)) {
		store_close(c);
		return false;
	}
	arena_init(&arena);
	status = store_begin(c);
	if (status == STORE_OK)
		status = insert(c, &row, ret_text);
	buf_printf(ret_id, "key-%llu", (unsigned long long)row.num);
	if (status == STORE_OK)
		status = tell(c, EVENT_KEY_CREATED, row.space,
			      arena_printf(&arena, "key-%llu %.*s: made in the %s", (unsigned long long)row.num,
					   STR_ARG(row.name), is_database(data_dir) ? "database" : "data directory"),
			      now_ms);
	arena_release(&arena);
	return finish(c, status, error);
}

static enum store_status count_keys(struct store_conn *c, size_t *ret)
{
	struct access_key_row *rows = mem_calloc(AT_ONCE, sizeof(*rows));
	enum store_status status;
	uint64_t after = 0;
	size_t count;

	*ret = 0;
	do {
		struct arena arena;

		arena_init(&arena);
		status = store_access_keys(c, STR_NULL, after, AT_ONCE, &arena, rows, &count);
		arena_release(&arena);
		if (status == STORE_OK && count)
			after = rows[count - 1].num;
		*ret += count;
	} while (status == STORE_OK && count == AT_ONCE);
	free(rows);
	return status;
}

bool admin_key_reset(const char *data_dir, int64_t now_ms, size_t *ret_removed, struct buf *error)
{
	struct store_conn *c;
	enum store_status status;

	if (store_is_missing(data_dir)) {
		if (is_database(data_dir))
			buf_puts(error, "there is no store in this database; --store names another one");
		else
			buf_printf(error, "there is no store in %s; --data names another data directory", data_dir);
		return false;
	}
	c = open_for(data_dir, STR_NULL, "", error);
	if (c == NULL)
		return false;
	status = store_begin(c);
	if (status == STORE_OK)
		status = count_keys(c, ret_removed);
	if (status == STORE_OK)
		status = store_access_reset(c);
	if (status == STORE_OK)
		status = tell(c, EVENT_KEY_REVOKED, STR_NULL, is_database(data_dir) ?
			      STR("all keys: removed in the database; none is needed any more") :
			      STR("all keys: removed in the data directory; none is needed any more"), now_ms);
	return finish(c, status, error);
}
