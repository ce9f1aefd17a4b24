#include "engine/envelope/pack.h"

#include "codec/sha256.h"
#include "core/access/space_policy.h"
#include "core/delivery/agent.h"
#include "core/delivery/loop.h"
#include "core/envelope/repack.h"
#include "core/envelope/result.h"
#include "core/envelope/steps.h"
#include "core/delivery/route_rule.h"
#include "core/guard/redact.h"
#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/envelope/beginning.h"
#include "engine/envelope/hidden.h"
#include "engine/envelope/later_hops.h"
#include "engine/envelope/lineage.h"
#include "engine/envelope/task.h"

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

/* That it was refused is an event, and so must be written: it is not the reply yet. */
static enum problem_code refuse_later(struct op *op, struct packing *p, enum problem_code code)
{
	if ((code != P_HOP_LIMIT && code != P_LOOP && code != P_CREDENTIALS_FOUND) || p->dry_run)
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

/* The name of a task that has none yet. Somebody may have called one so already: that is looked up where it is the
 * answer, or where the run could not begin anew. Else the run finds out when it writes the task. */
static struct str new_task(struct op *op, struct store_conn *c, const struct packing *p, uint64_t num)
{
	bool looks = op->space && (p->looks_up_task || p->dry_run);
	struct str name = arena_printf(op->arena, "task-%llu", (unsigned long long)num);

	for (int i = 2; looks && i < 1000 && store_task_find(c, op->space, name) == STORE_OK; i++)
		name = arena_printf(op->arena, "task-%llu-%d", (unsigned long long)num, i);
	return name;
}

static bool is_too_much(void *op, size_t bytes)
{
	return op_is_too_much(op, bytes);
}

/* A constraint that looks as if it switched the guard on, and does not. What was inherited was told to its author. */
static void warn_of_unread(struct op *op, const struct json *given, const struct json *all, enum redact_policy space)
{
	enum redact_policy policy = redact_policy_of(all, space);

	for (uint32_t i = 0; given->type == JSON_OBJECT && i < given->count; i++) {
		const struct json_member *m = &given->members[i];

		if (!redact_is_unread(m, policy))
			continue;
		op_warn(op, "constraint_not_understood", arena_printf(op->arena, "constraints.%.*s", STR_ARG(m->key)),
			arena_printf(op->arena, "the guard against credentials does not read this constraint, so it "
				     "%s; the next agent is shown it as it is. What the guard reads: " REDACT_READS,
				     policy == REDACT_OFF ? "stays off" : "goes by the others"));
	}
}

/* What its sender should know about what is in it. */
static void warn_of_content(struct op *op, const struct packing *p, const struct assemble_input *in)
{
	const struct envelope *e = &p->envelope;

	warn_of_unread(op, &p->draft.constraints, &e->constraints, in->policy);
	hidden_warn(op, e);
}

/* Written here and not by the writer, which has enough to do. */
static enum problem_code pack_now(struct op *op, struct store_conn *c, struct packing *p, struct assemble_input *in)
{
	struct assemble_tools tools = {op->engine->recall, op->reader->scratch, c, op->arena, op->engine->tokens,
				       is_too_much, op};
	enum store_status status = STORE_OK;
	enum problem_code code;

	/* A dry run counts with the number that it would get, so that its figures are those of the handoff itself. */
	if (p->dry_run)
		status = envelope_numbers_peek(op->engine->numbers, c, op->space_name, op->space, &p->num);
	else if (p->num == 0)
		status = envelope_numbers_next(op->engine->numbers, c, op->space_name, op->space, &p->num);
	if (status == STORE_EXISTS)
		return problem_set(&op->problem, P_ID_TAKEN, NULL, "the highest number that an envelope of this space "
				   "can have is taken, so there is no next one; use another space");
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	in->num = p->num;
	p->names_task = in->parent == NULL && in->repacks == NULL && p->draft.task.p == NULL;
	if (p->names_task)
		in->new_task = new_task(op, c, p, in->num);
	code = assemble(&tools, in, &p->envelope, &op->problem);
	if (code == P_OK)
		warn_of_content(op, p, in);
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

/* What the space locks. */
static enum problem_code read_policy(struct op *op, struct store_conn *c, struct assemble_input *in)
{
	struct json *list = arena_zalloc(op->arena, sizeof(*list));
	struct json_error error;
	struct str text = STR_NULL;
	enum store_status status = op->space ? store_space_locked(c, op->space, op->arena, &text) : STORE_OK;

	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	if (text.p == NULL)
		return P_OK;
	if (!json_parse(text, JSON_DEPTH_MAX, op->arena, list, &error) || list->type != JSON_ARRAY)
		return problem_set(&op->problem, P_STORE_DAMAGED, NULL, "what the space locks cannot be read; set it "
				   "again (spine space --lock)");
	in->policy_locked = list;
	return P_OK;
}

/* What persons waived for the task. */
static enum problem_code read_standing(struct op *op, struct store_conn *c, struct assemble_input *in)
{
	struct waiver_row rows[TASK_WAIVERS_MAX];
	struct constraints_waiver *list;
	const struct envelope *before = in->repacks ? in->repacks : in->parent;
	size_t count = 0;
	enum store_status status = before ? store_waivers(c, op->space, before->task, TASK_WAIVERS_MAX, op->arena,
							  rows, &count) : STORE_OK;

	if (status != STORE_OK || count == 0)
		return op_stored(op, status);
	list = arena_calloc(op->arena, count, sizeof(*list));
	for (size_t i = 0; i < count; i++)
		list[i] = (struct constraints_waiver){rows[i].id, rows[i].key, rows[i].by, rows[i].reason,
						      rows[i].access_key != 0};
	in->standing = list;
	in->standing_count = count;
	return P_OK;
}

/* Who goes on from an older hop than it was given is not rid of what was set since. A person who shrinks an envelope
 * packs it for its sender, and changes nothing. */
static enum problem_code hold_later(struct op *op, struct store_conn *c, const struct packing *p,
				    struct assemble_input *in)
{
	const struct envelope *before = in->repacks ? in->repacks : in->parent;
	const struct given_constraints *given = NULL;
	enum problem_code code;

	if (before == NULL || (in->repacks && !p->is_v2))
		return P_OK;
	code = later_hops_hold(op, c, p, in->parent, before, &given);
	if (code == P_OK && given) {
		in->inherited = &given->constraints;
		in->inherited_locked = &given->locked;
	}
	return code;
}

/* A whole envelope has the waivers of all hops: what those before it have is inherited, the rest is waived now. */
static void sort_out(struct op *op, struct packing *p, const struct envelope *before)
{
	struct envelope_draft *d = &p->draft;

	p->waived_before = before ? before->waived.count : 0;
	d->waived_by = op->agent;
	if (p->is_v2 && before)
		d->waive = repack_waivers(&d->waive, &before->waived, op->arena);
	else if (p->is_v2)
		d->waive = (struct json){0};
	if (p->is_v1 && before && d->state.p)
		d->state = repack_context(d->state, before, op->arena);
}

/* What is trusted less comes without its text. */
static enum problem_code read_floor(struct op *op, struct store_conn *c, struct assemble_input *in)
{
	enum problem_code code = space_policy_floor(c, op->space, op->arena, &in->trust_floor, &op->problem);

	in->has_floor = in->trust_floor != TRUST_EXTERNAL;
	return code;
}

/* Who did what. What others did stands in the envelope before, where it was told by them. */
static enum problem_code sign_steps(struct op *op, struct packing *p, const struct envelope *before)
{
	const char *list = p->is_v1 || p->is_v2 ? "history" : "execution_history";

	return steps_sign(before ? &before->history : NULL, p->draft.from, op->access, list, &p->draft.history,
			  op->arena, &op->problem);
}

static enum problem_code prepare_packing(struct op *op, struct store_conn *c, struct packing *p)
{
	struct assemble_input in = {
		.draft = &p->draft, .space = op->space, .space_name = op->space_name, .coming = p->coming,
		.now_ms = op->now_ms};
	struct lineage from = {0};
	struct agent agent;
	int64_t guard = 0;
	enum store_status status = op->space ? store_space_guard(c, op->space, &guard) : STORE_OK;
	enum problem_code code = status == STORE_OK ? P_OK : problem_of_store(&op->problem, status);

	if (code == P_OK)
		code = lineage_find(op, c, p, &from);
	in.parent = from.parent;
	in.repacks = from.repacks;
	if (code == P_OK)
		code = read_policy(op, c, &in);
	if (code == P_OK)
		code = read_standing(op, c, &in);
	if (code != P_OK)
		return code;
	sort_out(op, p, in.repacks ? in.repacks : in.parent);
	code = sign_steps(op, p, in.repacks ? in.repacks : in.parent);
	if (code == P_OK)
		code = hold_later(op, c, p, &in);
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
	in.policy = redact_policy_kept(guard);
	in.has_trust = op->access != NULL;
	in.trust = op->access ? op->access->trust : TRUST_AGENT;
	code = read_floor(op, c, &in);
	return code != P_OK ? code : pack_now(op, c, p, &in);
}

enum problem_code pack_prepare(struct op *op, struct store_conn *c, struct packing *p)
{
	struct packing asked = *p;
	enum problem_code code = prepare_packing(op, c, p);

	/* It is begun again elsewhere, with what was asked for and the number that it has. */
	asked.num = p->num;
	if (op->aside.is_wanted)
		*p = asked;
	return code;
}

/* Of credentials without the value, as everywhere. */
static enum problem_code note_refusal(struct op *op, struct store_conn *c, struct packing *p)
{
	bool is_found = p->refusal.code == P_CREDENTIALS_FOUND;
	struct str actor = p->draft.from.p ? p->draft.from : op->agent;
	struct event_row event = {
		.space = op->space,
		.at_ms = op->now_ms,
		.kind = EVENT_ENVELOPE_REFUSED,
		.envelope = is_found ? 0 : p->parent,
		.agent = is_found ? redact_text(p->draft.to, op->arena) : p->draft.to,
		.actor = is_found ? redact_text(actor, op->arena) : actor,
		.access_key = op_access_key(op),
		.note = arena_printf(op->arena, "%s: %.300s", problem_kind(p->refusal.code)->name,
				     is_found ? p->refusal.field : p->refusal.detail),
	};
	enum store_status status = store_event_add(c, &event);

	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	op->problem = p->refusal;
	return op->problem.code;
}

/* Each waiver of this hop is told. What a person waived was told when they did. */
static enum store_status note_waivers(struct op *op, struct store_conn *c, const struct packing *p)
{
	const struct envelope *e = &p->envelope;
	enum store_status status = STORE_OK;

	for (uint32_t i = p->waived_before; status == STORE_OK && i < e->waived.count; i++) {
		const struct json *w = &e->waived.items[i], *key = json_get(w, "key"), *by = json_get(w, "by"),
				  *reason = json_get(w, "reason");
		struct event_row event = {
			.space = op->space, .at_ms = op->now_ms, .kind = EVENT_CONSTRAINT_WAIVED, .envelope = e->num,
			.attempt = e->hop, .agent = e->to, .actor = by ? by->s : STR_NULL,
			.access_key = op_access_key(op),
		};

		if (json_get(w, "waiver") || key == NULL || reason == NULL)
			continue;
		event.note = arena_printf(op->arena, "%.*s: %.*s", STR_ARG(key->s), STR_ARG(reason->s));
		status = store_event_add(c, &event);
	}
	return status;
}

/* An import has taken the number meanwhile: the next one is asked for. */
static enum problem_code explain_taken(struct op *op, struct store_conn *c, struct packing *p)
{
	struct envelope_row there;

	if (store_envelope_get(c, op->space, p->envelope.num, op->arena, &there) != STORE_OK)
		return problem_set(&op->problem, P_INTERNAL, NULL, "env-%llu is taken; this should not happen",
				   (unsigned long long)p->envelope.num);
	op->prepares_again = true;
	p->num = 0;
	return problem_set(&op->problem, P_ID_TAKEN, NULL, "env-%llu was imported at the same moment; send this one "
			   "again", (unsigned long long)p->envelope.num);
}

/* Nothing was written: the number is taken, or the task that it begins was begun by another. The second one must not
 * stand beside the first without a word; but a name that nobody asked for is replaced by another. */
static enum problem_code explain_exists(struct op *op, struct store_conn *c, struct packing *p, bool begins_task)
{
	enum store_status status = begins_task ? store_task_find(c, op->space, p->envelope.task) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return explain_taken(op, c, p);
	if (status != STORE_OK)
		return op_stored(op, status);
	op->prepares_again = p->names_task && !p->looks_up_task;
	p->looks_up_task |= p->names_task;
	return problem_set(&op->problem, P_PARENT_UNCLEAR, "parent", "the task %.*s was begun by another call at the "
			   "same moment; send this one again, and it goes on from there",
			   STR_ARG(p->envelope.task));
}

/* The memory of a result stays while an envelope refers to it. */
static void name_results(struct op *op, const struct envelope *e, struct envelope_row *row)
{
	uint64_t *nums = arena_calloc(op->arena, e->ref_count, sizeof(*nums));

	for (size_t i = 0; i < e->ref_count; i++)
		if (str_is(e->refs[i].kind, RESULT_KIND))
			nums[row->result_count++] = e->refs[i].id.num;
	row->results = nums;
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
		.begins_task = e->parent == 0 && (!p->new_root || p->names_task),
	};
	uint64_t *nums;
	enum store_status status;

	if (p->refusal.code != P_OK)
		return note_refusal(op, c, p);
	nums = arena_calloc(op->arena, e->ref_count, sizeof(*nums));
	op->shown = nums;
	op->shown_count = 0;
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].text.p)
			nums[op->shown_count++] = e->refs[i].id.num;
	name_results(op, e, &row);
	row.texts = (int64_t)op->shown_count;
	memcpy(row.digest, e->digest, sizeof(row.digest));
	memcpy(row.body_digest, p->body_digest, sizeof(row.body_digest));
	status = store_envelope_insert(c, &row);
	if (status == STORE_EXISTS)
		return explain_exists(op, c, p, row.begins_task);
	if (status == STORE_OK)
		status = note_waivers(op, c, p);
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
	.name = "pack", .size = sizeof(struct pack),
	.flags = OP_CREATES | OP_INDEX | OP_ADDS_BYTES, .prepare = prepare, .run = run,
};
