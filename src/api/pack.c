#include "api/pack.h"

#include "codec/sha256.h"
#include "core/delivery/agent.h"
#include "core/delivery/loop.h"
#include "core/envelope/render.h"
#include "core/envelope/repack.h"
#include "core/delivery/successor.h"
#include "core/envelope/unpack.h"

const int64_t pack_dry_budgets[PACK_DRY_RUNS] = {2000, 4000, 8000};

enum problem_code pack_decode(struct call *call, const struct json *body, struct pack *ret)
{
	return envelope_decode(call, body, &ret->in);
}

static enum problem_code find_tokenizer(struct call *call, const struct pack *p, const struct agent *agent,
					const struct tokenizer **ret)
{
	struct str name = p->in.tokenizer.p    ? p->in.tokenizer
			  : agent->tokenizer.p ? agent->tokenizer
					       : STR(TOKENIZER_DEFAULT);

	*ret = tokenizer_find(name);
	if (*ret)
		return P_OK;
	return problem_set(&call->op->problem, P_UNKNOWN_TOKENIZER, "tokenizer",
			   "there is no tokenizer \"%.*s\"; expected one of o200k_base, cl100k_base, estimate",
			   STR_ARG(name));
}

/* What the usual budgets would lose. A budget that is too small is an answer, too. */
static void run_dry(const struct assemble_tools *tools, const struct assemble_input *base, struct pack *p)
{
	struct handoff_draft draft = *base->draft;
	struct assemble_input in = *base;
	struct json_member *members = arena_calloc(tools->arena, draft.constraints.count + 1, sizeof(*members));
	uint32_t count = 0;

	for (uint32_t i = 0; i < draft.constraints.count; i++)
		if (!str_is(draft.constraints.members[i].key, "max_tokens"))
			members[count++] = draft.constraints.members[i];
	draft.constraints = (struct json){.type = JSON_OBJECT, .count = count, .members = members};
	in.draft = &draft;
	for (size_t i = 0; i < PACK_DRY_RUNS; i++) {
		in.max_tokens = pack_dry_budgets[i];
		assemble(tools, &in, &p->dry[i].envelope, &p->dry[i].problem);
	}
}

/* The chain ends here, for a person to look at: parking its last envelope must be written, so it is not the reply yet.
 * That the guard has found something is written, too. */
static enum problem_code refuse_later(struct call *call, struct pack *p, enum problem_code code)
{
	bool ends_chain = (code == P_HOP_LIMIT || code == P_LOOP) && p->in.parent != 0;

	if ((!ends_chain && code != P_CREDENTIALS_FOUND) || p->in.dry_run)
		return code;
	p->refusal = call->op->problem;
	call->op->problem = (struct problem){0};
	return P_OK;
}

static enum problem_code find_successor(struct call *call, struct store_conn *c, struct pack *p,
					const struct envelope *parent)
{
	struct handoff_draft *draft = &p->in.draft;

	if (!str_is(draft->to, SUCCESSOR_NEXT))
		return P_OK;
	return successor_find(c, call->op->space, draft, parent, call->op->arena, &draft->to, &call->op->problem);
}

/* Written here and not by the writer, which has enough to do. */
static enum problem_code pack_now(struct call *call, struct store_conn *c, struct pack *p, struct assemble_input *in)
{
	struct assemble_tools tools = {call->api->engine->recall, call->op->reader->scratch, c,
				       call->op->arena, call->api->engine->tokens};
	enum problem_code code;
	enum store_status status;

	/* A dry run counts with the number that it would get, so that its figures are those of the handoff itself. */
	status = p->in.dry_run ? numbers_peek(call->api->engine->numbers, c, call->op->space_name, call->op->space, &in->num)
			       : numbers_next(call->api->engine->numbers, c, call->op->space_name, call->op->space, &in->num);
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	in->new_task = arena_printf(call->op->arena, "task-%llu", (unsigned long long)in->num);
	code = assemble(&tools, in, &p->envelope, &call->op->problem);
	if (code == P_OK && in->parent)
		code = loop_check(c, call->op->space, &p->envelope, in->parent, call->op->arena, &call->op->problem);
	if (code == P_OK)
		p->considered = considered_record(&p->envelope, &p->in.draft, call->op->arena);
	if (code == P_OK && p->in.dry_run) {
		considered_read(c, call->op->space, &p->envelope, p->considered, call->op->arena, &p->dry_considered);
		run_dry(&tools, in, p);
		p->envelope.num = 0;
		p->envelope.root = in->parent ? p->envelope.root : 0;
	}
	/* Where no text can go missing, the envelope's own digest can always be checked. */
	p->has_texts = code == P_OK && p->envelope.skeleton.n < p->envelope.sealed.n;
	if (p->has_texts)
		sha256(p->envelope.skeleton, p->body_digest);
	return refuse_later(call, p, code);
}

/* An envelope that is only supposed to be the parent may be gone, or be of another server: then this is a root. */
static enum problem_code find_parent(struct call *call, struct store_conn *c, struct pack *p, struct envelope *ret)
{
	struct handoff_input *in = &p->in;
	char digest[ENVELOPE_DIGEST_SIZE];
	enum problem_code code = unpack(c, call->op->space, in->parent, "parent", call->op->arena, ret, &call->op->problem);
	bool is_supposed = in->parent_digest.p != NULL;

	if (code == P_OK)
		envelope_digest_format(ret->digest, digest);
	if (is_supposed && (code == P_ENVELOPE_NOT_FOUND ||
			    (code == P_OK && !str_is(in->parent_digest, digest)))) {
		in->parent = 0;
		call->op->problem = (struct problem){0};
		return P_OK;
	}
	if (code == P_OK && in->is_v1 && in->draft.state.p)
		in->draft.state = repack_context(in->draft.state, ret, call->op->arena);
	return code;
}

enum problem_code pack_prepare(struct call *call, struct store_conn *c, struct pack *p)
{
	struct assemble_input in = {
		.draft = &p->in.draft, .space = call->op->space, .space_name = call->op->space_name, .now_ms = call->op->now_ms};
	struct envelope parent;
	struct agent agent;
	int64_t guard = 0;
	enum store_status status = call->op->space ? store_space_guard(c, call->op->space, &guard) : STORE_OK;
	enum problem_code code = status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);

	if (code == P_OK && p->in.parent)
		code = find_parent(call, c, p, &parent);
	in.parent = p->in.parent ? &parent : NULL;
	if (code == P_OK)
		code = find_successor(call, c, p, in.parent);
	if (code == P_OK)
		code = agent_read(c, call->op->space, p->in.draft.to, call->op->arena, &agent, &call->op->problem);
	if (code == P_OK)
		code = find_tokenizer(call, p, &agent, &in.tokenizer);
	if (code != P_OK)
		return code;
	in.max_tokens = agent.max_tokens;
	in.fetch_hint = agent.fetch_hint;
	in.policy = (enum redact_policy)guard;
	return pack_now(call, c, p, &in);
}

static enum problem_code park_parent(struct call *call, struct store_conn *c, struct pack *p)
{
	struct delivery d = waiting_delivery(call->op, c);
	struct envelope_row row;
	struct envelope parent;
	struct handoff_row parked = {0};
	enum problem_code code = unpack_find(c, call->op->space, p->in.parent, "parent", call->op->arena, &row, &call->op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, call->op->arena, &parent, &call->op->problem);
	if (code == P_OK)
		code = delivery_park(&d, p->in.parent, parent.to, parent.from, str_of(p->refusal.detail), true, &parked,
				     &call->op->problem);
	/* Everything of it is done already: the refusal stands all the same. */
	if (code != P_OK && code != P_ALREADY_SETTLED)
		return code;
	call->op->problem = p->refusal;
	call->op->problem.handoff = parked.num;
	return call->op->problem.code;
}

/* Without the value, as everywhere. */
static enum problem_code note_refusal(struct call *call, struct store_conn *c, struct pack *p)
{
	struct event_row event = {
		.space = call->op->space,
		.at_ms = call->op->now_ms,
		.kind = EVENT_ENVELOPE_REFUSED,
		.agent = p->in.draft.to,
		.actor = p->in.draft.from.p ? p->in.draft.from : call->op->agent,
		.note = arena_printf(call->op->arena, "credentials_found: %s", p->refusal.field),
	};
	enum store_status status = store_event_add(c, &event);

	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	call->op->problem = p->refusal;
	return call->op->problem.code;
}

enum problem_code pack_write(struct call *call, struct store_conn *c, struct pack *p)
{
	const struct envelope *e = &p->envelope;
	struct envelope_row row = {
		.space = call->op->space,
		.num = e->num,
		.task = e->task,
		.parent = e->parent,
		.hop = e->hop,
		.created_at_ms = e->created_at_ms,
		.body = e->skeleton,
		.considered = p->considered,
		.has_body_digest = p->has_texts,
	};
	uint64_t *nums;
	enum store_status status;

	if (p->refusal.code == P_CREDENTIALS_FOUND)
		return note_refusal(call, c, p);
	if (p->refusal.code != P_OK)
		return park_parent(call, c, p);
	nums = arena_calloc(call->op->arena, e->ref_count, sizeof(*nums));
	call->op->shown = nums;
	call->op->shown_count = 0;
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].text.p)
			nums[call->op->shown_count++] = e->refs[i].id.num;
	row.texts = (int64_t)call->op->shown_count;
	memcpy(row.digest, e->digest, sizeof(row.digest));
	memcpy(row.body_digest, p->body_digest, sizeof(row.body_digest));
	status = store_envelope_insert(c, &row);
	call->op->told = (struct event_row){
		.kind = EVENT_ENVELOPE_PACKED,
		.envelope = e->num,
		.attempt = e->hop,
		.agent = e->to,
		.actor = e->from,
		.value = {e->requested ? (double)e->resolved / (double)e->requested : 1,
			  (double)e->token_count / (double)e->max_tokens},
		.note = e->waived.count ? arena_printf(call->op->arena, "%u", e->waived.count) : STR_NULL,
	};
	if (status == STORE_EXISTS)
		return problem_set(&call->op->problem, P_INTERNAL, NULL, "env-%llu is taken; this should not happen",
				   (unsigned long long)e->num);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}
