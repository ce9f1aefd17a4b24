/* Who asks, as a key says it: what the holder of a key may do, where, and in whose name.
 *
 * Where the server has no keys, nobody is known and everything is allowed: then there is no struct access at all (NULL).
 */
#ifndef SPINE_CORE_ACCESS_ACCESS_H
#define SPINE_CORE_ACCESS_ACCESS_H

#include "base/str.h"
#include "store/records.h"

/* What a key may do. ACCESS_ADMIN includes the others. */
enum access_scope {
	ACCESS_READ = 1 << 0,
	ACCESS_WRITE = 1 << 1,
	ACCESS_RECEIVE = 1 << 2,
	ACCESS_ADMIN = 1 << 3,
};

struct access {
	uint64_t key;			/* number of the key: key-7 */
	unsigned scopes;		/* enum access_scope */
	struct str name;		/* what people call the key; the author of what is done without an agent */
	struct str space;		/* p == NULL: all of them */
	struct str agent;		/* p == NULL: any */
	enum trust trust;		/* of what it stores: at most this */
};

#endif
