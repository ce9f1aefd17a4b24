/* spine key: who is let in. */
#include "admin/admin.h"
#include "admin/admin_key.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show.h"
#include "cli/subcommand.h"
#include "cli/when.h"
#include "codec/json_member.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX_BYTES = 64 * 1024, ERROR_MAX_BYTES = 8192 };

static const struct option key_options[] = {
	{.name = "space", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "create: the one space that it is for, or * for all; that of the key that makes it where not given, "
		 "and of the first key *"},
	{.name = "agent", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "create: the one agent that it speaks and takes work for; any where not given"},
	{.name = "scope", .letter = 's', .arg = "SCOPES", .type = OPTION_LIST,
	 .help = "create: what it may do: read, write, receive, admin (which includes the others); several times, or "
		 "with commas. read,write,receive where not given, and of the first key admin"},
	{.name = "trust", .arg = "TRUST", .type = OPTION_CHOICE, .choices = trust_choices,
	 .help = "create: what it stores has this trust at most; agent where not given"},
	{.name = "expires", .letter = 'e', .arg = "WHEN", .type = OPTION_TEXT,
	 .help = "create: " WHEN_LATER_EXPECTED "; never where not given"},
	{.name = "out", .letter = 'o', .arg = "FILE", .type = OPTION_PATH,
	 .help = "create, rotate: write the key into this file, which only you can read, and not to standard output; "
		 "one that is there is refused"},
	{.name = "grace", .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = INT64_C(2678400000),
	 .help = "rotate: how long the secret before stays valid; 24h where not given, 0s: not at all"},
	{.name = "reason", .letter = 'r', .arg = "TEXT", .type = OPTION_TEXT, .help = "revoke: why; kept with the key"},
	{.name = "data", .arg = "DIR", .type = OPTION_PATH,
	 .help = "create, reset: work on the store in this data directory itself; its server must not run"},
	{.name = "store", .arg = "URL", .type = OPTION_TEXT,
	 .help = "create, reset: work on the store in PostgreSQL itself, postgres://user@host/name; no server of it "
		 "may run"},
	{.name = "yes", .letter = 'y', .type = OPTION_FLAG, .help = "reset: yes, open the server to everybody again"},
};

static const struct option_table key_table = {"Keys", key_options, OPTION_COUNT(key_options)};

/* --- The secret --- */

static bool write_file(const struct cli *cli, const char *path, struct str text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n && write(fd, "\n", 1) == 1 &&
		  fsync(fd) == 0;

	if (!ok)
		cli_error(cli, "cannot write the key to %.400s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Before a key is made that nobody would see. */
static int check_out(const struct cli *cli)
{
	const char *file = options_text(&cli->options, "out"), *slash, *dir = ".";

	if (file == NULL)
		return CLI_OK;
	if (access(file, F_OK) == 0)
		return cli_usage(cli, "%.400s is there already; --out names a file that is not", file);
	slash = strrchr(file, '/');
	if (slash)
		dir = arena_cstr(cli->arena, (struct str){file, slash == file ? 1 : (size_t)(slash - file)});
	if (access(dir, W_OK | X_OK) == 0)
		return CLI_OK;
	cli_error(cli, "no file can be made in %.400s: %s. No key was made: make that directory first, or name another "
		  "file with --out", dir, strerror(errno));
	return CLI_FAILED;
}

/* Where it could not be written it would be lost: then it is printed after all. */
static int give(const struct cli *cli, struct str id, struct str text)
{
	const char *file = options_text(&cli->options, "out");
	bool is_written = file && write_file(cli, file, text);

	if (is_written)
		cli_note(cli, "%.*s is in %.400s; SPINE_KEY_FILE=%.400s lets spine use it", STR_ARG(id), file, file);
	else
		cli_note(cli, "%.*s, which is told this once; keep it well (SPINE_KEY, or a file for SPINE_KEY_FILE):",
			 STR_ARG(id));
	if (!is_written)
		cli_write(arena_printf(cli->arena, "%.*s\n", STR_ARG(text)));
	return file && !is_written ? CLI_FAILED : CLI_OK;
}

static int ask_for_secret(struct cli *cli, const struct client_request *request)
{
	int code;
	struct ask ask;

	if (cli_is_json(cli) && options_text(&cli->options, "out"))
		return cli_usage(cli, "--json prints the key, and --out keeps it from being printed; give one");
	code = ask_run(cli, request, &ask);
	if (code == CLI_OK && cli_is_json(cli))
		cli_write_json(cli, buf_str(&ask.reply.body));
	else if (code == CLI_OK)
		code = give(cli, ask_str(&ask.json, "id"), ask_str(&ask.json, "key"));
	if (code == CLI_OK && ask_bool(&ask.json, "is_first"))
		cli_note(cli, "It is the first key: from now on every request to this server needs one.");
	ask_release(&ask);
	return code;
}

/* --- Making --- */

static int read_expires(const struct cli *cli, int64_t *ret_ms)
{
	const char *given = options_text(&cli->options, "expires");

	*ret_ms = 0;
	if (given == NULL || when_parse_later(str_of(given), clock_wall_ms(), ret_ms))
		return CLI_OK;
	return cli_usage(cli, "--expires is \"%.80s\"; expected " WHEN_LATER_EXPECTED, given);
}

/* "read,write" is as good as twice. */
static size_t read_scopes(struct cli *cli, const char ***ret)
{
	const struct option_value *given = options_value(&cli->options, "scope");
	size_t count = 0, room = 1;

	for (size_t i = 0; i < given->list_count; i++)
		room += strlen(given->list[i]) + 1;
	*ret = arena_calloc(cli->arena, room, sizeof(**ret));
	for (size_t i = 0; i < given->list_count; i++) {
		struct str rest = str_of(given->list[i]);

		while (rest.p)
			(*ret)[count++] = arena_cstr(cli->arena, str_trim(str_cut(&rest, ',')));
	}
	return count;
}

static int check_store(const struct cli *cli, const char *url)
{
	struct buf error;
	int code = CLI_OK;

	buf_init(&error, ERROR_MAX_BYTES);
	if (url && !admin_store_is_good(url, &error))
		code = cli_usage(cli, "--store: %s", buf_str(&error).p);
	buf_release(&error);
	return code;
}

/* The store that is to be changed without its server; NULL: none is named. */
static int read_store(const struct cli *cli, const char **ret)
{
	const char *dir = options_text(&cli->options, "data"), *url = options_text(&cli->options, "store");

	*ret = dir ? dir : url;
	if (dir && url)
		return cli_usage(cli, "--data and --store name two stores; give one");
	return dir ? CLI_OK : check_store(cli, url);
}

static int create_here(struct cli *cli, const char *dir, int64_t expires_at_ms)
{
	const struct options *o = &cli->options;
	const char **scopes;
	size_t count = read_scopes(cli, &scopes);
	struct admin_key key = {
		.name = o->args[1], .space = options_text(o, "space"), .agent = options_text(o, "agent"),
		.scopes = scopes, .scope_count = count, .trust = options_text(o, "trust"),
		.expires_at_ms = expires_at_ms,
	};
	struct buf text, id, error;
	int code = CLI_FAILED;

	buf_init(&text, 128);
	buf_init(&id, 64);
	buf_init(&error, ERROR_MAX_BYTES);
	if (admin_key_create(dir, &key, clock_wall_ms(), &text, &id, &error))
		code = give(cli, buf_str(&id), buf_str(&text));
	else
		cli_error(cli, "%s", buf_str(&error).p);
	mem_wipe(text.data, text.len);
	buf_release(&text);
	buf_release(&id);
	buf_release(&error);
	return code;
}

static int create_there(struct cli *cli, int64_t expires_at_ms)
{
	static const struct call_member members[] = {
		{"space", "space"}, {"agent", "agent"}, {"trust", "trust"}, {NULL, NULL},
	};
	struct client_request request = {.method = "POST", .path = "/v1/keys"};
	const char **scopes;
	size_t count = read_scopes(cli, &scopes);
	struct json_writer w;
	struct buf body;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	json_member_cstr(&w, "name", cli->options.args[1]);
	code = body_put_members(cli, members, &w);
	if (count) {
		json_key(&w, "scopes");
		json_begin_array(&w);
		for (size_t i = 0; i < count; i++)
			json_put_cstr(&w, scopes[i]);
		json_end_array(&w);
	}
	if (expires_at_ms)
		json_member_time(&w, "expires_at", expires_at_ms);
	json_end_object(&w);
	request.body = buf_str(&body);
	if (code == CLI_OK)
		code = ask_for_secret(cli, &request);
	buf_release(&body);
	return code;
}

static int exec_create(struct cli *cli)
{
	const char *store;
	int64_t expires_at_ms;
	int code = read_expires(cli, &expires_at_ms);

	if (code == CLI_OK)
		code = read_store(cli, &store);
	if (code == CLI_OK)
		code = check_out(cli);
	if (code != CLI_OK)
		return code;
	return store ? create_here(cli, store, expires_at_ms) : create_there(cli, expires_at_ms);
}

/* --- Changing --- */

static int exec_rotate(struct cli *cli)
{
	struct client_request request = {.method = "POST"};
	struct json_writer w;
	struct buf body;
	int code = check_out(cli);

	if (code != CLI_OK)
		return code;
	request.path = ask_path(cli->arena, "/v1/keys/", cli->options.args[1], "/rotate");
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	if (options_is_given(&cli->options, "grace"))
		body_put_seconds(&w, "grace_s", options_int(&cli->options, "grace"));
	json_end_object(&w);
	request.body = buf_str(&body);
	code = ask_for_secret(cli, &request);
	buf_release(&body);
	return code;
}

static void show_revoked(const struct cli *cli, const struct json *key)
{
	cli_write(arena_printf(cli->arena, "revoked %.*s\n", STR_ARG(term_line(cli->arena, ask_str(key, "id")))));
}

static int exec_reset(struct cli *cli)
{
	const char *store, *name;
	struct buf error;
	size_t removed = 0;
	bool ok;
	int code = read_store(cli, &store);

	if (code != CLI_OK)
		return code;
	/* The address may hold a password. */
	name = options_text(&cli->options, "data") ? store : "the database";
	if (store == NULL)
		return cli_usage(cli, "key reset works on a data directory whose server does not run; name it with "
				 "--data, or a store in PostgreSQL with --store");
	if (!options_flag(&cli->options, "yes"))
		return cli_usage(cli, "key reset removes all keys: whoever can connect to the server of %.400s may do "
				 "everything again; confirm it with --yes", name);
	buf_init(&error, ERROR_MAX_BYTES);
	ok = admin_key_reset(store, clock_wall_ms(), &removed, &error);
	if (ok)
		cli_note(cli, "removed %zu key%s of %.400s: its server needs none any more, so whoever can connect may "
			 "do everything", removed, removed == 1 ? "" : "s", name);
	else
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return ok ? CLI_OK : CLI_FAILED;
}

/* --- Looking --- */

static struct str cell_scopes(const struct column_item *item, const char *key)
{
	const struct json *scopes = ask_array(item->json, key);
	struct buf out;

	buf_init(&out, BODY_MAX_BYTES);
	for (uint32_t i = 0; i < scopes->count; i++)
		if (scopes->items[i].type == JSON_STRING)
			buf_printf(&out, "%s%.*s", i ? "," : "", STR_ARG(scopes->items[i].s));
	return cli_keep(item->arena, &out);
}

static const struct column key_columns[] = {
	{"KEY", "id", .style = TERM_CYAN},
	{"NAME", "name", .may_cut = true},
	{"SPACE", "space", .style = TERM_PLAIN},
	{"AGENT", "agent", .style = TERM_PLAIN},
	{"SCOPES", "scopes", cell_scopes, .style = TERM_PLAIN},
	{"TRUST", "trust", .may_omit = true},
	{"STATUS", "status", .style = TERM_YELLOW},
	{"EXPIRES", "expires_at", .may_omit = true},
	{"REVOKED", "revoked_at", cell_age, .right = true, .may_omit = true},
	{0},
};

static const struct subcommand key_subs[] = {
	{"list", "", 0, 0, .call = {
		.path = "/v1/keys", .is_paged = true, .list = "keys", .columns = key_columns,
		.none = "(there are no keys, and none is needed; spine key create NAME makes the first)",
	}},
	{"show", "KEY", 1, 1, .call = {.path = "/v1/keys/{0}", .show = show_object}},
	{
		"create", "NAME", 1, 1, {"space", "agent", "scope", "trust", "expires", "out", "data", "store"},
		.exec = exec_create,
	},
	{"rotate", "KEY", 1, 1, {"grace", "out"}, .exec = exec_rotate},
	{"revoke", "KEY", 1, 1, {"reason"}, .call = {
		.method = "POST", .path = "/v1/keys/{0}/revoke", .members = {{"reason", "reason"}},
		.show = show_revoked,
	}},
	{"reset", "--data DIR --yes", 0, 0, {"data", "store", "yes"}, .exec = exec_reset},
	{0},
};

static int exec_key(struct cli *cli)
{
	cli->is_anonymous = cli->is_nowhere = true;
	return subcommand_run(cli, key_subs);
}

const struct command cmd_key = {
	.name = "key",
	.summary = "Makes, lists, rotates and revokes the keys that let clients in",
	.usage = "[list | show KEY | create NAME | rotate KEY | revoke KEY | reset]", .max_args = 2,
	.about = "A server without keys lets everybody do everything. From the first key on every request needs one; "
		 "that key is admin of all spaces, and makes the others. Revoking the last one does not open the "
		 "server again.\n\n"
		 "create and rotate print the key to standard output and nothing else; the server keeps only a hash of "
		 "it. With rotate, the secret before stays valid for a while, so that its users can change over. "
		 "revoke ends a key at once, with its open streams, waiting calls and sessions.\n\n"
		 "The key for a call comes from --key-file, SPINE_KEY or SPINE_KEY_FILE, never from an argument. Who "
		 "has lost all keys stops the server and makes one in the store itself: spine key create NAME --data "
		 "DIR, or --store URL for a store in PostgreSQL.",
	.examples = {
		"spine key create admin --data /tmp/spine --out /tmp/admin.key",
		"spine key reset --data /tmp/spine --yes",
		"spine key",
	},
	.tables = {&key_table, &pages_table, &server_table},
	.exec = exec_key, .subs = key_subs,
};
