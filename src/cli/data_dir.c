#include "cli/data_dir.h"

#include "cli/ask.h"
#include "cli/shared_options.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A server of this machine that is well answers within milliseconds. */
enum { ASK_TIMEOUT_MS = 5000, REPLY_MAX_BYTES = 1 << 20, ERROR_MAX_BYTES = 4096 };

static const struct option store_options[] = {
	DATA_OPTION,
	{.name = "url", .arg = "URL", .env = "SPINE_URL", .key = "url", .type = OPTION_TEXT,
	 .help = "without --data: the data directory of the server at this address, on this machine"},
};

const struct option_table store_table = {"Which store", store_options, OPTION_COUNT(store_options)};

bool data_dir_is_same(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* What the server at the URL says of its store; dir is NULL where nothing answers that knows. */
struct their_store {
	bool is_local;
	bool is_elsewhere;	/* in a database: the directory has notes of the server */
	const char *dir;
};

/* False where the URL is of no use. */
static bool ask_server(const struct cli *cli, const char *url, struct their_store *ret)
{
	struct client_config config = {
		.url = url, .timeout_ms = ASK_TIMEOUT_MS, .max_reply_bytes = REPLY_MAX_BYTES,
	};
	struct client_request request = {.method = "GET", .path = "/v1/status"};
	struct client_reply reply = {0};
	struct json_error bad;
	struct json status;
	struct client *client;
	struct str dir = STR_NULL;
	struct buf error;

	buf_init(&error, ERROR_MAX_BYTES);
	client = client_new(&config, &error);
	if (client == NULL) {
		cli_error(cli, "%s", buf_str(&error).p);
		buf_release(&error);
		return false;
	}
	ret->is_local = client_is_local(client);
	if (client_call(client, &request, &reply, &error) == CLIENT_OK && reply.status == 200 &&
	    json_parse(buf_str(&reply.body), ASK_JSON_DEPTH, cli->arena, &status, &bad)) {
		dir = ask_str(json_get(&status, "store"), "data");
		ret->is_elsewhere = str_eq(ask_str(json_get(&status, "store"), "engine"), STR("postgres"));
	}
	if (dir.n)
		ret->dir = arena_cstr(cli->arena, dir);
	client_reply_release(&reply);
	client_free(client);
	buf_release(&error);
	return true;
}

/* Nobody has named a directory, but a server. */
static int follow_url(const struct cli *cli, const char *url, bool is_local, const char *theirs, const char **ret)
{
	if (!is_local)
		return cli_usage(cli, "%s opens a data directory itself, and %s is another machine: run it there, or "
				 "name a directory of this one with --data", cli->command->name, url);
	if (theirs == NULL) {
		cli_note(cli, "(nothing that says where its store is answers at %s: this is about the data directory "
			 "%s)", url, *ret);
		return CLI_OK;
	}
	if (access(theirs, R_OK | X_OK) != 0) {
		cli_error(cli, "the server at %s keeps its store in %s, which cannot be opened from here (%s); run "
			  "%s where the server runs, or name a directory with --data", url, theirs, strerror(errno),
			  cli->command->name);
		return CLI_FAILED;
	}
	if (!data_dir_is_same(theirs, *ret))
		cli_note(cli, "(this is about %s, the data directory of the server at %s)", theirs, url);
	*ret = theirs;
	return CLI_OK;
}

int data_dir_choose(const struct cli *cli, const char **ret)
{
	const char *url = options_text(&cli->options, "url");
	bool is_given = options_is_given(&cli->options, "data");
	struct their_store theirs = {.is_local = true};

	*ret = options_text(&cli->options, "data");
	if (url == NULL)
		return CLI_OK;
	if (!ask_server(cli, url, &theirs))
		return CLI_USAGE;
	if (theirs.is_elsewhere && (!is_given || data_dir_is_same(theirs.dir, *ret))) {
		cli_error(cli, "the server at %s keeps everything in PostgreSQL, and %s works on the files of a data "
			  "directory: PostgreSQL's own tools save, restore and check it", url, cli->command->name);
		return CLI_FAILED;
	}
	if (!is_given)
		return follow_url(cli, url, theirs.is_local, theirs.dir, ret);
	if (theirs.dir && !(theirs.is_local && data_dir_is_same(theirs.dir, *ret)))
		cli_note(cli, "(this is about %s, not about the server at %s, which keeps its store in %s)", *ret, url,
			 theirs.is_elsewhere ? "PostgreSQL" : theirs.dir);
	return CLI_OK;
}
