/* The prompt of an envelope: what the receiving model reads. */
#ifndef SPINE_CLI_PROMPT_H
#define SPINE_CLI_PROMPT_H

#include "cli/cli.h"

/* Fetches and prints it, byte for byte where standard output is no terminal. Returns the exit code. */
int prompt_print(struct cli *cli, const char *envelope_id);

#endif
