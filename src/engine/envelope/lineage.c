#include "engine/envelope/lineage.h"

#include "core/envelope/unpack.h"
#include "engine/access/party.h"

enum {
	LINKS_MAX = 10000,	/* envelopes of a task that are looked through for its ends */
	PARENTS_MAX = 1000,	/* and for the parent: of each it is asked who holds it */
	LINKS_CHUNK = 500,
	HELD_MAX = 64,
	NAMED_MAX = 5,		/* candidates that a refusal names */
};

/* --- Claims --- */

static enum problem_code unverified(struct op *op, const char *field, uint64_t num, const char *what)
{
	return problem_set(&op->problem, P_LINEAGE_UNVERIFIED, field, "%s env-%llu %s, so where this belongs cannot be "
			   "told; send the envelope back as it came, name its parent, or leave %s out and begin a new "
			   "chain with new_root: true", field, (unsigned long long)num, what, field);
}

/* The envelope, which must be there and have that digest (p == NULL: any). */
static enum problem_code claimed(struct op *op, struct store_conn *c, uint64_t num, struct str digest,
				 const char *field, const struct envelope **ret)
{
	struct envelope *e = arena_alloc(op->arena, sizeof(*e));
	enum problem_code code = party_check_envelope(op, c, num, field);
	char text[ENVELOPE_DIGEST_SIZE];

	if (code == P_OK)
		code = unpack(c, op->space, num, field, op->arena, e, &op->problem);
	if (code == P_ENVELOPE_NOT_FOUND && digest.p) {
		op->problem = (struct problem){0};
		return unverified(op, field, num, "is not in this space");
	}
	if (code != P_OK)
		return code;
	envelope_digest_format(e->digest, text);
	if (digest.p && !str_is(digest, text))
		return unverified(op, field, num, "has another digest");
	*ret = e;
	return P_OK;
}

/* An envelope was sent back as a whole. It names itself as the parent: then it is handed on. Or it is as it came: then
 * another takes its place. */
static enum problem_code find_copied(struct op *op, struct store_conn *c, struct packing *p, struct lineage *ret)
{
	const struct envelope *e = NULL;
	enum problem_code code = claimed(op, c, p->copied, p->copied_digest, "id", &e);

	if (code != P_OK)
		return code;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): P_OK says that it was found */
	if (p->parent == e->num)
		return claimed(op, c, p->parent, p->parent_digest, "lineage.parent", &ret->parent);
	if (p->parent != e->parent && !(p->parent == 0 && p->new_root))
		return problem_set(&op->problem, P_LINEAGE_UNVERIFIED, "lineage.parent",
				   "lineage.parent is not that of env-%llu, which this is; send the lineage as it came "
				   "to pack it anew in its place, or name env-%llu in lineage.parent to hand it on",
				   (unsigned long long)e->num, (unsigned long long)e->num);
	/* In the place of a root there is another root, which says all that the first one says. */
	p->new_root = p->parent == 0;
	ret->repacks = e;
	return p->parent ? claimed(op, c, p->parent, p->parent_digest, "lineage.parent", &ret->parent) : P_OK;
}

/* --- Finding the parent --- */

struct search {
	struct envelope_link *links;	/* of the task, in the order of their numbers */
	size_t count;
	uint64_t found[HELD_MAX];
	size_t found_count;
};

static enum problem_code read_links(struct op *op, struct store_conn *c, struct str task, size_t max,
				    struct search *s)
{
	enum store_status status = STORE_OK;
	size_t cap = 0, got = LINKS_CHUNK;
	uint64_t after = 0;

	while (status == STORE_OK && got == LINKS_CHUNK && s->count < max) {
		if (s->count + LINKS_CHUNK > cap) {
			struct envelope_link *more = arena_calloc(op->arena, cap * 2 + LINKS_CHUNK, sizeof(*more));

			if (s->count)
				memcpy(more, s->links, s->count * sizeof(*more));
			s->links = more;
			cap = cap * 2 + LINKS_CHUNK;
		}
		status = store_task_links(c, op->space, task, after, LINKS_CHUNK, s->links + s->count, &got);
		s->count += got;
		after = s->count ? s->links[s->count - 1].num : 0;
	}
	return op_stored(op, status);
}

static void note(struct search *s, uint64_t num)
{
	if (s->found_count < HELD_MAX)
		s->found[s->found_count++] = num;
}

/* NULL: it is not of the task. */
static struct envelope_link *link_of(const struct search *s, uint64_t num)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->links[middle].num < num)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->links[low].num == num ? &s->links[low] : NULL;
}

static bool is_ancestor(const struct search *s, uint64_t num, uint64_t of)
{
	/* A parent is always older. */
	while (of > num) {
		const struct envelope_link *link = link_of(s, of);

		of = link ? link->parent : 0;
	}
	return of == num;
}

/* What the sender was given of the task and has not finished. */
static enum problem_code find_held(struct op *op, struct store_conn *c, struct str agent, struct search *s)
{
	struct handoff_filter filter = {
		.space = op->space,
		.states = 1U << HANDOFF_LEASED | 1U << HANDOFF_WORKING | 1U << HANDOFF_ACKED,
	};
	enum store_status status = STORE_NOT_FOUND;

	if (agent.p)
		status = store_agent_id(c, op->space, agent, false, 0, &filter.agent);
	if (status == STORE_NOT_FOUND)
		return P_OK;
	for (size_t i = 0; status == STORE_OK && i < s->count; i++) {
		struct handoff_row row;
		size_t count = 0;

		filter.envelope = s->links[i].num;
		status = store_handoffs(c, &filter, 0, 1, op->arena, &row, &count);
		if (count)
			note(s, s->links[i].num);
	}
	return op_stored(op, status);
}

/* Where the chain ends: of each, whether something goes on from it. */
static bool *find_parents(struct op *op, const struct search *s)
{
	bool *is_parent = arena_calloc(op->arena, s->count + 1, sizeof(*is_parent));

	for (size_t i = 0; i < s->count; i++) {
		const struct envelope_link *parent = link_of(s, s->links[i].parent);

		if (parent)
			is_parent[parent - s->links] = true;
	}
	return is_parent;
}

static void find_ends(struct op *op, struct search *s)
{
	const bool *is_parent = find_parents(op, s);

	for (size_t i = 0; i < s->count; i++)
		if (!is_parent[i])
			note(s, s->links[i].num);
}

enum problem_code lineage_ends(struct op *op, struct store_conn *c, struct str task, uint64_t *ret, size_t max,
			       size_t *ret_count)
{
	struct search s = {0};
	enum problem_code code = read_links(op, c, task, LINKS_MAX, &s);
	const bool *is_parent = find_parents(op, &s);
	size_t skip = 0;

	for (size_t i = 0; i < s.count; i++)
		skip += !is_parent[i];
	skip = skip > max ? skip - max : 0;
	*ret_count = 0;
	for (size_t i = 0; i < s.count; i++) {
		if (is_parent[i])
			continue;
		if (skip)
			skip--;
		else
			ret[(*ret_count)++] = s.links[i].num;
	}
	return code;
}

/* The newest, where the others are on its way. */
static bool is_clear(const struct search *s)
{
	for (size_t i = 0; i + 1 < s->found_count; i++)
		if (!is_ancestor(s, s->found[i], s->found[s->found_count - 1]))
			return false;
	return s->found_count > 0 && s->found_count < HELD_MAX;
}

static enum problem_code refuse_unclear(struct op *op, const struct search *s, struct str task, bool is_held)
{
	struct buf names;

	buf_init(&names, 1024);
	for (size_t i = 0; i < s->found_count && i < NAMED_MAX; i++)
		buf_printf(&names, "%senv-%llu", i ? ", " : "", (unsigned long long)s->found[i]);
	problem_set(&op->problem, P_PARENT_UNCLEAR, "parent", "the task %.*s has a chain, and %s %s%s; name the one "
		    "that this goes on from in parent, or say new_root: true to begin a second chain in the task",
		    (int)(task.n < 100 ? task.n : 100), task.p,
		    is_held ? "you hold several envelopes of it:" : "it has several ends:",
		    names.data ? names.data : "", s->found_count > NAMED_MAX ? ", and more" : "");
	buf_release(&names);
	return op->problem.code;
}

static enum problem_code find_parent(struct op *op, struct store_conn *c, struct packing *p)
{
	struct search s = {0};
	struct str task = p->draft.task;
	enum problem_code code = read_links(op, c, task, PARENTS_MAX, &s);
	bool is_held;

	if (code != P_OK || s.count == 0)
		return code;
	if (s.count >= PARENTS_MAX)
		return problem_set(&op->problem, P_PARENT_UNCLEAR, "parent", "the task has %d envelopes or more; name "
				   "the one that this goes on from in parent", PARENTS_MAX);
	code = find_held(op, c, p->draft.from, &s);
	is_held = s.found_count > 0;
	if (code == P_OK && !is_held)
		find_ends(op, &s);
	if (code != P_OK)
		return code;
	if (!is_clear(&s))
		return refuse_unclear(op, &s, task, is_held);
	p->parent = s.found[s.found_count - 1];
	return P_OK;
}

enum problem_code lineage_find(struct op *op, struct store_conn *c, struct packing *p, struct lineage *ret)
{
	const char *field = p->is_v2 ? "lineage.parent" : p->is_v1 && p->parent_digest.p ? "envelope_id" : "parent";
	enum problem_code code = P_OK;

	if (p->new_root && p->parent)
		return problem_set(&op->problem, P_INVALID_FIELD, "new_root", "new_root is true, and a parent is "
				   "named; expected one of them");
	if (p->draft.task.p)
		code = party_check_joins(op, c, p->draft.task);
	if (code != P_OK)
		return code;
	if (p->copied)
		return find_copied(op, c, p, ret);
	if (p->parent == 0 && !p->new_root && p->draft.task.p && op->space)
		code = find_parent(op, c, p);
	if (code == P_OK && p->parent)
		code = claimed(op, c, p->parent, p->parent_digest, field, &ret->parent);
	return code;
}
