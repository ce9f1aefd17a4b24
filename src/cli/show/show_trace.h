/* What happened to a task or a handoff, as people read it. Times count in seconds from the first step. */
#ifndef SPINE_CLI_SHOW_TRACE_H
#define SPINE_CLI_SHOW_TRACE_H

#include "cli/cli.h"
#include "codec/json.h"

/* The answer of GET /v1/tasks/{id}/trace: a line of sums, and a row for each envelope and event, in the order of
 * time. */
void show_trace(const struct cli *cli, const struct json *trace);
/* The events of one handoff, behind an empty line; nothing where there are none. */
void show_trace_events(const struct cli *cli, const struct json *events);

#endif
