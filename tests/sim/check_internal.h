/* What the files of the checker share. */
#ifndef SPINE_TESTS_SIM_CHECK_INTERNAL_H
#define SPINE_TESTS_SIM_CHECK_INTERNAL_H

#include "base/list.h"
#include "check.h"

enum { CHECK_SPACES = 4, CHECK_AGENTS = 256, CHECK_SLAB = 512, CHECK_EVENTS = 4096 };

struct shadow {
	struct handoff_row row;			/* as it was committed */
	bool is_live;				/* the newest token may settle */
	const struct json *fallbacks;		/* all that were named */
	uint32_t fallbacks_used;
	int last_event;				/* what happened to it last */
	uint64_t then;				/* what was handed on with it; 0: nothing */
	struct delivery_order then_order;	/* by what */
	bool is_pruned;
	uint64_t memory;			/* of its result; 0: none */
	struct list queued, held;		/* of its agent */
	struct shadow *next_of_envelope;	/* made before this one */
};

struct shadow_agent {
	struct target_row target;		/* seen_at_ms: exactly */
	int64_t busy;				/* leases and work leases that are out */
	struct list queued, held;		/* held: by receivers */
	bool is_touched;			/* by the step at hand */
};

struct shadow_space {
	struct shadow **slabs;
	size_t slab_count;
	size_t count;
	struct shadow **envelopes;
	size_t envelope_cap;
};

struct promise {
	int64_t space;
	uint64_t num;
	int64_t lease;
	int kind;				/* the event that must be there */
};

struct expected_event {
	int kind;
	int64_t space;
	uint64_t num;				/* 0: of a breaker */
	int64_t agent;
	bool is_matched;
};

/* What a handoff must become. */
struct want {
	struct shadow *s;
	struct handoff_row row;			/* due_ms: at the earliest */
	int64_t due_max_ms;
	int64_t queue_until_max_ms;
	const struct json *fallbacks;		/* all that were named */
	uint32_t fallbacks_used;
	bool is_live;
	enum handoff_verb verb;
};

struct check {
	struct store_conn *store;
	struct trace *trace;
	struct tally *tally;
	const struct cast *cast;
	struct shadow_space spaces[CHECK_SPACES];
	struct shadow_agent agents[CHECK_AGENTS];
	uint64_t memories[CHECK_SPACES];	/* so many results were made into memories, and are there */
	struct space_keep keep;
	struct event_row *log;			/* all that was ever told, in its order */
	bool *log_is_pruned;
	size_t log_count, log_cap;
	size_t open;
	struct promise *promises;
	size_t promise_count, promise_cap;
	uint64_t hash;

	/* The step at hand. */
	const struct record *r;
	size_t changes_used;
	size_t events_end;			/* of the steps before */
	struct expected_event *events;
	size_t event_count;
	bool is_many;				/* the step is about several: it answers with the first */
	bool is_refused;			/* an envelope was not packed, and that is to be told */
	uint64_t remembered;			/* the handoff whose result becomes a memory; 0: none */
	int64_t touched[64];
	size_t touched_count;
};

#define CHECK(k, condition, ...) \
	do { \
		if (!(condition)) \
			trace_fail((k)->trace, __VA_ARGS__); \
	} while (0)

/* check.c */

struct shadow *check_shadow(const struct check *k, int64_t space, uint64_t num);
bool check_same_row(const struct handoff_row *a, const struct handoff_row *b);
struct shadow *check_find(const struct check *k, int64_t space, uint64_t envelope, int64_t target);
/* Does the agent have another handoff of the envelope than this one, as its target or as a fallback? */
bool check_has(const struct check *k, const struct handoff_row *row, int64_t agent);
/* The id of an agent; 0 where there is none. */
int64_t check_agent_id(const struct check *k, int64_t space, struct str name);
struct want check_want(struct shadow *s, enum handoff_verb verb);
/* The next change of the step must be this one, and only this. */
void check_apply(struct check *k, struct want *w);
/* The same for a new handoff; w->s is made. */
void check_apply_new(struct check *k, struct want *w, const struct json *fallbacks);
/* The changes that are left are notices to the sender. */
void check_notices(struct check *k);
void check_expect_event(struct check *k, const struct want *w, enum event_kind kind);

/* check_model.c: what the protocol says. Each predicts, and expects the events. */

void model_wait(struct check *k, struct want *w, const struct delivery_order *o);
void model_end_wait(struct want *w);
void model_offer(struct check *k, struct want *w);
/* The queue timeout counts from then, or from then, on. */
void model_queue(struct want *w, int64_t from_ms, int64_t to_ms);
/* Not later than its sender waits. */
void model_set_due(struct want *w, int64_t from_ms, int64_t to_ms);
void model_fail(struct check *k, struct want *w, int64_t delay_ms, bool is_final);
/* It may go to an agent where it begins anew. */
void model_begin_anew(struct check *k, struct want *w, bool is_probe);
/* Gives it to the next fallback that may have it; false where there is none. *ret_is_probe: its breaker was
 * half-open. */
bool model_fallback(struct check *k, struct want *w, bool *ret_is_probe);
/* May a new handoff go to the agent? */
bool model_admits(struct check *k, int64_t agent, bool *ret_is_probe, int64_t *ret_reset_ms);
/* The first of the queue that may be taken at that time; *ret_is_probe: it is the probe then. NULL: none may. */
struct shadow *model_next(struct check *k, int64_t agent, int64_t now_ms, bool *ret_is_probe);
/* It is not the probe of its agent any more. */
void model_leave(struct check *k, const struct handoff_row *row);
void model_seen(struct check *k, int64_t agent);
void model_accepted(struct check *k, int64_t agent);
void model_exhausted(struct check *k, struct want *w);
struct shadow_agent *model_touch(struct check *k, int64_t agent);

/* check_prune.c */

/* The handoff is what was committed, or what is left of it. */
void prune_check_row(struct check *k, struct shadow *s);
/* The events that are there are those that were told, but for what was pruned. */
void prune_check_log(struct check *k);
/* Was the envelope pruned, with its handoffs? */
bool prune_has_envelope(const struct check *k, int64_t space, uint64_t envelope);
/* Is it pruned? Then the answer must say so. */
bool prune_is_gone(struct check *k, const struct shadow *s);
/* Is the last event of the handoff still kept? */
bool prune_has_last_event(const struct check *k, const struct shadow *s);

/* check_history.c */

void history_check(struct check *k);

/* check_queue.c */

void queue_check_due(struct check *k);
void queue_check_cancel(struct check *k);
void queue_check_move(struct check *k);
void queue_check_restore(struct check *k);

/* check_steps.c */

void steps_expect_code(struct check *k, enum problem_code code);
/* The answer tells of the handoff as it was committed. */
void steps_expect_answer(struct check *k, const struct shadow *s);

void steps_check(struct check *k);

#endif
