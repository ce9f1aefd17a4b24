#include "step.h"

static const char *const verb_names[HANDOFF_VERBS] = {
	[VERB_SEND] = "send again", [VERB_TAKE] = "take", [VERB_RELEASE] = "release", [VERB_ACK] = "ack",
			[VERB_NACK] = "nack",
	[VERB_REJECT] = "reject", [VERB_PROGRESS] = "progress", [VERB_COMPLETE] = "complete",
			[VERB_TIMEOUT] = "timeout",
	[VERB_PARK] = "park", [VERB_REDRIVE] = "redrive", [VERB_DISCARD] = "discard",
	[VERB_CANCEL] = "cancel", [VERB_HAND_OVER] = "move",
	[VERB_RESTORE] = "restore",
};

static const char *const state_names[HANDOFF_STATES] = {
	[HANDOFF_QUEUED] = "queued", [HANDOFF_DELAYED] = "delayed", [HANDOFF_LEASED] = "leased",
			[HANDOFF_WORKING] = "working",
	[HANDOFF_ACKED] = "acked", [HANDOFF_COMPLETED] = "completed", [HANDOFF_PARKED] = "parked",
			[HANDOFF_EXPIRED] = "expired",
	[HANDOFF_DISCARDED] = "discarded",
};

static const char *const step_names[STEP_KINDS] = {
	[STEP_SEND] = "send", [STEP_TAKE] = "take", [STEP_RELEASE] = "release", [STEP_SETTLE] = "settle",
			[STEP_DUE] = "due",
	[STEP_PARK] = "park", [STEP_REDRIVE] = "redrive", [STEP_DISCARD] = "discard", [STEP_RESET] = "breaker reset",
	[STEP_PUBLISH] = "publish", [STEP_LOOK] = "look again", [STEP_SHRINK] = "shrink", [STEP_PACK] = "pack",
	[STEP_JOIN] = "join", [STEP_GET] = "get", [STEP_CANCEL] = "cancel", [STEP_MOVE] = "move",
	[STEP_RESTORE] = "restore",
};

const char *step_name(enum step_kind kind)
{
	return step_names[kind];
}

const char *step_verb_name(enum handoff_verb verb)
{
	return verb_names[verb];
}

const char *step_state_name(enum handoff_state state)
{
	return state_names[state];
}
