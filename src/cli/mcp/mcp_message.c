#include "cli/mcp/mcp_message.h"

#include "codec/base64.h"

/* As deep as a server can be configured to take it. */
enum { DEPTH_MAX = JSON_DEPTH_MAX, JSON_MAX_BYTES = 64 << 20, HEADER_MAX_BYTES = 1 << 20 };

struct str mcp_text(const struct json *object, const char *key)
{
	const struct json *value = json_get(object, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

struct str mcp_json(struct arena *arena, const struct json *value)
{
	struct json_writer w;
	struct buf out;
	struct str copy;

	buf_init(&out, JSON_MAX_BYTES);
	json_writer_init(&w, &out);
	json_put(&w, value);
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

/* --- Reading --- */

/* The methods whose Mcp-Name says which of many is meant, and where that stands in their parameters. */
static const struct { const char *method, *member; } names[] = {
	{"tools/call", "name"}, {"prompts/get", "name"}, {"resources/read", "uri"},
	{"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
};

static struct str name_of(struct str method, const struct json *params)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(method, names[i].method))
			return mcp_text(params, names[i].member);
	return STR_NULL;
}

static bool is_id(const struct json *id)
{
	return id && (id->type == JSON_STRING || id->type == JSON_INT || id->type == JSON_DOUBLE);
}

static bool classify(struct mcp_message *m)
{
	const struct json *id = json_get(&m->tree, "id");

	if (m->tree.type == JSON_ARRAY) {
		m->kind = MCP_BATCH;
		return m->tree.count > 0;
	}
	if (m->tree.type != JSON_OBJECT || !str_is(mcp_text(&m->tree, "jsonrpc"), "2.0"))
		return false;
	m->id = is_id(id) ? id : NULL;
	m->method = mcp_text(&m->tree, "method");
	m->params = json_get(&m->tree, "params");
	m->kind = m->method.p == NULL ? MCP_RESPONSE : m->id ? MCP_REQUEST : MCP_NOTIFICATION;
	if (m->kind == MCP_RESPONSE)
		return json_get(&m->tree, "result") || json_get(&m->tree, "error");
	m->version = mcp_text(json_get(m->params, "_meta"), "io.modelcontextprotocol/protocolVersion");
	if (m->version.n)
		m->name = name_of(m->method, m->params);
	return m->kind == MCP_REQUEST || id == NULL;
}

static size_t skip_string(struct str s, size_t at)
{
	for (at++; at < s.n && s.p[at] != '"'; at++)
		if (s.p[at] == '\\')
			at++;
	return at;
}

static size_t skip_space(struct str s, size_t at)
{
	while (at < s.n && strchr(" \t\r\n", s.p[at]))
		at++;
	return at;
}

/* The id of a message that is JSON, but not as strict as we take it: two members of one name, a number that no double
 * holds. Whoever asked is to be told. Empty where it cannot be found. */
static struct str find_id(struct str s)
{
	int depth = 0;

	for (size_t at = 0; at < s.n; at++) {
		size_t from = at, end;

		depth += s.p[at] == '{' || s.p[at] == '[' ? 1 : s.p[at] == '}' || s.p[at] == ']' ? -1 : 0;
		if (s.p[at] != '"')
			continue;
		at = skip_string(s, at);
		end = skip_space(s, at + 1);
		if (depth != 1 || at >= s.n || !str_is(str_sub(s, from, at + 1), "\"id\"") || end >= s.n ||
		    s.p[end] != ':')
			continue;
		from = skip_space(s, end + 1);
		end = from < s.n && s.p[from] == '"' ? skip_string(s, from) + 1 : from;
		while (end < s.n && strchr("-+.eE0123456789", s.p[end]))
			end++;
		return end <= s.n ? str_sub(s, from, end) : STR("");
	}
	return STR("");
}

static bool is_simple_value(struct str json)
{
	struct json_error error;
	struct arena arena;
	struct json value;
	bool good;

	arena_init(&arena);
	good = json.n && json_parse(json, 0, &arena, &value, &error) && is_id(&value);
	arena_release(&arena);
	return good;
}

bool mcp_message_read(struct str text, struct arena *arena, struct mcp_message *ret, struct mcp_refusal *ret_refusal)
{
	struct json_error error;

	*ret = (struct mcp_message){0};
	*ret_refusal = (struct mcp_refusal){.code = MCP_PARSE_ERROR};
	if (!json_parse(text, DEPTH_MAX, arena, &ret->tree, &error)) {
		struct str id = strcmp(error.code, "invalid_json") == 0 || strcmp(error.code, "invalid_utf8") == 0 ?
				STR("") : find_id(text);

		ret_refusal->text = arena_cstr(arena, str_of(error.detail));
		ret_refusal->id = is_simple_value(id) ? id : STR("");
		return false;
	}
	if (classify(ret))
		return true;
	ret_refusal->code = MCP_INVALID_REQUEST;
	ret_refusal->text = "this is not a message of JSON-RPC 2.0: expected an object with \"jsonrpc\":\"2.0\" and "
			    "\"method\", \"result\" or \"error\", and an id that is a string or a number";
	if (ret->id)
		ret_refusal->id = mcp_json(arena, ret->id);
	return false;
}

bool mcp_is_repeatable(const struct mcp_message *message)
{
	static const char *const methods[] = {
		"initialize", "ping", "server/discover", "completion/complete", "resources/read", "prompts/get",
		"tasks/get", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen",
	};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (str_is(message->method, methods[i]))
			return true;
	return message->kind == MCP_REQUEST && str_has_suffix(message->method, STR("/list"));
}

/* --- Writing --- */

/* Section "Value Encoding" of the transport: visible ASCII and spaces within, and nothing that looks encoded. */
static bool can_stand_in_a_header(struct str value)
{
	if (value.n == 0 || value.p[0] == ' ' || value.p[value.n - 1] == ' ')
		return false;
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] < 0x20 || value.p[i] > 0x7e)
			return false;
	return !(str_has_prefix(value, STR("=?base64?")) && str_has_suffix(value, STR("?=")));
}

const char *mcp_header(struct arena *arena, const char *name, struct str value)
{
	const char *line;
	struct buf out;

	buf_init(&out, HEADER_MAX_BYTES);
	buf_printf(&out, "%s: ", name);
	if (can_stand_in_a_header(value)) {
		buf_put(&out, value);
	} else {
		buf_puts(&out, "=?base64?");
		base64_encode(value, BASE64_PADDED, &out);
		buf_puts(&out, "?=");
	}
	line = arena_cstr(arena, buf_str(&out));
	buf_release(&out);
	return line;
}

void mcp_put_error(struct buf *out, struct str id, int code, struct str text, bool is_retryable)
{
	struct json_writer w;

	json_writer_init(&w, out);
	json_begin_object(&w);
	json_member_cstr(&w, "jsonrpc", "2.0");
	json_key(&w, "id");
	json_put_raw(&w, id.n ? id : STR("null"));
	json_key(&w, "error");
	json_begin_object(&w);
	json_member_int(&w, "code", code);
	json_member_str(&w, "message", text);
	if (is_retryable) {
		json_key(&w, "data");
		json_begin_object(&w);
		json_member_bool(&w, "retryable", true);
		json_end_object(&w);
	}
	json_end_object(&w);
	json_end_object(&w);
}
