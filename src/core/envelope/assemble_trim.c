/* Trimming: what of the references and of the history the prompt has room for.
 *
 * The core of the prompt is never cut. Every other part is measured on its own, and budget_choose picks the forms that
 * are worth most together. What a part is worth does not depend on the budget, nor on what else is chosen; and where
 * not everything fits, the room is the budget less the longest frame that any choice can have (headings, and the line
 * about what was left out). So more room never carries less worth. What is told is always what was counted.
 */
#include "core/envelope/assemble_internal.h"
#include "core/envelope/assemble_measure.h"
#include "core/envelope/budget.h"
#include "core/envelope/render.h"

#include <math.h>
#include <stdio.h>

enum { TRIM_ROUNDS = 8, SHORT_TEXT_TOKENS = 64, SPARE_TOKENS = 4, FRAME_TOKENS = 6 };
enum { HOUR_MS = 3600 * 1000, WEEK_HOURS = 7 * 24 };
#define REPEATED 0.1

struct trim {
	struct envelope *e;
	const struct tokenizer *tokenizer;
	struct arena *arena;
	struct buf scratch;
	struct measure measure;
	struct budget_item *items;	/* the references, then the history */
	enum envelope_form (*forms)[BUDGET_FORMS];	/* what form f of item i is */
	struct measures (*measures)[BUDGET_FORMS];	/* of it, for the references */
	struct token_key *texts, *summaries;		/* of the references */
	size_t count;
	/* As collected: the choice starts from these every time. */
	struct envelope_ref *all;
	size_t all_count;
	size_t quiet_from;		/* what is left out from here on is not told in the prompt */
};

/* The reference of the choice at hand that stands last in the prompt (render_follows); all_count where there is none.
 */
static size_t last_of_choice(const struct trim *t)
{
	size_t last = t->all_count;

	for (size_t i = 0; i < t->all_count; i++)
		if (t->items[i].chosen != BUDGET_NONE &&
		    (last == t->all_count || render_follows(&t->all[i], &t->all[last])))
			last = i;
	return last;
}

/* The prompt of the choice at hand. In which order the references stand makes no difference, but for the last. */
static int64_t count_prompt(struct trim *t)
{
	struct measures sum = measure_before_refs(&t->measure);
	size_t last = last_of_choice(t);

	for (size_t i = 0; i < t->all_count; i++)
		if (t->items[i].chosen != BUDGET_NONE && i != last)
			measure_append_ref(&sum, t->measures[i][t->items[i].chosen]);
	if (last < t->all_count)
		measure_append_ref(&sum, t->measures[last][t->items[last].chosen]);
	return measure_tokens(&t->measure, sum);
}

/* --- What an item is worth --- */

/* What was named or pinned comes before what is relevant. */
static double reason_weight(enum envelope_why why)
{
	switch (why) {
	case WHY_CITED:
	case WHY_PINNED:
		return 40;
	case WHY_INHERITED:
		return 10;
	case WHY_RELEVANT:
	case WHY_RECENT:
		break;
	}
	return 3;
}

static bool is_named(enum envelope_why why)
{
	return why == WHY_CITED || why == WHY_PINNED;
}

/* Of what was named or pinned, that it is there at all is half of its worth. */
static double form_weight(enum envelope_why why, enum envelope_form form)
{
	if (form == FORM_FULL)
		return 1;
	return form == FORM_SUMMARY ? (is_named(why) ? 0.8 : 0.6) : (is_named(why) ? 0.5 : 0.15);
}

/* What came by relevance alone is worth as much as it is likely to be needed: of what search finds with a relevance of
 * r, a share of about 0.7 * r^4 was needed, in labelled conversations. What only repeats another is worth little. */
static double relevance_weight(const struct envelope_ref *r)
{
	if (r->why != WHY_RELEVANT)
		return 1;
	return pow(r->relevance, 4) * (r->repeats ? REPEATED : 1);
}

/* Low to critical: each step doubles. New before old: up to half as much again, fading by half every week. Ages are
 * whole hours, so that the same question a moment later has the same answer. */
static double ref_value(const struct envelope *e, const struct envelope_ref *r)
{
	int64_t hours = (e->created_at_ms - r->created_at_ms) / HOUR_MS;

	return reason_weight(r->why) * relevance_weight(r) * pow(2, (double)r->importance - 1) *
	       (1 + 0.5 * pow(2, -(double)(hours > 0 ? hours : 0) / WEEK_HOURS));
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
	m = measure_ref(&t->measure, &r, form == FORM_SUMMARY ? t->summaries[i] : t->texts[i]);
	t->measures[i][item->form_count] = m;
	item->cost[item->form_count] = measure_cost(&t->measure, m);
	item->value[item->form_count] = budget_value(ref_value(t->e, &r) * form_weight(r.why, form));
	t->forms[i][item->form_count++] = form;
}

/* The forms that the strategy allows, the best first. A text without a summary is kept whole by "summary" where it is
 * short anyway. */
static void make_ref_item(struct trim *t, size_t i)
{
	enum envelope_strategy strategy = t->e->strategy;
	const struct envelope_ref *r = &t->all[i];

	if (assemble_is_below_floor(t->e, r)) {
		add_form(t, i, FORM_REF);
		return;
	}
	if (strategy == STRATEGY_PRIORITY || strategy == STRATEGY_FULL)
		add_form(t, i, FORM_FULL);
	if ((strategy == STRATEGY_PRIORITY || strategy == STRATEGY_SUMMARY) && r->summary.p)
		add_form(t, i, FORM_SUMMARY);
	if (strategy == STRATEGY_SUMMARY && r->summary.p == NULL) {
		add_form(t, i, FORM_FULL);
		if (t->items[i].cost[0] > SHORT_TEXT_TOKENS)
			t->items[i].form_count = 0;
	}
	/* That a memory exists that nobody named says little: the line about what was left out names the best. */
	if (strategy != STRATEGY_FULL && (strategy != STRATEGY_PRIORITY || r->why != WHY_RELEVANT))
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
			t->texts[i] = measure_key(&t->measure, r->text);
		if (r->summary.p)
			t->summaries[i] = measure_key(&t->measure, r->summary);
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
		item->value[0] = budget_value(history_value(e, i));
		item->form_count = 1;
	}
}

/* --- Applying a choice --- */

static void add_trim(struct trim *t, struct str id, size_t item, const char *left)
{
	static const struct envelope_ref step = {.why = WHY_RELEVANT, .trust = TRUST_SYSTEM};
	const struct budget_item *b = &t->items[item];
	const struct envelope_ref *r = item < t->all_count ? &t->all[item] : &step;
	const char *reason = assemble_is_below_floor(t->e, r)      ? "trust_floor"
			     : t->e->strategy == STRATEGY_LAZY      ? "lazy"
			     : t->e->strategy == STRATEGY_SUMMARY ? "summary"
			     : item < t->all_count && item >= t->quiet_from ? "room"
			     : r->repeats && r->why == WHY_RELEVANT	    ? "repetition"
									    : "budget";

	t->e->trimmed[t->e->trim_count++] = (struct envelope_trim){
		.id = id,
		.tokens = b->cost[0],
		.score = round(b->value[0] * 1000) / 1000,
		.reason = str_of(reason),
		.form = str_of(left),
		.why = r->why,
		.relevance = r->relevance,
		.repeats = r->repeats,
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

static double worth_of(const struct trim *t)
{
	double worth = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].chosen != BUDGET_NONE)
			worth += t->items[i].value[t->items[i].chosen];
	return worth;
}

static void apply(struct trim *t)
{
	struct envelope *e = t->e;

	e->worth = round(worth_of(t) * 1000) / 1000;
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

/* Says what would do. A few tokens more leave room for ids that have grown by a digit when the caller tries again. */
static enum problem_code too_small(struct trim *t, int64_t count, const char *what, struct problem *problem)
{
	int64_t minimum = count + t->e->reserve + SPARE_TOKENS;

	problem_set(problem, P_BUDGET_TOO_SMALL, "constraints.max_tokens",
		    "%s needs %lld tokens (%s); the budget is %lld", what, (long long)minimum,
		    tokenizer_name(t->tokenizer), (long long)t->e->max_tokens);
	problem->extra_key = "minimum";
	problem->extra = minimum;
	return problem->code;
}

/* Tokens of the prompt without memories and steps, and with the longest line about what was left out. A few more are
 * for what counts otherwise beside other parts: the end of the last memory, and how many were left out. */
static int64_t count_frame(struct trim *t)
{
	struct envelope *e = t->e, saved = *e;
	int64_t count;

	choose_all(t, BUDGET_NONE);
	e->trimmed = render_longest_trimmed(e, t->arena, &e->trim_count);
	count = count_prompt(t) + (t->all_count ? measure_memory_head(&t->measure) : 0) + FRAME_TOKENS;
	*e = saved;
	return count;
}

/* The first choice fits; that the room is narrowed otherwise is for a frame that nobody has thought of. */
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
		room -= excess;
	}
	return false;
}

/* --- Without a word about what is left out --- */

/* The last references, from the given one on, are left behind, and the prompt does not speak of them. */
static void leave_behind(struct trim *t, size_t from)
{
	for (size_t i = 0; i < t->count; i++)
		t->items[i].chosen = t->items[i].form_count && (i < from || i >= t->all_count) ? 0 : BUDGET_NONE;
	t->quiet_from = from;
	apply(t);
}

static double worth_up_to(const struct trim *t, size_t from)
{
	double worth = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].form_count && (i < from || i >= t->all_count))
			worth += t->items[i].value[0];
	return worth;
}

static size_t first_relevant(const struct trim *t)
{
	size_t first = t->all_count;

	while (first > 0 && t->all[first - 1].why == WHY_RELEVANT)
		first--;
	return first;
}

/* From which reference on the last ones, which came by relevance, have to be left behind so that the rest fits whole;
 * all_count where even all of them are not enough. */
static size_t fewest_left_behind(struct trim *t)
{
	size_t low = first_relevant(t), high = t->all_count, found = t->all_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		leave_behind(t, middle);
		if (count_prompt(t) > room_of(t->e)) {
			high = middle;
		} else {
			found = middle;
			low = middle + 1;
		}
	}
	return found;
}

/* The rest is left behind; the prompt speaks of it where that fits, too. */
static void tell_where_it_fits(struct trim *t, size_t from)
{
	leave_behind(t, from);
	t->quiet_from = t->all_count;
	apply(t);
	if (count_prompt(t) > room_of(t->e))
		leave_behind(t, from);
}

/* --- Choosing --- */

/* What fits whole without a word about the rest, or the best choice with it. The line about what was left out needs
 * room, too: without the first, who asks for one memory more could get less. */
static enum problem_code choose_some(struct trim *t, struct problem *problem)
{
	struct envelope *e = t->e;
	size_t quiet = fewest_left_behind(t);
	int64_t least, quiet_least;

	leave_behind(t, first_relevant(t));
	quiet_least = count_prompt(t);
	t->quiet_from = t->all_count;
	choose_all(t, BUDGET_NONE);
	least = count_prompt(t);
	if (quiet == t->all_count && least > room_of(e))
		return too_small(t, least < quiet_least ? least : quiet_least,
				 "the task with its constraints, without any memory,", problem);
	if (least > room_of(e) || !fit(t, room_of(e) - count_frame(t)))
		choose_all(t, BUDGET_NONE);
	if (quiet < t->all_count && (least > room_of(e) || worth_up_to(t, quiet) > worth_of(t)))
		tell_where_it_fits(t, quiet);
	e->token_count = count_prompt(t);
	return P_OK;
}

static enum problem_code choose(struct trim *t, struct problem *problem)
{
	struct envelope *e = t->e;

	choose_all(t, 0);
	e->token_count = count_prompt(t);
	if (e->token_count <= room_of(e))
		return P_OK;
	if (e->strategy == STRATEGY_FULL)
		return too_small(t, e->token_count, "the envelope with everything in it", problem);
	return choose_some(t, problem);
}

enum problem_code assemble_trim(const struct assemble_tools *tools, const struct tokenizer *tokenizer,
				struct envelope *e, struct problem *problem)
{
	struct trim t = {
		.e = e, .tokenizer = tokenizer, .arena = tools->arena, .all = e->refs, .all_count = e->ref_count,
		.quiet_from = e->ref_count,
	};
	enum problem_code code;

	e->refs = arena_calloc(tools->arena, t.all_count, sizeof(*e->refs));
	e->trimmed = arena_calloc(tools->arena, t.all_count + e->history.count, sizeof(*e->trimmed));
	buf_init(&t.scratch, RENDER_MAX_BYTES);
	measure_init(&t.measure, e, tokenizer, tools->tokens);
	make_items(&t);
	code = choose(&t, problem);
	measure_release(&t.measure);
	buf_release(&t.scratch);
	return code;
}
