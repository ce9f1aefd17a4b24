/* Tasks and the chains of their envelopes, as people read them. */
#ifndef SPINE_CLI_SHOW_TASK_H
#define SPINE_CLI_SHOW_TASK_H

#include "cli/show/columns.h"

/* A line for each task. */
extern const struct column task_columns[];
/* One task: its intent, and a line for each envelope. */
void show_task(const struct cli *cli, const struct json *task);
/* Where something came into the chain and where it was lost. The exit code is CLI_NOT_FOUND where it never was. */
void show_blame(const struct cli *cli, const struct json *blame);
int show_blame_exit(const struct cli *cli, const struct json *blame);
/* Whether an envelope and the chain before it are intact. The exit code is CLI_DAMAGED where they are not. */
void show_verdict(const struct cli *cli, const struct json *verdict);
int show_verdict_exit(const struct cli *cli, const struct json *verdict);

#endif
