/* Delivery: what becomes of a handoff, from the moment it is sent to the moment somebody has settled it.
 *
 * Every function is one step of one transaction of the store: it reads what it must know, decides, and writes the
 * handoff, an event that tells what happened, and the breaker. Time and randomness are arguments; deadlines are columns
 * of the store (handoff_row.due_ms), and delivery_due() is the one function that carries out what time brings. So a
 * restart continues where the last commit was, and a simulation can play years in a second.
 *
 *     queued -> leased -> acked -> completed          core/delivery/handoff_state.h has the table
 *
 * FAILED ATTEMPTS. An attempt fails when the receiver says so (nack), when its lease or work lease runs out, or when
 * nobody takes the handoff within the ack timeout. While attempts are left it is queued again: after a backoff of 2^n
 * seconds with jitter where a receiver had it, at once where nobody did (there is nothing to back off from). When they
 * are used up the fallback agents follow in order, each with attempts of its own; then it is parked. An agent that is
 * at work is not dead: while it holds a lease, or took or settled something within the ack timeout, what waits in its
 * queue keeps waiting and loses no attempt. It is put off until the lease ends. Where that ends before its time, the
 * first of the queue is due after its ack timeout again; if nobody takes that one the agent is dead, and it wakes the
 * others.
 *
 * A SENDER THAT WAITS limits the whole by expires_at_ms: then the handoff is withdrawn (expired) until it is sent
 * again, which is the next attempt of the same handoff. Until then nobody's not taking it is no failed attempt, unless
 * the sender gave an ack timeout or fallbacks with its wait (is_retried).
 */
#ifndef SPINE_CORE_DELIVERY_H
#define SPINE_CORE_DELIVERY_H

#include "codec/json.h"
#include "core/watch/event.h"
#include "core/delivery/handoff_state.h"
#include "core/memory/memory.h"
#include "core/problem.h"

enum {
	DELIVERY_ACK_TIMEOUT_MS = 15000,
	DELIVERY_ATTEMPTS = 3,
	DELIVERY_ATTEMPTS_MAX = 100,
	DELIVERY_BACKOFF_MAX_MS = 30000,
	DELIVERY_TIMEOUT_MAX_MS = 24 * 3600 * 1000,
	DELIVERY_PRIORITY = 5,
	DELIVERY_PRIORITY_MAX = 9,
	DELIVERY_FALLBACKS_MAX = 16,
	DELIVERY_LOOK_MS = 1000,		/* what waits for an agent at work is not looked at more often */
	DELIVERY_PUT_OFF_MAX_MS = 600000,	/* nor more seldom */
	DELIVERY_WAKE_MAX = 64,
	DELIVERY_SEEN_EVERY_MS = 1000,		/* how exactly it is known when an agent was last seen */
	BREAKER_FAILURES = 3,
	BREAKER_OPEN_MS = 60000,
};

/* One step's surroundings. Borrowed. */
struct delivery {
	struct store_conn *conn;
	struct arena *arena;
	int64_t space;
	int64_t now_ms;
	uint64_t *random;			/* the state of a generator; any value but 0 */
	struct str actor;			/* who asked; p == NULL: unknown */
	/* Optional: told of every handoff that was written, as it is now, and of the state that it was in before;
	 * HANDOFF_STATES: it is new, or new to its channel. */
	void (*changed)(void *ctx, const struct handoff_row *h, enum handoff_state before);
	void *ctx;
	/* Set by delivery_settle: what a completion has made of its result, for the index; num 0: nothing. */
	struct memory made;
	uint64_t result_memory;			/* the memory that is the result, whenever it was made; 0: none */
	bool is_repeated;			/* it had been carried out before, and nothing was changed */
};

/* What a sender asks for. 0 and NULL: the agent's setting, or the default. */
struct delivery_order {
	uint64_t envelope;
	struct str to;
	struct str from;			/* p == NULL: unknown */
	struct str channel_name;
	int64_t channel;			/* 0: direct. A channel passes an open breaker. */
	bool is_new;				/* the envelope is being made with it: it was not sent before */
	bool is_forced;				/* a person wants it: the breaker is not asked */
	int64_t wait_ms;			/* how long the sender waits for the ack; 0: not at all */
	int64_t ack_timeout_ms;
	int64_t max_attempts;
	int priority;				/* -1: the default */
	const struct json *fallbacks;		/* an array of names; NULL: the agent's setting */
};

/* Sends an envelope to an agent, for the first time or again. Again: an expired handoff is queued once more (where the
 * breaker lets it), one that is under way or was acked is returned as it is, one that was parked or discarded is
 * refused.
 */
enum problem_code delivery_send(struct delivery *d, const struct delivery_order *order, struct handoff_row *ret,
				struct problem *problem);

/* The same in two steps, for a caller that has something to write between them: what the plan refuses has changed
 * nothing, and what it allows for an envelope that is new is not refused any more. */
struct delivery_plan {
	const struct delivery_order *order;
	struct handoff_row row;
	bool is_again;
	bool is_probe;
};

enum problem_code delivery_plan(struct delivery *d, const struct delivery_order *order, struct delivery_plan *ret,
				struct problem *problem);
enum problem_code delivery_carry_out(struct delivery *d, const struct delivery_plan *plan, struct handoff_row *ret,
				     struct problem *problem);

/* Gives the next handoff of the agent to a receiver. lease_ms 0: the handoff's ack timeout. Where there is none
 * ret->num is 0. */
enum problem_code delivery_take(struct delivery *d, struct str agent, int64_t lease_ms, struct str receiver,
				struct handoff_row *ret, struct problem *problem);
/* Takes back a handoff that could not be given to its receiver after all; no attempt is lost. Does nothing where the
 * lease is stale. */
enum problem_code delivery_release(struct delivery *d, uint64_t num, int64_t lease, struct problem *problem);

/* A receiver's answer. */
struct delivery_answer {
	enum handoff_verb verb;			/* ACK, NACK, REJECT, PROGRESS, COMPLETE */
	int64_t lease;
	int64_t work_lease_ms;			/* ACK, PROGRESS: 0: none, or as before */
	int64_t delay_ms;			/* NACK: until the next attempt; -1: the backoff */
	struct str text;			/* NACK, REJECT: the reason; PROGRESS: a note; p == NULL: none */
	struct result_row result;		/* ACK: gaps and tokens; COMPLETE: all */
	bool has_result;
	struct memory_draft *memory;		/* COMPLETE: what the result becomes (result.h); NULL: nothing */
};

/* Would it be carried out now? False where the lease is stale, or where it was carried out before. */
bool delivery_is_due_settle(const struct handoff_row *h, const struct delivery_answer *answer);

/* A completion whose result becomes a memory makes that in the same transaction. The same ack or completion again is
 * answered as before and changes nothing; a completion with another result, and a
 * stale lease, is refused and changes nothing. */
enum problem_code delivery_settle(struct delivery *d, uint64_t num, const struct delivery_answer *answer,
				  struct handoff_row *ret, struct problem *problem);

/* Carries out up to max things that are due, in any space. *ret_next_ms: when to call it next; 0: nothing is waiting.
 */
enum problem_code delivery_due(struct delivery *d, size_t max, int64_t *ret_next_ms, struct problem *problem);

/* Parks what is not settled of an envelope; where it was never sent, a handoff to `to` is made and parked. with_acked:
 * also what was acked, because the chain cannot go on. *ret is the last one parked. */
enum problem_code delivery_park(struct delivery *d, uint64_t envelope, struct str to, struct str from,
				struct str reason, bool with_acked, struct handoff_row *ret, struct problem *problem);
/* What can be done about one that is parked, or was discarded; NULL-terminated. */
const char *const *delivery_remedies(enum handoff_state state);
/* A handoff of the space that is parked; the problem says where it is not, or not any more. */
enum problem_code delivery_get_parked(struct delivery *d, uint64_t num, struct handoff_row *ret,
				      struct problem *problem);
/* Out of parked: to the same agent (to.p == NULL) or to another, with new attempts. */
enum problem_code delivery_redrive(struct delivery *d, uint64_t num, struct str to, struct str why,
				   struct handoff_row *ret, struct problem *problem);
/* kind EVENT_DISCARDED or EVENT_SHRUNK. */
enum problem_code delivery_discard(struct delivery *d, uint64_t num, enum event_kind kind, struct str why,
				   struct handoff_row *ret, struct problem *problem);

/* --- The circuit breaker of an agent --- */

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

enum breaker_state breaker_state(const struct target_row *target, int64_t now_ms);
enum problem_code breaker_reset(struct delivery *d, struct str agent, struct problem *problem);

#endif
