/* Small changes to a table of a TOML file that people write by hand: everything else stays as it is, byte for byte. */
#ifndef SPINE_CLI_SETUP_TOML_H
#define SPINE_CLI_SETUP_TOML_H

#include "base/buf.h"

/* A key of the table, and its value as TOML writes it; NULL: the key goes. */
struct toml_key {
	const char *name;	/* NULL ends the list */
	const char *value;
};

/* Sets the keys of the table [outer.inner], which is made at the end where it is not there. False, and nothing has
 * changed, where the file says the same in a form that this does not know: another way must be found. */
bool toml_set(struct buf *text, const char *outer, const char *inner, const struct toml_key *keys);
/* Removes the table, and those within it. */
bool toml_remove(struct buf *text, const char *outer, const char *inner);

/* A string as TOML writes it. */
void toml_put_string(struct buf *out, struct str value);

#endif
