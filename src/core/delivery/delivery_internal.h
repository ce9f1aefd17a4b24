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
/* How long what is queued waits for a receiver. A sender that waits decides that itself, unless it asked for more than
 * one attempt in its time. */
int64_t delivery_offered_until(const struct delivery *d, const struct handoff_row *h);
/* The sender does not wait any more. */
void delivery_end_wait(struct handoff_row *h);
/* Offers h to its agent from now on: queued, with a deadline. Moves it. */
enum problem_code delivery_offer(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				 struct problem *problem);

/* delivery_fail.c */

/* A lease of the agent has ended. Where that was the last, its queue is not behind anything any more: the first that
 * was put off is due after its ack timeout again. */
enum problem_code delivery_rouse(struct delivery *d, int64_t agent, struct problem *problem);

/* The attempt under way has failed; h->reason says why. delay_ms -1: the backoff. is_final: no further attempt with
 * this agent. */
enum problem_code delivery_fail(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, int64_t delay_ms,
				bool is_final, struct problem *problem);
/* Gives h to the next fallback that may take it, without writing anything. h->agent stays where there is none.
 * *ret_is_probe: its breaker is half-open, and this is the one that it lets through. */
enum problem_code delivery_next_fallback(struct delivery *d, struct handoff_row *h, bool *ret_is_probe,
					 struct problem *problem);
/* The attempts with this agent are used up: the next fallback, or parked. */
enum problem_code delivery_give_up(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, bool count,
				   struct problem *problem);

/* breaker.c */

/* May a new handoff go to the agent? *ret_reset_ms is when to try again, where not. */
enum problem_code breaker_admits(struct delivery *d, int64_t agent, bool *ret, bool *ret_is_probe,
				 int64_t *ret_reset_ms, struct problem *problem);
/* The half-open breaker let this one through. */
enum problem_code breaker_probe(struct delivery *d, int64_t agent, uint64_t num, struct problem *problem);
/* The agent took or settled something; is_ack: it accepted a handoff, so the breaker closes. */
enum problem_code breaker_seen(struct delivery *d, const struct handoff_row *h, int64_t agent, bool is_ack,
			       struct problem *problem);
/* When the agent was last seen; 0: never. */
enum problem_code breaker_last_seen(struct delivery *d, int64_t agent, int64_t *ret_ms, struct problem *problem);
/* A handoff has used up its attempts with the agent. */
enum problem_code breaker_failed(struct delivery *d, const struct handoff_row *h, struct problem *problem);

#endif
