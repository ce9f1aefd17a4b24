/* A space, whole, as JSON Lines that spine import brings back: see export_whole.c and import_whole.c. */
#ifndef SPINE_CLI_EXPORT_WHOLE_H
#define SPINE_CLI_EXPORT_WHOLE_H

#include "cli/cli.h"
#include "codec/json.h"

#include <stdio.h>

/* The first line of such a file is an object with this member: the number of its format. */
#define WHOLE_FORMAT "spine_export"
enum { WHOLE_FORMAT_NOW = 1 };

/* Counts the lines. Returns the exit code. */
int export_whole(struct cli *cli, FILE *out, int64_t *ret_count);

/* Lines of such a file that are imported. */
struct import_whole;

struct import_whole *import_whole_new(struct cli *cli);
/* NULL-safe. */
void import_whole_free(struct import_whole *w);
/* A line behind the first. Returns the exit code; what went wrong is told. */
int import_whole_add(struct import_whole *w, const struct json *line, uint64_t number);
/* Sends what is left, and tells what was done. */
int import_whole_end(struct import_whole *w);

#endif
