/* A command that makes one call, as a row: what its arguments and options become, and how the answer is shown.
 *
 *     .call = {.path = "/v1/tasks/{0}/blame?key={1}", .show = show_blame, .judge = judge_blame},
 *
 * Of a struct command or a struct subcommand. What cannot be said so has logic of its own, and an exec function.
 */
#ifndef SPINE_CLI_ONE_CALL_H
#define SPINE_CLI_ONE_CALL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct cli;
struct client_request;
struct column;
struct json;
struct json_writer;

enum { CALL_MEMBERS_MAX = 7 };

/* An option, and what it is called in the request. */
struct call_member {
	const char *option;	/* NULL ends the list */
	const char *name;
};

struct one_call {
	/* --- The request --- */
	const char *method;	/* NULL: GET */
	const char *path;	/* {0} is the first argument (of a subcommand: behind its name), {1} the next */
	/* Options that have a value: parameters of a GET, members of the body of any other. */
	struct call_member members[CALL_MEMBERS_MAX];
	/* Writes more members, before these. CLI_OK, or what the command returns. May be NULL. */
	int (*put)(struct cli *cli, struct json_writer *w);
	/* Appends more parameters, in the same way. */
	int (*query)(struct cli *cli, struct buf *path);
	/* Says what else the request is: its headers, how long the server may wait. In the same way. */
	int (*prepare)(struct cli *cli, struct client_request *request);
	/* An option that must be given, and why: "who gets the work instead". --why will do for --reason. */
	const char *needs;
	const char *needs_why;
	size_t max_body_bytes;	/* where --reason may be too long; 0: far more than anybody says */
	bool creates;		/* see struct client_request */
	bool is_once;		/* a second time would be refused because of the first, or would do it twice */
	bool is_paged;		/* those of pages_table or rest_table are parameters, too */
	/* The answer has "memories" and "missing". What it has no room for is asked for again, in this member of the
	 * body; see fetch_rest.h. */
	const char *rest;
	/* The first argument is a lease: {0} is the handoff that it names, and it is a member of the body. */
	bool settles;
	/* A call for each argument, which is {0} in turn, also after one has failed. With --json prints {"LIST":[…]},
	 * what the server answered for each, and "problems":[…] where there were some. */
	bool is_for_each;

	/* --- The answer; with --json it is printed as it came --- */
	const char *list;	/* what is shown is this array of it; NULL: all of it */
	const struct column *columns;	/* shows a list; NULL: show alone does */
	void (*show)(const struct cli *cli, const struct json *answer);	/* may be NULL where there are columns */
	const char *done;	/* instead, for each: "pinned", before the id */
	const char *none;	/* said to a person where the list is empty */
	/* The exit code, having said why where it is not CLI_OK. NULL: CLI_OK. */
	int (*judge)(const struct cli *cli, const struct json *answer);
};

/* Makes the call of the row; `first` is the argument that {0} is. Returns the exit code. */
int one_call_run(struct cli *cli, const struct one_call *row, size_t first);

#endif
