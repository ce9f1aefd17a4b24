/* What the key of an agent may look at of what agents hand to each other.
 *
 * An agent sees what it takes part in. A handoff: that it has sent, that is or was its own, or whose envelope goes on
 * from one that it has packed. An envelope, and its task: where one envelope of the task was packed by it, is addressed
 * to it, or was handed over by or to it. Everything else is answered as what is not there. Whoever else asks (no keys,
 * a key that is bound to no agent, admin) sees everything, and nothing is read to decide that.
 *
 * Nobody joins a task of others by naming it: packing asks party_check_task, too. */
#ifndef SPINE_ENGINE_PARTY_H
#define SPINE_ENGINE_PARTY_H

#include "engine/op.h"

enum { PARTY_MEMO = 64 };

struct party {
	struct str agent;		/* p == NULL: sees everything; borrowed from the access */
	bool sees_keys;			/* and what was done with keys: as reading them is, that is for admin */
	int64_t id;			/* of the agent; 0: the space has none that is called so */
	int64_t space;
	struct store_conn *conn;
	struct {
		uint64_t handoff;
		bool sees;
	} memo[PARTY_MEMO];		/* a page tells of few handoffs many times */
};

/* For one read: what it has seen may change behind it. */
enum store_status party_init(struct party *p, const struct access *access, int64_t space, struct store_conn *c);

/* A filter of lists that shows what the agent has sent and what is or was meant for it. */
void party_filter(const struct party *p, struct handoff_filter *filter);
/* was_its: also what it had for a while, between others. That takes a look at the events of the handoff. */
enum store_status party_sees_handoff(struct party *p, const struct handoff_row *h, bool was_its, bool *ret);
/* Leaves out the events of handoffs and envelopes that it does not see, and those of keys. Those of what a space shares
 * stay. */
enum store_status party_keep_events(struct party *p, struct event_row *rows, size_t *count);
/* Takes it part in the task? In an operation that reads, or prepares: a large task is looked through by a worker. */
enum store_status party_takes_part(struct party *p, struct op *op, struct str task, bool *ret);

/* Where it does not see that: the problem of one that is not there, with `field`. What is not there is P_OK; whoever
 * reads it says so. */
enum problem_code party_check_envelope(struct op *op, struct store_conn *c, uint64_t num, const char *field);
enum problem_code party_check_task(struct op *op, struct store_conn *c, struct str task);
/* The same of the task that whoever stores something says to work on. */
enum problem_code party_check_task_of_caller(struct op *op, struct store_conn *c);
/* To pack in a task of others is P_FORBIDDEN: that it is there cannot be hidden from who chooses a name. */
enum problem_code party_check_joins(struct op *op, struct store_conn *c, struct str task);
/* Has it packed the envelope, or published it to the channel? */
enum store_status party_has_published(struct party *p, uint64_t envelope, int64_t channel, bool *ret);

#endif
