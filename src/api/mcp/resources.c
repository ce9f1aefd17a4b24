/* Memories, envelopes and inboxes as resources: spine://memory/ms-4821, spine://envelope/env-12,
 * spine://inbox/AGENT. */
#include "api/describe/descriptions.h"
#include "api/mcp/fixture.h"
#include "api/mcp/inbox.h"
#include "api/mcp/methods.h"
#include "core/envelope/render_text.h"

enum { TEMPLATES_TTL_MS = 3600 * 1000 };

#define MEMORY "spine://memory/"
#define ENVELOPE "spine://envelope/"

/* --- resources/templates/list --- */

static void put_template(struct json_writer *w, const char *uri, const char *name, const char *says, const char *type)
{
	json_begin_object(w);
	json_member_cstr(w, "uriTemplate", uri);
	json_member_cstr(w, "name", name);
	json_member_cstr(w, "description", says);
	json_member_cstr(w, "mimeType", type);
	json_end_object(w);
}

void resources_templates(struct mcp_call *m)
{
	struct json_writer *w = mcp_begin(m);

	json_key(w, "resourceTemplates");
	json_begin_array(w);
	put_template(w, MEMORY "{id}", "memory", "A memory, as in ms-4821, or a version of it, ms-4821@2.",
		     "application/json");
	put_template(w, ENVELOPE "{id}", "envelope", "What an envelope says to a model, as in env-12.",
		     "text/markdown");
	put_template(w, "spine://inbox/{agent}", "inbox", "What an agent would receive next. Subscribe to be told when "
		     "something comes.", "application/json");
	fixture_put_templates(w);
	json_end_array(w);
	mcp_cache(m, TEMPLATES_TTL_MS, true);
	mcp_end(m);
}

/* --- resources/list: the caller's inbox, and the newest memories --- */

static struct str text_of(const struct json *of, const char *key)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

/* Bytes of an address that stand for themselves; the others are escaped. */
static void put_inbox(struct json_writer *w, struct str agent)
{
	struct buf uri;

	buf_init(&uri, 1024);
	buf_puts(&uri, "spine://inbox/");
	for (size_t i = 0; i < agent.n; i++) {
		unsigned char c = (unsigned char)agent.p[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("-._~", c))
			buf_putc(&uri, (char)c);
		else
			buf_printf(&uri, "%%%02X", c);
	}
	json_begin_object(w);
	json_member_str(w, "uri", buf_str(&uri));
	json_member_cstr(w, "name", "inbox");
	json_member_cstr(w, "description", "What you would receive next. Subscribe to be told when something comes.");
	json_member_cstr(w, "mimeType", "application/json");
	json_end_object(w);
	buf_release(&uri);
}

static void put_memory(struct json_writer *w, const struct json *memory, struct arena *arena)
{
	struct str id = text_of(memory, "id"), summary = text_of(memory, "summary");
	struct str content = text_of(memory, "content");
	struct buf says;

	if (content.n > 200)
		content.n = str_utf8_prefix(str_sub(content, 0, 200));
	/* Hosts show it in a list of theirs: one line, in which everything can be seen. */
	buf_init(&says, MCP_ANSWER_MAX);
	render_line(&says, summary.p ? summary : content);
	json_begin_object(w);
	json_member_str(w, "uri", arena_printf(arena, MEMORY "%.*s", STR_ARG(id)));
	json_member_str(w, "name", id);
	json_member_str(w, "description", buf_str(&says));
	json_member_cstr(w, "mimeType", "application/json");
	json_end_object(w);
	buf_release(&says);
}

static void on_listed(struct mcp_call *m)
{
	const struct json *answer = m->call.op->problem.code == P_OK ? mcp_answer(m) : NULL;
	const struct json *memories = json_get(answer, "memories");
	struct str next = text_of(answer, "next_page_token");
	struct json_writer *w;

	if (answer == NULL) {
		mcp_problem(m);
		return;
	}
	w = mcp_begin(m);
	json_key(w, "resources");
	json_begin_array(w);
	if (json_get(m->params, "cursor") == NULL) {
		if (mcp_agent(m).p)
			put_inbox(w, mcp_agent(m));
		fixture_put_resources(w);
	}
	for (uint32_t i = 0; memories && i < memories->count; i++)
		put_memory(w, &memories->items[i], m->call.op->arena);
	json_end_array(w);
	if (next.p)
		json_member_str(w, "nextCursor", next);
	mcp_cache(m, 0, false);
	mcp_end(m);
}

void resources_list(struct mcp_call *m)
{
	struct str cursor = mcp_param(m, "cursor");

	if (!mcp_make(m, &describe_list_memories)) {
		mcp_problem(m);
		return;
	}
	mcp_add_query(m, STR("page_size"), STR("50"));
	if (cursor.p)
		mcp_add_query(m, STR("page_token"), cursor);
	mcp_run(m, on_listed);
}

/* --- resources/read --- */

static void answer_not_found(struct mcp_call *m, const char *detail)
{
	struct json_writer w;
	struct buf data;

	buf_init(&data, MCP_ANSWER_MAX);
	json_writer_init(&w, &data);
	json_begin_object(&w);
	json_member_str(&w, "uri", mcp_param(m, "uri"));
	json_end_object(&w);
	mcp_error_data(m, mcp_is_modern(m) ? MCP_INVALID_PARAMS : MCP_RESOURCE_NOT_FOUND, buf_str(&data), "%s", detail);
	buf_release(&data);
}

static void on_read(struct mcp_call *m)
{
	struct json_writer *w;

	if (m->call.op->problem.code == P_OK)
		mcp_encode(m);
	if (m->call.op->problem.code != P_OK) {
		if (problem_kind(m->call.op->problem.code)->status < 500)
			answer_not_found(m, m->call.op->problem.detail);
		else
			mcp_problem(m);
		return;
	}
	w = mcp_begin(m);
	json_key(w, "contents");
	json_begin_array(w);
	json_begin_object(w);
	json_member_str(w, "uri", mcp_param(m, "uri"));
	json_member_cstr(w, "mimeType", m->call.content_type ? "text/markdown" : "application/json");
	json_member_str(w, "text", buf_str(&m->call.reply));
	json_end_object(w);
	json_end_array(w);
	mcp_cache(m, 0, false);
	mcp_end(m);
}

/* The operation that reads it, and of what; NULL: no address of ours. */
static const struct description *read_by(struct mcp_call *m, struct str uri, struct str *ret_what)
{
	*ret_what = inbox_agent(uri, m->req);
	if (ret_what->p)
		return &describe_peek;
	if (str_has_prefix(uri, STR(MEMORY))) {
		*ret_what = str_sub(uri, sizeof(MEMORY) - 1, uri.n);
		return &describe_read_memory;
	}
	*ret_what = str_has_prefix(uri, STR(ENVELOPE)) ? str_sub(uri, sizeof(ENVELOPE) - 1, uri.n) : STR_NULL;
	return ret_what->p ? &describe_read_envelope : NULL;
}

void resources_read(struct mcp_call *m)
{
	struct str uri = mcp_param(m, "uri"), what;
	const struct description *d = uri.p ? read_by(m, uri, &what) : NULL;

	if (fixture_resource(m, uri))
		return;
	if (d == NULL) {
		answer_not_found(m, "there is no such resource; expected spine://memory/ID, spine://envelope/ID or "
				 "spine://inbox/AGENT");
		return;
	}
	if (!mcp_make(m, d)) {
		mcp_problem(m);
		return;
	}
	m->call.params[0] = what;
	if (d == &describe_read_envelope)
		mcp_add_query(m, STR("format"), STR("prompt"));
	mcp_run(m, on_read);
}
