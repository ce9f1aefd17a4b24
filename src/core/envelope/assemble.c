/* The order of things: inherit, collect and resolve, trim, seal. */
#include "core/envelope/assemble.h"

#include "base/clock.h"
#include "codec/json_set.h"
#include "core/envelope/assemble_internal.h"
#include "core/envelope/steps.h"

static const struct json empty_object = {.type = JSON_OBJECT};
static const struct json empty_array = {.type = JSON_ARRAY};

static struct json or_empty(struct json value, const struct json *empty)
{
	return value.type == JSON_NULL ? *empty : value;
}

static struct json json_text(struct str s)
{
	return (struct json){.type = JSON_STRING, .s = s};
}

/* The members in canonical order, in which they are stored and read again: the prompt that is counted now is the one
 * that is rendered later. */
static struct json in_order(struct arena *arena, struct json object)
{
	const struct json_member **sorted = arena_calloc(arena, object.count + 1, sizeof(*sorted));
	struct json_member *members = arena_calloc(arena, object.count + 1, sizeof(*members));

	json_sort_members(&object, sorted);
	for (uint32_t i = 0; i < object.count; i++)
		members[i] = *sorted[i];
	return (struct json){.type = JSON_OBJECT, .count = object.count, .members = members};
}

/* --- Lists that only grow --- */

/* The parent's items and those of this hop that are not among them: of which what key_of gives is not equal to that of
 * any of them. */
static struct json append(struct arena *arena, const struct json *inherited, const struct json *given,
			  struct json (*key_of)(const struct json *item, struct arena *arena))
{
	size_t before = inherited ? inherited->count : 0, count;
	struct json keys = {.type = JSON_ARRAY, .count = (uint32_t)before};
	struct json_set known;
	struct json *items;

	if (before == 0)
		return *given;
	items = arena_calloc(arena, before + given->count, sizeof(*items));
	keys.items = arena_calloc(arena, before, sizeof(*items));
	for (count = 0; count < before; count++) {
		items[count] = inherited->items[count];
		keys.items[count] = key_of(&items[count], arena);
	}
	json_set_init(&known, &keys);
	for (uint32_t i = 0; i < given->count; i++) {
		struct json key = key_of(&given->items[i], arena);

		if (!json_set_has(&known, &key))
			items[count++] = given->items[i];
	}
	json_set_release(&known);
	return (struct json){.type = JSON_ARRAY, .count = (uint32_t)count, .items = items};
}

static struct json itself(const struct json *item, struct arena *arena)
{
	(void)arena;
	return *item;
}

/* Without what this hop has decided. */
static struct json without_resolved(struct arena *arena, struct json open, const struct json *resolved)
{
	struct json *items = arena_calloc(arena, open.count + 1, sizeof(*items));
	uint32_t count = 0;

	for (uint32_t i = 0; i < open.count; i++) {
		uint32_t j = 0;

		for (; j < resolved->count; j++) {
			const struct json *decision = json_get(&resolved->items[j], "decision");

			if (decision && json_equal(&open.items[i], decision))
				break;
		}
		if (j == resolved->count)
			items[count++] = open.items[i];
	}
	return (struct json){.type = JSON_ARRAY, .count = count, .items = items};
}

/* A decision that was made becomes a step of the history, so that its reason is not lost. */
static struct json decisions_made(const struct assemble_input *in, struct arena *arena)
{
	const struct json *resolved = &in->draft->resolved_decisions;
	struct json *items = arena_calloc(arena, resolved->count + 1, sizeof(*items));

	for (uint32_t i = 0; i < resolved->count; i++) {
		const struct json *decision = json_get(&resolved->items[i], "decision"),
				  *outcome = json_get(&resolved->items[i], "outcome");
		struct json_member *m = arena_calloc(arena, 3, sizeof(*m));

		m[0] = (struct json_member){STR("action"), decision ? *decision : json_text(STR(""))};
		m[1] = (struct json_member){STR("agent"),
					    json_text(in->draft->from.p ? in->draft->from : STR("unknown"))};
		m[2] = (struct json_member){STR("decision"), outcome ? *outcome : json_text(STR("resolved"))};
		items[i] = (struct json){.type = JSON_OBJECT, .count = 3, .members = m};
	}
	return (struct json){.type = JSON_ARRAY, .count = resolved->count, .items = items};
}

/* The same steps; those from position `from` on that do not say when they were done get the time at which the server
 * was told of them. */
static struct json stamp(struct arena *arena, struct json steps, uint32_t from, int64_t now_ms)
{
	struct json *items = arena_calloc(arena, steps.count + 1, sizeof(*items));
	char time[CLOCK_TEXT_SIZE];
	struct json_member at = {.key = STR("at")};

	clock_format(now_ms, time);
	at.value = json_text(arena_str(arena, str_of(time)));
	for (uint32_t i = 0; i < steps.count; i++) {
		struct json *step = &items[i];
		struct json_member *members;

		*step = steps.items[i];
		if (i < from || json_get(step, "at"))
			continue;
		members = arena_calloc(arena, step->count + 1, sizeof(*members));
		if (step->count)
			memcpy(members, step->members, step->count * sizeof(*members));
		members[step->count++] = at;
		step->members = members;
	}
	return (struct json){.type = JSON_ARRAY, .count = steps.count, .items = items};
}

/* The parent's extensions, and those of this hop in their place. */
static struct json extend(struct arena *arena, const struct envelope *parent, struct json given)
{
	uint32_t before = parent ? parent->extensions.count : 0, count = 0;
	struct json_member *members = arena_calloc(arena, before + given.count + 1, sizeof(*members));

	for (uint32_t i = 0; i < before; i++)
		if (json_get_str(&given, parent->extensions.members[i].key) == NULL)
			members[count++] = parent->extensions.members[i];
	for (uint32_t i = 0; i < given.count; i++)
		members[count++] = given.members[i];
	return (struct json){.type = JSON_OBJECT, .count = count, .members = members};
}

/* --- Inheriting --- */

/* What is said before this hop says something; NULL: nothing. */
static const struct envelope *said_before(const struct assemble_input *in)
{
	return in->repacks ? in->repacks : in->parent;
}

static enum problem_code inherit_intent(const struct assemble_input *in, struct envelope *e, struct problem *problem)
{
	const struct envelope *before = said_before(in);
	struct str inherited = before ? before->intent : STR_NULL;

	e->intent = inherited.p ? inherited : in->draft->intent;
	if (inherited.p && in->draft->intent.p && !str_eq(inherited, in->draft->intent))
		return problem_set(problem, P_INTENT_CONFLICT, "intent",
				   "the intent was set at the root and travels word for word; leave it out, "
				   "and say what this receiver is to do in task_summary");
	return P_OK;
}

/* A chain is one task: whoever names another has mistaken the parent, or wants to begin anew. */
static enum problem_code inherit_task(const struct assemble_input *in, struct envelope *e, struct problem *problem)
{
	const struct envelope *before = said_before(in);
	struct str given = in->draft->task;

	e->task = before ? before->task : given.p ? given : in->new_task;
	if (before && given.p && !str_eq(given, e->task))
		return problem_set(problem, P_TASK_CONFLICT, "task",
				   "the parent belongs to the task %.*s; leave task out, or leave parent out to begin "
				   "another one", STR_ARG(e->task));
	return P_OK;
}

static enum problem_code inherit_hops(const struct assemble_input *in, struct envelope *e, struct problem *problem)
{
	const struct envelope *before = said_before(in);
	int64_t wanted = in->draft->max_hops;

	e->hop = in->parent ? in->parent->hop + 1 : 1;
	e->max_hops = before ? before->max_hops : HANDOFF_HOPS_DEFAULT;
	if (wanted && before && wanted > e->max_hops)
		return problem_set(problem, P_CONSTRAINT_CONFLICT, "max_hops",
				   "max_hops is %lld in this chain; a later hop can only lower it",
				   (long long)e->max_hops);
	if (wanted)
		e->max_hops = wanted;
	if (e->hop > e->max_hops)
		return problem_set(problem, P_HOP_LIMIT, NULL,
				   "this would be hop %lld, and the chain may have %lld: complete, reject or nack "
				   "what you hold, and a person should look at it",
				   (long long)e->hop, (long long)e->max_hops);
	return P_OK;
}

static void inherit_path(const struct assemble_input *in, struct envelope *e, struct arena *arena)
{
	uint32_t before = in->parent ? in->parent->path.count : 0;
	struct json *items = arena_calloc(arena, before + 2, sizeof(*items));
	uint32_t count = 0;

	for (; count < before; count++)
		items[count] = in->parent->path.items[count];
	if (count == 0 && in->draft->from.p)
		items[count++] = json_text(in->draft->from);
	items[count++] = json_text(in->draft->to);
	e->path = (struct json){.type = JSON_ARRAY, .count = count, .items = items};
}

static enum problem_code inherit_constraints(const struct assemble_input *in, struct envelope *e, struct arena *arena,
					     struct problem *problem)
{
	const struct envelope_draft *d = in->draft;
	const struct envelope *before = said_before(in);
	struct constraints made;
	struct constraints_input ci = {
		.inherited = in->inherited ? in->inherited : before ? &before->constraints : NULL,
		.waived = before ? &before->waived : NULL,
		.locked = in->inherited_locked ? in->inherited_locked : before ? &before->locked : NULL,
		.lock = d->locked.type == JSON_ARRAY ? &d->locked : NULL,
		.policy = in->policy_locked,
		.standing = in->standing,
		.standing_count = before ? in->standing_count : 0,
		.task = e->task,
		.given = d->constraints.type == JSON_OBJECT ? &d->constraints : NULL,
		.waive = d->waive.type == JSON_ARRAY ? &d->waive : NULL,
		.by = d->waived_by.p ? d->waived_by : d->from.p ? d->from : STR("unknown"),
		.hop = e->hop,
	};
	enum problem_code code = constraints_inherit(&ci, arena, &made, problem);

	if (code != P_OK)
		return code;
	e->constraints = in_order(arena, made.all);
	e->waived = made.waived;
	e->locked = made.locked;
	return P_OK;
}

static void inherit_work(const struct assemble_input *in, struct envelope *e, struct arena *arena)
{
	const struct envelope_draft *d = in->draft;
	const struct envelope *p = in->parent, *before = said_before(in);
	struct json history = or_empty(d->history, &empty_array), made = decisions_made(in, arena);
	struct json open = or_empty(d->open_decisions, &empty_array);

	e->history = append(arena, before ? &before->history : NULL, &history, steps_key);
	e->history = append(arena, &e->history, &made, steps_key);
	e->history = stamp(arena, e->history, before ? before->history.count : 0, in->now_ms);
	open = append(arena, before ? &before->open_decisions : NULL, &open, itself);
	e->open_decisions = without_resolved(arena, open, &d->resolved_decisions);
	e->state = d->state.p ? d->state : before ? before->state : STR_NULL;
	e->parent = p ? p->num : 0;
	e->root = p ? p->root : in->num;
	if (p)
		memcpy(e->parent_digest, p->digest, sizeof(e->parent_digest));
}

static enum problem_code check_sizes(const struct envelope *e, struct problem *problem)
{
	if (e->history.count > PACK_HISTORY_MAX)
		return problem_set(problem, P_TOO_LARGE, "execution_history",
				   "the chain's history would have %u entries; at most %d are allowed",
				   e->history.count, PACK_HISTORY_MAX);
	if (e->open_decisions.count > PACK_DECISIONS_MAX)
		return problem_set(problem, P_TOO_LARGE, "open_decisions",
				   "there would be %u open decisions; at most %d are allowed", e->open_decisions.count,
				   PACK_DECISIONS_MAX);
	return P_OK;
}

static enum problem_code read_budget(const struct assemble_input *in, struct envelope *e, struct problem *problem)
{
	const struct json *given = json_get(&e->constraints, "max_tokens");
	int64_t tokens;

	e->max_tokens = in->max_tokens ? in->max_tokens : HANDOFF_TOKENS_DEFAULT;
	if (given && (!json_as_int(given, &tokens) || tokens < 1 || tokens > PACK_TOKENS_MAX))
		return problem_set(problem, P_INVALID_FIELD, "constraints.max_tokens",
				   "max_tokens is not a whole number from 1 to %d", PACK_TOKENS_MAX);
	if (given)
		e->max_tokens = tokens;
	return P_OK;
}

static enum problem_code inherit(const struct assemble_tools *tools, const struct assemble_input *in,
				 struct envelope *e, struct problem *problem)
{
	enum problem_code code = inherit_hops(in, e, problem);

	if (code == P_OK)
		code = inherit_task(in, e, problem);
	if (code == P_OK)
		code = inherit_intent(in, e, problem);
	if (code == P_OK)
		code = inherit_constraints(in, e, tools->arena, problem);
	if (code != P_OK)
		return code;
	inherit_work(in, e, tools->arena);
	inherit_path(in, e, tools->arena);
	code = check_sizes(e, problem);
	return code == P_OK ? read_budget(in, e, problem) : code;
}

static size_t bytes_of(const struct json *value)
{
	size_t bytes = sizeof(*value);

	if (value->type == JSON_STRING)
		bytes += value->s.n;
	for (uint32_t i = 0; value->type == JSON_ARRAY && i < value->count; i++)
		bytes += bytes_of(&value->items[i]);
	for (uint32_t i = 0; value->type == JSON_OBJECT && i < value->count; i++)
		bytes += value->members[i].key.n + bytes_of(&value->members[i].value);
	return bytes;
}

/* What is to be looked through, counted and written beside the references, about. */
static size_t work_in(const struct envelope *e)
{
	const struct json *trees[] = {&e->history, &e->constraints, &e->waived, &e->open_decisions, &e->expected_output,
				      &e->extensions};
	size_t bytes = e->intent.n + e->state.n + e->summary.n;

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		bytes += bytes_of(trees[i]);
	return bytes;
}

static void lower(enum trust *trust, enum trust to)
{
	if (to > *trust)
		*trust = to;
}

/* The least of what the sender wrote, of what it inherits, and of the memories, but for those whose text stays behind
 * because of the floor. */
static enum trust least_trust(const struct assemble_input *in, const struct envelope *e)
{
	enum trust trust = in->has_trust ? in->trust : TRUST_AGENT;

	if (in->parent)
		lower(&trust, envelope_trust(in->parent));
	if (in->repacks)
		lower(&trust, envelope_trust(in->repacks));
	for (size_t i = 0; i < e->ref_count; i++)
		if (!assemble_is_below_floor(e, &e->refs[i]))
			lower(&trust, e->refs[i].trust);
	return trust;
}

enum problem_code assemble(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *ret,
			   struct problem *problem)
{
	struct envelope_draft with_results = *in->draft;
	const struct envelope_draft *d = &with_results;
	struct assemble_input whole = *in;
	struct envelope e = {
		.num = in->num,
		.minor = ENVELOPE_MINOR,
		.fetch_hint = in->fetch_hint,
		.space = in->space_name,
		.created_at_ms = in->now_ms,
		.from = d->from,
		.to = d->to,
		/* A hop that does not say where it is in a trace is in that of the hop before. */
		.traceparent = d->traceparent.p || said_before(in) == NULL ? d->traceparent
									   : said_before(in)->traceparent,
		.summary = d->summary,
		.expected_output = in_order(tools->arena, or_empty(d->expected_output, &empty_object)),
		.extensions = extend(tools->arena, said_before(in), or_empty(d->extensions, &empty_object)),
		.tokenizer = str_of(tokenizer_name(in->tokenizer)),
		.strategy = d->strategy,
		.coming = in->coming,
		.has_floor = in->has_floor,
		.trust_floor = in->trust_floor,
	};
	enum problem_code code = assemble_results(tools, in, &with_results, &e.reserve, problem);

	whole.draft = d;
	in = &whole;
	if (code == P_OK)
		code = inherit(tools, in, &e, problem);
	if (code == P_OK && tools->is_too_much && tools->is_too_much(tools->ctx, work_in(&e)))
		return P_OVERLOADED;
	if (code == P_OK)
		code = assemble_refs(tools, in, &e, problem);
	if (code == P_OK)
		code = redact(&e, redact_policy_of(&e.constraints, in->policy), tools->arena, problem);
	if (code == P_OK)
		code = assemble_trim(tools, in->tokenizer, &e, problem);
	if (code != P_OK)
		return code;
	e.trust = least_trust(in, &e);
	envelope_seal(&e, tools->arena);
	*ret = e;
	return P_OK;
}
