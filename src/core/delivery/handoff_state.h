/* The states of a handoff and what may follow what, in one table. Nothing else decides that. */
#ifndef SPINE_CORE_HANDOFF_STATE_H
#define SPINE_CORE_HANDOFF_STATE_H

#include "store/records.h"

/* What can happen to a handoff. */
enum handoff_verb {
	VERB_SEND,		/* the sender delivers it again */
	VERB_TAKE,		/* a receiver gets it */
	VERB_RELEASE,		/* the receiver gives it back, or vanished before it had it: no attempt is used */
	VERB_ACK,
	VERB_NACK,
	VERB_REJECT,
	VERB_PROGRESS,
	VERB_COMPLETE,
	VERB_TIMEOUT,		/* it was due */
	VERB_PARK,
	VERB_REDRIVE,		/* to the same agent or to another */
	VERB_DISCARD,
	VERB_CANCEL,		/* taken back before anybody had it */
	VERB_HAND_OVER,		/* queued for another agent instead */
	VERB_RESTORE,		/* what a person decided last is undone */
	HANDOFF_VERBS
};

/* The states as they are called on the wire: QUEUED and DELAYED are both "queued", WORKING and ACKED both "acked". */
const char *handoff_state_name(enum handoff_state state);
/* The set (1 << state) of states with that name; 0 where there is none. */
unsigned handoff_state_set(struct str name);
/* May the verb happen to a handoff in that state? */
bool handoff_allows(enum handoff_verb verb, enum handoff_state from);
/* May the verb bring a handoff from one state to the other? */
bool handoff_allows_move(enum handoff_verb verb, enum handoff_state from, enum handoff_state to);
/* Something is still to happen to it by itself. */
bool handoff_is_open(enum handoff_state state);

#endif
