/* Options of a program, each described once.
 *
 * A struct option says everything about one option: what it is called on the command line, in the environment and in
 * the configuration file, what it takes, its default, its bounds, and a sentence for people. Parsing, error messages,
 * help, manual page and shell completion are all derived from it.
 *
 * Sources are read from the strongest to the weakest, and a value once set stays:
 *
 *     options_parse_args()  ->  options_parse_env()  ->  options_parse_config()  ->  options_apply_defaults()
 *
 * Each returns false with one or two sentences in *error that name the place, what was found and what was expected.
 */
#ifndef SPINE_BASE_OPTIONS_H
#define SPINE_BASE_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum option_type {
	OPTION_FLAG,		/* on the command line the bare name means true; --name=false is possible */
	OPTION_TEXT,
	OPTION_LIST,		/* text that may be given several times on the command line, once elsewhere */
	OPTION_PATH,		/* text; a leading "~/" is the home directory */
	OPTION_CHOICE,		/* one of `choices` */
	OPTION_INT,
	OPTION_SIZE,		/* bytes: 16384, 16k, 16KiB, 8m, 1g */
	OPTION_DURATION,	/* milliseconds: 500ms, 30s, 5m, 2h, 7d; a bare number counts seconds */
	OPTION_PERCENT,		/* hundredths of a per cent: 95%, 0.5%, 99.95; the sign may be left out */
};

struct option {
	const char *name;		/* "max-body", typed as --max-body */
	char letter;			/* 'n', typed as -n; 0 for none */
	const char *arg;		/* "SIZE", for help; NULL for flags */
	const char *env;		/* "SPINE_MAX_BODY"; NULL for none */
	const char *key;		/* "max_body" in the configuration file; NULL for none */
	enum option_type type;
	const char *fallback;		/* the default, written as a user would; NULL for none. A path's may begin with
					 * "${NAME:-WORD}", the variable where that is an absolute path, else WORD */
	int64_t min, max;		/* of numbers, sizes (bytes), durations (ms), both included; both 0: none */
	const char *const *choices;	/* ends with NULL; of a CHOICE all there are, of a TEXT suggestions */
	const char *help;		/* what it does: no capital, no full stop */
};

/* Options that belong together. Several commands may share one. */
struct option_table {
	const char *title;		/* "Connection", above them in the help */
	const struct option *options;
	size_t count;
};

enum option_source { OPTION_UNSET, OPTION_FROM_DEFAULT, OPTION_FROM_CONFIG, OPTION_FROM_ENV, OPTION_FROM_ARGS };

struct option_value {
	const struct option *option;
	enum option_source source;
	bool boolean;
	int64_t number;
	const char *text;		/* of TEXT, PATH, CHOICE */
	const char **list;		/* of LIST */
	size_t list_count;
};

struct options {
	struct arena *arena;		/* borrowed; holds the values */
	struct option_value *values;	/* one for each option, in the order of the tables */
	size_t count;
	const char **args;		/* what is not an option, in order */
	size_t arg_count;
};

/* tables is an array that ends with NULL; the tables, the arena and later the arguments are borrowed for the life of
 * *o. No two options may have the same name or letter (asserted). */
void options_init(struct options *o, const struct option_table *const *tables, struct arena *arena);

/* Reads the arguments, without the program's name. Options and other arguments may be mixed; everything after "--" is
 * an argument, and so is "-". */
bool options_parse_args(struct options *o, int argc, char *const *argv, struct buf *error);
/* A variable that is set but empty counts as not set. */
bool options_parse_env(struct options *o, struct buf *error);
/* The text of a configuration file: lines of `key = value`, empty lines, and comments from '#' (at the start of a
 * line or after a space) to the end of the line; double quotes around a value keep spaces and '#'. `known` holds
 * every table of the program, ended by NULL: a key of another command's option is checked and otherwise ignored, a
 * key of none is refused. */
bool options_parse_config(struct options *o, const struct option_table *const *known, const char *file, struct str text,
			  struct buf *error);
bool options_apply_defaults(struct options *o, struct buf *error);

/* The value of an option that must be in the tables and of a fitting type (asserted). */
bool options_flag(const struct options *o, const char *name);
int64_t options_int(const struct options *o, const char *name);		/* INT, SIZE, DURATION; 0 where not set */
const char *options_text(const struct options *o, const char *name);	/* TEXT, PATH, CHOICE; NULL where not set */
const struct option_value *options_value(const struct options *o, const char *name);
/* NULL where the tables have none of that name. */
const struct option_value *options_find(const struct options *o, const char *name);
/* Given by the user somewhere, and not only the default. */
bool options_is_given(const struct options *o, const char *name);

/* --- One value (options_value.c) --- */

/* Parses text as a value of the option into *v. On failure *error gets only what was expected: "a size from 1k to 1g,
 * such as 64k". */
bool option_parse(const struct option *option, struct str text, struct arena *arena, struct option_value *v,
		  struct buf *error);
/* "a size from 1k to 1g, such as 64k" */
void option_describe(const struct option *option, struct buf *out);
/* A leading "${NAME:-WORD}" and then a leading "~/", replaced. False where the home directory is not known. */
bool option_expand_path(const char *text, struct arena *arena, const char **ret);

#endif
