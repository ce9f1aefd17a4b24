#include "trace.h"

#include <stdio.h>

static void print_row(const struct handoff_row *h)
{
	if (h->num == 0) {
		printf(" -");
		return;
	}
	printf(" %s@%.*s try %lld/%lld lease %lld due %lld exp %lld%s", step_state_name(h->state),
	       STR_ARG(h->agent_name),
	       (long long)h->attempt, (long long)h->max_attempts, (long long)h->leases, (long long)h->due_ms,
	       (long long)h->expires_at_ms,
	       h->is_exhausted ? " counted" : "");
}

static void print_line(const struct trace_line *l)
{
	if (l->what) {
		printf("  %10lld  --- %s %lld\n", (long long)l->now_ms, l->what, (long long)l->number);
		return;
	}
	printf("  %10lld  ", (long long)l->now_ms);
	if (l->shard)
		printf("#%d ", l->shard);
	printf("%s", step_name(l->kind));
	if (l->kind == STEP_SETTLE)
		printf(" %s", step_verb_name(l->verb));
	printf(" %lld/", (long long)l->space);
	if (l->num)
		printf("ho-%llu", (unsigned long long)l->num);
	if (l->lease)
		printf(".%lld", (long long)l->lease);
	if (l->envelope)
		printf(" env-%llu", (unsigned long long)l->envelope);
	if (l->agent.p)
		printf(" %.*s", STR_ARG(l->agent));
	printf(": %s", problem_kind(l->code)->name);
	if (l->change_count) {
		printf(" |");
		print_row(&l->before);
		printf(" =>");
		print_row(&l->after);
	}
	if (l->change_count > 1)
		printf(" (and %zu more)", l->change_count - 1);
	printf("\n");
}

static struct trace_line *next_line(struct trace *t)
{
	struct trace_line *l = &t->lines[t->count++ % TRACE_STEPS];

	*l = (struct trace_line){.shard = t->shard};
	return l;
}

static void shown(const struct trace *t, const struct trace_line *l)
{
	if (t->is_verbose) {
		print_line(l);
		fflush(stdout);
	}
}

void trace_step(struct trace *t, const struct record *r)
{
	const struct step *s = &r->step;
	struct trace_line *l;

	if (s->kind == STEP_DUE && r->change_count == 0 && !t->is_verbose)
		return;
	l = next_line(t);
	l->now_ms = r->now_ms;
	l->kind = s->kind;
	l->verb = s->answer.verb;
	l->space = s->space;
	l->num = s->num ? s->num : r->change_count ? r->changes[0].after.num : 0;
	l->lease = s->answer.lease;
	l->envelope = s->order.envelope ? s->order.envelope : s->envelope;
	l->agent = s->kind == STEP_SEND ? s->order.to : s->agent;
	l->code = s->code;
	l->change_count = r->change_count;
	if (r->change_count) {
		l->before = r->changes[0].before;
		l->after = r->changes[0].after;
	}
	shown(t, l);
}

void trace_note(struct trace *t, int64_t now_ms, const char *what, int64_t number)
{
	struct trace_line *l = next_line(t);

	l->now_ms = now_ms;
	l->what = what;
	l->number = number;
	shown(t, l);
}

void trace_begin(struct trace *t, uint64_t seed, const char *again)
{
	t->seed = seed;
	t->again = again;
	t->count = 0;
}

void trace_dump(const struct trace *t)
{
	size_t from = t->count > TRACE_STEPS ? t->count - TRACE_STEPS : 0;

	printf("seed %llu failed; the last steps:\n", (unsigned long long)t->seed);
	for (size_t i = from; i < t->count && !t->is_verbose; i++)
		print_line(&t->lines[i % TRACE_STEPS]);
	printf("all of them: build/tests/sim %s --seed %llu --verbose\n", t->again, (unsigned long long)t->seed);
	fflush(stdout);
}

static __attribute__((noreturn)) void leave(struct trace *t)
{
	if (t->escape)
		t->escape(t->escape_ctx);
	longjmp(t->out, 1);
}

void trace_fail(struct trace *t, const char *format, ...)
{
	va_list args;

	if (t->is_silent)
		leave(t);
	printf("\nseed %llu: ", (unsigned long long)t->seed);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	trace_dump(t);
	leave(t);
}
