#include "engine/memory/reach.h"

#include "core/envelope/unpack.h"

enum { HANDOFFS_MAX = 1000, RECEIPTS_MAX = 1000 };

struct search {
	struct op *op;
	struct store_conn *c;
	const uint64_t *nums;
	size_t count;
	struct reach *reach;
};

static bool is_asked_for(const struct search *s, uint64_t num)
{
	size_t from = 0, to = s->count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->nums[mid] == num)
			return true;
		if (s->nums[mid] < num)
			from = mid + 1;
		else
			to = mid;
	}
	return false;
}

/* NULL where there is no room for another one. */
static struct reach_agent *agent_named(struct search *s, struct str name)
{
	struct reach *r = s->reach;

	for (size_t i = 0; i < r->agent_count; i++)
		if (str_eq(r->agents[i].name, name))
			return &r->agents[i];
	if (r->agent_count == REACH_AGENTS_MAX)
		return NULL;
	r->agents[r->agent_count] = (struct reach_agent){.name = arena_str(s->op->arena, name)};
	return &r->agents[r->agent_count++];
}

static enum store_status note_handoffs(struct search *s, uint64_t envelope, struct arena *arena)
{
	struct handoff_filter filter = {.space = s->op->space, .envelope = envelope};
	struct handoff_row *rows = arena_calloc(arena, HANDOFFS_MAX, sizeof(*rows));
	size_t count = 0;
	enum store_status status = store_handoffs(s->c, &filter, 0, HANDOFFS_MAX, arena, rows, &count);

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		bool waits = rows[i].state == HANDOFF_QUEUED || rows[i].state == HANDOFF_DELAYED;
		struct reach_agent *agent;

		if (rows[i].leases == 0 && !waits)
			continue;
		agent = agent_named(s, rows[i].agent_name);
		if (agent == NULL)
			continue;
		agent->delivered += rows[i].leases > 0;
		agent->waiting += waits;
	}
	return status;
}

static enum store_status note_receipts(struct search *s, uint64_t envelope, struct arena *arena)
{
	struct receipt_row *rows = arena_calloc(arena, RECEIPTS_MAX, sizeof(*rows));
	size_t count = 0;
	enum store_status status =
		store_receipts(s->c, s->op->space, envelope, RECEIPTS_MAX, arena, rows, &count);

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		struct reach_agent *agent = is_asked_for(s, rows[i].memory) ? agent_named(s, rows[i].agent) : NULL;

		if (agent)
			agent->opened++;
	}
	return status;
}

static void note_envelope(struct search *s, const struct envelope *e, int64_t memories)
{
	struct arena *arena = s->op->arena;
	struct reach *r = s->reach;

	if (r->envelopes_total++ < REACH_ENVELOPES_MAX)
		r->envelopes[r->envelope_count++] = (struct reach_envelope){
			e->num, arena_str(arena, e->task), e->from.p ? arena_str(arena, e->from) : STR_NULL,
			arena_str(arena, e->to), e->created_at_ms, memories,
		};
}

/* One that is damaged refers to nothing that could be known. */
static enum store_status look_at(struct search *s, uint64_t num, struct arena *arena)
{
	struct problem problem = {0};
	struct envelope_row row;
	struct envelope e;
	int64_t memories = 0;
	enum store_status status = store_envelope_get(s->c, s->op->space, num, arena, &row);

	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	if (unpack_skeleton(&row, arena, &e, &problem) != P_OK)
		return STORE_OK;
	for (size_t i = 0; i < e.ref_count; i++)
		memories += is_asked_for(s, e.refs[i].id.num);
	if (memories) {
		note_envelope(s, &e, memories);
		status = note_handoffs(s, num, arena);
	}
	return status == STORE_OK ? note_receipts(s, num, arena) : status;
}

enum problem_code reach_find(struct op *op, struct store_conn *c, const uint64_t *nums, size_t count,
			     struct reach *ret)
{
	struct search s = {op, c, nums, count, ret};
	enum store_status status;
	struct space_row space;
	struct arena arena;
	uint64_t num = 0;

	*ret = (struct reach){
		.envelopes = arena_calloc(op->arena, REACH_ENVELOPES_MAX, sizeof(*ret->envelopes)),
		.agents = arena_calloc(op->arena, REACH_AGENTS_MAX, sizeof(*ret->agents)),
	};
	status = store_space_get(c, op->space, op->arena, &space);
	if (status == STORE_OK) {
		ret->handoffs_pruned = space.handoffs_pruned;
		status = store_envelope_next(c, op->space, 0, &num);
	}
	arena_init(&arena);
	while (status == STORE_OK && count && num) {
		status = look_at(&s, num, &arena);
		arena_release(&arena);
		if (status == STORE_OK)
			status = store_envelope_next(c, op->space, num, &num);
	}
	return op_stored(op, status);
}
