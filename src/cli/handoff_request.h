/* The options of `spine handoff`, and the request that they make. */
#ifndef SPINE_CLI_HANDOFF_REQUEST_H
#define SPINE_CLI_HANDOFF_REQUEST_H

#include "cli/cli.h"

extern const struct option_table handoff_task_table;
extern const struct option_table handoff_memory_table;
extern const struct option_table handoff_output_table;

/* Appends the body of the request. Returns CLI_OK, or CLI_USAGE with the reason told. */
int handoff_request_put(const struct cli *cli, const char *target, struct str summary, struct buf *out);

#endif
