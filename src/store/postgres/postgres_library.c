#define POSTGRES_LIBRARY_ITSELF
#include "store/postgres/postgres_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

struct postgres_library postgres_library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_there;
static char why[256];

/* dlsym gives a pointer to an object; POSIX says that it can be one to a function. */
static bool find(void *library, const char *name, void **ret)
{
	*ret = dlsym(library, name);
	if (*ret == NULL)
		snprintf(why, sizeof(why), "libpq.so.5 has no %s: it is older than PostgreSQL 14", name);
	return *ret != NULL;
}

static void load(void)
{
	void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		snprintf(why, sizeof(why), "libpq.so.5, the library of PostgreSQL, is not on this machine (%.120s); on "
			 "Debian: apt-get install libpq5", dlerror());
		return;
	}
#define FIND(name) && find(library, #name, (void **)&postgres_library.name)
	is_there = true POSTGRES_LIBRARY(FIND);
#undef FIND
}

bool postgres_library_open(struct buf *error)
{
	pthread_once(&once, load);
	if (!is_there)
		buf_puts(error, why);
	return is_there;
}
