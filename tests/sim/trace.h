/* The last steps of a run, for whoever has to find out what went wrong; and the way out when something did. */
#ifndef SPINE_TESTS_SIM_TRACE_H
#define SPINE_TESTS_SIM_TRACE_H

#include "step.h"

#include <setjmp.h>

enum { TRACE_STEPS = 64 };

struct trace_line {
	int64_t now_ms;
	int shard;
	const char *what;		/* NULL: a step */
	int64_t number;			/* of what: a time, a count */
	enum step_kind kind;
	enum handoff_verb verb;		/* SETTLE */
	int64_t space;
	uint64_t num, envelope;
	struct str agent;
	int64_t lease;
	enum problem_code code;
	struct handoff_row before, after;	/* num 0: none */
	size_t change_count;
};

struct trace {
	uint64_t seed;
	bool is_verbose, is_silent;
	int shard;			/* that is at hand; 0 where there is one */
	const char *again;		/* how a seed is played again */
	jmp_buf out;			/* where trace_fail goes */
	void (*escape)(void *ctx);	/* NULL, or called first: the way out may be another stack's. May not return */
	void *escape_ctx;
	size_t count;
	struct trace_line lines[TRACE_STEPS];
};

/* A step was committed. */
void trace_step(struct trace *t, const struct record *r);
/* Something else happened. Borrows what. */
void trace_note(struct trace *t, int64_t now_ms, const char *what, int64_t number);
/* For the next run. */
void trace_begin(struct trace *t, uint64_t seed, const char *again);
/* Prints the seed and the last steps. */
void trace_dump(const struct trace *t);
/* Prints what is wrong, the seed, the last steps; the run ends. */
void trace_fail(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

#endif
