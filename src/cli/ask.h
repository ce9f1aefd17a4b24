/* A call of the server as commands make it: failures are told to the person, and become exit codes. */
#ifndef SPINE_CLI_ASK_H
#define SPINE_CLI_ASK_H

#include "cli/cli.h"
#include "client/client.h"
#include "codec/json.h"

/* The tree of a reply may be as deep as any that a server was configured to take. */
enum { ASK_JSON_DEPTH = 1024 };

struct ask {
	struct client_reply reply;	/* status 0 where there was none */
	struct json json;		/* of the body, null where there is none; lives in the arena given */
	bool is_joined;			/* json was put together of several replies; reply is the last of them */
	/* Where the server refused: parts of the problem. Empty where it did not say. */
	struct str code;
	struct str detail;
	struct str field;
	const char *failure;		/* where there was no reply: a sentence */
	int exit;			/* CLI_OK on 2xx */
};

/* Makes the call, and reads the reply. Tells nobody. To be released with ask_release(). */
void ask_make(struct cli *cli, const struct client_request *request, struct arena *arena, struct ask *ret);
/* What went wrong, as a sentence on standard error and (with --json) a problem document on standard output. */
void ask_report(const struct cli *cli, const struct ask *ask);
/* The first of the two in one, for calls whose failure is the failure of the command: makes the call, reports a
 * failure, prints warnings of the server, and returns the exit code. */
int ask_run(struct cli *cli, const struct client_request *request, struct ask *ret);
void ask_release(struct ask *ask);
/* The first and the last for a GET, which may be repeated. */
void ask_make_get(struct cli *cli, const char *path, struct ask *ret);
int ask_run_get(struct cli *cli, const char *path, struct ask *ret);
/* All of it, for commands that do nothing else: makes the call and prints the answer, as it came with --json and by
 * show otherwise. */
int ask_print(struct cli *cli, const struct client_request *request,
	      void (*show)(const struct cli *cli, const struct json *answer));

/* The answer as it came, or as it was put together, to standard output. */
void ask_write(const struct cli *cli, const struct ask *ask);
/* A part of it. */
void ask_write_value(const struct cli *cli, const struct json *value);

/* The space that calls are about. */
const char *ask_space(const struct cli *cli);
/* The same for a sentence that names it. NULL: nobody said one, and a key goes along, which may be of another space. */
const char *ask_said_space(const struct cli *cli);
/* The sentence that ask_report prints, without "spine: ". */
struct str ask_sentence(const struct cli *cli, const struct ask *ask);
/* The problem document of a failure, the server's or (where it was not reached) one of the client's. */
struct str ask_problem(const struct cli *cli, const struct ask *ask);

/* The prefix as it is, the id encoded, and the suffix as it is: "/v1/tasks/", "task-17", "/fidelity". In the arena. */
const char *ask_path(struct arena *arena, const char *prefix, const char *id, const char *suffix);

/* --- Reading replies, whose shape is not trusted --- */

/* Empty (p NULL) where the member is absent or not a string. */
struct str ask_str(const struct json *obj, const char *key);
int64_t ask_int(const struct json *obj, const char *key, int64_t otherwise);
/* Any number; 0 where there is none. */
double ask_number(const struct json *obj, const char *key);
bool ask_bool(const struct json *obj, const char *key);
/* An array of that name, or an empty one. */
const struct json *ask_array(const struct json *obj, const char *key);

#endif
