#include "engine/envelope/later_hops.h"

#include "codec/json_member.h"
#include "core/envelope/unpack.h"

enum { CHUNK = 500, NAMES = 2 };

/* An envelope of the task that was made later. */
struct hop {
	struct envelope_link link;
	bool is_behind;			/* it goes on, over any number of hops, from the one in question */
	bool is_passed;			/* one behind it was given to the sender, too */
	const struct envelope *envelope;	/* NULL: not read yet */
};

struct look {
	struct op *op;
	struct store_conn *c;
	uint64_t from;			/* the envelope in question */
	struct hop *hops;		/* in the order of their numbers */
	size_t count;
	struct str names[NAMES];	/* of the sender */
	int64_t ids[NAMES];		/* 0: nobody knows it */
	struct str as_receivers[NAMES];
	size_t name_count;
};

/* --- Reading --- */

static struct hop *hop_of(const struct look *l, uint64_t num)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->hops[middle].link.num < num)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->count && l->hops[low].link.num == num ? &l->hops[low] : NULL;
}

static void note_links(struct look *l, const struct envelope_link *links, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		/* A parent is always older. */
		const struct hop *parent = hop_of(l, links[i].parent);

		l->hops[l->count++] = (struct hop){
			.link = links[i], .is_behind = links[i].parent == l->from || (parent && parent->is_behind)};
	}
}

static enum store_status read_links(struct look *l, struct str task)
{
	struct envelope_link *links = arena_calloc(l->op->arena, CHUNK, sizeof(*links));
	enum store_status status = STORE_OK;
	size_t cap = 0, got = CHUNK;
	uint64_t after = l->from;

	while (status == STORE_OK && got == CHUNK) {
		status = store_task_links(l->c, l->op->space, task, after, CHUNK, links, &got);
		if (status != STORE_OK || got == 0)
			break;
		if (l->count + got > cap) {
			struct hop *more = arena_calloc(l->op->arena, cap * 2 + CHUNK, sizeof(*more));

			if (l->count)
				memcpy(more, l->hops, l->count * sizeof(*more));
			l->hops = more;
			cap = cap * 2 + CHUNK;
		}
		note_links(l, links, got);
		after = links[got - 1].num;
	}
	return status;
}

static enum problem_code read_hop(struct look *l, struct hop *h)
{
	struct envelope *e = arena_alloc(l->op->arena, sizeof(*e));
	struct envelope_row row;
	enum store_status status;
	enum problem_code code;

	if (h->envelope)
		return P_OK;
	status = store_envelope_get(l->c, l->op->space, h->link.num, l->op->arena, &row);
	code = status == STORE_OK ? unpack_skeleton(&row, l->op->arena, e, &l->op->problem) : op_stored(l->op, status);
	if (code == P_OK)
		h->envelope = e;
	return code;
}

/* --- Who was given what --- */

/* `"to":"name"`, as a stored envelope says it. */
static struct str as_receiver(struct arena *arena, struct str name)
{
	struct json text = {.type = JSON_STRING, .s = name};
	struct str value = json_canonical(&text, 6 * name.n + 2, arena);

	return arena_printf(arena, "\"to\":%.*s", STR_ARG(value));
}

static void note_name(struct look *l, struct str name)
{
	if (name.p == NULL || (l->name_count && str_eq(l->names[0], name)))
		return;
	if (store_agent_id(l->c, l->op->space, name, false, 0, &l->ids[l->name_count]) != STORE_OK)
		l->ids[l->name_count] = 0;
	l->as_receivers[l->name_count] = as_receiver(l->op->arena, name);
	l->names[l->name_count++] = name;
}

/* Has the sender taken it? Most envelopes were sent to one agent. *ret_is_sent: it was sent to somebody. */
static enum store_status was_taken(struct look *l, uint64_t num, struct arena *arena, bool *ret, bool *ret_is_sent)
{
	struct handoff_filter filter = {.space = l->op->space, .envelope = num};
	struct handoff_row rows[2];
	size_t count = 0;
	enum store_status status = store_handoffs(l->c, &filter, 0, 2, arena, rows, &count);

	*ret = false;
	*ret_is_sent = count > 0;
	for (size_t i = 0; i < l->name_count && status == STORE_OK && count && !*ret; i++) {
		filter.agent = l->ids[i];
		if (count == 2 && filter.agent)
			status = store_handoffs(l->c, &filter, 0, 1, arena, rows, &(size_t){0});
		*ret = status == STORE_OK && filter.agent && rows[0].agent == filter.agent && rows[0].leases > 0;
	}
	return status;
}

/* One that was never sent was handed over in another way: to whom it names. The text is looked at first, most are not
 * for the sender. */
static enum problem_code is_addressed(struct look *l, struct hop *h, struct arena *arena, bool *ret)
{
	struct envelope_row row;
	enum store_status status = store_envelope_get(l->c, l->op->space, h->link.num, arena, &row);
	enum problem_code code = op_stored(l->op, status);
	bool may_be = false;

	for (size_t i = 0; code == P_OK && i < l->name_count; i++)
		may_be |= memmem(row.body.p, row.body.n, l->as_receivers[i].p, l->as_receivers[i].n) != NULL;
	if (!may_be)
		return code;
	code = read_hop(l, h);
	for (size_t i = 0; code == P_OK && i < l->name_count; i++)
		*ret |= str_eq(h->envelope->to, l->names[i]);
	return code;
}

static enum problem_code was_given(struct look *l, struct hop *h, bool *ret)
{
	struct arena arena;	/* there may be thousands of them */
	bool is_sent;
	enum problem_code code;

	arena_init(&arena);
	code = op_stored(l->op, was_taken(l, h->link.num, &arena, ret, &is_sent));
	if (code == P_OK && !is_sent)
		code = is_addressed(l, h, &arena, ret);
	arena_release(&arena);
	return code;
}

/* From it up to the child of the one in question. */
static enum problem_code read_line(struct look *l, struct hop *h, struct given_line *ret)
{
	const struct envelope **hops = arena_calloc(l->op->arena, PACK_HOPS_MAX, sizeof(struct envelope *));
	enum problem_code code = P_OK;

	*ret = (struct given_line){.hops = hops};
	for (; code == P_OK && h && ret->count < PACK_HOPS_MAX; h = hop_of(l, h->link.parent)) {
		code = read_hop(l, h);
		if (code == P_OK)
			hops[ret->count++] = h->envelope;
		h->is_passed = true;
	}
	return code;
}

static enum problem_code find_lines(struct look *l, struct given_line *lines, size_t *ret_count)
{
	enum problem_code code = P_OK;
	bool is_given;

	*ret_count = 0;
	for (size_t i = l->count; code == P_OK && i > 0; i--) {
		struct hop *h = &l->hops[i - 1];

		if (!h->is_behind || h->is_passed)
			continue;
		code = was_given(l, h, &is_given);
		if (code == P_OK && is_given)
			code = read_line(l, h, &lines[(*ret_count)++]);
	}
	return code;
}

/* --- What holds --- */

static void warn(struct op *op, const struct given_constraints *g, const struct envelope *before)
{
	for (size_t i = 0; i < g->added_count; i++) {
		unsigned long long num = g->added_by[i];

		op_warn(op, "constraint_holds", arena_printf(op->arena, "constraints.%.*s", STR_ARG(g->added[i]->key)),
			arena_printf(op->arena, "env-%llu, which you were given, goes on from env-%llu and has this "
				     "constraint: it holds here, too. Go on from env-%llu, or waive it with a reason",
				     num, (unsigned long long)before->num, num));
	}
}

enum problem_code later_hops_hold(struct op *op, struct store_conn *c, const struct packing *p,
				  const struct envelope *parent, const struct envelope *before,
				  const struct given_constraints **ret)
{
	struct look l = {.op = op, .c = c, .from = parent ? parent->num : before->num};
	struct given_input in = {.before = before, .senders = l.names,
				 .waive = p->draft.waive.type == JSON_ARRAY ? &p->draft.waive : NULL};
	struct given_constraints *given;
	struct given_line *lines;
	enum problem_code code;

	*ret = NULL;
	note_name(&l, p->draft.from);
	note_name(&l, op->agent);
	code = l.name_count ? op_stored(op, read_links(&l, before->task)) : P_OK;
	if (code != P_OK || l.count == 0)
		return code;
	lines = arena_calloc(op->arena, l.count, sizeof(*lines));
	code = find_lines(&l, lines, &in.line_count);
	if (code != P_OK || in.line_count == 0)
		return code;
	in.lines = lines;
	in.sender_count = l.name_count;
	given = arena_alloc(op->arena, sizeof(*given));
	code = constraints_given(&in, op->arena, given, &op->problem);
	if (code == P_OK) {
		warn(op, given, before);
		*ret = given;
	}
	return code;
}
