#include "cli/setup/setup_hosts.h"

#include "cli/setup/jsonc.h"
#include "cli/setup/toml.h"

#include <stdlib.h>

enum {
	TEXT_MAX_BYTES = 64 * 1024,
	/* Codex ends a tool after 60 s where nothing is said; handoff_receive over stdio waits 110 at most. */
	TOOL_TIMEOUT_S = 120,
	/* How long the hook waits for work after a turn. Claude Code ends hooks after 600 s where nothing is said. */
	HOOK_TIMEOUT_S = 86400,
};

/* --- Where files are --- */

static const char *home(struct arena *arena, const char *variable, const char *otherwise, const char *file)
{
	const char *set = variable ? getenv(variable) : NULL, *dir = getenv("HOME");

	if (set && set[0] == '/')
		return arena_printf(arena, "%s/%s", set, file).p;
	return dir && dir[0] == '/' ? arena_printf(arena, "%s/%s%s", dir, otherwise, file).p : NULL;
}

static const char *claude_file(struct arena *arena, bool is_user)
{
	return is_user ? home(arena, NULL, "", ".claude.json") : ".mcp.json";
}

/* The one that is not shared: whether a server runs is a matter of this machine. */
static const char *claude_hook_file(struct arena *arena, bool is_user)
{
	return is_user ? home(arena, "CLAUDE_CONFIG_DIR", ".claude/", "settings.json") : ".claude/settings.local.json";
}

static const char *cursor_file(struct arena *arena, bool is_user)
{
	return is_user ? home(arena, NULL, "", ".cursor/mcp.json") : ".cursor/mcp.json";
}

static const char *vscode_file(struct arena *arena, bool is_user)
{
#ifdef __APPLE__
	const char *user = home(arena, NULL, "Library/Application Support/", "Code/User/mcp.json");
#else
	const char *user = home(arena, "XDG_CONFIG_HOME", ".config/", "Code/User/mcp.json");
#endif

	return is_user ? user : ".vscode/mcp.json";
}

static const char *codex_file(struct arena *arena, bool is_user)
{
	return is_user ? home(arena, "CODEX_HOME", ".codex/", "config.toml") : ".codex/config.toml";
}

/* --- What stands in them: JSON --- */

static struct str quoted(struct arena *arena, const char *text)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	json_writer_init(&w, &out);
	json_put_cstr(&w, text);
	return cli_keep(arena, &out);
}

/* The arguments of `spine mcp`, as an array that is both JSON and TOML. */
static struct str arguments(struct arena *arena, const struct setup_wish *wish)
{
	const char *const options[][2] = {
		{"--agent", wish->agent}, {"--space", wish->space}, {"--url", wish->is_url_given ? wish->url : NULL},
		{"--key-file", wish->key_file}, {"--ca-file", wish->ca_file}, {"--cert-file", wish->cert_file},
		{"--cert-key-file", wish->cert_key_file},
	};
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	buf_puts(&out, "[\"mcp\"");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i][1])
			buf_printf(&out, ", \"%s\", %.*s", options[i][0], STR_ARG(quoted(arena, options[i][1])));
	buf_putc(&out, ']');
	return cli_keep(arena, &out);
}

static const char *endpoint(struct arena *arena, const struct setup_wish *wish)
{
	struct str url = str_of(wish->url);

	while (url.n && url.p[url.n - 1] == '/')
		url.n--;
	return arena_printf(arena, "%.*s/mcp", STR_ARG(url)).p;
}

/* A member of the entry; value p NULL: it goes. */
static bool put(struct buf *text, const char *root, const char *name, const char *inner, struct str value)
{
	const char *path[] = {root, SETUP_SERVER, name, inner, NULL};

	return value.p ? jsonc_set(text, path, value) : jsonc_remove(text, path);
}

static struct str maybe_quoted(struct arena *arena, const char *text)
{
	return text ? quoted(arena, text) : STR_NULL;
}

static bool put_http(struct arena *arena, const struct setup_wish *wish, struct buf *text, const char *root,
		     const char *type, const char *token_form)
{
	const char *token = NULL;

	if (wish->token_env)
		token = arena_printf(arena, "Bearer ${%s%s}", token_form, wish->token_env).p;
	return put(text, root, "command", NULL, STR_NULL) && put(text, root, "args", NULL, STR_NULL) &&
	       put(text, root, "type", NULL, maybe_quoted(arena, type)) &&
	       put(text, root, "url", NULL, quoted(arena, endpoint(arena, wish))) &&
	       put(text, root, "headers", "Spine-Agent", maybe_quoted(arena, wish->agent)) &&
	       put(text, root, "headers", "Spine-Space", maybe_quoted(arena, wish->space)) &&
	       (token == NULL || put(text, root, "headers", "Authorization", quoted(arena, token)));
}

static bool put_stdio(struct arena *arena, const struct setup_wish *wish, struct buf *text, const char *root)
{
	return put(text, root, "url", NULL, STR_NULL) && put(text, root, "headers", NULL, STR_NULL) &&
	       put(text, root, "type", NULL, STR("\"stdio\"")) &&
	       put(text, root, "command", NULL, quoted(arena, wish->program)) &&
	       put(text, root, "args", NULL, arguments(arena, wish));
}

static bool begin_json(struct buf *text)
{
	if (str_trim(buf_str(text)).n == 0) {
		buf_clear(text);
		buf_puts(text, "{}\n");
	}
	return jsonc_is_object(buf_str(text));
}

static bool change_json(struct arena *arena, const struct setup_wish *wish, struct buf *text, const char *root,
			const char *type, const char *token_form)
{
	const char *const path[] = {root, SETUP_SERVER, NULL};

	if (!begin_json(text))
		return false;
	if (wish->is_undone)
		return jsonc_remove(text, path);
	return wish->is_stdio ? put_stdio(arena, wish, text, root) :
	       put_http(arena, wish, text, root, type, token_form);
}

static bool change_claude(struct arena *arena, const struct setup_wish *wish, struct buf *text)
{
	return change_json(arena, wish, text, "mcpServers", "http", "");
}

static bool change_cursor(struct arena *arena, const struct setup_wish *wish, struct buf *text)
{
	return change_json(arena, wish, text, "mcpServers", NULL, "env:");
}

static bool change_vscode(struct arena *arena, const struct setup_wish *wish, struct buf *text)
{
	return change_json(arena, wish, text, "servers", "http", "env:");
}

/* --- What stands in them: TOML --- */

static const char *toml_string(struct arena *arena, const char *text)
{
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	toml_put_string(&out, str_of(text));
	return cli_keep(arena, &out).p;
}

static const char *toml_headers(struct arena *arena, const struct setup_wish *wish)
{
	const char *agent = wish->agent ? toml_string(arena, wish->agent) : "";
	const char *space = wish->space ? toml_string(arena, wish->space) : "";

	if (!wish->agent && !wish->space)
		return NULL;
	return arena_printf(arena, "{ %s%s%s%s%s }", wish->agent ? "\"Spine-Agent\" = " : "", agent,
			    wish->agent && wish->space ? ", " : "", wish->space ? "\"Spine-Space\" = " : "", space).p;
}

static bool change_codex(struct arena *arena, const struct setup_wish *wish, struct buf *text)
{
	const char *timeout = arena_printf(arena, "%d", TOOL_TIMEOUT_S).p;
	const struct toml_key http[] = {
		{"command", NULL}, {"args", NULL}, {"url", toml_string(arena, endpoint(arena, wish))},
		{"http_headers", toml_headers(arena, wish)},
		{"bearer_token_env_var", wish->token_env ? toml_string(arena, wish->token_env) : NULL}, {NULL, NULL},
	};
	const struct toml_key stdio[] = {
		{"url", NULL}, {"http_headers", NULL}, {"bearer_token_env_var", NULL},
		{"command", toml_string(arena, wish->program)}, {"args", arguments(arena, wish).p},
		{"tool_timeout_sec", timeout}, {NULL, NULL},
	};

	if (wish->is_undone)
		return toml_remove(text, "mcp_servers", SETUP_SERVER);
	return toml_set(text, "mcp_servers", SETUP_SERVER, wish->is_stdio ? stdio : http);
}

/* --- Hooks --- */

/* One word of a shell command. */
static void put_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-";

	if (word[0] && word[strspn(word, plain)] == '\0') {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (; *word; word++)
		buf_printf(out, *word == '\'' ? "'\\''" : "%c", *word);
	buf_putc(out, '\'');
}

static const char *wait_command(struct arena *arena, const struct setup_wish *wish)
{
	const char *const options[][2] = {
		{"space", wish->space}, {"url", wish->is_url_given ? wish->url : NULL}, {"key-file", wish->key_file},
		{"ca-file", wish->ca_file}, {"cert-file", wish->cert_file}, {"cert-key-file", wish->cert_key_file},
	};
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	put_word(&out, wish->program_path);
	buf_puts(&out, " wait ");
	put_word(&out, wish->agent);
	buf_printf(&out, " --replace --timeout %dh", HOOK_TIMEOUT_S / 3600);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i][1] == NULL)
			continue;
		buf_printf(&out, " --%s ", options[i][0]);
		put_word(&out, options[i][1]);
	}
	return cli_keep(arena, &out).p;
}

/* The group of hooks that setup wrote: one command, that waits. */
static bool is_ours(struct str group)
{
	struct json_error error;
	struct json json;
	struct arena arena;
	struct str command;
	const struct json *hooks;
	bool ours = false;

	arena_init(&arena);
	if (json_parse(group, JSON_DEPTH_MAX, &arena, &json, &error)) {
		hooks = json_get(&json, "hooks");
		if (hooks && hooks->type == JSON_ARRAY && hooks->count == 1) {
			const struct json *value = json_get(&hooks->items[0], "command");

			command = value && value->type == JSON_STRING ? value->s : STR("");
			ours = memmem(command.p, command.n, "spine", 5) && memmem(command.p, command.n, " wait ", 6) &&
			       memmem(command.p, command.n, " --replace", 10);
		}
	}
	arena_release(&arena);
	return ours;
}

/* After each turn the agent waits for work, and work wakes it. */
static bool change_claude_hook(struct arena *arena, const struct setup_wish *wish, struct buf *text)
{
	static const char *const path[] = {"hooks", "Stop", NULL};
	struct str group, wanted = STR_NULL;
	bool is_there = false;

	if (!begin_json(text))
		return false;
	if (!wish->is_undone && wish->agent)
		wanted = arena_printf(arena, "{\"hooks\":[{\"type\":\"command\",\"command\":%.*s,\"asyncRewake\":true,"
				      "\"timeout\":%d}]}", STR_ARG(quoted(arena, wait_command(arena, wish))),
				      HOOK_TIMEOUT_S + 60);
	for (size_t i = 0; (group = jsonc_item(buf_str(text), path, i)).p;) {
		bool is_wanted = wanted.p && !is_there && jsonc_is_same(group, wanted);

		is_there = is_there || is_wanted;
		if (is_wanted || !is_ours(group))
			i++;
		else
			jsonc_remove_item(text, path, i);
	}
	return wanted.p == NULL || is_there || jsonc_append(text, path, wanted);
}

const struct setup_host setup_hosts[] = {
	{"claude-code", "Claude Code", false, "Start Claude Code here, and approve the server: /mcp shows it.",
	 claude_file, change_claude, claude_hook_file, change_claude_hook},
	{"cursor", "Cursor", false, "Switch the server on in Cursor: Customize, MCPs.", cursor_file, change_cursor,
	 NULL, NULL},
	{"vscode", "VS Code", false, "Start the server in VS Code: the command \"MCP: List Servers\".", vscode_file,
	 change_vscode, NULL, NULL},
	{"codex", "Codex", true, "Start Codex: /mcp shows the server.", codex_file, change_codex, NULL, NULL},
	{0},
};
