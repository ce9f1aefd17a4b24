/* tools/list: the table, with schemas made from the descriptions. */
#include "api/mcp/tool.h"

#include "api/describe/schema.h"
#include "api/describe/schema_brief.h"
#include "api/describe/shapes.h"
#include "api/mcp/fixture.h"
#include "api/mcp/methods.h"

enum { LIST_TTL_MS = 300 * 1000 };

static const struct field *field_in(const struct description *d, const struct tool_arg *arg)
{
	struct str name = str_of(arg->name);

	switch (arg->place) {
	case PLACE_PATH:
		return d->path[0];
	case PLACE_QUERY:
		return d->query ? shape_find(d->query, name) : NULL;
	case PLACE_BODY:
		return d->body[0] ? shape_find(d->body[0], name) : NULL;
	case PLACE_PACK:
		return shape_find(&shape_pack, name);
	default:
		return NULL;
	}
}

const struct field *tool_field(const struct tool *t, const struct tool_arg *arg)
{
	const struct field *found = NULL;

	for (size_t i = 0; found == NULL && i < TOOL_CALLS_MAX && t->calls[i]; i++)
		found = field_in(t->calls[i], arg);
	return found;
}

/* --- What it takes --- */

static void put_arg(struct json_writer *w, const struct tool *t, const struct tool_arg *arg)
{
	const struct field *f = tool_field(t, arg);
	const char *says = arg->says || f == NULL ? arg->says : f->says;

	json_key(w, arg->name);
	json_begin_object(w);
	if (arg->schema)
		schema_put_members(w, arg->schema);
	else if (f)
		schema_put_brief(w, f);
	if (says && *says)
		json_member_cstr(w, "description", says);
	json_end_object(w);
}

static void put_required(struct json_writer *w, const struct tool_arg *args)
{
	bool has_begun = false;

	for (const struct tool_arg *a = args; a->name; a++) {
		if (!a->is_required)
			continue;
		if (!has_begun) {
			json_key(w, "required");
			json_begin_array(w);
		}
		has_begun = true;
		json_put_cstr(w, a->name);
	}
	if (has_begun)
		json_end_array(w);
}

static void put_input(struct json_writer *w, const struct tool *t)
{
	json_key(w, "inputSchema");
	json_begin_object(w);
	json_member_cstr(w, "type", "object");
	json_key(w, "properties");
	json_begin_object(w);
	for (const struct tool_arg *a = t->args; a->name; a++)
		put_arg(w, t, a);
	json_end_object(w);
	put_required(w, t->args);
	json_end_object(w);
}

/* --- What it answers --- */

/* Of the answers of an operation the first that has a shape with the field. */
static const struct field *answer_field(const struct tool *t, const struct shape *within, const char *name)
{
	const struct field *f = NULL;

	if (within)
		return shape_find(within, str_of(name));
	for (size_t i = 0; f == NULL && i < TOOL_CALLS_MAX && t->calls[i]; i++)
		if (t->calls[i]->answers[0].shape)
			f = shape_find(t->calls[i]->answers[0].shape, str_of(name));
	return f;
}

static void put_shown(struct json_writer *w, const struct tool *t, const struct shape *within,
		      const struct shown *shows);

/* A list of objects says what is in each; what the tool itself adds is a text. */
static void put_member(struct json_writer *w, const struct tool *t, const struct field *f, const struct shown *s)
{
	bool is_list = f && f->type == TYPE_SHAPES;

	json_key(w, s->name);
	json_begin_object(w);
	if (is_list && s->within) {
		json_member_cstr(w, "type", "array");
		json_key(w, "items");
		json_begin_object(w);
	}
	if (s->within && f && f->shape)
		put_shown(w, t, f->shape, s->within);
	else if (f)
		schema_put_brief(w, f);
	if (is_list && s->within)
		json_end_object(w);
	json_end_object(w);
}

static void put_shown(struct json_writer *w, const struct tool *t, const struct shape *within,
		      const struct shown *shows)
{
	json_member_cstr(w, "type", "object");
	json_key(w, "properties");
	json_begin_object(w);
	for (const struct shown *s = shows; s->name; s++)
		put_member(w, t, answer_field(t, within, s->name), s);
	json_end_object(w);
}

static void put_output(struct json_writer *w, const struct tool *t)
{
	json_key(w, "outputSchema");
	json_begin_object(w);
	put_shown(w, t, NULL, t->shows);
	json_end_object(w);
}

/* --- The list --- */

/* No tool reaches beyond this server, and none destroys: what is replaced or discarded can be had back. */
static void put_annotations(struct json_writer *w, const struct tool *t)
{
	json_key(w, "annotations");
	json_begin_object(w);
	if (t->hints & TOOL_READS)
		json_member_bool(w, "readOnlyHint", true);
	else
		json_member_bool(w, "destructiveHint", false);
	if ((t->hints & TOOL_REPEATS) && !(t->hints & TOOL_READS))
		json_member_bool(w, "idempotentHint", true);
	json_member_bool(w, "openWorldHint", false);
	json_end_object(w);
}

static void put_tool(struct json_writer *w, const struct tool *t, enum mcp_version version)
{
	json_begin_object(w);
	json_member_cstr(w, "name", t->name);
	json_member_cstr(w, "title", t->title);
	json_member_cstr(w, "description", t->says);
	put_input(w, t);
	put_output(w, t);
	put_annotations(w, t);
	if ((t->hints & TOOL_TASK) && version == MCP_2025_11_25) {
		json_key(w, "execution");
		json_put_raw(w, STR("{\"taskSupport\":\"optional\"}"));
	}
	json_end_object(w);
}

void tool_put_list(struct json_writer *w, enum mcp_version version)
{
	json_key(w, "tools");
	json_begin_array(w);
	for (const struct tool *t = tools; t->name; t++)
		put_tool(w, t, version);
	fixture_put_tools(w);
	json_end_array(w);
}

void tool_list(struct mcp_call *m)
{
	tool_put_list(mcp_begin(m), m->version);
	mcp_cache(m, LIST_TTL_MS, true);
	mcp_end(m);
}
