/* Which files libpq reads whenever it connects. It says where it looks itself, so that its own rules hold: what the
 * address names, then the environment, then a service, then what lies in the user's home. */
#include "store/postgres/postgres_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct files {
	void (*each)(const char *path, void *arg);
	void *arg;
};

/* In the user's home, where nothing else is named. ".postgresql" has certificates, and nothing else. */
static const char *const at_home[] = {".pgpass", ".pg_service.conf", ".postgresql/root.crt"};
/* Options that name a file. Some take words, too ("system"), which are no path. */
static const char *const options[] = {"passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"};

static void tell_home(const struct files *files)
{
	const char *home = getenv("HOME");
	char path[4096];

	for (size_t i = 0; home && home[0] == '/' && i < sizeof(at_home) / sizeof(at_home[0]); i++)
		if (snprintf(path, sizeof(path), "%s/%s", home, at_home[i]) < (int)sizeof(path))
			files->each(path, files->arg);
}

/* A path that does not begin with '/' is one from the working directory. */
static void tell(const struct files *files, const char *value)
{
	char *whole = value && value[0] && value[0] != '/' ? realpath(value, NULL) : NULL;

	if (whole || (value && value[0] == '/'))
		files->each(whole ? whole : value, files->arg);
	free(whole);
}

static void tell_options(const struct files *files, const char *url)
{
	static const char *const names[] = {"dbname", NULL};
	const char *values[] = {url, NULL};
	/* Begins to connect, and waits for nothing: from then on the options are whole. */
	PGconn *db = PQconnectStartParams(names, values, 1);
	PQconninfoOption *all = PQconninfo(db);

	for (const PQconninfoOption *o = all; o && o->keyword; o++)
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (strcmp(o->keyword, options[i]) == 0)
				tell(files, o->val);
	PQconninfoFree(all);
	PQfinish(db);
}

void postgres_files(const char *address, void (*each)(const char *path, void *arg), void *arg)
{
	struct files files = {each, arg};
	char *url = postgres_url(address);
	struct buf error;

	buf_init(&error, 4096);
	if (postgres_library_open(&error))
		tell_options(&files, url);
	buf_release(&error);
	free(url);
	tell(&files, getenv("PGSERVICEFILE"));
	tell_home(&files);
}
