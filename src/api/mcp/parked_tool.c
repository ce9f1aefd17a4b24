#include "api/mcp/parked_tool.h"

#include "api/describe/descriptions.h"
#include "api/mcp/ask.h"
#include "api/mcp/tool.h"
#include "core/envelope/render_text.h"

/* What a person chooses, and the operation that does it. */
static const struct {
	const char *name;
	const struct description *does;
} remedies[] = {
	{"redrive", &describe_redrive}, {"reroute", &describe_reroute}, {"discard", &describe_discard},
};

static struct str text_of(const struct json *of, const char *key)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

/* --- Asking --- */

static void put_form(struct json_writer *w)
{
	json_key(w, "requestedSchema");
	json_put_raw(w, STR("{\"type\":\"object\",\"properties\":{"
			    "\"remedy\":{\"type\":\"string\",\"title\":\"What to do\",\"enum\":[\"redrive\","
			    "\"reroute\",\"discard\"],\"description\":\"redrive: to the same agent again; reroute: to "
			    "another; discard: not at all\"},"
			    "\"to\":{\"type\":\"string\",\"title\":\"Agent\",\"description\":\"Of reroute.\"},"
			    "\"why\":{\"type\":\"string\",\"title\":\"Why\","
			    "\"description\":\"It stays in the events; discard needs it.\"}},"
			    "\"required\":[\"remedy\"]}"));
}

static void ask_about(struct mcp_call *m, const struct json *item)
{
	struct json_writer w;
	struct buf params, message;

	buf_init(&params, MCP_ANSWER_MAX);
	buf_init(&message, MCP_ANSWER_MAX);
	buf_printf(&message, "%.*s for ", STR_ARG(text_of(item, "id")));
	render_name(&message, text_of(item, "to"));
	buf_puts(&message, " is parked: ");
	render_span(&message, text_of(item, "reason"));
	buf_puts(&message, ". What is to be done with it?");
	json_writer_init(&w, &params);
	json_begin_object(&w);
	if (m->version >= MCP_2025_11_25)
		json_member_cstr(&w, "mode", "form");
	json_member_str(&w, "message", buf_str(&message));
	put_form(&w);
	json_end_object(&w);
	ask_begin(m);
	ask_add(m, "decision", "elicitation/create", buf_str(&params));
	ask_end(m, arena_str(http_req_arena(m->req), text_of(item, "id")));
	buf_release(&params);
	buf_release(&message);
}

/* The list is there: its first item is asked about; nothing parked is nothing to decide. */
static void on_listed(struct mcp_call *m)
{
	const struct json *answer = m->call.op->problem.code == P_OK ? mcp_answer(m) : NULL;
	const struct json *parked = json_get(answer, "parked");

	if (answer == NULL) {
		tool_problem(m);
	} else if (parked && parked->count) {
		ask_about(m, &parked->items[0]);
	} else {
		tool_put_answer(m, answer, mcp_begin(m));
		mcp_end(m);
	}
}

/* --- Doing it --- */

static void answer_decided(struct mcp_call *m, struct str text)
{
	struct json_member decided = {STR("decided"), {.type = JSON_STRING, .s = text}};

	tool_put_answer(m, &(struct json){.type = JSON_OBJECT, .count = 1, .members = &decided}, mcp_begin(m));
	mcp_end(m);
}

static void on_decided(struct mcp_call *m)
{
	const struct json *answer = m->call.op->problem.code == P_OK ? mcp_answer(m) : NULL;

	if (answer == NULL)
		tool_problem(m);
	else
		answer_decided(m, arena_printf(m->call.op->arena, "%.*s is %.*s now, as the user decided.",
					       STR_ARG(m->state), STR_ARG(text_of(answer, "state"))));
}

static void add_text(struct mcp_call *m, const struct json *content, const char *key)
{
	struct str text = text_of(content, key);

	if (text.n)
		tool_add_member(&m->call.body, str_of(key), (struct json){.type = JSON_STRING, .s = text});
}

/* The agent has asked, and a person has decided: the events say so. */
static struct str user_of(struct mcp_call *m)
{
	struct str agent = mcp_agent(m);

	if (agent.p == NULL)
		return STR("a user");
	return arena_printf(m->call.op->arena, "the user of %.*s", STR_ARG(mcp_short(agent)));
}

static void decide(struct mcp_call *m, const struct json *content)
{
	const struct description *does = NULL;

	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (str_is(text_of(content, "remedy"), remedies[i].name))
			does = remedies[i].does;
	if (does == NULL) {
		tool_error(m, "The user's answer names no remedy; nothing was changed.");
		return;
	}
	if (!mcp_make(m, does)) {
		tool_problem(m);
		return;
	}
	m->call.params[0] = m->state;
	m->call.body.members = arena_alloc(m->call.op->arena, 3 * sizeof(*m->call.body.members));
	/* The key of an agent signs with that agent's name and no other. */
	if (m->access == NULL || m->access->agent.p == NULL)
		tool_add_member(&m->call.body, STR("by"), (struct json){.type = JSON_STRING, .s = user_of(m)});
	add_text(m, content, "why");
	if (does == &describe_reroute)
		add_text(m, content, "to");
	mcp_run(m, on_decided);
}

bool parked_tool_before(struct mcp_call *m)
{
	const struct json *wants = tool_arg(m, "decide", JSON_BOOL), *input = ask_input(m, "decision");

	if (wants == NULL || !wants->boolean)
		return false;
	if (!(m->client & MCP_CAN_ELICIT)) {
		tool_error(m, "This client cannot ask its user. Call parked_list without decide, and let a person "
			   "decide: on the dashboard, or with `spine parked`.");
		return true;
	}
	if (input == NULL || m->state.p == NULL) {
		/* Nobody asks his user for what this key may not do. All remedies need the same scope. */
		if (!mcp_make(m, remedies[0].does)) {
			tool_problem(m);
			return true;
		}
		m->done = on_listed;
		return false;
	}
	if (str_is(text_of(input, "action"), "accept"))
		decide(m, json_get(input, "content"));
	else
		answer_decided(m, STR("The user decided nothing; nothing was changed."));
	return true;
}
