#include "core/envelope/steps.h"

#include "codec/json_set.h"

/* The steps of the envelope before: as they are, and without whose they are. */
struct known {
	const struct json *steps;
	struct json keys[2];
	struct json_set sets[2];
};

enum { SIGNED, UNSIGNED };

/* Each member is in an array of its own, which is empty where there is none. */
static struct json key_of(const struct json *step, int kind, struct arena *arena)
{
	static const char *const names[] = {"agent", "action", "decision", "why", "memory_id"};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	struct json *members = arena_calloc(arena, NAMES, sizeof(*members));

	for (size_t i = 0; i < NAMES; i++) {
		const struct json *member = kind == UNSIGNED && i == 0 ? NULL : json_get(step, names[i]);

		members[i] = (struct json){.type = JSON_ARRAY};
		if (member == NULL)
			continue;
		members[i].items = arena_alloc(arena, sizeof(*member));
		members[i].items[0] = *member;
		members[i].count = 1;
	}
	return (struct json){.type = JSON_ARRAY, .count = NAMES, .items = members};
}

struct json steps_key(const struct json *step, struct arena *arena)
{
	return key_of(step, SIGNED, arena);
}

static void known_init(struct known *k, const struct json *steps, struct arena *arena)
{
	uint32_t count = steps ? steps->count : 0;

	k->steps = steps;
	for (int kind = SIGNED; kind <= UNSIGNED; kind++) {
		struct json *items = arena_calloc(arena, count + 1, sizeof(*items));

		for (uint32_t i = 0; i < count; i++)
			items[i] = key_of(&steps->items[i], kind, arena);
		k->keys[kind] = (struct json){.type = JSON_ARRAY, .count = count, .items = items};
		json_set_init(&k->sets[kind], &k->keys[kind]);
	}
}

static void known_release(struct known *k)
{
	json_set_release(&k->sets[SIGNED]);
	json_set_release(&k->sets[UNSIGNED]);
}

/* NULL: it is new. */
static const struct json *known_find(const struct known *k, const struct json *step, int kind, struct arena *arena)
{
	struct json key = key_of(step, kind, arena);
	uint32_t at = json_set_find(&k->sets[kind], &key);

	return at < k->keys[kind].count ? &k->steps->items[at] : NULL;
}

/* NULL: it names nobody. */
static const struct json *signer_of(const struct json *step)
{
	const struct json *agent = json_get(step, "agent");

	return agent == NULL || agent->type == JSON_NULL || (agent->type == JSON_STRING && agent->s.n == 0) ? NULL
													     : agent;
}

static void sign(struct json *step, struct str by, struct arena *arena)
{
	struct json_member *members = arena_calloc(arena, step->count + 1, sizeof(*members));
	uint32_t count = 0;

	for (uint32_t i = 0; i < step->count; i++)
		if (!str_is(step->members[i].key, "agent"))
			members[count++] = step->members[i];
	members[count++] = (struct json_member){STR("agent"), {.type = JSON_STRING, .s = by}};
	step->members = members;
	step->count = count;
}

/* Names that read as the holder of a key are refused without keys, too: the history outlives the mode. */
static enum problem_code check_signer(const struct json *agent, const struct access *access, struct problem *problem)
{
	enum problem_code code;

	if (agent->type != JSON_STRING && access)
		return problem_set(problem, P_INVALID_FIELD, "agent", "agent is %s; expected a string, the name of who "
				   "did it", json_type_name(agent->type));
	if (agent->type != JSON_STRING)
		return P_OK;
	code = access_check_agent(access, "agent", agent->s, problem);
	if (code != P_OK || (access && access->agent.p))
		return code;
	return access_check_person("agent", agent->s, problem);
}

static enum problem_code sign_one(const struct known *known, struct str from, const struct access *access,
				  struct json *step, struct arena *arena, struct problem *problem)
{
	const struct json *agent = signer_of(step);
	const struct json *same = known_find(known, step, agent ? SIGNED : UNSIGNED, arena);

	if (same) {
		*step = *same;
		return P_OK;
	}
	if (agent)
		return check_signer(agent, access, problem);
	if (access && access->agent.p)
		sign(step, access->agent, arena);
	else if (from.p)
		sign(step, from, arena);
	return P_OK;
}

enum problem_code steps_sign(const struct json *inherited, struct str from, const struct access *access,
			     const char *list, struct json *given, struct arena *arena, struct problem *problem)
{
	struct json *items;
	enum problem_code code = P_OK;
	struct known known;

	if (given->type != JSON_ARRAY || given->count == 0)
		return P_OK;
	items = arena_calloc(arena, given->count, sizeof(*items));
	known_init(&known, inherited, arena);
	for (uint32_t i = 0; code == P_OK && i < given->count; i++) {
		items[i] = given->items[i];
		code = sign_one(&known, from, access, &items[i], arena, problem);
		if (code != P_OK)
			problem_prefix(problem, list, i);
	}
	known_release(&known);
	given->items = items;
	return code;
}
