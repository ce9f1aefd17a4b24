/* A prompt for picking up work, and completions of the names of agents. */
#include "api/describe/descriptions.h"
#include "api/mcp/fixture.h"
#include "api/mcp/methods.h"
#include "core/delivery/agent.h"

/* VALUES_MAX: the protocol's. */
enum { LIST_TTL_MS = 3600 * 1000, VALUES_MAX = 100 };

#define PROMPT "pick_up_work"

void prompts_list(struct mcp_call *m)
{
	struct json_writer *w = mcp_begin(m);

	json_key(w, "prompts");
	json_begin_array(w);
	json_put_raw(w, STR("{\"name\":\"" PROMPT "\",\"title\":\"Pick up work\","
			    "\"description\":\"Receive the next work of an agent, do it, and settle it.\","
			    "\"arguments\":[{\"name\":\"agent\",\"required\":false,"
			    "\"description\":\"Whose work; the connection's agent where absent.\"}]}"));
	fixture_put_prompts(w);
	json_end_array(w);
	mcp_cache(m, LIST_TTL_MS, true);
	mcp_end(m);
}

static void put_work(struct mcp_call *m, struct str agent)
{
	struct json_writer *w = mcp_begin(m);
	struct buf text;

	buf_init(&text, 8192);
	buf_printf(&text, "You are agent %.*s. Call handoff_receive%s. If nothing came, say so and stop. Otherwise do "
		   "what its prompt says, within its constraints. Fetch memories that it names but does not show with "
		   "handoff_need, and store what later work must know with memory_store. When you are done, call "
		   "handoff_settle with verb complete and your result; if you cannot do it, with nack or reject and "
		   "the reason; to hand it on, with then.", STR_ARG(agent),
		   http_req_header(m->req, "spine-agent").p ? "" : " with agent set to that name");
	json_member_cstr(w, "description", "Receive the next work, do it, and settle it.");
	json_key(w, "messages");
	json_begin_array(w);
	json_begin_object(w);
	json_member_cstr(w, "role", "user");
	json_key(w, "content");
	json_begin_object(w);
	json_member_cstr(w, "type", "text");
	json_member_str(w, "text", buf_str(&text));
	json_end_object(w);
	json_end_object(w);
	json_end_array(w);
	buf_release(&text);
	mcp_end(m);
}

void prompts_get(struct mcp_call *m)
{
	struct str name = mcp_param(m, "name");
	const struct json *agent = json_get(json_get(m->params, "arguments"), "agent");

	if (fixture_prompt(m, name))
		return;
	if (agent && agent->type == JSON_STRING && agent->s.n)
		m->agent = agent->s;
	if (!str_is(name, PROMPT))
		mcp_error(m, MCP_INVALID_PARAMS, "there is no prompt \"%.*s\"; prompts/list has them",
			  STR_ARG(mcp_short(name)));
	else if (mcp_agent(m).n > AGENT_NAME_MAX)
		mcp_error(m, MCP_INVALID_PARAMS, "agent has more than %d bytes", AGENT_NAME_MAX);
	else if (mcp_agent(m).p == NULL)
		mcp_error(m, MCP_INVALID_PARAMS, "agent is missing: nobody has said whose work it is");
	else
		put_work(m, mcp_agent(m));
}

/* --- completion/complete --- */

static void answer_values(struct mcp_call *m, const struct json *agents, struct str begins)
{
	struct json_writer *w = mcp_begin(m);
	int64_t total = 0;

	json_key(w, "completion");
	json_begin_object(w);
	json_key(w, "values");
	json_begin_array(w);
	for (uint32_t i = 0; agents && i < agents->count; i++) {
		const struct json *name = json_get(&agents->items[i], "name");

		if (name == NULL || name->type != JSON_STRING || !str_has_prefix(name->s, begins))
			continue;
		if (total++ < VALUES_MAX)
			json_put_str(w, name->s);
	}
	json_end_array(w);
	json_member_int(w, "total", total);
	json_member_bool(w, "hasMore", total > VALUES_MAX);
	json_end_object(w);
	mcp_end(m);
}

static void on_agents(struct mcp_call *m)
{
	const struct json *answer = m->call.op->problem.code == P_OK ? mcp_answer(m) : NULL;
	const struct json *value = json_get(json_get(m->params, "argument"), "value");

	if (answer == NULL)
		mcp_problem(m);
	else
		answer_values(m, json_get(answer, "agents"),
			      value && value->type == JSON_STRING ? value->s : STR(""));
}

static bool is_text(const struct json *of, const char *key, const char *text)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_STRING && str_is(value->s, text);
}

/* Only names of agents are known by their beginnings. */
void prompts_complete(struct mcp_call *m)
{
	const struct json *ref = json_get(m->params, "ref"), *argument = json_get(m->params, "argument");

	if (ref == NULL || ref->type != JSON_OBJECT || argument == NULL || argument->type != JSON_OBJECT) {
		mcp_error(m, MCP_INVALID_PARAMS, "ref and argument are missing; they say what is to be completed");
	} else if (!is_text(argument, "name", "agent") ||
		   !(is_text(ref, "name", PROMPT) || is_text(ref, "uri", "spine://inbox/{agent}"))) {
		answer_values(m, NULL, STR_NULL);
	} else if (mcp_make(m, &describe_list_agents)) {
		mcp_add_query(m, STR("page_size"), STR("1000"));
		mcp_run(m, on_agents);
	} else {
		mcp_problem(m);
	}
}
