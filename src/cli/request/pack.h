/* Packing an envelope: the options of `spine handoff` (or `spine pack`), `spine send` and `spine recall`, and the
 * requests that they make. */
#ifndef SPINE_CLI_PACK_H
#define SPINE_CLI_PACK_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table pack_task_table;
extern const struct option_table pack_memory_table;
extern const struct option_table pack_output_table;

/* The summary that was given as arg (see input_text()), which must not be empty; where it is, CLI_USAGE says so. */
int pack_read_summary(const struct cli *cli, const char *target, const char *arg, struct buf *ret);
/* Writes the request, an object, from the options of the first two tables. Returns CLI_OK, or CLI_USAGE with the reason
 * told. */
int pack_put(const struct cli *cli, const char *target, struct str summary, bool dry_run, struct json_writer *w);
/* The same for a dry run, from the options of pack_memory_table and those of the command's own that members has. */
int pack_put_question(const struct cli *cli, const char *target, struct str summary, const struct call_member *members,
		      struct json_writer *w);
/* One of the options of the first two tables was given. */
bool pack_any_given(const struct cli *cli);
/* "env-17", and not a text. NULL is none. */
bool pack_is_envelope(const char *arg);

#endif
