#include "core/delivery/handoff_state.h"

#define IN(state) (1u << HANDOFF_##state)

static const struct {
	unsigned from;
	unsigned to;
} verbs[HANDOFF_VERBS] = {
	[VERB_SEND] = {IN(EXPIRED) | IN(QUEUED) | IN(DELAYED), IN(QUEUED) | IN(DELAYED)},
	[VERB_TAKE] = {IN(QUEUED), IN(LEASED)},
	[VERB_RELEASE] = {IN(LEASED) | IN(WORKING) | IN(ACKED), IN(QUEUED) | IN(DELAYED) | IN(PARKED)},
	[VERB_ACK] = {IN(LEASED), IN(ACKED) | IN(WORKING)},
	[VERB_NACK] = {IN(LEASED) | IN(WORKING), IN(QUEUED) | IN(DELAYED) | IN(PARKED)},
	[VERB_REJECT] = {IN(LEASED) | IN(WORKING) | IN(ACKED), IN(QUEUED) | IN(PARKED)},
	[VERB_PROGRESS] = {IN(LEASED) | IN(WORKING) | IN(ACKED), IN(LEASED) | IN(WORKING) | IN(ACKED)},
	[VERB_COMPLETE] = {IN(LEASED) | IN(WORKING) | IN(ACKED), IN(COMPLETED)},
	[VERB_TIMEOUT] = {IN(QUEUED) | IN(DELAYED) | IN(LEASED) | IN(WORKING),
			  IN(QUEUED) | IN(DELAYED) | IN(PARKED) | IN(EXPIRED)},
	[VERB_PARK] = {IN(QUEUED) | IN(DELAYED) | IN(LEASED) | IN(EXPIRED), IN(PARKED)},
	[VERB_REDRIVE] = {IN(PARKED), IN(QUEUED)},
	[VERB_DISCARD] = {IN(PARKED), IN(DISCARDED)},
	[VERB_CANCEL] = {IN(QUEUED) | IN(DELAYED), IN(DISCARDED)},
	[VERB_HAND_OVER] = {IN(QUEUED) | IN(DELAYED), IN(QUEUED) | IN(DELAYED)},
	[VERB_RESTORE] = {IN(DISCARDED) | IN(QUEUED), IN(PARKED)},
};

static const char *const names[HANDOFF_STATES] = {
	[HANDOFF_QUEUED] = "queued", [HANDOFF_DELAYED] = "queued",  [HANDOFF_LEASED] = "leased",
	[HANDOFF_WORKING] = "acked", [HANDOFF_ACKED] = "acked",     [HANDOFF_COMPLETED] = "completed",
	[HANDOFF_PARKED] = "parked", [HANDOFF_EXPIRED] = "expired", [HANDOFF_DISCARDED] = "discarded",
};

const char *handoff_state_name(enum handoff_state state)
{
	return names[state];
}

unsigned handoff_state_set(struct str name)
{
	unsigned set = 0;

	for (int i = 0; i < HANDOFF_STATES; i++)
		if (str_is(name, names[i]))
			set |= 1u << i;
	return set;
}

bool handoff_allows(enum handoff_verb verb, enum handoff_state from)
{
	return verbs[verb].from >> from & 1;
}

bool handoff_allows_move(enum handoff_verb verb, enum handoff_state from, enum handoff_state to)
{
	return handoff_allows(verb, from) && (verbs[verb].to >> to & 1);
}

bool handoff_is_open(enum handoff_state state)
{
	return state <= HANDOFF_WORKING;
}
