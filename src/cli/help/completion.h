/* Completion scripts for shells, written from the tables of commands and options. */
#ifndef SPINE_CLI_COMPLETION_H
#define SPINE_CLI_COMPLETION_H

#include "cli/cli.h"

void completion_bash(struct arena *arena, struct buf *out);
void completion_zsh(struct arena *arena, struct buf *out);
void completion_fish(struct arena *arena, struct buf *out);

#endif
