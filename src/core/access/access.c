#include "core/access/access.h"

#include "core/memory/memory.h"
#include "text/lookalike.h"

static const struct {
	unsigned scope;
	const char *name;
} scopes[] = {
	{ACCESS_READ, "read"}, {ACCESS_WRITE, "write"}, {ACCESS_RECEIVE, "receive"}, {ACCESS_ADMIN, "admin"},
};

enum { SCOPES = sizeof(scopes) / sizeof(scopes[0]), SHOWN = 64 };

/* The beginning of a name from outside. */
#define SHORT(s) (int)((s).n < SHOWN ? (s).n : SHOWN), (s).p

const char *access_scope_name(unsigned scope)
{
	for (size_t i = 0; i < SCOPES; i++)
		if (scopes[i].scope == scope)
			return scopes[i].name;
	return NULL;
}

unsigned access_scope_parse(struct str name)
{
	for (size_t i = 0; i < SCOPES; i++)
		if (str_is(name, scopes[i].name))
			return scopes[i].scope;
	return 0;
}

bool access_has(const struct access *a, unsigned scope)
{
	return a == NULL || (a->scopes & (scope | ACCESS_ADMIN));
}

enum problem_code access_check_scope(const struct access *a, unsigned scope, struct problem *problem)
{
	if (scope == 0 || access_has(a, scope))
		return P_OK;
	return problem_set(problem, P_FORBIDDEN, "Authorization", "key-%llu lacks the scope %s, which this needs; use "
			   "a key that has it (spine key create --scope %s)", (unsigned long long)a->key,
			   access_scope_name(scope), access_scope_name(scope));
}

enum problem_code access_check_space(const struct access *a, const char *field, struct str space,
				     struct problem *problem)
{
	if (a == NULL || a->space.p == NULL || str_eq(a->space, space))
		return P_OK;
	return problem_set(problem, P_FORBIDDEN, field, "key-%llu is for the space \"%.*s\" and no other; leave "
			   "%s out, or use a key of the space that you mean", (unsigned long long)a->key,
			   STR_ARG(a->space), field);
}

bool access_is_of_all(const struct access *a)
{
	return a == NULL || a->space.p == NULL;
}

enum problem_code access_check_all(const struct access *a, const char *field, struct problem *problem)
{
	if (access_is_of_all(a))
		return P_OK;
	return problem_set(problem, P_FORBIDDEN, field, "this is about all spaces, and key-%llu is for the space "
			   "\"%.*s\" only; use a key that is for all of them (space *)", (unsigned long long)a->key,
			   STR_ARG(a->space));
}

enum problem_code access_check_agent(const struct access *a, const char *field, struct str agent,
				     struct problem *problem)
{
	if (a == NULL || a->agent.p == NULL || str_eq(a->agent, agent))
		return P_OK;
	return problem_set(problem, P_FORBIDDEN, field, "%s is \"%.*s\", and key-%llu is the key of the agent "
			   "\"%.*s\"; name that one, leave it out, or use a key of the other", field, SHORT(agent),
			   (unsigned long long)a->key, SHORT(a->agent));
}

bool access_sees_keys(const struct access *a)
{
	return access_has(a, ACCESS_ADMIN);
}

struct str access_party(const struct access *a)
{
	return a == NULL || (a->scopes & ACCESS_ADMIN) ? STR_NULL : a->agent;
}

enum problem_code access_check_unbound(const struct access *a, const char *what, struct problem *problem)
{
	if (a == NULL || a->agent.p == NULL)
		return P_OK;
	return problem_set(problem, P_FORBIDDEN, "Authorization", "%s, and key-%llu is the key of the agent \"%.*s\"; "
			   "use a key that is bound to no agent", what, (unsigned long long)a->key, SHORT(a->agent));
}

enum problem_code access_check_handoff(const struct access *a, uint64_t num, struct str agent, struct problem *problem)
{
	if (a == NULL || a->agent.p == NULL || str_eq(a->agent, agent))
		return P_OK;
	return problem_set(problem, P_FORBIDDEN, "id", "ho-%llu is not with \"%.*s\", whose key key-%llu is; only the "
			   "agent that has it may do this", (unsigned long long)num, SHORT(a->agent),
			   (unsigned long long)a->key);
}

enum trust access_cap(const struct access *a, enum trust asked)
{
	return a && asked < a->trust ? a->trust : asked;
}

/* --- Names --- */

struct str access_actor(const struct access *a, struct arena *arena)
{
	return arena_printf(arena, "key-%llu %.*s", (unsigned long long)a->key, STR_ARG(a->name));
}

static bool is_ascii(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] & 0x80)
			return false;
	return true;
}

/* Almost no name is one that has to be folded: of ASCII it is the first letter that tells. */
static bool may_read_as_key(struct str name)
{
	name = str_trim(name);
	return name.n > 4 && (name.p[0] == 'k' || name.p[0] == 'K' || !is_ascii(name));
}

enum problem_code access_check_name(const char *field, struct str name, struct problem *problem)
{
	struct arena arena;
	struct str rest;
	uint64_t num = 0;
	bool is_key;

	if (!may_read_as_key(name))
		return P_OK;
	arena_init(&arena);
	rest = lookalike_fold(name, &arena);
	is_key = str_has_prefix(rest, STR("key-"));
	if (is_key) {
		rest = str_sub(rest, 4, rest.n);
		is_key = str_to_u64(str_cut(&rest, ' '), &num);
	}
	arena_release(&arena);
	if (!is_key)
		return P_OK;
	return problem_set(problem, P_INVALID_FIELD, field, "%s begins with \"key-%llu\", or with what looks like it, "
			   "as the audit names who holds a key; use another name", field, (unsigned long long)num);
}

enum problem_code access_check_person(const char *field, struct str name, struct problem *problem)
{
	struct arena arena;
	struct str seen;
	bool has_key;

	arena_init(&arena);
	seen = lookalike_fold(name, &arena);
	has_key = seen.n && memmem(seen.p, seen.n, "(key", 4);
	arena_release(&arena);
	if (has_key)
		return problem_set(problem, P_INVALID_FIELD, field, "%s has \"(key\", or what looks like it, as the "
				   "audit names the key of a person; use another name", field);
	return access_check_name(field, name, problem);
}

/* --- Keys make keys --- */

/* The first scope that is asked for and not there; 0: all are. */
static unsigned lacking(const struct access *a, unsigned asked)
{
	for (size_t i = 0; i < SCOPES && !(a->scopes & ACCESS_ADMIN); i++)
		if (asked & ~a->scopes & scopes[i].scope)
			return scopes[i].scope;
	return 0;
}

enum problem_code access_check_covers(const struct access *a, const struct access_key_row *key,
				      struct problem *problem)
{
	unsigned scope;

	if (a == NULL)
		return P_OK;
	if (a->space.p && (key->space.p == NULL || !str_eq(a->space, key->space)))
		return problem_set(problem, P_FORBIDDEN, "space", "key-%llu is for the space \"%.*s\", so it can give "
				   "keys for that space only", (unsigned long long)a->key, STR_ARG(a->space));
	scope = lacking(a, key->scopes);
	if (scope)
		return problem_set(problem, P_FORBIDDEN, "scopes", "key-%llu has no scope %s, so it cannot give it",
				   (unsigned long long)a->key, access_scope_name(scope));
	if (a->agent.p && (key->agent.p == NULL || !str_eq(a->agent, key->agent)))
		return problem_set(problem, P_FORBIDDEN, "agent", "key-%llu is the key of the agent \"%.*s\", so it "
				   "can give keys for that agent only", (unsigned long long)a->key, SHORT(a->agent));
	if (key->trust < a->trust)
		return problem_set(problem, P_FORBIDDEN, "trust", "what key-%llu stores has the trust %s at most, so "
				   "it cannot give a key with more", (unsigned long long)a->key,
				   memory_trust_name(a->trust));
	if (a->expires_at_ms && (key->expires_at_ms == 0 || key->expires_at_ms > a->expires_at_ms))
		return problem_set(problem, P_FORBIDDEN, "expires_at", "key-%llu expires itself, so it cannot give a "
				   "key that lasts longer", (unsigned long long)a->key);
	return P_OK;
}
