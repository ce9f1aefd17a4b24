/* What options become in a request: members of its body, or parameters of its query. */
#ifndef SPINE_CLI_BODY_H
#define SPINE_CLI_BODY_H

#include "cli/cli.h"
#include "codec/json.h"

/* The options of the list (ended by one without a name) that have a value, each by its type: a text as text, a list as
 * an array, a number as a number, a duration in seconds, a flag as true or false. CLI_OK, or CLI_USAGE with the reason
 * told. */
int body_put_members(const struct cli *cli, const struct call_member *members, struct json_writer *w);
/* The same for one. */
int body_put(const struct cli *cli, const char *option, const char *name, struct json_writer *w);
/* Appends them to the query of the path; a list is a parameter for each. */
void body_add_parameters(const struct cli *cli, const struct call_member *members, struct buf *path);
/* A member with the arguments from `first` on, which are ids; what the server says of one is said of the argument.
 * expected is the rest of the sentence where one is not UTF-8: BODY_ID_EXPECTED or "". */
int body_put_ids(struct cli *cli, const char *name, size_t first, const char *expected, struct json_writer *w);
#define BODY_ID_EXPECTED "; expected ms- and a number, such as ms-4821"
/* The parameter of a time as people type it. CLI_USAGE with the reason told where it is none. */
int body_add_time(const struct cli *cli, const char *option, const char *name, struct buf *path);
/* The same as a member. */
int body_put_time(const struct cli *cli, const char *option, const char *name, struct json_writer *w);
/* A member in seconds for a time in milliseconds. */
void body_put_seconds(struct json_writer *w, const char *name, int64_t ms);
/* A text that goes into JSON must be UTF-8; what says which text. CLI_OK or CLI_USAGE. */
int body_check_text(const struct cli *cli, const char *what, struct str text);

/* Appends the text that a command was given (see input_text()). CLI_OK, or CLI_FAILED with the reason told. */
int body_read_text(const struct cli *cli, const char *arg, struct buf *ret);
/* The same as the member "content"; none is what is wrong where it is empty. */
int body_put_content(const struct cli *cli, const char *arg, const char *none, struct json_writer *w);
/* All arguments as one text, with spaces between them. */
void body_join_arguments(const struct cli *cli, struct buf *ret);
/* Any option of the table was given. */
bool body_any_given(const struct cli *cli, const struct option_table *table);

#endif
