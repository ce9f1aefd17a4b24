/* A step: one call of core/delivery/delivery.h, what it was asked, what came of it, and what it did to the store. */
#ifndef SPINE_TESTS_SIM_STEP_H
#define SPINE_TESTS_SIM_STEP_H

#include "core/delivery/delivery.h"
#include "store/ram/ram_inspect.h"

enum step_kind {
	STEP_SEND,
	STEP_TAKE,
	STEP_RELEASE,
	STEP_SETTLE,
	STEP_DUE,
	STEP_PARK,
	STEP_REDRIVE,			/* to: to another agent */
	STEP_DISCARD,
	STEP_RESET,
	STEP_KINDS
};

struct step {
	enum step_kind kind;
	int64_t space;
	struct delivery_order order;	/* SEND */
	struct delivery_answer answer;	/* SETTLE; RELEASE: the lease */
	uint64_t num;			/* of the handoff in question */
	uint64_t envelope;		/* PARK */
	struct str agent;		/* TAKE, RESET: the agent; PARK, REDRIVE: to whom */
	struct str text;		/* PARK: the reason; REDRIVE, DISCARD: why; TAKE: the receiver */
	int64_t lease_ms;		/* TAKE */
	bool with_acked;		/* PARK */
	enum event_kind discard_as;	/* DISCARD */
	size_t max;			/* DUE */

	enum problem_code code;
	int64_t retry_after_ms;
	struct handoff_row row;		/* num 0: none */
	int64_t next_ms;		/* DUE */
};

struct step_target {
	int64_t agent;
	struct target_row row;		/* as the step left it */
};

/* A step that ran, with what it changed. Borrowed. */
struct record {
	struct step step;
	int64_t now_ms;
	const struct ram_change *changes;
	size_t change_count;
	const struct step_target *targets;
	size_t target_count;
	size_t events_from, events_to;	/* of the store's events */
	uint64_t untold;		/* a handoff that was written without a word to delivery.changed; 0: none */
};

/* An agent as the run set it up. 0 and NULL: the default. */
struct cast_agent {
	int64_t space;
	struct str name;
	int64_t ack_timeout_ms;
	int64_t max_attempts;
	const struct json *fallbacks;
};

struct cast {
	const struct cast_agent *agents;
	size_t count;
};

/* For people. Other than on the wire, each state has a name of its own. */
const char *step_name(enum step_kind kind);
const char *step_verb_name(enum handoff_verb verb);
const char *step_state_name(enum handoff_state state);

#endif
