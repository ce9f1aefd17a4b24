/* Opens the engine that an address names, and hands each verb on to it. */
#include "store/verbs.h"

#include "base/str.h"
#include "store/postgres/postgres.h"
#include "store/ram/ram.h"
#include "store/sqlite/sqlite.h"

#include <ctype.h>

struct engine {
	struct str scheme;	/* what its addresses begin with; empty: any other address */
	struct store_conn *(*open)(const char *address, enum store_mode mode, struct buf *error);
	bool (*is_missing)(const char *address);
	void (*files)(const char *address, void (*each)(const char *path, void *arg), void *arg);	/* NULL: none */
};

/* A further engine gets a line here. */
static const struct engine engines[] = {
	{{"ram:", 4}, ram_open, ram_is_missing, NULL},
	{{"postgres://", 11}, postgres_open, postgres_is_missing, postgres_files},
	{{"postgresql://", 13}, postgres_open, postgres_is_missing, postgres_files},
	{{"", 0}, sqlite_open, sqlite_is_missing, NULL},
};

/* "name://": the address is no directory. */
static bool has_scheme(const char *address)
{
	const char *p = address;

	while (isalnum((unsigned char)*p) || *p == '+' || *p == '-' || *p == '.')
		p++;
	return p > address && strncmp(p, "://", 3) == 0;
}

/* NULL where the address is of no engine. */
static const struct engine *engine_of(const char *address)
{
	const struct engine *e = engines;

	while (!str_has_prefix(str_of(address), e->scheme))
		e++;
	return e->scheme.n == 0 && has_scheme(address) ? NULL : e;
}

struct store_conn *store_open(const char *address, enum store_mode mode, struct buf *error)
{
	const struct engine *e = engine_of(address);

	if (e)
		return e->open(address, mode, error);
	/* Not the whole address: it may hold a password. */
	buf_printf(error, "there is no engine for %.*s://…; what can be opened is a data directory, postgres://…, or "
		   "ram:NAME", (int)strcspn(address, ":"), address);
	return NULL;
}

bool store_address_is_good(const char *address, struct buf *error)
{
	return postgres_address_is_good(address, error);
}

bool store_is_missing(const char *address)
{
	const struct engine *e = engine_of(address);

	return e && e->is_missing(address);
}

void store_files(const char *address, void (*each)(const char *path, void *arg), void *arg)
{
	const struct engine *e = engine_of(address);

	if (e && e->files)
		e->files(address, each, arg);
}

void store_close(struct store_conn *c)
{
	if (c)
		c->verbs->close(c);
}

bool store_is_reader(const struct store_conn *c)
{
	return c->is_reader;
}

bool store_is_served(const struct store_conn *c)
{
	return c->is_served;
}

bool store_is_failed(const struct store_conn *c)
{
	return c->is_failed;
}

bool store_is_lost(const struct store_conn *c)
{
	return c->is_lost;
}

const char *store_error(const struct store_conn *c)
{
	return c->error;
}

void store_event_listen(struct store_conn *c, void (*fn)(void *ctx, const struct event_row *event), void *ctx)
{
	c->event_added = fn;
	c->event_ctx = ctx;
}

/* --- The verbs --- */

#define STORE_VERB(kind, type, name, params, args) \
	type store_##name params \
	{ \
		return c->verbs->name args; \
	}
STORE_VERBS(STORE_VERB)
#undef STORE_VERB

/* --- What only some engines can do --- */

void store_share(struct store_conn *reader, const struct store_conn *writer)
{
	if (reader->embedded && reader->embedded == writer->embedded)
		reader->embedded->share(reader, writer);
}

void store_set_cache(struct store_conn *writer, size_t max_bytes)
{
	if (writer->embedded)
		writer->embedded->set_cache(writer, max_bytes);
}

size_t store_cache_bytes(const struct store_conn *writer)
{
	return writer->embedded ? writer->embedded->cache_bytes(writer) : 0;
}

void store_set_direct(struct store_conn *c, bool is_direct)
{
	if (c->embedded)
		c->embedded->set_direct(c, is_direct);
}

enum store_status store_backup(struct store_conn *c, const char *file, struct buf *error)
{
	if (c->embedded && c->embedded->backup)
		return c->embedded->backup(c, file, error);
	buf_puts(error, "this store has no files of its own; its engine's tools make the backup");
	return STORE_REFUSED;
}

enum store_status store_check(struct store_conn *c, struct store_check *ret, struct buf *ret_problems)
{
	return c->embedded && c->embedded->check ? c->embedded->check(c, ret, ret_problems) : STORE_REFUSED;
}
