/* tools/call: arguments to the places that the table names, the operation, and its answer for a model. */
#include "api/mcp/tool.h"

#include "api/caller.h"
#include "api/describe/descriptions.h"
#include "api/http/entry.h"
#include "api/http/pace.h"
#include "api/mcp/fixture.h"
#include "api/mcp/methods.h"
#include "api/mcp/tool_hints.h"
#include "api/mcp/visible.h"
#include "codec/json_member.h"

#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE_MAX_BYTES = 65536, ERROR_MAX_BYTES = 4 * SENTENCE_MAX_BYTES };

const struct json *tool_arg(const struct mcp_call *m, const char *name, enum json_type type)
{
	const struct json *value = json_get(m->args, name);

	return value && value->type == type ? value : NULL;
}

/* --- Errors --- */

static void put_text(struct json_writer *w, struct str text)
{
	json_key(w, "content");
	json_begin_array(w);
	json_begin_object(w);
	json_member_cstr(w, "type", "text");
	json_member_str(w, "text", text);
	json_end_object(w);
	json_end_array(w);
}

static void answer_error(struct mcp_call *m, struct str text)
{
	struct json_writer *w = mcp_begin(m);
	struct buf visible;

	buf_init(&visible, ERROR_MAX_BYTES);
	visible_text(&visible, text);
	put_text(w, buf_str(&visible));
	json_member_bool(w, "isError", true);
	mcp_end(m);
	buf_release(&visible);
}

void tool_error(struct mcp_call *m, const char *format, ...)
{
	struct buf text;
	va_list args;

	buf_init(&text, SENTENCE_MAX_BYTES);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	answer_error(m, buf_str(&text));
	buf_release(&text);
}

void tool_problem(struct mcp_call *m)
{
	const struct problem *p = &m->call.op->problem;
	const char *hint = tool_hint(p->code);
	struct buf text;

	buf_init(&text, SENTENCE_MAX_BYTES);
	buf_printf(&text, "%s: %s.", problem_kind(p->code)->name, p->detail);
	if (hint)
		buf_printf(&text, " %s", hint);
	else if (p->retry_after_ms && problem_is_retryable(p))
		buf_printf(&text, " Try again in %lld s.", (long long)(p->retry_after_ms + 999) / 1000);
	else if (problem_is_retryable(p))
		buf_puts(&text, " The same call may succeed later.");
	for (const char *const *r = p->remedies; r && *r; r++)
		buf_printf(&text, "%s%s", r == p->remedies ? " What can be done: " : ", ", *r);
	pace_problem(m->call.api, m->req, p);
	answer_error(m, buf_str(&text));
	buf_release(&text);
}

/* --- Arguments --- */

static const struct tool_arg *find_arg(const struct tool *t, struct str name)
{
	for (const struct tool_arg *a = t->args; a->name; a++)
		if (str_is(name, a->name))
			return a;
	return NULL;
}

/* One that no row names goes where the description will warn of it. */
static enum tool_place place_of(const struct mcp_call *m, struct str name)
{
	const struct tool_arg *arg = find_arg(m->tool, name);

	if (str_is(name, "agent"))
		return PLACE_OWN;
	if (arg)
		return arg->place;
	return m->calls->body[0] ? PLACE_BODY : PLACE_QUERY;
}

static struct str text_of(struct mcp_call *m, const struct json *value)
{
	struct json_writer w;
	struct buf text;
	struct str copy;

	if (value->type == JSON_STRING)
		return value->s;
	buf_init(&text, MCP_ANSWER_MAX);
	json_writer_init(&w, &text);
	json_put(&w, value);
	copy = arena_str(m->call.op->arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

static void add_query(struct mcp_call *m, struct str name, const struct json *value)
{
	if (value->type != JSON_ARRAY) {
		mcp_add_query(m, name, text_of(m, value));
		return;
	}
	for (uint32_t i = 0; i < value->count; i++)
		mcp_add_query(m, name, text_of(m, &value->items[i]));
}

void tool_add_member(struct json *object, struct str key, struct json value)
{
	object->members[object->count++] = (struct json_member){key, value};
}

/* What is packed is all of the body, or a part of what is sent. */
static void put_packed(struct mcp_call *m, const struct json *packed)
{
	struct json *body = &m->call.body;

	if (m->calls == &describe_send)
		tool_add_member(body, STR("envelope"), *packed);
	else if (packed->count)
		*body = *packed;
}

static void place_args(struct mcp_call *m)
{
	uint32_t count = m->args ? m->args->count : 0;
	size_t room = (count + TOOL_ROOM) * sizeof(struct json_member);
	struct json packed = {.type = JSON_OBJECT, .members = arena_alloc(m->call.op->arena, room)};

	m->call.body.members = arena_alloc(m->call.op->arena, room);
	for (uint32_t i = 0; i < count; i++) {
		struct str name = m->args->members[i].key;
		const struct json *value = &m->args->members[i].value;
		enum tool_place place = place_of(m, name);

		if (value->type == JSON_NULL)
			continue;
		if (place == PLACE_PATH)
			m->call.params[0] = text_of(m, value);
		else if (place == PLACE_QUERY)
			add_query(m, name, value);
		else if (place == PLACE_PACK)
			tool_add_member(&packed, name, *value);
		else if (place == PLACE_BODY)
			tool_add_member(&m->call.body, name, *value);
	}
	if (m->tool->args[0].place == PLACE_PACK)
		put_packed(m, &packed);
}

/* The first that is required and absent; NULL: none. */
static const char *missing(const struct mcp_call *m)
{
	for (const struct tool_arg *a = m->tool->args; a->name; a++) {
		const struct json *value = json_get(m->args, a->name);

		if (a->is_required && (value == NULL || value->type == JSON_NULL))
			return a->name;
	}
	return NULL;
}

/* --- The answer --- */

static void put_shown(struct json_writer *w, const struct json *value, const struct shown *shows);

static void put_value(struct json_writer *w, const struct json *value, const struct shown *shows)
{
	if (value->type == JSON_ARRAY && shows) {
		json_begin_array(w);
		for (uint32_t i = 0; i < value->count; i++)
			put_value(w, &value->items[i], shows);
		json_end_array(w);
	} else if (value->type == JSON_OBJECT && shows) {
		put_shown(w, value, shows);
	} else {
		json_put(w, value);
	}
}

/* What is null is left out: a model pays for it, and learns nothing. */
static void put_shown(struct json_writer *w, const struct json *value, const struct shown *shows)
{
	json_begin_object(w);
	for (const struct shown *s = shows; s->name; s++) {
		const struct json *member = json_get(value, s->name);

		if (member == NULL || member->type == JSON_NULL)
			continue;
		json_key(w, s->name);
		put_value(w, member, s->within);
	}
	if (json_get(value, "warnings")) {
		json_key(w, "warnings");
		json_put(w, json_get(value, "warnings"));
	}
	json_end_object(w);
}

void tool_put_answer(struct mcp_call *m, const struct json *answer, struct json_writer *w)
{
	struct json_writer shown;
	struct buf structured, text;

	buf_init(&structured, MCP_ANSWER_MAX);
	buf_init(&text, MCP_ANSWER_MAX);
	json_writer_init(&shown, &structured);
	put_shown(&shown, answer, m->tool->shows);
	if (m->tool->text)
		m->tool->text(answer, &text);
	if (text.len == 0)
		visible_json(&text, buf_str(&structured));
	put_text(w, buf_str(&text));
	json_key(w, "structuredContent");
	json_put_raw(w, buf_str(&structured));
	buf_release(&structured);
	buf_release(&text);
}

static void on_done(struct mcp_call *m)
{
	const struct json *answer = m->call.op->problem.code == P_OK ? mcp_answer(m) : NULL;

	if (answer == NULL) {
		tool_problem(m);
		return;
	}
	if (m->tool->reshape)
		answer = m->tool->reshape(m, answer);
	tool_put_answer(m, answer, mcp_begin(m));
	mcp_end(m);
}

/* --- The way of a call --- */

/* A host, or a proxy, that repeats a call gives it the same key. */
static enum problem_code read_key(struct mcp_call *m)
{
	struct arena *arena = m->call.op->arena;

	if (m->args == NULL || http_req_header(m->req, "idempotency-key").p == NULL)
		return P_OK;
	return caller_read_key(&m->call, json_canonical(m->args, SIZE_MAX, arena));
}

void tool_run(struct mcp_call *m)
{
	const struct description *d = m->tool->choose ? m->tool->choose(m) : m->tool->calls[0];

	if (d == NULL || !mcp_make(m, d)) {
		tool_problem(m);
		return;
	}
	m->call.shows = m->tool->shows;
	place_args(m);
	if (m->tool->fill)
		m->tool->fill(m);
	m->done = m->done ? m->done : on_done;
	if (read_key(m) != P_OK || !mcp_decode(m)) {
		m->done(m);
		return;
	}
	if (m->tool->prepare)
		m->tool->prepare(m);
	mcp_start(m);
}

/* A name that contradicts the connection's is a mistake, and the next call would repeat it. */
static bool read_agent(struct mcp_call *m)
{
	struct str of_connection = http_req_header(m->req, "spine-agent");
	const struct json *agent = tool_arg(m, "agent", JSON_STRING);

	if (agent && of_connection.p && !str_eq(agent->s, of_connection)) {
		tool_error(m, "This connection is agent %.*s; leave the argument agent out.",
			   STR_ARG(mcp_short(of_connection)));
		return false;
	}
	m->agent = agent ? agent->s : STR_NULL;
	return true;
}

/* A tool none of whose calls the key may make. Which of them is made is checked again when it is. */
static bool is_forbidden(struct mcp_call *m)
{
	struct problem problem = {0};

	for (size_t i = 0; i < TOOL_CALLS_MAX && m->tool->calls[i]; i++)
		if (scope_check(m->tool->calls[i], m->access, &problem) == P_OK)
			return false;
	m->call.op->problem = problem;
	return problem.code != P_OK;
}

void tool_call(struct mcp_call *m)
{
	struct str name = mcp_param(m, "name");
	const char *lacks;

	if (fixture_tool(m, name))
		return;
	m->tool = tool_find(name);
	m->args = json_get(m->params, "arguments");
	if (m->tool == NULL)
		mcp_error(m, MCP_INVALID_PARAMS, "there is no tool \"%.*s\"; tools/list has them",
			  STR_ARG(mcp_short(name)));
	else if (m->args && m->args->type != JSON_OBJECT)
		mcp_error(m, MCP_INVALID_PARAMS, "arguments is %s; expected an object", json_type_name(m->args->type));
	else if (is_forbidden(m))
		tool_problem(m);
	else if ((lacks = missing(m)) != NULL)
		tool_error(m, "missing_field: %s is missing. Call %s again with it.", lacks, m->tool->name);
	else if (read_agent(m) && !(m->tool->before && m->tool->before(m)))
		tool_run(m);
}
