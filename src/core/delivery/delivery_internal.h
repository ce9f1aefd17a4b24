/* What the files of delivery share. Nobody else includes this. */
#ifndef SPINE_CORE_DELIVERY_INTERNAL_H
#define SPINE_CORE_DELIVERY_INTERNAL_H

#include "core/delivery/delivery.h"

/* delivery_send.c */

enum { DELIVERY_NAMES_MAX = 1 << 16 };

/* A list of agents as it is kept; p == NULL where it is empty. */
struct str delivery_names(struct arena *arena, const struct json *names);

/* delivery.c */

/* Moves h to a state, writes it, tells of it. Asserts that the table allows it. */
enum problem_code delivery_move(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				enum handoff_state to, struct problem *problem);
/* Writes h, which was in that state before, and tells of it. */
enum problem_code delivery_put(struct delivery *d, const struct handoff_row *h, enum handoff_state before,
			       struct problem *problem);
/* Writes h, whose state stays, and tells of it. */
enum problem_code delivery_write(struct delivery *d, const struct handoff_row *h, struct problem *problem);
/* Adds an event about h. note.p may be NULL. */
enum problem_code delivery_tell(struct delivery *d, const struct handoff_row *h, enum event_kind kind, struct str note,
				struct problem *problem);
/* The same, of something that used up the attempts with the agent: see event.h. */
enum problem_code delivery_tell_exhausted(struct delivery *d, const struct handoff_row *h, enum event_kind kind,
					  struct str note, struct problem *problem);
/* A handoff of the space; the problem says where there is none. */
enum problem_code delivery_get(struct delivery *d, uint64_t num, struct handoff_row *ret, struct problem *problem);
/* When a deadline of the current state ends, or the sender's patience, whichever is first. */
int64_t delivery_due_at(const struct handoff_row *h, int64_t deadline_ms);
/* How long what is queued waits for a receiver, until something else is tried, or nothing any more. */
int64_t delivery_offered_until(const struct delivery *d, const struct handoff_row *h);
/* After so much time without a receiver something else is tried; 0: nothing is. */
int64_t delivery_patience_ms(const struct handoff_row *h);
/* The queue timeout counts from then on. */
void delivery_begin_queue(const struct delivery *d, struct handoff_row *h, int64_t from_ms);
/* The sender does not wait any more. */
void delivery_end_wait(struct handoff_row *h);
/* Offers h to its agent from now on: queued, with a deadline. Moves it. */
enum problem_code delivery_offer(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				 struct problem *problem);

/* delivery_fail.c */

/* The attempt under way has failed; h->reason says why. delay_ms -1: the backoff. is_final: no further attempt with
 * this agent. */
enum problem_code delivery_fail(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, int64_t delay_ms,
				bool is_final, struct problem *problem);
/* P_ENVELOPE_PRUNED where it was pruned since somebody looked. */
enum problem_code delivery_check_kept(struct delivery *d, uint64_t envelope, struct problem *problem);
/* Queues h again, now or after delay_ms, with the attempt that it has. Moves it. */
enum problem_code delivery_put_back(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, int64_t delay_ms,
				    struct problem *problem);
/* Gives h to the next fallback that may take it, without writing anything. h->agent stays where there is none.
 * *ret_is_probe: its breaker is half-open, and this is the one that it lets through. */
enum problem_code delivery_next_fallback(struct delivery *d, struct handoff_row *h, bool *ret_is_probe,
					 struct problem *problem);
/* The attempts with this agent are used up: the next fallback, or parked. */
enum problem_code delivery_give_up(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, bool count,
				   struct problem *problem);

/* delivery_outage.c */

/* Redrives what an outage of the agent has parked, up to DELIVERY_BRING_BACK_MAX of it. */
enum problem_code delivery_bring_back(struct delivery *d, const struct target_due *t, size_t *ret_count,
				      bool *ret_has_more, struct problem *problem);

/* breaker.c */

/* What of an agent's queue may be taken. */
enum breaker_gives {
	BREAKER_GIVES_ALL,
	BREAKER_GIVES_PASSING,		/* only what passes */
	BREAKER_GIVES_PROBE,		/* the first, and that is the probe */
};

/* Somebody looks. */
enum problem_code breaker_peek(struct delivery *d, int64_t agent, enum breaker_gives *ret, struct problem *problem);
/* Somebody is there to take something. */
enum problem_code breaker_take(struct delivery *d, int64_t agent, enum breaker_gives *ret, struct problem *problem);

/* May a new handoff go to the agent? *ret_reset_ms is when to try again, where not. */
enum problem_code breaker_admits(struct delivery *d, int64_t agent, bool *ret, bool *ret_is_probe,
				 int64_t *ret_reset_ms, struct problem *problem);
/* The half-open breaker let this one through. */
enum problem_code breaker_probe(struct delivery *d, int64_t agent, uint64_t num, struct problem *problem);
/* h does not wait for its agent any more, and that says nothing of the agent: where h was the probe, the next one is.
 */
enum problem_code breaker_leave(struct delivery *d, const struct handoff_row *h, struct problem *problem);
/* The agent settled h; is_ack: it accepted it, so the breaker closes. */
enum problem_code breaker_seen(struct delivery *d, const struct handoff_row *h, bool is_ack, struct problem *problem);
/* When the agent was last seen; 0: never. */
enum problem_code breaker_last_seen(struct delivery *d, int64_t agent, int64_t *ret_ms, struct problem *problem);
/* A handoff has used up its attempts with the agent. */
enum problem_code breaker_failed(struct delivery *d, const struct handoff_row *h, struct problem *problem);
/* The time of the agent has come. So many handoffs were redriven. */
enum problem_code breaker_due(struct delivery *d, const struct target_due *t, size_t *ret_redriven,
			      struct problem *problem);

#endif
