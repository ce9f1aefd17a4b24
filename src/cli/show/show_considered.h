/* What an envelope was chosen from, as people read it: what it carries, and why it has nothing else. */
#ifndef SPINE_CLI_SHOW_CONSIDERED_H
#define SPINE_CLI_SHOW_CONSIDERED_H

#include "cli/cli.h"
#include "codec/json.h"

/* considered: as GET /v1/envelopes/{id}/considered answers it. envelope: the one that it is about, or that of a dry
 * run, which has no id. with_why: also what it does not carry, each with the reason. */
void show_considered(const struct cli *cli, const struct json *considered, const struct json *envelope, bool with_why);

#endif
