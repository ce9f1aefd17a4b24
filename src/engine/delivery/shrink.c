#include "engine/delivery/shrink.h"
#include "engine/said.h"

#include "core/delivery/keeping.h"
#include "core/envelope/repack.h"
#include "core/envelope/unpack.h"
#include "core/memory/mention.h"

static struct json with_member(struct arena *arena, const struct json *object, const char *key, struct json value)
{
	struct json_member *members = arena_calloc(arena, object->count + 1, sizeof(*members));
	uint32_t count = 0;

	for (uint32_t i = 0; i < object->count; i++)
		if (!str_is(object->members[i].key, key))
			members[count++] = object->members[i];
	members[count++] = (struct json_member){str_of(key), value};
	return (struct json){.type = JSON_OBJECT, .count = count, .members = members};
}

static bool is_found(enum envelope_why why)
{
	return why == WHY_RELEVANT || why == WHY_RECENT;
}

/* The memories of an envelope that were found by relevance, or those that were not. */
static void add_memories(struct mention_list *ids, const struct envelope *e, bool found, struct arena *arena)
{
	struct memory_id id;

	for (size_t i = 0; i < e->ref_count; i++)
		if (is_found(e->refs[i].why) == found)
			mention_add(ids, e->refs[i].id, arena);
	for (size_t i = 0; i < e->trim_count; i++)
		if (memory_id_parse(e->trimmed[i].id, &id) && (e->minor > 0 && is_found(e->trimmed[i].why)) == found)
			mention_add(ids, id, arena);
	for (size_t i = 0; !found && i < e->missing_count; i++)
		if (memory_id_parse(e->missing[i].id, &id))
			mention_add(ids, id, arena);
}

/* Every memory that the envelope names, whether it had room for it or not, and whether it was only found. */
static void name_memories(struct op *op, const struct envelope *e, struct envelope_draft *draft)
{
	struct mention_list ids = {0};
	bool *found;
	size_t named;

	add_memories(&ids, e, false, op->arena);
	named = ids.count;
	add_memories(&ids, e, true, op->arena);
	found = arena_calloc(op->arena, ids.count, sizeof(*found));
	for (size_t i = named; i < ids.count; i++)
		found[i] = true;
	draft->refs = ids.ids;
	draft->ref_is_found = found;
	draft->ref_count = ids.count;
}

static void draft_from(struct op *op, const struct envelope *e, int64_t max_tokens, struct packing *p)
{
	struct str id = arena_printf(op->arena, "env-%llu", (unsigned long long)e->num);

	*p = (struct packing){
		.draft = {
			.from = e->from, .to = e->to, .summary = e->summary, .intent = e->intent, .state = e->state,
			.task = e->task,
			.traceparent = e->traceparent, .history = e->history, .expected_output = e->expected_output,
			.open_decisions = e->open_decisions,
			.resolved_decisions = repack_decisions(&e->history, &e->open_decisions, e->from, op->arena),
			.strategy = e->strategy,
			.max_hops = e->max_hops,
			.constraints = with_member(op->arena, &e->constraints, "max_tokens",
						   (struct json){.type = JSON_INT, .i = max_tokens}),
			.extensions = with_member(op->arena, &e->extensions, "shrunk_from",
						  (struct json){.type = JSON_STRING, .s = id}),
		},
		.parent = e->parent,
		.copied = e->num,
		.new_root = e->parent == 0,
		.tokenizer = e->tokenizer,
	};
	name_memories(op, e, &p->draft);
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct shrink *s = (struct shrink *)op;
	struct envelope e;
	enum store_status status = op->space ? store_handoff_get(c, op->space, s->decision.num, op->arena,
								   &s->old) : STORE_NOT_FOUND;
	enum problem_code code;

	if (status == STORE_NOT_FOUND)
		return handoff_missing(c, op->space, s->decision.num, &op->problem);
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	code = unpack(c, op->space, s->old.envelope, "id", op->arena, &e, &op->problem);
	if (code != P_OK)
		return code;
	if (s->max_tokens >= e.max_tokens)
		return problem_set(&op->problem, P_INVALID_FIELD, "max_tokens", "max_tokens is %lld, and the "
				   "envelope's budget is %lld; expected less", (long long)s->max_tokens,
				   (long long)e.max_tokens);
	code = said_guard(op, c, SAID_OF_HANDOFF, s->decision.num, "why", &s->decision.why);
	if (code == P_OK)
		code = said_guard(op, c, SAID_OF_HANDOFF, s->decision.num, "by", &s->decision.by);
	if (code != P_OK)
		return code;
	draft_from(op, &e, s->max_tokens, &s->pack);
	code = pack_prepare(op, c, &s->pack);
	/* The chain may not go on like that: then the old one stays parked, and so does nothing else. */
	if (code == P_OK && s->pack.refusal.code != P_OK) {
		op->problem = s->pack.refusal;
		code = op->problem.code;
	}
	return code;
}

/* What may be refused is asked before anything is written, and the old one is discarded when the new one is there: a
 * refusal leaves it parked, and everything as it was. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct shrink *s = (struct shrink *)op;
	/* The sender is the actor of the second where nobody is named. */
	struct delivery d = decide_delivery(op, c), sending = d;
	struct delivery_order order = {.envelope = s->pack.envelope.num, .is_new = true, .is_forced = true};
	struct delivery_plan plan;
	struct str why = s->decision.why;
	enum problem_code code = delivery_get_parked(&d, s->decision.num, &s->old, &op->problem);

	if (code != P_OK)
		return code;
	order.to = s->old.target_name;
	order.from = s->old.from;
	order.priority = s->old.priority;
	if (why.p == NULL)
		why = arena_printf(op->arena, "shrunk to %lld tokens as env-%llu", (long long)s->max_tokens,
				   (unsigned long long)order.envelope);
	code = delivery_plan(&sending, &order, &plan, &op->problem);
	if (code == P_OK)
		code = pack_write(op, c, &s->pack);
	if (code == P_OK)
		code = delivery_carry_out(&sending, &plan, &s->decision.row, &op->problem);
	return code == P_OK ? delivery_discard(&d, s->old.num, EVENT_SHRUNK, why, &s->old, &op->problem) : code;
}

const struct op_kind shrink_kind = {
	.name = "shrink", .size = sizeof(struct shrink), .flags = OP_CREATES | OP_INDEX, .prepare = prepare, .run = run,
};
