/* The table of tools. Sentences are short: a model pays for each word in each conversation. */
#include "api/mcp/tool.h"

#include "api/describe/descriptions.h"
#include "api/mcp/memory_text.h"
#include "api/mcp/parked_tool.h"
#include "api/mcp/receive_tool.h"

#define AGENT \
	{"agent", PLACE_OWN, NULL, false, \
	 "'type':'string','description':'You. Only if the connection does not say it.'"}
#define ID(says) {"id", PLACE_PATH, says, true, NULL}
#define LEASE {"lease", PLACE_BODY, "", true, NULL}
#define PAGE {"page_token", PLACE_QUERY, "", false, NULL}
#define ARGS(...) .args = (const struct tool_arg[]){__VA_ARGS__, {0}}
#define SHOWS(...) .shows = (const struct shown[]){__VA_ARGS__, {0}}
#define WITHIN(...) (const struct shown[]){__VA_ARGS__, {0}}

/* --- Which of several calls --- */

static const struct description *choose_pin(struct mcp_call *m)
{
	const struct json *pinned = tool_arg(m, "pinned", JSON_BOOL);

	return pinned && !pinned->boolean ? &describe_unpin_memory : &describe_pin_memory;
}

static const struct description *choose_handoff(struct mcp_call *m)
{
	const struct json *send = tool_arg(m, "send", JSON_BOOL);

	return send && !send->boolean ? &describe_pack : &describe_send;
}

/* The name of the call is the verb. */
static const struct description *choose_settle(struct mcp_call *m)
{
	const struct json *verb = tool_arg(m, "verb", JSON_STRING);

	for (size_t i = 0; verb && i < TOOL_CALLS_MAX && m->tool->calls[i]; i++)
		if (str_is(verb->s, m->tool->calls[i]->id))
			return m->tool->calls[i];
	problem_set(&m->call.op->problem, P_INVALID_FIELD, "verb", "verb is missing or not known; expected complete, "
		    "ack, progress, nack, release or reject");
	return NULL;
}

/* An envelope that was only packed is answered as it is sealed; a model needs its id. */
static const struct json *as_sent(struct mcp_call *m, const struct json *answer)
{
	struct json *sent = arena_zalloc(m->call.op->arena, sizeof(*sent));
	const struct json *id = json_get(answer, "id"), *to = json_get(answer, "to");

	if (m->calls != &describe_pack || id == NULL || to == NULL)
		return answer;
	sent->type = JSON_OBJECT;
	sent->members = arena_alloc(m->call.op->arena, 2 * sizeof(*sent->members));
	tool_add_member(sent, STR("envelope_id"), *id);
	tool_add_member(sent, STR("to"), *to);
	return sent;
}

/* --- The table --- */

const struct tool tools[] = {
	{
		.name = "memory_store", .title = "Store a memory",
		.says = "Use when you learn something that later work or other agents must know: a fact, a decision, a "
			"result.",
		.calls = {&describe_store_memory},
		ARGS({"content", PLACE_BODY, "", true, NULL},
		     {"kind", PLACE_BODY, "note, fact, decision, …", false, NULL},
		     {"tags", PLACE_BODY, "", false, NULL}, {"importance", PLACE_BODY, "", false, NULL},
		     {"task", PLACE_BODY, "Absent: the whole space's.", false, NULL},
		     {"supersedes", PLACE_BODY, "The memory it replaces.", false, NULL}, AGENT),
		SHOWS({"id", NULL}, {"version", NULL}),
	},
	{
		.name = "memory_search", .title = "Search memories", .hints = TOOL_READS | TOOL_REPEATS,
		.says = "Use before you decide or ask: finds what was stored. Without query: the newest.",
		.calls = {&describe_list_memories}, .text = memory_text,
		ARGS({"query", PLACE_QUERY, "", false, NULL}, {"tag", PLACE_QUERY, "", false, NULL},
		     {"kind", PLACE_QUERY, "", false, NULL}, {"task", PLACE_QUERY, "", false, NULL},
		     {"page_size", PLACE_QUERY, "", false, NULL}, PAGE),
		SHOWS({"memories", WITHIN({"id", NULL}, {"content", NULL}, {"kind", NULL}, {"tags", NULL},
					  {"agent", NULL}, {"task", NULL}, {"trust", NULL}, {"flags", NULL},
					  {"created_at", NULL})},
		      {"next_page_token", NULL}),
	},
	{
		.name = "memory_get", .title = "Read a memory", .hints = TOOL_READS | TOOL_REPEATS,
		.says = "Use when you have an id, ms-12 or, of a version, ms-12@2.",
		.calls = {&describe_read_memory}, .text = memory_text, ARGS(ID("")),
		SHOWS({"id", NULL}, {"version", NULL}, {"content", NULL}, {"kind", NULL}, {"tags", NULL},
		      {"agent", NULL}, {"task", NULL}, {"trust", NULL}, {"flags", NULL}, {"superseded_by", NULL},
		      {"created_at", NULL}, {"quarantined_at", NULL}),
	},
	{
		.name = "memory_pin", .title = "Pin a memory", .hints = TOOL_REPEATS,
		.says = "Use when every handoff must carry a memory (or no longer: pinned false).",
		.calls = {&describe_pin_memory, &describe_unpin_memory}, .choose = choose_pin,
		ARGS(ID(""), {"pinned", PLACE_OWN, NULL, false, "'type':'boolean'"}),
		SHOWS({"id", NULL}, {"pinned", NULL}),
	},
	{
		.name = "agent_handoff", .title = "Hand work to an agent",
		.says = "Use when another agent should go on: packs the work with the memories it needs, and sends it.",
		.calls = {&describe_send, &describe_pack}, .choose = choose_handoff, .reshape = as_sent,
		ARGS({"target_agent", PLACE_PACK, "Who; next: by the routes.", true, NULL},
		     {"task_summary", PLACE_PACK, "What to accomplish.", true, NULL},
		     {"intent", PLACE_PACK, "The user's own words; first hop only.", false, NULL},
		     {"state", PLACE_PACK, "Where the work stands.", false, NULL},
		     {"task", PLACE_PACK, "", false, NULL},
		     {"parent", PLACE_PACK, "The envelope that it continues.", false, NULL},
		     {"refs", PLACE_PACK, "Memories that must go along.", false, NULL},
		     {"constraints", PLACE_PACK, "Key to value; they hold for all later hops. max_tokens is the "
		      "budget.", false, NULL},
		     {"expected_output", PLACE_PACK, "", false, NULL},
		     {"execution_history", PLACE_PACK, "What was done: agent, action, decision, why.", false, NULL},
		     {"open_decisions", PLACE_PACK, "", false, NULL},
		     {"priority", PLACE_BODY, "0 to 9.", false, NULL},
		     {"send", PLACE_OWN, NULL, false, "'type':'boolean','description':'false: only pack, for "
		      "channel_publish.'"}, AGENT),
		SHOWS({"id", NULL}, {"envelope_id", NULL}, {"to", NULL}, {"state", NULL}, {"held_until", NULL}),
	},
	{
		.name = "handoff_receive", .title = "Receive work", .hints = TOOL_TASK,
		.says = "Use to take the next work that was sent to you, or wait for it. Nothing there is no error: "
			"call again, or stop. Settle what you got.",
		.calls = {&describe_receive}, .before = receive_tool_before, .fill = receive_tool_fill,
		.prepare = receive_tool_prepare, .reshape = receive_tool_reshape, .text = receive_tool_text,
		ARGS({"wait_s", PLACE_OWN, NULL, false, "'type':'number','description':'25 unless given, at most 50.'"},
		     {"lease_s", PLACE_BODY, "How long it is yours before you settle it; 300.", false, NULL}, AGENT),
		SHOWS({"handoffs", WITHIN({"id", NULL}, {"lease", NULL}, {"lease_expires_at", NULL}, {"from", NULL},
					  {"envelope_id", NULL}, {"attempt", NULL}, {"prompt", NULL},
					  {"flags", NULL}, {"problem", NULL})},
		      {"next", NULL}),
	},
	{
		.name = "handoff_settle", .title = "Settle a handoff",
		.says = "Use when you have received a handoff: complete with result when done; ack to accept it for "
			"longer work; progress to keep it; nack if you failed; release if you are stopped; reject to "
			"refuse it.",
		.calls = {&describe_complete, &describe_ack, &describe_progress, &describe_nack, &describe_release,
			  &describe_reject},
		.choose = choose_settle,
		ARGS(ID(""), LEASE,
		     {"verb", PLACE_OWN, NULL, true, "'enum':['complete','ack','progress','nack','release','reject']"},
		     {"result", PLACE_BODY, "Of complete: any JSON.", false, NULL},
		     {"reason", PLACE_BODY, "Of nack, release, reject.", false, NULL},
		     {"note", PLACE_BODY, "Of progress.", false, NULL},
		     {"work_lease_s", PLACE_BODY, "Of ack, progress: you report within that time.", false, NULL},
		     {"gaps", PLACE_BODY, "What was missing.", false, NULL},
		     {"then", PLACE_BODY, "Of complete, ack: hand on at once: {envelope: arguments of agent_handoff}.",
		      false, NULL}),
		SHOWS({"id", NULL}, {"state", NULL}, {"result_memory", NULL},
		      {"then", WITHIN({"id", NULL}, {"envelope_id", NULL}, {"to", NULL}, {"state", NULL})}),
	},
	{
		.name = "handoff_need", .title = "Get memories of a handoff", .hints = TOOL_REPEATS,
		.says = "Use when a prompt names memories that it does not show; your lease is renewed, too.",
		.calls = {&describe_need}, .text = memory_text,
		ARGS(ID(""), LEASE, {"refs", PLACE_BODY, "", true, NULL}),
		SHOWS({"memories", WITHIN({"id", NULL}, {"content", NULL}, {"agent", NULL}, {"trust", NULL},
					  {"flags", NULL})},
		      {"missing", NULL}),
	},
	{
		.name = "handoff_trace", .title = "Trace a task", .hints = TOOL_READS | TOOL_REPEATS,
		.says = "Use to see who handed what to whom in a task, and what became of it.",
		.calls = {&describe_trace_task}, ARGS({"task", PLACE_PATH, "", true, NULL}, PAGE),
		SHOWS({"envelopes", WITHIN({"id", NULL}, {"from", NULL}, {"to", NULL}, {"summary", NULL})},
		      {"handoffs", WITHIN({"id", NULL}, {"envelope_id", NULL}, {"to", NULL}, {"state", NULL},
					  {"reason", NULL})},
		      {"next_page_token", NULL}),
	},
	{
		.name = "parked_list", .title = "List what is stuck", .hints = 0,
		.says = "Use when work did not arrive: lists what cannot go on without a person.",
		.calls = {&describe_list_parked}, .before = parked_tool_before,
		ARGS({"to", PLACE_QUERY, "", false, NULL}, {"from", PLACE_QUERY, "", false, NULL},
		     {"task", PLACE_QUERY, "", false, NULL}, PAGE,
		     {"decide", PLACE_OWN, NULL, false,
		      "'type':'boolean','description':'Ask the user what to do with the first.'"}),
		SHOWS({"parked", WITHIN({"id", NULL}, {"envelope_id", NULL}, {"from", NULL}, {"to", NULL},
					{"reason", NULL}, {"summary", NULL}, {"remedies", NULL})},
		      {"total", NULL}, {"next_page_token", NULL}, {"decided", NULL}),
	},
	{
		.name = "channel_publish", .title = "Publish to a channel",
		.says = "Use when many agents should get the same packed envelope.",
		.calls = {&describe_publish},
		ARGS({"channel", PLACE_PATH, "", true, NULL}, {"envelope_id", PLACE_BODY, "", true, NULL},
		     {"receivers", PLACE_BODY, "", false, NULL}),
		SHOWS({"channel", NULL}, {"handoffs", WITHIN({"id", NULL}, {"to", NULL}, {"state", NULL})}),
	},
	{
		.name = "spine_status", .title = "Server status", .hints = TOOL_READS | TOOL_REPEATS,
		.says = "Use when calls fail, or to learn the version and the space.",
		.calls = {&describe_status}, .args = (const struct tool_arg[]){{0}},
		SHOWS({"version", NULL}, {"status", NULL}, {"space", NULL}, {"memories", NULL}, {"uptime_s", NULL}),
	},
	{0},
};

const struct tool *tool_find(struct str name)
{
	for (const struct tool *t = tools; t->name; t++)
		if (str_is(name, t->name))
			return t;
	return NULL;
}
