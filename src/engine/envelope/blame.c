#include "engine/envelope/blame.h"

#include "core/envelope/unpack.h"
#include "engine/access/party.h"
#include "engine/envelope/task.h"

enum {
	ENVELOPES_MAX = 10000,	/* that one question may look through */
	CHUNK = 8,
};

/* An envelope of the task that was looked at. */
struct seen {
	uint64_t num;
	uint64_t lost;		/* where its line of descent lost the thing last; 0: it has it, or never had it */
	bool has;
	bool is_parent;
	bool is_left_behind;	/* it is within a chain that began without it */
};

struct search {
	struct seen *seen;	/* in the order of their numbers */
	size_t count;
	uint64_t left_out;	/* the first that did not have it though its parent did */
};

static struct seen *find_seen(const struct search *s, uint64_t num)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->seen[middle].num < num)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->seen[low].num == num ? &s->seen[low] : NULL;
}

/* Notes of the next envelope of the task whether it has the thing, and if not, where it went. Everything lives in
 * `arena`, as long as its chunk. */
static enum problem_code look_at(struct op *op, struct store_conn *c, struct search *s, const struct envelope_row *row,
				 struct arena *arena)
{
	struct blame *b = (struct blame *)op;
	struct envelope e;
	struct envelope_row kept = *row;
	enum problem_code code = unpack_skeleton(row, arena, &e, &op->problem);
	struct seen *parent = code == P_OK && e.parent ? find_seen(s, e.parent) : NULL;
	struct seen one = {.num = row->num, .has = code == P_OK && fidelity_has(&e, b->key)};

	if (code != P_OK)
		return code;
	if (!parent && !b->is_pruned)
		code = task_pruned(op, c, &e, 1, &b->is_pruned);
	if (code != P_OK)
		return code;
	if (parent) {
		parent->is_parent = true;
		one.lost = one.has ? 0 : parent->has ? row->num : parent->lost;
		one.is_left_behind = one.lost && !parent->has && parent->is_left_behind;
	} else if (!one.has && b->introduced) {
		one.lost = row->num;
		one.is_left_behind = true;
	}
	if (one.lost && !one.is_left_behind && s->left_out == 0)
		s->left_out = one.lost;
	s->seen[s->count++] = one;
	if (!one.has || b->introduced)
		return P_OK;
	kept.body = arena_str(op->arena, row->body);
	b->introduced = &b->first;
	return unpack_skeleton(&kept, op->arena, &b->first.envelope, &op->problem);
}

static enum problem_code look_through(struct op *op, struct store_conn *c, struct search *s)
{
	const struct blame *b = (const struct blame *)op;
	struct envelope_row rows[CHUNK];
	enum problem_code code = P_OK;
	struct arena arena;
	uint64_t after = 0;
	size_t count = CHUNK;

	s->seen = arena_calloc(op->arena, ENVELOPES_MAX, sizeof(*s->seen));
	arena_init(&arena);
	while (code == P_OK && count == CHUNK) {
		arena_release(&arena);
		count = 0;
		if (op->space)
			code = op_stored(op, store_task_envelopes(c, op->space, b->task, after, CHUNK, &arena, rows,
								  &count));
		if (code == P_OK && s->count + count > ENVELOPES_MAX)
			code = problem_set(&op->problem, P_TOO_LARGE, "id", "the task has more than %d envelopes, too "
					   "many to look through at once; follow its pages, GET "
					   "/v1/tasks/{id}/fidelity", ENVELOPES_MAX);
		for (size_t i = 0; code == P_OK && i < count; i++)
			code = look_at(op, c, s, &rows[i], &arena);
		after = count ? rows[count - 1].num : after;
	}
	arena_release(&arena);
	return code == P_OK && s->count == 0 ? task_unknown(op, b->task) : code;
}

/* It is lost where a line of descent ends without it: what a hop left out and a later one brought back is there. */
static uint64_t first_loss(const struct search *s, bool left_behind)
{
	uint64_t first = 0;

	for (size_t i = 0; i < s->count; i++)
		if (!s->seen[i].is_parent && s->seen[i].lost && s->seen[i].is_left_behind == left_behind && 
		    (first == 0 || s->seen[i].lost < first))
			first = s->seen[i].lost;
	return first;
}

static enum problem_code read_skeleton(struct op *op, struct store_conn *c, uint64_t num, struct envelope *ret)
{
	struct envelope_row row;
	enum problem_code code = unpack_find(c, op->space, num, NULL, op->arena, &row, &op->problem);

	return code == P_OK ? unpack_skeleton(&row, op->arena, ret, &op->problem) : code;
}

/* What became of it in the hop that has it no more. */
static enum problem_code read_fate(struct op *op, struct store_conn *c, uint64_t without)
{
	struct blame *b = (struct blame *)op;
	struct blame_hop *hop = &b->without;
	struct envelope *before = arena_zalloc(op->arena, sizeof(*before));
	enum problem_code code = read_skeleton(op, c, without, &hop->envelope);
	struct fidelity f = {0};

	/* A root kept nothing: there is nothing before it. */
	if (code != P_OK || hop->envelope.parent == 0)
		return code;
	code = read_skeleton(op, c, hop->envelope.parent, before);
	if (code == P_OK)
		fidelity_compare(before, &hop->envelope, op->arena, &f);
	for (size_t i = 0; i < f.count && hop->fate == NULL; i++)
		if (str_eq(f.items[i].key, b->key) || (f.items[i].kind == KIND_INTENT && str_is(b->key, "intent")))
			hop->fate = &f.items[i];
	return code;
}

/* An open decision that was made is in the history now. */
static void judge(struct blame *b, bool is_lost, bool is_left_out)
{
	struct blame_hop *hop = &b->without;

	b->verdict = b->introduced ? BLAME_STILL : BLAME_NEVER;
	if (is_lost && hop->fate && hop->fate->fate == FATE_KEPT) {
		b->verdict = BLAME_RESOLVED;
		b->resolved = hop;
		hop->fate = NULL;
	} else if (is_lost) {
		b->verdict = hop->envelope.parent == 0				? BLAME_LEFT_BEHIND
			     : hop->fate && hop->fate->fate == FATE_WAIVED ? BLAME_WAIVED
									    : BLAME_LOST;
		b->lost = hop;
	} else if (is_left_out) {
		b->left_out = hop;
	}
}

static enum problem_code find_blame(struct op *op, struct store_conn *c)
{
	struct blame *b = (struct blame *)op;
	struct search s = {0};
	enum problem_code code = party_check_task(op, c, b->task);
	uint64_t lost, without;

	if (code == P_OK)
		code = look_through(op, c, &s);
	lost = first_loss(&s, false);
	lost = lost ? lost : first_loss(&s, true);
	without = lost ? lost : s.left_out;
	if (code == P_OK && without)
		code = read_fate(op, c, without);
	judge(b, lost != 0, without != 0);
	return code;
}

const struct op_kind blame_kind = {
	.name = "blame", .size = sizeof(struct blame), .flags = OP_ASIDE, .read = find_blame,
};
