#include "engine/envelope/pack.h"

#include "codec/sha256.h"
#include "core/delivery/agent.h"
#include "core/delivery/loop.h"
#include "core/envelope/render.h"
#include "core/envelope/repack.h"
#include "core/delivery/route_rule.h"
#include "core/envelope/unpack.h"
#include "engine/engine.h"
#include "engine/envelope/beginning.h"
#include "engine/waiting.h"

/* The usual ones, for a dry run. */
static const int64_t dry_budgets[] = {2000, 4000, 8000};

static enum problem_code find_tokenizer(struct op *op, const struct packing *p, const struct agent *agent,
					const struct tokenizer **ret)
{
	struct str name = p->tokenizer.p    ? p->tokenizer
			  : agent->tokenizer.p ? agent->tokenizer
					       : STR(TOKENIZER_DEFAULT);

	*ret = tokenizer_find(name);
	if (*ret)
		return P_OK;
	return problem_set(&op->problem, P_UNKNOWN_TOKENIZER, "tokenizer",
			   "there is no tokenizer \"%.*s\"; expected one of o200k_base, cl100k_base, estimate",
			   STR_ARG(name));
}

/* What the usual budgets would lose. A budget that is too small is an answer, too. */
static void run_dry(const struct assemble_tools *tools, const struct assemble_input *base, struct packing *p)
{
	struct envelope_draft draft = *base->draft;
	struct assemble_input in = *base;
	struct json_member *members = arena_calloc(tools->arena, draft.constraints.count + 1, sizeof(*members));
	uint32_t count = 0;

	for (uint32_t i = 0; i < draft.constraints.count; i++)
		if (!str_is(draft.constraints.members[i].key, "max_tokens"))
			members[count++] = draft.constraints.members[i];
	draft.constraints = (struct json){.type = JSON_OBJECT, .count = count, .members = members};
	in.draft = &draft;
	p->dry_count = sizeof(dry_budgets) / sizeof(dry_budgets[0]);
	p->dry = arena_calloc(tools->arena, p->dry_count, sizeof(*p->dry));
	for (size_t i = 0; i < p->dry_count; i++) {
		struct pack_dry *d = &p->dry[i];

		d->max_tokens = in.max_tokens = dry_budgets[i];
		assemble(tools, &in, &d->envelope, &d->problem);
		d->fits = d->problem.code == P_OK;
		d->refusal = d->fits ? NULL : &d->problem;
	}
}

/* The chain ends here, for a person to look at: parking its last envelope must be written, so it is not the reply yet.
 * That the guard has found something is written, too. */
static enum problem_code refuse_later(struct op *op, struct packing *p, enum problem_code code)
{
	bool ends_chain = (code == P_HOP_LIMIT || code == P_LOOP) && p->parent != 0;

	if ((!ends_chain && code != P_CREDENTIALS_FOUND) || p->dry_run)
		return code;
	p->refusal = op->problem;
	op->problem = (struct problem){0};
	return P_OK;
}

static enum problem_code find_next_agent(struct op *op, struct store_conn *c, struct packing *p,
					const struct envelope *parent)
{
	struct envelope_draft *draft = &p->draft;

	if (!str_is(draft->to, ROUTE_RULE_NEXT))
		return P_OK;
	return route_rule_find(c, op->space, draft, parent, op->arena, &draft->to, &op->problem);
}

/* Written here and not by the writer, which has enough to do. */
static enum problem_code pack_now(struct op *op, struct store_conn *c, struct packing *p, struct assemble_input *in)
{
	struct assemble_tools tools = {op->engine->recall, op->reader->scratch, c,
				       op->arena, op->engine->tokens};
	enum problem_code code;
	enum store_status status;

	/* A dry run counts with the number that it would get, so that its figures are those of the handoff itself. */
	status = p->dry_run ? envelope_numbers_peek(op->engine->numbers, c, op->space_name, op->space, &in->num)
			       : envelope_numbers_next(op->engine->numbers, c, op->space_name, op->space, &in->num);
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	in->new_task = arena_printf(op->arena, "task-%llu", (unsigned long long)in->num);
	code = assemble(&tools, in, &p->envelope, &op->problem);
	if (code == P_OK && in->parent)
		code = loop_check(c, op->space, &p->envelope, in->parent, op->arena, &op->problem);
	if (code == P_OK)
		p->considered = considered_record(&p->envelope, &p->draft, op->arena);
	if (code == P_OK && p->dry_run) {
		considered_read(c, op->space, &p->envelope, p->considered, op->arena, &p->dry_considered);
		run_dry(&tools, in, p);
		p->envelope.num = 0;
		p->envelope.root = in->parent ? p->envelope.root : 0;
	}
	/* Where no text can go missing, the envelope's own digest can always be checked. */
	p->has_texts = code == P_OK && p->envelope.skeleton.n < p->envelope.sealed.n;
	if (p->has_texts)
		sha256(p->envelope.skeleton, p->body_digest);
	return refuse_later(op, p, code);
}

/* An envelope that is only supposed to be the parent may be gone, or be of another server: then this is a root. */
static enum problem_code find_parent(struct op *op, struct store_conn *c, struct packing *p, struct envelope *ret)
{
	char digest[ENVELOPE_DIGEST_SIZE];
	enum problem_code code = unpack(c, op->space, p->parent, "parent", op->arena, ret, &op->problem);
	bool is_supposed = p->parent_digest.p != NULL;

	if (code == P_OK)
		envelope_digest_format(ret->digest, digest);
	if (is_supposed && (code == P_ENVELOPE_NOT_FOUND ||
			    (code == P_OK && !str_is(p->parent_digest, digest)))) {
		p->parent = 0;
		op->problem = (struct problem){0};
		return P_OK;
	}
	if (code == P_OK && p->is_v1 && p->draft.state.p)
		p->draft.state = repack_context(p->draft.state, ret, op->arena);
	return code;
}

enum problem_code pack_prepare(struct op *op, struct store_conn *c, struct packing *p)
{
	struct assemble_input in = {
		.draft = &p->draft, .space = op->space, .space_name = op->space_name, .coming = p->coming,
		.now_ms = op->now_ms};
	struct envelope parent;
	struct agent agent;
	int64_t guard = 0;
	enum store_status status = op->space ? store_space_guard(c, op->space, &guard) : STORE_OK;
	enum problem_code code = status == STORE_OK ? P_OK : problem_of_store(&op->problem, status);

	if (code == P_OK && p->parent)
		code = find_parent(op, c, p, &parent);
	in.parent = p->parent ? &parent : NULL;
	if (code == P_OK)
		code = find_next_agent(op, c, p, in.parent);
	if (code == P_OK)
		code = agent_read(c, op->space, p->draft.to, op->arena, &agent, &op->problem);
	if (code == P_OK)
		code = find_tokenizer(op, p, &agent, &in.tokenizer);
	if (code != P_OK)
		return code;
	in.max_tokens = agent.max_tokens;
	p->has_agent_budget = agent.max_tokens != 0;
	in.fetch_hint = agent.fetch_hint;
	in.policy = (enum redact_policy)guard;
	return pack_now(op, c, p, &in);
}

static enum problem_code park_parent(struct op *op, struct store_conn *c, struct packing *p)
{
	struct delivery d = waiting_delivery(op, c);
	struct envelope_row row;
	struct envelope parent;
	struct handoff_row parked = {0};
	enum problem_code code = unpack_find(c, op->space, p->parent, "parent", op->arena, &row, &op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, &parent, &op->problem);
	if (code == P_OK)
		code = delivery_park(&d, p->parent, parent.to, parent.from, str_of(p->refusal.detail), true, &parked,
				     &op->problem);
	/* Everything of it is done already: the refusal stands all the same. */
	if (code != P_OK && code != P_ALREADY_SETTLED)
		return code;
	op->problem = p->refusal;
	op->problem.handoff = parked.num;
	return op->problem.code;
}

/* Without the value, as everywhere. */
static enum problem_code note_refusal(struct op *op, struct store_conn *c, struct packing *p)
{
	struct event_row event = {
		.space = op->space,
		.at_ms = op->now_ms,
		.kind = EVENT_ENVELOPE_REFUSED,
		.agent = p->draft.to,
		.actor = p->draft.from.p ? p->draft.from : op->agent,
		.note = arena_printf(op->arena, "credentials_found: %s", p->refusal.field),
	};
	enum store_status status = store_event_add(c, &event);

	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	op->problem = p->refusal;
	return op->problem.code;
}

enum problem_code pack_write(struct op *op, struct store_conn *c, struct packing *p)
{
	const struct envelope *e = &p->envelope;
	bool is_chosen = p->has_agent_budget || json_get(&e->constraints, "max_tokens");
	struct envelope_row row = {
		.space = op->space,
		.num = e->num,
		.task = e->task,
		.parent = e->parent,
		.hop = e->hop,
		.created_at_ms = e->created_at_ms,
		.body = e->skeleton,
		.considered = p->considered,
		.intent = beginning_of(op->arena, e->intent),
		.summary = beginning_of(op->arena, e->summary),
		.tokens = e->token_count,
		.has_body_digest = p->has_texts,
	};
	uint64_t *nums;
	enum store_status status;

	if (p->refusal.code == P_CREDENTIALS_FOUND)
		return note_refusal(op, c, p);
	if (p->refusal.code != P_OK)
		return park_parent(op, c, p);
	nums = arena_calloc(op->arena, e->ref_count, sizeof(*nums));
	op->shown = nums;
	op->shown_count = 0;
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].text.p)
			nums[op->shown_count++] = e->refs[i].id.num;
	row.texts = (int64_t)op->shown_count;
	memcpy(row.digest, e->digest, sizeof(row.digest));
	memcpy(row.body_digest, p->body_digest, sizeof(row.body_digest));
	status = store_envelope_insert(c, &row);
	op->told = (struct event_row){
		.kind = EVENT_ENVELOPE_PACKED,
		.envelope = e->num,
		.attempt = e->hop,
		.agent = e->to,
		.actor = e->from,
		.value = {e->requested ? (double)e->resolved / (double)e->requested : 1,
			  (is_chosen ? 1.0 : -1.0) * (double)e->token_count / (double)e->max_tokens},
		.note = e->waived.count ? arena_printf(op->arena, "%u", e->waived.count) : STR_NULL,
	};
	if (status == STORE_EXISTS)
		return problem_set(&op->problem, P_INTERNAL, NULL, "env-%llu is taken; this should not happen",
				   (unsigned long long)e->num);
	return op_stored(op, status);
}

/* --- The operation --- */

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct packing *p = &((struct pack *)op)->packing;
	enum problem_code code = pack_prepare(op, c, p);

	op->is_answered = p->dry_run;
	return code;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	return pack_write(op, c, &((struct pack *)op)->packing);
}

const struct op_kind pack_kind = {
	.name = "pack", .size = sizeof(struct pack), .flags = OP_CREATES | OP_INDEX, .prepare = prepare, .run = run,
};
