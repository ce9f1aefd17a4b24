#include "core/watch/alerts_internal.h"

#include "base/mem.h"

#include <stdlib.h>

struct firing {
	enum alert_kind kind;
	int64_t id;
	int64_t space;
	struct str agent;		/* own bytes; p == NULL: none */
	enum alert_severity severity;
	double value, threshold;
	bool is_judged;			/* in the evaluation under way */
};

struct alerts {
	struct alert_rules rules;
	struct firing *firing;
	size_t count;
	size_t cap;
};

/* --- Evaluating --- */

static bool is_about(const struct firing *f, int64_t space, struct str agent)
{
	return f->space == space && (f->agent.p == NULL) == (agent.p == NULL) && str_eq(f->agent, agent);
}

static struct firing *find(const struct alerts *a, enum alert_kind kind, int64_t space, struct str agent)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->firing[i].kind == kind && is_about(&a->firing[i], space, agent))
			return &a->firing[i];
	return NULL;
}

struct changes {
	struct arena *arena;
	struct alert_change *list;
	size_t count;
	size_t cap;
};

static void add_change(struct changes *c, const struct alert_change *change)
{
	if (c->count == c->cap) {
		struct alert_change *more;

		c->cap = c->cap ? c->cap * 2 : 8;
		more = arena_calloc(c->arena, c->cap, sizeof(*more));
		if (c->count)
			memcpy(more, c->list, c->count * sizeof(*more));
		c->list = more;
	}
	c->list[c->count++] = *change;
}

static void consider(struct alerts *a, enum alert_kind kind, const struct alert_subject *s, struct changes *changes,
		     size_t *fresh)
{
	struct firing *f = find(a, kind, s->space, s->agent);
	struct alert_judgement j = alert_judge(&a->rules, kind, s);
	struct alert_change change = {
		.kind = kind,
		.id = f ? f->id : 0,
		.space = s->space,
		.agent = s->agent,
		.severity = j.severity,
		.value = j.value,
		.threshold = j.threshold,
	};

	if (f)
		f->is_judged = true;
	if (f == NULL && j.verdict == ALERT_BAD && a->count + *fresh < ALERTS_FIRING_MAX) {
		change.what = ALERT_FIRES;
		(*fresh)++;
	} else if (f && j.verdict == ALERT_BAD && j.severity > f->severity) {
		change.what = ALERT_RISES;
	} else if (f && j.verdict == ALERT_GOOD) {
		change.what = ALERT_RESOLVES;
		change.severity = f->severity;
		change.threshold = f->threshold;
	} else {
		return;
	}
	change.summary = alert_summary(&a->rules, kind, s, &j, changes->arena);
	add_change(changes, &change);
}

size_t alerts_evaluate(struct alerts *a, const struct alert_subject *subjects, size_t count, struct arena *arena,
		       struct alert_change **ret)
{
	struct changes changes = {.arena = arena};
	size_t fresh = 0;

	for (size_t i = 0; i < a->count; i++)
		a->firing[i].is_judged = false;
	for (size_t i = 0; i < count; i++)
		for (int kind = 0; kind < ALERT_KIND_COUNT; kind++)
			if (alert_kind_is_of_agent((enum alert_kind)kind) == (subjects[i].agent.p != NULL))
				consider(a, (enum alert_kind)kind, &subjects[i], &changes, &fresh);
	/* Nothing is known of its subject any more. */
	for (size_t i = 0; i < a->count; i++) {
		const struct firing *f = &a->firing[i];

		if (!f->is_judged)
			add_change(&changes, &(struct alert_change){
						     .what = ALERT_RESOLVES,
						     .kind = f->kind,
						     .id = f->id,
						     .space = f->space,
						     .agent = f->agent,
						     .severity = f->severity,
						     .threshold = f->threshold,
						     .summary = STR("nothing is known of it any more"),
					     });
	}
	*ret = changes.list;
	return changes.count;
}

bool alert_now(const struct alert_rules *rules, enum alert_kind kind, const struct alert_subject *subject,
	       struct arena *arena, double *ret_value, struct str *ret_summary)
{
	struct alert_judgement j = alert_judge(rules, kind, subject);
	const struct stats_counts *n = &alert_judge_view(subject->view)->counts;
	bool is_quiet = n->packed + n->handoffs + n->acked + n->failed == 0;

	if (j.verdict == ALERT_GOOD || (is_quiet && alert_rules_is_of_window(kind)))
		return false;
	*ret_value = j.value;
	*ret_summary = alert_summary(rules, kind, subject, &j, arena);
	return true;
}

/* --- What is firing --- */

static void begin(struct alerts *a, const struct firing *f)
{
	if (a->count == a->cap) {
		a->cap = a->cap ? a->cap * 2 : 8;
		a->firing = mem_reallocarray(a->firing, a->cap, sizeof(*a->firing));
	}
	a->firing[a->count] = *f;
	if (f->agent.p)
		a->firing[a->count].agent = (struct str){mem_strndup(f->agent.p, f->agent.n), f->agent.n};
	a->count++;
}

void alerts_apply(struct alerts *a, const struct alert_change *change, int64_t id)
{
	struct firing *f = find(a, change->kind, change->space, change->agent);

	if (change->what == ALERT_FIRES && f == NULL) {
		begin(a, &(struct firing){
				 .kind = change->kind,
				 .id = id,
				 .space = change->space,
				 .agent = change->agent,
				 .severity = change->severity,
				 .value = change->value,
				 .threshold = change->threshold,
			 });
	} else if (change->what == ALERT_RISES && f) {
		f->severity = change->severity;
		f->threshold = change->threshold;
	} else if (change->what == ALERT_RESOLVES && f) {
		free((char *)f->agent.p);
		*f = a->firing[--a->count];
	}
}

void alerts_forget(struct alerts *a, bool (*is_gone)(void *ctx, int64_t space), void *ctx)
{
	for (size_t i = a->count; i-- > 0;)
		if (is_gone(ctx, a->firing[i].space)) {
			free((char *)a->firing[i].agent.p);
			a->firing[i] = a->firing[--a->count];
		}
}

void alerts_restore(struct alerts *a, const struct alert_row *row)
{
	enum alert_kind kind;

	if (row->resolved_at_ms || !alert_kind_find(row->name, &kind) || find(a, kind, row->space, row->agent))
		return;
	begin(a, &(struct firing){
			 .kind = kind,
			 .id = row->id,
			 .space = row->space,
			 .agent = row->agent,
			 .severity = (enum alert_severity)row->severity,
			 .value = row->value,
			 .threshold = row->threshold,
		 });
}

struct alerts *alerts_new(const struct alert_rules *rules)
{
	struct alerts *a = mem_zalloc(sizeof(*a));

	a->rules = *rules;
	return a;
}

void alerts_free(struct alerts *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->count; i++)
		free((char *)a->firing[i].agent.p);
	free(a->firing);
	free(a);
}

size_t alerts_firing(const struct alerts *a)
{
	return a->count;
}

size_t alerts_firing_of(const struct alerts *a, enum alert_severity severity)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		count += a->firing[i].severity == severity;
	return count;
}
