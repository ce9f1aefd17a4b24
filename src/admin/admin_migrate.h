/* The schema of a database that several servers share. */
#ifndef SPINE_ADMIN_ADMIN_MIGRATE_H
#define SPINE_ADMIN_ADMIN_MIGRATE_H

#include "base/buf.h"

struct admin_schema {
	int number;
	int oldest;			/* what a server must know at least, */
	char oldest_version[32];	/* and the version that knew it first */
};

/* Brings it up to date, also while servers run. is_finish: and takes away what only older servers need; refused while
 * one of another version lives. On failure *error holds a sentence for the person. */
bool admin_migrate(const char *store, bool is_finish, struct admin_schema *ret, struct buf *error);

#endif
