/* Opens a shard of a database. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include "base/mem.h"

#include <stdlib.h>

/* A writer's session is its own, and has the shard. */
static struct postgres_session *open_writer(struct postgres_conn *c, struct buf *error)
{
	c->session = postgres_session_open(c->url, error);
	if (c->session && postgres_take(c, error) && PQenterPipelineMode(c->session->db))
		return c->session;
	postgres_disconnect(c);
	return NULL;
}

bool postgres_connect(struct postgres_conn *c, struct buf *error)
{
	c->session = c->base.is_reader ? postgres_pool_take(c->pool, error) : open_writer(c, error);
	return c->session;
}

void postgres_disconnect(struct postgres_conn *c)
{
	if (c->session && c->base.is_reader)
		postgres_pool_drop(c->pool, c->session);
	else
		postgres_session_close(c->session);
	c->session = NULL;
	postgres_kept_forget(&c->base);
}

void postgres_end_use(struct postgres_conn *c)
{
	if (c->session == NULL || !c->base.is_reader)
		return;
	postgres_pool_give(c->pool, c->session);
	c->session = NULL;
}

enum store_status postgres_info(struct store_conn *c, struct store_info *ret)
{
	static const char sql[] = "SELECT pg_database_size(current_database()) WHERE $1::bigint >= 0";
	struct postgres_query q;

	*ret = (struct store_info){.engine = "postgres", .schema = POSTGRES_SCHEMA_NOW};
	postgres_query(&q, c, sql);
	return postgres_read_int(&q, &ret->bytes);
}

static void postgres_close(struct store_conn *base)
{
	struct postgres_conn *c = postgres_of(base);

	if (c->in_transaction)
		postgres_rollback(base);
	postgres_disconnect(c);
	postgres_kept_free(c->kept);
	if (!base->is_reader)
		row_cache_free(c->cache);
	postgres_pool_release(c->pool);
	free(c->node);
	free(c->url);
	free(c);
}

static const struct store_verbs postgres_verbs = {
	.close = postgres_close,
#define ENTRY(kind, type, name, params, args) .name = postgres_##name,
	STORE_VERBS(ENTRY)
#undef ENTRY
};

static char *copy(struct str text)
{
	char *copy = mem_alloc(text.n + 1);

	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	return copy;
}

char *postgres_url(const char *address)
{
	const char *mark = strrchr(address, '#');

	return copy((struct str){address, mark ? (size_t)(mark - address) : strlen(address)});
}

/* "URL#12@node-1": each part but the first may be left out. A password may have an '@', but no '#'. */
static struct postgres_conn *of_address(const char *address, enum store_mode mode)
{
	struct postgres_conn *c = mem_zalloc(sizeof(*c));
	const char *mark = strrchr(address, '#'), *node = mark ? strchr(mark, '@') : NULL;

	c->base = (struct store_conn){
		.verbs = &postgres_verbs, .embedded = &postgres_embedded, .is_reader = mode == STORE_READ,
		.is_served = true};
	c->url = postgres_url(address);
	c->shard = mark ? strtoll(mark + 1, NULL, 10) : 0;
	if (mode == STORE_WRITE) {
		c->kept = postgres_kept_new(c->shard);
		c->cache = postgres_cache_new();
	}
	if (node && mode == STORE_WRITE)
		c->node = copy(str_of(node + 1));
	if (mode == STORE_READ || c->node)
		c->pool = postgres_pool_use(c->url);
	if (c->node)
		c->group = postgres_pool_group(c->pool);
	return c;
}

/* Made or migrated by whoever writes alone; a node's was made when the node began. A reader takes it as it is. */
static bool has_schema(const struct postgres_conn *c, struct buf *error)
{
	PGconn *db = postgres_dial(c->url);
	int version = 0;
	bool is_there = false;

	if (PQstatus(db) != CONNECTION_OK)
		buf_printf(error, "PostgreSQL cannot be reached: %s", postgres_words(PQerrorMessage(db)).text);
	else if (!c->base.is_reader)
		is_there = postgres_schema_migrate(db, error);
	else if (!postgres_schema_read(db, &version, error))
		is_there = false;
	else if (version == 0)
		buf_puts(error, "there is no store in this database");
	else
		is_there = postgres_schema_allows(db, error);
	PQfinish(db);
	return is_there;
}

/* A node opens many connections: the first of a kind has looked. */
static bool is_ready(struct postgres_conn *c, struct buf *error)
{
	bool is_known = c->node || (c->base.is_reader && postgres_pool_count(c->pool) > 0);

	/* A session is taken when it is needed: a thread may begin while there is none to be had. */
	if (is_known && c->base.is_reader)
		return true;
	if (!is_known && !has_schema(c, error))
		return false;
	if (!postgres_connect(c, error))
		return false;
	postgres_end_use(c);
	return true;
}

struct store_conn *postgres_open(const char *address, enum store_mode mode, struct buf *error)
{
	struct postgres_conn *c = of_address(address, mode);

	if (postgres_library_open(error) && is_ready(c, error))
		return &c->base;
	postgres_close(&c->base);
	return NULL;
}

bool postgres_is_missing(const char *address)
{
	struct postgres_conn *c = of_address(address, STORE_READ);
	struct buf ignored;
	int version = 0;
	bool is_missing = false;

	buf_init(&ignored, 1024);
	if (postgres_library_open(&ignored)) {
		PGconn *db = postgres_dial(c->url);

		is_missing = PQstatus(db) == CONNECTION_OK && postgres_schema_read(db, &version, &ignored) &&
			     version == 0;
		PQfinish(db);
	}
	buf_release(&ignored);
	postgres_close(&c->base);
	return is_missing;
}
