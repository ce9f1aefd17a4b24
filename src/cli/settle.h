/* What a receiver answers to a handoff, for the commands ack, nack, need, progress, complete and reject and for
 * `receive --exec`. A lease such as "ho-12.1" names the handoff, too. */
#ifndef SPINE_CLI_SETTLE_H
#define SPINE_CLI_SETTLE_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table settle_result_table;	/* --gap, --input-tokens */
extern const struct option_table settle_reason_table;	/* --reason, --why */

struct settle {
	const char *verb;		/* the end of the path: "ack" */
	bool is_repeatable;		/* the same answer again is answered as before */
	/* Writes the members beside the lease; returns CLI_OK, or what the command returns. */
	int (*put)(struct cli *cli, struct json_writer *w);
	void (*show)(const struct cli *cli, const struct json *answer);
	bool finds;			/* the answer is of memories: show is of their list, see show_found() */
};

/* Answers the handoff whose lease is the first argument, and prints how it stands. */
int settle_run(struct cli *cli, const struct settle *settle);

/* The path of the call; NULL where lease is not one. In the arena. */
const char *settle_path(struct arena *arena, struct str lease, const char *verb);
/* Writes the member of that name: the second argument, or standard input where that is "-". Nothing where it is
 * absent. */
int settle_put_text(struct cli *cli, const char *name, struct json_writer *w);
/* The member "reason" in the same way; it may be given by an option (settle_reason_table) as well. */
int settle_put_reason(struct cli *cli, bool is_needed, struct json_writer *w);
/* The second argument, or what an option says in its place; NULL where there is neither. CLI_USAGE where there are
 * both. */
int settle_argument(const struct cli *cli, const char *what, const char *option, const char **ret);
/* The options of settle_result_table. */
int settle_put_facts(struct cli *cli, struct json_writer *w);
/* Writes the member "result": JSON where the text is that, else the text. Nothing where it is empty. False where it is
 * not UTF-8. */
bool settle_put_result(struct str text, struct arena *arena, struct json_writer *w);
/* A member in seconds for a time in milliseconds. */
void settle_put_seconds(struct json_writer *w, const char *name, int64_t ms);

#endif
