#include "core/envelope/constraints_given.h"

#include "core/envelope/constraints.h"

static const struct json *value_of(const struct envelope *e, struct str key)
{
	for (uint32_t i = 0; i < e->constraints.count; i++)
		if (str_eq(e->constraints.members[i].key, key))
			return &e->constraints.members[i].value;
	return NULL;
}

static bool is_locked(const struct envelope *e, struct str key)
{
	for (uint32_t i = 0; e->locked.type == JSON_ARRAY && i < e->locked.count; i++)
		if (e->locked.items[i].type == JSON_STRING && str_eq(e->locked.items[i].s, key))
			return true;
	return false;
}

static bool is_sender(const struct given_input *in, struct str name)
{
	for (size_t i = 0; i < in->sender_count; i++)
		if (name.p && str_eq(in->senders[i], name))
			return true;
	return false;
}

/* Did the sender itself set the value, or the lock (value NULL)? It is the first hop of the line that has it. */
static bool is_own(const struct given_input *in, const struct given_line *line, struct str key,
		   const struct json *value)
{
	size_t first = 0;

	for (size_t i = 1; i < line->count; i++) {
		const struct json *there = value_of(line->hops[i], key);

		if (value ? !there || !json_equal(there, value) : !is_locked(line->hops[i], key))
			break;
		first = i;
	}
	return is_sender(in, line->hops[first]->from);
}

static bool is_waived(const struct json *waive, struct str key)
{
	for (uint32_t i = 0; waive && waive->type == JSON_ARRAY && i < waive->count; i++) {
		const struct json *named = json_get(&waive->items[i], "key");

		if (named && named->type == JSON_STRING && str_eq(named->s, key))
			return true;
	}
	return false;
}

static struct json_member *find(struct given_constraints *g, struct str key)
{
	for (uint32_t i = 0; i < g->constraints.count; i++)
		if (str_eq(g->constraints.members[i].key, key))
			return &g->constraints.members[i];
	return NULL;
}

static void note(struct given_constraints *g, const struct json_member *m, uint64_t by)
{
	for (size_t i = 0; i < g->added_count; i++)
		if (str_eq(g->added[i]->key, m->key)) {
			g->added[i] = m;
			g->added_by[i] = by;
			return;
		}
	g->added[g->added_count] = m;
	g->added_by[g->added_count++] = by;
}

static enum problem_code disagree(const struct given_input *in, const struct given_constraints *g, struct str key,
				  uint64_t num, struct problem *problem)
{
	uint64_t other = 0;

	for (size_t i = 0; i < g->added_count; i++)
		if (str_eq(g->added[i]->key, key))
			other = g->added_by[i];
	return problem_set(problem, P_CONSTRAINT_CONFLICT, "parent", "env-%llu and env-%llu go on from env-%llu, both "
			   "were given to you, and they say different things about the constraint \"%.*s\". Name the "
			   "one that this goes on from in parent, or waive the constraint with a reason",
			   (unsigned long long)num, (unsigned long long)other, (unsigned long long)in->before->num,
			   (int)str_utf8_prefix(str_sub(key, 0, key.n < 60 ? key.n : 60)), key.p);
}

/* One of a line. What the envelope before has, and the line has changed without narrowing it, was waived there and set
 * anew: here it was not. */
static enum problem_code add(const struct given_input *in, const struct given_line *line, const struct json_member *m,
			     struct given_constraints *g, struct problem *problem)
{
	const struct json *was = value_of(in->before, m->key);
	struct json_member *there = find(g, m->key);

	if (str_is(m->key, "max_tokens") || (was && (json_equal(was, &m->value) ||
						     !constraints_narrows(m->key, was, &m->value))))
		return P_OK;
	if (is_own(in, line, m->key, &m->value) || (there && constraints_narrows(m->key, &m->value, &there->value)))
		return P_OK;
	if (there && !constraints_narrows(m->key, &there->value, &m->value))
		return is_waived(in->waive, m->key) ? P_OK
						    : disagree(in, g, m->key, line->hops[0]->num, problem);
	if (there)
		there->value = m->value;
	else
		g->constraints.members[g->constraints.count++] = *m;
	note(g, m, line->hops[0]->num);
	return P_OK;
}

/* A lock that was set there holds for what is here, too. */
static void add_locks(const struct given_input *in, const struct given_line *line, struct given_constraints *g)
{
	const struct envelope *e = line->hops[0];

	for (uint32_t i = 0; e->locked.type == JSON_ARRAY && i < e->locked.count; i++) {
		struct str key = e->locked.items[i].s;

		if (e->locked.items[i].type == JSON_STRING && find(g, key) && !is_locked(in->before, key) &&
		    !is_own(in, line, key, NULL))
			g->locked.items[g->locked.count++] = e->locked.items[i];
	}
}

static void make_room(const struct given_input *in, struct arena *arena, struct given_constraints *g)
{
	const struct json *all = &in->before->constraints, *locked = &in->before->locked;
	size_t more = 0, locks = locked->type == JSON_ARRAY ? locked->count : 0, more_locks = 0;

	for (size_t i = 0; i < in->line_count; i++) {
		more += in->lines[i].hops[0]->constraints.count;
		more_locks += in->lines[i].hops[0]->locked.count;
	}
	*g = (struct given_constraints){
		.constraints = {.type = JSON_OBJECT, .count = all->count,
				.members = arena_calloc(arena, all->count + more + 1, sizeof(*all->members))},
		.locked = {.type = JSON_ARRAY, .count = (uint32_t)locks,
			   .items = arena_calloc(arena, locks + more_locks + 1, sizeof(*locked->items))},
		.added = arena_calloc(arena, more + 1, sizeof(struct json_member *)),
		.added_by = arena_calloc(arena, more + 1, sizeof(uint64_t)),
	};
	for (uint32_t i = 0; i < all->count; i++)
		g->constraints.members[i] = all->members[i];
	for (size_t i = 0; i < locks; i++)
		g->locked.items[i] = locked->items[i];
}

enum problem_code constraints_given(const struct given_input *in, struct arena *arena, struct given_constraints *ret,
				    struct problem *problem)
{
	enum problem_code code = P_OK;

	make_room(in, arena, ret);
	for (size_t i = 0; code == P_OK && i < in->line_count; i++) {
		const struct json *has = &in->lines[i].hops[0]->constraints;

		for (uint32_t m = 0; code == P_OK && m < has->count; m++)
			code = add(in, &in->lines[i], &has->members[m], ret, problem);
		if (code == P_OK)
			add_locks(in, &in->lines[i], ret);
	}
	return code;
}
