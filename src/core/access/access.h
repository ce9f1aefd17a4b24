/* Who asks, as a key says it: what the holder of a key may do, where, and in whose name.
 *
 * Where the server has no keys, nobody is known and everything is allowed: then there is no struct access at all
 * (NULL), and every function here says yes.
 */
#ifndef SPINE_CORE_ACCESS_ACCESS_H
#define SPINE_CORE_ACCESS_ACCESS_H

#include "base/arena.h"
#include "base/str.h"
#include "core/problem.h"
#include "store/records.h"

/* What a key may do. ACCESS_ADMIN includes the others. */
enum access_scope {
	ACCESS_READ = 1 << 0,
	ACCESS_WRITE = 1 << 1,
	ACCESS_RECEIVE = 1 << 2,
	ACCESS_ADMIN = 1 << 3,
	ACCESS_EVERYTHING = ACCESS_READ | ACCESS_WRITE | ACCESS_RECEIVE | ACCESS_ADMIN,
};

struct access {
	uint64_t key;			/* number of the key: key-7 */
	uint64_t secret;		/* tells which of its secrets was shown: it has two for a while after a
					 * rotation */
	unsigned scopes;		/* enum access_scope */
	struct str name;		/* what people call the key; the author of what is done without an agent */
	struct str space;		/* p == NULL: all of them */
	struct str agent;		/* p == NULL: any */
	enum trust trust;		/* of what it stores: at most this */
	int64_t expires_at_ms;		/* 0: never */
	uint64_t session;		/* of the dashboard, that stands for the key; 0: the key itself was shown */
};

/* Each fills in the problem, P_FORBIDDEN with what is missing, where it says no. */

/* Has it that scope? */
bool access_has(const struct access *a, unsigned scope);
/* May it do what needs that one scope? 0: what any key may. */
enum problem_code access_check_scope(const struct access *a, unsigned scope, struct problem *problem);
/* May it ask about that space? The answer is the same whether there is such a space or not. */
enum problem_code access_check_space(const struct access *a, const char *field, struct str space,
				     struct problem *problem);
/* May it ask about all spaces at once? */
enum problem_code access_check_all(const struct access *a, const char *field, struct problem *problem);
/* May it speak, or take work, in the name of that agent? */
enum problem_code access_check_agent(const struct access *a, const char *field, struct str agent,
				     struct problem *problem);
/* The agent whose part alone of what is handed over it may look at; p == NULL: it may look at everything. */
struct str access_party(const struct access *a);
/* May it know which keys there are, and what was done with them? */
bool access_sees_keys(const struct access *a);
/* May it do what is for nobody in particular: a key that is bound to an agent may not. */
enum problem_code access_check_unbound(const struct access *a, const char *what, struct problem *problem);
/* May it settle a handoff that this agent has? */
enum problem_code access_check_handoff(const struct access *a, uint64_t num, struct str agent, struct problem *problem);
/* May it give somebody a key that can do that? Never more than it can itself. */
enum problem_code access_check_covers(const struct access *a, const struct access_key_row *key,
				      struct problem *problem);

/* Does it know about all spaces, and so about the server that has them? */
bool access_is_of_all(const struct access *a);

/* The trust that what it stores has: as it was asked for, or the key's where that is lower. */
enum trust access_cap(const struct access *a, enum trust asked);

/* Who it is in the audit where no agent is named: "key-7 root", in the arena. Names are not unique, ids are. */
struct str access_actor(const struct access *a, struct arena *arena);
/* Is that a name which somebody may give himself or an agent? "key-7 root" is not, nor what a reader takes for it:
 * P_INVALID_FIELD. */
enum problem_code access_check_name(const char *field, struct str name, struct problem *problem);
/* The same of a person's: "Ada (key-7 root)" is what the server writes. */
enum problem_code access_check_person(const char *field, struct str name, struct problem *problem);

/* "read"; NULL for what is no single scope. */
const char *access_scope_name(unsigned scope);
/* 0: none is called so. */
unsigned access_scope_parse(struct str name);

#endif
