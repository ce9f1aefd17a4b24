/* Whether an address can be read, before anybody connects by it.
 *
 * A password may hold what means something in a URL. Then the URL falls apart in another way than was meant, and libpq
 * names the wrong piece: a part of the password. So the address is looked at here first, and no message has any of it.
 */
#include "store/postgres/postgres_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_DIGITS = 5, PORT_MAX = 65535 };

static const char hint[] = "Write #, /, ?, @ and % of a password as %23, %2F, %3F, %40 and %25, or leave it out: "
			   "PGPASSWORD or a file (~/.pgpass) has it";

/* Behind "://"; NULL: it is no address of PostgreSQL. */
static const char *behind_scheme(const char *address)
{
	static const char *const schemes[] = {"postgres://", "postgresql://"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(address, schemes[i], strlen(schemes[i])) == 0)
			return address + strlen(schemes[i]);
	return NULL;
}

/* "…/name#12" is a shard of the database; see postgres_open. */
static bool has_stray_mark(const char *rest)
{
	const char *mark = strchr(rest, '#'), *slash = strchr(rest, '/');

	if (mark == NULL)
		return false;
	return slash == NULL || slash > mark || mark[1] == '\0' || mark[1 + strspn(mark + 1, "0123456789")] != '\0';
}

/* libpq takes what stands before the first '@' for user and password, unless a '/' comes first. */
static bool has_stray_at(const char *rest)
{
	const char *end = rest + strcspn(rest, "@/");

	if (*end == '@')
		end++;
	return end[strcspn(end, "@?")] == '@';
}

/* Of each host one, or none. libpq looks at them when it connects, and prints them. */
static bool are_ports(const char *value)
{
	while (value && *value) {
		size_t n = strspn(value, "0123456789");

		if (n > PORT_DIGITS || (value[n] && value[n] != ',') || strtol(value, NULL, 10) > PORT_MAX)
			return false;
		value += n + (value[n] == ',');
	}
	return true;
}

/* What is wrong, as libpq says it, without the piece of the address that it quotes behind the colon. */
static void put_wrong(const char *says, struct buf *ret)
{
	size_t n = says ? strcspn(says, ":\n") : 0;

	if (n == 0 || says[n] != ':')
		buf_puts(ret, "it is no URL");
	else
		buf_put(ret, (struct str){says, n});
}

static bool is_parsed(const char *address, struct buf *ret_wrong)
{
	char *url = postgres_url(address), *says = NULL;
	PQconninfoOption *all = PQconninfoParse(url, &says);
	bool is_good = all != NULL;

	if (!is_good)
		put_wrong(says, ret_wrong);
	for (const PQconninfoOption *o = all; o && o->keyword && is_good; o++)
		if (strcmp(o->keyword, "port") == 0 && !are_ports(o->val)) {
			buf_puts(ret_wrong, "its port is none");
			is_good = false;
		}
	PQconninfoFree(all);
	PQfreemem(says);
	free(url);
	return is_good;
}

bool postgres_address_is_good(const char *address, struct buf *error)
{
	const char *rest = behind_scheme(address);
	struct buf wrong, ignored;
	bool is_good;

	if (rest == NULL) {
		buf_puts(error, "expected the address of a PostgreSQL database, postgres://user@host/database; what "
			 "was given is none");
		return false;
	}
	buf_init(&wrong, 1024);
	buf_init(&ignored, 1024);
	if (has_stray_mark(rest))
		buf_puts(&wrong, "there is a # in it");
	else if (has_stray_at(rest))
		buf_puts(&wrong, "there is an @ behind its host");
	else if (postgres_library_open(&ignored))	/* where there is none, who connects says so */
		is_parsed(address, &wrong);
	is_good = wrong.len == 0;
	if (!is_good)
		buf_printf(error, "the address of the database cannot be read: %.*s. %s", STR_ARG(buf_str(&wrong)),
			   hint);
	buf_release(&ignored);
	buf_release(&wrong);
	return is_good;
}
