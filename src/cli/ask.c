#include "cli/ask.h"

#include "cli/local_server.h"
#include "cli/own_key.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024, DOCUMENT_MAX_BYTES = 64 * 1024, VALUE_MAX_BYTES = 512 * 1024 * 1024 };

/* --- Reading --- */

struct str ask_str(const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

int64_t ask_int(const struct json *obj, const char *key, int64_t otherwise)
{
	const struct json *value = json_get(obj, key);

	return value && value->type == JSON_INT ? value->i : otherwise;
}

double ask_number(const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);

	if (value == NULL)
		return 0;
	return value->type == JSON_DOUBLE ? value->d : value->type == JSON_INT ? (double)value->i : 0;
}

bool ask_bool(const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);

	return value && value->type == JSON_BOOL && value->boolean;
}

const struct json *ask_array(const struct json *obj, const char *key)
{
	static const struct json empty = {.type = JSON_ARRAY};
	const struct json *value = json_get(obj, key);

	return value && value->type == JSON_ARRAY ? value : &empty;
}

const char *ask_path(struct arena *arena, const char *prefix, const char *id, const char *suffix)
{
	const char *path;
	struct buf out;

	buf_init(&out, PATH_MAX_BYTES);
	buf_puts(&out, prefix);
	url_put_escaped(&out, str_of(id));
	buf_puts(&out, suffix);
	path = arena_cstr(arena, buf_str(&out));
	buf_release(&out);
	return path;
}

/* --- Calling --- */

/* The table of exit codes, applied to a refusal. */
static int exit_of(int status, struct str code)
{
	if (status >= 200 && status < 300)
		return CLI_OK;
	if (str_is(code, "store_failed") || str_is(code, "outcome_unknown") || str_is(code, "store_damaged") ||
	    str_is(code, "envelope_damaged"))
		return CLI_DAMAGED;
	if (status == 404)
		return CLI_NOT_FOUND;
	if (status == 409 || status == 412 || str_is(code, "idempotency_conflict"))
		return CLI_CONFLICT;
	if (status == 408 || status == 429 || status == 503 || status == 504)
		return CLI_UNREACHABLE;
	return CLI_FAILED;
}

/* Nothing listens at an address of this machine: perhaps the server has another one. */
static const char *where_it_is(const struct cli *cli, const char *url)
{
	const char *data = cli_data_dir(cli), *there = data ? local_server_url(cli->arena, data) : NULL;

	if (there == NULL || strcmp(there, url) == 0)
		return " Start it with: spine serve";
	return arena_printf(cli->arena, " The server of %s %s", data, local_server_hint(cli->arena, there)).p;
}

static void fail_unreached(struct cli *cli, struct ask *ask, enum client_status status, const char *why)
{
	const char *url = client_url(cli->client);

	ask->exit = status == CLIENT_UNREACHABLE || status == CLIENT_TIMED_OUT ? CLI_UNREACHABLE : CLI_FAILED;
	if (status == CLIENT_STOPPED) {
		ask->code = STR("stopped");
		ask->failure = "stopped before the answer was there";
	} else if (status == CLIENT_TIMED_OUT) {
		ask->code = STR("timeout");
		ask->failure = arena_printf(cli->arena, "%s; --timeout gives it longer", why).p;
	} else if (status == CLIENT_UNREACHABLE) {
		ask->code = STR("unreachable");
		ask->failure = arena_printf(cli->arena, "%s.%s", why,
					     client_is_local(cli->client) ? where_it_is(cli, url) : "").p;
	} else {
		ask->code = status == CLIENT_INSECURE ? STR("tls_failed") : STR("bad_reply");
		ask->failure = arena_cstr(cli->arena, str_of(why));
	}
}

static void read_reply(struct cli *cli, struct arena *arena, struct ask *ask)
{
	struct json_error error;
	bool parsed = ask->reply.status == 204 ||
		      json_parse(buf_str(&ask->reply.body), ASK_JSON_DEPTH, arena, &ask->json, &error);

	if (parsed) {
		ask->code = ask_str(&ask->json, "code");
		ask->detail = ask_str(&ask->json, "detail");
		ask->field = ask_str(&ask->json, "field");
	}
	ask->exit = exit_of(ask->reply.status, ask->code);
	if (!parsed || (ask->exit != CLI_OK && ask->detail.n == 0)) {
		/* Something else than Memory Spine listens there. */
		ask->code = STR("bad_reply");
		ask->exit = ask->exit == CLI_OK ? CLI_FAILED : ask->exit;
		ask->failure = arena_printf(cli->arena, "the answer of %s cannot be used: HTTP status %d, and not "
					     "the JSON of a Memory Spine server", client_url(cli->client),
					     ask->reply.status).p;
	}
}

static void tell_retry(void *arg, struct str why, int64_t left_ms)
{
	cli_note(arg, "spine: %.*s; trying again for up to %lld s", STR_ARG(why), (long long)(left_ms + 999) / 1000);
}

void ask_make(struct cli *cli, const struct client_request *request, struct arena *arena, struct ask *ret)
{
	struct client_request told = *request;
	struct client *client = cli_client(cli);
	enum client_status status;
	struct buf why;

	*ret = (struct ask){.exit = CLI_USAGE};
	if (client == NULL) {
		ret->failure = "";	/* said already */
		return;
	}
	buf_init(&why, 4096);
	told.on_retry = tell_retry;
	told.retry_arg = cli;
	status = client_call(client, &told, &ret->reply, &why);
	if (status == CLIENT_OK)
		read_reply(cli, arena, ret);
	else
		fail_unreached(cli, ret, status, buf_str(&why).p);
	buf_release(&why);
}

void ask_make_get(struct cli *cli, const char *path, struct ask *ret)
{
	struct client_request request = {.method = "GET", .path = path, .repeatable = true};

	ask_make(cli, &request, cli->arena, ret);
}

void ask_release(struct ask *ask)
{
	client_reply_release(&ask->reply);
}

/* --- Telling --- */

struct hint {
	const char *code;
	const char *text;
};

/* What to do about it, where that is not in the server's sentence. */
static const struct hint hints[] = {
	{"id_taken", "Leave out the id, and the server takes the next free one"},
	{"already_superseded", "Supersede its successor instead: spine get ID names it"},
	{"idempotency_conflict", "Use a new key for a new request"},
	{"budget_too_small", "Give it more: --max-tokens N, or for good: spine agent NAME --max-tokens N"},
	{"body_too_large", "The server takes more with: spine serve --max-body"},
	{"store_failed", "Nothing more is stored until the server is restarted; look at its log, and run: spine check"},
	{"outcome_unknown", "Restart the server, and look whether it is there before you send it again; its log says "
	 "what failed"},
	{"store_damaged", "What is damaged, and where: spine check. Bring it back from a backup: spine restore"},
	{"store_busy", "End the program that has the data directory's spine.db open for writing; where the store is in "
	 "PostgreSQL, see why that does not answer"},
	{"store_full", "Make room on the disk of the data directory"},
	{"handoff_parked", "What can be done with it: spine parked --help"},
	{"events_pruned", "Go on behind pruned_to, or with --after 0 from the first event that is kept"},
	{"not_parked", "What is parked: spine parked"},
	{"not_queued", "What is queued: spine handoffs --state queued"},
	{"circuit_open", "To try it at once all the same: spine agent NAME --reset-breaker"},
	{"no_route", "Name the receiver, or make a route: spine routes put --help"},
	{"loop", "What happened so far: spine trace TASK"},
	{"hop_limit", "What happened so far: spine trace TASK"},
	{"constraint_locked", "A person may waive it: spine waive --help"},
	{"unauthorized", "A command takes the key from a file, too: --key-file FILE"},
	{"parent_unclear", "The envelopes of a task: spine task TASK"},
	{NULL, NULL},
};

static bool contains(struct str text, struct str part)
{
	return part.n > 0 && text.n >= part.n && memmem(text.p, text.n, part.p, part.n) != NULL;
}

/* "ids[2] is not an id" as "\"12\" is not an id", where the arguments are that list. */
static struct str name_argument(const struct cli *cli, struct str detail)
{
	struct str rest = detail, name = str_cut(&rest, '['), number;
	const struct options *o = &cli->options;
	uint64_t index;

	if (cli->listed == NULL || rest.p == NULL || !str_is(name, cli->listed))
		return detail;
	number = str_cut(&rest, ']');
	if (rest.p == NULL || !str_to_u64(number, &index) || index >= o->arg_count - cli->listed_from)
		return detail;
	return arena_printf(cli->arena, "\"%.80s\"%.*s", o->args[cli->listed_from + index], STR_ARG(rest));
}

/* Somebody who forgot --space does not know which one "this space" is. */
static struct str name_space(const struct cli *cli, struct str detail)
{
	static const char words[] = "in this space";
	const char *at = detail.n ? memmem(detail.p, detail.n, words, strlen(words)) : NULL;
	const char *space = ask_said_space(cli);
	struct str before, after;

	if (at == NULL || space == NULL)
		return detail;
	before = str_sub(detail, 0, (size_t)(at - detail.p));
	after = str_sub(detail, before.n + strlen(words), detail.n);
	return arena_printf(cli->arena, "%.*sin the space \"%s\"%.*s", STR_ARG(before), space, STR_ARG(after));
}

/* A field such as "memories[3].content" is worth naming, if the sentence does not do so already. That the id or the
 * name is wrong which was typed, is not. */
static bool is_worth_naming(const struct ask *ask)
{
	return ask->field.n && !str_is(ask->field, "id") && !str_is(ask->field, "name") &&
	       !contains(ask->detail, ask->field);
}

const char *ask_space(const struct cli *cli)
{
	const char *space = cli->space ? cli->space : options_text(&cli->options, "space");

	return space ? space : "default";
}

const char *ask_said_space(const struct cli *cli)
{
	bool is_said = cli->space || options_text(&cli->options, "space");

	return is_said || !own_key_is_there(cli) ? ask_space(cli) : NULL;
}

struct str ask_sentence(const struct cli *cli, const struct ask *ask)
{
	struct str text;

	if (ask->failure)
		return str_of(ask->failure);
	text = name_space(cli, name_argument(cli, ask->detail));
	if (is_worth_naming(ask))
		text = arena_printf(cli->arena, "%.*s (%.*s)", STR_ARG(text), STR_ARG(ask->field));
	for (const struct hint *h = hints; h->code; h++)
		if (str_is(ask->code, h->code))
			return arena_printf(cli->arena, "%.*s. %s", STR_ARG(text), h->text);
	return text;
}

struct str ask_problem(const struct cli *cli, const struct ask *ask)
{
	struct json_writer w;
	struct buf out;

	if (ask->failure == NULL)
		return buf_str(&ask->reply.body);
	buf_init(&out, DOCUMENT_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_cstr(&w, "type", "about:blank");
	json_member_cstr(&w, "title", "No usable answer");
	json_member_str(&w, "code", ask->code);
	json_member_cstr(&w, "detail", ask->failure);
	json_member_bool(&w, "retryable", ask->exit == CLI_UNREACHABLE);
	json_end_object(&w);
	return cli_keep(cli->arena, &out);
}

void ask_report(const struct cli *cli, const struct ask *ask)
{
	struct str sentence = ask_sentence(cli, ask);

	if (sentence.n == 0)
		return;
	if (cli_is_json(cli))
		cli_write_json(cli, ask_problem(cli, ask));
	cli_error(cli, "%.*s", STR_ARG(sentence));
}

int ask_run(struct cli *cli, const struct client_request *request, struct ask *ret)
{
	const struct json *warnings;

	ask_make(cli, request, cli->arena, ret);
	if (ret->exit != CLI_OK) {
		ask_report(cli, ret);
		return ret->exit;
	}
	warnings = ask_array(&ret->json, "warnings");
	for (uint32_t i = 0; i < warnings->count; i++)
		cli_note(cli, "spine: warning: %.*s: %.*s", STR_ARG(ask_str(&warnings->items[i], "field")),
			 STR_ARG(ask_str(&warnings->items[i], "detail")));
	return CLI_OK;
}

int ask_run_get(struct cli *cli, const char *path, struct ask *ret)
{
	struct client_request request = {.method = "GET", .path = path, .repeatable = true};

	return ask_run(cli, &request, ret);
}

void ask_write_value(const struct cli *cli, const struct json *value)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, VALUE_MAX_BYTES);
	json_writer_init(&w, &text);
	json_put(&w, value);
	cli_write_json_buf(cli, &text);
}

void ask_write(const struct cli *cli, const struct ask *ask)
{
	if (ask->is_joined)
		ask_write_value(cli, &ask->json);
	else
		cli_write_json(cli, ask->reply.body.len ? buf_str(&ask->reply.body) : STR("{}"));
}

int ask_print(struct cli *cli, const struct client_request *request,
	      void (*show)(const struct cli *cli, const struct json *answer))
{
	struct ask ask;
	int code = ask_run(cli, request, &ask);

	if (code == CLI_OK && cli_is_json(cli))
		ask_write(cli, &ask);
	else if (code == CLI_OK)
		show(cli, &ask.json);
	ask_release(&ask);
	return code;
}
