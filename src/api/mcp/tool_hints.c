#include "api/mcp/tool_hints.h"

#include <stddef.h>

static const struct {
	enum problem_code code;
	const char *hint;
} hints[] = {
	{P_MEMORY_NOT_FOUND, "memory_search finds the ids of memories."},
	{P_MEMORY_FORGOTTEN, "It is gone for good; store it anew if it still holds."},
	{P_MEMORY_QUARANTINED, "It is not trusted: do not use it. A person decides what becomes of it."},
	{P_QUOTA_EXCEEDED, "Nothing was stored or sent. Where it says when, try again then; otherwise tell a person."},
	{P_ALREADY_SUPERSEDED, "memory_get tells what has replaced it."},
	{P_STALE_LEASE, "It is not yours any more: do not go on with it. handoff_receive gives you what is next."},
	{P_ALREADY_SETTLED, "Nothing more is to be done with it. handoff_receive gives you what is next."},
	{P_HANDOFF_NOT_FOUND, "Use the id that handoff_receive or agent_handoff has given, as in ho-12."},
	{P_ENVELOPE_NOT_FOUND, "agent_handoff packs envelopes and tells their ids, as in env-17."},
	{P_TASK_NOT_FOUND, "Leave task out, or take it from a prompt or from handoff_trace."},
	{P_CHANNEL_NOT_FOUND, "Give receivers, or have the channel made first."},
	{P_HANDOFF_PARKED, "parked_list shows it; a person decides what becomes of it."},
	{P_HOP_LIMIT, "Do not hand it on: settle what you hold with complete, or reject it with the reason."},
	{P_LOOP, "Do not hand it back without a new result: complete it, or reject it with the reason."},
	{P_INTENT_CONFLICT, "Leave intent out: it is inherited."},
	{P_TASK_CONFLICT, "Leave task out: it is inherited."},
	{P_PARENT_UNCLEAR, "Give parent: the envelope_id that came with the handoff you work on."},
	{P_CONSTRAINT_CONFLICT, "Keep the inherited value, or waive it with a reason."},
	{P_CREDENTIALS_FOUND, "Take the secret out, and say where it is kept instead."},
	{P_BUDGET_TOO_SMALL, "Raise constraints.max_tokens, or shorten what you send."},
	{P_NO_ROUTE, "Name the agent in target_agent."},
	{P_OUTCOME_UNKNOWN, "Do not repeat it blindly: tell a person, and look whether it is there."},
	{P_INVALID_PAGE_TOKEN, "Call again without page_token."},
};

const char *tool_hint(enum problem_code code)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].code == code)
			return hints[i].hint;
	return NULL;
}
