/* A step: one operation, or what time brings; what was asked, what came of it, and what it did to the store. */
#ifndef SPINE_TESTS_SIM_STEP_H
#define SPINE_TESTS_SIM_STEP_H

#include "core/delivery/delivery.h"
#include "engine/delivery/join.h"
#include "store/ram/ram_faults.h"
#include "store/ram/ram_inspect.h"

enum step_kind {
	STEP_SEND,
	STEP_PUBLISH,
	STEP_LOOK,			/* a sender that waited looks again */
	STEP_TAKE,
	STEP_RELEASE,			/* the receiver had gone */
	STEP_SETTLE,
	STEP_DUE,
	STEP_PARK,
	STEP_REDRIVE,			/* to: to another agent */
	STEP_DISCARD,
	STEP_CANCEL,
	STEP_MOVE,
	STEP_RESTORE,
	STEP_SHRINK,
	STEP_PACK,			/* a child of an envelope that may have none: its handoffs are parked */
	STEP_RESET,
	STEP_JOIN,
	STEP_GET,			/* reads; nothing is recorded */
	STEP_KINDS
};

enum { STEP_NAMES_MAX = 6, STEP_TAKE_MAX = 3 };

struct step {
	enum step_kind kind;
	int64_t space;
	struct str sender;		/* who asks; p == NULL: nobody says */
	struct str key;			/* p == NULL: none */
	struct delivery_order order;	/* SEND, PUBLISH; SHRINK: of the new one */
	struct str names[STEP_NAMES_MAX];	/* PUBLISH: the receivers */
	size_t name_count;
	struct delivery_answer answer;	/* SETTLE; RELEASE: the lease */
	bool has_result;		/* SETTLE: complete with something to remember */
	bool hands_on;			/* SETTLE: with `then` */
	struct delivery_order then;
	struct step *item;		/* TAKE: this is settled first; NULL: nothing is */
	uint64_t num;			/* of the handoff in question */
	uint64_t envelope;		/* PARK, JOIN; PACK: the parent */
	struct str agent;		/* TAKE, RESET: the agent; REDRIVE, MOVE: to whom; PARK, SHRINK: set by it */
	struct str text;		/* PARK: the reason; REDRIVE, DISCARD: why; TAKE: the receiver */
	int64_t lease_ms;		/* TAKE */
	int64_t max_take;
	int64_t wait_ms;		/* TAKE, JOIN */
	int64_t need;			/* JOIN: 0: all */
	size_t max;			/* DUE */

	enum problem_code code;
	int64_t retry_after_ms;
	struct handoff_row row;		/* num 0: none. PUBLISH, TAKE: the first */
	struct handoff_row next;	/* SETTLE: what was handed on with it; num 0: nothing */
	uint64_t noted;			/* SETTLE: what the store has as handed on with it, at once afterwards */
	struct handoff_row taken[STEP_TAKE_MAX];
	size_t count;			/* TAKE, PUBLISH, JOIN: so many handoffs */
	enum join_state join_state;
	size_t completed;		/* JOIN */
	int64_t next_ms;		/* DUE: when the next is due, as the store has it */
	bool is_waiting;		/* it is not answered yet */
	bool is_over;			/* it has waited long enough */
	bool is_replayed;
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
	uint64_t untold;		/* a handoff that was written without a word to those who follow; 0: none */
};

/* An agent as the run set it up. 0 and NULL: the default. */
struct cast_agent {
	int64_t space;
	struct str name;
	int64_t ack_timeout_ms;
	int64_t max_attempts;
	int64_t queue_timeout_ms;
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
