/* Options that several commands have. */
#ifndef SPINE_CLI_SHARED_OPTIONS_H
#define SPINE_CLI_SHARED_OPTIONS_H

#include "base/options.h"

#define OPTION_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define DATA_OPTION \
	{.name = "data", .arg = "DIR", .env = "SPINE_DATA", .key = "data", .type = OPTION_PATH, \
	 .fallback = "${XDG_DATA_HOME:-~/.local/share}/memory-spine", .help = "the data directory"}

extern const struct option_table common_table;	/* every command: --help, --config */
extern const struct option_table client_table;	/* talks to the server: --url, --space, --agent, --timeout, --json */
extern const struct option_table server_table;	/* the same without --space and --agent, which are the command's own */
extern const struct option_table untimed_client_table;	/* the same without --timeout, which is the command's own */
extern const struct option_table where_table;	/* --url, --space and --agent alone */
extern const struct option_table data_table;	/* works on the files: --data */
extern const struct option_table json_table;	/* --json, where client_table is not used */

extern const char *const importance_choices[];
extern const char *const trust_choices[];
extern const char *const kind_suggestions[];
extern const char *const tokenizer_choices[];

#endif
