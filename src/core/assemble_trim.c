/* Trimming: what of the references and of the history the prompt has room for.
 *
 * The core of the prompt is never cut. Every other part is measured on its own, and budget_choose picks the forms.
 * The list of what was left out is itself part of the prompt, so the choice is checked by counting the prompt that
 * it makes; where it is over, the room is narrowed by the excess and chosen again. What is kept is always what was
 * counted.
 *
 * Counting the prompt is adding up, not rendering it. Tokens do not add up over any concatenation, but they do where
 * a line begins with something visible (tokenizer_cuts), and every part of the prompt does, behind the empty line
 * that sets it off. That empty line belongs to the end of the part before: a fence and two line ends are other
 * tokens than a fence and one. So each block of a memory has two measures, for standing before another part, and for
 * standing last. Its parts are the same in one envelope after the other, and are looked up.
 */
#include "core/assemble_internal.h"
#include "core/budget.h"
#include "core/render.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* What a text is made into (token/token_cache.h). */
enum { MADE_INTO_BLOCK = 1 };
enum { TRIM_ROUNDS = 8, SHORT_TEXT_TOKENS = 64, SPARE_TOKENS = 4 };
#define WEEK_MS (7.0 * 24 * 3600 * 1000)

/* Of a block without the empty line before it. */
struct measures {
	size_t inside;		/* with the empty line behind it */
	size_t last;
};

struct trim {
	struct envelope *e;
	const struct tokenizer *tokenizer;
	struct token_cache *tokens;
	struct arena *arena;
	struct buf scratch;
	size_t line_end;		/* measure of an empty line that sets a block off */
	struct measures core;		/* of the budget at hand */
	struct budget_item *items;	/* the references, then the history */
	enum envelope_form (*forms)[BUDGET_FORMS];	/* what form f of item i is */
	struct measures (*measures)[BUDGET_FORMS];	/* of it, for the references */
	struct token_key *texts, *summaries;		/* of the references */
	size_t count;
	/* As collected: the choice starts from these every time. */
	struct envelope_ref *all;
	size_t all_count;
};

/* --- Counting --- */

static struct measures add_up(struct measures a, size_t before)
{
	return (struct measures){before + a.inside, before + a.last};
}

/* The end of what stands in the scratch buffer, from `from` on; it is short, and looked up. The buffer is empty
 * afterwards. */
static struct measures measure_end(struct trim *t, size_t from)
{
	struct measures m;

	m.last = token_cache_measure(t->tokens, t->tokenizer, str_sub(buf_str(&t->scratch), from, t->scratch.len));
	buf_putc(&t->scratch, '\n');
	m.inside = token_cache_measure(t->tokens, t->tokenizer, str_sub(buf_str(&t->scratch), from, t->scratch.len));
	buf_clear(&t->scratch);
	return m;
}

/* Where the last line of the text begins that may be cut off, behind `from`. */
static size_t last_cut(struct str text, size_t from)
{
	for (size_t at = text.n; at-- > from + 1;)
		if (text.p[at - 1] == '\n' && tokenizer_cuts(str_sub(text, 0, at), str_sub(text, at, text.n)))
			return at;
	return from;
}

/* The part that stands in the scratch buffer, which is empty afterwards. All but the core begin with an empty line. */
static struct measures measure_part(struct trim *t, bool is_core)
{
	struct str text = buf_str(&t->scratch);
	size_t from = is_core ? 0 : 1, cut = last_cut(text, from);
	size_t before = tokenizer_measure(t->tokenizer, str_sub(text, from, cut));

	assert(tokenizer_cuts(str_sub(text, 0, from), str_sub(text, from, text.n)));
	return add_up(measure_end(t, cut), before);
}

static void measure_core(struct trim *t)
{
	render_core(t->e, &t->scratch);
	t->core = measure_part(t, true);
}

/* The text of a memory's block. It is the same in every envelope, and mostly known already. */
static size_t measure_text(struct trim *t, const struct envelope_ref *r, struct token_key key)
{
	size_t measure;

	if (!render_ref_has_text(r))
		return 0;
	if (token_cache_get(t->tokens, key, &measure))
		return measure;
	render_ref_text(r, &t->scratch);
	measure = tokenizer_measure(t->tokenizer, buf_str(&t->scratch));
	token_cache_put(t->tokens, key, measure);
	buf_clear(&t->scratch);
	return measure;
}

/* The head of a memory's block, without the empty line before it. The id is another one with each memory: remembering
 * it would only take the place of others. The other pieces are those of many. */
static size_t measure_head(struct trim *t, const struct envelope_ref *r)
{
	size_t cuts[RENDER_HEAD_CUTS], measure = 0;
	struct str head;

	render_ref_head(t->e, r, &t->scratch, cuts);
	head = buf_str(&t->scratch);
	for (int i = 0; i < RENDER_HEAD_CUTS; i++) {
		size_t end = i + 1 < RENDER_HEAD_CUTS ? cuts[i + 1] : head.n;
		struct str piece = str_sub(head, cuts[i], end);

		assert(tokenizer_cuts(str_sub(head, 0, cuts[i]), str_sub(head, cuts[i], head.n)));
		measure += i == 0 ? tokenizer_measure(t->tokenizer, piece)
				  : token_cache_measure(t->tokens, t->tokenizer, piece);
	}
	buf_clear(&t->scratch);
	return measure;
}

/* A memory's block in the form that r has, part by part. */
static struct measures measure_ref(struct trim *t, const struct envelope_ref *r, struct token_key key)
{
	size_t before = measure_head(t, r) + measure_text(t, r, key);

	render_ref_end(r, &t->scratch);
	return add_up(measure_end(t, 0), before);
}

/* Goes on with a part; what stands before it gets its empty line. */
static void append_part(struct measures *sum, struct measures part)
{
	*sum = add_up(part, sum->inside);
}

static int64_t count_prompt(struct trim *t)
{
	struct measures sum = t->core;

	render_history(t->e, &t->scratch);
	if (t->scratch.len)
		append_part(&sum, measure_part(t, false));
	if (t->e->ref_count) {
		render_memory_head(&t->scratch);
		append_part(&sum, measure_part(t, false));
		for (size_t i = 0; i < t->all_count; i++)
			if (t->items[i].chosen != BUDGET_NONE)
				append_part(&sum, t->measures[i][t->items[i].chosen]);
	}
	render_left_out(t->e, &t->scratch);
	if (t->scratch.len)
		append_part(&sum, measure_part(t, false));
	return (int64_t)tokenizer_tokens(t->tokenizer, sum.last);
}

/* --- What an item is worth --- */

static double reason_weight(enum envelope_why why)
{
	switch (why) {
	case WHY_CITED:
	case WHY_PINNED:
		return 40;
	case WHY_INHERITED:
		return 4;
	case WHY_RELEVANT:
		return 1.5;
	case WHY_RECENT:
		break;
	}
	return 1;
}

/* Of what was named or pinned, that it is there at all is half of its worth. */
static double form_weight(enum envelope_why why, enum envelope_form form)
{
	bool named = why == WHY_CITED || why == WHY_PINNED;

	if (form == FORM_FULL)
		return 1;
	return form == FORM_SUMMARY ? (named ? 0.8 : 0.6) : (named ? 0.5 : 0.15);
}

/* Low to critical: each step doubles. New before old: up to half as much again, fading by half every week. */
static double ref_value(const struct envelope *e, const struct envelope_ref *r)
{
	double age_ms = (double)(e->created_at_ms - r->created_at_ms);

	return reason_weight(r->why) * pow(2, (double)r->importance - 1) *
	       (1 + 0.5 * pow(2, -(age_ms > 0 ? age_ms : 0) / WEEK_MS));
}

/* The later a step, the more the next agent needs it. */
static double history_value(const struct envelope *e, size_t index)
{
	return 1 + 3.0 * (double)(index + 1) / (double)e->history.count;
}

/* --- Items --- */

static struct str form_text(const struct envelope_ref *r, enum envelope_form form)
{
	if (form == FORM_REF)
		return STR_NULL;
	return form == FORM_SUMMARY ? r->summary : r->text;
}

static void add_form(struct trim *t, size_t i, enum envelope_form form)
{
	struct budget_item *item = &t->items[i];
	struct envelope_ref r = t->all[i];
	struct measures m;

	r.form = form;
	r.text = form_text(&t->all[i], form);
	m = measure_ref(t, &r, form == FORM_SUMMARY ? t->summaries[i] : t->texts[i]);
	t->measures[i][item->form_count] = m;
	item->cost[item->form_count] = (int64_t)tokenizer_tokens(t->tokenizer, t->line_end + m.last);
	item->value[item->form_count] = ref_value(t->e, &r) * form_weight(r.why, form);
	t->forms[i][item->form_count++] = form;
}

/* The forms that the strategy allows, the best first. A text without a summary is kept whole by "summary" where it is
 * short anyway. */
static void make_ref_item(struct trim *t, size_t i)
{
	enum envelope_strategy strategy = t->e->strategy;
	const struct envelope_ref *r = &t->all[i];

	if (strategy == STRATEGY_PRIORITY || strategy == STRATEGY_FULL)
		add_form(t, i, FORM_FULL);
	if ((strategy == STRATEGY_PRIORITY || strategy == STRATEGY_SUMMARY) && r->summary.p)
		add_form(t, i, FORM_SUMMARY);
	if (strategy == STRATEGY_SUMMARY && r->summary.p == NULL) {
		add_form(t, i, FORM_FULL);
		if (t->items[i].cost[0] > SHORT_TEXT_TOKENS)
			t->items[i].form_count = 0;
	}
	if (strategy != STRATEGY_FULL)
		add_form(t, i, FORM_REF);
}

/* Each measure is slow to reach in memory: so all are looked for first. */
static void make_keys(struct trim *t)
{
	t->texts = arena_calloc(t->arena, t->all_count, sizeof(*t->texts));
	t->summaries = arena_calloc(t->arena, t->all_count, sizeof(*t->summaries));
	if (t->e->strategy == STRATEGY_LAZY)
		return;
	for (size_t i = 0; i < t->all_count; i++) {
		const struct envelope_ref *r = &t->all[i];

		if (r->text.p)
			t->texts[i] = token_cache_key(t->tokens, t->tokenizer, r->text, MADE_INTO_BLOCK);
		if (r->summary.p)
			t->summaries[i] = token_cache_key(t->tokens, t->tokenizer, r->summary, MADE_INTO_BLOCK);
	}
}

static void make_items(struct trim *t)
{
	struct envelope *e = t->e;

	t->count = t->all_count + e->history.count;
	t->items = arena_calloc(t->arena, t->count, sizeof(*t->items));
	t->forms = arena_calloc(t->arena, t->count, sizeof(*t->forms));
	t->measures = arena_calloc(t->arena, t->all_count, sizeof(*t->measures));
	make_keys(t);
	for (size_t i = 0; i < t->all_count; i++)
		make_ref_item(t, i);
	for (size_t i = 0; i < e->history.count; i++) {
		struct budget_item *item = &t->items[t->all_count + i];

		render_history_entry(e, i, &t->scratch);
		item->cost[0] = (int64_t)tokenizer_count(t->tokenizer, buf_str(&t->scratch));
		buf_clear(&t->scratch);
		item->value[0] = history_value(e, i);
		item->form_count = 1;
	}
}

/* --- Applying a choice --- */

static void add_trim(struct trim *t, struct str id, size_t item, const char *left)
{
	const struct budget_item *b = &t->items[item];
	const char *reason = t->e->strategy == STRATEGY_LAZY      ? "lazy"
			     : t->e->strategy == STRATEGY_SUMMARY ? "summary"
								  : "budget";

	t->e->trimmed[t->e->trim_count++] = (struct envelope_trim){
		.id = id,
		.tokens = b->cost[0],
		.score = round(b->value[0] * 1000) / 1000,
		.reason = str_of(reason),
		.form = str_of(left),
	};
}

static struct str ref_id(struct trim *t, const struct envelope_ref *r)
{
	return arena_printf(t->arena, "ms-%llu", (unsigned long long)r->id.num);
}

static void apply_refs(struct trim *t)
{
	struct envelope *e = t->e;

	e->ref_count = 0;
	for (size_t i = 0; i < t->all_count; i++) {
		int chosen = t->items[i].chosen;
		struct envelope_ref r = t->all[i];
		enum envelope_form form;

		if (chosen == BUDGET_NONE) {
			add_trim(t, ref_id(t, &r), i, "none");
			continue;
		}
		form = t->forms[i][chosen];
		r.form = form;
		r.text = form_text(&t->all[i], form);
		if (form != FORM_FULL) {
			r.redactions = form == FORM_SUMMARY ? r.summary_redactions : NULL;
			r.redaction_count = form == FORM_SUMMARY ? r.summary_redaction_count : 0;
		}
		r.tokens = t->items[i].cost[chosen];
		e->refs[e->ref_count++] = r;
		if (form != FORM_FULL)
			add_trim(t, ref_id(t, &r), i, envelope_form_name(form));
	}
}

static void apply(struct trim *t)
{
	struct envelope *e = t->e;

	e->trim_count = 0;
	apply_refs(t);
	for (size_t i = 0; i < e->history.count; i++)
		if (t->items[t->all_count + i].chosen == BUDGET_NONE)
			add_trim(t, arena_printf(t->arena, "history[%zu]", i), t->all_count + i, "none");
}

static void choose_all(struct trim *t, int chosen)
{
	for (size_t i = 0; i < t->count; i++)
		t->items[i].chosen = t->items[i].form_count ? chosen : BUDGET_NONE;
	apply(t);
}

/* What the prompt may take. */
static int64_t room_of(const struct envelope *e)
{
	return e->max_tokens - e->reserve;
}

/* The budget as a number of the prompt: it stands among the constraints, and behind what was left out. */
static void set_budget(struct envelope *e, int64_t tokens)
{
	e->max_tokens = tokens;
	for (uint32_t i = 0; i < e->constraints.count; i++)
		if (str_is(e->constraints.members[i].key, "max_tokens"))
			e->constraints.members[i].value = (struct json){.type = JSON_INT, .i = tokens};
}

/* Says what would do. The number is itself part of the prompt, so it is tried until it holds; a few tokens more leave
 * room for ids that have grown by a digit when the caller tries again. */
static enum problem_code too_small(struct trim *t, int64_t minimum, const char *what, struct problem *problem)
{
	int64_t budget = t->e->max_tokens;

	minimum += t->e->reserve;
	for (int round = 0; round < TRIM_ROUNDS && minimum > t->e->max_tokens; round++) {
		set_budget(t->e, minimum + SPARE_TOKENS);
		measure_core(t);
		minimum = count_prompt(t) + t->e->reserve;
	}
	minimum += SPARE_TOKENS;
	problem_set(problem, P_BUDGET_TOO_SMALL, "constraints.max_tokens",
		    "%s needs %lld tokens (%s); the budget is %lld", what, (long long)minimum,
		    tokenizer_name(t->tokenizer), (long long)budget);
	problem->extra_key = "minimum";
	problem->extra = minimum;
	return problem->code;
}

/* Chooses for less and less room until the prompt fits. */
static bool fit(struct trim *t, int64_t room)
{
	for (int round = 0; round < TRIM_ROUNDS; round++) {
		int64_t excess;

		budget_choose(t->items, t->count, room, t->arena);
		apply(t);
		t->e->token_count = count_prompt(t);
		excess = t->e->token_count - room_of(t->e);
		if (excess <= 0)
			return true;
		room -= excess + 4;
	}
	return false;
}

static enum problem_code choose(struct trim *t, struct problem *problem)
{
	struct envelope *e = t->e;
	int64_t least;

	choose_all(t, 0);
	e->token_count = count_prompt(t);
	if (e->token_count <= room_of(e))
		return P_OK;
	if (e->strategy == STRATEGY_FULL)
		return too_small(t, e->token_count, "the envelope with everything in it", problem);
	choose_all(t, BUDGET_NONE);
	e->token_count = least = count_prompt(t);
	if (least > room_of(e))
		return too_small(t, least, "the task with its constraints, without any memory,", problem);
	/* The list of what is left out shrinks as memories come in, so the room is at least what is free now. */
	if (fit(t, room_of(e) - least))
		return P_OK;
	choose_all(t, BUDGET_NONE);
	e->token_count = least;
	return P_OK;
}

enum problem_code assemble_trim(const struct assemble_tools *tools, const struct tokenizer *tokenizer,
				struct envelope *e, struct problem *problem)
{
	struct trim t = {
		.e = e, .tokenizer = tokenizer, .tokens = tools->tokens, .arena = tools->arena,
		.all = e->refs, .all_count = e->ref_count,
		.line_end = tokenizer_measure(tokenizer, STR("\n")),
	};
	enum problem_code code;

	e->refs = arena_calloc(tools->arena, t.all_count, sizeof(*e->refs));
	e->trimmed = arena_calloc(tools->arena, t.all_count + e->history.count, sizeof(*e->trimmed));
	buf_init(&t.scratch, RENDER_MAX_BYTES);
	measure_core(&t);
	make_items(&t);
	code = choose(&t, problem);
	buf_release(&t.scratch);
	return code;
}
