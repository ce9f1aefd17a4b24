#include "core/delivery/loop.h"

#include "core/envelope/assemble.h"
#include "core/envelope/result.h"

static bool same_text(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && (a.p == NULL || str_eq(a, b));
}

static bool has_ref(const struct envelope *e, struct memory_id id)
{
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].id.num == id.num && e->refs[i].id.version >= id.version)
			return true;
	return false;
}

/* Whoever does the same again has brought nothing new, although the result is another memory and another step: those
 * memories are noted. Returns whether there is a step that says more. */
static bool has_new_step(struct store_conn *c, int64_t space, const struct envelope *e, const struct envelope *before,
			 struct arena *arena, struct mention_list *repeated)
{
	bool is_new = e->history.count < before->history.count;

	for (uint32_t i = before->history.count; i < e->history.count; i++) {
		if (past_result_is_repeated(c, space, &e->history, i, e->coming))
			mention_collect(repeated, json_get(&e->history.items[i], "memory_id")->s, arena);
		else
			is_new = true;
	}
	return is_new;
}

/* What was cited for the first time, or made since. That the search finds something else for another summary is no
 * progress. */
static bool has_new_memory(const struct envelope *e, const struct envelope *before, const struct mention_list *repeated)
{
	for (size_t i = 0; i < e->ref_count; i++) {
		const struct envelope_ref *r = &e->refs[i];

		if (mention_has(repeated, (struct memory_id){r->id.num, 0}))
			continue;
		if (!has_ref(before, r->id) && (r->why == WHY_CITED || r->created_at_ms >= before->created_at_ms))
			return true;
	}
	return false;
}

/* An instruction is the same whatever the spaces around it. */
static bool has_progress(struct store_conn *c, int64_t space, const struct envelope *e, const struct envelope *before,
			 struct arena *arena)
{
	struct mention_list repeated = {0};

	return !str_eq(str_trim(e->summary), str_trim(before->summary)) || !same_text(e->state, before->state) ||
	       has_new_step(c, space, e, before, arena, &repeated) || has_new_memory(e, before, &repeated);
}

/* "a -> b -> a": the end of the path, from where the receiver last had it. */
static enum problem_code refuse(const struct envelope *e, int64_t since_hop, struct problem *problem)
{
	uint32_t from = e->path.count > (uint32_t)(e->hop - since_hop) + 2
				? e->path.count - (uint32_t)(e->hop - since_hop) - 2
				: 0;
	struct buf cycle;

	buf_init(&cycle, 4096);
	while (from < e->path.count && !str_eq(e->path.items[from].s, e->to))
		from++;
	for (uint32_t i = from; i < e->path.count; i++)
		buf_printf(&cycle, "%s%.*s", i > from ? " -> " : "", STR_ARG(e->path.items[i].s));
	problem_set(problem, P_LOOP, NULL,
		    "%.200s is a loop: the work comes back with the instruction of hop %lld, the same state, the same "
		    "history and no new memory; say in task_summary what is to be done now, add what was done to "
		    "execution_history, or complete, reject or nack what you hold",
		    cycle.data ? cycle.data : "this", (long long)since_hop);
	buf_release(&cycle);
	return problem->code;
}

enum problem_code loop_check(struct store_conn *c, int64_t space, const struct envelope *e,
			     const struct envelope *parent, struct arena *arena, struct problem *problem)
{
	struct envelope ancestor = *parent;

	for (int hops = 0; hops < PACK_HOPS_MAX; hops++) {
		struct envelope_row row;
		enum store_status status;

		if (((ancestor.from.p && str_eq(ancestor.from, e->to)) || str_eq(ancestor.to, e->to)) &&
		    !has_progress(c, space, e, &ancestor, arena))
			return refuse(e, ancestor.hop, problem);
		if (ancestor.parent == 0)
			return P_OK;
		status = store_envelope_get(c, space, ancestor.parent, arena, &row);
		if (status != STORE_OK || !envelope_read(row.body, arena, &ancestor))
			return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK
									       : problem_of_store(problem, status);
	}
	return P_OK;
}
