/* Envelopes as people read them. What agents wrote is made safe to print. */
#ifndef SPINE_CLI_SHOW_ENVELOPE_H
#define SPINE_CLI_SHOW_ENVELOPE_H

#include "cli/cli.h"
#include "codec/json.h"

/* All of it: the task, what holds, what was done, the memories in lines, and what is not there. */
void show_envelope(const struct cli *cli, const struct json *envelope);
/* What the sender wants to know: id, tokens, what is missing and trimmed, how to see the prompt. An envelope without an
 * id is one of a dry run. */
void show_envelope_receipt(const struct cli *cli, const struct json *envelope);

/* "analyst -> code-generator" of an object with `from` and `to`; in the arena, safe to print. */
struct str show_envelope_from_to(const struct cli *cli, const struct json *hop);
/* Appends a value in one safe line of at most max_columns: text as it is, everything else as JSON. NULL is "". */
void show_envelope_value(struct buf *out, const struct json *value, size_t max_columns);

#endif
