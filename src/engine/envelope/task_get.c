#include "engine/envelope/task_get.h"

#include "core/envelope/unpack.h"
#include "engine/access/party.h"
#include "engine/envelope/task.h"

/* Of a body that is parsed: as long as reading a row takes. */
enum { ROW_BYTES = 1024 };

static enum problem_code read_newest(struct op *op, struct store_conn *c, struct task_get *t)
{
	struct envelope_row row;
	enum store_status status = STORE_NOT_FOUND;

	if (op->space)
		status = store_task_last(c, op->space, t->task, op->arena, &row);
	if (status == STORE_NOT_FOUND)
		return task_unknown(op, t->task);
	if (status != STORE_OK)
		return op_stored(op, status);
	return unpack_skeleton(&row, op->arena, &t->newest, &op->problem);
}

static enum problem_code read_task(struct op *op, struct store_conn *c)
{
	struct task_get *t = (struct task_get *)op;
	struct envelope_row *rows = arena_calloc(op->arena, t->page.size + 1, sizeof(*rows));
	enum problem_code code = party_check_task(op, c, t->task);
	size_t count = 0, bytes = 0;

	if (code == P_OK)
		code = read_newest(op, c, t);
	if (code == P_OK)
		code = task_page(op, c, t->task, &t->page, rows, &count, &t->page.has_more);
	for (size_t i = 0; i < count; i++)
		bytes += rows[i].body.n;
	if (code != P_OK || op_is_too_long(op, bytes / ROW_BYTES))
		return code;
	t->page.next = count ? rows[count - 1].num : 0;
	t->envelopes = arena_calloc(op->arena, count, sizeof(*t->envelopes));
	for (; code == P_OK && t->count < count; t->count++)
		code = unpack_skeleton(&rows[t->count], op->arena, &t->envelopes[t->count], &op->problem);
	return code == P_OK ? task_pruned(op, c, t->envelopes, t->count, &t->is_pruned) : code;
}

/* What persons have waived is told beside the envelopes: until the next hop no envelope has it. */
static enum problem_code read_with_waivers(struct op *op, struct store_conn *c)
{
	struct task_get *t = (struct task_get *)op;
	enum problem_code code = read_task(op, c);

	if (code != P_OK || op->aside.is_wanted)
		return code;
	t->waivers = arena_calloc(op->arena, TASK_WAIVERS_MAX, sizeof(*t->waivers));
	return op_stored(op, store_waivers(c, op->space, t->task, TASK_WAIVERS_MAX, op->arena, t->waivers,
					   &t->waiver_count));
}

/* --- Fidelity --- */

/* Envelopes to compare with that are not on the page. */
struct others {
	struct envelope *list;
	size_t count;
};

static const struct envelope *find(const struct envelope *list, size_t count, uint64_t num)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].num == num)
			return &list[i];
	return NULL;
}

/* NULL in *ret where there is none, or it is gone. */
static enum problem_code find_other(struct op *op, struct store_conn *c, struct others *others, uint64_t num,
				    const struct envelope **ret)
{
	const struct task_get *t = (const struct task_get *)op;
	struct envelope *e = &others->list[others->count];
	struct envelope_row row;
	enum store_status status;
	enum problem_code code;

	*ret = num ? find(t->envelopes, t->count, num) : NULL;
	if (*ret == NULL && num)
		*ret = find(others->list, others->count, num);
	if (*ret || num == 0)
		return P_OK;
	status = store_envelope_get(c, op->space, num, op->arena, &row);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
	code = unpack_skeleton(&row, op->arena, e, &op->problem);
	if (code == P_OK) {
		others->count++;
		*ret = e;
	}
	return code;
}

static const struct task_score *score_of(struct op *op, const struct envelope *root, const struct envelope *e)
{
	struct task_score *score = arena_alloc(op->arena, sizeof(*score));
	struct fidelity f;
	size_t total = 0, kept = 0;

	fidelity_compare(root, e, op->arena, &f);
	for (size_t i = 0; i < f.count; i++) {
		const struct fidelity_item *item = &f.items[i];

		if ((item->kind != KIND_INTENT && item->kind != KIND_CONSTRAINT) || item->fate == FATE_ADDED)
			continue;
		total++;
		kept += item->fate == FATE_KEPT || item->fate == FATE_NARROWED;
	}
	*score = (struct task_score){f.score, fidelity_score(kept, total)};
	return score;
}

/* A second root is told as what it is, and compared with the first envelope of the task. */
static enum problem_code read_hop(struct op *op, struct store_conn *c, struct others *others, const struct envelope *e,
				  uint64_t first, struct task_hop *ret)
{
	const struct envelope *parent, *root = NULL;
	enum problem_code code = find_other(op, c, others, e->parent, &parent);
	struct fidelity *kept;

	ret->envelope = e;
	ret->is_new_root = e->parent == 0 && e->num != first;
	if (code == P_OK)
		code = find_other(op, c, others, ret->is_new_root ? first : e->root, &root);
	if (code == P_OK && ret->is_new_root && root)
		ret->of_root = score_of(op, root, e);
	ret->is_pruned = (e->parent && parent == NULL) || (e->root && e->root != e->num && root == NULL);
	if (code != P_OK || parent == NULL)
		return code;
	kept = arena_alloc(op->arena, sizeof(*kept));
	fidelity_compare(parent, e, op->arena, kept);
	ret->kept = kept;
	if (root)
		ret->of_root = score_of(op, root, e);
	return P_OK;
}

/* What began the task: all that it has is measured by that, whatever chain it is in. */
static enum problem_code find_first(struct op *op, struct store_conn *c, struct str task, uint64_t *ret)
{
	struct envelope_link link = {0};
	size_t count = 0;
	enum store_status status = store_task_links(c, op->space, task, 0, 1, &link, &count);

	*ret = link.num;
	return op_stored(op, status);
}

static enum problem_code read_fidelity(struct op *op, struct store_conn *c)
{
	struct task_fidelity *f = (struct task_fidelity *)op;
	struct task_get *t = &f->task;
	enum problem_code code = read_task(op, c);
	const struct envelope *root = NULL;
	struct others others = {arena_calloc(op->arena, 2 * t->count + 1, sizeof(*others.list)), 0};
	uint64_t first = 0;

	if (code == P_OK)
		code = find_first(op, c, t->task, &first);
	f->hops = arena_calloc(op->arena, t->count, sizeof(*f->hops));
	for (size_t i = 0; code == P_OK && i < t->count; i++)
		code = read_hop(op, c, &others, &t->envelopes[i], first, &f->hops[i]);
	if (code == P_OK)
		code = find_other(op, c, &others, first, &root);
	if (root)
		f->score = score_of(op, root, &t->newest);
	return code;
}

const struct op_kind task_get_kind = {.name = "task_get", .size = sizeof(struct task_get), .read = read_with_waivers};
const struct op_kind task_fidelity_kind = {
	.name = "task_fidelity", .size = sizeof(struct task_fidelity), .flags = OP_ASIDE, .read = read_fidelity,
};
