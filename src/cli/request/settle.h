/* What a receiver answers to a handoff, for the commands ack, nack, release, need, progress, complete and reject and
 * for `receive --exec`. A lease such as "ho-12.1" names the handoff, too. */
#ifndef SPINE_CLI_SETTLE_H
#define SPINE_CLI_SETTLE_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table settle_result_table;	/* --gap, --input-tokens */
extern const struct option_table settle_reason_table;	/* --reason, --why */

/* CLI_OK where the first argument is a lease, else CLI_USAGE with that told. */
int settle_check(const struct cli *cli);
/* The path of the call; NULL where lease is not one. In the arena. */
const char *settle_path(struct arena *arena, struct str lease, const char *verb);
/* Writes the member "note": the second argument, or standard input where that is "-". Nothing where it is absent. */
int settle_put_note(struct cli *cli, struct json_writer *w);
/* The member "reason" in the same way; it may be given by an option (settle_reason_table) as well. */
int settle_put_reason(struct cli *cli, struct json_writer *w);
/* The same where there must be one. */
int settle_put_needed_reason(struct cli *cli, struct json_writer *w);
/* The second argument, or what an option says in its place; NULL where there is neither. CLI_USAGE where there are
 * both. */
int settle_argument(const struct cli *cli, const char *what, const char *option, const char **ret);
/* The options of settle_result_table, as members of a row. */
#define SETTLE_RESULT_MEMBERS {"gap", "gaps"}, {"input-tokens", "input_tokens"}
/* Writes the member "result": JSON where the text is that, else the text. Nothing where it is empty. False where it is
 * not UTF-8. */
bool settle_put_result(struct str text, struct arena *arena, struct json_writer *w);

#endif
