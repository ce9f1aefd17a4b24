/* Files and standard input, read whole and within a limit. */
#ifndef SPINE_CLI_INPUT_H
#define SPINE_CLI_INPUT_H

#include "cli/cli.h"

/* Appends the whole file to *ret, whose limit is the limit. On failure a sentence in *error. */
bool input_read_file(const char *file, struct buf *ret, struct buf *error);
/* The same from standard input. Tells a person at a terminal that it waits. */
bool input_read_stdin(const struct cli *cli, struct buf *ret, struct buf *error);
/* The text that a command was given: the argument, or standard input where it is NULL or "-". One line break at the
 * end of standard input is dropped, because shells put it there. */
bool input_text(const struct cli *cli, const char *arg, struct buf *ret, struct buf *error);

#endif
