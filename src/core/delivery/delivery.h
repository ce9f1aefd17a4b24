/* Delivery: what becomes of a handoff, from the moment it is sent to the moment somebody has settled it.
 *
 * Every function is one step of one transaction of the store: it reads what it must know, decides, and writes the
 * handoff, an event that tells what happened, and the breaker. Time and randomness are arguments; deadlines are columns
 * of the store (handoff_row.due_ms), and delivery_due() is the one function that carries out what time brings. So a
 * restart continues where the last commit was, and a simulation can play years in a second.
 *
 *     queued -> leased -> acked -> completed          core/delivery/handoff_state.h has the table
 *
 * FAILED ATTEMPTS. An attempt is used up by a receiver: it says so (nack), or its lease or work lease runs out. While
 * attempts are left the handoff is queued again, after a backoff of 2^n seconds with jitter. When they are used up the
 * fallback agents follow in order, each with attempts of its own; then it is parked, with the reason of the last of
 * them.
 *
 * GIVING BACK (release) uses none up: a receiver that is stopped says so, and another instance begins the same attempt.
 * The handoff keeps its place in the queue, and neither breaker nor figures count it. A loop of taking and giving back
 * is bounded by the number of leases: from the DELIVERY_FREE_LEASES-th on a release is a failed attempt.
 *
 * AN EMPTY CHAIR uses none up. What nobody takes stays queued until its queue timeout (queue_until_ms), then it is
 * parked. Where fallback agents are named it is passed on to them after as much time as its attempts would have taken;
 * where the last of them is not there either it goes back to the target and waits there. An agent that is at work is
 * no empty chair: while it holds a lease, or took or settled something within that time, its queue waits for it.
 *
 * BEHIND AN OPEN BREAKER (breaker.c) what is queued is held, and goes on by itself.
 *
 * A SENDER THAT WAITS limits the whole by expires_at_ms: then the handoff is withdrawn (expired) until it is sent
 * again, which is the next attempt of the same handoff. Until then nobody's not taking it is no failed attempt, unless
 * the sender gave an ack timeout or fallbacks with its wait (is_retried): it counts the attempts itself.
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
	/* As many as a sender may allow attempts: giving back ends no later than failing may. */
	DELIVERY_FREE_LEASES = DELIVERY_ATTEMPTS_MAX,
	DELIVERY_BACKOFF_MAX_MS = 30000,
	DELIVERY_TIMEOUT_MAX_MS = 24 * 3600 * 1000,
	DELIVERY_PRIORITY = 5,
	DELIVERY_PRIORITY_MAX = 9,
	DELIVERY_FALLBACKS_MAX = 16,
	DELIVERY_LOOK_MS = 1000,		/* what waits for an agent at work is not looked at more often */
	DELIVERY_BRING_BACK_MAX = 64,		/* so many are redriven in a step, as many as a page of a list has */
	DELIVERY_SEEN_EVERY_MS = 1000,		/* how exactly it is known when an agent was last seen */
	BREAKER_FAILURES = 3,
	BREAKER_OPEN_MS = 60000,
};

/* A day: long enough for a night, a weekend's deploy is told by an alert long before. */
#define DELIVERY_QUEUE_TIMEOUT_MS INT64_C(86400000)
/* A year, for queue timeouts and for not_before: more is a mistake in the unit. */
#define DELIVERY_LATER_MAX_MS (366 * INT64_C(86400000))

/* One step's surroundings. Borrowed. */
struct delivery {
	struct store_conn *conn;
	struct arena *arena;
	int64_t space;
	int64_t now_ms;
	uint64_t *random;			/* the state of a generator; any value but 0 */
	int64_t queue_timeout_ms;		/* the server's; 0: DELIVERY_QUEUE_TIMEOUT_MS */
	int64_t breaker_open_ms;		/* the same; 0: BREAKER_OPEN_MS */
	struct str actor;			/* who asked; p == NULL: unknown */
	uint64_t access_key;			/* the key that let them in; 0: none did */
	struct str only_of;			/* of what was sent before, sending changes what this agent has sent;
						 * p == NULL: all */
	bool is_blind;				/* who asked may not read: delivery_withhold */
	/* Optional: told of every handoff that was written, as it is now, and of the state that it was in before;
	 * HANDOFF_STATES: it is new, or new to its channel. */
	void (*changed)(void *ctx, const struct handoff_row *h, enum handoff_state before);
	/* Optional: told of an agent whose breaker lets something through: now, or at that time. */
	void (*ready)(void *ctx, int64_t agent, int64_t at_ms);
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
	int64_t queue_timeout_ms;
	int64_t not_before_ms;			/* nobody gets it before; 0: at once. Not with wait_ms. */
	int64_t max_attempts;
	int priority;				/* -1: the default */
	const struct json *fallbacks;		/* an array of names; NULL: the agent's setting */
};

/* Sends an envelope to an agent, for the first time or again. Again: an expired handoff is queued once more, one that
 * is under way or was acked is returned as it is, one that was parked or discarded is refused. What somebody else has
 * sent (only_of) stays as it is in every case, and one that expired is refused. Behind an open breaker a fallback gets
 * it; where there is none it is held, or refused where its sender waits.
 */
enum problem_code delivery_send(struct delivery *d, const struct delivery_order *order, struct handoff_row *ret,
				struct problem *problem);

/* Was it sent by somebody whose handoffs it does not change? */
bool delivery_is_anothers(const struct delivery *d, const struct handoff_row *h);
/* Takes off what others have said of it, where who sends it again may not read, or has not sent it. Of rows that
 * sending gives that is done; for those that are read behind it, before they are shown. */
void delivery_withhold(const struct delivery *d, struct handoff_row *h);

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
/* The one that it would give now; ret->num is 0 where there is none, and ret->agent 0 where nobody knows the agent.
 * Writes nothing. */
enum problem_code delivery_peek(struct delivery *d, struct str agent, struct handoff_row *ret, struct problem *problem);
/* Takes back a handoff that could not be given to its receiver after all; no attempt is lost. Does nothing where the
 * lease is stale. */
enum problem_code delivery_release(struct delivery *d, uint64_t num, int64_t lease, struct problem *problem);

/* A receiver's answer. */
struct delivery_answer {
	enum handoff_verb verb;			/* ACK, NACK, RELEASE, REJECT, PROGRESS, COMPLETE */
	int64_t lease;
	int64_t work_lease_ms;			/* ACK, PROGRESS: 0: none, or as before */
	int64_t delay_ms;			/* NACK, RELEASE: until the next one; -1: the backoff, or 0 */
	struct str text;			/* NACK, RELEASE, REJECT: why; PROGRESS: a note; p == NULL: none */
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
/* When delivery_due has something to do next; 0: never. */
enum store_status delivery_next_due(struct store_conn *c, int64_t *ret_ms);

/* Sets h->held_until_ms: when the breaker of its agent lets the next one through, where h is held by it. */
enum problem_code delivery_look(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *h,
				struct problem *problem);

/* Is it given to nobody yet because its sender wants it later? Not where not_before is still to come, but a person has
 * let it go before: then it is queued, or backs off, and is due at another time. */
bool delivery_is_deferred(const struct handoff_row *h, int64_t now_ms);

/* A handoff of the space that is queued, also for later; the problem says where it is not, and cannot be "cancelled" or
 * "moved". */
enum problem_code delivery_get_queued(struct delivery *d, uint64_t num, const char *verb, struct handoff_row *ret,
				      struct problem *problem);
/* Takes back what is queued: nobody gets it any more. why.p may be NULL. */
enum problem_code delivery_cancel(struct delivery *d, uint64_t num, struct str why, struct handoff_row *ret,
				  struct problem *problem);
/* Gives what is queued to another agent, which becomes its target, with new attempts. */
enum problem_code delivery_hand_over(struct delivery *d, uint64_t num, struct str to, struct str why,
				     struct handoff_row *ret, struct problem *problem);

struct delivery_parking {
	uint64_t envelope;
	struct str to, from;		/* as the envelope says */
	struct str reason;
	struct str only_of;		/* what this agent has sent or has, and no other; p == NULL: all */
};
/* Parks what is not settled of an envelope; where it was never sent, a handoff to `to` is made and parked. What was
 * acked is its receiver's, and stays. *ret is the last one parked. */
enum problem_code delivery_park(struct delivery *d, const struct delivery_parking *order, struct handoff_row *ret,
				struct problem *problem);
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

/* Undoes what a person decided last: one that was discarded or cancelled is parked, and so is one that was redriven or
 * rerouted and that nobody has taken since. It stays with the agent that it is with. */
enum problem_code delivery_restore(struct delivery *d, uint64_t num, struct str why, struct handoff_row *ret,
				   struct problem *problem);
/* Only asks: *ret is the handoff as it is. */
enum problem_code delivery_may_restore(struct delivery *d, uint64_t num, struct handoff_row *ret,
				       struct problem *problem);

/* --- The circuit breaker of an agent --- */

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

enum breaker_state breaker_state(const struct target_row *target, int64_t now_ms);
enum problem_code breaker_reset(struct delivery *d, struct str agent, struct problem *problem);

#endif
