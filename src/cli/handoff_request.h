/* The options of `spine handoff` and `spine send`, and the request that they make. */
#ifndef SPINE_CLI_HANDOFF_REQUEST_H
#define SPINE_CLI_HANDOFF_REQUEST_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table handoff_task_table;
extern const struct option_table handoff_memory_table;
extern const struct option_table handoff_output_table;

/* Writes the request, an object, from the options of the first two tables. Returns CLI_OK, or CLI_USAGE with the reason
 * told. */
int handoff_request_put(const struct cli *cli, const char *target, struct str summary, bool dry_run,
			struct json_writer *w);
/* One of those options was given. */
bool handoff_request_any(const struct cli *cli);

#endif
